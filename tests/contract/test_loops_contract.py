"""The quick loops of a pass against what they abbreviate: sums by four, AdaGrad by four, counts by the batch.

Each has an obvious twin; most must agree to the last bit.
"""

import math

import numpy as np
import pytest

from noregret._kernel import unkept
from noregret._kernel.four import adagrad_fours, dot_row
from noregret._kernel.lanes import LINE
from noregret._kernel.line import add_line, dot_line, gather_line
from noregret._kernel.record import SELDOM, book, book_rest, book_sums, record_trace, trace_late
from noregret._kernel.rows import add, dot, gather
from noregret._kernel.state import POINTS, RECORD, SMALL, new_state
from noregret._kernel.vector import two_values
from noregret.learner import AdaGrad, OnlineGradientDescent, Perceptron, linear
from noregret.stream.block import Dense, Sparse

LENGTHS = [0, 1, 2, 3, 4, 5, 7, 8, 11, 12, 15, 16, 17, 33, 50, 82]


@unkept
def dot_of(indices, values, start, stop, z):
    return dot_row(indices, values, start, stop, z)


@unkept
def dot_in(rows, t, z):
    return dot(rows, t, z)


@unkept
def add_to(rows, t, c, z):
    add(rows, t, c, z)


@unkept
def gather_to(rows, t, c, z, g, total):
    gather(rows, t, c, z, g, total)


@unkept
def adagrad_of(indices, values, first, fours, table, g, eta, radius):
    adagrad_fours(indices, values, first, fours, table, g, eta, radius)


