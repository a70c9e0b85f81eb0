"""`noregret predict`: what a saved model says of new rows, by the recipe it was learned with."""

import csv
import io
import math

import numpy as np
import pytest
from command import snapshot, svmlight

import noregret as nr
from noregret import model

NEW = "subject,country,length\nA prize meeting,NG,100\nTuesday,ZZ,50\n"


def parsed(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_scores_are_the_library_s(noregret, rows, examples):
    X, _ = examples
    noregret("learn", rows, "--learner", "perceptron", "--bias", "--scale", "max", "--save", "m.nr", "--quiet")
    answer = noregret("predict", "m.nr", rows)
    found = parsed(answer.out)
    core, _ = model.load("m.nr")
    expected = (X / np.abs(X).max(axis=0)) @ core.weights[1:] + core.bias
    assert (answer.code, answer.err) == (0, "")
    assert list(found[0]) == ["row", "score", "prediction"]
    assert [float(row["score"]) for row in found] == pytest.approx(expected.tolist(), rel=1e-12, abs=1e-12)
    assert [int(row["prediction"]) for row in found] == np.where(expected > 0, 1, -1).tolist()
    assert [int(row["row"]) for row in found] == [*range(1, 401)]


def test_a_label_is_not_needed_in_svmlight(noregret, rows, here, examples):
    noregret("learn", rows, "--save", "m.nr", "--quiet")
    text = svmlight(*examples)
    (here / "bare.svm").write_text("".join(f"{line.partition(' ')[2]}\n" for line in text.splitlines()))
    assert noregret("predict", "m.nr", "bare.svm").out == noregret("predict", "m.nr", rows).out


def test_a_csv_with_and_without_its_label_column(noregret, mail, here):
    options = ("--text", "subject", "--categorical", "country", "--hash-bits", 10)
    noregret("learn", mail, *options, "--save", "m.nr", "--quiet")
    head, *lines = (here / mail).read_text().splitlines()
    bare = [line.partition(",")[2] for line in (head, *lines)]
    (here / "bare.csv").write_text("\n".join(bare) + "\n")
    with_label, without = noregret("predict", "m.nr", mail), noregret("predict", "m.nr", "bare.csv")
    assert with_label.code == 0
    assert with_label.out == without.out
    (here / "new.csv").write_text(NEW)
    assert {row["prediction"] for row in parsed(noregret("predict", "m.nr", "new.csv").out)} <= {"spam", "ham"}


def test_columns_are_matched_by_name_and_unknown_ones_left_out(noregret, mail, here):
    noregret("learn", mail, "--text", "subject", "--hash-bits", 10, "--save", "m.nr", "--quiet")
    (here / "new.csv").write_text(NEW)
    turned = [",".join([*line.split(",")[::-1], "x"]) for line in NEW.splitlines()]
    (here / "turned.csv").write_text("\n".join(turned) + "\n")
    assert noregret("predict", "m.nr", "turned.csv").out == noregret("predict", "m.nr", "new.csv").out


def test_the_dict_of_a_row_has_the_row_s_score(noregret, mail, here):
    options = ("--learner", "adagrad", "--loss", "logistic")  # which does not look at the labels before
    noregret("learn", mail, *options, "--text", "subject", "--hash-bits", 10, "--save", "m.nr", "--quiet")
    (here / "new.csv").write_text(NEW)
    said = [row["prediction"] for row in parsed(noregret("predict", "m.nr", "new.csv").out)]
    loaded = nr.load("m.nr")
    rows = [{**row, "length": float(row["length"])} for row in parsed(NEW)]
    assert [loaded.predict_one(row) for row in rows] == said


def test_logistic_loss_gives_probabilities(noregret, rows):
    noregret("learn", rows, "--learner", "ogd", "--loss", "logistic", "--save", "m.nr", "--quiet")
    for row in parsed(noregret("predict", "m.nr", rows).out):
        assert float(row["probability"]) == pytest.approx(1 / (1 + math.exp(-float(row["score"]))), rel=1e-12)


def test_a_far_score_has_a_probability_too(noregret, here):
    (here / "far.svm").write_text("1 1:1\n-1 1:-1\n")
    (here / "farther.svm").write_text("1 1:100000\n-1 1:-100000\n")
    noregret("learn", "far.svm", "--learner", "ogd", "--loss", "logistic", "--save", "m.nr", "--quiet")
    found = parsed(noregret("predict", "m.nr", "farther.svm").out)
    assert [float(row["probability"]) for row in found] == [1.0, 0.0]


def test_regression_predicts_the_score(noregret, here):
    (here / "numbers.csv").write_text("label,a\n2,1\n4,2\n6,3\n")
    noregret("learn", "numbers.csv", "--learner", "ogd", "--loss", "squared", "--save", "m.nr", "--quiet")
    for row in parsed(noregret("predict", "m.nr", "numbers.csv").out):
        assert row["prediction"] == row["score"]


def test_missing_values_follow_the_model_s_rule(noregret, here):
    (here / "holes.csv").write_text("label,a\n1,2\n-1,\n-1,-3\n")
    noregret("learn", "holes.csv", "--missing", "zero", "--save", "zero.nr", "--quiet")
    noregret("learn", "holes.csv", "--missing", "skip", "--save", "skip.nr", "--quiet")
    assert [row["row"] for row in parsed(noregret("predict", "zero.nr", "holes.csv").out)] == ["2", "3", "4"]
    assert [row["row"] for row in parsed(noregret("predict", "skip.nr", "holes.csv").out)] == ["2", "4"]


def test_output_goes_to_a_file_whole(noregret, rows, here):
    noregret("learn", rows, "--save", "m.nr", "--quiet")
    printed = noregret("predict", "m.nr", rows).out
    for option in ("-o", "--output"):
        answer = noregret("predict", "m.nr", rows, option, "out.csv")
        assert (answer.code, answer.out) == (0, "")
        assert (here / "out.csv").read_text() == printed


def test_standard_input(noregret, rows, here):
    noregret("learn", rows, "--save", "m.nr", "--quiet")
    answer = noregret("predict", "m.nr", "-", stdin=(here / rows).read_bytes())
    assert answer.out == noregret("predict", "m.nr", rows).out


def test_predicting_changes_nothing(noregret, rows, here):
    noregret("learn", rows, "--scale", "max", "--save", "m.nr", "--quiet")
    before = snapshot(here)
    first, second = (noregret("predict", "m.nr", rows).out for _ in range(2))
    assert first == second
    assert snapshot(here) == before


def test_a_feature_never_learned_from_counts_nothing(noregret, here):
    (here / "few.svm").write_text("1 1:1\n-1 1:-1\n")
    (here / "more.svm").write_text("1 1:1 900:5\n")
    noregret("learn", "few.svm", "--learner", "perceptron", "--save", "m.nr", "--quiet")
    assert parsed(noregret("predict", "m.nr", "more.svm").out)[0]["score"] == "1.0"


def test_as_a_program(start, rows, noregret):
    noregret("learn", rows, "--save", "m.nr", "--quiet")
    process = start("predict", "m.nr", rows)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert out.decode() == noregret("predict", "m.nr", rows).out


@pytest.mark.parametrize(
    "command",
    [
        ("predict", "m.nr", "rows.svm", "-o", "m.nr"),
        ("learn", "rows.svm", "--resume", "m.nr", "--predictions", "m.nr"),
        ("learn", "rows.svm", "--resume", "m.nr", "--plot", "m.nr"),
    ],
)
def test_nothing_is_written_over_the_model(noregret, here, rows, command):
    noregret("learn", rows, "--save", "m.nr", "--quiet")
    before = snapshot(here)
    answer = noregret(*command)
    assert answer.code == 2
    assert answer.err == "noregret: m.nr: would be written over the model\n"
    assert snapshot(here) == before
