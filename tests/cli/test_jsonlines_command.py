"""JSON Lines from the command line: every command that takes a stream takes it, and says the same as of CSV."""

import gzip
import json
import subprocess
import sys

import numpy as np
import pytest
from command import ENVIRONMENT

TOWNS = ("Rome", "Oslo", "Bonn")


def rows(count=300, seed=3):
    rng = np.random.default_rng(seed)
    for place in range(count):
        a, b = (float(value) for value in rng.normal(size=2).round(4))
        town = TOWNS[int(rng.integers(3))]
        yield {
            "bought": int(a + b + (town == "Rome") > 0.4),
            "a": a,
            "b": b,
            "town": town,
            "day": f"2024-02-{place % 28 + 1:02d}",
        }


@pytest.fixture
def clicks(here):
    found = list(rows())
    text = "".join(json.dumps(row) + "\n" for row in found)
    (here / "clicks.jsonl").write_text(text)
    (here / "clicks.ndjson.gz").write_bytes(gzip.compress(text.encode()))
    names = list(found[0])
    table = [",".join(names), *(",".join(str(row[name]) for name in names) for row in found)]
    (here / "clicks.csv").write_text("\n".join(table) + "\n")
    (here / "first.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found[:120]))
    (here / "rest.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found[120:]))
    return text


ASKED = ("--label", "bought", "--hash-bits", "8", "--learner", "ogd", "--loss", "logistic")


def figures(answer):
    assert (answer.code, answer.err) == (0, ""), answer.err
    return {key: value for key, value in answer.json.items() if key not in ("seconds", "source", "stream", "this_run")}


def test_the_figures_are_those_of_csv(noregret, clicks):
    csv = figures(noregret("learn", "clicks.csv", *ASKED, "--json"))
    assert csv["rounds"] == 300 and csv["columns"]["day"].startswith("date ymd since 2024-02-01")
    for name in ("clicks.jsonl", "clicks.ndjson.gz"):
        assert figures(noregret("learn", name, *ASKED, "--json")) == csv
    assert figures(noregret("learn", "-", *ASKED, "--json", stdin=clicks.encode())) == csv


def test_standard_input_of_a_program_of_its_own(clicks, here):
    command = [sys.executable, "-m", "noregret", "learn", "-", *ASKED, "--json"]
    done = subprocess.run(command, input=clicks.encode(), capture_output=True, env=ENVIRONMENT, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"") and json.loads(done.stdout)["rounds"] == 300


def test_a_cache_is_made_and_used(noregret, clicks, here):
    plain = figures(noregret("learn", "clicks.jsonl", *ASKED, "--json"))
    for _ in range(2):
        assert figures(noregret("learn", "clicks.jsonl", *ASKED, "--cache", "--json")) == plain
        assert (here / "clicks.jsonl.nrcache").exists()


def test_a_stopped_run_goes_on_as_if_it_had_not_stopped(noregret, clicks, here):
    whole = noregret("learn", "clicks.jsonl", *ASKED, "--save", "whole.nr", "--json").json
    noregret("learn", "first.jsonl", *ASKED, "--save", "part.nr")
    both = noregret("learn", "rest.jsonl", "--resume", "part.nr", "--save", "part.nr", "--json").json
    assert (both["rounds"], both["mistakes"], both["loss"]) == (whole["rounds"], whole["mistakes"], whole["loss"])
    answers = [noregret("predict", model, "clicks.jsonl", "-o", f"{model}.csv") for model in ("whole.nr", "part.nr")]
    assert [answer.code for answer in answers] == [0, 0]
    assert (here / "whole.nr.csv").read_bytes() == (here / "part.nr.csv").read_bytes()


def test_a_model_predicts_rows_of_either_format(noregret, clicks, here):
    noregret("learn", "clicks.csv", *ASKED, "--save", "m.nr")
    for name in ("clicks.csv", "clicks.jsonl"):
        assert noregret("predict", "m.nr", name, "-o", f"{name}.out").code == 0

    def scores(name):
        lines = (here / f"{name}.out").read_text().splitlines()[1:]
        return [line.split(",")[1:] for line in lines]  # CSV counts its header as a line

    assert scores("clicks.csv") == scores("clicks.jsonl") and len(scores("clicks.csv")) == 300


def test_other_commands_take_it(noregret, clicks):
    read = ("--label", "bought", "--hash-bits", "8")
    compared = noregret("compare", "clicks.jsonl", *read, "--learner", "perceptron", "--learner", "ogd", "--json")
    assert (compared.code, compared.err) == (0, "")
    separated = noregret("separate", "clicks.jsonl", "--label", "bought", "--ignore", "town,day", "--json")
    assert (separated.code, separated.err) == (0, "")
    assert noregret("learn", "clicks.jsonl", *ASKED, "--receipt", "r.json").code == 0
    assert noregret("verify", "r.json", "clicks.jsonl").code == 0
