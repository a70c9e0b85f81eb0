"""The quick loops of a pass against what they abbreviate: sums by four, AdaGrad by four, counts by the batch.

Each has an obvious twin; most must agree to the last bit.
"""

import math

import numpy as np
import pytest

from noregret._native import BINS, POINTS, SMALL, WINDOW, norm1, norm2, products, two_values
from noregret.learner import AdaGrad, OnlineGradientDescent, Perceptron, linear
from noregret.learner.core import LINE
from noregret.stream.block import Dense, Sparse
from oracle.loops import adagrad, booked, by_place, dense_dot, sparse_dot

LENGTHS = [0, 1, 2, 3, 4, 5, 7, 8, 11, 12, 15, 16, 17, 33, 50, 82]


SELDOM = 16384  # rounds, at the most, before their scores are put into bins


def product(rows, z):
    """(⟨z, x⟩, ‖x‖²) of every row, as the core takes them."""
    count = len(rows[0]) - 1 if isinstance(rows, tuple) else len(np.atleast_2d(rows))
    out = np.empty((count, 2))
    products(rows, z, out)
    return [tuple(line) for line in out.tolist()]


def sparse_product(indices, values, z):
    return product((np.array([0, len(indices)]), indices, values), z)[0]


def row_of(length, features=200, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed + length)
    indices = np.sort(rng.choice(features, length, replace=False)).astype(np.uint32)
    return indices, rng.standard_normal(length).astype(dtype), rng.standard_normal(features)


