"""`noregret learn FILE` with no option: the task is recognised, a learner fits it, lines below say why."""

import csv

import numpy as np
import pytest
from sklearn import datasets

NAMES = {"digits": "multiclass", "wine": "multiclass", "iris": "multiclass", "diabetes": "regression"}


def written(folder, name, X, y, header=None):
    header = [f"x{i}" for i in range(X.shape[1])] if header is None else header
    with open(folder / name, "w", newline="") as file:
        csv.writer(file).writerows(
            [[*header, "label"], *([*map(repr, row), label] for row, label in zip(X.tolist(), y, strict=True))]
        )
    return name


@pytest.fixture
def shipped(here):
    """A set that scikit-learn ships, shuffled, as CSV."""

    def write(name):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        order = np.random.default_rng(0).permutation(len(y))
        return written(here, f"{name}.csv", X[order], y[order].tolist())

    return write


@pytest.mark.parametrize("name", [*NAMES, "breast_cancer"])
def test_no_option_beats_both_baselines(noregret, shipped, name):
    found = noregret("learn", shipped(name), "--json").json
    own = found["loss"]["total"] if found["mistakes"] is None else found["mistakes"]
    assert own < min(found["baselines"].values())
    assert found["task"] == {"name": NAMES.get(name, "binary"), "recognised_from": min(found["rounds"], 1000)}
    assert found["advice"] == []


def test_the_table_names_learner_task_and_preparation(noregret, shipped):
    answer = noregret("learn", shipped("breast_cancer"))
    assert answer.out.startswith("auto (the default for two classes): radius 10, ")
    assert answer.rows()["task"] == ["two classes"]
    assert "task: two classes (0, 1), recognised from the first 569 rows (override: --task)" in answer.out
    for line in ("member of the mixture", "  baseline: best fixed frequency ", " than its best member, "):
        assert line in answer.out
    assert "weights ‖w‖" not in answer.out
    assert "hindsight refer to the prepared rows" in noregret("learn", "breast_cancer.csv", "--loss", "hinge").out


def test_a_named_learner_is_prepared_only_as_asked(noregret, shipped):
    found = noregret("learn", shipped("breast_cancer"), "--learner", "adagrad", "--json").json
    assert (found["learner"]["bias"], found["learner"]["scale"], found["learner"]["unit_norm"]) == (False, None, False)
    assert "(the default" not in noregret("learn", "breast_cancer.csv", "--learner", "adagrad").out


def test_options_count_for_the_default_learner_too(noregret, rows):
    found = noregret("learn", rows, "--loss", "hinge", "--radius", 3, "--json").json["learner"]
    assert (found["name"], found["loss"], found["radius"], found["bias"]) == ("adagrad", "hinge", 3.0, True)


def test_a_loss_for_numbers_is_a_task(noregret, rows):
    for loss, learner in (("squared", "auto"), ("absolute", "pa2"), ("huber:1", "coin")):
        found = noregret("learn", rows, "--loss", loss, "--json").json
        assert (found["task"]["name"], found["learner"]["name"]) == ("regression", learner)


def test_a_task_that_is_given_is_not_recognised(noregret, shipped):
    file = shipped("iris")
    found = noregret("learn", file, "--task", "regression", "--json").json
    assert (found["task"], found["learner"]["name"]) == ({"name": "regression", "recognised_from": None}, "auto")
    assert (
        noregret("learn", file, "--task", "regression", "--learner", "ogd", "--json").json["loss"]["name"] == "squared"
    )
    assert noregret("learn", file, "--task", "multiclass", "--learner", "multiclass").code == 0


