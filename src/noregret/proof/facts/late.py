"""Facts of a run whose labels came late: its predictions, and the learner's own rounds in the order of the labels."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noregret.interval import Interval, total
from noregret.late.book import Book
from noregret.proof import enclose
from noregret.proof.facts import Facts, Points, own_loss
from noregret.proof.facts.gradients import norms2, slope_error
from noregret.proof.hindsight import Hindsight
from noregret.rounds import Rounds
from noregret.run import Run

Vector = NDArray[np.float64]
OFF = 2.0**-40  # what a sum of norms may be off by, as a share of itself


@dataclass(frozen=True)
class LateFacts:
    """The book, the learner's own run as labels came with its rounds, and the best comparator of the predictions."""

    book: Book
    run: Run
    arrived: Rounds
    hindsight: Hindsight | None = None
    points: Points = field(default_factory=dict)

    @cached_property
    def plays(self) -> Facts:
        """Each labelled round once: the score that was predicted, and the label as it is by now."""
        trace = self.book.trace
        assert trace is not None
        scores, labels = np.array(trace.said), np.array(trace.labels)
        first = np.flatnonzero(~np.isnan(scores))
        weights = None if self.arrived.weights is None else self.arrived.weights[first]
        rows = self.arrived.rows.take(first)
        rounds = replace(self.arrived, rows=rows, y=labels[first], weights=weights, scores=scores[first])
        state = self.run.state.copy()
        state["rounds"] = len(first)
        return Facts(replace(self.run, state=state), rounds, self.hindsight, self.points)

    @cached_property
    def fresh(self) -> Facts:
        """The learner's own rounds, with the scores that it had when the labels came."""
        return Facts(self.run, self.arrived)

    @property
    def linear(self) -> bool:
        """Whether scores are single numbers that are judged by a convex loss, without a regulariser."""
        core = self.run.learner
        return not core.multiclass and core.loss.convex and not self.fresh.sigma and bool(self.run.rounds)

    @property
    def prepared(self) -> bool:
        """Whether a row may be another when it is learned than when it was predicted."""
        made, params = self.run.learner.preparation, self.run.learner.params
        return any((params.scale, params.expand, params.lags, made.means))

    @property
    def once(self) -> bool:
        """Whether the learner learned every round once: no label was revised."""
        return self.book.counts.revised == 0

    @cached_property
    def staleness(self) -> Interval:
        """Σφ(z_k) − Σφ(z'_k)."""
        return own_loss(self.plays.run, self.plays.rounds) - own_loss(self.run, self.arrived)

    @cached_property
    def felt(self) -> Interval:
        """Σ c_k with c_k = ‖g_k‖² + 2‖g_k‖·Λ·Σ‖x_i‖ over the rounds that waited while k was learned."""
        fresh, trace = self.fresh, self.book.trace
        assert trace is not None
        loss, sizes = self.run.learner.loss, np.array(trace.sizes)
        low, high = norms2(fresh.row_squares, np.abs(fresh.gradient.slopes), slope_error(loss))
        lower, upper = sizes * (1.0 - OFF), sizes * (1.0 + OFF)
        spare = 1.0 + 8.0 * enclose.EPS
        return total(
            (low + 2.0 * np.sqrt(low) * lower) / spare,
            (high + 2.0 * np.sqrt(high) * upper) * spare,
        )

    @property
    def radius(self) -> float:
        return self.run.learner.domain.radius

    @property
    def bounded(self) -> bool:
        """Whether the comparators lie in a ball."""
        return math.isfinite(self.radius) and self.run.learner.domain.fits_ball
