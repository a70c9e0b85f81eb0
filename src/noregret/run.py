"""The figures of a run: everything the loop gathered, under the names that people use."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret._native import GRADIENTS, STRONG, WHOLE, WINDOW
from noregret.state import CURVE, TRACE, new_state

if TYPE_CHECKING:
    from noregret.learner.core import Core


@dataclass(frozen=True, repr=False)
class Run:
    """The figures of a learner over all of its rounds; `this_run` has those of this call."""

    learner: Core
    state: NDArray[Any]  # as it was when the call ended
    before: NDArray[Any]  # as it was when the call began
    seconds: float
    weight_norm: float  # ‖w‖ with the bias, taken from the weights themselves
    gradient_sum_norm: float  # ‖Σg‖ with the bias, taken from the sum itself; 0 where it is not kept
    dual_norm: float  # the same in the norm that the domain asks for: ‖Σg‖₁ in a box, …
    nonzero: int  # weights that are not 0
    features: int
    stopped: bool = False  # asked to stop before the stream ended
    digest: str | None = None
    mistake_bits: NDArray[np.uint8] | None = field(default=None, repr=False)  # one bit a round
    tally: dict[str, Any] | None = field(default=None, repr=False)  # what is counted by class, of many classes
    members: list[dict[str, Any]] | None = field(default=None, repr=False)  # of a mixture, who leads first
    coverage: dict[str, Any] | None = field(default=None, repr=False)  # of the sets that were asked for
    calibration: dict[str, Any] | None = field(default=None, repr=False)  # of probabilities, before and after
    reliability: NDArray[np.int64] | None = field(default=None, repr=False)  # their counts in bins, by label
    baseline_losses: dict[str, float] = field(default_factory=dict, repr=False)  # log-loss of rules, for a mixture
    alarm: dict[str, Any] | None = field(default=None, repr=False)  # what watches it, and whether it has rung
    windows: dict[str, Any] | None = field(default=None, repr=False)  # what was lost in each, where they were asked for

    def __repr__(self) -> str:
        wrong = "" if self.mistakes is None else f", {self.mistakes} mistakes"
        return f"<Run of {self.learner.name}: {self.rounds} rounds{wrong}, loss {self.loss:.6g}>"

    @classmethod
    def of(cls, core: Core, before: NDArray[Any] | None = None, seconds: float = 0.0, **more: Any) -> Run:
        """The run of a learner as it stands, which later rounds leave as it is."""
        state = core.state.copy()
        features = core.features.count if core.features else core.width
        start = new_state() if before is None else before
        more["tally"], more["members"] = core.tally(), core.member_figures()
        more["baseline_losses"] = core.label_figures()
        more |= {} if core.sure is None else core.sure.of_run()
        more["alarm"] = deepcopy((core.watched or {}).get("alarm", {}).get("figures"))
        norms = core.weight_norm, core.gradient_norm, core.dual_norm
        return cls(core, state, start, seconds, *norms, core.nonzero, features, **more)

    def _get(self, name: str) -> Any:
        return self.state[name][0].item()

    @property
    def rounds(self) -> int:
        """The number of rounds the learner has played."""
        return int(self._get("rounds"))

    @property
    def updates(self) -> int:
        """Rounds in which the slope of the loss was not 0: for the perceptron, its mistakes."""
        return int(self._get("updates"))

    @property
    def mistakes(self) -> int | None:
        """Rounds in which the predicted sign was wrong; None for regression."""
        return None if self.learner.regression else int(self._get("mistakes"))

    @property
    def loss(self) -> float:
        """The sum of the losses, including the regulariser if there is one."""
        return float(self._get("loss"))

    @property
    def sequential_risk(self) -> float:
        """The mean loss per round."""
        return self.loss / self.rounds if self.rounds else math.nan

    @property
    def max_norm(self) -> float:
        """max ‖x‖ over the rows as played, including the 1 of the bias."""
        return math.sqrt(self._get("row_max2"))

    @property
    def max_norm2(self) -> float:
        """max ‖x‖², as it was summed."""
        return float(self._get("row_max2"))

    @property
    def mistake_norm2(self) -> float:
        """Σ‖x‖² over the mistakes (R_I²)."""
        return float(self._get("mistake_row2"))

    @property
    def gradient(self) -> dict[str, float]:
        """What the regret bounds are made from; the perceptron's gradient is −y·x on a mistake and 0 otherwise."""
        if self.tally is not None:
            return {}
        figures = {
            "max_norm": math.sqrt(self._get("gradient_max2")),
            "sum_norm2": self._get("gradient2"),
            "sum_norm2_over_sqrt_t": self._get("gradient2_sqrt"),
            "sum_norm2_over_t": self._get("gradient2_inverse"),
            "sum_dot_weights": self._get("gradient_dot_weights"),
        }
        return {**figures, "norm_of_sum": self.gradient_sum_norm} if self._code("gather") == GRADIENTS else figures

    @property
    def regret_upper(self) -> float | None:
        """The bound on the regret that the pass alone proves: Σg·w + U‖Σg‖ in a ball, Σg·w + U‖Σg‖₁ in a box.

        Where ‖w‖₁ ≤ U it is Σg·w + U·max|Σg_i|, in the simplex Σg·w + U·max(0, −Σg_i); with the regulariser of
        ogd-strong it is Σ‖g‖²/(2σt).

        All hold against every comparator of the domain; None if the learner has no such bound. Computed in float64,
        without an allowance for rounding; proof/regret.py makes the certified regret, an interval rounded outward.
        """
        if not self.learner.loss.convex or (self._get("fractional_weights") and self._code("rate") == STRONG):
            return None
        if self._code("rate") == STRONG:
            return float(self._get("gradient2_inverse") / (2.0 * float(self.learner.config["sigma"][0])))
        if self._code("domain") != WHOLE and self._code("gather") == GRADIENTS:
            return float(self._get("gradient_dot_weights") + self.learner.domain.radius * self.dual_norm)
        return None

    def _code(self, name: str) -> int:
        return int(self.learner.config[name][0])

    @property
    def window_error(self) -> float:
        """The error (regression: the mean absolute error) of the last 1000 rounds, or of all if fewer."""
        n = min(self.rounds, WINDOW)
        return arithmetic.mean(self.state["window"][0][:n])

    @property
    def confusion(self) -> dict[str, Any] | None:
        """Rounds by true label and prediction; a score of 0 counts as `tie` counts it.

        Of many classes the `table` has a row for each true label and a column for each prediction, a tie counting as
        a mistake; the first round, before which no class was known, is in none of them. None with more than 50 classes.
        """
        if self.tally is not None:
            table = self.tally["table"]
            return None if table is None else {"labels": self.tally["labels"], "table": table}
        table = self.state["confusion"][0]
        return {
            "true_negative": int(table[0, 0]),
            "false_positive": int(table[0, 1]),
            "false_negative": int(table[1, 0]),
            "true_positive": int(table[1, 1]),
        }

    @property
    def auc(self) -> tuple[float, float] | None:
        """The area under the ROC curve of the scores as they were predicted, as an interval.

        Scores are counted in bins 1.6 % wide; two scores in one bin may stand either way, which is what the ends allow
        for. None while only one label was seen.
        """
        negative, positive = (row.tolist() for row in self.state["bins"][0])
        pairs = sum(negative) * sum(positive)
        if not pairs:
            return None
        below = [0, *accumulate(negative)]
        above = sum(map(mul, positive, below))
        together = list(map(mul, positive, negative))
        zero = len(together) // 2  # scores of exactly 0 are equal, not merely close: each such pair counts half
        twice = 2 * above + together[zero]
        return twice / (2 * pairs), (twice + 2 * (sum(together) - together[zero])) / (2 * pairs)

    @property
    def metrics(self) -> dict[str, Any]:
        """Progressive metrics: each row was scored before it was learned."""
        if not self.rounds:
            return {}
        if self.learner.regression:
            return {
                "mae": self._get("absolute") / self.rounds,
                "rmse": math.sqrt(self._get("squared") / self.rounds),
                "window_mae": self.window_error,
            }
        if self.tally is not None:
            return {
                "error": self._get("mistakes") / self.rounds,
                "window_error": self.window_error,
                "classes": len(self.tally["labels"]),
                "confusion": self.confusion,
                **self._log_loss(),
            }
        auc = self.auc
        return {
            "error": self._get("mistakes") / self.rounds,
            "window_error": self.window_error,
            "auc": None if auc is None else {"lower": auc[0], "upper": auc[1]},
            "confusion": self.confusion,
            **self._log_loss(),
        }

    def _log_loss(self) -> dict[str, float]:
        plain = self.learner.loss.probabilistic and float(self.learner.config["sigma"][0]) == 0.0
        return {"log_loss": self.sequential_risk} if plain else {}

    @property
    def baselines(self) -> dict[str, float]:
        """The result of two baselines, which use no feature, on the same rounds.

        Classification, in mistakes: the most frequent label (known in hindsight), and the previous label (the first
        round counts as a mistake). Regression, in the run's own loss: the mean of the labels so far, and the previous
        label, both 0 before the first.
        """
        if self.learner.regression:
            return {"mean_label": self._get("constant"), "last_label": self._get("last")}
        return {"majority_label": float(self._against_majority()), "last_label": self._get("last")}

    def _against_majority(self) -> int:
        """The rounds whose label was not the commonest one."""
        positives = int(self._get("positives"))  # of many classes: rounds of the commonest
        return self.rounds - positives if self.tally is not None else min(positives, self.rounds - positives)

    @property
    def trace(self) -> dict[str, NDArray[np.float64]]:
        """The cumulative figures at up to about two thousand rounds, including the last."""
        rows = self.state["trace"][0][: self._get("trace_rows")]
        if self.rounds and (not len(rows) or rows[-1, 0] != self.rounds):
            last = {name: self._get(name) for name in TRACE if name != "constant"}
            last["constant"] = self._get("constant") if self.learner.regression else self._against_majority()
            rows = np.vstack([rows, [last[name] for name in TRACE]])
        return {name: rows[:, i].copy() for i, name in enumerate(TRACE)}

    @property
    def regret_curve(self) -> dict[str, NDArray[np.float64]]:
        """What the regret bound is computed from, at four rounds per doubling: losses, Σg·w and ‖Σg‖ so far."""
        rows = self.state["curve"][0][: self._get("curve_rows")]
        return {name: rows[:, i].copy() for i, name in enumerate(CURVE)}

    @property
    def mistake_rounds(self) -> NDArray[np.int64]:
        """The rounds of this call that were mistakes, counted from 0; kept only on request."""
        if self.mistake_bits is None:
            raise ValueError("play: mistake rounds were not kept; ask for them with mistakes=True")
        return np.flatnonzero(np.unpackbits(self.mistake_bits))

    @property
    def this_run(self) -> dict[str, Any]:
        """The figures of this call alone."""
        rounds = self.rounds - int(self.before["rounds"][0])
        loss = self.loss - float(self.before["loss"][0])
        figures = {"rounds": rounds, "loss": loss, "sequential_risk": loss / rounds if rounds else None}
        if not self.learner.regression:
            figures["mistakes"] = int(self._get("mistakes")) - int(self.before["mistakes"][0])
        return figures

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers: what `--json` prints."""
        learner = self.learner
        settings = {
            key: (value if not isinstance(value, float) or math.isfinite(value) else str(value))
            for key, value in learner.settings.items()
        }
        settings["loss"] = learner.loss.spec
        if "kernel" in settings:
            settings["kernel"] = str(getattr(settings["kernel"], "name", settings["kernel"]))
        upper = self.regret_upper
        return {
            "rounds": self.rounds,
            "features": self.features,
            "mistakes": self.mistakes,
            "loss": {"name": learner.loss.spec, "total": self.loss, "mean": _number(self.sequential_risk)},
            "max_norm": self.max_norm,
            "max_norm2": self.max_norm2,
            "weight_norm": self.weight_norm,
            "nonzero_weights": self.nonzero,
            "updates": self.updates,
            "mistake_norm2": self.mistake_norm2,
            "learner": {"name": learner.name, **settings},
            "metrics": self.metrics,
            "baselines": self.baselines,
            "gradient": self.gradient,
            "regret": None if upper is None else {"upper": upper},
            "certificates": [],
            "this_run": self.this_run,
            **({} if self.members is None else {"members": self.members, "baseline_losses": self.baseline_losses}),
            **({} if self.coverage is None else {"coverage": self.coverage}),
            **({} if self.calibration is None else {"calibration": self.calibration}),
            **({} if self.alarm is None else {"alarm": self.alarm}),
            **({} if self.windows is None else {"windows": self.windows}),
            "stopped": self.stopped,
            "digest": self.digest,
            "seconds": self.seconds,
        }


def played_once(segments: Sequence[Mapping[str, Any]]) -> bool | None:
    """Whether every row was played once: False where several passes or two equal streams show that it was not.

    None otherwise: that no two rows are the same example, within a file or across files, cannot be seen from digests of
    whole streams.

    >>> played_once([{"passes": 1, "digest": "a"}, {"passes": 1, "digest": "a"}])
    False
    """
    digests = [segment["digest"] for segment in segments if segment["digest"]]
    again = any(segment["passes"] != 1 for segment in segments) or len(set(digests)) < len(digests)
    return False if again else None


def came_late(core: Core) -> bool:
    """Whether labels came late: the figures are then of the learner's own rounds, not of what it had predicted."""
    return any(segment.get("late") for segment in core.segments)


def rows_weigh_one(segments: Sequence[Mapping[str, Any]], weights: NDArray[np.float64] | None) -> bool:
    """Whether every row weighs 1: no round weighs other than 1, and no row of weight 0 was left out of the rounds."""
    left_out = any(segment["end"] - segment["begin"] != segment["rows"] for segment in segments)
    return weights is None and not left_out


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
