"""`noregret bench` and `noregret warmup` as commands; what the benchmarks measure is in tests/unit/test_bench.py."""

import json

import pytest

import noregret.bench
from noregret import warming


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
    monkeypatch.setattr("noregret.bench.files.installed", lambda peer: None)
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
        (("--only", "csv", "--plot", "x.svg"), "--plot draws the job scaling, which --only leaves out"),
        (("--plot", "x.gif"), "plot: the file must end in .png"),
        (("--only", "csv", "--json", "nowhere/x.json"), "there is no folder 'nowhere'"),
    ],
)
def test_wrong_words_are_refused_before_the_work(noregret, tiny, here, options, sentence):
    answer = noregret("bench", "--quick", *options)
    assert answer.code == 2 and sentence in answer.err and not answer.out
    assert not list(here.iterdir())


# -- warmup ------------------------------------------------------------------------------------------------------------


def test_warmup_says_what_each_part_took_and_where_it_is_kept(noregret, here):
    answer = noregret("warmup", "--only", "finite")
    assert answer.code == 0
    assert set(answer.rows()) >= {"finite classes", "all"}
    assert "Kept in " in answer.out
    assert noregret("warmup", "--only", "finite", "--quiet").out == ""


def test_a_part_that_there_is_not_is_refused(noregret, here):
    answer = noregret("warmup", "--only", "everything")
    assert answer.code == 2 and "no part's name holds 'everything'; there are learners" in answer.err


def test_every_loss_and_every_learner_has_its_part():
    from noregret.loss import LOSSES

    assert {f"learners with the loss {name}" for name in LOSSES} <= set(warming.jobs())


def test_after_a_warmup_the_commands_compile_nothing(noregret, start, here, monkeypatch, tmp_path):
    """A part is warmed in one process; a command of that part in another finds everything on disk."""
    from command import ENVIRONMENT

    cache = tmp_path / "kept"
    monkeypatch.setitem(ENVIRONMENT, "NUMBA_CACHE_DIR", str(cache))
    warmed = start("warmup", "--only", "experts", "--quiet")
    assert warmed.communicate(timeout=600) == (b"", b"")
    kept = sorted(path.name for path in cache.iterdir())
    assert kept
    (here / "table.csv").write_text("anna,bert,rain\n0.9,0.2,1\n0.4,0.3,0\n")
    blended = start("blend", "table.csv", "--outcome", "rain", "--experts", "anna,bert", "--loss", "squared", "--quiet")
    assert blended.communicate(timeout=600) == (b"", b"")
    assert sorted(path.name for path in cache.iterdir()) == kept
