"""`learn --alarm`: what is printed, exit codes, going on with a saved model, pictures and refusals."""

import json

import numpy as np
import pytest
from command import call, learned

import noregret as nr

HEAD = "a,b,c,label\n"


def text(n, noise=None, seed=1, flip=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X @ [1.0, 2.0, -1.0] > 0).astype(int)
    if noise is not None:
        y[noise:] = rng.integers(0, 2, n - noise)
    if flip:
        y = 1 - y
    return "".join(",".join(f"{v:.4f}" for v in x) + f",{label}\n" for x, label in zip(X, y.tolist(), strict=True))


@pytest.fixture
def rows(here):
    (here / "bad.csv").write_text(HEAD + text(1500, noise=800))
    (here / "calm.csv").write_text(HEAD + text(1500))
    return here


ALARM = ("--learner", "perceptron", "--alarm", "level:0.2", "--after", "50")


def test_the_lines_under_the_table(noregret, rows):
    answer = noregret("learn", "bad.csv", *ALARM)
    (rang,) = noregret("learn", "bad.csv", *ALARM, "--json").json["alarm"]["rang"]
    assert 800 < rang < 1000
    shown = answer.out.split("\n\n")[1].splitlines()
    assert shown[0] == f"alarm          rang after round {rang:,}"
    assert shown[1] == "  null         given all before it, the mean error of a round is at most 0.2"
    assert shown[2] == "  false alarm  with probability at most 0.01 in the whole life of the run"
    assert shown[3].startswith("  e-value") and shown[3].endswith("rings from 100.001 on")
    assert shown[4] == "  rounds       1,450 watched; left out: 50 before it was armed"
    assert all(len(line) <= 80 for line in shown)
    assert "alarm          has not rung" in noregret("learn", "calm.csv", *ALARM).out
    assert "alarm" not in noregret("learn", "calm.csv", "--learner", "perceptron", "--json").json


def test_the_exit_code_is_asked_for(noregret, rows):
    assert noregret("learn", "bad.csv", *ALARM, "--quiet").code == 0
    assert noregret("learn", "bad.csv", *ALARM, "--quiet", "--fail-on-alarm").code == 3
    assert noregret("learn", "calm.csv", *ALARM, "--quiet", "--fail-on-alarm").code == 0
    (rows / "broken.csv").write_text(HEAD + text(1500, noise=800) + "1,2,x,0\n")
    assert noregret("learn", "broken.csv", *ALARM, "--quiet", "--fail-on-alarm").code == 2  # 2 comes before 3


def test_a_model_that_another_process_changed_comes_before_the_alarm(noregret, rows, monkeypatch):
    noregret("learn", "calm.csv", *ALARM, "--save", "m.nr", "--quiet")
    from noregret import model

    changed = (rows / "m.nr").read_bytes()
    before = model.load

    def load(path, *more):
        monkeypatch.setattr(model, "load", before)
        found = before(path, *more)
        other = nr.load("m.nr")
        other.learn_one({"a": 1.0, "b": 0.0, "c": 0.0}, 1)
        other.save("m.nr")
        return found

    monkeypatch.setattr(model, "load", load)
    answer = noregret("learn", "bad.csv", "--resume", "m.nr", "--save", "m.nr", "--quiet", "--fail-on-alarm")
    assert answer.code == 1 and "changed by another process" in answer.err
    assert (rows / "m.nr").read_bytes() != changed


def test_resuming_goes_on_with_the_alarm(noregret, rows):
    whole = noregret("learn", "bad.csv", *ALARM, "--save", "whole.nr", "--json").json
    lines = (rows / "bad.csv").read_text().splitlines(keepends=True)[1:]
    (rows / "one.csv").write_text(HEAD + "".join(lines[:900]))
    (rows / "two.csv").write_text(HEAD + "".join(lines[900:]))
    first = noregret("learn", "one.csv", *ALARM, "--save", "m.nr", "--json")
    second = noregret("learn", "two.csv", "--resume", "m.nr", "--save", "m.nr", "--json", "--fail-on-alarm")
    assert second.json["alarm"] == whole["alarm"]
    assert (first.json["alarm"]["rang"] == []) == (second.code == 3)
    (rows / "later.csv").write_text(HEAD + text(1500, seed=2))
    later = noregret("learn", "later.csv", "--resume", "m.nr", "--json", "--fail-on-alarm")
    assert later.code == 0  # it rang in an earlier call
    again = noregret("learn", "two.csv", "--resume", "m.nr", "--again")
    assert again.code == 2 and "alarms and windows are of predictions of new rows" in again.err
    grown = noregret("learn", "bad.csv", "--resume", "m.nr", "--skip", "seen", "--json")
    assert grown.code == 2  # of two streams the last is asked for
    (rows / "grown.csv").write_text(HEAD + "".join(lines))
    noregret("learn", "one.csv", *ALARM, "--save", "s.nr", "--quiet")
    on = noregret("learn", "grown.csv", "--resume", "s.nr", "--skip", "seen", "--save", "s.nr", "--json").json
    assert on["alarm"] == whole["alarm"]


