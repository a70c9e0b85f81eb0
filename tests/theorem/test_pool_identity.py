"""What a pool loses is an identity in what its members lose, on random streams of every kind; coin flips teach nothing.

Forty streams by default; NOREGRET_THOROUGH=1 asks for a thousand.
"""

import math
import os
from decimal import Decimal, localcontext

import numpy as np
import pytest

from noregret.learner import Auto
from noregret.learner.auto import LOSS, TOP_PRIORS
from noregret.learner.pool import priors
from noregret.stream.block import Dense, Sparse

STREAMS = 1000 if os.environ.get("NOREGRET_THOROUGH") else 40
MOST = 1e-9


def sparse(X):
    where = X != 0.0
    bounds = np.concatenate([[0], np.cumsum(where.sum(axis=1))]).astype(np.int64)
    return Sparse(bounds, where.nonzero()[1].astype(np.uint32), X[where], X.shape[1])


def stream(seed):
    """Rows of 1 to 60 columns, or of 350, of any scale; labels follow them, or half, or not at all."""
    rng = np.random.default_rng([20, seed])
    rounds, columns = int(rng.integers(1, 160)), int(rng.choice([1, 2, 5, 20, 60, 350]))
    X = rng.normal(size=(rounds, columns)) * 10.0 ** rng.uniform(-3, 3, columns)
    X *= rng.random(X.shape) < rng.choice([0.05, 0.5, 1.0])
    signal = X @ (rng.normal(size=columns) / 10.0 ** rng.uniform(-3, 3)) + rng.choice([0.0, 1.0, 1e3]) * rng.normal(
        size=rounds
    )
    if seed % 3 == 2:
        return X, np.digitize(signal, np.quantile(signal, [0.2, 0.5, 0.7])).astype(float), "multiclass"
    return X, np.where(signal > rng.choice([0.0, 1.0]), 1.0, -1.0), "binary"


def mixed(weights, losses):
    """−ln Σ w·e^(−L) to thirty digits."""
    with localcontext() as context:
        context.prec = 30
        pairs = zip(weights, losses, strict=True)
        return -sum(Decimal(w) * (-Decimal(float(lost))).exp() for w, lost in pairs).ln()


def apart(found, wanted):
    return float(abs(Decimal(float(found)) - wanted) / max(wanted, Decimal("1e-300")))


def play(seed):
    X, y, task = stream(seed)
    core = Auto(task=task)
    for start in range(0, len(y), 50):
        core.play((sparse if seed % 2 else Dense)(X[start : start + 50]), y[start : start + 50])
    return core


def test_the_identity_holds_on_random_streams(record_property):
    worst = 0.0
    for seed in range(STREAMS):
        core = play(seed)
        losses, tops = core.standing[: len(core.members), LOSS], core.tops[:, 1]
        if not losses.any():
            continue  # of many classes: each round brought a new one
        found = [apart(tops[0], mixed(priors(core.members), losses))]
        found.append(apart(core._loss_beside_members, mixed(TOP_PRIORS, tops)))
        assert max(found) <= MOST, seed
        worst = max(worst, *found)
        whole = float(core.state["loss"][0])
        for prior, lost in zip(priors(core.members), losses, strict=True):
            assert core._loss_beside_members <= lost - math.log(prior) + math.log(2.0) + 1e-9 * whole
    assert worst > 0.0  # the sums are not the same by construction
    record_property("worst relative error", worst)
    print(f"worst relative error of {STREAMS} streams: {worst:.3g}")


def test_a_mixture_that_loses_a_little_less_breaks_the_identity():
    core = play(0)
    core.tops[0, 1] *= 1.0 - 1e-8
    assert apart(core.tops[0, 1], mixed(priors(core.members), core.standing[: len(core.members), LOSS])) > MOST


@pytest.mark.parametrize("classes", [2, 3, 10])
@pytest.mark.parametrize("columns", [4, 400])
def test_coin_flips_teach_nothing(classes, columns):
    """Labels that no row and no past tells: the error is that of guessing, and nobody loses less than ln K a round."""
    rounds, found = 2000, []
    for seed in range(3):
        rng = np.random.default_rng([21, seed, classes, columns])
        X = rng.normal(size=(rounds, columns)) * (rng.random((rounds, columns)) < 8.0 / columns)
        codes = rng.integers(classes, size=rounds)
        core = Auto(task="binary" if classes == 2 else "multiclass")
        core.play(sparse(X) if columns > 300 else Dense(X), 2.0 * codes - 1.0 if classes == 2 else codes.astype(float))
        chance = 1.0 - 1.0 / classes
        error = float(core.state["mistakes"][0]) / rounds
        assert abs(error - chance) < 4.0 * math.sqrt(chance * (1.0 - chance) / rounds)
        found.append(float(core.state["loss"][0]) / rounds)
    assert min(found) >= math.log(classes)
