"""The figures of a run once more, from its rounds and the scores it predicted, each as an interval.

Only what depends on the weights of every round (‖w‖ at the end, the regularised gradients) is taken from the replay.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noregret import arithmetic
from noregret._native import GRADIENTS, REFRESH, SMALL
from noregret.enclose import (
    EPS,
    combined,
    dual,
    in_dual_domain,
    loss_total,
    losses,
    norm_between,
    risk,
    row_norms2,
    support,
)
from noregret.errors import ReceiptError
from noregret.gram import Gram
from noregret.interval import Interval, total
from noregret.learner.kernel import KernelPerceptron
from noregret.loss import Loss
from noregret.receipt.form import Vector
from noregret.receipt.many import ManyFacts
from noregret.receipt.replay import Replayed
from noregret.rounds import Rounds

LEAST = 1e-320  # more than a product of floats can lose below the smallest of them


def measured(played: Replayed) -> dict[str, Any]:
    """Every figure of a receipt, found again: whole numbers, and intervals that hold the others."""
    run, rounds, core = played.run, played.rounds, played.run.learner
    if run.tally is not None:
        return _of_classes(played)
    sigma = float(core.config["sigma"][0])
    scores = _scores(rounds)
    wrong = None if core.regression else missed(played)
    squares = _squares(played)
    slopes = core.loss.gradients(scores, rounds.y)
    return {
        "rounds": len(rounds),
        "features": run.features,
        "mistakes": None if wrong is None else int(wrong.sum()),
        "updates": int(np.count_nonzero(slopes)),
        "loss": own_loss(played, len(rounds), core.loss, sigma),
        "max_norm2": _largest(squares),
        "mistake_norm2": Interval.of(0.0) if wrong is None else total(squares[0][wrong], squares[1][wrong]),
        "weight_norm": played_as(run.weight_norm),
        "score_moment": score_moment(scores),
        "gradient": _as_played(run.gradient) if sigma else gradient(played, slopes, squares),
    }


def played_as(value: float) -> Interval:
    """What the loop alone knows: the number as it came out this time, and one step around it."""
    return Interval.outward(value, value) if value else Interval.of(0.0)


def _as_played(figures: dict[str, float]) -> dict[str, Interval]:
    return {name: played_as(value) for name, value in figures.items()}


def _largest(squares: tuple[Vector, Vector]) -> Interval:
    return Interval(float(squares[0].max(initial=0.0)), float(squares[1].max(initial=0.0)))


def _squares(played: Replayed) -> tuple[Vector, Vector]:
    """Ends of ‖x‖² for every round; of a kernel learner those of K(x, x)."""
    core = played.run.learner
    if isinstance(core, KernelPerceptron):
        return Gram(played.rounds, core.kernel).squares()
    return row_norms2(played.rounds)


def _of_classes(played: Replayed) -> dict[str, Any]:
    """The same of many classes, from what was said in each round and which weights moved."""
    run, facts = played.run, ManyFacts(played, {})
    weights = played.rounds.weights
    lost = np.ones(facts.mistakes) if weights is None else weights[facts.wrong]
    return {
        "rounds": len(played.rounds),
        "features": run.features,
        "mistakes": facts.mistakes,
        "updates": len(facts.updated),
        "loss": total(lost, lost),
        "max_norm2": _largest(facts.squares),
        "mistake_norm2": facts.R2(np.flatnonzero(facts.wrong)),
        "weight_norm": played_as(run.weight_norm) if weights is not None else facts.replayed[1],
        "score_moment": score_moment(_scores(played.rounds)),
        "classes": facts.classes,
        "unforeseen": int(facts.unforeseen),
    }


def sizes(played: Replayed) -> dict[str, float]:
    """The sums whose terms may cancel, by the size of their terms: what the loop lost is a share of that."""
    scores = np.abs(_plain(_scores(played.rounds)))
    found = {"score_moment": _added(np.arange(1.0, len(scores) + 1.0) * scores)}
    if played.run.tally is not None:
        return {**found, "weight_norm": _added(np.sqrt(row_norms2(played.rounds)[1]))}
    rounds, core = played.rounds, played.run.learner
    slopes = np.abs(core.loss.gradients(_scores(rounds), rounds.y))
    if rounds.weights is not None:
        slopes = slopes * rounds.weights
    return {
        **found,
        "norm_of_sum": _added(slopes * np.sqrt(_squares(played)[1])),
        "sum_dot_weights": _added(slopes * scores),
    }


def _added(terms: Vector) -> float:
    """A sum of sizes: only its order matters, so that one beyond numbers is infinite."""
    with np.errstate(over="ignore"):
        return arithmetic.total(terms)


def score_moment(scores: Vector) -> Interval:
    """Σ t·z_t: a figure that changes when rounds change places, even rounds that taught nothing."""
    z = _plain(scores)
    t = np.arange(1.0, len(z) + 1.0)
    return _between(t * z, t * z, np.abs(t * z) * EPS)


def _plain(scores: Vector) -> Vector:
    """One score a round: of many classes the margins, none where there was nothing to be ahead of."""
    return np.where(np.isfinite(scores[:, 0]), scores[:, 0], 0.0) if scores.ndim == 2 else scores


def _between(lo: Vector, hi: Vector, slack: Vector) -> Interval:
    """Σ of terms between lo and hi, each known to within its slack."""
    spare = np.where(slack > 0.0, slack + LEAST, 0.0)
    return total(lo - spare, hi + spare)


def gradient(played: Replayed, slopes: Vector, squares: tuple[Vector, Vector]) -> dict[str, Interval]:
    """Norms and sums of g_t = k·s·x_t at the slopes s as they are computed."""
    rounds = played.rounds
    scaled = slopes if rounds.weights is None else slopes * rounds.weights
    lo, hi = (_lengths2(scaled, end) for end in squares)
    off, t = 8.0 * EPS * hi, np.arange(1.0, len(rounds) + 1.0)
    low = np.where(np.isfinite(hi), np.maximum(lo - off - LEAST, 0.0), 0.0)
    high = np.where(hi > 0.0, hi + off + LEAST, _lost(scaled, squares[1]))
    dots = scaled * _scores(rounds)
    found = {
        "max_norm": Interval(float(low.max(initial=0.0)), float(high.max(initial=0.0))).sqrt().positive(),
        "sum_norm2": total(low, high),
        "sum_norm2_over_sqrt_t": _divided(low, high, np.sqrt(t)),
        "sum_norm2_over_t": _divided(low, high, t),
        "sum_dot_weights": _between(dots, dots, 4.0 * EPS * np.abs(dots)),
    }
    if played.run.learner.config["gather"][0] == GRADIENTS:
        found["norm_of_sum"] = norm_between(*combined(rounds, slopes))
    return found


def _lengths2(slopes: Vector, squares: Vector) -> Vector:
    """(s‖x‖)², multiplied in the order in which the least underflows."""
    return np.asarray((slopes * squares) * slopes)


def _lost(slopes: Vector, squares: Vector) -> Vector:
    """What a square too small for a float may still be."""
    return np.where((slopes != 0.0) & (squares > 0.0), LEAST, 0.0)


def _divided(low: Vector, high: Vector, by: Vector) -> Interval:
    """Σ of terms over √t or t."""
    up = high / by
    return total(low / by * (1.0 - 4.0 * EPS), np.where(up > 0.0, up * (1.0 + 4.0 * EPS) + LEAST, up))


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
    return Interval.around(value, (value + steepest * steepest / sigma) * float_steps(rounds))


def steepness(played: Replayed, count: int, loss: Loss) -> float:
    """Σ k|s|·‖w‖‖x‖, from above: how much the run's own loss would move if every score moved by its full size.

    With a regulariser it is the loss itself, for there the weights are in it too. The norms of the weights on the way
    are not kept: they are taken to be at most the radius, the last norm, or what the largest score asks for.
    """
    rounds, run = played.rounds.first(count), played.run
    if run.learner.config["sigma"][0]:
        return own_loss(played, count, loss, float(run.learner.config["sigma"][0])).hi
    scores, lengths = _scores(rounds), np.sqrt(row_norms2(rounds)[1])
    least = np.abs(scores) / np.where(lengths > 0.0, lengths, 1.0)
    inside = run.learner.domain.radius if math.isfinite(run.learner.domain.radius) else 0.0
    longest = max(inside, run.weight_norm, float(least.max(initial=0.0)))
    weights = 1.0 if rounds.weights is None else rounds.weights
    return _added(np.abs(loss.gradients(scores, rounds.y)) * weights * np.maximum(lengths * longest, np.abs(scores)))


def float_steps(rounds: Rounds) -> float:
    """How far, relatively, the steps of a float run may take it from exact steps: a few units a round and feature.

    With many features the norm of the weights is carried along for up to REFRESH rounds before it is taken again.
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


