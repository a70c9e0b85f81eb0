"""`noregret compare` plays every learner as `learn` would, in one reading, and sets them side by side."""

import io
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from command import snapshot

from noregret.cli.show import outward
from noregret.cli.terminal import Bar

SPECS = ("perceptron", "ogd:loss=logistic,radius=5,rate=sqrt:0.5", "ogd-strong:sigma=0.01", "ogd:radius=3")
LEARNERS = tuple(part for spec in SPECS for part in ("--learner", spec))
ALONE = {
    SPECS[0]: ("--learner", "perceptron"),
    SPECS[1]: ("--learner", "ogd", "--loss", "logistic", "--radius", 5, "--rate", "sqrt:0.5"),
    SPECS[2]: ("--learner", "ogd-strong", "--sigma", 0.01),
    SPECS[3]: ("--learner", "ogd", "--radius", 3),
}
COMMON = ("--bias", "--scale", "max", "--unit-norm", "--passes", 2, "--shuffle", 4)


@pytest.mark.parametrize("common", [(), COMMON], ids=["plain", "prepared"])
def test_every_learner_does_what_learn_does(noregret, rows, common):
    answer = noregret("compare", rows, *LEARNERS, *common, "--certify", "--json")
    assert answer.code == 0
    assert [one["spec"] for one in answer.json["learners"]] == list(SPECS)
    for one in answer.json["learners"]:
        alone = noregret("learn", rows, *ALONE[one["spec"]], *common, "--json").json
        assert (one["mistakes"], one["loss"]) == (alone["mistakes"], alone["loss"])
        assert one["name"] == alone["learner"]["name"]
        assert (answer.json["rounds"], answer.json["features"]) == (alone["rounds"], alone["features"])
        assert answer.json["baselines"] == alone["baselines"]
        if alone["regret"] is not None and one["bound"] is not None:
            assert one["regret"]["upper"] <= alone["regret"]["upper"] + 1e-6


def figures(answer):
    return {
        **{key: value for key, value in answer.json.items() if key != "command"},
        "learners": [{key: one[key] for key in one if key != "seconds"} for one in answer.json["learners"]],
    }


def test_standard_input_is_read_once_and_gives_the_same(noregret, rows, here):
    again = noregret("compare", "-", *LEARNERS, "--json", stdin=(here / rows).read_bytes())
    assert again.code == 0
    assert figures(again) == figures(noregret("compare", rows, *LEARNERS, "--json"))


def test_the_table_and_what_is_below_it(noregret, rows):
    answer = noregret("compare", rows, *LEARNERS, "--confidence", 0.9, "--certify")
    assert answer.code == 0
    assert answer.err == ""
    lines = answer.out.splitlines()
    assert lines[0] == "400 rounds of 3 features, identical for every learner"
    assert lines[1].split() == ["mistakes", "loss", "per", "row", "regret", "bound", "slack", "seconds"]
    table = answer.rows()
    assert set(SPECS) <= set(table)
    assert {"baseline: most frequent label", "baseline: previous label"} <= set(table)
    assert f"{SPECS[3]}: regret in the hinge loss against ‖u‖ ≤ 3; bound: ogd-linearised" in lines
    assert "perceptron: no regret: needs a radius; bound: hinge-sum" in lines
    assert table[f"perceptron − {SPECS[1]}"][0] == "error rate"
    assert "0.9 confidence" in answer.out
    assert lines[-2].startswith("if the rounds are independent")
    assert lines[-1].startswith("to run only the best: noregret learn rows.svm --learner ")


def test_radius_is_for_specs_without_one_and_for_the_perceptron(noregret, rows):
    answer = noregret("compare", rows, *LEARNERS, "--radius", 2, "--certify", "--json")
    radii = [one["regret"]["domain"]["radius"] for one in answer.json["learners"]]
    assert radii == [2.0, 5.0, 2.0, 3.0]


def test_reading_options_are_passed_on(noregret, mail):
    reading = (
        "--text",
        "subject",
        "--categorical",
        "country",
        "--hash-bits",
        6,
        "--positive",
        "ham",
        "--ignore",
        "length",
    )
    answer = noregret("compare", mail, "--learner", "perceptron", *reading, "--json")
    alone = noregret("learn", mail, *reading, "--json").json
    assert answer.json["features"] == alone["features"] == 2**6
    assert answer.json["learners"][0]["mistakes"] == alone["mistakes"]


