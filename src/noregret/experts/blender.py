"""A blend round by round: `Blender` predicts from forecasts, learns from the outcome, and can be saved and resumed."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from noregret.errors import ModelFileError, SettingError
from noregret.experts import forecasts, rules
from noregret.experts.contest import Contest
from noregret.experts.engine import ANYTIME, Engine, Played
from noregret.experts.forecasts import LAST, ExpertTable
from noregret.experts.loss import JUDGES, LOSSES
from noregret.experts.methods import METHODS, Asked, method_for, rule_of

Vector = NDArray[np.float64]


class Blender:
    """A blend round by round: `predict(forecasts)`, then `learn(outcome)`.

    `experts` are the names or the number of experts. For `brier` and `log` a forecast is the probability of outcome 1
    or, if `outcomes` are named, one probability for each. A forecast of NaN or None means that the expert sleeps.
    `against` is what the blend competes with, the best `expert` or the best fixed `mean`; `last_value` adds the
    previous outcome as one more expert, which needs no forecast.

    >>> blender = Blender(["anna", "bert"], loss="squared")
    >>> blender.predict([0.0, 1.0]), blender.learn(1.0)
    (0.5, 0.25)
    >>> blender.predict([0.0, 1.0]) > 0.5
    True
    """

    def __init__(
        self,
        experts: Sequence[str] | int,
        *,
        loss: str = "squared",
        range: Sequence[float] | None = None,
        outcomes: Sequence[str] | None = None,
        method: str | None = None,
        against: str | None = None,
        last_value: bool = False,
        rate: str = "two",
        rounds: int | None = None,
        switches: int | None = None,
    ) -> None:
        count = experts if isinstance(experts, int) else len(experts)
        rules.whole("blend", "experts", count, 1)
        named = [f"expert {i + 1}" for i in np.arange(count)] if isinstance(experts, int) else list(experts)
        if loss not in JUDGES:
            raise SettingError(f"blend: loss must be one of {', '.join(LOSSES)} (or costs), got {loss!r}")
        self.judged_by = judge = JUDGES[loss]
        if last_value and not (judge.numbers or judge.labels):
            with_last = ", ".join(name for name, one in LOSSES.items() if one.numbers or one.labels)
            raise SettingError(f"blend: the last value is an expert for {with_last} loss, not for {loss}")
        if last_value and LAST in named:
            raise SettingError(f"blend: an expert is named {LAST!r}, as that of the last value would be: rename it")
        self.last_value, self._last = last_value, math.nan
        self.experts = [*named, LAST] if last_value else named
        count = len(self.experts)
        self.method = method_for(judge, method, against)
        if range is not None and not judge.ranged:
            raise SettingError(f"blend: a range is for squared and absolute loss and for costs, not for {loss}")
        if rate not in rules.ANYTIME_RATES:
            raise SettingError(f"blend: rate must be one of {', '.join(rules.ANYTIME_RATES)}, got {rate!r}")
        if switches is not None:
            rules.whole("blend", "switches", switches, 0)
        if rounds is not None:
            rules.whole("blend", "rounds", rounds, 1)
        switches = METHODS[self.method].switches if switches is None else switches
        self.range = rules.ends("blend", (0.0, 1.0) if range is None else range)
        self.outcomes = None if outcomes is None else list(outcomes)
        self.rate, self.announced, self.switches = rate, rounds, switches
        rule = rule_of(self.method, Asked(judge, count, self.range, rounds, rate, switches or 0))
        self.engine = Engine(count, rule, judge, max(len(self.outcomes or ()), 1))
        self._pending: NDArray[np.float64] | None = None

    @property
    def rate_name(self) -> str | None:
        """Which of Hedge's rates it has; None where the method has one rate only."""
        return self.rate if self.engine.rule.kind == ANYTIME else None

    @property
    def rounds(self) -> int:
        """The number of rounds played."""
        return self.engine.rounds

    @property
    def loss(self) -> float:
        """The loss of the blend so far."""
        return self.engine.total

    @property
    def losses(self) -> Vector:
        """The loss of each expert; a sleeper suffers the blend's loss."""
        return self.engine.totals

    @property
    def regret(self) -> float:
        """The largest regret against any expert, counted over the rounds in which it was awake."""
        return self.loss - float(self.losses.min())

    @property
    def best(self) -> str:
        """The expert with the largest regret."""
        return self.experts[int(self.losses.argmin())]

    def weights(self) -> dict[str, float]:
        """The weights of the next round if all experts are awake."""
        return dict(zip(self.experts, self.engine.weights().tolist(), strict=True))

    def predict(self, forecasts: Any) -> Any:
        """The blend of the experts' forecasts (of a mapping by name, or in order); kept for `learn`.

        For `zero-one` the label with the most weight; for several outcomes a probability for each; for costs, nothing
        is predicted.
        """
        given = self._given(forecasts)
        self._pending = given
        if np.isnan(given[:, 0]).all():
            self._pending = None
            raise SettingError("blend: every forecast in this round is missing")
        mean = self.engine.forecast(given)
        if self.judged_by.labels:
            assert self.outcomes is not None
            return self.outcomes[int(mean[0])]
        return float(mean[0]) if len(mean) == 1 else dict(zip(self.outcomes or (), mean.tolist(), strict=True))

    def learn(self, outcome: Any) -> float:
        """Learn the outcome of the last predicted round and return the blend's loss."""
        if self._pending is None:
            raise SettingError("blend: call predict before learn: no round is waiting for its outcome")
        y = self._outcome(outcome)
        played = self.engine.play(self._pending[None, :, :], np.array([y]))
        if not played.rounds:
            raise SettingError("blend: every remaining expert gave the outcome probability 0")
        self._pending, self._last = None, y
        return float(played.losses[0])

    def learn_costs(self, costs: Any) -> float:
        """One round of plain costs (loss `costs`): the expected cost of following an expert drawn by weight."""
        if not self.judged_by.costs:
            raise SettingError(f"blend: learn_costs is for loss costs, not for {self.judged_by.name}")
        self._pending = self._given(costs)
        return self.learn(0.0)

    def choose(self, rng: np.random.Generator) -> str:
        """An expert drawn by weight from those of the pending round (from all, if none is pending)."""
        awake = None if self._pending is None else ~np.isnan(self._pending[:, 0])
        return self.experts[int(rng.choice(len(self.experts), p=self.engine.weights(awake)))]

    def _given(self, forecasts: Any) -> NDArray[np.float64]:
        """given[i, k], checked; the last value is known without being given."""
        asked = self.experts[:-1] if self.last_value else self.experts
        for name in forecasts if isinstance(forecasts, Mapping) else ():
            if name not in asked:
                raise SettingError(f"blend: {name!r} is not one of the experts {', '.join(map(str, asked))}")
        row = [forecasts.get(name) for name in asked] if isinstance(forecasts, Mapping) else list(forecasts)
        if len(row) != len(asked):
            raise SettingError(f"blend: a round has {len(asked)} forecasts, got {len(row)}")
        several = self.outcomes is not None and self.judged_by.chances
        found = np.array([self._one(one, several) for one in row], dtype=np.float64)
        if self.last_value:
            found = np.concatenate([found, [[self._last]]])
        if not self.judged_by.labels:
            lo, hi = self.range
            for i, values in enumerate(found.tolist()):
                for value in values:
                    if not (math.isnan(value) or lo <= value <= hi):
                        raise SettingError(f"blend: {self.experts[i]} says {value:g}, outside [{lo:g}, {hi:g}]")
        return found

    def _one(self, said: Any, several: bool) -> list[float]:
        if self.judged_by.labels:
            if self.outcomes is None:
                raise SettingError("blend: zero-one needs the labels: give outcomes=")
            return [math.nan] if said is None or said != said else [float(self._code(said))]
        if not several:
            return [math.nan if said is None else float(said)]
        assert self.outcomes is not None
        if said is None:
            return [math.nan] * len(self.outcomes)
        values = (
            [float(said[name]) for name in self.outcomes] if isinstance(said, Mapping) else [float(v) for v in said]
        )
        total = math.fsum(values)
        if len(values) != len(self.outcomes) or abs(total - 1.0) > 1e-6:
            raise SettingError(f"blend: a forecast is {len(self.outcomes)} probabilities that sum to 1, got {said!r}")
        return [value / total for value in values]

    def _code(self, outcome: Any) -> int:
        assert self.outcomes is not None
        if outcome not in self.outcomes:
            raise SettingError(f"blend: {outcome!r} is not one of the outcomes {', '.join(map(str, self.outcomes))}")
        return self.outcomes.index(outcome)

    def _outcome(self, outcome: Any) -> float:
        if self.outcomes is not None:
            return float(self._code(outcome))
        y = float(outcome)
        lo, hi = self.range
        if self.judged_by.chances and y not in (0.0, 1.0):
            raise SettingError(f"blend: the outcome must be 0 or 1, got {y:g}")
        if self.judged_by.numbers and not lo <= y <= hi:
            raise SettingError(f"blend: the outcome {y:g} lies outside [{lo:g}, {hi:g}]")
        return y

    def contest(self, data: ExpertTable, played: Played) -> Contest:
        """What came of a whole table, as theorems ask for it."""
        return Contest(
            self.method,
            self.engine.rule,
            self.judged_by,
            self.range,
            data.values,
            data.outcomes,
            played.losses,
            played.forecasts if not self.judged_by.costs else np.zeros((len(data.values), 1)),
            self.engine.totals,
            self.engine.gap,
            self.announced,
            self.rate_name,
            self.switches,
        )

    @property
    def settings(self) -> dict[str, Any]:
        """What it was made with, as JSON takes it."""
        return {
            "experts": self.experts[:-1] if self.last_value else self.experts,
            "loss": self.judged_by.name,
            "range": list(self.range) if self.judged_by.ranged else None,
            "outcomes": self.outcomes,
            "method": self.method,
            "last_value": self.last_value,
            "rate": self.rate,
            "rounds": self.announced,
            "switches": self.switches,
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write settings and state, between two rounds; `load` continues bit for bit."""
        if self._pending is not None:
            raise SettingError("blend: a round waits for its outcome; save before predict or after learn")
        last = None if math.isnan(self._last) else self._last
        forecasts.save(path, "blender", {**self.settings, "last": last}, self.engine.state)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The blender of a file."""
        stored, name = forecasts.load(path), os.fspath(path)
        if stored.kind != "blender":
            raise ModelFileError(f"holds {stored.kind!r}, not a blender", name)
        try:
            settings = dict(stored.settings)
            last = settings.pop("last", None)
            found = cls(settings.pop("experts"), **settings)
            found._last = math.nan if last is None else float(last)
        except (TypeError, ValueError, KeyError, SettingError) as error:
            raise ModelFileError(f"the settings in the experts file are invalid ({error})", name) from error
        found.engine.state = forecasts.state_of(stored, len(found.experts), name)
        return found
