"""The short way of a pool: one example at a time gives the bits of the usual way, and of a block."""

import pickle

import numpy as np
import pytest

import noregret.learner.auto as auto_file
from noregret.errors import DivergedError, InputError
from noregret.learner import Auto as Core
from noregret.learner.short import Short
from noregret.sklearn import Auto
from noregret.stream.block import Dense
from noregret.stream.features import Features


def examples(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) * 10.0 ** rng.uniform(-2, 2, columns)
    return X, (X @ (rng.normal(size=columns) / X.std(axis=0)) + rng.normal(size=rows) > 0.0).tolist()


def dicts(X):
    return [{f"f{i}": value for i, value in enumerate(row)} for row in X.tolist()]


def same(core, other):
    mine, theirs = core.arrays(), other.arrays()
    assert mine.keys() == theirs.keys()
    different = [name for name in mine if mine[name].tobytes() != np.ascontiguousarray(theirs[name]).tobytes()]
    assert not different
    assert core.record.tobytes() == other.record.tobytes()


def the_long_way(model, x, label):
    model.core.single = None
    model.learn_one(x, label)  # the first that a short way sees is left to the usual one
    model.core.single = None


@pytest.mark.parametrize("columns", [1, 5, 26])
@pytest.mark.parametrize("named", [False, True])
def test_the_short_way_gives_the_bits_of_the_long_one(monkeypatch, columns, named):
    monkeypatch.setattr(auto_file, "REVIEW", 64)
    X, labels = examples(200, columns)
    given = dicts(X) if named else list(X)
    short, long, taken = Auto(), Auto(), 0
    for x, label in zip(given, labels, strict=True):
        assert short.predict_proba_one(x) == long.predict_proba_one(x)
        short.learn_one(x, label)
        the_long_way(long, x, label)
        taken += isinstance(short.core.single, Short) and short.core.single.made
    assert taken > 150
    same(short.core, long.core)


def test_it_gives_the_bits_of_a_block():
    X, labels = examples(300, 6)
    y = np.where(labels, 1.0, -1.0)
    block, short = Core(), Auto()
    block.features = Features("columns", 6)
    scores = block.play(Dense(X), y)
    for t in range(len(X)):
        short.learn_one(X[t], labels[t])
    assert isinstance(short.core.single, Short) and short.core.single.made
    assert np.isfinite(scores).all()
    same(short.core, block)


def test_to_predict_changes_nothing():
    X, labels = examples(60, 4)
    model = Auto()
    for x, label in zip(X, labels, strict=True):
        model.learn_one(x, label)
    before = {name: array.copy() for name, array in model.core.arrays().items()}
    record = model.core.record.tobytes()
    for x in X:
        assert model.predict_one(x) == (model.predict_proba_one(x)[True] > 0.5)
    assert isinstance(model.core.single, Short) and model.core.single.made
    assert all(before[name].tobytes() == array.tobytes() for name, array in model.core.arrays().items())
    assert record == model.core.record.tobytes()


def test_names_may_come_go_and_change_places():
    X, labels = examples(240, 5)
    short, long = Auto(), Auto()
    rng = np.random.default_rng(1)
    for t, (x, label) in enumerate(zip(dicts(X), labels, strict=True)):
        names = list(x)[: 3 if t < 80 else 5]
        if t > 160 and t % 7 == 0:
            names = rng.permutation(names).tolist()[:4]
        example = {name: x[name] for name in names}
        assert short.predict_proba_one(example) == long.predict_proba_one(example)
        short.learn_one(example, label)
        the_long_way(long, example, label)
    same(short.core, long.core)


def test_weights_blocks_and_copies_go_together():
    X, labels = examples(200, 5)
    short, long = Auto(), Auto()
    for t in range(120):
        short.learn_one(X[t], labels[t], w=1.0 if t % 5 else 0.5)
        long.core.single = None
        long.learn_one(X[t], labels[t], w=1.0 if t % 5 else 0.5)
    short.partial_fit(X[120:150], labels[120:150])
    long.partial_fit(X[120:150], labels[120:150])
    short = pickle.loads(pickle.dumps(short))
    for t in range(150, 200):
        short.learn_one(X[t], labels[t])
        the_long_way(long, X[t], labels[t])
    same(short.core, long.core)


def test_a_member_that_would_overflow_sleeps_from_then_on():
    X, labels = examples(120, 3)
    X[70] *= 1e154 / np.linalg.norm(X[70])
    short, long = Auto(), Auto()
    for t, (x, label) in enumerate(zip(X, labels, strict=True)):
        short.learn_one(x, label)
        the_long_way(long, x, label)
        assert t < 70 or short.core.out.any()
    same(short.core, long.core)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_an_example_that_is_not_finite_is_refused(bad):
    X, labels = examples(60, 3)
    for given, wrong in ((list(X), np.array([1.0, bad, 0.0])), (dicts(X), {"f0": 1.0, "f1": bad, "f2": 0.0})):
        model = Auto()
        for x, label in zip(given, labels, strict=True):
            model.learn_one(x, label)
        untouched = pickle.loads(pickle.dumps(model))
        for one in (model, untouched):  # by the short way, and by the long one
            with pytest.raises(InputError, match="finite"):
                one.learn_one(wrong, True)
            with pytest.raises(InputError, match="finite"):
                one.predict_proba_one(wrong)
        same(model.core, untouched.core)
        assert not model.core.out.any()


def test_a_row_that_is_too_large_is_refused_before_a_member_learns_of_it():
    X, labels = examples(60, 3)
    y = np.where(labels, 1.0, -1.0)
    core, other = Core(), Core()
    core.features = other.features = Features("columns", 3)
    X[40] = 1e200
    with pytest.raises(DivergedError, match="round 41"):
        core.play(Dense(X), y)
    other.play(Dense(X[:40]), y[:40])
    same(core, other)
