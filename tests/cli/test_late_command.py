"""`learn` with labels that come late: events as they come, schedules, stops, receipts and refusals."""

import json
import random
import signal
import time

import pytest
from command import learned
from test_line_by_line import talk  # noqa: F401 (a fixture)

import noregret as nr
from noregret import model


def events(count, seed=0):
    """Lines of a log: each row is predicted, most labels come some rows later."""
    rng, waiting = random.Random(seed), []
    for i in range(count):
        x = {"a": round(rng.uniform(-1, 1), 3), "b": round(rng.uniform(-1, 1), 3)}
        yield json.dumps({"id": f"r{i}", "x": x}) + "\n"
        waiting.append((f"r{i}", 1 if x["a"] > x["b"] else -1))
        while waiting and rng.random() < 0.5:
            key, y = waiting.pop(rng.randrange(len(waiting)))
            yield json.dumps({"id": key, "y": y}) + "\n"


@pytest.fixture
def log(here):
    (here / "log.jsonl").write_text("".join(events(60)))
    return "log.jsonl"


TASK = ["--task", "binary"]


def test_each_event_is_answered_before_the_next_is_written(talk, noregret, here, log):  # noqa: F811
    whole = noregret("learn", log, "--events", *TASK, "--predictions", "p.jsonl", "--save", "whole.nr", "--json")
    live = talk("learn", "-", "--events", *TASK, "--predictions", "-", "--save", "m.nr", "--json")
    answers = []
    for line in (here / log).read_text().splitlines(keepends=True):
        if '"x"' in line:
            answers.append(live.answer(line))
        else:
            live.write(line)
    code, out, err = live.close()
    assert (code, out) == (0, "") and answers == (here / "p.jsonl").read_text().splitlines()
    assert set(json.loads(answers[0])) == {"id", "score", "prediction", "probability", "version"}
    assert json.loads(err)["late"] == whole.json["late"]
    assert learned(here / "m.nr") == learned(here / "whole.nr")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_loses_no_event_that_was_written(talk, here, number):  # noqa: F811
    live = talk("learn", "-", "--events", *TASK, "--save", "m.nr", "--predictions", "-")
    lines = list(events(40))
    live.answer(lines[0])  # it has begun
    live.write("".join(lines[1:]) + '{"id": "half", "x": {"a":')
    live.process.send_signal(number)
    code, _, err = live.close()
    assert code == 128 + number and "stopped after" in err
    core, _ = model.load(here / "m.nr")
    whole = nr.play_late(nr.Auto(), [json.loads(line) for line in lines])
    late = nr.load(here / "m.nr").figures
    assert late["predicted"] == 40 and late["labelled"] == whole.figures["labelled"] == core.rounds
    assert late["log"] == whole.figures["log"]


def test_a_log_goes_on_and_is_what_one_log_gives(noregret, here, log):
    lines = (here / log).read_text().splitlines(keepends=True)
    noregret("learn", log, "--events", *TASK, "--save", "whole.nr", "--quiet")
    for stop in (1, 33, len(lines)):
        (here / "part.jsonl").write_text("".join(lines[:stop]))
        noregret("learn", "part.jsonl", "--events", *TASK, "--save", "part.nr", "--quiet")
        answer = noregret(
            "learn", log, "--events", "--resume", "part.nr", "--skip", "seen", "--save", "part.nr", "--json"
        )
        assert answer.code == 0
        whole, part = (model.load(here / name)[0] for name in ("whole.nr", "part.nr"))
        assert {k: v.tobytes() for k, v in whole.arrays().items()} == {k: v.tobytes() for k, v in part.arrays().items()}
        assert whole.late == part.late
    refused = noregret("learn", "part.jsonl", "--events", "--resume", "whole.nr", "--skip", "seen")
    assert refused.code in (0, 2)


def test_snapshots_of_events_can_be_gone_on_with(talk, here):  # noqa: F811
    lines = list(events(30))
    live = talk("learn", "-", "--events", *TASK, "--save", "m.nr", "--every", "10", "--predictions", "-")
    for line in lines[:25]:
        live.answer(line) if '"x"' in line else live.write(line)
    end = time.monotonic() + 60.0
    while not (here / "m.nr").exists() and time.monotonic() < end:
        time.sleep(0.02)
    live.process.kill()
    late = nr.load(here / "m.nr")
    assert late.figures["events"] in (10, 20)
    rest = nr.play_late(late.learner, [json.loads(line) for line in lines], skip_seen=True)
    whole = nr.play_late(nr.Auto(), [json.loads(line) for line in lines])
    assert rest.figures == whole.figures