def test_numbers(noregret, rows, here):
    (here / "numbers.csv").write_text("x,price\n" + "".join(f"{i % 7},{2 * (i % 7) + 1}\n" for i in range(50)))
    specs = ("--learner", "ogd:loss=squared", "--learner", "ogd:loss=absolute")
    answer = noregret("compare", "numbers.csv", "--label", "price", "--bias", *specs)
    assert answer.code == 0
    table = answer.rows()
    assert table["baseline: mean of the labels so far"][0] == "–"
    assert table["ogd:loss=squared − ogd:loss=absolute"][0] == "mean absolute error"


def test_quiet_prints_nothing(noregret, rows):
    answer = noregret("compare", rows, *LEARNERS, "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_a_time_limit_is_admitted(noregret, rows):
    answer = noregret("compare", rows, "--learner", "ogd:radius=3", "--seconds", 1e-9, "--gap", 1e-12, "--certify")
    assert answer.code == 0
    assert "against ‖u‖ ≤ 3 (time ran out: not fully solved)" in answer.out


@pytest.mark.parametrize(("ending", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
@pytest.mark.parametrize("learners", [LEARNERS, ("--learner", "ogd:radius=2", "--learner", "ogd:radius=3")])
def test_a_picture_is_drawn(noregret, rows, ending, magic, learners):
    picture = f"curves.{ending}"
    assert noregret("compare", rows, *learners, "--quiet", "--plot", picture).code == 0
    drawn = Path(picture).read_bytes()
    assert drawn.startswith(magic)
    assert len(drawn) > 5000


@pytest.mark.parametrize(
    ("learners", "more", "sentence"),
    [
        ((), ("--bias",), "--bias needs --learner: the default line-up has its own settings"),
        ((), ("--radius", "2"), "--radius needs --learner"),
        ((), ("--task", "clustering"), "task must be one of binary, multiclass, regression, got 'clustering'"),
        (("perceptron",), ("--task", "binary"), "--task and --positive are for the default line-up"),
        (("perceptron",), ("--gap", "0.1"), "--gap needs --certify"),
        (("perceptron",), ("--seconds", "1"), "--seconds needs --certify"),
        (("forest",), (), "learner must be one of the"),
        (("perceptron:loss=hinge",), (), "--learner perceptron:loss=hinge: perceptron has rate, tie, not 'loss'"),
        (("ogd:radius",), (), "--learner ogd:radius: expected key=value, each key once, got 'radius'"),
        (("ogd:radius=1,radius=2",), (), "expected key=value, each key once, got 'radius=2'"),
        (("ogd:",), (), "expected key=value, each key once, got ''"),
        (("ogd:radius=big",), (), "--learner ogd:radius=big: radius must be a number, got 'big'"),
        (("ogd:bias=1",), (), "--bias applies to all learners, so it cannot be part of a SPEC"),
        (("ogd:loss=cubic",), (), "loss must be one of"),
        (("perceptron", "perceptron"), (), "--learner perceptron is given twice"),
        (("perceptron", "ogd:loss=squared"), (), "one stream cannot be both"),
        (("ogd:loss=squared",), ("--positive", "1"), "--positive is for two classes; the loss squared is for numbers"),
        (("perceptron",), ("--radius", "-1"), "radius must be positive and finite, got -1"),
        (("perceptron",), ("--confidence", "95"), "confidence must lie between 0 and 1, got 95"),
        (("perceptron",), ("--gap", "0", "--certify"), "gap must be positive and finite, got 0"),
        (("perceptron",), ("--seconds", "0", "--certify"), "seconds must be positive, got 0"),
        (("perceptron",), ("--passes", "0"), "passes must be at least 1, got 0"),
        (("perceptron",), ("--label", "y"), "label names a column"),
        (("perceptron",), ("--plot", "curves.gif"), "plot: the file must end in .png, .svg, .pdf"),
        (("perceptron",), ("--plot", "rows.svm"), "rows.svm: would be written over the stream"),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_written(noregret, rows, here, learners, more, sentence):
    before = snapshot(here)
    plot = () if "--plot" in more else ("--plot", "curves.png")
    answer = noregret("compare", rows, *(part for one in learners for part in ("--learner", one)), *more, *plot)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("noregret: ")
    assert answer.err.count("\n") == 1
    assert sentence in answer.err
    assert snapshot(here) == before


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "quiet", "shown"), [(Terminal, False, True), (Terminal, True, False), (io.StringIO, False, False)]
)
def test_the_bar_is_for_terminals(monkeypatch, stream, quiet, shown):
    monkeypatch.setattr(sys, "stderr", stream())
    with Bar(quiet) as bar:
        bar.show("reading: 5 rows", None)
        bar.show("perceptron: 7 rounds", 0.5)
    assert ("perceptron: 7 rounds" in sys.stderr.getvalue()) is shown


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ((1.23456789, 1.23456789), "[1.23456, 1.23457]"),
        ((-1.23456789, 0.0), "[-1.23457, 0]"),
        ((123456789.5, 123456789.5), "[123,456,789, 123,456,790]"),
        ((2.0**-30, 2.0), "[9.31322e-10, 2]"),
        ((1.2345644e15, 1.2345644e15), "[1.23456e+15, 1.23457e+15]"),
        ((float("-inf"), float("inf")), "[-inf, inf]"),
    ],
)
def test_ends_are_rounded_outward(ends, text):
    assert outward(*ends) == text


def test_a_bad_line_is_named(noregret, here):
    (here / "rows.svm").write_text("1 1:2\n-1 1;3\n")
    answer = noregret("compare", "rows.svm", "--learner", "perceptron")
    assert answer.code == 2
    assert answer.err.startswith("noregret: rows.svm:2: ")


def test_compare_alone_ends_with_the_command_of_the_best(noregret, rows):
    answer = noregret("compare", rows)
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0] == "400 rounds of 3 features, identical for every learner"
    assert lines[1].startswith("task: two classes; default line-up")
    assert lines[2].split() == ["mistakes", "loss", "per", "row", "seconds"]
    assert any(line.startswith("left out: multiclass (only for many classes); vaw") for line in lines)
    told = noregret("compare", rows, "--json").json
    wrong = [one["mistakes"] for one in told["learners"]]
    assert wrong == sorted(wrong)
    assert told["best"] == told["learners"][0]["spec"] == lines[3].split()[0]
    assert lines[-1] == f"to run only the best: {told['command']}"
    alone = noregret(*shlex.split(told["command"])[1:], "--json").json
    assert alone["mistakes"] == wrong[0]
    assert alone["loss"] == told["learners"][0]["loss"]


