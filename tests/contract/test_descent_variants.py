"""Gradient descent in its other domains and with penalties: the rounds of the definition, however a stream is cut."""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest

from noregret import model
from noregret.learner import LEARNERS, OnlineGradientDescent
from oracle import learners as plain
from oracle.losses import loss_of
from oracle.registry import LAYOUTS, data, everything

LOSSES = ["hinge", "logistic", "squared"]
CROSS = {"domain": "l1", "radius": 0.6}
SIMPLEX = {"domain": "simplex", "radius": 0.6}
# settings, and what the definition's `descent` takes for them
VARIANTS = {
    "l1-auto": (CROSS, {"step": plain.adaptive(0.6), "project": plain.cross(0.6)}),
    "l1-sqrt": ({**CROSS, "rate": "sqrt:2"}, {"step": plain.over_root(2.0), "project": plain.cross(0.6)}),
    "simplex-auto": (SIMPLEX, {"step": plain.adaptive(0.6), "project": plain.simplex(0.6)}),
    "simplex-doubling": (
        {**SIMPLEX, "rate": "doubling:2"},
        {"step": plain.doubling(0.6, 2.0), "project": plain.simplex(0.6), "restart": True},
    ),
    "ridge-auto": (
        {"radius": 0.6, "l2": 0.3},
        {"step": plain.adaptive(0.6), "project": plain.ball(0.6), "l2": 0.3},
    ),
    "ridge-strong": (
        {"radius": math.inf, "rate": "constant:0.7", "l2": 50.0},
        {"step": plain.constant(0.7), "l2": 50.0},
    ),
    "ridge-box": (
        {"domain": "box", "radius": 0.1, "rate": "sqrt:2", "l2": 0.3},
        {"step": plain.over_root(2.0), "project": plain.box(0.1), "l2": 0.3},
    ),
    "ridge-l1": (
        {**CROSS, "rate": "constant:0.5", "l2": 0.3},
        {"step": plain.constant(0.5), "project": plain.cross(0.6), "l2": 0.3},
    ),
    "lasso-box": (
        {"domain": "box", "radius": 0.2, "rate": "sqrt:1", "l1": 0.05},
        {"step": plain.over_root(1.0), "project": plain.box(0.2), "l1": 0.05},
    ),
    "lasso-whole": (
        {"radius": math.inf, "rate": "constant:0.2", "l1": 0.05},
        {"step": plain.constant(0.2), "l1": 0.05},
    ),
    "elastic-net": (
        {"radius": math.inf, "rate": "constant:0.7", "l1": 0.02, "l2": 1.0},
        {"step": plain.constant(0.7), "l1": 0.02, "l2": 1.0},
    ),
}
every_variant = pytest.mark.parametrize("variant", VARIANTS)
every_loss = pytest.mark.parametrize("loss", LOSSES)
every_layout = pytest.mark.parametrize("layout", ["dense", "sparse"])


def make(variant, loss, **more):
    return OnlineGradientDescent(loss=loss, **VARIANTS[variant][0], **more)


def stream(loss, seed=1):
    """Few features at first, far ones later."""
    X, y = data(loss, rounds=150, columns=80, seed=seed, density=0.2)
    X[:70, 6:] = 0.0
    return X, y, np.random.default_rng(seed).choice([0.5, 1.0, 2.0], 150)


@every_variant
@every_loss
@every_layout
def test_the_rounds_are_those_of_the_definition(variant, loss, layout):
    X, y, weights = stream(loss)
    learner = make(variant, loss, bias=True)
    scores = learner.play(LAYOUTS[layout](X), y, weights)
    longer = np.column_stack([X, np.ones(len(y))])
    game = plain.descent(longer.tolist(), y.tolist(), loss_of(loss), weights=weights.tolist(), **VARIANTS[variant][1])
    assert scores == pytest.approx(game.scores, rel=1e-10, abs=1e-10)
    assert [*learner.weights, learner.bias] == pytest.approx(game.W[-1], rel=1e-10, abs=1e-10)
    assert learner.state["loss"][0] == pytest.approx(sum(game.losses), rel=1e-10)
    if "ridge" not in variant:  # which leaves weights that are all but 0
        assert learner.nonzero == np.count_nonzero([abs(part) > 1e-10 for part in game.W[-1]])


