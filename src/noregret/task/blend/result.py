"""What a blend found: forecasts, losses and weights of every round, the best expert or mean, regret and promises."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError
from noregret.experts.contest import Contest
from noregret.experts.forecasts import ExpertTable
from noregret.experts.loss import Averaged, Numbers, chance
from noregret.experts.methods import METHODS
from noregret.interval import Interval
from noregret.proof.blend import BlendReceipt, receipt_of
from noregret.proof.receipt import plain
from noregret.proof.solve.mean import COMBINED, Combination, best_combination
from noregret.proof.theorem import Certificate, Verdict

Vector = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Blend:
    """The result of a blend: forecasts, losses and weights of every round, the best expert, the regret and its bounds.

    `loss` and `regret` are correct up to the last digits; `interval` and `contest.loss` enclose them.
    """

    names: list[str]
    data: ExpertTable
    reading: dict[str, Any]
    contest: Contest
    certificates: list[Certificate]
    weights: NDArray[np.float64]
    last_weights: Vector
    mean: Combination | None = None  # the best fixed mean, where the blend competes with it
    _gaps: Vector = field(default_factory=lambda: np.empty(0))

    def __repr__(self) -> str:
        rounds = "1 round" if self.rounds == 1 else f"{self.rounds} rounds"
        experts = "1 expert" if len(self.names) == 1 else f"{len(self.names)} experts"
        said = f"{rounds}, {experts}, regret {self.regret:.6g}"
        return f"<Blend of {self.data.source}: {said}>"

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return self.contest.rounds

    @property
    def forecasts(self) -> NDArray[np.float64]:
        """What the blend said in each round."""
        return self.contest.forecasts

    @property
    def losses(self) -> Vector:
        """What the blend lost in each round."""
        return self.contest.own

    @property
    def loss(self) -> float:
        """The loss of the blend; for labels and costs, the expected loss of following an expert drawn by weight."""
        return 0.5 * (self.contest.loss.lo + self.contest.loss.hi)

    @property
    def interval(self) -> Interval:
        """The regret against the best expert, with all rounding accounted for."""
        return self.contest.regret

    @property
    def regret(self) -> float:
        """How much more the blend lost than the best expert, over the rounds in which that expert was awake."""
        return 0.5 * (self.interval.lo + self.interval.hi)

    @property
    def mean_regret(self) -> Interval | None:
        """How much more the blend lost than the best fixed mean of the experts, if it competes with that."""
        return self.contest.mean_regret

    @property
    def best(self) -> str:
        """The expert with the largest regret."""
        return self.names[self.contest.best]

    @property
    def best_loss(self) -> float:
        """The loss of the best expert while it was awake."""
        return self.expert_loss(self.contest.best)

    @property
    def bound(self) -> float | None:
        """The smallest bound on the regret against the best expert; for the gradient method, on its regret against the
        best mean, which is never smaller."""
        found = [one.bound for one in self.certificates if one.bound is not None and one.theorem != "fixed-share"]
        return min(found, default=None)

    @property
    def vacuous(self) -> bool:
        """Whether the bound is too loose to be useful: it holds for any run with a loss this small."""
        return self.bound is not None and self.bound >= self.contest.ceiling

    @property
    def broken(self) -> list[str]:
        """The theorems whose bound this run exceeds: a bug, in noregret or in the theorem."""
        return [one.theorem for one in self.certificates if one.verdict is Verdict.BROKEN]

    @property
    def mistakes(self) -> int | None:
        """For labels: how often the label with the most weight was wrong."""
        if not self.contest.judged_by.labels:
            return None
        return int((self.forecasts[:, 0] != self.data.outcomes).sum())

    def awake(self, i: int) -> NDArray[np.bool_]:
        """In which rounds expert i gave a forecast."""
        return self.contest.awake[:, i]

    def costs(self) -> NDArray[np.float64]:
        """The loss of each expert in each round; a sleeper suffers the blend's own loss."""
        return self.contest.costs

    def expert_loss(self, i: int) -> float:
        """The loss of expert i while it was awake."""
        return math.fsum(self.contest.costs[self.awake(i), i])

    def leaders(self) -> list[tuple[int, int, str]]:
        """Who was best when: (first round, last round, expert) of every stretch with the same leader so far."""
        ahead = np.cumsum(self.costs(), axis=0).argmin(axis=1)
        starts = [0, *(np.flatnonzero(np.diff(ahead)) + 1).tolist(), len(ahead)]
        return [(a + 1, b, self.names[int(ahead[a])]) for a, b in pairwise(starts)]

    def regret_so_far(self) -> Vector:
        """The regret against the best expert so far, after every round."""
        return np.asarray(np.cumsum(self.losses) - np.cumsum(self.costs(), axis=0).min(axis=1))

    def linearised_so_far(self) -> Vector:
        """The largest linearised regret after every round: at least the regret against the best fixed mean so far."""
        given, own = self.data.values[:, :, 0], self.forecasts[:, 0]
        assert isinstance(self.contest.judged_by, Numbers)
        terms = self.contest.judged_by.linearised(given, own, self.data.outcomes)
        return np.asarray((-np.cumsum(terms, axis=0)).max(axis=1))

    def promised_so_far(self) -> Vector:
        """The bound on the regret after every round (for methods that have one for every round)."""
        return METHODS[self.contest.learner].promised(self.contest, np.arange(1.0, self.rounds + 1.0), self._gaps)

    def combination(self, gap: float = 1e-6) -> Combination:
        """The best fixed convex combination of the experts: an interval that contains its loss, and its weights."""
        if self.mean is not None:
            return self.mean
        judge, given = self.contest.judged_by, self.data.values
        if not isinstance(judge, Averaged):
            raise SettingError(f"blend: the best combination is for {', '.join(COMBINED)} loss, not for {judge.name}")
        if np.isnan(given).any():
            raise SettingError("blend: the best combination needs a forecast from every expert in every round")
        y = self.data.outcomes
        if judge.chances:
            said = np.column_stack([chance(given[:, i], y) for i in range(given.shape[1])])
        else:
            said = given[:, :, 0]
        return best_combination(said, y, judge.name, gap)

    def to_dict(self) -> dict[str, Any]:
        """Everything except the values of every round, as plain numbers."""
        found = {
            "rounds": self.rounds,
            "experts": len(self.names),
            "loss": self.loss,
            "loss_name": self.reading["loss"],
            "method": self.reading["method"],
            "best": {"expert": self.best, "loss": self.best_loss},
            "regret": self.regret,
            "bound": self.bound,
            "mean": self._mean(),
            "table": self.table(),
            "switching": self._switching(),
            "certificates": [one.to_dict() for one in self.certificates],
        }
        return found if self.mistakes is None else {**found, "mistakes": self.mistakes}

    def _mean(self) -> dict[str, Any] | None:
        """The best fixed mean: its loss and the regret against it, each as an interval."""
        loss, regret = self.contest.mean_loss, self.contest.mean_regret
        if self.mean is None or loss is None or regret is None:
            return None
        return {
            "loss": {"lower": loss.lo, "upper": loss.hi},
            "regret": {"lower": regret.lo, "upper": regret.hi},
            "weights": dict(zip(self.names, self.mean.weights.tolist(), strict=True)),
        }

    def table(self) -> list[dict[str, Any]]:
        """One row per expert: loss and rounds while awake, the regret against it, its final weight."""
        rows = []
        for i, name in enumerate(self.names):
            cost = self.expert_loss(i)
            regret = -math.inf
            if math.isfinite(cost):
                found = self.contest.regret_against(i)
                regret = 0.5 * (found.lo + found.hi)
            row = {"expert": name, "awake": int(self.awake(i).sum()), "loss": plain(cost), "regret": plain(regret)}
            rows.append({**row, "weight": float(self.last_weights[i])})
        return rows

    def _switching(self) -> dict[str, Any] | None:
        found, loss, regret = self.contest.switching, self.contest.switching_loss, self.contest.switching_regret
        if found is None or loss is None or regret is None:
            return None
        return {
            "switches": found.switches,
            "loss": 0.5 * (loss.lo + loss.hi),
            "regret": {"lower": regret.lo, "upper": regret.hi},
            "parts": [[first, last, self.names[who]] for first, last, who in found.stretches],
        }

    def receipt(self) -> BlendReceipt:
        """The claims with the vectors behind them; `verify` recomputes everything from the table."""
        return receipt_of(self.names, self.data, self.reading, self.contest, self.last_weights)
