"""Receipts signed: Ed25519 over a DSSE envelope whose payload is an in-toto statement about the receipt's bytes.

The statement names the receipt by the SHA-256 of its file. Its predicate holds what a reader wants to know without the
receipt: the kind, the digests of the rows, that of the model, the receipt before it, when it was signed and until when
that counts. A signature says who vouches for a receipt; whether its claims hold is what `verify` finds out.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noregret.atomic import whole_file
from noregret.errors import InputError, ReceiptError, SettingError
from noregret.proof.receipt import decoded, kind_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

PAYLOAD = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:noregret:receipt:1"
SUFFIX = ".dsse"
SAID = {"kind", "rows", "model", "previous", "signed", "expires"}
Path_ = str | os.PathLike[str]


def _keys() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise SettingError("signatures need cryptography: run pip install 'noregret[sign]'") from None
    return ed25519


def make_keys(private: Path_, public: Path_) -> str:
    """Write a new pair of keys as PEM files, neither of which may exist; returns the name of the pair."""
    for path in (private, public):
        if Path(path).exists():
            raise SettingError(f"a key must not replace a file: {os.fspath(path)} exists")
    keys = _keys()
    from cryptography.hazmat.primitives import serialization as form

    key = keys.Ed25519PrivateKey.generate()
    secret = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    descriptor = os.open(private, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secret)
    with whole_file(public) as file:
        file.write(key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo))
    return _name_of(key.public_key())


def sign(
    receipt: Path_,
    key: Path_,
    *,
    to: Path_ | None = None,
    previous: Path_ | None = None,
    days: float | None = None,
    now: datetime | None = None,
) -> Path:
    """Sign a receipt's bytes with a private key; the envelope is written beside it, as RECEIPT.dsse.

    `previous` is the receipt before this one, which the statement then names; `days` is how long the signature counts.
    """
    if days is not None and not 0.0 < days <= 36500.0:
        raise SettingError(f"days must be positive and at most 36500, got {days}")
    secret, path = _private(key), Path(os.fspath(to) if to is not None else os.fspath(receipt) + SUFFIX)
    if path.exists() and path.samefile(receipt):
        raise SettingError("the envelope must not replace the receipt")
    payload = json.dumps(statement(receipt, previous, now or datetime.now(UTC), days), sort_keys=True).encode()
    signature = secret.sign(signed_text(PAYLOAD, payload))
    envelope = {
        "payloadType": PAYLOAD,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": _name_of(secret.public_key()), "sig": base64.b64encode(signature).decode()}],
    }
    with whole_file(path) as file:
        file.write(json.dumps(envelope, indent=1).encode() + b"\n")
    return path


def statement(receipt: Path_, previous: Path_ | None, now: datetime, days: float | None) -> dict[str, Any]:
    """What is signed."""
    body, name = decoded(receipt), os.fspath(receipt)
    kind = kind_of(body, name)
    before = None
    if previous is not None:
        kind_of(decoded(previous), os.fspath(previous))
        before = file_digest(previous)
    expires = None if days is None else _moment(now + timedelta(days=days))
    return {
        "_type": STATEMENT,
        "subject": [{"name": Path(receipt).name, "digest": {"sha256": file_digest(receipt)}}],
        "predicateType": PREDICATE,
        "predicate": {
            "kind": kind,
            "rows": row_digests(body),
            "model": model_digest(body),
            "previous": before,
            "signed": _moment(now),
            "expires": expires,
        },
    }


def check_signature(
    receipt: Path_,
    public: Path_,
    *,
    envelope: Path_ | None = None,
    previous: Path_ | None = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """The statement that was signed about this receipt; an error where signature, bytes, link or time do not fit."""
    path = os.fspath(envelope) if envelope is not None else os.fspath(receipt) + SUFFIX
    key, said = _public(public), _decoded(path)
    payload = _signed_payload(said, key, path)
    try:
        found = json.loads(payload)
        subject, predicate = found["subject"], found["predicate"]
        fits = found["_type"] == STATEMENT and found["predicateType"] == PREDICATE and set(predicate) == SAID
        digest = subject[0]["digest"]["sha256"]
    except (ValueError, KeyError, TypeError, IndexError):
        fits = False
    if not fits or len(subject) != 1:
        raise ReceiptError("the signature is of another kind of statement", path, failed=True)
    if digest != file_digest(receipt):
        raise ReceiptError("the signature is of other bytes than the receipt's", path, failed=True)
    body = decoded(receipt)
    if [predicate[name] for name in ("kind", "rows", "model")] != [
        kind_of(body),
        row_digests(body),
        model_digest(body),
    ]:
        raise ReceiptError("the statement that was signed speaks of another receipt", path, failed=True)
    if previous is not None and predicate["previous"] != file_digest(previous):
        raise ReceiptError(f"the receipt before this one is not {os.fspath(previous)}", path, failed=True)
    _check_times(predicate, now or datetime.now(UTC), path)
    return dict(predicate)


def _signed_payload(said: Any, key: Ed25519PublicKey, path: str) -> bytes:
    """The payload, if one of the signatures is by this key."""
    from cryptography.exceptions import InvalidSignature

    try:
        payload = base64.b64decode(said["payload"], validate=True)
        text = signed_text(said["payloadType"], payload)
        signatures = [base64.b64decode(one["sig"], validate=True) for one in said["signatures"]]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ReceiptError("is not an envelope with a signature", path, failed=True) from None
    if said["payloadType"] != PAYLOAD:
        raise ReceiptError(f"the envelope must hold {PAYLOAD}, got {said['payloadType']!r}", path, failed=True)
    for signature in signatures:
        try:
            key.verify(signature, text)
        except InvalidSignature:
            continue
        return payload
    raise ReceiptError("the signature is not by this key, or the envelope was changed", path, failed=True)


def _check_times(predicate: Mapping[str, Any], now: datetime, path: str) -> None:
    try:
        signed = datetime.fromisoformat(predicate["signed"])
        expires = None if predicate["expires"] is None else datetime.fromisoformat(predicate["expires"])
        late, early = expires is not None and now > expires, signed > now + timedelta(minutes=5)
    except (TypeError, ValueError):
        raise ReceiptError("the times of the signature are no times", path, failed=True) from None
    if early:
        raise ReceiptError(f"the signature is of the future: {predicate['signed']}", path, failed=True)
    if late:
        raise ReceiptError(f"the signature counted until {predicate['expires']}", path, failed=True)


def signed_text(kind: str, payload: bytes) -> bytes:
    """DSSE's pre-authentication encoding.

    >>> signed_text("text", b"hello")
    b'DSSEv1 4 text 5 hello'
    """
    name = kind.encode()
    return b"DSSEv1 %d %b %d %b" % (len(name), name, len(payload), payload)


def file_digest(path: Path_) -> str:
    """SHA-256 of a file's bytes."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", os.fspath(path)) from error


