"""Single examples that need no closer look are played by the core itself, bit for bit as the long way plays them."""

import itertools
import math
from collections import OrderedDict
from fractions import Fraction

import numpy as np
import pytest

import noregret as nr
from oracle.registry import everything

KINDS = {
    "perceptron": nr.Perceptron,
    "perceptron with a bias": lambda: nr.Perceptron(bias=True),
    "averaged": lambda: nr.AveragedPerceptron(bias=True),
    "ball": lambda: nr.OnlineGradientDescent(radius=1.0),
    "logistic": lambda: nr.OnlineGradientDescent(loss="logistic", rate="doubling"),
    "box": lambda: nr.OnlineGradientDescent(domain="box", radius=0.3, rate="sqrt:0.5"),
    "l1 ball": lambda: nr.OnlineGradientDescent(domain="l1", radius=1.0),
    "simplex": lambda: nr.OnlineGradientDescent(domain="simplex", radius=1.0),
    "truncated": lambda: nr.OnlineGradientDescent(domain="box", rate="sqrt:0.5", l1=0.01, l2=0.1, bias=True),
    "strong": nr.StronglyConvexGradientDescent,
    "passive": nr.PassiveAggressive,
    "passive I": nr.PassiveAggressiveI,
    "passive II": nr.PassiveAggressiveII,
    "adagrad": lambda: nr.AdaGrad(bias=True),
    "ftrl": lambda: nr.FollowTheRegularisedLeader(l1=0.01),
    "coin": lambda: nr.CoinBetting(unit_norm=False, gradient_bound=100.0),
    "ball of numbers": lambda: nr.OnlineGradientDescentRegressor(rate="constant:0.1"),
    "strong, of numbers": nr.StronglyConvexGradientDescentRegressor,
    "passive, of numbers": nr.PassiveAggressiveRegressor,
    "passive I, of numbers": nr.PassiveAggressiveIRegressor,
    "passive II, of numbers": nr.PassiveAggressiveIIRegressor,
    "adagrad of numbers": nr.AdaGradRegressor,
    "ftrl of numbers": nr.FollowTheRegularisedLeaderRegressor,
    "scale-free": lambda: nr.ScaleFree(bias=True),
    "scale-free of numbers": nr.ScaleFreeRegressor,
    "coin of numbers": lambda: nr.CoinBettingRegressor(unit_norm=False, gradient_bound=100.0),
}
every_kind = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)


def labels(make, rng, count):
    return rng.random(count) if make()._regression else rng.choice([-1, 1], count)


def numbers(rng, *shape):
    """Of 24 bits each: the same in both widths of floats."""
    return rng.normal(size=shape).astype(np.float32).astype(np.float64) * 0.25


def growing(rng, count):
    """Dicts, longer and longer, of names that grow in number; some values are whole numbers."""
    rows = []
    for t in range(count):
        some = rng.choice(t + 2, size=min(t + 1, 1 + t % 9), replace=False)
        values = numbers(rng, len(some)).tolist()
        rows.append({f"name {j}": int(4 * x) if j % 7 == 3 else x for j, x in zip(some, values, strict=True)})
    return rows


def both_ways(make, rows, longer, y):
    """The same rows learned from and predicted, as they are and as `longer` spells them: equal at every step."""
    short, long = make(), make()
    for t, (x, label) in enumerate(zip(rows, y, strict=True)):
        assert short.predict_one(x) == long.predict_one(longer(x))
        short.learn_one(x, label)
        long.learn_one(longer(x), label)
        assert short.core.state.tobytes() == long.core.state.tobytes(), t
        assert short.core.width == long.core.width
    assert everything(short.core) == everything(long.core)
    assert short.core.weights.tobytes() == long.core.weights.tobytes()
    assert short.core.single.score(rows[-1]) is not None, "the short way was never taken"
    assert long.core.single is None or long.core.single.score(longer(rows[-1])) is None
    return short, long


@every_kind
def test_dicts(make):
    rng = np.random.default_rng(1)
    rows = growing(rng, 60)
    short, long = both_ways(make, rows, OrderedDict, labels(make, rng, 60))
    assert short.features.names == long.features.names == [*dict.fromkeys(name for row in rows for name in row)]
    assert short.features.index == long.features.index


@every_kind
@pytest.mark.parametrize("longer", [np.ndarray.tolist, np.float32], ids=["list", "float32"])
def test_arrays(make, longer):
    rng = np.random.default_rng(2)
    both_ways(make, [*numbers(rng, 40, 7)], longer, labels(make, rng, 40))


