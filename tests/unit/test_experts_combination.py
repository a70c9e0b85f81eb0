"""The best convex combination: the interval holds the true minimum, whatever the solver does."""

import math
from fractions import Fraction

import cvxpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from noregret.errors import SettingError
from noregret.proof.solve import mean as combination
from noregret.proof.solve.mean import best_combination

LOSSES = ("squared", "absolute", "log")


def problem(seed, rounds=80, experts=5):
    rng = np.random.default_rng(seed)
    x = 0.02 + 0.96 * rng.random((rounds, experts))
    y = np.clip(x @ rng.dirichlet(np.full(experts, 0.4)) + 0.1 * rng.normal(size=rounds), 0.0, 1.0)
    return x, y


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_the_interval_holds_what_a_conic_solver_finds_and_is_narrow(loss, seed):
    x, y = problem(seed, experts=2 + 3 * seed)
    found = best_combination(x, y, loss)
    w = cvxpy.Variable(x.shape[1], nonneg=True)
    z = x @ w
    values = {"squared": cvxpy.sum_squares(z - y), "absolute": cvxpy.norm1(z - y), "log": -cvxpy.sum(cvxpy.log(z))}
    least = cvxpy.Problem(cvxpy.Minimize(values[loss]), [cvxpy.sum(w) == 1]).solve(solver=cvxpy.CLARABEL)
    assert found.lower - 1e-5 <= least <= found.upper + 1e-5
    assert found.upper - found.lower <= 1e-6 * max(found.upper, 1.0)
    assert (found.weights >= 0.0).all() and found.weights.sum() == pytest.approx(1.0)


def exact(loss, x, y, w):
    """The loss at w as a fraction (of the log loss as a float)."""
    total = Fraction(0)
    for row, outcome in zip(x.tolist(), y.tolist(), strict=True):
        z = sum((Fraction(a) * b for a, b in zip(row, w, strict=True)), Fraction(0))
        r = z - Fraction(outcome)
        total += r * r if loss == "squared" else abs(r)
    return total


@pytest.mark.parametrize("tiny", [2.2e-311, 1e-200, 1e-160])
def test_a_square_that_vanishes_is_still_below_the_upper_end(tiny):
    x, y = np.array([[tiny]]), np.zeros(1)
    assert exact("squared", x, y, [Fraction(1)]) <= Fraction(best_combination(x, y, "squared").upper)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
@settings(max_examples=40)
@given(arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.floats(0, 1)), st.data())
def test_no_combination_loses_less_than_the_lower_end(loss, x, data):
    y = data.draw(arrays(np.float64, len(x), elements=st.floats(0, 1)))
    found = best_combination(x, y, loss)
    raw = data.draw(st.lists(st.integers(0, 9), min_size=x.shape[1], max_size=x.shape[1]).filter(any))
    w = [Fraction(part, sum(raw)) for part in raw]
    assert exact(loss, x, y, w) >= Fraction(found.lower)
    parts = [Fraction(part) for part in found.weights.tolist()]
    assert exact(loss, x, y, [part / sum(parts) for part in parts]) <= Fraction(found.upper)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_solver_that_gives_nonsense_costs_width_and_never_truth(loss, monkeypatch):
    x, y = problem(1)
    true = best_combination(x, y, loss)
    rng = np.random.default_rng(0)
    monkeypatch.setattr(combination, "_centred", lambda *given: rng.dirichlet(np.ones(x.shape[1])))
    found = best_combination(x, y, loss)
    assert found.lower <= true.upper and true.lower <= found.upper
    assert found.upper - found.lower > true.upper - true.lower


def test_numbers_far_from_zero_are_no_worse():
    x, y = problem(2)
    near, far = best_combination(x, y, "absolute"), best_combination(x + 1000.0, y + 1000.0, "absolute")
    assert far.lower <= near.upper + 1e-7 and near.lower <= far.upper + 1e-7
    assert far.upper - far.lower <= 1e-5


def test_the_best_of_probabilities_with_a_zero_among_them():
    found = best_combination(np.array([[0.0, 1.0], [1.0, 0.0]]), np.zeros(2), "log")
    assert found.lower <= 2 * math.log(2) <= found.upper


@pytest.mark.parametrize(
    ("x", "loss", "sentence"),
    [
        (np.ones((2, 2)), "brier", "loss must be one of squared, absolute, log, got 'brier'"),
        (np.full((1, 2), math.nan), "squared", "without sleepers"),
        (np.zeros((1, 2)), "log", "every expert gave the outcome probability 0"),
    ],
)
def test_what_is_wrong_is_said(x, loss, sentence):
    with pytest.raises(SettingError, match=sentence):
        best_combination(x, np.zeros(len(x)), loss)
