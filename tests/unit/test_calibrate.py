"""`calibrate`: probabilities of the scores of any learner of two classes, learned as the labels come."""

import math

import numpy as np
import pytest

import noregret as nr
from noregret.errors import SettingError
from noregret.learner import LEARNERS
from noregret.learner.platt import Platt, Temperature
from noregret.loss import probability
from noregret.picture.curves import grouped, reliability_axes
from noregret.picture.plotting import plot


def stream(rounds=2000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 4))
    return X, np.where(X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=rounds) > 0.0, 1.0, -1.0)


@pytest.mark.parametrize(("name", "scaling"), [("perceptron", Platt), ("adagrad", Temperature), ("pa1", Platt)])
def test_it_is_the_scaling_that_auto_has(name, scaling):
    X, y = stream()
    core = LEARNERS[name](calibrate=True)
    plain = LEARNERS[name]()
    nr.play(core, (X, y))
    scores = plain.play(nr.read((X, y)).blocks().__next__().rows, y)
    alone = scaling()
    odds = alone.play(scores, y)
    assert np.array_equal(core.sure.calibration.scaling.state, alone.state)
    told = nr.play(LEARNERS[name](calibrate=True), (X, y)).calibration
    assert told["rounds"] == 2000
    for place, said in (("before", scores), ("after", odds)):
        losses = [math.log1p(math.exp(-abs(m))) + max(-m, 0.0) for m in (y * said).tolist()]
        assert told["log_loss"][place] == pytest.approx(sum(losses) / 2000, rel=1e-9)


def test_margins_become_probabilities():
    X, y = stream(4000)
    run = nr.play(LEARNERS["perceptron"](calibrate=True, rate=100.0), (X, y))
    losses = run.calibration["log_loss"]
    assert losses["after"] < 0.6 < 5.0 < losses["before"]
    before, after = (grouped(bins, True) for bins in run.reliability)
    off = [sum(abs(one.said - one.frequency) * one.rounds for one in found) / 4000 for found in (before, after)]
    assert off[1] < 0.06 < 0.15 < off[0]


def test_probabilities_of_an_estimator_are_calibrated():
    X, y = stream()
    made = nr.Perceptron(calibrate=True).fit(X, y)
    chances = made.predict_proba(X)
    assert np.allclose(chances.sum(axis=1), 1.0) and made.predict_proba_one(X[0])[1.0] == chances[0, 1]
    assert np.array_equal(chances[:, 1], probability(made.core.sure.chances(made.decision_function(X))))
    assert not hasattr(nr.Perceptron(), "predict_proba")


@pytest.mark.parametrize(
    ("name", "settings", "labels"),
    [
        ("ogd", {"loss": "squared"}, "numbers"),
        ("auto", {"task": "regression"}, "numbers"),
        ("auto", {"task": "multiclass"}, "many classes"),
    ],
)
def test_it_is_for_two_classes(name, settings, labels):
    with pytest.raises(SettingError, match=f"calibrate=True makes probabilities of two classes, .* {labels}"):
        LEARNERS[name](calibrate=True, **settings)


def test_the_picture_shows_before_and_after(tmp_path):
    from matplotlib.figure import Figure

    X, y = stream()
    run = nr.play(LEARNERS["perceptron"](calibrate=True), (X, y))
    axes = reliability_axes(Figure().subplots(), run)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["perfect", "before", "calibrated"]
    assert axes.get_xlabel() == "predicted probability of +1"
    plot(run, kind="reliability", to=tmp_path / "r.svg")
    assert (tmp_path / "r.svg").stat().st_size > 1000
