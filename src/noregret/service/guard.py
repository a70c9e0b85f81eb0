"""Who may ask: the right host, no other site, the key where there is one; answers forbid what no page needs."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

OPEN = {"/healthz", "/readyz"}
PAGE = {"/login", "/page.css", "/login.html"}  # what a browser needs before it has logged in
COOKIE = "noregret"
POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; object-src 'none';"
    " base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
ALWAYS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
]


def loopback(host: str) -> bool:
    """Whether only this machine can reach a host.

    >>> loopback("localhost"), loopback("127.0.0.1"), loopback("::1"), loopback("0.0.0.0")
    (True, True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Around an application: what does not pass is refused before anything is read."""

    def __init__(self, app: ASGIApp, *, host: str, key: str | None = None) -> None:
        self.app, self._local = app, loopback(host)
        self._key = None if key is None else hashlib.sha256(key.encode()).digest()
        self._sessions = secrets.token_bytes(32)  # signs cookies as long as the process lives

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sent(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(one for one in ALWAYS if one[0] not in given)]
            await send(message)

        refused = await self._refused(scope, receive)
        await (refused or self.app)(scope, receive, sent)

    async def _refused(self, scope: Scope, receive: Receive) -> Response | None:
        """What is said to one who may not ask; None for one who may."""
        headers, path = Headers(scope=scope), scope["path"]
        host = headers.get("host", "")
        if self._local and not loopback(_name(host)):
            return _problem(403, "this service answers only to the name of its own machine")
        origin = headers.get("origin")
        if origin is not None and scope["method"] not in ("GET", "HEAD") and origin.partition("://")[2] != host:
            return _problem(403, "a page of another site asked for this")
        if self._key is None or path in OPEN:
            return None
        if path == "/login" and scope["method"] == "POST":
            return await self._login(Request(scope, receive))
        if path in PAGE or self._knows(headers):
            return None
        if path == "/":
            return RedirectResponse("/login.html", 303)
        refusal = _problem(401, "a key is needed: Authorization: Bearer KEY")
        refusal.headers["WWW-Authenticate"] = "Bearer"
        return refusal

    def _knows(self, headers: Headers) -> bool:
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self._right(given)
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return cookie is not None and hmac.compare_digest(cookie.value.encode(), self._cookie().encode())

    def _right(self, given: str) -> bool:
        assert self._key is not None
        return hmac.compare_digest(hashlib.sha256(given.strip().encode()).digest(), self._key)

    def _cookie(self) -> str:
        return hmac.new(self._sessions, self._key, hashlib.sha256).hexdigest()

    async def _login(self, request: Request) -> Response:
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > 4096:
                return _problem(413, "a key is at most 4096 bytes long")
        given = parse_qs(body.decode("utf-8", "replace")).get("key", [""])[0]
        if not self._right(given):
            return RedirectResponse("/login.html?wrong", 303)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(
            COOKIE, self._cookie(), httponly=True, samesite="strict", secure=request.url.scheme == "https"
        )
        return answer


def _name(host: str) -> str:
    """The name in a Host header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.count(":") == 1 else host


def _problem(status: int, sentence: str) -> Response:
    return JSONResponse({"error": sentence}, status)
