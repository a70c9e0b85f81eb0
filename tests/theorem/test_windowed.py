"""What windows promise: no model of a window, and no sequence of models, does better than its bound says."""

from itertools import combinations, pairwise

import numpy as np
import pytest

import noregret as nr
from noregret.proof.solve import best
from noregret.rounds import Gathering
from noregret.watch.windows import Windows


def drifting(kind, rounds, rng):
    """Rows whose best model changes: at once, never, or against whoever predicts."""
    X = rng.normal(size=(rounds, 3))
    w = rng.normal(size=3)
    signs = {"a flip": np.where(np.arange(rounds) < rounds // 2, 1.0, -1.0), "steady": np.ones(rounds)}
    if kind == "noise":
        return X, rng.choice([-1, 1], rounds)
    return X, np.where(signs[kind] * (X @ w) + 0.3 * rng.normal(size=rounds) > 0, 1, -1)


def played(kind, loss, seed):
    rng = np.random.default_rng(seed)
    X, y = drifting(kind, 120, rng)
    learner = nr.OnlineGradientDescent(radius=3.0, loss=loss)
    with Gathering(False) as gathering:
        run = nr.play(learner, (X, y), windows=Windows("every:30"), keep=gathering)
        return run.windows, gathering.done(), learner.core.loss


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared-hinge"])
@pytest.mark.parametrize("kind", ["a flip", "steady", "noise"])
def test_no_model_of_a_window_falls_below_its_bound(kind, loss):
    for seed in range(3):
        found, rounds, judged = played(kind, loss, seed)
        for part in found["parts"]:
            best_of = best(rounds.part(part["first"] - 1, part["last"]), judged, 3.0, gap=1e-6)
            assert part["best_at_least"] <= best_of.upper
            assert part["loss"] - best_of.upper <= part["bound"] * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("kind", ["a flip", "steady", "noise"])
def test_no_sequence_of_models_falls_below_its_bound(kind, loss):
    found, rounds, judged = played(kind, loss, 7)
    ends = [0, *(part["last"] for part in found["parts"])]
    upper = {(i, j): best(rounds.part(i, j), judged, 3.0, gap=1e-6).upper for i, j in combinations(ends, 2)}
    for k in (1, 2, 3):
        for limits in combinations(ends[1:-1], k):
            lost = sum(upper[pair] for pair in pairwise([0, *limits, ends[-1]]))
            assert found["whole"]["loss"] - lost <= found["whole"]["switches"][str(k)] + 1e-9
    each = sum(upper[pair] for pair in pairwise(ends))
    assert found["whole"]["loss"] - each <= found["whole"]["bound_for_each_window"] + 1e-9


def test_the_bound_is_attained():
    """|z − 5| at z = 0 with x = 1: the best model of norm 1 loses 1 less a round, and that is the bound."""
    learner = nr.OnlineGradientDescentRegressor(radius=1.0, loss="absolute", rate="constant:1e-300")
    run = nr.play(learner, (np.ones((8, 1)), np.full(8, 5.0)), windows=Windows("every:4"))
    for part in run.windows["parts"]:
        assert 4.0 <= part["bound"] <= 4.0 * (1 + 1e-14)
        assert part["loss"] == 20.0
        assert part["best_at_least"] == pytest.approx(16.0, rel=1e-14)
