"""Model files with one field forged and a right checksum: they load, or are refused in a sentence, in little memory."""

import random
import tracemalloc

import msgspec
import numpy as np
import pytest

from noregret import model
from noregret.errors import ModelFileError, NoregretError
from noregret.learner import LEARNERS
from noregret.protocol import play
from noregret.stream import Dense, read
from oracle.forged_models import changed, forgeries, put_together, taken_apart
from oracle.registry import NUMBERS

MOST = 200e6  # bytes


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


MEMBERS = {"binary": "labels,adagrad-.15,nearest", "multiclass": "labels,softmax-.15", "regression": "mean,ridge-3"}


@pytest.mark.parametrize("task", MEMBERS)
def test_forged_numbers_of_a_pool_are_refused_or_harmless(task, tmp_path):
    """Places in tables, of the members too, and lengths of arrays; what still loads can go on without harm."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(20, 3)), rng.integers(0, 2, 20).astype(float)
    core = LEARNERS["auto"](task=task, members=MEMBERS[task])
    play(core, (X, 2.0 * y - 1.0 if task == "binary" else y))
    model.save(core, tmp_path / "m.nr")
    header, body = taken_apart((tmp_path / "m.nr").read_bytes())
    refused = 0
    for part in header["arrays"]:
        if np.dtype(part["dtype"]).kind != "i" or part["name"].startswith("state."):
            continue
        size = int(np.prod(part["shape"]))
        for place in range(size):
            for value in (-1, 2**40, -(2**62)):
                at = part["offset"] + 8 * place
                forged = body[:at] + np.int64(value).tobytes() + body[at + 8 :]
                (tmp_path / "f.nr").write_bytes(put_together(header, forged))
                refused += not goes_on(tmp_path / "f.nr", X, core.labels is None)
    assert refused > 10


def goes_on(path, X, numbers):
    """Whether a file loads and what it holds can play a round, or say why not."""
    try:
        loaded, _ = model.load(path)
    except ModelFileError as error:
        assert "\n" not in str(error)
        return False
    try:
        loaded.play(Dense(X[:3]), np.array([0.5, -1.0, 1.0]) if numbers else np.ones(3))
    except NoregretError:
        return False
    return True
