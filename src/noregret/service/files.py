"""The files of the page; Plotly's script comes from its installed package, which is not imported."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

PLOTLY = "plotly.min.js"
PAGES = {
    "/": "page.html",
    "/page.js": "page.js",
    "/page.css": "page.css",
    "/login.html": "login.html",
    f"/{PLOTLY}": PLOTLY,
}
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}


@cache
def content(name: str) -> bytes:
    """A file of the page."""
    if name == PLOTLY:
        return Path(str(distribution("plotly").locate_file(f"plotly/package_data/{PLOTLY}"))).read_bytes()
    return files("noregret.service").joinpath("page", name).read_bytes()


def handler(name: str) -> Callable[[Request], Awaitable[Response]]:
    """The handler that answers with a file."""

    async def answer(request: Request) -> Response:
        headers = {"cache-control": "max-age=86400"} if name == PLOTLY else {}
        return Response(content(name), headers=headers, media_type=KINDS[Path(name).suffix])

    return answer
