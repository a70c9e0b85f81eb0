"""`noregret blend` prints what the library finds, writes its files whole, and says in one line what is wrong."""

import json
from pathlib import Path

import pytest
from command import lines_of, snapshot

from noregret.proof.receipt import checksum
from noregret.task.blend import blend

POLLS = """week,north,south,east,result
1,41.0,44.5,39.0,42.0
2,42.0,45.0,39.5,42.5
3,42.5,,40.0,43.0
4,43.0,45.5,41.0,43.0
5,44.0,45.0,44.5,44.5
6,44.0,45.0,45.0,45.5
"""
NAMES = ["north", "south", "east"]
ASK = ("blend", "polls.csv", "--outcome", "result", "--experts", "north,south,east")
RANGE = ("--range", "35,50")


@pytest.fixture
def polls(here):
    (here / "polls.csv").write_text(POLLS)
    return "polls.csv"


def test_json_is_what_the_library_finds_and_has_the_keys_of_the_contract(noregret, polls):
    answer = noregret(*ASK, "--loss", "squared", *RANGE, "--json")
    found = blend(polls, outcome="result", experts=NAMES, loss="squared", range=(35, 50))
    assert (answer.code, answer.err) == (0, "")
    assert answer.json == json.loads(json.dumps(found.to_dict()))
    assert {"rounds", "experts", "loss", "best", "regret", "bound"} <= set(answer.json)
    assert (answer.json["rounds"], answer.json["experts"]) == (6, 3)
    assert set(answer.json["best"]) == {"expert", "loss"}
    assert answer.json["regret"] == pytest.approx(answer.json["loss"] - answer.json["best"]["loss"], abs=1e-9)
    assert answer.json["regret"] <= answer.json["bound"]


def test_the_table_has_a_row_for_the_blend_and_one_an_expert(noregret, polls):
    answer = noregret(*ASK, "--loss", "absolute", *RANGE, "--switches", 1, "--method", "fixed-share")
    assert (answer.code, answer.err) == (0, "")
    first, *_, last = answer.out.splitlines()
    assert first == "polls.csv: 3 experts, absolute loss in [35, 50], fixed-share"
    assert last.startswith("regret against north: ")
    rows = answer.rows()
    assert rows["the blend"][0] == rows["north (best)"][0] == "6"
    assert rows["south"][0] == "5"
    assert "best sequence with at most 1 switch: loss" in answer.out
    assert "in the lead: south" not in answer.out
    assert noregret(*ASK, "--loss", "absolute", *RANGE, "--quiet").out == ""


def test_the_combination_is_an_interval_that_is_printed(noregret, polls):
    ask = (
        "blend",
        polls,
        "--outcome",
        "result",
        "--experts",
        "north,east",
        "--loss",
        "squared",
        *RANGE,
        "--combination",
    )
    found = blend(polls, outcome="result", experts=["north", "east"], loss="squared", range=(35, 50)).combination()
    assert "best fixed mean: loss in [" in noregret(*ask).out
    assert noregret(*ask, "--json").json["combination"]["lower"] == found.lower


def test_files_hold_every_round(noregret, polls):
    answer = noregret(
        *ASK, "--loss", "squared", *RANGE, "--forecasts", "f.csv", "--weights", "w.csv", "--plot", "p.svg"
    )
    assert answer.code == 0
    found = blend(polls, outcome="result", experts=NAMES, loss="squared", range=(35, 50))
    said = lines_of("f.csv")
    assert [float(row["forecast"]) for row in said] == found.forecasts[:, 0].tolist()
    assert [float(row["loss"]) for row in said] == found.losses.tolist()
    assert [float(row["outcome"]) for row in said] == found.data.outcomes.tolist()
    weights = lines_of("w.csv")
    assert [[float(row[name]) for name in NAMES] for row in weights] == found.weights.tolist()
    assert weights[2]["south"] == "0.0"
    with open("p.svg") as file:
        assert "<svg" in file.read()


def test_forecasts_of_labels_and_of_several_outcomes_are_words(noregret, here):
    (here / "t.csv").write_text("y,a,b,a:u,a:v\nu,u,v,0.5,0.5\nv,v,v,0.2,0.8\n")
    assert (
        noregret(
            "blend", "t.csv", "--outcome", "y", "--experts", "a,b", "--loss", "zero-one", "--forecasts", "f.csv"
        ).code
        == 0
    )
    assert [row["forecast"] for row in lines_of("f.csv")] == ["u", "v"]
    (here / "u.csv").write_text("y,a:u,a:v\nu,0.5,0.5\nv,0.2,0.8\n")
    assert (
        noregret("blend", "u.csv", "--outcome", "y", "--experts", "a", "--loss", "brier", "--forecasts", "g.csv").code
        == 0
    )
    assert lines_of("g.csv")[1] == {
        "round": "2",
        "forecast:u": "0.2",
        "forecast:v": "0.8",
        "outcome": "v",
        "loss": lines_of("g.csv")[1]["loss"],
    }


@pytest.mark.parametrize("more", [("--loss", "squared"), ("--loss", "absolute", "--switches", 2)])
def test_the_receipt_stands_and_a_changed_one_does_not(noregret, polls, here, more):
    assert noregret(*ASK, *more, *RANGE, "--receipt", "r.json", "--quiet").code == 0
    answer = noregret("verify", "r.json", polls)
    assert answer.code == 0, answer.err
    assert "receipt verified: " in answer.out
    body = json.loads((here / "r.json").read_text())
    body["regret"] = {end: value - 0.5 for end, value in body["regret"].items()}
    body.pop("checksum")
    (here / "bad.json").write_text(json.dumps({**body, "checksum": checksum(body)}))
    answer = noregret("verify", "bad.json", polls)
    assert answer.code == 1
    assert answer.err.startswith("noregret: verification failed: the regret at most: the receipt says ")


