"""The figures of a run once more, from its rounds and the scores it predicted, each as an interval.

Only what depends on the weights of every round (‖w‖ at the end, the regularised gradients) is taken from the replay.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noregret._kernel.state import GRADIENTS, REFRESH, SMALL
from noregret.enclose import EPS, combined, loss_total, losses, norm_between, row_norms2, support
from noregret.gram import Gram
from noregret.interval import Interval, total
from noregret.learner.kernel import KernelPerceptron
from noregret.loss import Loss
from noregret.receipt.form import Vector
from noregret.receipt.many import ManyFacts
from noregret.receipt.replay import Replayed
from noregret.rounds import Rounds


def measured(played: Replayed) -> dict[str, Any]:
    """Every figure of a receipt, found again."""
    run, rounds, core = played.run, played.rounds, played.run.learner
    if run.tally is not None:
        return _of_classes(played)
    sigma = float(core.config["sigma"][0])
    scores = _scores(rounds)
    wrong = None if core.regression else missed(played)
    low, high = _squares(played)
    squares = 0.5 * (low + high)
    slopes = core.loss.gradients(scores, rounds.y)
    return {
        "rounds": len(rounds),
        "features": run.features,
        "mistakes": None if wrong is None else int(wrong.sum()),
        "updates": int(np.count_nonzero(slopes)),
        "loss": run.loss if sigma else middle(loss_total(core.loss, scores, rounds.y, rounds.weights)),
        "max_norm2": float(squares.max(initial=0.0)),
        "mistake_norm2": 0.0 if wrong is None else math.fsum(squares[wrong]),
        "weight_norm": run.weight_norm,
        "score_moment": score_moment(scores),
        "gradient": run.gradient if sigma else gradient(played, slopes, squares),
    }


def _squares(played: Replayed) -> tuple[Vector, Vector]:
    """Ends of ‖x‖² for every round; of a kernel learner those of K(x, x)."""
    core = played.run.learner
    if isinstance(core, KernelPerceptron):
        return Gram(played.rounds, core.kernel).squares()
    return row_norms2(played.rounds)


def _of_classes(played: Replayed) -> dict[str, Any]:
    """The same of many classes, from what was said in each round and which weights moved."""
    run, facts = played.run, ManyFacts(played, {})
    low, high = facts.squares
    squares, weights = 0.5 * (low + high), played.rounds.weights
    return {
        "rounds": len(played.rounds),
        "features": run.features,
        "mistakes": facts.mistakes,
        "updates": len(facts.updated),
        "loss": float(facts.mistakes if weights is None else math.fsum(weights[facts.wrong])),
        "max_norm2": float(squares.max(initial=0.0)),
        "mistake_norm2": math.fsum(squares[facts.wrong]),
        "weight_norm": run.weight_norm if weights is not None else middle(facts.replayed[1]),
        "score_moment": score_moment(_scores(played.rounds)),
        "classes": facts.classes,
        "unforeseen": int(facts.unforeseen),
    }


def cancelling(played: Replayed) -> dict[str, float]:
    """The sums whose terms may cancel, by the size of their terms: what the loop lost is a share of that."""
    if played.run.tally is not None:
        return {"weight_norm": math.fsum(np.sqrt(row_norms2(played.rounds)[1]))}
    rounds, core = played.rounds, played.run.learner
    slopes = np.abs(core.loss.gradients(_scores(rounds), rounds.y))
    if rounds.weights is not None:
        slopes = slopes * rounds.weights
    return {
        "norm_of_sum": math.fsum(slopes * np.sqrt(_squares(played)[1])),
        "sum_dot_weights": math.fsum(slopes * np.abs(_scores(rounds))),
    }


def score_moment(scores: Vector) -> float:
    """Σ t·z_t: a figure that changes when rounds change places, even rounds that taught nothing."""
    if scores.ndim == 2:  # the margins of many classes; none where there was nothing to be ahead of
        scores = np.where(np.isfinite(scores[:, 0]), scores[:, 0], 0.0)
    return math.fsum((t * z for t, z in enumerate(scores.tolist(), 1)))


def gradient(played: Replayed, slopes: Vector, squares: Vector) -> dict[str, float]:
    """Norms and sums of g_t = k·s·x_t."""
    rounds = played.rounds
    scaled = slopes if rounds.weights is None else slopes * rounds.weights
    sizes, t = scaled * scaled * squares, np.arange(1.0, len(rounds) + 1.0)
    found = {
        "max_norm": math.sqrt(float(sizes.max(initial=0.0))),
        "sum_norm2": math.fsum(sizes),
        "sum_norm2_over_sqrt_t": math.fsum(sizes / np.sqrt(t)),
        "sum_norm2_over_t": math.fsum(sizes / t),
        "sum_dot_weights": math.fsum(scaled * _scores(rounds)),
    }
    if played.run.learner.config["gather"][0] == GRADIENTS:
        found["norm_of_sum"] = middle(norm_between(*combined(rounds, slopes)))
    return found


def missed(played: Replayed) -> Any:
    """For each round whether its sign was wrong, a score of 0 counting as the learner's tie rule says."""
    scores, y = _scores(played.rounds), played.rounds.y
    tie = float(played.run.learner.config["tie"][0])
    return np.where(scores == 0.0, y != tie, (scores > 0.0) != (y > 0.0))


