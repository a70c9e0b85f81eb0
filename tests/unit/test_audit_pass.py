"""`audit_pass`: a log of any kind in one pass, by rows and by columns; its bound contains what the solver finds."""

import gzip
import math
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

import noregret as nr
from noregret.errors import InputError, SettingError
from noregret.logged import columns as by_columns
from noregret.logged.columns import by_column
from noregret.task.audit import passing


def table(rounds=900, features=11, seed=0, **more):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, features))
    truth = X @ rng.normal(size=features)
    said = truth + rng.normal(size=rounds)
    columns = {f"x{j}": X[:, j] for j in range(features)}
    columns |= {"p": 1.0 / (1.0 + np.exp(-said)), "label": (truth + rng.normal(size=rounds) > 0.0).astype(float)}
    return pyarrow.table(columns | more)


@pytest.fixture
def written(tmp_path):
    def write(log, **how):
        path = tmp_path / f"log{len(list(tmp_path.iterdir()))}.parquet"
        parquet.write_table(log, path, **{"row_group_size": 250, **how})
        return str(path)

    return write


@pytest.fixture
def ways(monkeypatch):
    """Which logs were read by columns."""
    seen = []

    def watched(*given):
        found = by_column(*given)
        seen.append(found is not None)
        return found

    monkeypatch.setattr(passing, "by_column", watched)
    return seen


def agree(one, other):
    """Two ledgers of the same rounds, each rounded in its own way."""
    assert one.rounds == other.rounds
    assert np.linalg.norm(one.G - other.G) <= one.error + other.error
    for mine, theirs in ((one.loss, other.loss), (one.paid, other.paid), (one.ball(2.0), other.ball(2.0))):
        assert mine.lo <= theirs.hi
        assert theirs.lo <= mine.hi


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("segments", [None, 1, 4, 7])
def test_columns_and_rows_have_the_same_ledgers(written, ways, bias, segments):
    log = table()
    asked = {"probability": "p", "radius": 2.0, "bias": bias, "segments": segments}
    fast, slow = nr.audit_pass(written(log), **asked), nr.audit_pass(log, **asked)
    assert ways == [True, False]
    agree(fast.overall.ledger, slow.overall.ledger)
    assert fast.overall.mistakes == slow.overall.mistakes
    assert [one.name for one in fast.segments] == [one.name for one in slow.segments]
    for mine, theirs in zip(fast.segments, slow.segments, strict=True):
        agree(mine.ledger, theirs.ledger)
        assert mine.mistakes == theirs.mistakes
    assert fast.names == slow.names
    assert fast.probabilities == slow.probabilities


def test_threads_change_no_bit(written):
    path = written(table())
    one, two = (nr.audit_pass(path, probability="p", threads=threads).overall.ledger for threads in (1, 2))
    assert (one.G == two.G).all()
    assert (one.paid, one.loss, one.error, one.norms) == (two.paid, two.loss, two.error, two.norms)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared-hinge"])
@pytest.mark.parametrize("bias", [False, True])
def test_the_bound_contains_the_regret(written, loss, bias):
    path = written(table(400))
    asked = {"probability": "p", "radius": 2.0, "bias": bias, "loss": loss}
    solved, passed = nr.audit(path, **asked), nr.audit_pass(path, **asked)
    assert solved.overall.regret.hi <= passed.bound(passed.overall)
    assert passed.best_at_least(passed.overall) <= solved.overall.best.lower
    assert passed.overall.mistakes == solved.overall.mistakes
    assert passed.features == solved.features


def test_numbers_as_labels(written, ways):
    rng = np.random.default_rng(3)
    log = pyarrow.table({"x": rng.normal(size=300), "said": rng.normal(size=300), "label": rng.normal(size=300)})
    for loss in ("squared", "absolute"):
        solved = nr.audit(log, prediction="said", loss=loss, radius=1.0)
        passed = nr.audit_pass(written(log), prediction="said", loss=loss, radius=1.0)
        assert solved.overall.regret.hi <= passed.bound(passed.overall)
        assert passed.overall.mistakes is None
    assert ways == [True, True]


def test_hard_predictions_mean_what_the_labels_say():
    log = pyarrow.table(
        {
            "x": [1.0, 2.0, -1.0, 0.5, 3.0],
            "label": ["no", "yes", "no", "yes", "yes"],
            "said": ["yes", "yes", "no", None, "no"],
        }
    )
    solved, passed = (one(log, prediction="said", radius=1.0) for one in (nr.audit, nr.audit_pass))
    assert passed.overall.mistakes == solved.overall.mistakes == 3
    assert passed.blank == solved.blank == 1
    assert passed.overall.loss.holds(0.5 * (solved.overall.loss.lo + solved.overall.loss.hi))
    assert solved.overall.regret.hi <= passed.bound(passed.overall)