def test_plain_costs(noregret, here):
    (here / "c.csv").write_text("a,b\n3,7\n7,2\n,4\n")
    answer = noregret("blend", "c.csv", "--costs", "a,b", "--range", "0,10", "--json")
    assert answer.code == 0
    assert answer.json["best"]["expert"] == "b"
    assert answer.json["method"] == "adahedge"


SQUARED = ("--loss", "squared")
WRONG = {
    "polls.csv:2: column 'north' is 41, outside [0, 1]: declare another range with --range LO,HI": (*ASK, *SQUARED),
    "--range must be LO,HI, got '35'": (*ASK, *SQUARED, "--range", "35"),
    "blend: range must be finite with low < high, got 50 and 35": (*ASK, *SQUARED, "--range", "50,35"),
    "polls.csv: there is no column 'west': the columns are week, north, south, east, result": (
        *ASK[:-1],
        "north,west",
        *SQUARED,
        *RANGE,
    ),
    "blend: loss must be one of squared, absolute, log, zero-one, brier, got 'hinge'": (*ASK, "--loss", "hinge"),
    "blend: needs either outcome, experts and loss, or costs, not both": (*ASK, "--costs", "north"),
    "--forecasts does not work with --costs: there are no forecasts to write": (
        "blend",
        "polls.csv",
        "--costs",
        "north",
        "--forecasts",
        "f.csv",
    ),
    "polls.csv: would be written over the stream": (*ASK, *SQUARED, *RANGE, "--weights", "polls.csv"),
    "plot: the file must end in .png, .svg, .pdf, got 'p.txt'": (*ASK, *SQUARED, *RANGE, "--plot", "p.txt"),
    "nothing.csv: there is no such file": ("blend", "nothing.csv", "--costs", "a"),
    "-: a table is read more than once: give a file": ("blend", "-", "--costs", "a"),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_what_is_wrong_is_one_line_and_leaves_no_file(noregret, polls, here, sentence):
    before = snapshot(here)
    answer = noregret(*WRONG[sentence])
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == f"noregret: {sentence}\n"
    assert snapshot(here) == before


def test_a_promise_that_says_nothing_is_called_so_and_one_is_one(noregret, polls, here):
    lines = noregret(*ASK, "--loss", "squared", "--range", "0,1000").out.splitlines()
    assert lines[-1].endswith(" (too loose to be useful here)")
    (here / "routes.csv").write_text("a,b\n" + "0.5,1\n" * 60)
    assert "vacuous" not in noregret("blend", "routes.csv", "--costs", "a,b").out
    assert noregret("blend", "routes.csv", "--costs", "a").out.startswith("routes.csv: 1 expert, costs")


def test_against_the_best_mean_the_table_says_so_and_the_receipt_stands(noregret, polls):
    ask = (*ASK, "--loss", "absolute", *RANGE, "--last-value", "--receipt", "r.json", "--plot", "p.svg")
    answer = noregret(*ask)
    assert (answer.code, answer.err) == (0, "")
    first, *_, last = answer.out.splitlines()
    assert first == "polls.csv: 4 experts, absolute loss in [35, 50], gradient, against the best fixed mean"
    assert last.startswith("regret against the best fixed mean: [")
    assert answer.rows()["last value"][0] == "5"
    assert "best fixed mean: loss in [" in answer.out
    assert noregret("verify", "r.json", polls).code == 0
    assert noregret("report", "r.json", "--quiet").code == 0
    assert "The best fixed average of the experts has a loss of" in Path("report.html").read_text()
    assert "against the best mean so far" in Path("p.svg").read_text()
    expert = noregret(*ASK, "--loss", "absolute", *RANGE, "--against", "expert")
    assert expert.out.startswith("polls.csv: 3 experts, absolute loss in [35, 50], adahedge\n")


def test_json_holds_the_best_mean_and_the_regret_against_it(noregret, polls):
    answer = noregret(*ASK, "--loss", "squared", *RANGE, "--against", "mean", "--json").json
    assert answer["mean"]["regret"]["lower"] <= answer["mean"]["regret"]["upper"] <= answer["bound"]
    assert sum(answer["mean"]["weights"].values()) == pytest.approx(1.0)
    assert answer["mean"]["loss"]["upper"] <= answer["best"]["loss"] + 1e-6
    assert noregret(*ASK, "--loss", "squared", *RANGE, "--json").json["mean"] is None


def test_all_that_is_missing_is_said_at_once_with_a_command_that_works(noregret, polls):
    answer = noregret("blend", polls)
    assert answer.code == 2
    assert answer.err == (
        "noregret: --outcome, --experts and --loss are missing"
        " (--loss is one of squared, absolute, log, zero-one, brier):"
        " the columns are week, north, south, east, result; for example: noregret blend polls.csv --outcome result"
        " --experts north,south,east --loss absolute --range 39,46\n"
    )
    command = answer.err.partition("for example: noregret ")[2].split()
    assert noregret(*command).code == 0
    given = noregret("blend", polls, "--outcome", "north", "--loss", "squared")
    assert given.err.startswith("noregret: --experts is missing: the columns are week, north")
    assert "--outcome north --experts south,east,result --loss squared --range 39,46" in given.err
