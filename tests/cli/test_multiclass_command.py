"""`learn --learner multiclass` and `voted`, from the file to the verified receipt."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris


@pytest.fixture
def iris(tmp_path):
    data = load_iris()
    order = np.random.default_rng(0).permutation(150)
    lines = [",".join([*map(str, data.data[i]), data.target_names[data.target[i]]]) for i in order]
    for name, count in (("iris.csv", 150), ("part.csv", 80)):
        (tmp_path / name).write_text("\n".join(["a,b,c,d,label", *lines[:count]]) + "\n")
    return tmp_path


def test_learn_predict_inspect_certify_and_verify(noregret, iris):
    file, model, receipt, said = (str(iris / name) for name in ("iris.csv", "m.nr", "r.json", "p.csv"))
    common = ("--learner", "multiclass", "--bias")
    answer = noregret("learn", file, *common, "--save", model, "--receipt", receipt, "--predictions", said, "--json")
    assert answer.code == 0, answer.err
    run = json.loads(answer.out)
    table = run["metrics"]["confusion"]
    assert sorted(table["labels"]) == ["setosa", "versicolor", "virginica"]
    assert np.sum(table["table"]) == 149
    assert {one["theorem"] for one in run["certificates"]} >= {"multiclass-sum", "multiclass-mistakes"}
    rows = [line.split(",") for line in (iris / "p.csv").read_text().splitlines()]
    assert rows[0] == ["row", "label", "score", "prediction"]
    assert rows[1][3] == "", "nothing could be predicted before the first label"
    assert len(rows) == 151
    wrong = sum(row[1] != row[3] for row in rows[1:])
    assert wrong == run["mistakes"], "ties are mistakes, and left without a prediction"
    assert noregret("verify", receipt, file, "--quiet").code == 0
    assert noregret("certify", model, file, "--quiet").code == 0
    inspected = json.loads(noregret("inspect", model, "--top", "2", "--json").out)
    assert [set(row) for row in inspected["weights"]] == [{"feature", "class", "weight"}] * 2
    assert len(inspected["bias"]) == 3
    predicted = noregret("predict", model, file).out.splitlines()
    assert predicted[0] == "row,score,prediction"
    assert {line.split(",")[2] for line in predicted[1:]} <= set(table["labels"])


def test_a_stopped_file_goes_on(noregret, iris):
    whole, part, file, half = (str(iris / name) for name in ("w.nr", "p.nr", "iris.csv", "part.csv"))
    for update in ("max-score", "one-vs-rest"):
        common = ("--learner", "multiclass", "--update", update)
        assert noregret("learn", file, *common, "--save", whole, "--quiet").code == 0
        assert noregret("learn", half, *common, "--save", part, "--quiet").code == 0
        assert noregret("learn", file, "--resume", part, "--skip", "seen", "--save", part, "--quiet").code == 0
        one, other = (json.loads(noregret("inspect", name, "--json").out) for name in (whole, part))
        for key in ("mistakes", "weights", "metrics", "labels", "weight_norm"):
            assert one[key] == other[key]


def test_the_vote_is_what_predict_says(noregret, iris):
    lines = (iris / "iris.csv").read_text().replace("versicolor", "other").replace("virginica", "other")
    (iris / "two.csv").write_text(lines)
    file, model, receipt = (str(iris / name) for name in ("two.csv", "v.nr", "v.json"))
    answer = noregret("learn", file, "--learner", "voted", "--save", model, "--receipt", receipt, "--json")
    run = json.loads(answer.out)
    assert "voted-test-error" in {one["theorem"] for one in run["certificates"]}
    assert noregret("verify", receipt, file, "--quiet").code == 0
    votes = [float(line.split(",")[1]) for line in noregret("predict", model, file).out.splitlines()[1:]]
    assert all(abs(vote) <= 151 and vote == int(vote) for vote in votes)
    told = noregret("inspect", model).out
    assert f"predictors: {run['mistakes'] + 1}" in told
    assert "weights of the newest predictor:" in told


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--positive", "setosa"), "--positive is for two classes; multiclass takes any number of them"),
        (("--tie", "+1"), "--tie is for "),
        (("--update", "best"), "multiclass: update must be max-score or one-vs-rest, got 'best'"),
        (("--radius", "3"), "--radius is for "),
    ],
)
def test_what_does_not_go_with_many_classes_is_said(noregret, iris, options, sentence):
    answer = noregret("learn", str(iris / "iris.csv"), "--learner", "multiclass", *options)
    assert answer.code == 2
    assert answer.err.startswith(f"noregret: {sentence}")
