"""The lines of a prediction file that do not give the label are the mistakes of the run, for every learner."""

import csv
import json

import numpy as np
import pytest

from noregret.learner import LEARNERS
from oracle.registry import FORECASTERS, MANY, NUMBERS, TIES

UPDATES = ("max-score", "one-vs-rest")
TWO = [name for name in LEARNERS if name not in (*MANY, *NUMBERS)]
ROUNDS = 120


def rows_with_ties(classes, seed):
    """Short rows of small whole numbers, some of them zero, so that scores are often 0 or equal."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (ROUNDS, 3)) * (rng.random((ROUNDS, 3)) < 0.6)
    y = (X @ [2, -1, 1] + rng.integers(-1, 2, ROUNDS)) % classes
    return X, y


def written(folder, X, names):
    lines = [",".join([*map(str, row), name]) for row, name in zip(X.tolist(), names, strict=True)]
    (folder / "ties.csv").write_text("\n".join(["a,b,c,label", *lines]) + "\n")
    return str(folder / "ties.csv")


def run_and_lines(noregret, folder, file, *options):
    said = folder / "said.csv"
    answer = noregret("learn", file, *options, "--predictions", said, "--json")
    assert answer.code == 0, answer.err
    with open(said, newline="") as opened:
        return json.loads(answer.out), list(csv.DictReader(opened))


def options_of(name):
    more = {"coin": ["--gradient-bound", "10"], "second-order": [], "kernel": ["--kernel", "poly"]}
    return ["--learner", name, *more.get(name, [])]


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("name", TWO)
def test_wrong_or_blank_lines_are_the_mistakes_of_two_classes(noregret, tmp_path, name, tie):
    X, y = rows_with_ties(2, seed=1)
    file = written(tmp_path, X, np.where(y > 0, "spam", "ham"))
    run, lines = run_and_lines(noregret, tmp_path, file, *options_of(name), "--tie", tie, "--passes", "2")
    zeros = [line for line in lines if float(line["score"]) == 0.0]
    assert len(lines) == run["rounds"] == 2 * ROUNDS
    assert zeros, "the stream was made to have ties"
    assert sum(line["prediction"] != line["label"] for line in lines) == run["mistakes"]
    assert {line["prediction"] for line in zeros} == {{"mistake": "", "+1": "spam", "-1": "ham"}[tie]}
    assert all(line["prediction"] for line in lines if float(line["score"]) != 0.0)


@pytest.mark.parametrize(
    "options",
    [("multiclass", "--update", update) for update in ("max-score", "one-vs-rest")] + [(n,) for n in FORECASTERS],
)
def test_wrong_or_blank_lines_are_the_mistakes_of_many_classes(noregret, tmp_path, options):
    X, y = rows_with_ties(4, seed=2)
    file = written(tmp_path, X, [f"class {label}" for label in y.tolist()])
    run, lines = run_and_lines(noregret, tmp_path, file, "--learner", *options)
    assert sum(line["prediction"] != line["label"] for line in lines) == run["mistakes"]
    assert any(not line["prediction"] for line in lines[1:]), "the stream was made to have ties"
    assert all(0.0 < float(line.get("probability", 1.0)) <= 1.0 for line in lines)


def test_a_tie_of_many_classes_is_blank_whatever_the_label_turns_out_to_be(noregret, tmp_path):
    """The last row scores 1 for a, 1 for b and −2 for c: a prediction that knew the label would tell them apart."""
    before = ["0,0,c", "0,0,a", "0,0,b", "1,0,a", "0,1,b"]
    for label in "abc":
        (tmp_path / "t.csv").write_text("\n".join(["x,z,label", *before, f"1,1,{label}"]) + "\n")
        run, lines = run_and_lines(noregret, tmp_path, str(tmp_path / "t.csv"), "--learner", "multiclass")
        assert (lines[-1]["score"], lines[-1]["prediction"]) == ("1.0", "")
        assert run["mistakes"] == len(lines) == 6


def test_a_right_answer_is_spelled_as_the_row_spells_it(noregret, tmp_path):
    X, y = rows_with_ties(2, seed=3)
    spelled = [["false", "False", "FALSE"], ["true", "True", "TRUE"]]
    names = [spelled[label][place % 3] for place, label in enumerate(y.tolist())]
    run, lines = run_and_lines(noregret, tmp_path, written(tmp_path, X, names), "--bias")
    assert {line["label"] for line in lines} == {*spelled[0], *spelled[1]}
    assert sum(line["prediction"] != line["label"] for line in lines) == run["mistakes"]


@pytest.mark.parametrize("name", ["ogd", "ogd-strong", "adagrad", "ftrl"])
def test_a_run_of_the_logistic_loss_has_the_probability_of_each_round(noregret, tmp_path, name):
    X, y = rows_with_ties(2, seed=4)
    file = written(tmp_path, X, np.where(y > 0, "spam", "ham"))
    _, lines = run_and_lines(noregret, tmp_path, file, "--learner", name, "--loss", "logistic")
    assert list(lines[0]) == ["row", "label", "score", "probability", "prediction"]
    chance = 1.0 / (1.0 + np.exp(-np.array([float(line["score"]) for line in lines])))
    assert [float(line["probability"]) for line in lines] == pytest.approx(chance.tolist(), rel=1e-12)


def test_other_losses_have_no_probability(noregret, tmp_path):
    X, y = rows_with_ties(2, seed=4)
    file = written(tmp_path, X, np.where(y > 0, "spam", "ham"))
    _, lines = run_and_lines(noregret, tmp_path, file, "--learner", "ogd", "--loss", "hinge")
    assert list(lines[0]) == ["row", "label", "score", "prediction"]