def test_segments_by_a_column():
    log = table(300).append_column("where", pyarrow.array(np.array(["a", "b", "c"])[np.arange(300) % 3]))
    solved, passed = (one(log, probability="p", radius=1.0, segment_by="where") for one in (nr.audit, nr.audit_pass))
    assert [part.name for part in passed.segments] == ["a", "b", "c"]
    for mine, theirs in zip(passed.segments, solved.segments, strict=True):
        assert (mine.rounds, mine.mistakes) == (theirs.rounds, theirs.mistakes)
        assert theirs.regret.hi <= passed.bound(mine)
    assert passed.by_segment.hi >= passed.bound(passed.overall) - 1e-9


def test_probabilities_of_0_and_1(written):
    log = pyarrow.table({"x": [1.0, 2.0, 3.0], "p": [1.0, 0.0, 1.0], "label": [1, 0, 0]})
    for one in (log, written(log)):
        found = nr.audit_pass(one, probability="p", radius=1.0)
        assert (found.overall.ledger.infinite, found.bound(found.overall)) == (1, math.inf)
        assert found.to_dict()["regret"]["upper"] is None


def test_what_the_columns_cannot_say_is_said_by_rows(written, ways):
    whole = table(60, features=2)
    gaps = whole.set_column(0, "x0", pyarrow.array([None, *whole["x0"].to_pylist()[1:]]))
    with pytest.raises(InputError, match="missing"):
        nr.audit_pass(written(gaps), probability="p")
    assert nr.audit_pass(written(gaps), probability="p", missing="skip").overall.rounds == 59
    assert nr.audit_pass(written(gaps), probability="p", missing="mean").filled
    odd = whole.set_column(0, "x0", pyarrow.array([math.inf, *whole["x0"].to_pylist()[1:]]))
    with pytest.raises(InputError, match="finite"):
        nr.audit_pass(written(odd), probability="p")
    beyond = whole.set_column(2, "p", pyarrow.array([1.5, *whole["p"].to_pylist()[1:]]))
    with pytest.raises(InputError, match=r"between 0 and 1, got 1\.5"):
        nr.audit_pass(written(beyond), probability="p")
    third = whole.set_column(3, "label", pyarrow.array([-1.0, *whole["label"].to_pylist()[1:]]))
    with pytest.raises(InputError, match="label"):
        nr.audit_pass(written(third), probability="p")
    words = whole.append_column("colour", pyarrow.array(["red", "blue"] * 30))
    assert nr.audit_pass(written(words), probability="p").features > 4
    assert ways == [False] * 5


def test_columns_of_other_types(written, ways):
    whole = table(200, features=3)
    other = whole.set_column(0, "x0", whole["x0"].cast(pyarrow.float32()))
    other = other.set_column(1, "x1", pyarrow.array(np.arange(200) % 7 - 3))
    other = other.set_column(4, "label", pyarrow.array(whole["label"].to_numpy() > 0.5))
    fast, slow = nr.audit_pass(written(other), probability="p"), nr.audit_pass(other, probability="p")
    assert ways == [True, False]
    agree(fast.overall.ledger, slow.overall.ledger)


def test_large_row_groups_are_read_by_rows(written, ways, monkeypatch):
    monkeypatch.setattr(by_columns, "LARGEST", 100)
    nr.audit_pass(written(table(300)), probability="p")
    assert ways == [False]


def test_a_file_compressed_as_a_whole_is_read_by_rows(written, ways, tmp_path):
    path = tmp_path / "whole.parquet.gz"
    path.write_bytes(gzip.compress(Path(written(table(300))).read_bytes()))
    plain = nr.audit_pass(str(path), probability="p")
    assert ways == [False]
    assert plain.overall.rounds == 300


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({}, "needs exactly one of"),
        ({"probability": "p", "radius": -1.0}, "radius must be positive"),
        ({"probability": "p", "segments": 0}, "segments must be at least 1"),
        ({"probability": "p", "segments": 61}, "too few for 61 segments"),
        ({"probability": "p", "segments": 2, "missing": "skip"}, "number of rounds before the pass"),
        ({"probability": "p", "threads": 0}, "threads must be at least 1"),
        ({"probability": "q"}, "no column 'q'"),
        ({"probability": "p", "ignore": ["x0", "x1"]}, "no features besides the predictions"),
    ],
)
def test_what_cannot_be(asked, sentence):
    with pytest.raises((SettingError, InputError), match=sentence):
        nr.audit_pass(table(60, features=2), **asked)


def test_a_receipt_needs_digests():
    with pytest.raises(SettingError, match="digest=True"):
        nr.audit_pass(table(60), probability="p").receipt()