@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("length", LENGTHS)
def test_a_sparse_row_is_summed_in_the_parts_that_are_told(length, dtype, strided):
    indices, values, z = row_of(length, dtype=dtype)
    weights = np.column_stack([z, -z])[:, 0] if strided else z
    found = sparse_product(indices, values, weights)
    assert found == sparse_dot(indices.tolist(), values.tolist(), z.tolist())
    x = values.astype(np.float64)
    assert found == pytest.approx((x @ z[indices], x @ x), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("length", [n for n in LENGTHS if n])
def test_a_feature_that_the_weights_have_no_room_for_is_not_looked_up(length):
    for at in {0, length // 2, length - 1}:
        indices, values, z = row_of(length)
        indices[at] = 200
        assert all(math.isnan(part) for part in sparse_product(indices, values, z))
        assert all(math.isnan(part) for part in sparse_product(indices, values, np.column_stack([z, z])[:, 0]))


@pytest.mark.parametrize("length", [n for n in LENGTHS if n])
def test_a_row_longer_than_the_weights_is_not_played(length):
    X, z = np.ones((1, length)), np.ones(length)
    assert all(math.isnan(part) for part in product(X, z[: length - 1])[0])
    with pytest.raises(Exception, match="overflow"):
        learner = Perceptron()
        learner.grow(length - 1, sparse=False)
        learner.z = learner.z[: length - 1]
        learner._play(X, np.ones(1), np.zeros(0), np.zeros(1))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("length", LENGTHS)
def test_a_dense_row_is_summed_in_the_parts_that_are_told(length, dtype):
    rng = np.random.default_rng(length)
    X, z = rng.standard_normal((3, length)).astype(dtype), rng.standard_normal(length)
    spread = np.column_stack([z, -z, z])[:, 0]
    found = product(X, z)
    assert found == product(X, spread) == [dense_dot(x, z) for x in X.tolist()]
    for t in range(3):
        x = X[t].astype(np.float64)
        assert found[t] == pytest.approx((x @ z, x @ x), rel=1e-12, abs=1e-12)
        assert [found[t]] == product(X[t], z) == product(X[t : t + 1].copy(), z)


@pytest.mark.parametrize(
    ("x", "z"),
    [
        ([1.0 + 2.0**-30], [1.0 - 2.0**-30]),  # the product rounds to 1 before it is added
        ([1.0, 1.0 + 2.0**-30, 0.0, 0.0], [-1.0, 1.0 - 2.0**-30, 0.0, 0.0]),
        ([-1e300, 1.1e300, 0.5], [1e8, 1e8, 2.0]),
        ([1e200, 1e200], [1e200, -1e200]),
        ([5e-324, 1e-300], [0.5, 1e-20]),
    ],
)
def test_a_product_is_rounded_before_it_is_added(x, z):
    assert np.array(product(np.array([x]), np.array(z))[0]).tobytes() == np.array(dense_dot(x, z)).tobytes()
    indices = np.arange(len(x), dtype=np.uint32)
    found = sparse_product(indices, np.array(x), np.array(z))
    assert np.array(found).tobytes() == np.array(sparse_dot(indices, x, z)).tobytes()


@pytest.mark.parametrize("length", LENGTHS)
def test_sums_over_all_weights_are_taken_by_place(length):
    z = np.random.default_rng(length).standard_normal(length) * 1e3
    for weights in (z, np.column_stack([z, z, z])[:, 1], np.concatenate([z, np.zeros(37)])):
        assert norm2(weights) == by_place([w * w for w in z.tolist()])
        assert norm1(weights) == by_place([abs(w) for w in z.tolist()])


@pytest.mark.parametrize("layout", ["dense", "single", "sparse"])
@pytest.mark.parametrize("radius", [1e9, 0.05])
@pytest.mark.parametrize("length", LENGTHS[1:])
def test_adagrad_by_four_is_adagrad_one_by_one(length, radius, layout):
    rng = np.random.default_rng(length)
    X = rng.standard_normal((20, length)).astype(np.float32).astype(np.float64)
    X[:, :1] = 0.0  # a coordinate without a gradient stays where it is
    y = np.where(rng.random(20) < 0.5, 1.0, -1.0)
    learner, table = AdaGrad(loss="hinge", radius=radius, rate="constant:0.3"), [[0.0] * 4 for _ in range(length)]
    scores = learner.play(LAYOUTS[layout](X), y)
    for x, label, score in zip(X.tolist(), y.tolist(), scores.tolist(), strict=True):
        if label * score < 1.0:
            adagrad(range(length), x, table, -label, 0.3, radius)
    assert learner.total[:length].tolist() == table


@pytest.mark.parametrize("tie", ["+1", "-1", "mistake"])
@pytest.mark.parametrize("kind", ["plain", "zeros", "gaps", "nothing"])
def test_rounds_booked_in_batches_are_rounds_booked_one_by_one(kind, tie):
    rng, rounds = np.random.default_rng(3), POINTS + 900  # the trace is full once, and thinned
    X = rng.standard_normal((rounds, 2)) * np.exp(rng.uniform(-30, 30, (rounds, 1)))
    y = np.where(X[:, 0] > X[:, 1] * rng.standard_normal(rounds), 1.0, -1.0)
    weights = (rng.random(rounds) < 0.8).astype(float) if kind == "gaps" else None
    if kind == "zeros":
        X[rng.random(rounds) < 0.1] = 0.0
    if kind == "nothing":
        X, y = X[:0], y[:0]
    for ends in ([len(y)], [0, 1, 1, 7, 300, 1500, 1500, len(y)]):
        learner, scores, start = Perceptron(tie=tie), [], 0
        for end in ends:
            stop = min(end, len(y))
            some = None if weights is None else weights[start:stop]
            scores += learner.play(Dense(X[start:stop]), y[start:stop], some).tolist()
            start = stop
        state = learner.state[0]
        told = booked(y.tolist(), scores, {"mistake": 0.0}.get(tie, float(tie.replace("mistake", "0"))), WINDOW, POINTS)
        for name in ("rounds", "positives", "mistakes", "last"):
            assert state[name] == told[name]
        assert state["confusion"].tolist() == told["confusion"]
        count = int(state["trace_rows"])
        assert [tuple(row) for row in state["trace"][:count, [0, 1, 3, 4]].tolist()] == told["trace"]
        at, errors = int(state["window_at"]), state["window"].tolist()
        in_order = [*errors[at:], *errors[:at]]
        assert in_order[WINDOW - len(told["errors"]) :] == told["errors"]
        played = np.array([score for score in scores if score == score])
        signs = np.array([label for label, score in zip(y.tolist(), scores, strict=True) if score == score])
        for label, bins in ((-1.0, state["bins"][0]), (1.0, state["bins"][1])):
            ours = played[signs == label]
            assert bins.sum() == len(ours)
            assert bins[: BINS // 2].sum() == (ours < 0.0).sum()
            assert bins[BINS // 2] == (ours == 0.0).sum()


def long_way(learner, rows, y):
    """Every round through the general loop: a weight of 1 is what it asks for."""
    return learner.play(rows, y, np.ones(len(y)))


LAYOUTS = {
    "dense": lambda X: Dense(X),
    "single": lambda X: Dense(X.astype(np.float32)),
    "sparse": lambda X: Sparse(
        np.arange(len(X) + 1) * X.shape[1], np.tile(np.arange(X.shape[1]), len(X)).astype(np.uint32), X.ravel()
    ),
}
LEARNERS = {
    "perceptron": lambda bias: Perceptron(bias=bias),
    "perceptron with a rate": lambda bias: Perceptron(bias=bias, rate=0.3, tie="-1"),
    "hinge in a ball": lambda bias: OnlineGradientDescent(bias=bias, loss="hinge", radius=2.0),
    "logistic everywhere": lambda bias: OnlineGradientDescent(
        bias=bias, loss="logistic", radius=math.inf, rate="sqrt:0.7"
    ),
    "hinge everywhere": lambda bias: OnlineGradientDescent(
        bias=bias, loss="hinge", radius=math.inf, rate="constant:0.1"
    ),
}


@pytest.mark.parametrize("make", [Perceptron, AdaGrad])
def test_the_trace_does_not_depend_on_how_many_rounds_were_announced(make, monkeypatch):
    rounds = 2 * POINTS + 700
    X = np.random.default_rng(5).standard_normal((rounds, 2))
    rows, y = LAYOUTS["sparse"](X), np.where(X[:, 0] > X[:, 1], 1.0, -1.0)
    states = []
    for ends in ([rounds], [1, 2, POINTS - 1, POINTS, POINTS + 1, 2 * POINTS, rounds], range(977, rounds + 977, 977)):
        learner, start = make(), 0
        for end in ends:
            learner.play(rows.slice(start, min(end, rounds)), y[start:end])
            start = end
        states.append(learner.state.tobytes())
    monkeypatch.setattr(linear, "SOME", 977)
    in_parts = make()
    in_parts.learn(rows, y)
    states.append(in_parts.state.tobytes())
    slowly = make()
    long_way(slowly, rows, y)  # weighted rounds are not announced: some might have no weight
    assert len({*states, slowly.state.tobytes()}) == 1
    step, count = int(slowly.state["trace_step"][0]), int(slowly.state["trace_rows"][0])
    assert POINTS // 2 <= count < POINTS
    assert slowly.state["trace"][0, :count, 0].tolist() == [step * (k + 1) for k in range(rounds // step)]


@pytest.mark.parametrize("make", [Perceptron, AdaGrad])
def test_a_play_longer_than_a_batch_is_booked_as_round_by_round(make):
    rng = np.random.default_rng(6)
    X = rng.standard_normal((2 * SELDOM + 77, 2))
    y = np.where(X[:, 0] > X[:, 1] + rng.standard_normal(len(X)), 1.0, -1.0)
    quickly, slowly = make(), make()
    quickly.play(Dense(X), y)
    long_way(slowly, Dense(X), y)
    assert quickly.state.tobytes() == slowly.state.tobytes()


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("columns", [3, SMALL + 6])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", LEARNERS)
def test_quick_rounds_are_the_rounds_of_the_general_loop(name, layout, columns, bias):
    rng = np.random.default_rng(columns)
    X = rng.standard_normal((500, columns)) * (rng.random((500, columns)) < 0.6)
    X[17] = 0.0
    y = np.where(X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(500) > 0, 1.0, -1.0)
    one, other = LEARNERS[name](bias), LEARNERS[name](bias)
    scores = one.play(LAYOUTS[layout](X), y)
    assert (scores == long_way(other, LAYOUTS[layout](X), y)).all()
    assert one.state.tobytes() == other.state.tobytes()
    assert (one.weights == other.weights).all()
    assert (one.total == other.total).all()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", LEARNERS)
def test_weights_begin_where_a_line_of_the_cache_does(name, sparse):
    for width in (1, 50, 3000):
        learner = LEARNERS[name](False)
        learner.grow(width, sparse=sparse)
        assert learner.z.ctypes.data % LINE == 0
        assert learner.z.tolist() == [0.0] * width


@pytest.mark.parametrize("value", [1e200, math.nan, math.inf])
def test_a_round_that_cannot_be_played_ends_both_loops_at_the_same_place(value):
    X = np.ones((40, 3))
    X[30] = value
    y = np.tile([1.0, -1.0], 20)
    played = []
    for weights in (None, np.ones(40)):
        learner = Perceptron()
        with pytest.raises(Exception, match="overflow"):
            learner.play(Dense(X), y, weights)
        played.append((learner.rounds, learner.weights.tolist(), learner.state["loss"][0]))
    assert played[0] == played[1]
    assert played[0][0] == 30


@pytest.mark.parametrize(
    ("y", "alone"),
    [
        ([1.0, -1.0, 1.0], True),
        ([0.0, 0.0], True),
        ([2.0, 1.0, 3.0], False),
        ([1.0, 1.5], False),
        ([1.0, math.nan], False),
        ([math.inf, 1.0], False),
        ([0.0, 5e-324, 1.0], False),
    ],
)
def test_two_values_are_seen_at_a_glance(y, alone):
    first, second, found = two_values(np.array(y))
    assert found == alone
    if alone:
        assert {first, second} == set(y)
