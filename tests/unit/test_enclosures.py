"""Outward arithmetic: the exact value, computed in rationals, lies inside, and the ends are close."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from noregret.errors import InputError, SettingError
from noregret.interval import Interval, largest, least, total
from noregret.loss import parse
from noregret.proof import enclose
from noregret.proof.exact import dual_is_at_least, risk_is_at_most
from noregret.rounds import Gathering, Rounds
from noregret.stream.block import Dense, Sparse

FAST = settings(deadline=None, max_examples=150)
plain = st.floats(-1e6, 1e6)
any_size = st.one_of(plain, st.floats(-1e100, 1e100), st.sampled_from([0.0, 1e16, -1e16, 1.0, 5e-324, 1e-200]))
LOSSES = [
    "hinge",
    "margin-hinge:0.3",
    "squared-hinge",
    "perceptron",
    "squared",
    "absolute",
    "huber:0.5",
    "pinball:0.9",
]


def inside(value, interval):
    low = math.isinf(interval.lo) or Fraction(interval.lo) <= value
    return low and (math.isinf(interval.hi) or value <= Fraction(interval.hi))


@FAST
@given(any_size, any_size)
def test_every_operation_encloses_the_exact_result(a, b):
    x, y = Interval.of(a), Interval.of(b)
    A, B = Fraction(a), Fraction(b)
    assert inside(A + B, x + y)
    assert inside(A - B, x - y)
    assert inside(A * B, x * y)
    assert inside(A * A, x.square())
    assert inside(max(A, B), largest(x, y))
    assert inside(min(A, B), least(x, y))
    if b:
        assert inside(A / B, x / y)
    root = x.positive().sqrt()
    assert Fraction(root.lo) ** 2 <= max(A, 0) <= Fraction(root.hi) ** 2


@FAST
@given(st.floats(1e-300, 1e300))
def test_the_logarithm_is_within_a_few_units(a):
    found = Interval.of(a).log()
    assert found.lo <= math.log(a) <= found.hi
    assert found.hi - found.lo <= 1e-14 * max(abs(math.log(a)), 1e-300) + 1e-300


def test_dividing_by_what_may_be_0_says_nothing():
    assert Interval.of(1.0) / Interval(-1.0, 1.0) == Interval(-math.inf, math.inf)


@FAST
@given(st.lists(any_size, max_size=20))
def test_a_total_encloses_the_exact_sum_and_is_exact_where_it_can_be(values):
    found = total(np.array(values), np.array(values))
    exact = sum(map(Fraction, values), Fraction(0))
    assert inside(exact, found)
    if all(value == int(value) and abs(value) < 1e6 for value in values):
        assert found.lo == found.hi == float(exact)


@FAST
@given(st.lists(any_size, min_size=1, max_size=8))
def test_a_norm_encloses_the_exact_one_and_is_close(values):
    found = enclose.norm(np.array(values))
    exact = sum((Fraction(value) ** 2 for value in values), Fraction(0))
    assert Fraction(found.lo) ** 2 <= exact <= (Fraction(found.hi) ** 2 if math.isfinite(found.hi) else exact)
    if max(map(abs, values)) > 1e-300:
        assert found.hi <= found.lo * (1.0 + 1e-14)


def test_norms_at_the_ends_of_the_range():
    for value in (1e308, 5e-324, 1e-310):
        found = enclose.norm(np.array([value, value]))
        assert Fraction(found.lo) ** 2 <= 2 * Fraction(value) ** 2 <= Fraction(found.hi) ** 2


matrices = st.integers(1, 4).flatmap(
    lambda d: st.lists(st.lists(any_size, min_size=d, max_size=d), min_size=1, max_size=5)
)


def both_layouts(X, y):
    return Rounds.of(np.array(X), y), Rounds.of(scipy.sparse.csr_matrix(np.array(X)), y)


@FAST
@given(matrices, st.data())
def test_margins_and_combinations_enclose_the_exact_ones_in_both_layouts(X, data):
    u = data.draw(st.lists(any_size, min_size=len(X[0]), max_size=len(X[0])))
    alpha = data.draw(st.lists(plain, min_size=len(X), max_size=len(X)))
    y = np.ones(len(X))
    for rounds in both_layouts(X, y):
        low, high = enclose.margins(rounds, np.array(u))
        for t, row in enumerate(X):
            exact = sum((Fraction(a) * Fraction(b) for a, b in zip(u, row, strict=True)), Fraction(0))
            assert inside(exact, Interval(low[t], high[t]))
        low, high = enclose.combined(rounds, np.array(alpha))
        for j in range(len(X[0])):
            exact = sum((Fraction(a) * Fraction(row[j]) for a, row in zip(alpha, X, strict=True)), Fraction(0))
            assert inside(exact, Interval(low[j], high[j]))


def test_cancellation_leaves_the_exact_dot_product():
    rounds = Rounds.of(np.array([[1.0, 1.0, 1.0]]), [1.0])
    low, high = enclose.margins(rounds, np.array([1e16, 1.0, -1e16]))
    assert low[0] == high[0] == 1.0


small = st.floats(-8.0, 8.0).map(lambda x: round(x, 3))


@pytest.mark.parametrize("name", LOSSES)
@FAST
@given(st.data())
def test_risk_and_dual_enclose_what_rationals_give(name, data):
    loss = parse(name)
    d = data.draw(st.integers(1, 3))
    rows = data.draw(st.lists(st.lists(small, min_size=d, max_size=d), min_size=1, max_size=6))
    labels = small if loss.regression else st.sampled_from([-1.0, 1.0])
    y = np.array(data.draw(st.lists(labels, min_size=len(rows), max_size=len(rows))))
    u = np.array(data.draw(st.lists(small, min_size=d, max_size=d)))
    guess = np.array(data.draw(st.lists(st.floats(-1.0, 1.0), min_size=len(rows), max_size=len(rows))))
    weights = data.draw(st.sampled_from([None, 0.3, 7.0]))
    alpha = enclose.clipped(loss, guess, y)
    for rounds in both_layouts(rows, y):
        rounds = Rounds(rounds.rows, rounds.y, None if weights is None else np.full(len(y), weights))
        for sigma in (0.0, 0.7):
            above = enclose.risk(rounds, loss, u, sigma)
            assert risk_is_at_most(rounds, loss, u, sigma, above.hi)
            assert not risk_is_at_most(rounds, loss, u, sigma, above.lo - 1e-9)
            assert above.hi - above.lo <= 1e-11 * max(above.hi, 1.0)
        below = enclose.dual(rounds, loss, alpha, 2.5)
        assert below.lo == 0.0 or dual_is_at_least(rounds, loss, alpha, 2.5, 0.0, below.lo)
        assert not dual_is_at_least(rounds, loss, alpha, 2.5, 0.0, below.hi + 1e-9)
        assert below.lo <= above.hi or float(np.linalg.norm(u)) > 2.5
        ridge = enclose.dual(rounds, loss, alpha, math.inf, 0.7)
        assert ridge.lo == 0.0 or dual_is_at_least(rounds, loss, alpha, math.inf, 0.7, ridge.lo)
        assert ridge.lo <= enclose.risk(rounds, loss, u, 0.7).hi, "weak duality"


@FAST
@given(st.floats(0.0, 10.0), st.floats(0.1, 5.0), st.floats(0.01, 5.0))
def test_the_support_of_a_ball_with_a_regulariser_is_the_largest_value(a, radius, ridge):
    found = enclose.support(Interval.of(a), radius, ridge)
    sizes = np.linspace(0.0, radius, 2001)
    assert float((a * sizes - 0.5 * ridge * sizes**2).max()) <= found.hi + 1e-12
    best = min(a / ridge, radius)
    assert found.lo <= a * best - 0.5 * ridge * best * best + 1e-12


@pytest.mark.parametrize(
    ("name", "alpha"), [("hinge", 0.5), ("hinge", -1.1), ("absolute", 1.0000001), ("pinball:0.9", 0.2)]
)
def test_points_outside_the_dual_domain_are_refused(name, alpha):
    rounds = Rounds.of(np.array([[1.0]]), [1.0])
    with pytest.raises(SettingError, match="a dual point lies outside its domain"):
        enclose.dual(rounds, parse(name), np.array([alpha]), 1.0)


@pytest.mark.parametrize("margin", [0.1, 0.3, 3.0, 7.0, 1e-3])
def test_the_ends_of_the_dual_domain_are_inside_it_exactly(margin):
    loss, y = parse(f"margin-hinge:{margin}"), np.array([1.0, -1.0])
    ends = enclose.clipped(loss, np.array([-1e9, 1e9]), y)
    assert abs(Fraction(ends[0])) * Fraction(margin) <= 1
    assert abs(Fraction(math.nextafter(ends[1], math.inf))) * Fraction(margin) > 1


def gathered(blocks, bias):
    with Gathering(bias) as gathering:
        for rows, y, weights in blocks:
            gathering.add(rows, np.array(y), weights, np.arange(len(y), dtype=float))
        return gathering.done()


def dense(rounds):
    """The rows as a matrix."""
    rows = rounds.rows
    if isinstance(rows, Dense):
        return rows.X
    return scipy.sparse.csr_matrix((rows.values, rows.indices, rows.indptr), (len(rounds), rounds.width)).toarray()


@pytest.mark.parametrize("bias", [False, True])
def test_blocks_of_any_layout_are_gathered_in_order(bias):
    A, B = np.array([[1.0, 0.0], [2.0, 3.0]]), np.array([[0.0, 0.0, 5.0]])
    sparse = Sparse(np.array([0, 1]), np.array([2], dtype=np.uint32), np.array([5.0]))
    for second in (Dense(B), sparse):
        found = gathered([(Dense(A), [1.0, -1.0], None), (second, [1.0], None)], bias)
        wanted = np.vstack([np.hstack([A, [[0.0], [0.0]]]), B])
        if bias:
            wanted = np.hstack([np.ones((3, 1)), wanted])
        np.testing.assert_array_equal(dense(found), wanted)
        assert (found.y.tolist(), found.weights, found.bias) == ([1.0, -1.0, 1.0], None, bias)
        np.testing.assert_array_equal(dense(found.first(2)), wanted[:2])


def test_rows_of_weight_0_are_left_out_and_others_keep_theirs():
    found = gathered([(Dense(np.eye(3)), [1.0, 1.0, -1.0], np.array([2.0, 0.0, 1.0]))], bias=False)
    assert found.weights.tolist() == [2.0, 1.0]
    assert found.scores.tolist() == [0.0, 2.0]
    np.testing.assert_array_equal(dense(found), np.eye(3)[[0, 2]])


def test_a_full_disk_is_one_sentence(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("noregret.rounds.Column.append", lambda self, values: None)
    with Gathering(bias=False) as gathering:
        monkeypatch.setattr("noregret.rounds.Column.append", full)
        with pytest.raises(InputError, match="temporary row file cannot be written"):
            gathering.add(Dense(np.eye(2)), np.ones(2), None, np.ones(2))


@FAST
@given(st.lists(st.floats(-700.0, 900.0), min_size=1, max_size=5), st.sampled_from([-1.0, 1.0]), st.floats(0.0, 50.0))
def test_the_exponential_loss_and_its_dual_are_enclosed(scores, y, size):
    """Against fifty digits; a score of more than −709 times its label may only be said to lose a lot."""
    loss, z = parse("exponential"), y * np.array(scores)
    low, high = enclose.losses(loss, z, np.full(len(z), y))
    with localcontext(prec=50):
        for one, lo, hi in zip(scores, low, high, strict=True):
            assert Decimal(float(lo)) <= (-Decimal(one)).exp() <= Decimal(float(hi))
            assert hi - lo <= 1e-12 * hi + 1e-299
        lo, hi = enclose.conjugates(loss, np.array([-y * size]), np.array([y]))
        beta = Decimal(size)
        assert Decimal(float(lo[0])) <= (beta * beta.ln() if size else Decimal(0)) - beta <= Decimal(float(hi[0]))
    far = enclose.losses(loss, np.array([-y * 1000.0]), np.array([y]))
    assert math.isfinite(far[0][0])
    assert far[1][0] == math.inf


def test_zeros_neither_widen_a_norm_nor_are_they_summed(monkeypatch):
    summed = []
    fsum = math.fsum
    monkeypatch.setattr(math, "fsum", lambda values: summed.append(len(values)) or fsum(values))
    v = np.array([0.1, -0.7, 1e-9])
    wide = np.zeros(50_000)
    wide[[3, 700, 49_999]] = v
    assert enclose.norm(wide) == enclose.norm(v)
    assert max(summed) <= len(v) + 1
