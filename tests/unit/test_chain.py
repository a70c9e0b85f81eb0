"""Calls made one after another with arguments read once: the same as calling each, and nothing beyond its arrays."""

import gc
from functools import partial

import numpy as np
import pytest

from noregret._native import (
    Chain,
    calibrate,
    copy_values,
    play_markov,
    put_labels,
    read_values,
    scale_features,
    spread_row,
    unit_rows,
)
from noregret.learner import AdaGrad, LogisticNewton, MarkovLabels
from noregret.learner.platt import Platt
from noregret.stream.block import Dense

NONE = np.zeros(0)
KEYS = ("a", "b", "ü")


def rows(count, columns, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, columns)), rng.choice([-1.0, 1.0], count)


@pytest.mark.parametrize("kind", [AdaGrad, LogisticNewton, MarkovLabels])
def test_a_chain_plays_what_its_calls_play(kind):
    X, y = rows(200, 5)
    one, other = kind(), kind()
    expected = one.play(Dense(X), y)
    row, label, said, guess = np.zeros((1, 5)), np.zeros(1), np.zeros(1), np.zeros(1)
    other.grow(5, sparse=False)
    calls = other.score_call(row, guess), other.round_call(row, label, NONE, said)
    chain = Chain([(call.func, call.args, None) for call in calls])
    assert chain.direct == 2
    for t in range(200):
        row[0], label[0] = X[t], y[t]
        assert chain.play() is None
        assert said[0] == guess[0] == expected[t]
    assert other.record.tobytes() == one.record.tobytes()
    for name, array in one.arrays().items():
        assert other.arrays()[name].tobytes() == array.tobytes()


def test_steps_go_in_their_order_and_any_function_may_be_one():
    values, seen = np.array([[3.0, -4.0]]), []
    scale, look = (scale_features, (values, np.array([1.5, 2.0]), False)), (lambda: seen.append(values.copy()), ())
    chain = Chain([(*scale, None), (*look, None), (unit_rows, (values,), None)])
    assert chain.direct == 2
    assert chain.play() is None
    assert seen[0].tolist() == [[2.0, -2.0]]
    assert np.allclose(values, [[0.5**0.5, -(0.5**0.5)]], rtol=1e-15)


def test_of_a_member_that_cannot_play_nan_is_heard_and_its_step_is_told():
    scaling, label = Platt(), np.ones(1)
    core = LogisticNewton(bias=True)
    core.grow(1, sparse=False)
    row, raw, said = np.full((1, 1), 1e200), np.zeros(1), np.zeros(1)
    call = core.round_call(row, label, NONE, raw)
    scaled = scaling.round_call(raw, label, NONE, said)
    before = core.record.tobytes(), scaling.state.tobytes()
    first = (unit_rows, (np.zeros((1, 1)),), None)
    chain = Chain([first, (call.func, call.args, raw), (scaled.func, scaled.args, None)])
    assert chain.play() == [1]
    assert np.isnan(raw[0]) and np.isnan(said[0])
    assert before == (core.record.tobytes(), scaling.state.tobytes())