@every_variant
@every_loss
@every_layout
@pytest.mark.parametrize("more", [{}, {"bias": True}, {"scale": "max", "unit_norm": True}])
def test_any_split_and_any_stop_is_the_whole_block(variant, loss, layout, more, tmp_path):
    X, y, weights = stream(loss, seed=2)
    weights[::7] = 0.0

    def part(a, b):
        width = max(int(np.flatnonzero(X[:b].any(axis=0)).max(initial=-1)) + 1, 1) if layout == "sparse" else 80
        return LAYOUTS[layout](X[a:b, :width]), y[a:b], weights[a:b]

    whole = make(variant, loss, **more)
    scores = whole.play(*part(0, len(y)))
    for bounds in (range(len(y) + 1), [0, 13, 64, 71, 150]):
        pieces = make(variant, loss, **more)
        played = [pieces.play(*part(a, b)) for a, b in itertools.pairwise(bounds)]
        assert np.concatenate(played).tobytes() == scores.tobytes()
        assert everything(pieces) == everything(whole)
        assert pieces.scores(LAYOUTS[layout](X)).tobytes() == whole.scores(LAYOUTS[layout](X)).tobytes()
    first = make(variant, loss, **more)
    first.play(*part(0, 90))
    model.save(first, tmp_path / "m.nr")
    second, _ = model.load(tmp_path / "m.nr")
    assert second.play(*part(90, 150)).tobytes() == scores[90:].tobytes()
    assert everything(second) == everything(whole)


@every_variant
@every_layout
def test_a_single_example_is_a_block_of_one(variant, layout):
    X, y, _ = stream("hinge", seed=3)
    block, single = make(variant, "hinge"), make(variant, "hinge")
    for t in range(len(y)):
        rows = LAYOUTS[layout](X[t : t + 1])
        scored = block.scores(rows)[0]
        if single.width >= rows.width:
            assert single.score_one(rows.native if layout == "sparse" else X[t]) == pytest.approx(scored, abs=1e-12)
        played = block.play(rows, y[t : t + 1])[0]
        if "doubling" not in variant:  # which may begin anew with the round
            assert played == pytest.approx(scored, abs=1e-12)
        single.play_one(rows.native, rows.width, float(y[t]), 1.0)
    assert everything(single) == everything(block)


@pytest.mark.parametrize("name", ["adagrad", "ftrl", "ogd"])
def test_a_first_row_without_features_is_a_round(name):
    more = {"l1": 0.1, "domain": "box", "rate": "sqrt:1"} if name == "ogd" else {}
    block, single = LEARNERS[name](**more), LEARNERS[name](**more)
    nothing = LAYOUTS["sparse"](np.zeros((1, 0)))
    assert block.play(nothing, np.array([1.0])).tolist() == [0.0]
    single.play_one(nothing.native, 0, 1.0, 1.0)
    assert block.rounds == single.rounds == 1
    assert block.width == len(block.weights) == 0


@pytest.mark.parametrize("name", ["adagrad", "ftrl"])
@pytest.mark.parametrize("how", [lambda core: core, copy.deepcopy, lambda core: pickle.loads(pickle.dumps(core))])
def test_the_four_numbers_of_a_feature_lie_in_one_line_of_the_cache(name, how):
    for width in (1, 5, 3000):
        core = LEARNERS[name]()
        core.grow(width, sparse=True)
        core = how(core)
        assert core.total.shape == (max(width, 2), 4)
        assert core.total.ctypes.data % 64 == 0
        core.total[-1] = 7.0
        assert core.z[-1] == 7.0


@pytest.mark.parametrize("how", [copy.deepcopy, lambda core: pickle.loads(pickle.dumps(core))])
def test_a_copy_goes_on_by_itself(how):
    X, y, _ = stream("hinge")
    first = make("lasso-box", "hinge")
    first.play(LAYOUTS["sparse"](X[:90]), y[:90])
    other = how(first)
    assert type(other) is type(first)
    scores = [core.play(LAYOUTS["sparse"](X[90:]), y[90:]) for core in (other, first)]
    assert scores[0].tobytes() == scores[1].tobytes()
    assert everything(other) == everything(first)
    first.reset()
    assert type(first) is type(other)
    assert first.rounds == 0