def test_a_receipt_of_events_is_verified_and_a_changed_log_is_not(noregret, here, log):
    made = noregret("learn", log, "--events", *TASK, "--learner", "ogd", "--loss", "logistic", "--rate", "late",
                    "--radius", "2", "--receipt", "r.json")  # fmt: skip
    assert made.code == 0 and "late-rate" in made.out and "the learner, in the order in which labels came" in made.out
    assert noregret("verify", "r.json", log).code == 0
    lines = (here / log).read_text().splitlines(keepends=True)
    (here / "other.jsonl").write_text("".join([lines[1], lines[0], *lines[2:]]))
    answer = noregret("verify", "r.json", "other.jsonl")
    assert answer.code == 1 and "not the events that the receipt is about" in answer.err


def test_a_delay_and_its_figures(noregret, here, rows):
    plain = noregret("learn", rows, "--learner", "ogd", "--loss", "logistic", "--json").json
    late = noregret("learn", rows, "--learner", "ogd", "--loss", "logistic", "--delay", "0", "--json").json
    assert late["loss"]["total"] == pytest.approx(plain["loss"]["total"]) and late["late"]["staleness"] == 0.0
    far = noregret("learn", rows, "--delay", "30", "--predictions", "p.csv", "--receipt", "r.json", "--json").json
    assert far["late"]["predicted"] == far["late"]["labelled"] == 400 and far["late"]["most_waiting"] == 31
    said = (here / "p.csv").read_text().splitlines()
    assert said[0] == "row,score,probability,prediction" and len(said) == 401
    assert said[1] == "1,0.0,0.5,"
    piped = noregret("learn", rows, "--delay", "30", "--predictions", "-")
    assert piped.out.splitlines() == said and "staleness cost" in piped.err
    assert noregret("verify", "r.json", rows).code == 0
    table = noregret("learn", rows, "--delay", "30").rows()
    assert table["rows predicted"] == ["400"] and table["staleness cost"][0][0] in "+−0"
    names = {one["theorem"] for one in far["certificates"]}
    assert {"late-plays", "late-fresh"} == names
    assert "mixture" in {one["theorem"] for one in far["learner_run"]["certificates"]}


def test_labels_that_come_at_a_time(noregret, here):
    (here / "t.csv").write_text(
        "x,label,at,known\n1,1,2024-01-01,2024-01-02\n-1,0,2024-01-02,\n1,1,2024-01-03,2024-01-09\n-1,0,2024-01-04,2024-01-04\n"
    )
    answer = noregret(
        "learn", "t.csv", "--arrival", "known", "--time", "at", "--expire", "1", "--json", "--receipt", "r.json"
    )
    found = answer.json["late"]
    assert found["predicted"] == 4 and found["labelled"] + found["expired"] - found["after_expiry"] == 4
    assert "known" not in answer.json["columns"] or answer.json["columns"]["known"] != "number"
    assert answer.json["features"] == 1
    assert noregret("verify", "r.json", "t.csv").code == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--delay", "3", "--shuffle", "1"], "--shuffle cannot be used with late labels"),
        (["--delay", "3", "--passes", "2"], "--passes cannot be used with late labels"),
        (
            ["--delay", "3", "--events"],
            "give only one of --events, --delay and --arrival; got --events and --delay",
        ),
        (["--expire", "3"], "--expire needs --events, --delay or --arrival"),
        (["--delay", "3", "--time", "x"], "--time needs --arrival"),
        (["--delay", "-1"], "--delay must be a whole number of at least 0, got -1"),
        (["--delay", "3", "--expire", "0"], "expire must be a whole number of at least 1, got 0"),
        (["--events"], "--events needs --task binary, multiclass or regression, or a model with --resume"),
        (["--events", *TASK, "--label", "x"], "--label is for the columns of a table, and events have none"),
        (["--events", *TASK], "rows.svm:1: is not an event"),
        (["--arrival", "x"], "--arrival names a column, but an svmlight file has no named columns"),
        (["--delay", "3", "--learner", "ogd", "--loss", "squared", "--rate", "late"], "bounded slopes"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_writes_nothing(noregret, here, rows, options, sentence):
    answer = noregret("learn", rows, *options, "--save", "m.nr")
    assert answer.code == 2 and sentence in answer.err and answer.err.count("\n") == 1
    assert not (here / "m.nr").exists()


def test_rows_that_wait_are_not_lost_by_a_plain_run(noregret, here, log, rows):
    noregret("learn", log, "--events", *TASK, "--save", "m.nr", "--quiet")
    answer = noregret("learn", rows, "--resume", "m.nr", "--save", "m.nr")
    assert answer.code == 2 and "rows that wait for their labels: go on with --events" in answer.err


def test_an_empty_cell_is_a_label_that_never_comes(noregret, here):
    (here / "t.csv").write_text("a,t,k,label\n1,1,3,1\n2,2,,0\n3,3,4,1\n4,4,9,0\n")
    for options in (["--time", "t"], ["--ignore", "t"]):
        found = noregret("learn", "t.csv", "--arrival", "k", *options, "--learner", "perceptron", "--json").json["late"]
        assert (found["labelled"], found["waiting"]) == (3, 1), options
    (here / "never.csv").write_text("a,k,label\n1,,1\n2,,0\n")
    found = noregret("learn", "never.csv", "--arrival", "k", "--learner", "perceptron", "--json").json["late"]
    assert (found["labelled"], found["waiting"]) == (0, 2)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (b'{"id":"a","x":{"c":"\xff"}}\n', "log.jsonl:1: is not UTF-8 text"),
        (b'{"id":"a","x":[1.0]}\n{"id":"a","y":' + b"9" * 400 + b"}\n", "log.jsonl:2: "),
        (b'{"id":99999999999999999999999,"x":[1.0]}\n', "log.jsonl:1: "),
        (b'{"id":"\\u0000a","x":[1.0]}\n', "does not begin with a NUL"),
        (b'{"id":"a","x":[1.0],"w":0}\n', "a weight must be positive"),
    ],
)
def test_a_malformed_log_is_one_sentence_and_nothing_is_written(noregret, here, lines, sentence):
    (here / "log.jsonl").write_bytes(lines)
    answer = noregret("learn", "log.jsonl", "--events", *TASK, "--save", "m.nr", "--predictions", "p.jsonl")
    assert answer.code == 2 and sentence in answer.err and answer.err.count("\n") == 1, answer.err
    assert not (here / "m.nr").exists() and not (here / "p.jsonl").exists()


