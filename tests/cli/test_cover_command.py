"""`--cover` and `--calibrate` as a user meets them: tables, JSON, prediction files, events, receipts, refusals."""

import csv
import json
import math
import random

import pytest

import noregret as nr


def rows(count, kind, seed=0):
    rng = random.Random(seed)
    for _ in range(count):
        a, b = rng.gauss(0, 1), rng.gauss(0, 1)
        y = 2 * a - b + rng.gauss(0, 1)
        yield a, b, y if kind == "numbers" else name(kind, y)


def name(kind, y):
    if kind == "two":
        return "yes" if y > 0 else "no"
    return "low" if y < -1 else "a|b" if y < 1 else "very high"


@pytest.fixture
def table(here):
    def written(kind, count=300):
        with (here / f"{kind}.csv").open("w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["a", "b", "label"])
            out.writerows(rows(count, kind))
        return f"{kind}.csv"

    return written


def said(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_intervals_in_table_json_and_files(noregret, here, table):
    stream = table("numbers")
    made = noregret("learn", stream, "--cover", 0.8, "--predictions", "p.csv", "--save", "m.nr")
    assert made.code == 0 and "labels within their intervals (target 80 %)" in made.out and "by theorem" in made.out
    found = noregret("learn", stream, "--cover", 0.8, "--json").json["coverage"]
    lines = said("p.csv")
    assert [line["lower"] == "" for line in lines] == [True] * 50 + [False] * 250
    hit = [float(line["lower"]) <= float(line["label"]) <= float(line["upper"]) for line in lines[50:]]
    assert sum(hit) == found["rounds"] - found["misses"] and found["rounds"] == 250
    middle = (float(lines[60]["lower"]) + float(lines[60]["upper"])) / 2.0
    assert math.isclose(middle, float(lines[60]["score"]), rel_tol=1e-9)
    assert noregret("predict", "m.nr", stream, "-o", "new.csv").code == 0
    widths = {round(float(line["upper"]) - float(line["lower"]), 9) for line in said("new.csv")}
    assert widths == {round(2.0 * found["q"], 9)}
    assert noregret("inspect", "m.nr", "--json").json["coverage"] == found
    assert "labels within their intervals" in noregret("inspect", "m.nr").out


@pytest.mark.parametrize("kind", ["two", "many"])
def test_sets_in_files(noregret, here, table, kind):
    stream = table(kind)
    made = noregret(
        "learn", stream, "--cover", 0.8, "--predictions", "p.csv", "--save", "m.nr", "--json", *positive(kind)
    )
    found, lines = made.json["coverage"], said("p.csv")
    sets = [split(line["set"]) for line in lines[50:]]
    assert {line["set"] for line in lines[:50]} == {""}
    assert sum(line["label"] in one for line, one in zip(lines[50:], sets, strict=True)) == 250 - found["misses"]
    assert found["size"]["mean"] == sum(map(len, sets)) / 250
    assert noregret("predict", "m.nr", stream, "-o", "new.csv").code == 0
    assert {label for line in said("new.csv") for label in split(line["set"])} <= {
        "yes",
        "no",
        "low",
        "a|b",
        "very high",
    }


def positive(kind):
    return ["--positive", "yes"] if kind == "two" else []


def split(cell):
    return [] if cell == "{}" else [one.replace("\0", "|") for one in cell.replace("\\|", "\0").split("|")]


def test_calibrated_probabilities(noregret, here, table):
    stream = table("two")
    options = ["--learner", "perceptron", "--positive", "yes", "--calibrate"]
    made = noregret(
        "learn",
        stream,
        *options,
        "--predictions",
        "p.csv",
        "--save",
        "m.nr",
        "--plot",
        "r.svg",
        "--picture",
        "reliability",
    )
    assert (
        made.code == 0 and "log-loss of the calibrated probabilities" in made.out and "before calibration" in made.out
    )
    assert ">calibrated<" in (here / "r.svg").read_text() or (here / "r.svg").stat().st_size > 1000
    told = noregret("learn", stream, *options, "--json").json["calibration"]["log_loss"]
    lost = [
        -math.log(p if y == "yes" else 1 - p)
        for p, y in ((float(one["probability"]), one["label"]) for one in said("p.csv"))
    ]
    assert told["after"] == pytest.approx(sum(lost) / len(lost))
    assert noregret("predict", "m.nr", stream, "-o", "new.csv").code == 0
    assert "probability" in said("new.csv")[0]


@pytest.mark.parametrize("kind", ["numbers", "two", "many"])
def test_late_sets_are_those_that_were_shown(noregret, here, table, kind):
    stream = table(kind)
    made = noregret("learn", stream, "--cover", 0.8, "--delay", 30, "--predictions", "p.csv", "--json", *positive(kind))
    found, lines = made.json["coverage"], said("p.csv")
    labels = [row["label"] for row in said(stream)]
    shown = [(line, label) for line, label in zip(lines, labels, strict=True) if line.get("set", line.get("lower"))]
    assert len(shown) == found["rounds"] == 300 - 50 - 60 and found["between"] == 30
    if kind == "numbers":
        held = sum(float(line["lower"]) <= float(label) <= float(line["upper"]) for line, label in shown)
    else:
        held = sum(label in split(line["set"]) for line, label in shown)
    assert held == found["rounds"] - found["misses"]
    assert "labels within their" in noregret("learn", stream, "--cover", 0.8, "--delay", 30, *positive(kind)).out


def test_events_are_answered_with_sets(noregret, here):
    rng = random.Random(1)
    with (here / "log.jsonl").open("w") as file:
        for t in range(120):
            x = {"a": rng.gauss(0, 1)}
            print(json.dumps({"id": t, "x": x}), file=file)
            print(json.dumps({"id": t, "y": "up" if x["a"] + rng.gauss(0, 1) > 0 else "down"}), file=file)
    made = noregret(
        "learn",
        "log.jsonl",
        "--events",
        "--task",
        "binary",
        "--positive",
        "up",
        "--cover",
        0.9,
        "--predictions",
        "a.jsonl",
        "--json",
    )
    answers = [json.loads(line) for line in (here / "a.jsonl").read_text().splitlines()]
    assert made.code == 0 and "set" not in answers[49] and set(answers[-1]["set"]) <= {"up", "down"}
    assert made.json["coverage"]["rounds"] == 70
    numbers = [{"x": {"a": float(t % 5)}, "y": float(t % 7)} for t in range(60)]
    (here / "n.jsonl").write_text("".join(json.dumps(one) + "\n" for one in numbers))
    noregret(
        "learn", "n.jsonl", "--events", "--task", "regression", "--cover", 0.5, "--predictions", "b.jsonl", "--quiet"
    )
    low, high = json.loads((here / "b.jsonl").read_text().splitlines()[-1])["interval"]
    assert low < high


def test_receipts_and_resumed_runs(noregret, here, table):
    stream = table("two")
    options = ["--positive", "yes", "--learner", "adagrad", "--cover", 0.9]
    made = noregret("learn", stream, *options, "--receipt", "r.json")
    assert made.code == 0 and "cover-missed" in made.out and "cover-held" in made.out
    assert noregret("verify", "r.json", stream).code == 0
    half = table("two", 120)
    (here / "half.csv").write_text((here / half).read_text())
    whole = noregret("learn", table("two"), *options, "--save", "w.nr", "--json")
    noregret("learn", "half.csv", *options, "--save", "m.nr", "--quiet")
    rest = noregret("learn", stream, "--resume", "m.nr", "--skip", "seen", "--json")
    assert rest.json["coverage"] == whole.json["coverage"]
    assert nr.load(here / "w.nr").cover == 0.9
    refused = noregret("learn", stream, "--resume", "m.nr", "--cover", 0.5)
    assert refused.code == 2 and "--cover 0.5 conflicts with the model, which has 0.9" in refused.err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--cover", 1.5], "cover must lie between 0 and 1, such as 0.9, got 1.5"),
        (["--cover", "nan"], "cover must lie between 0 and 1, such as 0.9, got nan"),
        (
            ["--calibrate", "--task", "regression"],
            "--calibrate makes probabilities of two classes, and labels here are numbers",
        ),
        (["--calibrate", "--learner", "vaw"], "--calibrate is for auto, perceptron"),
        (["--learner", "perceptron", "--cover", 0.9, "--select", "last", "--positive", "yes"], "leave out --cover"),
    ],
)
def test_refusals(noregret, here, table, options, sentence):
    kind = "two" if "--select" in options else "numbers"
    refused = noregret("learn", table(kind), *options, "--save", "m.nr", "--predictions", "p.csv")
    assert refused.code == 2 and sentence in refused.err and refused.err.count("\n") == 1
    assert not (here / "m.nr").exists() and not (here / "p.csv").exists()
