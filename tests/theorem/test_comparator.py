"""The interval of the best comparator holds the optimum that a conic solver finds, for every loss, ball and ridge.

NOREGRET_THOROUGH=1 takes 30 problems a case with up to 2000 rounds instead of 2 with up to 300.
"""

import math
import os
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from noregret.loss import parse
from noregret.proof import enclose
from noregret.proof.facts import gradients
from noregret.proof.solve import best, least_l2, penalised, root, separator
from noregret.proof.theorems.linearised import linearised
from noregret.rounds import Rounds
from oracle.hindsight import (
    combination,
    conic,
    conic_losses,
    exact,
    hinge_dual_is_at_least,
    hinge_total,
    in_one_dimension,
    norm_at_most,
)

THOROUGH = os.environ.get("NOREGRET_THOROUGH") == "1"
PROBLEMS, MOST_ROUNDS = (30, 2000) if THOROUGH else (2, 300)
KINKED = ["hinge", "margin-hinge:0.5", "perceptron", "absolute", "pinball:0.8"]
SMOOTH = ["squared-hinge", "logistic", "squared", "huber:0.7"]
REGIONS = {"ball binds": (0.2, 0.0), "ball does not bind": (100.0, 0.0), "ridge": (math.inf, 0.01), "both": (0.2, 0.3)}


def problem(seed, regression, rounds=None, spread=1.0):
    """Noisy linear data with features of scales from 1/spread to spread."""
    rng = np.random.default_rng(seed)
    T = rounds or int(rng.integers(20, MOST_ROUNDS))
    d = int(rng.integers(1, 21))
    X = rng.normal(size=(T, d)) * np.exp(rng.uniform(-1, 1, d) * math.log(spread))
    score = X @ rng.normal(size=d)
    score += score.std() * rng.normal(size=T)
    return X, score if regression else np.where(score > 0, 1.0, -1.0)


@pytest.mark.parametrize("spec", KINKED + SMOOTH)
@pytest.mark.parametrize("region", REGIONS)
def test_the_optimum_lies_in_the_interval(spec, region):
    radius, sigma = REGIONS[region]
    loss = parse(spec)
    asked = 1e-6 if spec in SMOOTH else 1e-4
    for seed in range(PROBLEMS):
        X, y = problem(seed, loss.regression)
        weights = np.random.default_rng(seed).uniform(0.1, 3.0, len(y)) if seed % 2 else None
        found = best(Rounds(Rounds.of(X, y).rows, y, weights), loss, radius, sigma, gap=asked)
        optimum, off = conic(X, y, spec, radius, sigma, weights)
        assert found.finished
        assert found.gap <= asked
        assert found.lower - off <= optimum <= found.upper + off
        assert found.lower <= found.upper


@pytest.mark.parametrize("spec", KINKED + SMOOTH)
@pytest.mark.parametrize("radius", [0.05, 50.0])
def test_ill_conditioned_features_are_no_excuse(spec, radius):
    loss = parse(spec)
    for seed in range(PROBLEMS):
        X, y = problem(100 + seed, loss.regression, spread=1e3)
        rounds = Rounds.of(X, y)
        found = best(rounds, loss, radius, gap=1e-4)
        assert found.finished
        upper, lower = enclose.risk(rounds, loss, found.u).hi, enclose.dual(rounds, loss, found.alpha, radius).lo
        assert upper - lower <= 1e-4 * max(upper, 1.0)  # a conic solver gives up on some of these


SMALL_ROWS = st.lists(st.tuples(st.integers(-4, 4), st.sampled_from([-1.0, 1.0])), min_size=1, max_size=8)


@given(SMALL_ROWS, st.integers(1, 40))
def test_in_one_dimension_the_corners_tell(rows, tenths):
    x, y = np.array([float(a) for a, _ in rows]), np.array([b for _, b in rows])
    for spec in KINKED:
        optimum = in_one_dimension(x, y, spec, tenths / 10)
        found = best(Rounds.of(x[:, None], y), parse(spec), tenths / 10)
        assert found.finished
        assert found.lower <= optimum + 1e-12
        assert found.upper >= optimum - 1e-12


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("radius", [0.3, 7.0])
def test_every_end_is_proved_in_exact_arithmetic(seed, radius):
    """F(u) ≤ upper, ‖u‖ ≤ U and D(α) ≥ lower, all of them in fractions."""
    X, y = problem(seed, False, rounds=25)
    found = best(Rounds.of(X, y), parse("hinge"), radius)
    assert hinge_total(X, y, found.u) <= Fraction(found.upper)
    assert norm_at_most(exact(found.u), Fraction(radius))
    assert hinge_dual_is_at_least(X, y, found.alpha, radius, found.lower)
    nothing = hinge_dual_is_at_least(X, y, found.alpha, radius, math.nextafter(found.upper, math.inf))
    assert not nothing  # weak duality: no dual point exceeds what u loses


@given(st.integers(0, 2**32 - 1))
def test_no_dual_point_exceeds_any_comparator(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(7, 2)), rng.choice([-1.0, 1.0], 7)
    rounds, radius = Rounds.of(X, y), 1.5
    for spec in KINKED + SMOOTH:
        loss = parse(spec)
        alpha = enclose.clipped(loss, rng.normal(size=7), y)
        u = rng.normal(size=2)
        u *= radius * rng.random() / np.linalg.norm(u)
        assert enclose.dual(rounds, loss, alpha, radius).lo <= enclose.risk(rounds, loss, u).hi
        found = best(rounds, loss, radius)
        assert enclose.dual(rounds, loss, alpha, radius).lo <= found.upper
        assert found.lower <= enclose.risk(rounds, loss, u).hi


