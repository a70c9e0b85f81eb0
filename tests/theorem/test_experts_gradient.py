"""The gradient method keeps what it promises against every fixed mean of the experts, on every prefix of every stream.

The theorems: linearised-mean, adahedge-mean, adahedge-mean-spread.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from noregret.experts import Blender
from noregret.proof.theorem import Verdict
from noregret.task.blend import blend
from oracle import experts as twin

NUMBERS = st.sampled_from([0.0, 0.01, 0.25, 0.5, 0.9, 1.0])
NAMES = {"linearised-mean", "adahedge-mean", "adahedge-mean-spread"}
LOSSES = st.sampled_from(["squared", "absolute"])


@st.composite
def tables(draw, sleepers=True):
    """(forecasts, outcomes, range): the same few rounds again and again, moved and stretched."""
    rounds, experts = draw(st.integers(1, 20)), draw(st.integers(1, 5))
    x = draw(arrays(np.float64, (rounds, experts), elements=NUMBERS))
    y = draw(arrays(np.float64, rounds, elements=NUMBERS))
    times = draw(st.integers(1, 20))
    low, wide = draw(st.sampled_from([0.0, -3.0, 40.0])), draw(st.sampled_from([1.0, 0.01, 500.0]))
    x, y = low + wide * np.tile(x, (times, 1)), low + wide * np.tile(y, times)
    if sleepers and draw(st.booleans()):
        asleep = draw(arrays(np.bool_, x.shape))
        asleep[:, draw(st.integers(0, experts - 1))] = False
        x[asleep] = np.nan
    return x, y, (low, low + wide)


def lost(loss, z, y):
    return (z - y) ** 2 if loss == "squared" else np.abs(z - y)


def means(experts, rng):
    """Weights of means: all corners, the middle, and others, most of them near an edge."""
    return np.concatenate(
        [np.eye(experts), np.full((1, experts), 1.0 / experts), rng.dirichlet(np.full(experts, 0.5), 40)]
    )


def regrets_so_far(found, loss, weights):
    """The regret against each mean after every round; a sleeper says what the blend said."""
    said = found.forecasts[:, 0]
    x = np.where(np.isnan(found.data.values[:, :, 0]), said[:, None], found.data.values[:, :, 0])
    own = lost(loss, said, found.data.outcomes)
    return np.cumsum(own)[:, None] - np.cumsum(lost(loss, x @ weights.T, found.data.outcomes[:, None]), axis=0)


def spreads_of(found, loss):
    """How far apart slope(p)·x of the experts lie in each round; a sleeper says p."""
    said, y = found.forecasts[:, 0], found.data.outcomes
    x = np.where(np.isnan(found.data.values[:, :, 0]), said[:, None], found.data.values[:, :, 0])
    slope = 2.0 * (said - y) if loss == "squared" else np.sign(said - y)
    return np.abs(slope) * (x.max(axis=1) - x.min(axis=1))


@settings(max_examples=120, deadline=None)
@given(tables(), LOSSES)
def test_no_fixed_mean_is_beaten_by_more_than_was_promised_on_any_prefix(table, loss):
    x, y, ends = table
    found = blend((x, y), loss=loss, range=ends, against="mean")
    seen = regrets_so_far(found, loss, means(x.shape[1], np.random.default_rng(0))).max(axis=1)
    B, experts = ends[1] - ends[0], x.shape[1]
    width = B if loss == "absolute" else 2.0 * B * B
    spare = 1e-9 * (width + max(map(abs, ends)))
    linear, promised = found.linearised_so_far(), found.promised_so_far()
    assert (seen <= linear + spare).all()
    assert (linear <= promised + spare).all()
    spreads = spreads_of(found, loss)
    scale_free = np.sqrt(math.log(experts) * np.cumsum(spreads**2)) + 2.0 * np.maximum.accumulate(spreads)
    assert (promised <= scale_free + spare).all()
    assert spreads.max() <= width + spare
    assert {one.theorem for one in found.certificates} == NAMES
    for one in found.certificates:
        assert one.verdict is not Verdict.BROKEN
        assert all(part.holds for part in one.assumptions)
    best = {one.theorem: one.bound for one in found.certificates}
    assert best["linearised-mean"] == pytest.approx(max(linear[-1], 0.0), abs=spare + 1e-9 * abs(linear[-1]))
    assert best["linearised-mean"] <= best["adahedge-mean"] + spare
    assert best["adahedge-mean"] <= best["adahedge-mean-spread"] + spare
    assert best["adahedge-mean-spread"] == pytest.approx(scale_free[-1], abs=spare)


@settings(max_examples=60, deadline=None)
@given(tables(), LOSSES)
def test_the_best_mean_is_enclosed(table, loss):
    """No mean loses less than the lower end, and the printed weights lose no more than the upper one."""
    x, y, ends = table
    found = blend((x, y), loss=loss, range=ends, against="mean")
    weights = np.concatenate([means(x.shape[1], np.random.default_rng(1)), found.mean.weights[None, :]])
    regrets = regrets_so_far(found, loss, weights)[-1]
    near = 1e-9 * (1.0 + found.loss)
    assert found.mean_regret.lo - near <= regrets[-1]
    assert regrets.max() <= found.mean_regret.hi + near
    assert found.regret <= found.mean_regret.hi + near


@settings(max_examples=60, deadline=None)
@given(tables(), LOSSES)
def test_the_compiled_rounds_are_their_twin(table, loss):
    x, y, ends = table
    found = blend((x, y), loss=loss, range=ends, against="mean")
    rows = [[None if math.isnan(one) else one for one in row] for row in x.tolist()]
    said, own, gap, linear = twin.gradient(rows, y.tolist(), loss)
    scale = max(map(abs, ends)) + ends[1] - ends[0]
    if abs(found.contest.gap - gap) > 1e-7 * scale**2:  # a tie that one of the two rounds away from
        assert np.isclose(found.linearised_so_far()[-1], max(linear), rtol=0.5, atol=scale**2)
        return
    assert np.allclose(found.forecasts[:, 0], said, rtol=0, atol=1e-6 * scale)
    assert np.allclose(found.losses, own, rtol=0, atol=1e-6 * scale**2)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
@pytest.mark.parametrize("experts", [2, 5])
@pytest.mark.parametrize("jump", [1.0, 1000.0])
def test_an_outcome_chosen_against_every_forecast_breaks_nothing(loss, experts, jump):
    """The adversary hears the forecast and answers with the end that is farther away; later it talks louder."""
    rng = np.random.default_rng(experts)
    ends = (-jump, jump)
    blender = Blender(experts, loss=loss, range=ends, against="mean", rounds=600)
    rows, came = [], []
    for t in range(600):
        size = jump if t > 300 else 1.0
        rows.append(rng.choice([-size, 0.0, size], experts))
        said = blender.predict(rows[-1])
        came.append(-size if said > 0 else size)
        blender.learn(came[-1])
    found = blend((np.array(rows), np.array(came)), loss=loss, range=ends, against="mean")
    seen = regrets_so_far(found, loss, means(experts, rng)).max(axis=1)
    assert (seen <= found.linearised_so_far() + 1e-6).all()
    assert (found.linearised_so_far() <= found.promised_so_far() + 1e-6).all()
    assert seen[-1] > 0.0
    assert not found.broken


def test_the_linearised_bound_is_attained_where_the_loss_is_linear():
    """All outcomes on one side of all forecasts: the absolute loss is linear there, and the regret is the bound."""
    rng = np.random.default_rng(2)
    x = rng.random((50, 3))
    found = blend((x, np.ones(50)), loss="absolute", against="mean")
    bound = next(one.bound for one in found.certificates if one.theorem == "linearised-mean")
    assert found.mean_regret.lo <= bound
    assert bound == pytest.approx(found.mean_regret.hi, rel=1e-6)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_it_follows_a_mean_that_is_better_than_every_expert(loss):
    """Two experts who err to opposite sides: their middle is right, and following the better of them is not."""
    rng = np.random.default_rng(4)
    y = rng.random(2000)
    x = np.column_stack([y + 0.4, y - 0.5]) + 0.05 * rng.normal(size=(2000, 2))
    mean = blend((x, y), loss=loss, range=(-1, 2), against="mean")
    expert = blend((x, y), loss=loss, range=(-1, 2), method="adahedge")
    assert mean.loss < 0.2 * expert.loss
    assert mean.mean.weights[0] == pytest.approx(5 / 9, abs=0.02)
    assert mean.mean.upper < 0.2 * mean.best_loss