@pytest.mark.parametrize("how", ["restart", "reshare"])
def test_a_run_that_changed_goes_on_too(noregret, rows, how):
    alarm = ("--alarm", "level:0.2", "--after", "50", "--on-alarm", how)
    whole = noregret("learn", "bad.csv", *alarm, "--json").json
    assert whole["alarm"]["rang"]
    lines = (rows / "bad.csv").read_text().splitlines(keepends=True)
    (rows / "one.csv").write_text("".join(lines[:1101]))
    noregret("learn", "one.csv", *alarm, "--save", "m.nr", "--quiet")
    on = noregret("learn", "bad.csv", "--resume", "m.nr", "--skip", "seen", "--save", "m.nr", "--json").json
    assert (on["alarm"], on["loss"]) == (whole["alarm"], whole["loss"])
    answer = noregret("certify", "m.nr", "bad.csv")
    assert answer.code == 2 and "another learner went on where an alarm rang" in answer.err
    shown = noregret("learn", "bad.csv", *alarm).out
    assert "test k spends 6δ/(π²k²) of it, δ = 0.01; now k = " in shown
    assert ("learner 1    up to round" in shown) == (how == "restart")
    assert ("since their weights were set back after round" in shown) == (how == "reshare")


def test_snapshots_and_stopping_keep_it(noregret, rows):
    noregret("learn", "bad.csv", *ALARM, "--save", "m.nr", "--every", "100", "--quiet")
    noregret("learn", "bad.csv", *ALARM, "--save", "n.nr", "--quiet")
    assert learned(rows / "m.nr") == learned(rows / "n.nr")


def test_inspect_shows_it(noregret, rows):
    shown = noregret("learn", "bad.csv", *ALARM, "--save", "m.nr").out.split("\n\n")[1]
    assert shown in noregret("inspect", "m.nr").out


def test_against_a_challenger_that_reads_other_columns(noregret, rows):
    noregret("learn", "calm.csv", "--ignore", "c", "--learner", "perceptron", "--save", "c.nr", "--quiet")
    answer = noregret("learn", "bad.csv", "--learner", "perceptron", "--alarm", "challenger:c.nr", "--json")
    assert answer.json["alarm"]["watched"] == 1500
    assert "at most that of c.nr" in answer.json["alarm"]["words"]
    piped = noregret(
        "learn", "-", "--learner", "perceptron", "--alarm", "challenger:c.nr", stdin=(rows / "bad.csv").read_bytes()
    )
    assert piped.code == 2 and "so the rows are read twice: give one file" in piped.err


def test_numbers_and_probabilities(noregret, rows):
    answer = noregret("learn", "bad.csv", "--task", "regression", "--alarm", "level:0.2")
    assert answer.code == 2 and "--alarm-loss must be clip:B for numbers" in answer.err
    answer = noregret("learn", "bad.csv", "--task", "regression", "--alarm", "baseline", "--alarm-loss", "clip:2")
    assert "the mean min(|error|, 2)/2 of a round is at most that of the mean of the labels" in answer.out
    answer = noregret("learn", "bad.csv", "--alarm", "level:0.2", "--alarm-loss", "brier", "--after", "50", "--json")
    assert answer.json["alarm"]["loss"] == "brier"
    assert answer.json["alarm"]["rang"]


def test_late_labels(noregret, rows):
    found = noregret("learn", "bad.csv", *ALARM, "--delay", "30", "--json", "--fail-on-alarm")
    assert found.code == 3 and found.json["alarm"]["watched"] == 1450
    events = []
    for i, line in enumerate((rows / "bad.csv").read_text().splitlines()[1:]):
        a, b, _, label = line.split(",")
        events.append({"id": i, "x": {"a": float(a), "b": float(b)}})
        if i % 3:
            events.append({"id": i, "y": int(label)})
    for i in range(0, 1200, 3):
        events.append({"id": i, "y": 0} if i % 2 else {"id": i, "expire": True})
    (rows / "log.jsonl").write_text("".join(json.dumps(one) + "\n" for one in events))
    late = ("--events", "--task", "binary")
    whole = noregret("learn", "log.jsonl", *late, *ALARM, "--json")
    assert whole.code == 0, whole.err
    told = whole.json["alarm"]
    assert told["waiting"] == 300 and told["unlabelled"] == 200  # the first of those that still wait is in their way
    cut = "".join(json.dumps(one) + "\n" for one in events[:1700])
    (rows / "part.jsonl").write_text(cut)
    noregret("learn", "part.jsonl", *late, *ALARM, "--save", "m.nr", "--quiet")
    on = noregret("learn", "log.jsonl", "--events", "--resume", "m.nr", "--skip", "seen", "--json")
    assert on.json["alarm"] == told
    assert "waiting for a label, their own or an earlier one" in noregret("learn", "log.jsonl", *late, *ALARM).out