@pytest.mark.parametrize("spec", ["hinge", "logistic", "absolute", "squared"])
def test_more_features_than_a_matrix_can_hold(spec):
    """Dual coordinate descent and the subspace method, where the ball binds and where it does not."""
    loss = parse(spec)
    rng = np.random.default_rng(5)
    X = csr_matrix(rng.normal(size=(60, 2500)) * (rng.random((60, 2500)) < 0.02))
    y = rng.normal(size=60) if loss.regression else rng.choice([-1.0, 1.0], 60)
    for radius in (0.5, 50.0):
        found = best(Rounds.of(X, y), loss, radius)
        optimum, off = conic(X.toarray(), y, spec, radius)
        assert found.finished
        assert found.lower - off <= optimum <= found.upper + off


# -- the perceptron's comparators ----------------------------------------------------------------------------------


def labelled(seed, rounds, noise):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 3))
    score = X @ rng.normal(size=3)
    return X, np.where(score + noise * rng.normal(size=rounds) > 0, 1.0, -1.0)


def smallest(make, X):
    """min over v of an expression in v."""
    import cvxpy

    v = cvxpy.Variable(X.shape[1])
    return float(cvxpy.Problem(cvxpy.Minimize(make(v))).solve(solver=cvxpy.CLARABEL))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rho", [0.2, 3.0, 20.0])
def test_the_penalised_minimum_lies_in_its_interval(seed, rho):
    import cvxpy

    X, y = labelled(seed, 60, 1.0)
    found = penalised(Rounds.of(X, y), rho)
    optimum = smallest(lambda v: cvxpy.sum(conic_losses("hinge", X @ v, y)) + rho * cvxpy.norm(v), X)
    assert found.finished
    assert found.upper - found.lower <= 1e-6 * max(found.upper, 1.0)
    assert found.lower - 1e-6 * optimum <= optimum <= found.upper + 1e-6 * optimum


@pytest.mark.parametrize("seed", range(4))
def test_the_penalised_proof_is_exact(seed):
    X, y = labelled(seed, 20, 1.0)
    found = penalised(Rounds.of(X, y), 2.0)
    assert all(0 <= b <= 1 for b in exact(found.beta))
    assert norm_at_most(combination(X, found.beta * y), Fraction(2))
    assert Fraction(found.lower) <= sum(exact(found.beta))
    room = Fraction(found.upper) - hinge_total(X, y, found.v)
    assert norm_at_most([2 * x for x in exact(found.v)], room)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_the_order_free_bound_is_near_its_infimum(seed, noise):
    """Q(c, b) ≤ q exactly if c + b√q ≤ q, so that the infimum is where min Σh + √q·r‖v‖ = q."""
    import cvxpy

    X, y = labelled(seed, 40, noise)
    found, r = root(Rounds.of(X, y)), np.linalg.norm(X, axis=1).max()
    assert found.finished
    for q, sign in ((found.upper, 1), (found.lower, -1)):
        s = math.sqrt(q * (1 + sign * 1e-5))
        optimum = smallest(lambda v, s=s: cvxpy.sum(conic_losses("hinge", X @ v, y)) + s * r * cvxpy.norm(v), X)
        assert sign * (s * s - optimum) >= -1e-6


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_the_l2_bound_is_near_its_infimum(seed, noise):
    import cvxpy

    X, y = labelled(seed, 40, noise)
    found, r = least_l2(Rounds.of(X, y)), np.linalg.norm(X, axis=1).max()
    optimum = smallest(lambda v: r * cvxpy.norm(v) + cvxpy.norm(conic_losses("hinge", X @ v, y)), X) ** 2
    assert found.finished
    assert found.lower - 1e-5 <= optimum <= found.upper + 1e-5


@pytest.mark.parametrize("seed", range(4))
def test_a_separator_separates_and_none_is_shorter(seed):
    import cvxpy

    X, y = labelled(seed, 50, 0.0)
    found = separator(Rounds.of(X, y))
    u = exact(found.u)
    for row, label in zip(X, y, strict=True):
        assert Fraction(label) * sum(a * b for a, b in zip(exact(row), u, strict=True)) >= 1
    assert found.upper <= found.lower * (1 + 1e-6)
    v = cvxpy.Variable(3)
    task = cvxpy.Problem(cvxpy.Minimize(cvxpy.norm(v)), [cvxpy.multiply(y, X @ v) >= 1])
    shortest = task.solve(solver=cvxpy.CLARABEL)
    assert found.lower * (1 - 1e-6) <= shortest <= found.upper * (1 + 1e-6)
    assert sum(exact(found.weights)) == pytest.approx(1.0, rel=1e-12)


def test_noisy_labels_have_no_separator():
    X, y = labelled(0, 200, 1.0)
    assert separator(Rounds.of(X, y)) is None
    assert separator(Rounds.of(np.vstack([X, X[:1]]), np.append(y, -y[0]))) is None


@pytest.mark.parametrize("spec", KINKED + SMOOTH)
def test_the_linearised_bound_is_never_below_the_regret(spec):
    loss = parse(spec)
    X, y = problem(8, loss.regression, rounds=30)
    scores = np.random.default_rng(8).normal(size=30)
    rounds = Rounds(Rounds.of(X, y).rows, y, scores=scores)
    found = gradients.plain(rounds, loss, enclose.row_norms2(rounds))
    bound = linearised(found.sum_dot_weights, found.norm_of_sum, 0.5)
    assert bound.lo <= bound.hi
    assert math.fsum(loss.values(scores, y)) - best(rounds, loss, 0.5).upper <= bound.hi