def row_digests(body: Mapping[str, Any]) -> list[str]:
    """The digests of the rows that a receipt is about."""
    segments = body.get("segments")
    found = [one.get("digest") for one in segments] if isinstance(segments, list) else [body.get("digest")]
    return [one for one in found if isinstance(one, str)]


def model_digest(body: Mapping[str, Any]) -> str | None:
    """The digest of the learner after the last round, where a receipt has one."""
    replay = body.get("run", body).get("replay") if isinstance(body.get("run", body), Mapping) else None
    found = replay.get("learner") if isinstance(replay, Mapping) else None
    return found if isinstance(found, str) else None


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")


def _name_of(key: Ed25519PublicKey) -> str:
    from cryptography.hazmat.primitives import serialization as form

    return hashlib.sha256(key.public_bytes(form.Encoding.Raw, form.PublicFormat.Raw)).hexdigest()


def _decoded(path: str) -> Any:
    try:
        return json.loads(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path) from error
    except (ValueError, RecursionError):
        raise ReceiptError("is not an envelope with a signature", path, failed=True) from None


def _pem(path: Path_, kind: str) -> bytes:
    name = os.fspath(path)
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", name) from error
    if not re.search(rb"-----BEGIN (ENCRYPTED )?%b KEY-----" % kind.upper().encode(), text):
        raise InputError(f"must be a {kind} key in PEM, as noregret keygen writes it", name)
    return text


def _private(path: Path_) -> Ed25519PrivateKey:
    _keys()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    text = _pem(path, "private")
    try:
        key = load_pem_private_key(text, None)
    except (ValueError, TypeError):
        raise InputError("is a damaged or an encrypted key", os.fspath(path)) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError("must be an Ed25519 key", os.fspath(path))
    return key


def _public(path: Path_) -> Ed25519PublicKey:
    _keys()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    text = _pem(path, "public")
    try:
        key = load_pem_public_key(text)
    except ValueError:
        raise InputError("is a damaged key", os.fspath(path)) from None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError("must be an Ed25519 key", os.fspath(path))
    return key
