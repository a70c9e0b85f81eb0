"""`noregret bench` as a command; what the benchmarks measure is in tests/unit/test_bench.py."""

import json

import pytest

import noregret.bench


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(noregret.bench, "QUICK", noregret.bench.TINY)
    monkeypatch.setattr("noregret.bench.timing.CALM", 0.0)


def test_one_job_prints_the_machine_and_a_table(noregret, tiny, here):
    answer = noregret("bench", "--quick", "--only", "csv")
    assert answer.code == 0 and answer.err == ""
    assert answer.out.startswith("date ") and "processor " in answer.out
    names = [line.split("  ")[0] for line in answer.out.splitlines()]
    assert {"noregret", "polars", "pyarrow"} <= set(names)
    assert "times ours" in answer.out


def test_json_keeps_every_figure(noregret, tiny, here):
    assert noregret("bench", "--quick", "--only", "csv,finite", "--json", "kept.json", "--quiet").out == ""
    kept = json.loads((here / "kept.json").read_text())
    assert kept["facts"]["cores"] and {row["name"] for row in kept["rows"]} == {"csv", "finite"}


def test_a_missing_peer_is_named(noregret, tiny, here, monkeypatch):
    monkeypatch.setattr("noregret.bench.processes.installed", lambda peer: None)
    lines = noregret("bench", "--quick", "--only", "csv").out.splitlines()
    assert [line.split() for line in lines if line.startswith("polars")] == [["polars", "not", "installed"]]


def test_the_scaling_is_drawn(noregret, tiny, here):
    pytest.importorskip("matplotlib")
    assert noregret("bench", "--quick", "--only", "scaling", "--plot", "scaling.svg", "--quiet").code == 0
    assert "<svg" in (here / "scaling.svg").read_text()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--only", "speed"), "bench: job must be one of start, "),
        (("--only", "csv", "--plot", "x.svg"), "--plot needs the job scaling: add it to --only"),
        (("--plot", "x.gif"), "plot: the file must end in .png"),
        (("--only", "csv", "--json", "nowhere/x.json"), "'nowhere' does not exist"),
    ],
)
def test_wrong_words_are_refused_before_the_work(noregret, tiny, here, options, sentence):
    answer = noregret("bench", "--quick", *options)
    assert answer.code == 2 and sentence in answer.err and not answer.out
    assert not list(here.iterdir())
