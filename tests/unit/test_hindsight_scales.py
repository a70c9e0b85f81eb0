"""Columns of very different sizes, and rows at the ends of what a float can hold."""

import math

import numpy as np
import pytest

from noregret.errors import InputError
from noregret.loss import parse
from noregret.proof import enclose
from noregret.proof.solve import best, least_l2, penalised, root
from noregret.proof.solve.multiclass import comparators
from noregret.rounds import Rounds

SPECS = [
    "hinge",
    "margin-hinge:0.5",
    "perceptron",
    "absolute",
    "pinball:0.8",
    "squared-hinge",
    "logistic",
    "exponential",
    "squared",
    "huber:0.7",
]


def people(bias=True, rounds=400, seed=0):
    """Incomes, ages, fractions, a yes or no, heights, years; and a score that all but the last take part in."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.lognormal(10.8, 0.4, rounds),
            rng.normal(40.0, 12.0, rounds),
            rng.random(rounds),
            rng.integers(0, 2, rounds),
            rng.normal(170.0, 10.0, rounds),
            rng.normal(2000.0, 700.0, rounds),
        ]
    )
    score = (X - X.mean(0)) / X.std(0) @ [1.0, -0.7, 0.8, 0.5, 0.3, 0.0] + rng.normal(size=rounds)
    return (np.column_stack([np.ones(rounds), X]) if bias else X), score


def ugly(seed):
    """Columns of sizes from a thousandth to a million: shifted, correlated, constant, twice; rows of zeros."""
    rng = np.random.default_rng(seed)
    rounds, features = (round(math.exp(rng.uniform(math.log(5), math.log(top)))) for top in (1000, 40))
    Z = rng.normal(size=(rounds, features))
    if seed % 2:
        Z = Z @ (rng.normal(size=(features, features)) * 0.3 ** np.arange(features) + 0.05 * np.eye(features))
    Z += 3.0 * rng.normal(size=features) * (rng.random(features) < 0.5)
    if features > 3:
        Z[:, 0], Z[:, 1] = 1.0, Z[:, 2]
    score = Z @ (rng.normal(size=features) * (rng.random(features) < 0.6)) + rng.normal(size=rounds)
    X = Z * 10.0 ** rng.uniform(-3.0, 6.0, features)
    X[rng.random(rounds) < 0.05] = 0.0
    return X, score, 10.0 ** rng.uniform(-1.0, 2.0), rng.choice([0.0, 0.0, 1e-3, 0.1])


def labels(score, loss):
    return 100.0 * score if loss.regression else np.where(score > 0.0, 1.0, -1.0)


def sound(rounds, loss, found):
    """Both ends are what the enclosures say at the points handed back."""
    assert enclose.risk(rounds, loss, found.u, found.sigma).hi == found.upper
    assert enclose.dual(rounds, loss, found.alpha, found.radius, found.sigma).lo == found.lower
    assert enclose.norm(found.u).hi <= found.radius
    return found


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("radius", [1.0, 10.0, 100.0])
@pytest.mark.parametrize("bias", [False, True])
def test_incomes_ages_and_fractions_are_solved_as_they_are(spec, radius, bias):
    X, score = people(bias)
    loss = parse(spec)
    rounds = Rounds.of(X, labels(score, loss))
    assert sound(rounds, loss, best(rounds, loss, radius)).finished


@pytest.mark.parametrize("seed", range(60))
def test_ugly_columns_are_solved_to_the_gap(seed):
    X, score, radius, sigma = ugly(seed)
    loss = parse(SPECS[seed % len(SPECS)])
    rounds = Rounds.of(X, labels(score, loss))
    found = sound(rounds, loss, best(rounds, loss, radius, sigma))
    assert found.finished
    assert found.gap <= 1e-4


@pytest.mark.parametrize("spec", ["hinge", "absolute", "squared", "huber:0.7", "logistic"])
def test_a_conic_solver_finds_nothing_outside(spec):
    import cvxpy as cp

    X, score = people(rounds=120)
    loss, size = parse(spec), np.abs(X).max(0)
    y = labels(score, loss) / (100.0 if loss.regression else 1.0)
    found = best(Rounds.of(X, y), loss, 10.0)
    v = cp.Variable(X.shape[1])
    z = (X / size) @ v
    total = {
        "hinge": lambda: cp.sum(cp.pos(1 - cp.multiply(y, z))),
        "absolute": lambda: cp.norm1(z - y),
        "squared": lambda: cp.sum_squares(z - y),
        "huber": lambda: 0.5 * cp.sum(cp.huber(z - y, 0.7)),
        "logistic": lambda: cp.sum(cp.logistic(-cp.multiply(y, z))),
    }[loss.name]()
    cp.Problem(cp.Minimize(total), [cp.norm(cp.multiply(1.0 / size, v)) <= 10.0]).solve(cp.CLARABEL)
    assert v.value is not None
    u = v.value / size
    u *= min(1.0, 10.0 / float(np.linalg.norm(u)))
    reached = math.fsum(loss.values(X @ u, y))
    assert found.lower <= reached
    assert reached == pytest.approx(found.upper, rel=1e-3)


def test_a_norm_penalty_over_incomes_and_fractions_is_solved():
    X, score = people()
    rounds = Rounds.of(X, np.where(score > 0.0, 1.0, -1.0))
    for rho in (1e-3, 1.0, 1e3):
        assert penalised(rounds, rho, gap=1e-5).finished
    assert root(rounds, gap=1e-4).finished


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300, 1e307])
def test_rows_at_the_ends_of_floating_point_have_an_interval(spec, scale):
    rng = np.random.default_rng(3)
    X, loss = rng.normal(size=(40, 4)), parse(spec)
    rounds = Rounds.of(scale * X, np.where(X @ rng.normal(size=4) + rng.normal(size=40) > 0.0, 1.0, -1.0))
    for radius in (10.0, max(min(1.0 / scale, 1e300), 1e-300)):
        found = sound(rounds, loss, best(rounds, loss, radius))
        assert 0.0 <= found.lower <= found.upper < math.inf
        assert found.upper <= enclose.risk(rounds, loss, np.zeros(4)).hi


@pytest.mark.filterwarnings("error")
def test_large_rows_with_a_small_ball_are_solved_to_the_gap():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 4))
    rounds = Rounds.of(1e300 * X, np.where(X @ rng.normal(size=4) + rng.normal(size=40) > 0.0, 1.0, -1.0))
    assert best(rounds, parse("hinge"), 1e-300).finished
    assert best(rounds, parse("hinge"), math.inf, 1.0).upper <= 40.0
    assert root(rounds).upper == least_l2(rounds).upper == 40.0


@pytest.mark.filterwarnings("error")
def test_labels_whose_loss_overflows_are_one_sentence():
    rounds = Rounds.of(np.ones((3, 2)), [1e300, -1e300, 1e200])
    with pytest.raises(InputError, match="the labels are too large for the squared loss"):
        best(rounds, parse("squared"), 1.0)
    assert best(rounds, parse("absolute"), 1.0).finished


@pytest.mark.parametrize("sparse", [False, True])
def test_scores_and_sums_of_rows_too_large_to_be_taken_apart_are_enclosed(sparse):
    from fractions import Fraction

    from scipy.sparse import csr_matrix

    X, u = np.array([[3e305, 1.0], [2.0**1000, -(2.0**1000)]]), np.array([1e-300, 0.3])
    rounds = Rounds.of(csr_matrix(X) if sparse else X, [1.0, -1.0])
    low, high = enclose.margins(rounds, u)
    for t in range(2):
        exact = sum(Fraction(a) * Fraction(b) for a, b in zip(u, X[t], strict=True))
        assert Fraction(low[t]) <= exact <= Fraction(high[t])
        assert high[t] - low[t] <= 4e-15 * abs(high[t])
    low, high = enclose.combined(rounds, u)
    for j in range(2):
        exact = sum(Fraction(a) * Fraction(b) for a, b in zip(u, X[:, j], strict=True))
        assert Fraction(low[j]) <= exact <= Fraction(high[j])


@pytest.mark.parametrize("seed", range(3))
def test_comparators_of_many_classes_use_small_columns_too(seed):
    """Descent in columns as they are ends at 507, 448 and 600, the last being the origin."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(600, 8))
    y = np.argmax(Z @ rng.normal(size=(8, 4)) + 0.3 * rng.normal(size=(600, 4)), axis=1)
    X = np.column_stack([np.ones(600), Z * 10.0 ** rng.uniform(-3.0, 4.0, 8)])
    r = float(np.linalg.norm(X, axis=1).max())
    V = comparators(Rounds.of(X, y), 4, {"small": 0.001 * r}, r, 60.0)["V_small"].reshape(4, 9)
    scores = X @ V.T
    own = scores[np.arange(600), y].copy()
    scores[np.arange(600), y] = -np.inf
    reached = np.maximum(1.0 - own + scores.max(axis=1), 0.0).sum() + 0.001 * r * np.linalg.norm(V)
    assert reached < (485.0, 300.0, 570.0)[seed]
