"""The bounds of a kernel learner once more, from the kernel values between its rounds, with outward rounding."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.gram import Gram, hinges
from noregret.interval import Interval, total
from noregret.learner.kernel import KernelPerceptron
from noregret.receipt.form import Vector
from noregret.receipt.found import Certificate, Condition, Formula, Found
from noregret.receipt.measure import missed
from noregret.receipt.replay import Replayed

if TYPE_CHECKING:
    from noregret.receipt.facts import Facts

UNIT, FEASIBLE = "every round weighs 1", "rounds × updates × entries of a row are at most 2·10⁹"
SEMIDEFINITE, KEPT = "the kernel is symmetric and positive semi-definite", "no support was forgotten"
SURE = "every update was made at y·score ≤ 0, in exact arithmetic"
SPANNED = "a comparator v in the span of the rounds is given"
LIMIT = 2e9


@dataclass(frozen=True)
class Spans:
    """The replayed run of a kernel learner, seen through its kernel."""

    played: Replayed
    points: dict[str, Vector]

    @property
    def core(self) -> KernelPerceptron:
        assert isinstance(self.played.run.learner, KernelPerceptron)
        return self.played.run.learner

    @cached_property
    def gram(self) -> Gram:
        return Gram(replace(self.played.rounds, weights=None), self.core.kernel)

    @cached_property
    def updates(self) -> Any:
        return np.flatnonzero(missed(self.played))

    @cached_property
    def signs(self) -> Vector:
        return np.asarray(self.played.rounds.y[self.updates])

    @property
    def feasible(self) -> bool:
        return len(self.played.rounds) * max(len(self.updates), 1) * self.gram.entries <= LIMIT

    @cached_property
    def sure(self) -> bool:
        """No update was made at y·score > 0: the upper end of each, over the updates before it, is at most 0."""
        low, high = self.gram.sums(self.updates, self.signs[None], self.updates, before=True)
        return self.played.rounds.weights is None and bool(
            (np.maximum(self.signs * low, self.signs * high) <= 0.0).all()
        )

    @cached_property
    def squares(self) -> tuple[Vector, Vector]:
        """K(x, x) of every round."""
        return self.gram.squares()

    @property
    def trace(self) -> Interval:
        """√Tr K_I."""
        return total(self.squares[0][self.updates], self.squares[1][self.updates]).sqrt()

    @property
    def radius(self) -> Interval:
        """max √K(x, x)."""
        return Interval(float(self.squares[0].max(initial=0.0)), float(self.squares[1].max(initial=0.0))).sqrt()

    @cached_property
    def length(self) -> Interval:
        """‖Σ y·φ(x)‖ over the updates."""
        low, high = self.gram.sums(self.updates, self.signs[None], self.updates)
        return self.gram.length(self.signs, low[0], high[0])

    def at(self, name: str) -> tuple[Interval, Interval]:
        """Σh(v) over all rounds and ‖v‖ of the comparator of that name."""
        c = self.points[name]
        which = np.flatnonzero(c)
        low, high = self.gram.sums(which, c[which][None], np.arange(len(c)))
        loss = total(*hinges(self.played.rounds.y, low[0], high[0]))
        return loss, self.gram.length(c[which], low[0][which], high[0][which])


Make = Callable[[Spans, Interval, Interval], Interval]


def at(make: Make) -> Formula:
    """A mistake bound at the comparator that the certificate names."""

    def found(f: Facts, certificate: Certificate) -> Found:
        loss, norm = f.spans.at(certificate["points"][0])
        values = {"hinge": loss.hi, "norm": norm.hi}
        return Found(make(f.spans, loss, norm), Interval.of(float(len(f.spans.updates))), f.T, values)

    return found


def norm_lemma(f: Facts, certificate: Certificate) -> Found:
    bound = f.spans.trace
    return Found(bound, f.spans.length, math.inf, {}, slack=bound.hi * 2.0**-45)


def root(s: Spans, c: Interval, norm: Interval) -> Interval:
    """The largest M with M ≤ c + b√M, b = r‖v‖."""
    b = norm * s.radius
    return c + b.square() / 2.0 + b * (c + b.square() / 4.0).sqrt()


GIVEN = (SPANNED,)
PROMISES = ()
NEEDS: dict[str, Condition] = {
    FEASIBLE: lambda f: f.spans.feasible,
    SEMIDEFINITE: lambda f: f.spans.core.kernel.semidefinite,
    KEPT: lambda f: f.spans.core.supports == len(f.spans.updates),
    SURE: lambda f: f.spans.sure if f.spans.feasible else None,
    SPANNED: lambda f: any(name.startswith("c_") for name in f.points),
}
PROVED = (UNIT, FEASIBLE, SEMIDEFINITE, KEPT, SURE)
BOUNDS: dict[str, tuple[tuple[str, ...], Formula]] = {
    "kernel-norm-lemma": (PROVED, norm_lemma),
    "kernel-hinge-sum": ((UNIT, FEASIBLE, SEMIDEFINITE, SPANNED), at(lambda s, c, norm: c + norm * s.length)),
    "kernel-hinge-mistakes": ((*PROVED, SPANNED), at(lambda s, c, norm: c + norm * s.trace)),
    "kernel-hinge-root": ((*PROVED, SPANNED), at(root)),
}


def speaks_of(name: str, f: Facts) -> bool:
    return f.core.name == "kernel"


def vectors_of(name: str, f: Facts, named: list[str]) -> bool:
    if name == "kernel-norm-lemma":
        return not named
    return len(named) == 1 and named[0] in f.points and named[0] in ("c_sum", "c_mistakes", "c_root")