@every_kind
@pytest.mark.parametrize("width", [np.int32, np.int64])
def test_pairs(make, width):
    rng = np.random.default_rng(3)
    rows = []
    for t in range(50):
        where = np.sort(rng.choice(5 + t // 4, size=rng.integers(1, 6), replace=False)).astype(width)
        rows.append((where, numbers(rng, len(where))))
    rows.append((np.arange(3).astype(width), np.ones(3)))
    both_ways(make, rows, lambda x: (x[0].tolist(), x[1].tolist()), labels(make, rng, 51))


def learned(make):
    model, rng = make(), np.random.default_rng(4)
    rows = growing(rng, 12)
    for x, y in zip(rows, labels(make, rng, 12), strict=True):
        model.learn_one(x, y)
    assert model.core.single.score(rows[-1]) is not None
    return model


class Odd:
    pass


BAD = [math.nan, math.inf, -math.inf, 1e200, -1e308, 10**400, 2**2000, None, Odd(), [1.0], 1j, b"1"]


@every_kind
def test_a_refused_example_changes_nothing(make):
    model = learned(make)
    before, names, width = everything(model.core), [*model.features.names], model.core.width
    for bad, name in itertools.product(BAD, ("name 0", "new")):
        for x in ({name: bad}, {"name 1": 0.5, name: bad}, {"newer": 1.0, name: bad}, {name: bad, "newest": 1}):
            with pytest.raises((nr.InputError, nr.DivergedError)):
                model.learn_one(x, 1)
            assert model.features.names == names and [*model.features.index] == names, x
            assert model.core.width == model.features.width == width, x
        assert everything(model.core) == before, (bad, name)
    rounds = model.rounds_
    model.learn_one({"name 1": 0.5, "newer": 0.25}, 1)
    assert model.rounds_ == rounds + 1 and model.features.names == [*names, "newer"]


@every_kind
def test_an_array_or_a_pair_that_is_refused_changes_nothing(make):
    rng = np.random.default_rng(5)
    model = make()
    for x, y in zip(numbers(rng, 9, 4), labels(make, rng, 9), strict=True):
        model.learn_one(x, y)
    before = everything(model.core)
    for bad in (math.nan, math.inf, 1e200):
        for x in (np.array([1.0, 0.0, bad, 0.0]), (np.array([0, 3]), np.array([0.5, bad]))):
            with pytest.raises((nr.InputError, nr.DivergedError)):
                model.learn_one(x, 1)
    for x in (np.ones(5), np.ones(3), (np.array([1, 4]), np.ones(2)), (np.array([-1, 2]), np.ones(2))):
        with pytest.raises(nr.InputError):
            model.learn_one(x, 1)
    with pytest.raises(nr.InputError):
        model.learn_one((np.array([2, 2]), np.ones(2)), 1)
    assert everything(model.core) == before


@every_kind
def test_keys_that_are_equal_are_the_same_name(make):
    model = learned(make)
    known, width = model.features.names[2], model.core.width
    same = "".join([*known])
    assert same == known and same is not known
    assert model.predict_one({same: 0.7}) == model.predict_one({known: 0.7})
    model.learn_one({same: 0.5}, 1).learn_one({"brand new": 0.25}, 1).learn_one({"".join([*"brand new"]): 0.5}, 1)
    assert model.core.width == width + 1 == len(model.features.names)


@every_kind
def test_other_kinds_of_numbers_count_as_the_floats_they_are(make):
    rng = np.random.default_rng(6)
    rows, y = growing(rng, 30), labels(make, rng, 30)
    kinds = [np.float64, Fraction, np.float32, float]
    spelled = [{name: kinds[t % 4](x) for name, x in row.items()} for t, row in enumerate(rows)]
    one, other = make(), make()
    for x, like, label in zip(rows, spelled, y, strict=True):
        one.learn_one(x, label)
        other.learn_one(like, label)
    assert everything(one.core) == everything(other.core)


class Meddler:
    """A number that does something when it is asked for."""

    def __init__(self, deed):
        self.deed = deed

    def __float__(self):
        self.deed()
        return 0.5


@every_kind
@pytest.mark.parametrize("deed", ["add", "clear", "learn", "learn new", "predict"])
def test_a_value_that_meddles_does_no_harm(make, deed):
    model = learned(make)
    x = {"name 0": 1.0, "name 1": 0.25}
    deeds = {
        "add": lambda: x.update({f"more {i}": 1.0 for i in range(100)}),
        "clear": x.clear,
        "learn": lambda: model.learn_one({"name 0": 0.5, "name 2": 0.5}, 1),
        "learn new": lambda: model.learn_one({f"fresh {i}": 0.125 for i in range(200)}, 1),
        "predict": lambda: model.predict_one({"name 0": 0.5, "unknown": 1.0}),
    }
    x["meddler"] = Meddler(deeds[deed])
    x["name 3"] = 0.5
    rounds = model.rounds_
    model.learn_one(x, 1)
    assert model.rounds_ - rounds == (2 if deed.startswith("learn") else 1)
    assert model.core.width == model.features.width == len(model.features.index)
    model.learn_one({"name 0": 0.5}, 1)
    assert math.isfinite(model.core.weight_norm)