@pytest.mark.parametrize("kind", ["error", "risk", "mistakes", "weights"])
def test_pictures_have_a_mark(noregret, rows, kind):
    rang = noregret("learn", "bad.csv", "--alarm", "level:0.2", "--json").json["alarm"]["rang"]
    noregret("learn", "bad.csv", "--alarm", "level:0.2", "--plot", "p.svg", "--picture", kind, "--quiet")
    assert f"alarm: round {rang[0]:,}" in (rows / "p.svg").read_text()
    again = ("--alarm", "level:0.2", "--on-alarm", "restart", "--after", "50")
    noregret("learn", "bad.csv", *again, "--plot", "p.svg", "--picture", kind, "--quiet")
    assert "counted from the restart after round" in (rows / "p.svg").read_text()


REFUSED = [
    (["--alarm", "level:2"], "--alarm level:M must lie between 0 and 1, the range of the loss, got 'level:2'"),
    (["--alarm", "worse"], "--alarm must be level:M, baseline or challenger:MODEL, got 'worse'"),
    (["--after", "3"], "--after needs --alarm"),
    (["--fail-on-alarm"], "--fail-on-alarm needs --alarm"),
    (["--alarm", "baseline", "--false-alarm", "0"], "--false-alarm must be a probability above 0 and below 1, got 0.0"),
    (["--alarm", "baseline", "--on-alarm", "stop"], "--on-alarm must be one of continue, restart, reshare, got 'stop'"),
    (["--alarm", "baseline", "--alarm-loss", "x"], "--alarm-loss must be zero-one, brier or clip:B with B above 0"),
    (["--alarm", "baseline", "--alarm-loss", "clip:1"], "--alarm-loss clip:B is for numbers, and the labels are"),
    (
        ["--alarm", "baseline", "--passes", "2"],
        "--alarm watches the predictions of new rows: leave out --passes, got 2",
    ),
    (["--alarm", "baseline", "--on-alarm", "restart", "--certify"], "--certify needs one learner"),
    (["--alarm", "baseline", "--on-alarm", "restart", "--receipt", "r.json"], "--receipt needs one learner"),
    (["--alarm", "baseline", "--on-alarm", "restart", "--select", "last"], "--select needs one learner"),
    (["--alarm", "baseline", "--on-alarm", "restart", "--delay", "3"], "--on-alarm restart cannot be used with late"),
    (["--alarm", "challenger:none.nr"], "none.nr: cannot be read: No such file"),
    (["--alarm", "challenger:none.nr", "--delay", "3"], "--alarm challenger:MODEL cannot be used with late labels"),
    (
        ["--alarm", "baseline", "--on-alarm", "reshare", "--learner", "perceptron"],
        "--on-alarm reshare needs a mixture such as auto, of classes",
    ),
]


@pytest.mark.parametrize(("options", "sentence"), REFUSED, ids=lambda value: " ".join(value)[:40])
def test_refusals(noregret, rows, options, sentence):
    before = sorted(path.name for path in rows.iterdir())
    answer = noregret("learn", "calm.csv", "--save", "new.nr", *options)
    assert answer.code == 2 and answer.out == ""
    assert sentence in answer.err and answer.err.count("\n") == 1
    assert sorted(path.name for path in rows.iterdir()) == before


def test_a_resumed_model_keeps_its_alarm(noregret, rows):
    noregret("learn", "calm.csv", *ALARM, "--save", "m.nr", "--quiet")
    for options, sentence in (
        (["--alarm", "level:0.3"], "--alarm level:0.3 conflicts with the model, which has level:0.2"),
        (["--false-alarm", "0.5"], "--false-alarm 0.5 conflicts with the model, which has 0.01"),
        (["--on-alarm", "restart"], "--on-alarm restart conflicts with the model, which has continue"),
        (["--alarm-loss", "zero-one"], "--alarm-loss zero-one conflicts with the model, which has none"),
        (["--events"], "the alarm of the model began with labels that came in time"),
    ):
        answer = noregret("learn", "bad.csv", "--resume", "m.nr", *options)
        assert answer.code == 2 and sentence in answer.err, answer.err
    noregret("learn", "calm.csv", "--learner", "perceptron", "--save", "plain.nr", "--quiet")
    answer = noregret("learn", "bad.csv", "--resume", "plain.nr", "--after", "3")
    assert answer.code == 2 and "--after needs --alarm" in answer.err
    begun = noregret("learn", "bad.csv", "--resume", "plain.nr", *ALARM[2:], "--json").json["alarm"]
    assert (begun["rounds"], begun["watched"]) == (3000, 1500)


def test_a_receipt_has_the_alarm_and_is_verified(rows):
    asked = ["--learner", "perceptron", "--alarm", "level:0.2", "--receipt", "r.json"]
    assert call("learn", "bad.csv", *asked).code == 0
    receipt = json.loads((rows / "r.json").read_text())
    assert receipt["kind"] == "watched" and receipt["watched"]["alarm"]["rang"]
    assert "receipt verified" in call("verify", "r.json", "bad.csv").out
