"""The learners of a finite class: Consistent, Halving, SOA.

Each keeps the version space, the hypotheses that agree with all labels so far, as a bitset.

`predict(point)` changes nothing; `learn(point, label)` takes away the hypotheses that said otherwise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import numpy as np

from noregret.errors import InputError, SettingError
from noregret.finite.hypotheses import HypothesisClass
from noregret.finite.search import Depths

Choice = Callable[[list[int]], int]


class VersionSpaceLearner(ABC):
    """What the learners share: the version space and its update."""

    name: ClassVar[str]

    def __init__(self, hypotheses: HypothesisClass) -> None:
        if not len(hypotheses):
            raise SettingError(f"{type(self).__name__}: the class must not be empty")
        self.hypotheses = hypotheses
        self.version_space = hypotheses.everything
        self.rounds = 0

    @property
    def size(self) -> int:
        """How many hypotheses are left."""
        return self.version_space.bit_count()

    def parts(self, point: Hashable) -> tuple[int, int]:
        """The version space cut by what its hypotheses say at a point: (those with 0, those with 1)."""
        one = self.hypotheses.agreeing(self.version_space, point, 1)
        return self.version_space & ~one, one

    @abstractmethod
    def predict(self, point: Hashable) -> int:
        """The label 0 or 1 predicted for a point."""

    def learn(self, point: Hashable, label: int) -> None:
        """Keep the hypotheses that give the point this label; there must be one."""
        left = self.parts(point)[checked_label(label)]
        if not left:
            raise InputError(
                f"round {self.rounds + 1}: no hypothesis that agrees with all earlier labels gives point {point!r}"
                f" the label {int(label)} (SOA with agnostic=True learns from such labels too)"
            )
        self.version_space = left
        self.rounds += 1


class Consistent(VersionSpaceLearner):
    """Predicts with one hypothesis that agrees with all labels so far; at most |H| − 1 mistakes (Corollary 21.2).

    `choose` selects it: "first", "last", "random" (drawn with `rng` after every round that removed hypotheses), or a
    function from the list of remaining hypotheses to one of them.
    """

    name = "consistent"

    def __init__(
        self, hypotheses: HypothesisClass, choose: str | Choice = "first", rng: np.random.Generator | None = None
    ) -> None:
        super().__init__(hypotheses)
        if not callable(choose) and choose not in ("first", "last", "random"):
            raise SettingError(f"Consistent: choose must be first, last, random or a function, got {choose!r}")
        if (choose == "random") is not (rng is not None):
            raise SettingError("Consistent: choose='random' and rng must be used together")
        self._choose, self._rng = choose, rng
        self.chosen = self._chosen()

    def _chosen(self) -> int:
        if self._choose == "first":
            return (self.version_space & -self.version_space).bit_length() - 1
        if self._choose == "last":
            return self.version_space.bit_length() - 1
        left = members(self.version_space)
        if self._rng is not None:
            return left[int(self._rng.integers(len(left)))]
        assert callable(self._choose)
        chosen = int(self._choose(left))
        if not 0 <= chosen < len(self.hypotheses) or not self.version_space >> chosen & 1:
            raise SettingError(f"Consistent: choose must return one of the hypotheses left, got {chosen}")
        return chosen

    def predict(self, point: Hashable) -> int:
        return self.hypotheses.label(self.chosen, point)

    def learn(self, point: Hashable, label: int) -> None:
        before = self.version_space
        super().learn(point, label)
        if self.version_space != before:
            self.chosen = self._chosen()


class _Tying(VersionSpaceLearner):
    """A learner that weighs the two parts of the version space; `tie` is its prediction where they weigh the same."""

    def __init__(self, hypotheses: HypothesisClass, tie: int = 1) -> None:
        super().__init__(hypotheses)
        if tie not in (0, 1):
            raise SettingError(f"{type(self).__name__}: tie must be 0 or 1, got {tie!r}")
        self.tie = int(tie)

    def predict(self, point: Hashable) -> int:
        zero, one = self.weights(point)
        return self.tie if zero == one else int(one > zero)

    @abstractmethod
    def weights(self, point: Hashable) -> tuple[int, int]:
        """What speaks for 0 and for 1 at a point."""


class Halving(_Tying):
    """Predicts with the majority of the version space; at most log2 |H| mistakes (Theorem 21.3)."""

    name = "halving"

    def weights(self, point: Hashable) -> tuple[int, int]:
        zero, one = self.parts(point)
        return zero.bit_count(), one.bit_count()


class SOA(_Tying):
    """The standard optimal algorithm: predicts the label whose part has the larger Littlestone dimension.

    It makes exactly Ldim mistakes against the best adversary, and no deterministic learner makes fewer (Lemma 21.7).
    `depths` lets several learners of one class share what they know about its version spaces.

    Labels that no hypothesis explains are an error. With `agnostic=True` and the number of `rounds`, any labels are
    allowed: the result is then an `Agnostic`, which follows experts that play SOA with the same tie rule.
    """

    name = "soa"

    def __new__(
        cls,
        hypotheses: HypothesisClass,
        tie: int = 1,
        depths: Depths | None = None,
        *,
        agnostic: bool = False,
        rounds: int | None = None,
    ) -> Any:
        if agnostic is not (rounds is not None):
            raise SettingError("SOA: agnostic=True and rounds, the number of rounds, must be used together")
        if not agnostic:
            return super().__new__(cls)
        from noregret.finite.agnostic import Agnostic

        assert rounds is not None
        return Agnostic(hypotheses, rounds, tie, depths)

    def __init__(
        self,
        hypotheses: HypothesisClass,
        tie: int = 1,
        depths: Depths | None = None,
        *,
        agnostic: bool = False,
        rounds: int | None = None,
    ) -> None:
        super().__init__(hypotheses, tie)
        self.depths = depths or Depths(hypotheses)

    def weights(self, point: Hashable) -> tuple[int, int]:
        """(Ldim of the part with 0, Ldim of the part with 1); −1 where a part is empty."""
        zero, one = self.parts(point)
        return self.depths.dimension(zero), self.depths.dimension(one)


LEARNERS: dict[str, type[VersionSpaceLearner]] = {one.name: one for one in (Consistent, Halving, SOA)}


def members(hypotheses: int) -> list[int]:
    """The numbers in a bitset, ascending."""
    return [i for i in range(hypotheses.bit_length()) if hypotheses >> i & 1]


def checked_label(label: int) -> int:
    if label not in (0, 1):
        raise InputError(f"a label must be 0 or 1, got {label!r}")
    return int(label)