def proved(
    rounds: Rounds, loss: Loss, proof: dict[str, Vector], radius: float, sigma: float
) -> tuple[Interval, Interval]:
    """What the point u loses, and what the dual point α, or the tangents, prove that no comparator falls below."""
    above = risk(rounds, loss, proof["u"], sigma)
    if loss.custom:
        return above, tangent_dual(rounds, loss, proof["tangent"], radius, sigma)
    if not in_dual_domain(loss, proof["alpha"], rounds.y):
        raise ReceiptError("the dual point lies outside its domain", failed=True)
    return above, dual(rounds, loss, proof["alpha"], radius, sigma)


def cancelled(rounds: Rounds, loss: Loss, proof: dict[str, Vector], radius: float, sigma: float) -> float:
    """The size of what is taken from the dual value: it may be far larger than what is left."""
    slopes = loss.gradients(proof["tangent"], rounds.y) if loss.custom else proof["alpha"]
    return support(norm_between(*combined(rounds, slopes)), radius, sigma * len(rounds)).hi


def relative_gap(lower: float, upper: float) -> float:
    """The width of the comparator's interval as a share of its loss, or of 1 where that is smaller."""
    return (upper - lower) / max(upper, 1.0)


def middle(interval: Interval) -> float:
    return interval.lo if interval.exact else 0.5 * interval.lo + 0.5 * interval.hi


def _scores(rounds: Rounds) -> Vector:
    assert rounds.scores is not None
    return rounds.scores
