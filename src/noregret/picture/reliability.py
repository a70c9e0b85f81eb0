"""Reliability of scores: how often the label was +1 among rounds with about the same score.

The run counted its scores in bins 1.6 % wide, each score before its label was learned from. Bins are put together until
each group has about as many rounds as the next. The bars are Wilson's interval for a proportion, 95 %, which takes the
rounds of a group as independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._native import LOWEST
from noregret.errors import SettingError
from noregret.picture.canvas import COLOURS, Ending, name_ends, plain_frame
from noregret.run import Run

GROUPS = 12
Z = 1.959963984540054  # the 0.975 quantile of the normal distribution

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Group:
    """Rounds with about the same score: the mean of what was said, how many there were, how many were +1."""

    said: float
    rounds: int
    positive: int

    @property
    def frequency(self) -> float:
        return self.positive / self.rounds

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's: where p lies with |frequency − p| ≤ z·√(p(1 − p)/n)."""
        n, p = self.rounds, self.frequency
        middle, half = p + Z * Z / (2 * n), Z * np.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
        return max(float((middle - half) / (1 + Z * Z / n)), 0.0), min(float((middle + half) / (1 + Z * Z / n)), 1.0)


def why_no_reliability(run: Run) -> str | None:
    if run.learner.regression or run.tally is not None:
        return "reliability needs scores for two classes"
    return None if run.rounds else "no round was played, so there is nothing to draw"


def bin_scores(bins: int) -> Vector:
    """The score in the middle of each bin: 64 to each power of two from 2⁻³² to 2³², one for 0, and the negative."""
    patterns = (LOWEST + np.arange(bins // 2 + 1, dtype=np.int64)) << 46
    edges = patterns.view(np.float64)
    middles = 0.5 * (edges[:-1] + edges[1:])
    return np.concatenate([-middles[::-1], [0.0], middles])


def is_probability(run: Run) -> bool:
    """Whether the score is ln(p/(1 − p)) of a probability p that was meant."""
    return run.learner.loss.probabilistic


def groups(run: Run, count: int = GROUPS) -> list[Group]:
    """The rounds by score, in groups of about the same size."""
    counts = run.state["bins"][0].astype(np.float64)
    scores = bin_scores(counts.shape[1])
    said = 1.0 / (1.0 + np.exp(-np.clip(scores, -700.0, 700.0))) if is_probability(run) else scores
    both = counts.sum(axis=0)
    place = np.minimum((np.cumsum(both) - 0.5 * both) * count / both.sum(), count - 1e-9).astype(np.int64)
    found = []
    for group in range(count):
        here = (place == group) & (both > 0.0)
        n = float(both[here].sum())
        if n:
            found.append(Group(float(said[here] @ both[here]) / n, int(n), int(counts[1, here].sum())))
    return found


def reliability_axes(axes: Any, run: Run) -> Any:
    """How often +1 came against what was said; of probabilities a perfect forecaster lies on the diagonal."""
    why = why_no_reliability(run)
    if why is not None:
        raise SettingError(f"plot: {why}")
    found = groups(run)
    said, seen = [group.said for group in found], [group.frequency for group in found]
    low, high = zip(*(group.interval for group in found), strict=True)
    if is_probability(run):
        axes.plot([0.0, 1.0], [0.0, 1.0], "--", color="0.6", linewidth=1.0, label="perfect")
        axes.set_xlim(0.0, 1.0)
        axes.set_xlabel("predicted probability of +1")
    else:
        axes.axhline(0.5, color="0.85", linewidth=0.8, zorder=0)
        axes.axvline(0.0, color="0.85", linewidth=0.8, zorder=0)
        axes.set_xlabel(f"score ({run.learner.name})")
    axes.vlines(said, low, high, color=COLOURS[0], linewidth=1.5)
    axes.plot(said, seen, "o-", color=COLOURS[0], linewidth=1.0, markersize=4.5, label="came", clip_on=False)
    axes.set_ylim(0.0, 1.0)
    axes.set_ylabel("share of rounds with label +1")
    plain_frame(axes)
    if is_probability(run):
        name_ends(axes, [Ending("perfect", 1.0, 1.0, "0.45")])
    return axes
