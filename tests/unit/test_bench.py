"""The benchmarks on tiny streams: what they answer, who is named, and what each reached beside its speed."""

import math

import msgspec
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from noregret import bench
from noregret.bench import linear, processes, streams, timing
from noregret.bench.processes import skewed_rows
from noregret.bench.subjects import by_definition
from noregret.finite import dimensions, family
from oracle.learners import perceptron

JOBS = [name for name in bench.JOBS if name != "hindsight"]


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(timing, "CALM", 0.0)


@pytest.fixture(scope="module")
def rows():
    """Every row of every job, run once."""
    timing.CALM = 0.0
    return list(bench.run(JOBS, bench.TINY))


@pytest.mark.parametrize("name", JOBS)
def test_every_job_answers_in_rows_that_say_who_did_what(rows, name):
    found = [row for row in rows if row["name"] == name]
    assert found
    for one in found:
        assert one["job"] and one["who"]
        assert all(isinstance(value, (int, float)) for key, value in one.items() if key not in ("name", "job", "who"))
        assert all(math.isfinite(value) for value in one.values() if isinstance(value, float))
    assert any(one["who"].startswith(timing.OURS) for one in found)


def test_ratios_are_those_of_the_times(rows):
    timed = [one for one in rows if "times ours" in one]
    for job in {one["job"] for one in timed}:
        ours = [one for one in timed if one["job"] == job and one["times ours"] == 1.0]
        assert ours
        for one in timed:
            if one["job"] == job:
                assert one["times ours"] == pytest.approx(one["seconds"] / ours[0]["seconds"])


PEERS_OF = {
    "passes": {"scikit-learn"},
    "single": {"River", "Vowpal Wabbit", "scikit-learn"},
    "files": {"Vowpal Wabbit", "Vowpal Wabbit, its cache", "scikit-learn"},
    "csv": {"polars", "pyarrow"},
    "accuracy": {"Vowpal Wabbit"},
    "experts": {"River"},
}


@pytest.mark.parametrize("name", PEERS_OF)
def test_every_peer_is_named_whether_it_is_installed_or_not(rows, name):
    assert PEERS_OF[name] <= {one["who"] for one in rows if one["name"] == name}


def test_a_peer_that_is_not_installed_is_named_as_missing(monkeypatch):
    for module in (linear, processes):
        monkeypatch.setattr(module, "installed", lambda peer: None)
    found = list(bench.run(["single", "csv"], bench.TINY))
    absent = {(one["name"], one["who"]) for one in found if one.get("missing")}
    expected = {("single", name) for name in ("River", "Vowpal Wabbit", "scikit-learn")}
    assert absent == expected | {("csv", "polars"), ("csv", "pyarrow")}
    assert {one["who"] for one in found if not one.get("missing")} == {timing.OURS, f"{timing.OURS}, dicts"}


def test_the_error_reached_is_that_of_a_plain_perceptron(rows):
    X, y = streams.dense_stream(bench.TINY.dense)
    mistakes = sum(perceptron(X, y).mistakes)
    found = [one for one in rows if one["job"] == "perceptron, dense float64, in memory" and one["who"] == timing.OURS]
    assert found[0]["error"] == pytest.approx(mistakes / len(y))
    A, y = streams.dense_stream(bench.TINY.single)
    one_at_a_time = [one for one in rows if one["job"] == "one example at a time, 50 features"]
    for name in (timing.OURS, f"{timing.OURS}, dicts"):
        ours = next(one for one in one_at_a_time if one["who"] == name)
        # before the first label of either kind is known nothing can be predicted right
        assert ours["error"] == pytest.approx(sum(perceptron(A, y).mistakes) / len(y), abs=2.0 / len(y))


def test_peers_with_the_same_update_reach_the_same_weights(rows):
    compared = [one for one in rows if "weights differ by" in one]
    assert len(compared) == 6
    assert all(one["weights differ by"] < (1e-4 if "float32" in one["job"] else 1e-9) for one in compared)


def test_every_reader_of_the_table_finds_the_same_values(rows):
    sums = [one["sum of all"] for one in rows if one["name"] == "csv" and not one.get("missing")]
    assert sums == pytest.approx([sums[0]] * len(sums))


def test_the_progressive_loss_of_a_file_is_told(rows):
    ours = [one for one in rows if one["name"] == "files" and one["who"].startswith(timing.OURS)]
    assert len(ours) == 2 and all(0.0 < one["loss"] < 2.0 and 0.0 <= one["error"] <= 1.0 for one in ours)
    assert all(one["megabytes"] > 10.0 and one["CPU seconds"] > 0.0 for one in ours)


# -- streams -----------------------------------------------------------------------------------------------------------


def test_the_sparse_stream_is_seeded_and_of_unit_rows(monkeypatch):
    X, y = streams.sparse_stream(50)
    again, labels = streams.sparse_stream(50)
    assert (again != X).nnz == 0 and (y == labels).all()
    assert np.allclose(np.sqrt(X.multiply(X).sum(axis=1)), 1.0)
    assert set(y) == {-1.0, 1.0} and X.shape == (50, streams.COLUMNS)
    monkeypatch.setattr(streams, "PART", 20)
    assert [len(labels) for _, labels in streams.sparse_chunks(50)] == [20, 20, 10]


def test_both_text_files_hold_the_same_rows(tmp_path):
    streams.write_sparse(tmp_path / "a.svm", tmp_path / "a.vw", 12)
    ours, theirs = ((tmp_path / name).read_text().splitlines() for name in ("a.svm", "a.vw"))
    assert len(ours) == 12
    assert [line.replace(" ", " | ", 1) for line in ours] == theirs


def test_rows_for_scaling_have_the_shape_asked_for():
    X, y = skewed_rows(30, 7, 1000)
    assert_array_equal(np.diff(X.indptr), 7)
    assert X.indices.max() < 1000 and set(y) <= {-1.0, 1.0}


# -- parts of the runner -----------------------------------------------------------------------------------------------


def test_the_slow_twin_of_finite_classes_agrees():
    for name in ("thresholds:7", "cube:3", "intervals:5"):
        hypotheses = family(name)
        lines = tuple(tuple(line) for line in hypotheses.matrix.tolist())
        assert by_definition(lines) == dimensions(hypotheses).littlestone.lower


def test_contestants_take_turns_after_a_first_one_that_does_not_count(monkeypatch):
    calls = []
    found = timing.best_of({"a": lambda: calls.append("a") or 1, "b": lambda: calls.append("b") or 2}, 3)
    assert calls == ["a", "b"] * 4
    assert {name: result for name, (_, result) in found.items()} == {"a": 1, "b": 2}


def test_figures_in_numbers_of_numpys_can_be_written_as_json():
    made = timing.row("a job", "a peer", 2.0, 1.0, loss=np.float64(0.5), count=np.int64(3), error=None)
    assert msgspec.json.decode(msgspec.json.encode(made)) == {**made, "loss": 0.5, "count": 3}
    assert "error" not in made


def test_an_unknown_job_is_refused():
    with pytest.raises(bench.SettingError, match=r"bench: job must be one of start, .* got 'speed'"):
        list(bench.run(["speed"], bench.TINY))


def test_the_facts_name_the_machine_and_every_peer():
    found = bench.facts()
    assert {"date", "processor", "cores", "python", "numpy", *timing.PEERS} <= set(found)
    assert all(found.values())


def test_nothing_is_left_behind(monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    list(bench.run(["csv"], bench.TINY))
    assert not list(tmp_path.iterdir())