@pytest.mark.parametrize(
    ("labels", "options", "sentence"),
    [
        ("123", "--learner perceptron", "t.csv: the labels are of 3 classes (1, 2, 3), and perceptron tells two apart"),
        ("123", "--task multiclass --learner pa", "--task multiclass needs a learner for many classes, and pa is for"),
        ("123", "--task regression --learner voted", "--task regression needs a learner for numbers, and voted is for"),
        ("123", "--task regression --loss hinge", "--task regression needs a loss for numbers; got --loss hinge"),
        ("123", "--task binary --loss squared", "--task binary needs a loss for classes; got --loss squared"),
        ("123", "--task binary", "t.csv:4: a third label, 3, after 1 and 2"),
        ("123", "--task some", "task must be one of binary, multiclass, regression, got 'some'"),
        (["1.5", "2", "3"], "--learner ogd", "the labels look like numbers (1.5, 2, 3): add --task regression"),
        (["1.5", "2", "3"], "--learner multiclass", "add --task regression and leave out --learner"),
        (["1.5", "2", "3"], "--loss hinge", "the labels look like numbers (1.5, 2, 3), and the loss hinge is for"),
    ],
)
def test_what_does_not_fit_the_labels_is_a_sentence(noregret, here, labels, options, sentence):
    (here / "t.csv").write_text("a,label\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels)))
    answer = noregret("learn", "t.csv", *options.split(), "--save", "m.nr")
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert sentence in answer.err
    assert not (here / "m.nr").exists()


def test_the_second_of_two_whole_numbers_is_positive(noregret, here):
    (here / "t.csv").write_text("a,label\n1,1\n-1,2\n1,1\n-1,2\n")
    for options in ((), ("--learner", "perceptron")):
        assert noregret("learn", "t.csv", *options, "--predictions", "p.csv", "--quiet").code == 0
        assert (here / "p.csv").read_text().splitlines()[-1].endswith(",2")


def test_a_resumed_model_keeps_its_task(noregret, rows):
    noregret("learn", rows, "--save", "m.nr", "--quiet")
    refused = noregret("learn", rows, "--resume", "m.nr", "--task", "regression")
    assert (refused.code, refused.err) == (
        2,
        "noregret: --task regression conflicts with the model, which has binary: leave it out\n",
    )


# -- advice ------------------------------------------------------------------------------------------------------


def advice(noregret, *args):
    """The lines, which the table ends with too."""
    lines = noregret("learn", *args, "--json").json["advice"]
    assert noregret("learn", *args).out.splitlines()[-len(lines) :] == lines or not lines
    assert len(lines) <= 3
    return lines


def test_labels_that_follow_one_another(noregret, here):
    rng = np.random.default_rng(0)
    y = np.repeat(rng.integers(0, 2, 40), 25)
    file = written(here, "runs.csv", rng.normal(size=(1000, 2)), y.tolist())
    (line,) = advice(noregret, file, "--learner", "adagrad")
    assert line.startswith("advice: predicting the previous label makes fewer mistakes (")
    assert line.endswith("noregret learn runs.csv --learner second-order --bias")
    assert advice(noregret, file) == []  # auto has members that follow the labels


def test_noise_is_told_to_compare(noregret, here):
    rng = np.random.default_rng(0)
    file = written(here, "noise.csv", rng.normal(size=(500, 5)), (rng.random(500) < 0.1).astype(int).tolist())
    (line,) = advice(noregret, file, "--learner", "perceptron", "--label", "label")
    assert line.startswith("advice: always predicting the most frequent label makes fewer mistakes (")
    assert line.endswith(": noregret compare noise.csv --label label")


def test_rows_sorted_by_label(noregret, here):
    X, y = datasets.load_iris(return_X_y=True)
    lines = advice(noregret, written(here, "iris.csv", X, y.tolist()))
    assert lines[0].startswith("advice: the rows are sorted by label")
    assert lines[0].endswith(": noregret learn iris.csv --shuffle 0")
    assert not any("sorted" in line for line in advice(noregret, "iris.csv", "--shuffle", 0))


def test_a_stream_that_drifts(noregret, here):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2)).round(3)
    y = np.where(np.arange(4000) < 3300, X[:, 0] > 0, X[:, 0] < 0).astype(int)
    file = written(here, "turn.csv", X, y.tolist())
    lines = advice(noregret, file, "--learner", "adagrad")
    assert advice(noregret, file) == []
    assert any("the last 1,000 rows went worse than the rows before" in line for line in lines)


def test_columns_of_very_different_sizes(noregret, here):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) * [50000.0, 0.1]
    file = written(here, "sizes.csv", X, (X[:, 0] + 5e5 * X[:, 1] > 0).astype(int).tolist(), ["income", "share"])
    lines = advice(noregret, file, "--learner", "ogd", "--loss", "logistic", "--bias")
    (line,) = [line for line in lines if "sizes" in line]
    assert "(income, share)" in line
    assert line.endswith("noregret learn sizes.csv --learner ogd --loss logistic --bias --scale max")
    assert not any("sizes" in line for line in advice(noregret, file))


def test_classes_that_may_be_amounts(noregret, here):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    file = written(here, "count.csv", X, np.clip(np.round(7 + 3 * X[:, 0]), 0, 14).astype(int).tolist())
    assert any(line.endswith("learn count.csv --task regression") for line in advice(noregret, file))
    assert not any("taken as classes" in line for line in advice(noregret, file, "--task", "multiclass"))


def test_one_label_alone_is_said_and_needs_no_advice(noregret, here):
    file = written(here, "one.csv", np.ones((60, 1)), ["yes"] * 60)
    assert advice(noregret, file) == []
    assert "two classes ('yes', no second label yet)" in noregret("learn", file).out
