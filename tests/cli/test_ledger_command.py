"""`audit --pass`, `learn --ledger`, `merge` and `verify` of what they wrote."""

import json
import random

import pytest


def write(path, seed, rounds=60):
    rng = random.Random(seed)
    lines = ["a,b,p,label"]
    for _ in range(rounds):
        a, b, noise = (rng.gauss(0.0, 1.0) for _ in range(3))
        lines.append(f"{a!r},{b!r},{1.0 / (1.0 + 2.0 ** (noise - a))!r},{int(a + b + noise > 0.0)}")
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def logs(here):
    for k in range(3):
        write(here / f"log{k}.csv", k)
    return [f"log{k}.csv" for k in range(3)]


PASS = ["--probability", "p", "--pass", "--radius", "2"]


def test_a_pass_says_what_the_solver_says_from_above(noregret, logs):
    solved = noregret("audit", logs[0], "--probability", "p", "--radius", "2", "--json").json
    passed = noregret("audit", logs[0], *PASS, "--json").json
    assert passed["rounds"] == solved["rounds"] == 60
    assert passed["mistakes"] == solved["mistakes"]
    assert passed["loss"]["name"] == "logistic"
    assert solved["regret"]["upper"] <= passed["regret"]["upper"]
    assert passed["regret"]["comparator"]["lower"] <= solved["regret"]["comparator"]["lower"]
    assert {one["feature"] for one in passed["ignored"]} == {"a", "b"}
    assert passed["rows"] == "raw"


def test_the_table(noregret, logs):
    shown = noregret("audit", logs[0], *PASS, "--bias", "--segments", "2")
    assert shown.code == 0, shown.err
    for words in (
        "against all fixed weights ‖u‖ ≤ 2 on 2 features, with a bias",
        "regret at most",
        "best model loses at least",
        "rounds 31 to 60",
        "against one model per segment",
        "no rescaling of the scores",
        "what a correction would use first",
        "against other models",
        "rows as they stand in the log",
    ):
        assert words in shown.out


def test_ledgers_are_written_merged_and_verified(noregret, here, logs):
    names = []
    for place, log in enumerate(logs):
        names.append(f"l{place}.json")
        assert noregret("audit", log, *PASS, "--receipt", names[-1], "--quiet").out == ""
    assert "receipt verified" in noregret("verify", names[0], logs[0]).out
    merged = noregret("merge", *names[:2], "--receipt", "two.json", "--quiet")
    assert (merged.code, merged.out) == (0, "")
    shown = noregret("merge", "two.json", names[2], "--receipt", "all.json")
    assert "all parts, one model per part: regret at most" in shown.out
    said = noregret("merge", *names, "--json").json
    assert said["rounds"] == 180
    assert said["regret"]["one_model"] <= said["regret"]["model_per_part"]
    assert noregret("verify", "all.json", *logs).code == 0
    assert noregret("verify", "all.json", *logs[::-1]).code == 1
    assert noregret("merge", "all.json", names[1]).err.count("same rows") == 1


def test_the_ledger_of_a_learner(noregret, here, logs):
    ran = noregret(
        "learn", logs[0], "--ignore", "p", "--learner", "ogd", "--loss", "logistic", "--ledger", "l.json",
        "--receipt", "r.json", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert noregret("verify", "l.json", logs[0]).code == 0
    assert noregret("verify", "r.json", logs[0]).code == 0
    assert noregret("verify", "l.json", logs[1]).code == 1
    body = json.loads((here / "l.json").read_text())
    assert body["radius"] == 10.0
    assert body["parts"][0]["how"]["from"] == "learner"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["audit", "log0.csv", "--probability", "p", "--receipt", "x.json"], "--receipt goes with --pass"),
        (["audit", "log0.csv", *PASS, "--gap", "1e-3"], "--gap cannot be used with --pass"),
        (["audit", "log0.csv", *PASS, "--plot", "x.png"], "--plot cannot be used with --pass"),
        (["audit", "log0.csv", *PASS, "--segments", "2", "--receipt", "x.json"], "leave out --segments"),
        (["audit", "log0.csv", *PASS, "--segments", "99"], "too few for 99 segments"),
        (["audit", "log0.csv", "--pass"], "needs exactly one of --score, --probability and --prediction"),
        (["merge", "none.json"], "none.json: cannot be read"),
        (["merge", "log0.csv"], "log0.csv: is neither a receipt nor a proof"),
        (["merge", "l.json", "--radius", "0"], "--radius must be positive"),
        (["merge", "l.json", "--receipt", "l.json"], "would be written over one of the receipts"),
        (["merge", "l.json", "l.json"], "same rows"),
        (["verify", "l.json", "log0.csv", "log1.csv"], "needs its one stream; 2 were given"),
        (["verify", "l.json", "none.csv"], "none.csv"),
        (["learn", "log0.csv", "--resume", "m.nr", "--ledger", "x.json"], "--ledger needs every round"),
        (["learn", "log0.csv", "--delay", "2", "--ledger", "x.json"], "--ledger cannot be used with late labels"),
        (["learn", "log0.csv", "--learner", "multiclass", "--ledger", "x.json"], "scores that are single numbers"),
    ],
)
def test_what_cannot_be(noregret, here, logs, words, sentence):
    noregret("audit", "log0.csv", *PASS, "--receipt", "l.json", "--quiet")
    found = noregret(*words)
    assert found.code == 2, found.err
    assert sentence in found.err
    assert found.err.count("\n") == 1
    assert not (here / "x.json").exists()
