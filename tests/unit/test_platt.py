"""Platt scaling: the definition round by round, any split, any scale of the scores, and what it is for."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret._native import PLATT_NUMBERS, apply_platt, calibrate
from noregret.learner import LEARNERS
from noregret.learner.platt import Platt
from noregret.stream import Dense
from oracle import learners as plain


def scores_of(seed, rounds=200, size=1.0):
    """Scores that say something of their labels, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], rounds)
    return size * (y + 1.5 * rng.normal(size=rounds)), y, rng.choice([0.5, 1.0, 2.0], rounds)


def log_loss(z, y):
    return float(np.logaddexp(0.0, -y * z).mean())


@pytest.mark.parametrize("size", [1.0, 1e-6, 1e9])
def test_the_rounds_are_those_of_the_definition(size):
    z, y, weights = scores_of(1, size=size)
    twin, expected = plain.Platt(), []
    for score, label, k in zip(z, y, weights, strict=True):
        expected.append(twin.said(score))
        twin.learn(score, label, k)
    mine = Platt()
    assert mine.play(z, y, weights) == pytest.approx(expected, rel=1e-9)
    assert mine.state[:2] == pytest.approx(twin.theta, rel=1e-9)


@given(st.lists(st.integers(0, 200), max_size=5), st.booleans())
def test_any_split_gives_the_same_bits_and_asking_changes_none(cuts, weighted):
    z, y, weights = scores_of(2)
    weights = weights if weighted else None
    whole, parts, said = Platt(), Platt(), []
    expected = whole.play(z, y, weights)
    for a, b in itertools.pairwise([0, *sorted(cuts), 200]):
        before = parts.state.tobytes()
        ahead = parts.scores(z[a:b])
        assert parts.state.tobytes() == before
        said.append(parts.play(z[a:b], y[a:b], None if weights is None else weights[a:b]))
        assert a == b or ahead[0] == said[-1][0]
        parts = pickle.loads(pickle.dumps(parts))
    assert np.concatenate(said).tobytes() == expected.tobytes()
    assert parts.state.tobytes() == whole.state.tobytes()


def test_the_scale_of_the_scores_is_of_no_account():
    z, y, _ = scores_of(3)
    expected = Platt().play(z, y)
    assert Platt().play(2.0**300 * z, y) == pytest.approx(expected, rel=1e-12)
    assert Platt().play(z / 2.0**300, y) == pytest.approx(expected, rel=1e-12)


def test_rounds_of_weight_zero_and_scores_that_are_no_number_are_none():
    z, y, _ = scores_of(4)
    weights = np.ones(200)
    weights[::3] = 0.0
    some, z_bad = Platt(), z.copy()
    z_bad[1] = np.nan
    said = some.play(z_bad, y, weights)
    left = (weights > 0.0) & np.isfinite(z_bad)
    fewer = Platt()
    assert np.array_equal(said[left], fewer.play(z[left], y[left])) and np.isnan(said[~left]).all()
    assert some.state.tobytes() == fewer.state.tobytes()


@pytest.mark.parametrize("label", [1.0, -1.0])
def test_scores_of_zero_and_one_wild_score_do_no_harm(label):
    scaling = Platt()
    assert np.isfinite(scaling.play(np.zeros(50), np.full(50, label))).all()
    z, y, _ = scores_of(5)
    z[100] = -1e300 * y[100]
    said = Platt().play(z, y)
    assert np.isfinite(said).all() and log_loss(said[:100], y[:100]) < np.log(2.0)


def test_margins_of_a_learner_become_probabilities():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(3000, 5))
    y = np.where(X @ np.ones(5) + 2.0 * rng.normal(size=3000) > 0.0, 1.0, -1.0)
    margins = LEARNERS["pa2"](aggressiveness=0.01).play(Dense(X), y)
    said = Platt().play(margins, y)
    assert log_loss(said, y) < min(log_loss(margins, y), 0.9 * np.log(2.0))


def test_arrays_that_do_not_fit_are_refused():
    z, state = np.zeros(3), np.zeros(PLATT_NUMBERS)
    with pytest.raises(ValueError, match="a label and a place for each score"):
        calibrate(z, np.zeros(2), np.zeros(0), state, np.zeros(3))
    with pytest.raises(ValueError, match="not the numbers that are kept"):
        calibrate(z, z, np.zeros(0), np.zeros(3), np.zeros(3))
    with pytest.raises(ValueError, match="a place for each score"):
        apply_platt(z, state, np.zeros(2))
