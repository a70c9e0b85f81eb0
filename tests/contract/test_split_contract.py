"""However a stream is cut, stopped, saved and gone on with, the learner is the same bit for bit."""

import functools
import itertools
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import noregret as nr
from noregret import model
from noregret.loss import parse
from noregret.stream import read
from oracle.registry import CASES, LAYOUTS, MAKE, NAMES, OWN, data, everything

OPTIONS = [
    {},
    {"bias": True},
    {"unit_norm": True},
    {"scale": "max"},
    {"scale": "max", "unit_norm": True, "bias": True},
    {"scale": "standard", "bias": True},
    {"scale": "log"},
    {"scale": "max", "expand": "fourier:6"},
]
every_case = pytest.mark.parametrize(("name", "spec"), CASES, ids=NAMES)


def stream(name, spec, seed, rounds=70, columns=5):
    """A stream with late, far features in half of the cases, and class weights in a third."""
    X, y = data(spec, rounds, columns, seed)
    if seed % 2:
        wide = np.zeros((rounds, 70))
        wide[:, :3], wide[rounds // 2 :, -2:] = X[:, :3], X[rounds // 2 :, 3:]
        X = wide
    weights = np.where(y > 0, 2.0, 0.5) if seed % 3 == 0 else None
    return X, y, weights


def part(X, y, weights, start, stop, layout):
    rows = LAYOUTS[layout](X[start:stop])
    return rows, y[start:stop], None if weights is None else weights[start:stop]


@every_case
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_one_at_a_time_and_any_split_are_the_whole_block(name, spec, layout):
    rng = np.random.default_rng(1)
    for number, options in enumerate(OPTIONS):
        X, y, weights = stream(name, spec, seed=2 * number if layout == "dense" else number)
        T = len(y)
        whole = MAKE[name](spec, **options)
        scores = whole.play(*part(X, y, weights, 0, T, layout))
        cuts = sorted(rng.integers(0, T + 1, 5).tolist())
        for bounds in (range(T + 1), [0, *cuts, T]):
            pieces = MAKE[name](spec, **options)
            played = [pieces.play(*part(X, y, weights, a, b, layout)) for a, b in itertools.pairwise(bounds)]
            assert np.concatenate(played).tobytes() == scores.tobytes()
            assert everything(pieces) == everything(whole)


@every_case
def test_save_load_and_go_on_is_never_having_stopped(name, spec, tmp_path):
    """Eight random stops for each learner and loss: more than two hundred in all."""
    rng = np.random.default_rng([2, *name.encode(), *spec.encode()])
    for number, layout in enumerate(["dense", "sparse"] * 4):
        options = OPTIONS[number % len(OPTIONS)]
        X, y, weights = stream(name, spec, seed=number if layout == "sparse" else 2 * number)
        stop = int(rng.integers(1, len(y)))
        whole, first = MAKE[name](spec, **options), MAKE[name](spec, **options)
        scores = whole.play(*part(X, y, weights, 0, len(y), layout))
        first.play(*part(X, y, weights, 0, stop, layout))
        model.save(first, tmp_path / "m.nr")
        second, _ = model.load(tmp_path / "m.nr")
        assert everything(second) == everything(first)
        assert second.play(*part(X, y, weights, stop, len(y), layout)).tobytes() == scores[stop:].tobytes()
        assert everything(second) == everything(whole)


def test_there_are_at_least_two_hundred_stops():
    assert 8 * len(CASES) >= 200


@pytest.mark.parametrize("rate", ["constant:0.1", "sqrt:0.5", "auto", "horizon:50", "doubling"])
@pytest.mark.parametrize("bias", [False, True])
def test_every_rate_goes_on_where_it_stopped(rate, bias, tmp_path):
    X, y, _ = stream("ogd", "hinge", seed=4)
    for stop in (1, 15, 16, 17, 63):
        learners = [nr.OnlineGradientDescent(rate=rate, radius=0.7, bias=bias).core for _ in range(2)]
        learners[0].play(*part(X, y, None, 0, len(y), "dense"))
        learners[1].play(*part(X, y, None, 0, stop, "dense"))
        model.save(learners[1], tmp_path / "m.nr")
        loaded, _ = model.load(tmp_path / "m.nr")
        loaded.play(*part(X, y, None, stop, len(y), "dense"))
        assert everything(loaded) == everything(learners[0])


@every_case
def test_a_run_stopped_in_the_middle_of_a_pass_goes_on_in_the_same_stream(name, spec, tmp_path):
    rng = np.random.default_rng([3, *name.encode(), *spec.encode()])
    X, y, _ = stream(name, spec, seed=8)
    more = {} if parse(spec).regression else {"class_weight": {1: 3.0, -1: 0.5}}
    options = OPTIONS[int(rng.integers(len(OPTIONS)))]
    whole, first = MAKE[name](spec, **options), MAKE[name](spec, **options)
    nr.play(whole, (X, y), passes=2, shuffle=5, **more)
    left = int(rng.integers(2, 15))

    def stop():
        nonlocal left
        left -= 1
        return left == 0

    run = nr.play(first, read((X, y), block_rows=9), passes=2, shuffle=5, digest=True, stop=stop, **more)
    assert run.stopped
    model.save(first, tmp_path / "m.nr")
    second, _ = model.load(tmp_path / "m.nr")
    nr.play(second, read((X, y), block_rows=7), passes=2, shuffle=5, skip_seen=True, **more)
    second.segments = whole.segments
    assert everything(second) == everything(whole)


GO_ON = """
import sys, numpy as np
from noregret import model
from oracle.registry import CASES, LAYOUTS, everything
folder = sys.argv[1]
for number in map(int, sys.argv[2:]):
    with np.load(f"{folder}/{number}.npz") as rest:
        learner, _ = model.load(f"{folder}/{number}.nr")
        learner.play(LAYOUTS["sparse"](rest["X"]), rest["y"], rest["weights"])
    open(f"{folder}/{number}.bytes", "wb").write(everything(learner))
"""


def test_another_process_goes_on_as_if_it_had_been_there_from_the_start(tmp_path):
    numbers = [0, 1, 5, len(CASES) // 2, len(CASES) - 1]
    expected = {}
    for number in numbers:
        name, spec = CASES[number]
        X, y, _ = stream(name, spec, seed=number)
        weights = np.where(y > 0, 2.0, 0.5)
        options = OPTIONS[number % len(OPTIONS)]
        whole, first = MAKE[name](spec, **options), MAKE[name](spec, **options)
        whole.play(*part(X, y, weights, 0, len(y), "sparse"))
        first.play(*part(X, y, weights, 0, 23, "sparse"))
        model.save(first, tmp_path / f"{number}.nr")
        np.savez(tmp_path / f"{number}.npz", X=X[23:], y=y[23:], weights=weights[23:])
        expected[number] = everything(whole)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", GO_ON, str(tmp_path), *map(str, numbers)], check=True, env=environment)
    for number in numbers:
        assert (tmp_path / f"{number}.bytes").read_bytes() == expected[number], CASES[number]


KEEPERS = ("voted", "kernel")  # they keep rows as they came, in either layout
ESTIMATORS = {
    "perceptron": nr.Perceptron,
    "voted": nr.VotedPerceptron,
    "ogd": nr.OnlineGradientDescent,
    "ogd-strong": nr.StronglyConvexGradientDescent,
    "ogd-regressor": nr.OnlineGradientDescentRegressor,
    "ogd-strong-regressor": nr.StronglyConvexGradientDescentRegressor,
    "markov": functools.partial(nr.MarkovLabels, order=2),
    "naive-bayes": nr.NaiveBayes,
    "nearest": functools.partial(nr.NearestNeighbours, window=30, neighbours=4),
    "nearest-numbers-regressor": functools.partial(nr.NearestNumbers, window=30, neighbours=4),
    "second-order": nr.SecondOrderPerceptron,
    "vaw-regressor": nr.VovkAzouryWarmuth,
    "newton": nr.LogisticNewton,
    "ridge-regressor": nr.RidgeForgetting,
    "persistence-regressor": nr.Persistence,
    "diagonal": nr.DiagonalNewton,
    "kernel": functools.partial(nr.KernelPerceptron, kernel="linear"),
    "averaged": nr.AveragedPerceptron,
    "pa": nr.PassiveAggressive,
    "pa-regressor": nr.PassiveAggressiveRegressor,
    "pa1": nr.PassiveAggressiveI,
    "pa1-regressor": nr.PassiveAggressiveIRegressor,
    "pa2": nr.PassiveAggressiveII,
    "pa2-regressor": nr.PassiveAggressiveIIRegressor,
    "adagrad": nr.AdaGrad,
    "adagrad-regressor": nr.AdaGradRegressor,
    "ftrl": nr.FollowTheRegularisedLeader,
    "ftrl-regressor": nr.FollowTheRegularisedLeaderRegressor,
    "coin": nr.CoinBetting,
    "coin-regressor": nr.CoinBettingRegressor,
    "scale-free": nr.ScaleFree,
    "scale-free-regressor": nr.ScaleFreeRegressor,
}
SETTINGS = {
    "ogd": {"radius": 1.5},
    "ogd-strong": {"radius": 1.5},
    "coin": {"gradient_bound": 50.0},
    "ftrl": {"l1": 0.1},
    "newton": {"walk": 0.05},
}


def kept(core):
    """The arrays of a learner as bytes."""
    return {name: array.tobytes() for name, array in core.arrays().items()}


def estimator(name, spec, options):
    regression = "-regressor" if parse(spec).regression else ""
    settings = {} if name in OWN else {"loss": spec}
    return ESTIMATORS[name + regression](**settings, **SETTINGS.get(name, {}), **options)


@every_case
@pytest.mark.parametrize("options", OPTIONS)
def test_learn_one_and_partial_fit_are_fit(name, spec, options):
    X, y = data(spec, rounds=40, columns=4, seed=7)
    whole, ones, parts = (estimator(name, spec, options) for _ in range(3))
    whole.set_params(passes=1, shuffle=None).fit(X, y)
    for x, label in zip(X, y, strict=True):
        ones.learn_one(x, label)
    parts.partial_fit(X[:13], y[:13]).partial_fit(X[13:14], y[13:14]).partial_fit(X[14:], y[14:])
    for other in (ones.core, parts.core):
        assert other.state.tobytes() == whole.core.state.tobytes()
        assert kept(other) == kept(whole.core)


@every_case
def test_dicts_and_pairs_are_the_sparse_rows_they_stand_for(name, spec):
    X, y = data(spec, rounds=40, columns=4, seed=9)
    whole, dicts, pairs = (estimator(name, spec, {}) for _ in range(3))
    whole.core.play(LAYOUTS["sparse"](X), y)
    for x, label in zip(X, y, strict=True):
        where = np.flatnonzero(x)
        dicts.learn_one({int(i): x[i] for i in where}, label)
        pairs.learn_one((where, x[where]), label)
    for other in (dicts.core, pairs.core):
        assert other.state.tobytes() == whole.core.state.tobytes()
        assert kept(other) == kept(whole.core)


@every_case
@pytest.mark.parametrize("options", OPTIONS)
def test_predicting_changes_no_byte(name, spec, options):
    X, y = data(spec, rounds=30, columns=4, seed=10)
    learned = estimator(name, spec, options).fit(X, y)
    other = 5.0 * np.random.default_rng(0).normal(size=(9, 4))
    before, settings = everything(learned.core), pickle.dumps(learned.get_params())
    ways = ["predict", "decision_function", "predict_proba"]
    for way in ways:
        if hasattr(learned, way):
            getattr(learned, way)(other)
    for x in other:
        learned.predict_one(x)
        learned.predict_one((np.array([1, 3]), x[:2]))
        learned.predict_one({0: x[0], 2: x[2]})
        if hasattr(learned, "predict_proba_one"):
            learned.predict_proba_one(x)
    learned.core.scores(LAYOUTS["sparse"](np.hstack([other, other])))
    assert everything(learned.core) == before
    assert pickle.dumps(learned.get_params()) == settings


@pytest.mark.parametrize(("name", "spec"), [case for case in CASES if case[0] not in ("averaged", "voted")])
def test_prediction_agrees_with_the_scores_of_the_rounds(name, spec):
    X, y = data(spec, rounds=20, columns=4, seed=11)
    learner = MAKE[name](spec, scale="max", bias=True)
    learner.play(LAYOUTS["dense"](X), y)
    seen = learner.scores(LAYOUTS["dense"](X[-1:]))  # its maxima hold the row already
    assert learner.play(LAYOUTS["dense"](X[-1:]), y[-1:]).tobytes() == seen.tobytes()


def test_predicting_with_unknown_names_adds_none():
    learned = nr.Perceptron().learn_one({"a": 1.0}, 1).learn_one({"b": 1.0}, -1)
    before = everything(learned.core)
    assert learned.predict_one({"a": 1.0, "c": 9.0, "d": "red"}) == 1
    assert everything(learned.core) == before


@every_case
def test_dense_and_sparse_parts_may_follow_each_other(name, spec, tmp_path):
    X, y = data(spec, rounds=60, columns=5, seed=12)
    dense, mixed = MAKE[name](spec, bias=True), MAKE[name](spec, bias=True)
    scores = dense.play(LAYOUTS["dense"](X), y)
    found = []
    for number, (a, b) in enumerate(itertools.pairwise([0, 7, 20, 21, 40, 60])):
        found.extend(mixed.play(*part(X, y, None, a, b, ["sparse", "dense"][number % 2])))
        model.save(mixed, tmp_path / "m.nr")
        mixed, _ = model.load(tmp_path / "m.nr")
    assert np.abs(scores - found).max() <= 1e-12 * np.abs(scores).max()
    assert np.abs(dense.weights - mixed.weights).max(initial=0.0) <= 1e-12 * np.abs(dense.weights).max(initial=0.0)
    if name not in KEEPERS:
        for one, other in zip(dense.arrays().values(), mixed.arrays().values(), strict=True):
            assert one == pytest.approx(other, rel=1e-11, abs=1e-12)
