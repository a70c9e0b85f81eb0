"""The figures of a run: intervals that hold what the loop gathered and what the rounds show."""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret._native import GRADIENTS
from noregret.interval import Interval, total
from noregret.proof import enclose
from noregret.proof.facts import Facts, Vector
from noregret.run import Run


def figures(facts: Facts) -> dict[str, Any]:
    """Every figure: whole numbers, and intervals that hold the others."""
    found = _of_classes(facts) if facts.run.tally is not None else _of_rounds(facts)
    return _holding(found, gathered(facts.run))


def gathered(run: Run) -> dict[str, Any]:
    """What the loop gathered."""
    return {
        "loss": run.loss,
        "max_norm2": run.max_norm2,
        "mistake_norm2": run.mistake_norm2,
        "weight_norm": run.weight_norm,
        "gradient": run.gradient,
    }


def _holding(found: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """The intervals, made to hold the loop's numbers too."""
    made: dict[str, Any] = {}
    for name, one in found.items():
        if isinstance(one, dict):
            made[name] = _holding(one, told[name])
        elif isinstance(one, Interval) and name in told:
            made[name] = Interval(min(one.lo, told[name]), max(one.hi, told[name]))
        else:
            made[name] = one
    return made


def _of_rounds(facts: Facts) -> dict[str, Any]:
    run, rounds, loss = facts.run, facts.rounds, facts.learner.loss
    wrong = np.zeros(len(rounds), bool)
    if not facts.learner.regression:
        wrong[facts.updates] = True
    lo, hi = facts.row_squares
    own = facts.loss if loss.convex else enclose.loss_total(loss, facts.scores, rounds.y, rounds.weights)
    return {
        "rounds": len(rounds),
        "features": run.features,
        "mistakes": None if facts.learner.regression else len(facts.updates),
        "updates": int(np.count_nonzero(loss.gradients(facts.scores, rounds.y))),
        "loss": own,
        "max_norm2": Interval(float(lo.max(initial=0.0)), float(hi.max(initial=0.0))),
        "mistake_norm2": total(lo[wrong], hi[wrong]),
        "weight_norm": played_as(run.weight_norm),
        "score_moment": score_moment(facts.scores),
        "gradient": _gradient(facts),
    }


def _gradient(facts: Facts) -> dict[str, Interval]:
    """Norms and sums of the gradients; with a regulariser in them, as they were played."""
    if facts.sigma:
        return {name: played_as(value) for name, value in facts.run.gradient.items()}
    found = facts.gradient
    named = {
        "max_norm": found.max_norm.positive(),
        "sum_norm2": found.sum_norm2,
        "sum_norm2_over_sqrt_t": found.sum_norm2_over_sqrt_t,
        "sum_norm2_over_t": found.sum_norm2_over_t,
        "sum_dot_weights": found.sum_dot_weights,
    }
    gathers = facts.learner.config["gather"][0] == GRADIENTS
    return {**named, "norm_of_sum": found.norm_of_sum} if gathers else named


def _of_classes(facts: Facts) -> dict[str, Any]:
    """The same of many classes, from what was said in each round and which weights moved."""
    many, weights = facts.classes, facts.rounds.weights
    forecasts = facts.learner.loss.probabilistic
    return {
        "rounds": len(facts.rounds),
        "features": facts.run.features,
        "mistakes": many.mistakes,
        "updates": len(facts.rounds) if forecasts else int(many.updated.sum()),
        "loss": many.paid if forecasts else _mistaken(facts),
        "max_norm2": many.max_norm2,
        "mistake_norm2": many.norm2_over(many.wrong),
        "weight_norm": played_as(facts.run.weight_norm) if forecasts or weights is not None else many.sum_norm,
        "score_moment": score_moment(facts.scores),
        "classes": many.count,
        "unforeseen": 0 if forecasts else many.unforeseen,
    }


def _mistaken(facts: Facts) -> Interval:
    """The mistakes, each as often as its weight says."""
    wrong, weights = facts.classes.wrong, facts.rounds.weights
    lost = np.ones(facts.classes.mistakes) if weights is None else weights[wrong]
    return total(lost, lost)


def played_as(value: float) -> Interval:
    """What the loop alone knows: the number as it came out, and one step around it."""
    return Interval.outward(value, value) if value else Interval.of(0.0)


def score_moment(scores: Vector) -> Interval:
    """Σ t·z_t: a figure that changes when rounds change places, even rounds that taught nothing.

    Of many classes z is the margin, 0 where there was nothing to be ahead of.
    """
    z = np.where(np.isfinite(scores[:, 0]), scores[:, 0], 0.0) if scores.ndim == 2 else scores
    terms = np.arange(1.0, len(z) + 1.0) * z
    spare = np.where(terms != 0.0, np.abs(terms) * enclose.EPS + 1e-320, 0.0)
    return total(terms - spare, terms + spare)