def test_rules_of_a_model_hold(noregret, here, log):
    noregret("learn", log, "--events", *TASK, "--expire", "20", "--save", "m.nr", "--quiet")
    assert noregret("learn", log, "--events", "--resume", "m.nr", "--skip", "seen", "--expire", "20").code == 0
    answer = noregret("learn", log, "--events", "--resume", "m.nr", "--skip", "seen", "--expire", "50")
    assert answer.code == 2 and "--expire 50 conflicts with the model, which has 20: leave it out" in answer.err


def test_a_run_with_late_labels_is_not_certified_as_another(noregret, here, rows):
    noregret("learn", rows, "--delay", "5", "--save", "m.nr", "--quiet")
    answer = noregret("certify", "m.nr", rows)
    assert answer.code == 2 and "the labels of this run came late" in answer.err


def test_figures_of_the_learner_are_not_taken_for_those_of_predictions(noregret, here, rows):
    noregret("learn", rows, "--delay", "5", "--save", "m.nr", "--receipt", "r.json", "--quiet")
    assert "labels came late: these are the learner's own figures" in noregret("inspect", "m.nr").out
    for name in ("m.nr", "r.json"):
        answer = noregret("report", name)
        assert answer.code == 2 and "labels came late, of which there is no report" in answer.err


def test_baselines_are_shares_of_the_rounds_that_they_count(noregret, here):
    lines = [
        '{"id":1,"x":[1.0],"y":1}',
        '{"id":2,"x":[2.0],"y":1}',
        '{"id":2,"y":0,"revise":true}',
        '{"id":3,"x":[1],"y":0}',
    ]
    (here / "log.jsonl").write_text("\n".join(lines))
    answer = noregret("learn", "log.jsonl", "--events", *TASK, "--learner", "perceptron")
    assert answer.rows()["baseline: previous label"][-1] == "50.00 %"


def test_a_column_that_there_is_not_is_named_as_it_was_given(noregret, here):
    (here / "t.csv").write_text("a,k,label\n1,1,1\n2,2,0\n")
    answer = noregret("learn", "t.csv", "--arrival", "knwon")
    assert answer.code == 2 and "'knwon' for --arrival" in answer.err
    (here / "d.csv").write_text("a,k,label\n1,2024-01-01,1\n2,2024-01-02,0\n")
    answer = noregret("learn", "d.csv", "--arrival", "k")
    assert answer.code == 2 and "name the column with the time of each row, --time COLUMN" in answer.err
