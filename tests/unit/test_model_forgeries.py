"""Model files with one field forged and a right checksum: they load, or are refused in a sentence, in little memory."""

import random
import tracemalloc

import msgspec
import numpy as np
import pytest

from noregret import model
from noregret.errors import ModelFileError
from noregret.learner import LEARNERS
from noregret.protocol import play
from noregret.stream import read
from oracle.forged_models import changed, forgeries, put_together, taken_apart

MOST = 200e6  # bytes
NUMBERS = ("vaw",)


def learned(name, folder):
    """A learner that has learned a little, by way of a table with words in it."""
    rng = np.random.default_rng(1)
    more = {"coin": {"gradient_bound": 50.0}}.get(name, {})
    core = LEARNERS[name](**more)
    labels = [str(rng.normal()) if name in NUMBERS else ("ham", "spam")[i % 2] for i in range(30)]
    rows = [f"{label},{rng.normal()},{rng.normal()},{'xyz'[i % 3]}\n" for i, label in enumerate(labels)]
    (folder / "t.csv").write_text("label,a,b,c\n" + "".join(rows))
    play(core, read(folder / "t.csv", hash_bits=5), digest=True)
    core.options = {"label": None, "hash_bits": 5, "missing": "error", "class_weight": None}
    return core


def loads(path, raw):
    """Whether a file loads; a refusal must be one sentence of ours."""
    path.write_bytes(raw)
    try:
        model.load(path)
        return True
    except ModelFileError as error:
        assert "\n" not in str(error)
        assert str(error).startswith(f"{path}: ")
        return False


@pytest.mark.parametrize("name", LEARNERS)
def test_any_forged_field_is_loaded_or_refused(name, tmp_path):
    model.save(learned(name, tmp_path), tmp_path / "m.nr")
    header, body = taken_apart((tmp_path / "m.nr").read_bytes())
    arrays = header["arrays"]
    own = [part for part in arrays if not part["name"].startswith("state.")]
    header["arrays"] = own + [part for part in arrays if part not in own]
    ways = forgeries(header)
    random.Random(5).shuffle(ways)
    tracemalloc.start()
    try:
        found = [loads(tmp_path / "f.nr", put_together(changed(header, *way), body)) for way in ways[:150]]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST
    assert not all(found)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("features", "hash_bits"), 60),
        (("features", "hash_start"), 10**9),
        (("features", "columns"), -1),
        (("features", "values"), [[10**12], ["x"]]),
        (("labels",), None),
        (("labels", "codes"), [["ham", 7.0]]),
        (("width",), 2**40),
        (("width",), 2**31),
        (("segments", 0, "rows"), "many"),
        (("options", "hash_bits"), 60),
        (("settings", "radius"), "wide"),
        (("arrays", 0, "shape"), [2**31]),
        (("arrays", 0, "dtype"), "|O"),
        (("arrays", 0, "offset"), -8),
    ],
    ids=str,
)
def test_what_is_forged_is_refused_without_memory(place, value, tmp_path):
    model.save(learned("ogd", tmp_path), tmp_path / "m.nr")
    header, body = taken_apart((tmp_path / "m.nr").read_bytes())
    assert loads(tmp_path / "f.nr", put_together(header, body))
    tracemalloc.start()
    try:
        assert not loads(tmp_path / "f.nr", put_together(changed(header, place, value), body))
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_a_header_nested_too_deeply_is_a_sentence(tmp_path):
    deep = b"\x91" * 200_000 + b"\xc0"
    model.save(learned("ogd", tmp_path), tmp_path / "m.nr")
    header, body = taken_apart((tmp_path / "m.nr").read_bytes())
    header["settings"] = {"x": msgspec.Raw(deep)}
    assert not loads(tmp_path / "f.nr", put_together(header, body))