def plain(function):
    return getattr(function, "py_func", function)


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
    assert dot_of(indices, values, 0, length, weights) == dot_row(indices, values, 0, length, weights)
    x = values.astype(np.float64)
    assert dot_of(indices, values, 0, length, weights) == pytest.approx((x @ z[indices], x @ x), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("length", [n for n in LENGTHS if n])
def test_weights_that_do_not_lie_two_to_the_k_bytes_apart_have_no_room(length):
    indices, values, z = row_of(length)
    for columns in (3, 6):
        weights = np.column_stack([z] * columns)[:, 0]
        assert all(map(math.isnan, dot_of(indices, values, 0, length, weights)))
        assert all(map(math.isnan, dot_row(indices, values, 0, length, weights)))


@pytest.mark.parametrize("length", [n for n in LENGTHS if n])
def test_a_feature_that_the_weights_have_no_room_for_is_not_looked_up(length):
    for at in {0, length // 2, length - 1}:
        indices, values, z = row_of(length)
        indices[at] = 200
        assert all(math.isnan(part) for part in dot_of(indices, values, 0, length, z))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("length", LENGTHS)
def test_a_dense_row_is_summed_the_same_alone_and_among_others(length, dtype):
    rng = np.random.default_rng(length)
    X, z = rng.standard_normal((3, length)).astype(dtype), rng.standard_normal(length)
    for t in range(3):
        x = X[t].astype(np.float64)
        assert dot_in(X, t, z) == pytest.approx((x @ z, x @ x), rel=1e-12, abs=1e-12)
        assert dot_in(X, t, z) == dot_in(np.ascontiguousarray(X[t]), 0, z) == dot_in(X[t : t + 1].copy(), 0, z)
        assert dot_in(X, t, z) == dot_line(X, t, z)
        spread = np.column_stack([z, -z, z])[:, 0]
        assert dot_in(np.asfortranarray(X), t, z) == dot_in(X, t, spread) == dot_line(X, t, z)
        assert dot_in(X[:, ::-1], t, z[::-1]) == dot_line(X[:, ::-1], t, z[::-1])
        assert dot_in(np.repeat(X[t], 2)[::2], 0, spread) == dot_line(X, t, z)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("length", LENGTHS)
def test_a_dense_row_is_added_entry_by_entry(length, dtype):
    rng = np.random.default_rng(length)
    X = np.asfortranarray(rng.standard_normal((3, length)).astype(dtype))
    z, total, guard = rng.standard_normal(length), rng.standard_normal(length), 7.0
    for rows in (np.ascontiguousarray(X), X):
        for t in range(3):
            (one, other), sums = (np.append(z, guard) for _ in range(2)), [np.append(total, guard) for _ in range(2)]
            add_to(rows, t, -0.3, one[:length])
            add_line(rows, t, -0.3, other[:length])
            assert one.tobytes() == other.tobytes() == np.append(z - 0.3 * X[t].astype(np.float64), guard).tobytes()
            gather_to(rows, t, 0.7, one[:length], 1.1, sums[0][:length])
            gather_line(rows, t, 0.7, other[:length], 1.1, sums[1][:length])
            assert one.tobytes() == other.tobytes()
            assert sums[0].tobytes() == sums[1].tobytes()


@pytest.mark.parametrize(
    ("x", "z"),
    [
        ([1.0 + 2.0**-30], [1.0 - 2.0**-30]),  # the product rounds to 1, but is not rounded before it is added
        ([1.0, 1.0 + 2.0**-30, 0.0, 0.0], [-1.0, 1.0 - 2.0**-30, 0.0, 0.0]),
        ([-1e300, 1.1e300, 0.5], [1e8, 1e8, 2.0]),
        ([1e200, 1e200], [1e200, -1e200]),
        ([math.inf, 1.0], [1.0, 1.0]),
        ([math.nan], [0.0]),
        ([5e-324, 1e-300], [0.5, 1e-20]),
    ],
)
def test_a_product_is_not_rounded_before_it_is_added(x, z):
    X, weights = np.array([x]), np.array(z)
    assert np.array(dot_in(X, 0, weights)).tobytes() == np.array(dot_line(X, 0, weights)).tobytes()


@pytest.mark.parametrize("radius", [math.inf, 0.05])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("fours", [0, 1, 5])
def test_adagrad_by_four_is_adagrad_one_by_one(fours, dtype, radius):
    indices, values, _ = row_of(4 * fours + 3, dtype=dtype)
    values[:1] = 0.0  # a coordinate without a gradient stays where it is
    tables = [np.random.default_rng(1).random((200, 4)) * (np.arange(200) % 3 > 0)[:, None] for _ in range(2)]
    for table, step in zip(tables, (adagrad_of, adagrad_fours), strict=True):
        step(indices, values, 1, fours, table, -0.7, 0.3, radius)
    assert (tables[0] == tables[1]).all()


def fresh(tie):
    record = np.zeros(1, RECORD)
    record["state"] = new_state()
    record["config"]["classify"], record["config"]["tie"] = 1, tie
    return record


def booked_one_by_one(labels, scores, tie):
    record = fresh(tie)
    state, config = record[0]["state"], record[0]["config"]
    for t, score in enumerate(scores):
        if score == score:
            plain(book)(state, config, 1.0, labels, scores, t, 2.0, 0.5)
            state["rounds"] += 1
            if state["rounds"] == state["trace_next"]:
                plain(record_trace)(state, 1)
    return record["state"]


@unkept
def booked_in_batches(record, labels, scores, start, stop, gaps):
    state, config, room, booked = record[0]["state"], record[0]["config"], record[0]["room"], 0
    labels, scores = labels[start:stop], scores[start:stop]
    for t in range(labels.shape[0]):
        if scores[t] == scores[t]:
            book_sums(state, config, 1.0, labels[t], scores[t], 2.0, 0.5)
            state["rounds"] += 1
            if state["rounds"] == state["trace_next"]:
                booked = trace_late(state, config, room, labels, scores, booked, t + 1, gaps)
    book_rest(state, config, room, labels, scores, booked, labels.shape[0], gaps)


@pytest.mark.parametrize("tie", [1.0, -1.0, 0.0])
@pytest.mark.parametrize("kind", ["plain", "zeros", "gaps", "nothing"])
def test_rounds_booked_in_batches_are_rounds_booked_one_by_one(kind, tie):
    rng, rounds = np.random.default_rng(3), POINTS + 900  # the trace is full once, and thinned
    scores = rng.standard_normal(rounds) * np.exp(rng.uniform(-30, 30, rounds))
    labels = np.where(rng.random(rounds) < 0.4, 1.0, -1.0)
    if kind == "zeros":
        scores[rng.random(rounds) < 0.1] = 0.0
        scores[5] = -0.0
    if kind == "gaps":
        scores[rng.random(rounds) < 0.2] = math.nan
    if kind == "nothing":
        scores, labels = scores[:0], labels[:0]
    expected = booked_one_by_one(labels, scores, tie)
    for ends in ([len(labels)], [0, 1, 1, 7, 300, 1500, 1500, len(labels)]):
        record, start = fresh(tie), 0
        for end in ends:
            stop = min(end, len(labels))
            booked_in_batches(record, labels, scores, start, stop, kind == "gaps")
            start = stop
        assert record["state"].tobytes() == expected.tobytes()


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
