"""Regret as an interval: the run's own loss less the best comparator's, after all rounds, fewer, or in other balls.

This is the certified regret, both of whose ends come from `hindsight.proved`. `Run.regret_upper` is the bound that the
pass alone gives, without looking for a comparator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from noregret.domain import support
from noregret.errors import SettingError, spelled
from noregret.interval import Interval
from noregret.learner.core import Core
from noregret.loss import Loss
from noregret.proof import enclose
from noregret.proof.facts import Facts, Vector, judged_by, own_loss
from noregret.proof.hindsight import Hindsight, relative_gap
from noregret.proof.receipt import plain
from noregret.proof.replay import Margin
from noregret.proof.theorems import certificates
from noregret.rounds import Rounds
from noregret.run import Run


@dataclass(frozen=True)
class Against:
    """Whom the run is compared with: the loss that both are judged by, the ball, the regulariser."""

    loss: Loss
    radius: float
    sigma: float

    @classmethod
    def of(cls, core: Core, radius: float | None, rounds: int) -> Against | None:
        """The learner's own ball, or the one asked for where it has none; a perceptron is judged by the hinge.

        None where the domain holds no ball of its radius: the best comparator in it is not solved for.
        """
        own, sigma = core.domain.radius, core.comparator_sigma(rounds)
        if not core.domain.fits_ball:
            if radius is not None:
                raise SettingError(f"certify: {_no_radius(radius)}: {core.domain.shape} is the learner's own domain")
            return None
        if core.supports is not None:
            if radius is not None:
                raise SettingError(f"certify: {_no_radius(radius)}: the comparators of a kernel learner have no radius")
            return None
        if radius is not None and core.tally() is not None:
            raise SettingError(f"certify: {_no_radius(radius)}: the comparators of several classes have no radius")
        if radius is not None and not 0.0 < radius < math.inf:
            raise SettingError(f"certify: radius must be positive and finite, got {radius}")
        if not core.loss.convex:
            return None if radius is None else cls(judged_by(core), radius, 0.0)
        if radius is not None and math.isfinite(own) and radius != own:
            raise SettingError(f"certify: the learner has the radius {own:g}; leave out the other, {radius:g}")
        found = radius if radius is not None and math.isinf(own) else own
        return cls(core.loss, found, sigma) if math.isfinite(found) or sigma else None


def _no_radius(radius: float) -> str:
    return f"{spelled('radius')} must be left out, got {radius:g}"


def ends(found: Interval) -> dict[str, Any]:
    """An interval as a receipt writes it."""
    return {"lower": plain(found.lo), "upper": plain(found.hi)}


def entry(run: Run, rounds: Rounds, found: Hindsight, margin: Margin, suffix: str, points: dict[str, Vector]) -> Any:
    """The regret after these rounds as a receipt claims it; what proves it is added to the points."""
    points |= {f"{name}{suffix}": point for name, point in found.points.items()}
    own = margin.own(own_loss(run, rounds))
    best = margin.comparator(Interval(found.lower, found.upper), _taken(rounds, found))
    return {
        "rounds": len(rounds),
        "loss": judged_by(run.learner).spec,
        "domain": {"radius": plain(found.radius)},
        "sigma": found.sigma,
        "own": ends(own),
        "comparator": ends(best),
        "gap": plain(relative_gap(best.lo, best.hi)),
        **ends(own - best),
        "points": {name: f"{name}{suffix}" for name in found.points},
    }


def _taken(rounds: Rounds, found: Hindsight) -> float:
    """The size of what is taken from the dual value: it may be far larger than what is left."""
    if found.tangent is None or found.alpha is None:
        return 0.0
    size = enclose.norm_between(*enclose.combined(rounds, found.alpha))
    return support(size, found.radius, found.sigma * len(rounds)).hi


def promises(run: Run, part: Rounds, found: Hindsight | None) -> dict[str, float]:
    """The regret bounds of a descent over its first rounds; those that follow its path, or name u*, are left out."""
    if not run.learner.loss.convex or run.learner.config["sigma"][0]:
        return {}
    state = run.state.copy()
    state["rounds"] = len(part)
    judged = certificates(Facts(replace(run, state=state), part, found, follow=False))
    return {one.theorem: one.bound for one in judged if one.bound is not None and "at-hindsight" not in one.theorem}
