"""Good files with one field changed and the checksum made right again: what a forger, or a broken disk, can write."""

import copy
import hashlib
import math
import struct

import msgspec

FRONT = struct.Struct("<8sII")
GONE = object()
ODD = [None, True, -1, 0, 60, 2**31, 2**62, -(2**63), 2**64 - 1, 1.5, math.nan, math.inf, -math.inf]
ODD += ["", "x", "\x1b[2J", "label", "<f8", "|O", b"x", [], [None], [-1], [2**40, 2**40], {}, {"x": 1}, [["a", 1.0]]]


def taken_apart(raw):
    """The header of a model file as plain values, and what follows it."""
    _, _, length = FRONT.unpack_from(raw)
    return msgspec.msgpack.decode(raw[FRONT.size : FRONT.size + length]), raw[FRONT.size + length : -32]


def put_together(header, body, version=2):
    """A model file with a right checksum."""
    packed = msgspec.msgpack.encode(header)
    raw = FRONT.pack(b"NOREGRET", version, len(packed)) + packed + body
    return raw + hashlib.sha256(raw).digest()


def places(found, before=()):
    """Every place in plain values, as the keys that lead to it; a long list by its first entries alone."""
    if before:
        yield before
    if isinstance(found, dict):
        for key, value in found.items():
            yield from places(value, (*before, key))
    elif isinstance(found, list):
        for at, value in enumerate(found[:6]):
            yield from places(value, (*before, at))


def changed(found, place, value):
    """The same values but for one place."""
    found = copy.deepcopy(found)
    at = found
    for key in place[:-1]:
        at = at[key]
    if value is GONE:
        del at[place[-1]]
    else:
        at[place[-1]] = value
    return found


def forgeries(found):
    """Every way to change one place: the place, and the value."""
    return [(place, value) for place in places(found) for value in (GONE, *ODD)]
