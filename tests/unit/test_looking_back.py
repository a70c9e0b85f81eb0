"""The core's loops over a run that is over: each is its plain twin, bit for bit, and refuses what does not fit."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret import _native
from oracle import exact as twin
from oracle import solver

LAYOUTS = ("dense", "sparse")


def stream(layout, seed, rounds=23, width=7, sizes=(-30, 30)):
    """(rows as the core takes them, rows as lists of (feature, value), the generator)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, width)) * 2.0 ** rng.integers(*sizes, (rounds, width))
    if layout == "dense":
        return X, [list(enumerate(row)) for row in X.tolist()], rng
    there = rng.random((rounds, width)) < 0.6
    rows = [[(j, x) for j, x in enumerate(row) if keep[j]] for row, keep in zip(X.tolist(), there, strict=True)]
    bounds = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64)
    return (bounds, np.nonzero(there)[1].astype(np.uint32), X[there]), rows, rng


def same(found, wanted):
    return found.tobytes() == np.array(wanted, dtype=np.float64).reshape(found.shape).tobytes()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("layout", LAYOUTS)
def test_sums_in_twice_the_precision_are_those_of_the_definition(layout, seed):
    given, rows, rng = stream(layout, seed, rounds=20 + seed)
    count, width = len(rows), 7
    u, y = rng.normal(size=width), rng.choice([-1.0, 1.0], count)
    out = np.empty((count, 3))
    _native.exact_dots(given, u, out)
    assert same(out, twin.dots(rows, u.tolist()))
    _native.exact_squares(given, out)
    assert same(out, twin.squares(rows))
    alpha = np.where(rng.random(count) < 0.3, 0.0, rng.normal(size=count))
    total = np.zeros((width, 3))
    _native.exact_combination(given, alpha, total)
    assert same(total, twin.combination(rows, alpha.tolist(), width))
    total, out = np.zeros((width, 3)), np.zeros((count, 3))
    _native.exact_steps(given, alpha, total, out)
    w, scores = twin.steps(rows, alpha.tolist(), width)
    assert same(total, w) and same(out, scores)
    chosen = np.flatnonzero(rng.random(count) < 0.5)
    total, out = np.zeros((width, 3)), np.empty((len(chosen), 3))
    _native.exact_updates(given, y, chosen, total, out)
    w, scores = twin.updates(rows, y.tolist(), chosen.tolist(), width)
    assert same(total, w) and same(out, scores)
    moves = np.array([(t, k, sign) for t in range(0, count, 2) for k, sign in ((t % 3, 1), ((t + 1) % 3, -1))])
    total, out = np.zeros((3 * width, 3)), np.empty((len(moves) // 2, 3))
    _native.exact_class_updates(given, moves, 2, 3, total, out)
    w, scores = twin.class_updates(rows, moves.tolist(), 2, 3, width)
    assert same(total, w) and same(out, scores)


sizes = st.one_of(
    st.floats(-1e6, 1e6), st.floats(-1e140, 1e140), st.sampled_from([0.0, 5e-324, 1e-160, -3e-200, 1e16, 2.0**500])
)


@given(st.lists(st.tuples(sizes, sizes), min_size=1, max_size=12), st.sampled_from(LAYOUTS), st.integers(1, 5))
def test_a_sum_differs_from_the_truth_by_no_more_than_its_error(pairs, layout, copies):
    u, x = (np.array(side) for side in zip(*pairs, strict=True))
    X, n = np.tile(x, (copies, 1)), len(x)
    rows = (
        X
        if layout == "dense"
        else (np.arange(copies + 1) * n, np.tile(np.arange(n, dtype=np.uint32), copies), X.ravel())
    )
    out = np.empty((copies, 3))
    _native.exact_dots(rows, u, out)
    assert (out == out[0]).all()  # a row's sum does not depend on the rows beside it
    s, c, error = map(Fraction, out[0].tolist())
    truth = sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(0))
    assert abs(truth - (s + c)) <= error * (1 + Fraction(1, 10**9))
    if all(a == int(a) and b == int(b) and abs(a) < 2**26 and abs(b) < 2**26 for a, b in pairs):
        assert error == 0


def bends(rng, count):
    kink, weights = rng.normal(size=count), rng.random(count) + 0.5
    y = rng.choice([-1.0, 1.0], count)
    return kink, np.where(y > 0, -1.0, 0.0), np.where(y > 0, 0.0, 1.0), weights


@pytest.mark.parametrize("flat", [0.0, 0.25])
@pytest.mark.parametrize("width", [0.0, 0.5])
@pytest.mark.parametrize("count", [0, 1, 3, 4, 21])
def test_bent_losses_are_those_of_the_definition(count, width, flat):
    rng = np.random.default_rng(count)
    kink, lo, hi, weights = bends(rng, count)
    z, step = rng.normal(size=count), rng.normal(size=count)
    z[: count // 3] = kink[: count // 3]
    alpha = np.empty(count)
    _native.bent_slopes(z, kink, lo, hi, width, flat, alpha)
    parts = list(zip(z.tolist(), kink.tolist(), lo.tolist(), hi.tolist(), strict=True))
    assert same(alpha, [solver.bent_slope(solver.shrunk(a - b, flat), low, high, width) for a, b, low, high in parts])
    lists = [part.tolist() for part in (kink, lo, hi)]
    found = _native.bent_total(z, kink, lo, hi, width, flat, weights)
    assert found == solver.bent_total(z.tolist(), *lists, width, flat, weights.tolist())
    found = _native.bent_along(z, step, 0.3, kink, lo, hi, width, flat, weights)
    assert found == solver.bent_along(z.tolist(), step.tolist(), 0.3, *lists, width, flat, weights.tolist())


@pytest.mark.parametrize("flat", [0.0, 0.25])
@pytest.mark.parametrize("width", [0.0, 0.5])
def test_an_epoch_of_coordinate_steps_is_that_of_the_definition(width, flat):
    given, rows, rng = stream("sparse", 5, sizes=(-2, 2))
    count = len(rows)
    kink, lo, hi, weights = bends(rng, count)
    norms = np.empty(count)
    _native.square_norms(given, 1.0, norms)
    assert same(norms, [solver.summed(x * x for _, x in row) for row in rows])
    alpha, w = np.zeros(count), np.zeros(7)
    plain, v = [0.0] * count, [0.0] * 7
    step = solver.bent_step(kink.tolist(), lo.tolist(), hi.tolist(), width, flat)
    for _ in range(3):
        order = rng.permutation(count)
        moved = _native.bent_epoch(given, order, norms, kink, lo, hi, width, flat, weights, 2.0, alpha, w)
        assert moved == solver.epoch(rows, order.tolist(), norms.tolist(), step, weights.tolist(), 2.0, plain, v)
        assert same(alpha, plain) and same(w, v)
    dense = np.array([[dict(row).get(j, 0.0) for j in range(7)] for row in rows])
    other, u = np.zeros(count), np.zeros(7)
    _native.bent_epoch(dense, order, norms, kink, lo, hi, width, flat, weights, 2.0, other, u)
    again, v = np.zeros(count), np.zeros(7)
    _native.bent_epoch(given, order, norms, kink, lo, hi, width, flat, weights, 2.0, again, v)
    np.testing.assert_allclose(other, again, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_logistic_step_finds_the_root(layout):
    given, rows, rng = stream(layout, 6, sizes=(-1, 2))
    count = len(rows)
    y, weights = rng.choice([-1.0, 1.0], count), rng.random(count) + 0.5
    norms = np.empty(count)
    _native.square_norms(given, 1.0, norms)
    for t in range(count):
        alpha, w = -0.5 * y, rng.normal(size=7)
        yz = y[t] * -math.fsum(x * w[j] for j, x in rows[t])
        _native.logistic_epoch(given, np.array([t]), norms, y, weights, 1.0, alpha, w)
        beta = -y[t] * alpha[t]
        assert abs(solver.logistic_residual(beta, yz, weights[t] * norms[t], 0.5)) < 1e-7


@pytest.mark.parametrize("layout", LAYOUTS)
def test_scores_sums_of_rows_and_the_curvature_of_whole_numbers_are_exact(layout):
    rng = np.random.default_rng(7)
    X = rng.integers(-3, 4, (9, 21)).astype(float)
    rows = X
    if layout == "sparse":
        line, features = np.nonzero(X)
        ends = np.concatenate([[0], np.cumsum(np.bincount(line, minlength=9))]).astype(np.int64)
        rows = (ends, features.astype(np.uint32), X[line, features])
    u, a = rng.integers(-3, 4, 21).astype(float), rng.integers(-2, 3, 9).astype(float)
    out, total = np.empty(9), np.zeros(21)
    _native.scores_of(rows, u, out)
    assert out.tolist() == (X @ u).tolist()
    _native.sum_rows(rows, a, total)
    assert total.tolist() == (a @ X).tolist()
    if layout == "sparse":
        H = np.zeros((21, 21))
        _native.add_curvature(rows, a, 0.5, H)
        assert H.tolist() == ((X * (0.25 * a)[:, None]).T @ X).tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("radius", [0.7, math.inf])
def test_the_path_is_that_of_the_definition(layout, radius):
    given, rows, rng = stream(layout, 8, sizes=(-2, 2))
    count = len(rows)
    slopes, etas, growth = rng.choice([-1.0, 0.0, 0.5], count), rng.random(count), rng.random(count - 1)
    w, drift, sizes = np.zeros(7), np.zeros(7), np.zeros(2)
    _native.replay_path(given, slopes, etas, growth, radius, w, drift, sizes)
    wanted = solver.path(rows, slopes.tolist(), etas.tolist(), growth.tolist(), radius, 7)
    assert same(w, wanted[0]) and same(drift, wanted[1]) and same(sizes, wanted[2])


SPARSE = (np.array([0, 1, 2]), np.array([0, 9], dtype=np.uint32), np.ones(2))
TWO, NINE, TRIPLES = np.ones(2), np.ones(9), np.zeros((9, 3))


@pytest.mark.parametrize(
    "call",
    [
        lambda: _native.exact_dots(SPARSE, NINE, np.empty((2, 3))),
        lambda: _native.exact_dots(np.ones((2, 10)), NINE, np.empty((2, 3))),
        lambda: _native.exact_squares(SPARSE, np.empty((1, 3))),
        lambda: _native.exact_squares(SPARSE, np.empty((2, 2))),
        lambda: _native.exact_combination(SPARSE, TWO, TRIPLES),
        lambda: _native.exact_steps(SPARSE, np.ones(3), np.zeros((10, 3)), np.empty((3, 3))),
        lambda: _native.exact_updates(SPARSE, TWO, np.array([2]), np.zeros((10, 3)), np.empty((1, 3))),
        lambda: _native.exact_updates(SPARSE, TWO, np.array([-1]), np.zeros((10, 3)), np.empty((1, 3))),
        lambda: _native.exact_class_updates(SPARSE, np.array([[0, 2, 1]]), 1, 2, np.zeros((20, 3)), np.empty((1, 3))),
        lambda: _native.exact_class_updates(SPARSE, np.array([[5, 0, 1]]), 1, 2, np.zeros((20, 3)), np.empty((1, 3))),
        lambda: _native.sum_rows(SPARSE, TWO, np.zeros(9)),
        lambda: _native.sum_rows(np.ones((2, 10)), TWO, np.zeros(9)),
        lambda: _native.add_curvature(SPARSE, TWO, 1.0, np.zeros((10, 9))),
        lambda: _native.bent_epoch(
            SPARSE, np.array([2]), TWO, TWO, TWO, TWO, 0.0, 0.0, TWO, 1.0, np.zeros(2), np.zeros(10)
        ),
        lambda: _native.replay_path(SPARSE, TWO, TWO, np.ones(1), 1.0, np.zeros(9), np.zeros(9), np.zeros(2)),
        lambda: _native.votes_on(SPARSE, SPARSE, np.ones(3), np.ones(4), 0.0, 0.0, np.zeros(10), np.empty(2)),
    ],
)
def test_what_does_not_fit_is_refused(call):
    with pytest.raises(ValueError):
        call()


@pytest.mark.parametrize(
    "rows",
    [
        (np.array([0, 9, 2]), np.zeros(2, np.uint32), np.ones(2)),
        (np.array([0, 3]), np.zeros(2, np.uint32), np.ones(2)),
        (np.array([-1, 2]), np.zeros(2, np.uint32), np.ones(2)),
        (np.array([0, 2]), np.zeros(2, np.uint32), np.ones(3)),
        np.ones((2, 2), dtype=np.int64),
    ],
)
def test_rows_whose_bounds_do_not_fit_are_refused(rows):
    with pytest.raises(TypeError):
        _native.exact_squares(rows, np.empty((3, 3)))


def test_a_feature_without_room_stops_an_epoch_and_scores_as_no_number():
    w, alpha, out = np.zeros(9), np.zeros(2), np.empty(2)
    assert math.isnan(_native.bent_epoch(SPARSE, np.array([1]), TWO, TWO, -TWO, TWO, 1.0, 0.0, TWO, 1.0, alpha, w))
    assert not w.any() and not alpha.any()
    _native.scores_of(SPARSE, NINE, out)
    assert out[0] == 1.0 and math.isnan(out[1])
