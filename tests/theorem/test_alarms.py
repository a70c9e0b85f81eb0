"""Theorem `alarm`: under its null it seldom rings, whatever the losses do within it; and it rings soon when it should.

Medians of the delay are those of a table that was made by another implementation (200 runs each).
"""

import math

import numpy as np
import pytest

import noregret as nr
from noregret import _native
from noregret.learner import Auto, OnlineGradientDescent, Perceptron
from noregret.proof.facts.alarm import AlarmFacts
from noregret.proof.theorem import Verdict
from noregret.proof.theorems import THEOREMS
from noregret.watch.alarm import Alarm


def rings(losses, level, delta):
    """The round after which it rings, 1 being the first; None if it does not."""
    place = _native.watch(losses, level, 1.0 / delta * (1.0 + 1e-15), np.zeros(_native.ALARM_NUMBERS))
    return place + 1 if place < len(losses) else None


@pytest.mark.parametrize("level", [0.05, 0.1, 0.5])
@pytest.mark.parametrize("kind", ["binary", "graded", "drifting below"])
def test_stationary_losses_seldom_ring(kind, level):
    rng = np.random.default_rng([20, int(100 * level), len(kind)])
    found = 0
    for _ in range(200):
        losses = {
            "binary": lambda: (rng.random(5000) < level).astype(float),
            "graded": lambda: rng.beta(2 * level, 2 * (1 - level), 5000),
            "drifting below": lambda: (rng.random(5000) < level * (np.arange(5000) / 5000)).astype(float),
        }[kind]()
        found += rings(losses, level, 0.05) is not None
    assert found <= 17  # 10 are allowed on average; more than 17 of 200 has probability 0.01


def test_a_player_who_stops_when_ahead_does_not_profit():
    """Adversarial, and yet within the null: each mean is at most m, and its place is chosen by what has happened."""
    rng, level, found = np.random.default_rng(8), 0.2, 0
    for _ in range(200):
        losses, ahead = np.zeros(2000), 0.0
        for t in range(2000):
            p = level if ahead <= 3.0 else 0.0  # stand still as soon as it went well
            losses[t] = rng.random() < p
            ahead += losses[t] - level
        found += rings(losses, level, 0.05) is not None
    assert found <= 17


POWER = {  # mean after the change: median delays after a change at round 0, 1000, 5000, for m = 0.10 and δ = 0.01
    0.15: (436, 869, 1191),
    0.20: (120, 290, 416),
    0.30: (33, 104, 124),
}


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("after", POWER)
def test_the_delay_is_that_of_the_table(after, at):
    change = (0, 1000, 5000)[at]
    rng = np.random.default_rng([int(100 * after), change])
    delays = []
    for _ in range(50):
        calm = (rng.random(change) < 0.10).astype(float)
        risen = (rng.random(20_000) < after).astype(float)
        rang = rings(np.concatenate([calm, risen]), 0.10, 0.01)
        assert rang is not None
        if rang > change:
            delays.append(rang - change)
    assert len(delays) >= 48
    assert np.median(delays) == pytest.approx(POWER[after][at], rel=0.25)


def test_the_theorem_speaks_of_the_run():
    rng = np.random.default_rng(1)
    risen = AlarmFacts((rng.random(3000) < 0.3).astype(float), 0.1, 0.01)
    found = THEOREMS["alarm"](risen)
    assert found.verdict is Verdict.HOLDS
    assert found.bound <= 0.01
    assert found.values["rang"] == rings(risen.losses, 0.1, 0.01)
    assert [one.holds for one in found.assumptions] == [True, True, True, None]
    calm = THEOREMS["alarm"](AlarmFacts(np.zeros(100), 0.1, 0.01))
    assert (calm.verdict, calm.values["rang"]) == (Verdict.VACUOUS, 0.0)
    assert THEOREMS["alarm"](AlarmFacts(np.array([2.0]), 0.1, 0.01)).verdict is Verdict.UNMET


# -- through a run -----------------------------------------------------------------------------------------------------


def rows(n, seed, change=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = (X @ np.array([1.0, 2.0, -1.0, 0.5]) + 0.3 * rng.normal(size=n) > 0).astype(int)
    if change == "flip":
        y[n // 2 :] = 1 - y[n // 2 :]
    elif change == "noise":
        y[n // 2 :] = rng.integers(0, 2, n - n // 2)
    return X, y


@pytest.mark.parametrize("seed", range(5))
def test_labels_that_become_noise_ring_and_calm_ones_do_not(seed):
    alarm = Alarm("level:0.2", after=100)
    assert nr.play(Auto(task="binary"), rows(3000, seed), alarm=alarm).alarm["rang"] == []
    (rang,) = nr.play(Auto(task="binary"), rows(3000, seed, "noise"), alarm=alarm).alarm["rang"]
    assert 1500 < rang < 1800


@pytest.mark.parametrize("seed", range(5))
def test_a_learner_that_is_slow_to_follow_a_flip_rings_above_a_level_and_against_who_knows_better(tmp_path, seed):
    from noregret.model import save

    slow = {"loss": "hinge", "rate": "constant:0.0001"}  # what it learned in half of the run takes as long to unlearn
    X, y = rows(1000, seed + 50)
    knows = Perceptron()
    nr.play(knows, (X, 1 - y))
    save(knows, tmp_path / "c.nr")
    for null in ("level:0.3", f"challenger:{tmp_path / 'c.nr'}"):
        alarm = Alarm(null, after=100)
        assert nr.play(OnlineGradientDescent(**slow), rows(3000, seed), alarm=alarm).alarm["rang"] == []
        (rang,) = nr.play(OnlineGradientDescent(**slow), rows(3000, seed, "flip"), alarm=alarm).alarm["rang"]
        assert 1500 < rang < 1600


def test_an_alarm_that_restarts_spends_its_probability_once():
    """Labels that are always noise at m = ½: every learner is at the boundary of the null, and restarts seldom."""
    rng, found = np.random.default_rng(3), 0
    for _ in range(100):
        X, y = rng.normal(size=(1000, 2)), rng.integers(0, 2, 1000)
        run = nr.play(Perceptron(), (X, y), alarm=Alarm("level:0.5", on_alarm="restart", false_alarm=0.05))
        found += bool(run.alarm["rang"])
    assert found <= 11
    assert math.isclose(sum(6 / (math.pi * k) ** 2 for k in range(1, 10**6)), 1.0, rel_tol=1e-5)
