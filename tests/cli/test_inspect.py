"""`noregret inspect`: what is in a model file."""

import numpy as np
import pytest
from command import snapshot

from noregret import model

NAMED = "age,height,label,weight\n30,1.5,yes,60\n20,1.9,no,90\n60,1.6,yes,50\n"


@pytest.fixture
def named(here, noregret):
    (here / "people.csv").write_text(NAMED)
    noregret("learn", "people.csv", "--learner", "perceptron", "--bias", "--save", "m.nr", "--quiet")
    return "m.nr"


def weights_of(path):
    return dict(zip(("age", "height", "weight"), model.load(path)[0].weights.tolist(), strict=True))


def test_weights_are_shown_by_feature_name(noregret, named):
    answer = noregret("inspect", named)
    assert (answer.code, answer.err) == (0, "")
    table = answer.rows()
    for name, weight in weights_of(named).items():
        assert float(table[name][0]) == pytest.approx(weight, rel=1e-5)
    assert "labels: no is −1, yes is +1" in answer.out
    assert f"bias: {model.load(named)[0].bias:+.6g}" in answer.out
    assert table["rounds"] == ["3"]


@pytest.mark.parametrize("top", [0, 1, 2, 3, 50])
def test_top_shows_the_largest_in_size(noregret, named, top):
    found = noregret("inspect", named, "--top", top, "--json").json["weights"]
    largest = sorted(weights_of(named).items(), key=lambda pair: -abs(pair[1]))[:top]
    assert [(row["feature"], row["weight"]) for row in found] == largest


def test_json(noregret, named):
    found = noregret("inspect", named, "--json").json
    assert found["rounds"] == 3
    assert found["features"] == 3
    assert found["labels"] == {"negative": "no", "positive": "yes"}
    assert found["learner"]["name"] == "perceptron"
    assert found["learner"]["bias"] is True
    assert [segment["rows"] for segment in found["segments"]] == [3]
    assert found["bias"] == model.load(named)[0].bias
    assert found["reading"]["label"] is None


def test_the_figures_are_those_of_the_run(noregret, rows):
    for options in (("perceptron",), ("ogd", "--loss", "logistic"), ("ogd-strong",), ("ogd", "--loss", "squared")):
        learned = noregret("learn", rows, "--learner", *options, "--save", "m.nr", "--json").json
        found = noregret("inspect", "m.nr", "--json").json
        shared = set(learned) & set(found)
        assert {"rounds", "mistakes", "loss", "regret", "baselines", "metrics", "weight_norm"} <= shared
        assert {key: found[key] for key in shared} == {key: learned[key] for key in shared}


def test_svmlight_features_by_number(noregret, rows):
    noregret("learn", rows, "--learner", "perceptron", "--save", "m.nr", "--quiet")
    found = noregret("inspect", "m.nr", "--top", 1, "--json").json["weights"][0]["feature"]
    weights = model.load("m.nr")[0].weights
    assert found == f"feature {np.abs(weights).argmax()}"


def test_regression_has_no_labels(noregret, here):
    (here / "numbers.csv").write_text("label,a\n2,1\n4,2\n6,3\n")
    noregret("learn", "numbers.csv", "--learner", "ogd", "--loss", "squared", "--save", "m.nr", "--quiet")
    assert noregret("inspect", "m.nr", "--json").json["labels"] is None
    assert "labels:" not in noregret("inspect", "m.nr").out


def test_a_model_saved_by_the_library(noregret, here):
    import noregret as nr

    nr.Perceptron().fit([[1.0], [-1.0]], ["b", "a"]).save(here / "m.nr")
    assert noregret("inspect", "m.nr", "--json").json["labels"] == {"negative": "a", "positive": "b"}
    assert noregret("inspect", "m.nr").code == 0


def test_inspecting_changes_nothing(noregret, named, here):
    before = snapshot(here)
    noregret("inspect", named)
    assert snapshot(here) == before


def test_a_mixture_names_its_members_and_weights_in_the_units_of_the_columns(noregret, here):
    rng = np.random.default_rng(0)
    table = [
        f"{a:.2f},{b:.4f},{'yes' if a / 1000 - b > 0 else 'no'}" for a, b in rng.uniform(0, 1, (200, 2)) * [1e3, 1]
    ]
    (here / "t.csv").write_text("metres,share,label\n" + "\n".join(table) + "\n")
    learned = noregret("learn", "t.csv", "--learner", "auto", "--save", "m.nr", "--json").json
    found = noregret("inspect", "m.nr", "--json").json
    assert found["members"] == learned["members"]
    by = {row["feature"]: row for row in found["weights"]}
    assert by["metres"]["weight"] > 0.0 > by["share"]["weight"]
    assert by["metres"]["weight"] < 0.1 * -by["share"]["weight"]  # of a metre, of a whole share
    assert 0.5 < by["metres"]["effect"] / -by["share"]["effect"] < 2.0
    assert found["effect"] == "weight × the column's standard deviation"
    assert {one["name"] for one in found["weights_of"]} < {one["name"] for one in found["members"]}
    answer = noregret("inspect", "m.nr", "--top", 1)
    assert "weights in the units of the columns: mean of the linear members by their shares (" in answer.out
    rows = answer.rows()
    assert {one["name"] for one in found["members"]} <= set(rows)
    assert rows["logs-.15"][0] == "not playing"
    largest = found["weights"][0]
    assert [float(cell) for cell in rows[largest["feature"]]] == pytest.approx(
        [largest["weight"], largest["effect"]], rel=1e-5
    )
