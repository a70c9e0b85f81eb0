"""Figures of a served model: what its predictions came to, and decisions that others took on the same rounds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from noregret.errors import InputError
from noregret.late.book import Round
from noregret.late.judging import missed, paid
from noregret.late.pending import Pending
from noregret.run import Run
from noregret.stream.labels import same


@dataclass
class Shadow:
    """Rounds whose label came with the decision that was really taken: what it lost, and the prediction beside it."""

    rounds: int = 0
    mistakes: int = 0  # of the decisions; for numbers always 0
    loss: float = 0.0  # of the decisions; for classes their mistakes
    own_mistakes: int = 0
    own_loss: float = 0.0

    def judge(self, late: Pending, one: Round, y: Any, decision: Any) -> None:
        """One of them. For numbers both are judged by the learner's loss, for classes by their mistakes."""
        core = late.core
        self.rounds += 1
        if core.regression:
            truth = float(y)
            self.loss += one.weight * core.loss(float(decision), truth)
            self.own_loss += one.weight * paid(core, one.said, one.escape, truth)
            return
        wrong, code = not same(decision, y), late.code_of(y)
        own = code is None or missed(core, one.said, code)
        self.mistakes, self.loss = self.mistakes + wrong, self.loss + wrong
        self.own_mistakes, self.own_loss = self.own_mistakes + own, self.own_loss + own


def check_decision(late: Pending, decision: Any) -> None:
    """Refuse a decision that nobody can judge."""
    try:
        late.code_of(decision)
    except InputError as error:
        raise InputError(f"the decision cannot be judged: {error.sentence}") from None


def loss_of(late: Pending, one: Round) -> float | None:
    """What the prediction of a round lost, once its label is there."""
    if one.label is None:
        return None
    return one.weight * paid(late.core, one.said, one.escape, one.label)


def figures(late: Pending, shadow: Shadow) -> dict[str, Any]:
    """All figures so far, as plain numbers; they depend on the events alone."""
    found = {**late.figures, **{f"baseline_{name}": value for name, value in Run.of(late.core).baselines.items()}}
    if shadow.rounds:
        found["decisions"] = asdict(shadow)
    return found