def test_what_a_chain_was_given_lives_as_long_as_it():
    source, sink = np.arange(1000.0), np.zeros(1000)
    chain = Chain([(copy_values, (source, sink), None)])
    del source
    gc.collect()
    chain.play()
    assert sink.tolist() == list(range(1000))


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="a step is"):
        Chain([(copy_values, (np.zeros(1), np.zeros(1)))])
    with pytest.raises(ValueError, match="one number"):
        Chain([(copy_values, (np.zeros(1), np.zeros(1)), np.zeros(2))])
    wrong = Chain([(copy_values, (np.zeros(1), "no array"), None)])
    assert wrong.direct == 0
    with pytest.raises(TypeError):
        wrong.play()
    with pytest.raises(ValueError, match="a place for each number"):
        Chain([(copy_values, (np.zeros(1), np.zeros(2)), None)]).play()
    call = MarkovLabels().round_call(np.zeros((1, 1)), np.zeros(2), NONE, np.zeros(2))
    assert isinstance(call, partial)
    with pytest.raises(ValueError, match="a row is not there"):
        Chain([(play_markov, call.args, None)]).play()
    with pytest.raises(ValueError, match="a label and a place for each score"):
        Chain([(calibrate, (np.zeros(2), np.ones(1), NONE, Platt().state, np.zeros(2)), None)]).play()


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"a": 1.5, "b": -2, "ü": 0.0}, [1.5, -2.0, 0.0]),
        ({"a": 1.0, "b": 2.0, "ü": float("nan")}, [1.0, 2.0, float("nan")]),
        ({"b": 1.0, "a": 2.0, "ü": 3.0}, None),
        ({"a": 1.0, "b": 2.0}, None),
        ({"a": 1.0, "b": 2.0, "ü": 3.0, "d": 4.0}, None),
        ({"a": 1.0, "b": 2.0, 3: 3.0}, None),
        ({"a": 1.0, "b": True, "ü": 3.0}, None),
        ({"a": 1.0, "b": "2", "ü": 3.0}, None),
        ({"a": 1.0, "b": None, "ü": 3.0}, None),
        ({"a": 1.0, "b": 10**400, "ü": 3.0}, None),
        ({"a": 1.0, "b": np.float64(2.0), "ü": 3.0}, None),
    ],
)
def test_values_of_known_keys(given, read):
    out = np.zeros(3)
    assert read_values(given, KEYS, out) is (read is not None)
    if read is not None:
        np.testing.assert_array_equal(out, read)


def test_values_are_read_only_into_as_many_places():
    given = dict.fromkeys(KEYS, 1.0)
    assert not read_values(given, KEYS, np.zeros(2))
    assert not read_values(given, (1, None, b"a"), np.zeros(3))
    with pytest.raises(TypeError):
        read_values([("a", 1.0)], KEYS, np.zeros(3))


def sparse(indices, values):
    return np.array([0, len(indices)]), np.array(indices, np.uint32), np.array(values, np.float64)


def test_labels_stand_before_a_row_and_the_newest_is_first():
    past, label, out = np.array([[-1.0], [1.0]]), np.array([1.0]), np.zeros((1, 4))
    put_labels(past, np.array([[5.0, 6.0]]), label, out, False)
    assert out.tolist() == [[-1.0, 1.0, 5.0, 6.0]] and past.tolist() == [[-1.0], [1.0]]
    made = np.zeros(2, np.int64), np.zeros(5, np.uint32), np.zeros(5)
    put_labels(past, *sparse([3, 0], [5.0, 6.0]), label, *made, True)
    assert made[0].tolist() == [0, 4]
    assert made[1][:4].tolist() == [0, 1, 5, 2] and made[2][:4].tolist() == [-1.0, 1.0, 5.0, 6.0]
    assert past.tolist() == [[1.0], [-1.0]]
    classes = np.zeros((2, 3))
    for number in (2.0, 0.0):
        put_labels(classes, np.zeros((1, 1)), np.array([number]), np.zeros((1, 7)), True)
    assert classes.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]


def test_no_place_beyond_an_array_is_written_to():
    one, past = np.ones(1), np.zeros((2, 1))
    row = sparse([0, 1], [1.0, 2.0])
    with pytest.raises(ValueError, match="do not fit"):
        put_labels(past, np.zeros((1, 2)), one, np.zeros((1, 3)), True)
    with pytest.raises(ValueError, match="do not fit"):
        put_labels(past, np.zeros((2, 2)), one, np.zeros((2, 4)), True)
    with pytest.raises(ValueError, match="do not fit"):
        put_labels(past, *row, one, np.zeros(2, np.int64), np.zeros(3, np.uint32), np.zeros(3), True)
    with pytest.raises(ValueError, match="no room"):
        spread_row(*sparse([0, 2], [1.0, 2.0]), np.zeros((1, 2)))
    with pytest.raises(ValueError, match="do not fit"):
        spread_row(np.array([0, 3]), *row[1:], np.zeros((1, 2)))
    out = np.ones((1, 4))
    spread_row(*sparse([3, 1], [1.0, 2.0]), out)
    assert out.tolist() == [[0.0, 2.0, 0.0, 1.0]]