def test_the_command_says_how_the_stream_was_read(noregret, mail):
    told = noregret(
        "compare", mail, "--label", "label", "--text", "subject", "--hash-bits", 8, "--passes", 2, "--json"
    ).json
    alone = noregret(*shlex.split(told["command"])[1:], "--json").json
    assert "--text subject --hash-bits 8" in told["command"]
    assert alone["mistakes"] == told["learners"][0]["mistakes"]


def test_the_command_of_named_learners_has_their_settings(noregret, rows):
    told = noregret("compare", rows, *LEARNERS, *COMMON, "--json").json
    alone = noregret(*shlex.split(told["command"])[1:], "--json").json
    assert alone["mistakes"] == min(one["mistakes"] for one in told["learners"])


def test_members_and_the_task_of_auto(noregret, here):
    rng = np.random.default_rng(0)
    lines = "".join(f"{x:.3f},{3 * x + rng.normal():.3f}\n" for x in rng.normal(size=80))
    (here / "n.csv").write_text(f"x,label\n{lines}")
    specs = ("--learner", "auto:members=ridge-3+last", "--learner", "auto", "--learner", "vaw")
    found = noregret("compare", "n.csv", *specs, "--task", "regression", "--json").json
    alone = noregret("learn", "n.csv", "--members", "ridge-3,last", "--json").json
    assert [one["spec"] for one in found["learners"]] == [specs[1], "auto", "vaw"]
    assert found["learners"][0]["loss"]["total"] == alone["loss"]["total"] != found["learners"][1]["loss"]["total"]
    assert {one["name"] for one in alone["members"]} == {"ridge-3", "last"}
    assert noregret("compare", "n.csv", "--json").json["learners"][0]["spec"] == "auto"
