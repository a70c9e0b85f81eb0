"""Caches with a number forged and every checksum made right again: read, or thrown away, and never a wrong place."""

import hashlib
import struct

import msgspec
import numpy as np
import pytest

from noregret._native import checksum
from noregret.errors import NoregretError
from noregret.stream import read
from noregret.stream.cache import MAGIC
from noregret.stream.cache.file import HEAD, PAGE
from oracle.forged_models import changed, forgeries

ROWS = "1 1:1 5:2\n-1 2:1\n1 3:0.5\n"


def page_of(raw):
    length = int.from_bytes(raw[16:24], "little")
    return msgspec.json.decode(raw[56 : 56 + length])


def sealed(page, rest):
    stored = msgspec.json.encode(page)
    return (MAGIC + len(stored).to_bytes(8, "little") + hashlib.sha256(stored).digest() + stored).ljust(
        PAGE, b"\0"
    ) + rest


@pytest.fixture
def made(tmp_path):
    """A file with its cache: the path, and the cache's bytes."""
    path = tmp_path / "rows.svm"
    path.write_text(ROWS)
    assert sum(map(len, read(path, cache=True).blocks())) == 3
    return path, (tmp_path / "rows.svm.nrcache").read_bytes()


def rows_with(made, raw):
    """The rows by way of a forged cache, or None where they are refused in a sentence of ours."""
    path, _ = made
    path.with_name("rows.svm.nrcache").write_bytes(raw)
    try:
        return [block.rows for block in read(path, cache=True).blocks()]
    except NoregretError:
        return None


def test_forged_contents_are_thrown_away(made):
    raw = made[1]
    page = page_of(raw)
    contents = msgspec.json.decode(raw[page["end"] :])
    for place, value in forgeries(contents):
        try:
            stored = msgspec.json.encode(changed(contents, place, value))
        except (TypeError, ValueError):
            continue
        digest = hashlib.sha256(stored).hexdigest()
        rows_with(made, sealed({**page, "digest": digest}, raw[PAGE : page["end"]] + stored))
    for place, value in forgeries(page):
        try:
            forged = sealed(changed(page, place, value), raw[PAGE:])
        except (TypeError, ValueError):  # what JSON cannot say
            continue
        rows_with(made, forged)


@pytest.mark.parametrize("value", [-(2**62), -1, 0, 1, 2, 7, 2**31, 2**62])
@pytest.mark.parametrize("field", range(1, 7))
def test_a_forged_head_never_leads_beyond_the_rows(made, field, value):
    raw = made[1]
    found = list(HEAD.unpack(raw[PAGE : PAGE + HEAD.size]))
    found[field] = value
    front = struct.pack("=8qQ", *found[:-1])
    head = front + struct.pack("=Q", checksum(np.frombuffer(bytearray(front), dtype=np.uint64)))
    blocks = rows_with(made, raw[:PAGE] + head + raw[PAGE + HEAD.size :])
    for rows in blocks or ():
        assert not len(rows.indices) or int(rows.indices.max()) < rows.width
