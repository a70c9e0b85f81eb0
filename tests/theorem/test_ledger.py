"""Ledgers: no comparator does better than they allow, parts add up, and every sum lies where it is claimed to lie."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import minimize

from noregret._native import enter_columns, enter_norms
from noregret.interval import Interval
from noregret.loss import custom, parse
from noregret.proof.facts.ledger import LedgerFacts, Measured, lost_by, measured, together
from noregret.proof.ledger import theorems_of
from noregret.rounds import Rounds, as_sparse
from noregret.stream.block import Dense
from noregret.watch.ledger import Tally, joined
from oracle.ledger import distance, holds, ledger
from oracle.rows import dec

CLASSIFY = ("hinge", "logistic", "squared-hinge", "exponential")
REGRESS = ("absolute", "squared", "huber:0.5")
LOSSES = (*CLASSIFY, *REGRESS)


def rounds_of(rng, loss, plays, most=12, columns=3):
    n, d = int(rng.integers(1, most)), int(rng.integers(1, columns + 1))
    X = rng.normal(size=(n, d))
    y = rng.normal(size=n) if loss.regression else rng.choice([-1.0, 1.0], size=n)
    z = {"random": rng.normal(size=n), "linear": X @ rng.normal(size=d), "zero": np.zeros(n)}[plays]
    weights = rng.choice([0.0, 1.0, 2.0, rng.uniform(0, 2)], size=n) if rng.random() < 0.5 else None
    return X, y, z, weights


def tallied(loss, X, y, z, weights=None, bias=False):
    tally = Tally(loss, bias)
    tally.add(Dense(X), y, weights, z)
    return tally.ledger()


def lost(loss, X, y, u, weights):
    values = loss.values(X @ u, y)
    return float(np.dot(values, np.ones(len(y)) if weights is None else weights))


def comparators(rng, domain, d, U, G):
    """Members of a domain: random ones, corners, and the one that lies farthest against G."""
    if domain == "ball":
        some = rng.normal(size=(4, d))
        some = some / np.linalg.norm(some, axis=1, keepdims=True) * U * rng.random((4, 1))
        return [*some, -U * G / max(np.linalg.norm(G), 1e-300), np.zeros(d)]
    if domain == "box":
        return [*rng.uniform(-U, U, size=(4, d)), -U * np.sign(G)]
    corners = U * np.eye(d)
    if domain == "cross":
        return [*corners, *-corners, *(rng.dirichlet(np.ones(d), 3) * rng.choice([-U, U], size=(3, d)))]
    return [*corners, *(U * rng.dirichlet(np.ones(d), 3))]


def searched(loss, X, y, weights, U):
    """The loss of the best comparator of the ball that a search finds."""

    def risk(v):
        return lost(loss, X, y, v * min(1.0, U / max(np.linalg.norm(v), 1e-300)), weights)

    return minimize(risk, np.zeros(X.shape[1]), method="Nelder-Mead").fun


@pytest.mark.parametrize("plays", ["random", "linear", "zero"])
@pytest.mark.parametrize("name", LOSSES)
def test_no_comparator_gains_more_than_the_certificate(name, plays):
    """Near 2 000 streams in all, four domains each; comparators that a search finds are among them."""
    loss, rng = parse(name), np.random.default_rng([LOSSES.index(name), len(plays)])
    for trial in range(95):
        X, y, z, weights = rounds_of(rng, loss, plays)
        found, U = tallied(loss, X, y, z, weights), float(rng.choice([0.3, 2.0]))
        own = float(np.dot(loss.values(z, y), np.ones(len(y)) if weights is None else weights))
        slack = 1e-12 * (1.0 + abs(own))
        G = np.zeros(X.shape[1]) if not len(found.G) else found.G
        for domain in ("ball", "box", "cross", "simplex"):
            bound = getattr(found, domain)(U).hi
            for u in comparators(rng, domain, X.shape[1], U, G):
                size = lost(loss, X, y, u, weights)
                assert own - size <= bound + slack + 1e-12 * size, (domain, u)
        if trial % 10 == 0:
            least = searched(loss, X, y, weights, U)
            assert own - least <= found.ball(U).hi + slack
            assert found.best_at_least(U) <= least + slack
        inside = X @ comparators(rng, "ball", X.shape[1], U, G)[0]
        c = float(rng.uniform(-1, 1))
        gained = own - float(
            np.dot(loss.values((1.0 + c) * z + inside, y), np.ones(len(y)) if weights is None else weights)
        )
        assert gained <= found.corrected(U, 1.0).hi + slack
        if found.beaten is not None and 0.0 < found.beaten < math.inf:
            u = comparators(rng, "ball", X.shape[1], found.beaten * (1 - 1e-9), G)[4]
            assert own <= lost(loss, X, y, u, weights) + slack


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_sums_lie_where_they_are_claimed_to(name, scale):
    """Against exact fractions: all scales, cancellation, weights, dense and sparse rows, by rows and by columns."""
    loss, rng = parse(name), np.random.default_rng([LOSSES.index(name), int(scale > 1), int(scale < 1)])
    exact = (loss.name, Fraction(loss.number))
    for trial in range(12):
        X, y, z, weights = rounds_of(rng, loss, "random", most=20)
        X = X * scale * 10.0 ** rng.integers(-8, 8, size=X.shape[1])
        bias = bool(trial % 2)
        if trial % 3 == 0:  # every term comes twice, with both signs
            X, y, z = np.vstack([X, -X]), np.tile(y, 2), np.tile(z, 2)
            weights = None if weights is None else np.tile(weights, 2)
        truth = ledger(exact, X, y, z, weights, bias)
        for found in sums(loss, X, y, z, weights, bias):
            assert found.rounds == truth.rounds
            assert holds(found.loss, truth.loss)
            assert holds(found.paid, truth.paid)
            off = found.off(found.G) if isinstance(found, Measured) else found.error
            assert distance(found.G, truth.G) <= dec(Fraction(off))
            assert dec(Fraction(found.norms)) >= truth.norms * (1 - Decimal("1e-14"))
            assert dec(Fraction(found.sizes)) >= dec(truth.sizes) * (1 - Decimal("1e-14"))
            assert dec(Fraction(found.ball(2.0).hi)) >= truth.bound(2.0)
            size = dec(truth.sizes) + 2 * truth.norms
            assert dec(Fraction(found.ball(2.0).hi)) - truth.bound(2.0) <= size * Decimal("1e-11") + Decimal("1e-280")


def sums(loss, X, y, z, weights, bias):
    """The ledger by dense rows, by sparse rows, by columns, and as a verifier sums it."""
    yield tallied(loss, X, y, z, weights, bias)
    tally = Tally(loss, bias)
    tally.add(as_sparse(Dense(X)), y, weights, z)
    tally.widen(X.shape[1])
    yield tally.ledger()
    yield by_columns(loss, X, y, z, weights, bias)
    there = np.ones(len(y), bool) if weights is None else weights != 0.0
    some = None if weights is None else weights[there]
    rows = np.hstack([np.ones((len(y), int(bias))), X])[there]
    if len(rows):
        yield measured(Rounds(Dense(rows), y[there], some, z[there], bias), loss)


def by_columns(loss, X, y, z, weights, bias):
    tally = Tally(loss, bias)
    taken, squares = tally.enter(y, weights, z), np.full(len(y), float(bias))
    tally.widen(X.shape[1])
    for start in range(0, X.shape[1], 2):
        columns = [np.ascontiguousarray(X[:, j]) for j in range(start, min(start + 2, X.shape[1]))]
        enter_columns(columns, taken, squares, tally.G[start : start + 2])
    assert enter_norms(taken, squares, tally.sums)
    return tally.ledger()


@pytest.mark.parametrize("name", LOSSES)
def test_parts_add_up(name):
    loss, rng = parse(name), np.random.default_rng(LOSSES.index(name))
    for _ in range(40):
        X, y, z, weights = rounds_of(rng, loss, "random", most=30)
        cut = int(rng.integers(0, len(y) + 1))
        pieces = [(a, b) for a, b in ((0, cut), (cut, len(y))) if b > a]
        halves = [tallied(loss, X[a:b], y[a:b], z[a:b], None if weights is None else weights[a:b]) for a, b in pieces]
        whole, both = tallied(loss, X, y, z, weights), joined(halves)
        assert both.rounds == whole.rounds
        for mine, theirs in ((both.loss, whole.loss), (both.paid, whole.paid), (both.ball(1.0), whole.ball(1.0))):
            assert mine.lo <= theirs.hi
            assert theirs.lo <= mine.hi
        assert np.linalg.norm(both.G - whole.G) <= both.error + whole.error
        each = sum((one.ball(1.0) for one in halves), Interval.of(0.0))
        assert both.ball(1.0).lo <= each.hi


def test_parts_that_are_measured_add_up_in_the_same_place():
    loss, rng = parse("logistic"), np.random.default_rng(4)
    X, y, z = 1e6 * rng.normal(size=(60, 3)), rng.choice([-1.0, 1.0], size=60), rng.normal(size=60)
    parts = [measured(Rounds(Dense(X[a : a + 20]), y[a : a + 20], None, z[a : a + 20]), loss) for a in (0, 20, 40)]
    truth = ledger(("logistic", Fraction(0)), X, y, z)
    found = together(parts)
    assert holds(found.paid, truth.paid)
    assert distance(found.G, truth.G) <= dec(Fraction(found.off(found.G)))
    assert found.norm.lo <= math.sqrt(sum(float(g) ** 2 for g in truth.G)) * (1 + 1e-15)


GOLDEN = {  # made by an independent program in 60 digits; weights, and a split after the third row
    "logistic": (
        [
            [1.5, -0.25, -1.5],
            [-1.5, -0.25, 0],
            [1.875, 0.75, -1.375],
            [-1.25, -1, 0.5],
            [-2, -0.125, -2],
            [-0.75, 0, 0.75],
        ],
        [-1, -1, 1, 1, 1, -1],
        [-0.25, 0.125, -1.5, 1.875, 1.125, -0.375],
        [1, 1, 1, 2, 2, 1],
        1.0,
        {
            "loss": 4.405725385026438,
            "paid": -0.01950019412328534,
            "ball": 1.8101692435852894,
            "box": 2.794825017189049,
            "cross": 1.6008053243377771,
            "simplex": 0.6462801571395158,
            "norms": 6.006196185341393,
        },
        0.010657768950716484,
    ),
    "absolute": (
        [
            [1.25, -0.75, -1.125],
            [1.25, 2, -0.625],
            [-1.125, 0.375, -2],
            [-1.625, 1.375, -1.75],
            [0.125, 1.125, -0.5],
            [1.625, -0.25, -1.75],
        ],
        [-1.125, -0.875, -1.5, -0.75, -0.875, 1.0],
        [-0.125, 0.125, 2.0, -1.0, -1.5, 0.875],
        [2, 0, 2, 1, 0, 0],
        3.0,
        {
            "loss": 9.25,
            "paid": 4.75,
            "ball": 20.704035539636987,
            "box": 30.25,
            "cross": 18.25,
            "simplex": 9.25,
            "norms": 11.088674735729702,
        },
        None,
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_numbers(name):
    X, y, z, weights, U, expected, beaten = GOLDEN[name]
    found = tallied(parse(name), *(np.array(one, dtype=float) for one in (X, y, z, weights)))
    seen = {"loss": found.loss.hi, "paid": found.paid.hi, "norms": found.norms}
    domains = {"ball": U, "box": U, "cross": U, "simplex": 1.0}
    seen |= {domain: getattr(found, domain)(radius).hi for domain, radius in domains.items()}
    for key, value in expected.items():
        assert seen[key] == pytest.approx(value, rel=1e-12, abs=1e-13), key
    assert found.beaten == (None if beaten is None else pytest.approx(beaten, rel=1e-12))


def test_it_is_attained():
    found = tallied(parse("absolute"), np.ones((1, 1)), np.array([5.0]), np.array([0.0]))
    assert found.ball(1.0).holds(1.0)  # the comparator 1 loses 4, the score 0 lost 5


# -- the edges of the floats -------------------------------------------------------------------------------------------


def test_a_slope_without_its_digits_claims_nothing():
    """k = 1e-10, s = 1e-313: fl(k·s) is 0 or has lost its digits, and z = 1e300 would show it."""
    loss = custom(lambda z, y: 1e-313 * z, lambda z, y: 1e-313, name="faint")
    found = tallied(loss, np.ones((1, 1)), np.array([1.0]), np.array([1e300]), np.array([1e-10]))
    assert not found.sound
    assert found.ball(1.0).hi == math.inf
    assert not (found + found).sound


def test_infinite_scores_cost_nothing_or_everything():
    loss = parse("logistic")
    right = tallied(loss, np.ones((2, 1)), np.array([1.0, -1.0]), np.array([math.inf, -math.inf]))
    assert (right.infinite, right.ball(1.0).lo <= 0.0 <= right.ball(1.0).hi) == (0, True)
    wrong = tallied(loss, np.ones((1, 1)), np.array([1.0]), np.array([-math.inf]))
    assert (wrong.infinite, wrong.ball(1.0).hi, wrong.beaten) == (1, math.inf, None)
    numbers = tallied(parse("absolute"), np.ones((1, 1)), np.array([1.0]), np.array([math.inf]))
    assert (numbers.infinite, numbers.ball(1.0).hi) == (1, math.inf)


def test_scores_that_are_not_there_and_weights_of_0_are_no_rounds():
    found = tallied(
        parse("hinge"), np.ones((3, 1)), np.ones(3), np.array([math.nan, 0.0, 0.0]), np.array([1.0, 0.0, 1.0])
    )
    assert (found.rounds, found.G.tolist()) == (1, [-1.0])


def test_numbers_that_overflow_claim_nothing_that_is_false():
    found = tallied(parse("squared"), np.full((2, 1), 1e200), np.zeros(2), np.array([1e200, 1e200]))
    assert found.ball(1.0).hi == math.inf
    large = tallied(parse("hinge"), np.full((2, 1), 1e200), np.array([1.0, -1.0]), np.zeros(2))
    assert large.ball(1.0).hi >= 0.0
    assert not enter_norms(np.ones(1), np.array([math.inf]), np.zeros(9))


def test_tiny_features_are_in_the_norms():
    X = np.full((3, 2), 1e-200)  # whose squares vanish
    found = tallied(parse("hinge"), X, np.ones(3), np.zeros(3))
    assert found.norms >= 3.0 * math.sqrt(2.0) * 1e-200
    assert found.ball(1.0).hi >= 3.0 * math.sqrt(2.0) * 1e-200


def test_rows_grow_wider():
    tally = Tally(parse("hinge"))
    tally.add(Dense(np.ones((1, 1))), np.ones(1), None, np.zeros(1))
    tally.add(Dense(np.ones((1, 3))), np.ones(1), None, np.zeros(1))
    assert tally.ledger().G.tolist() == [-2.0, -1.0, -1.0]
    wide = tallied(parse("hinge"), np.ones((1, 3)), np.ones(1), np.zeros(1))
    assert (tally.ledger() + tallied(parse("hinge"), np.ones((1, 1)), np.ones(1), np.zeros(1)) + wide).G.tolist() == [
        -4,
        -2,
        -2,
    ]


def test_an_own_loss_below_0():
    loss = custom(lambda z, y: -y * z, lambda z, y: -y, name="linear")
    found = tallied(loss, np.ones((2, 1)), np.array([1.0, 1.0]), np.array([0.5, 0.5]))
    assert found.loss.holds(-1.0)
    assert found.ball(3.0).holds(5.0)  # u = 3 loses −6
    assert found.best_at_least(3.0) <= -6.0 + 1e-12


def test_sparse_and_dense_rows_have_the_same_sums():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 6)) * (rng.random((50, 6)) < 0.4)
    y, z = rng.choice([-1.0, 1.0], size=50), rng.normal(size=50)
    sparse = scipy.sparse.csr_matrix(X)
    rows = Rounds.of(sparse, y).rows
    tally = Tally(parse("logistic"), True)
    tally.add(rows, y, None, z)
    dense = tallied(parse("logistic"), X, y, z, None, True)
    assert np.allclose(tally.ledger().G, dense.G, rtol=1e-13, atol=1e-13)
    assert tally.ledger().paid == dense.paid


def test_a_receipt_has_all_theorems():
    rng, loss = np.random.default_rng(7), parse("logistic")
    X, y, z = rng.normal(size=(40, 2)), rng.choice([-1.0, 1.0], size=40), rng.normal(size=40)
    parts = tuple(tallied(loss, X[a : a + 20], y[a : a + 20], z[a : a + 20]) for a in (0, 20))
    facts = LedgerFacts(parts, loss, 1.0, lost_by(parts))
    found = {one.name: one(facts).bound for one in theorems_of(facts)}
    assert list(found) == ["ledger-ball", "ledger-box", "ledger-l1", "ledger-correction", "ledger-parts"]
    assert found["ledger-l1"] <= found["ledger-ball"] <= found["ledger-box"]
    assert found["ledger-ball"] <= min(found["ledger-parts"], found["ledger-correction"])
    assert len(theorems_of(LedgerFacts(parts[:1], loss, 1.0, math.inf))) == 4
