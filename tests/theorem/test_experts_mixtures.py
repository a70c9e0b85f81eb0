"""Mixtures keep their promise on every prefix: log ln N, squared 2B² ln N, Brier 4 ln N, with sleepers and without."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from noregret.experts.methods import METHODS
from noregret.proof.theorem import Verdict
from noregret.task.blend import blend
from oracle import experts as twin

CHANCES = st.sampled_from([0.0, 0.01, 0.25, 0.5, 0.9, 1.0])


@st.composite
def rounds_of(draw, several=False, sleepers=False, repeated=True):
    """(forecasts, outcomes): numbers in [0, 1] with outcomes 0 and 1, or probabilities of three outcomes."""
    rounds, experts = draw(st.integers(1, 25)), draw(st.integers(1, 5))
    if several:
        raw = draw(arrays(np.float64, (rounds, experts, 3), elements=st.sampled_from([0.0, 0.2, 1.0, 3.0])))
        raw[raw.sum(axis=2) == 0.0] = [1.0, 0.0, 0.0]
        given = raw / raw.sum(axis=2, keepdims=True)
        y = draw(arrays(np.float64, rounds, elements=st.sampled_from([0.0, 1.0, 2.0])))
    else:
        given = draw(arrays(np.float64, (rounds, experts, 1), elements=CHANCES))
        y = draw(arrays(np.float64, rounds, elements=st.sampled_from([0.0, 1.0])))
    times = draw(st.integers(1, 20)) if repeated else 1
    given, y = np.tile(given, (times, 1, 1)), np.tile(y, times)
    if sleepers:
        asleep = draw(arrays(np.bool_, given.shape[:2]))
        asleep[:, draw(st.integers(0, experts - 1))] = False
        given[asleep] = np.nan
    return given, y


def costs_of(loss, given, y):
    """What each expert loses, None where it sleeps."""
    rows = []
    for row, outcome in zip(given.tolist(), y.tolist(), strict=True):
        said = [None if math.isnan(x[0]) else x if len(x) > 1 else x[0] for x in row]
        rows.append([None if x is None else twin.loss_of(loss, x, outcome) for x in said])
    return rows


def assert_every_prefix_is_kept(found, bound):
    """After every round, against every expert, over the rounds in which it was awake."""
    costs = np.array(
        [
            [own if cost is None else cost for cost in row]
            for own, row in zip(found.losses, found_costs(found), strict=True)
        ]
    )
    so_far = np.cumsum(found.losses)[:, None] - np.cumsum(costs, axis=0)
    assert so_far.max() <= bound + 1e-9
    for one in found.certificates:
        assert one.verdict in (Verdict.HOLDS, Verdict.VACUOUS)
        assert one.observed <= one.bound
    assert found.interval.lo - 1e-9 <= so_far[-1].max() <= found.interval.hi + 1e-9


def found_costs(found):
    return costs_of(found.reading["loss"], found.data.values, found.data.outcomes)


@settings(max_examples=60)
@given(st.booleans().flatmap(lambda asleep: rounds_of(sleepers=asleep)), st.floats(0.1, 50.0), st.floats(-9.0, 9.0))
def test_squared(table, width, low):
    given, y = table
    given, y = low + width * given, low + width * y
    ends = (min(low, np.nanmin(given)), max(low + width, np.nanmax(given), y.max()))
    found = blend((given, y), loss="squared", range=ends)
    assert_every_prefix_is_kept(found, 2 * (ends[1] - ends[0]) ** 2 * math.log(given.shape[1]) + 1e-9 * width**2)


@settings(max_examples=60)
@given(st.booleans().flatmap(lambda asleep: rounds_of(several=True, sleepers=asleep)))
def test_brier_of_three_outcomes(table):
    found = blend(table, loss="brier")
    assert_every_prefix_is_kept(found, 4 * math.log(table[0].shape[1]))


@settings(max_examples=60)
@given(st.booleans().flatmap(lambda asleep: rounds_of(sleepers=asleep)))
def test_brier_of_two_outcomes(table):
    assert_every_prefix_is_kept(blend(table, loss="brier"), 4 * math.log(table[0].shape[1]))


@settings(max_examples=80)
@given(st.tuples(st.booleans(), st.booleans()).flatmap(lambda kind: rounds_of(several=kind[0], sleepers=kind[1])))
def test_log(table):
    given, y = table
    rows = costs_of("log", given, y)
    alive = [True] * given.shape[1]  # somebody awake must not yet have given an outcome probability 0
    for row in rows:
        alive = [one and cost != math.inf for one, cost in zip(alive, row, strict=True)]
        assume(any(one and cost is not None for one, cost in zip(alive, row, strict=True)))
    assert_every_prefix_is_kept(blend(table, loss="log"), math.log(given.shape[1]))


def test_the_log_bound_is_attained():
    """N experts, each sure of another sequence: the mixture loses ln N and the right one nothing."""
    given = np.eye(8)[None, :, :]
    found = blend((given, np.array([3.0])), loss="log")
    assert found.regret == pytest.approx(math.log(8))
    assert found.interval.hi <= found.bound
    assert [one.theorem for one in found.certificates] == ["blend-mixture"]


@pytest.mark.parametrize("method", [method for method in METHODS if method != "gradient"])
@pytest.mark.parametrize("loss", ["squared", "absolute", "brier"])
def test_every_method_keeps_its_bound_on_every_prefix(method, loss):
    if method == "mixture" and loss == "absolute":
        return
    rng = np.random.default_rng(3)
    y = (rng.random(400) < 0.6).astype(float)
    given = np.clip(y[:, None] + rng.normal(0.0, [0.3, 0.5, 0.6], (400, 3)), 0.0, 1.0)
    given[100:200, 0] = 1.0 - given[100:200, 0]
    given[rng.random(given.shape) < 0.1] = np.nan
    given[np.isnan(given).all(axis=1)] = 0.5
    found = blend((given, y), loss=loss, method=method)
    assert (found.regret_so_far() <= found.promised_so_far() + 1e-9).all()
    assert found.promised_so_far()[-1] <= found.bound * (1 + 1e-9) + 1e-9
    assert not found.broken


@settings(max_examples=30)
@given(rounds_of(several=True, sleepers=True), st.sampled_from(["log", "brier"]))
def test_the_compiled_mixture_is_its_twin(table, loss):
    given, y = table
    given = 0.9 * given + 0.1 / 3
    rows = [[None if math.isnan(x[0]) else x for x in row] for row in given.tolist()]
    said, own = twin.mixture(rows, y.tolist(), loss, 1.0 if loss == "log" else 0.25)
    found = blend((given, y), loss=loss)
    assert np.allclose(found.forecasts, said, rtol=0, atol=1e-9)
    assert np.allclose(found.losses, own, rtol=0, atol=1e-8)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_numbers_far_from_zero_break_nothing(loss):
    """The mean of equal forecasts near 10⁹ is rounded to 10⁻⁷: that is allowed for, whatever the range."""
    rng = np.random.default_rng(0)
    x = np.repeat(1e9 + 1e-6 * rng.integers(0, 9, (500, 1)), 7, axis=1)
    y = 1e9 + 1e-6 * rng.integers(0, 9, 500)
    found = blend((x, y), loss=loss, range=(1e9, 1e9 + 1e-5))
    assert not found.broken
    assert all(one.verdict is not Verdict.OPEN for one in found.certificates)