def own_loss(played: Replayed, count: int, loss: Loss, sigma: float) -> Interval:
    """The run's own loss over its first `count` rounds."""
    rounds = played.rounds.first(count)
    if not sigma:
        return loss_total(loss, _scores(rounds), rounds.y, rounds.weights)
    value = played.run.loss
    if count != played.run.rounds:
        curve = played.run.regret_curve
        value = float(curve["loss"][curve["rounds"] == count][0])
    slopes = np.abs(loss.gradients(_scores(rounds), rounds.y)) * (1.0 if rounds.weights is None else rounds.weights)
    steepest = float((slopes * np.sqrt(row_norms2(rounds)[1])).max(initial=0.0))
    return Interval.around(value, (value + steepest**2 / sigma) * float_steps(rounds))


def float_steps(rounds: Rounds) -> float:
    """How far, relatively, the steps of a float run may take it from exact steps: a few units a round and feature.

    With many features the norm of the weights is carried along for up to REFRESH rounds before it is taken afresh.
    """
    carried = min(len(rounds), REFRESH) if rounds.width > SMALL else 0
    return (len(rounds) + 64.0) * (min(rounds.width, 4096) + 64.0 + carried) * 2.0**-50


def tangent_dual(rounds: Rounds, loss: Loss, at: Vector, radius: float, sigma: float) -> Interval:
    """Σ k(ℓ(z) − s·z) − max{⟨Σ ksx, u⟩ …} with the tangents at z: by convexity no comparator falls below."""
    slopes = loss.gradients(at, rounds.y)
    lo, hi = losses(loss, at, rounds.y)
    lean = slopes * at
    slack = 8.0 * EPS * np.abs(lean) + 1e-300
    low, high = lo - lean - slack, hi - lean + slack
    if rounds.weights is not None:
        low, high = np.nextafter(rounds.weights * low, -np.inf), np.nextafter(rounds.weights * high, np.inf)
    return total(low, high) - support(norm_between(*combined(rounds, slopes)), radius, sigma * len(rounds))


def relative_gap(lower: float, upper: float) -> float:
    """The width of the comparator's interval as a share of its loss, or of 1 where that is smaller."""
    return (upper - lower) / max(upper, 1.0)


def middle(interval: Interval) -> float:
    return interval.lo if interval.exact else 0.5 * interval.lo + 0.5 * interval.hi


def _scores(rounds: Rounds) -> Vector:
    assert rounds.scores is not None
    return rounds.scores
