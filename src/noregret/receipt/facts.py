"""What the bounds of a receipt are recomputed from: the rounds, the scores, and the vectors that the receipt names."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from noregret._native import exact_updates, replay_path
from noregret.enclose import EPS, combined, margins, norm, norm_between, risk, row_norms2
from noregret.errors import ReceiptError
from noregret.interval import Interval, ends, total
from noregret.learner.core import Core
from noregret.loss import Loss, hinge, logistic, squared_hinge
from noregret.receipt.bounds_kernel import Spans
from noregret.receipt.form import Vector
from noregret.receipt.many import ManyFacts
from noregret.receipt.measure import LEAST, float_steps, measured, middle, missed, own_loss
from noregret.receipt.replay import Replayed
from noregret.rounds import Rounds


@dataclass(frozen=True)
class At:
    """A comparator of the perceptron: ‖v‖, Σh(v), Σh(v)² over all rounds, and ⟨v, w₁⟩/η."""

    norm: Interval
    hinge: Interval
    hinge2: Interval
    along: Interval


@dataclass(frozen=True)
class Facts:
    """The run as it was replayed, and the main regret of the receipt."""

    played: Replayed
    entry: dict[str, Any] | None
    points: dict[str, Vector]
    regret: Interval | None = None  # against the best comparator, as recomputed

    @property
    def core(self) -> Core:
        return self.played.run.learner

    @property
    def rounds(self) -> Rounds:
        return self.played.rounds

    @property
    def T(self) -> int:
        return len(self.rounds)

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """What several theorems of a family need, made for the first of them."""
        if name not in vars(self):
            vars(self)[name] = make()
        return vars(self)[name]

    def setting(self, name: str) -> float:
        return float(self.core.config[name][0])

    @property
    def U(self) -> float:
        """The radius of the comparators: that of the regret, or the learner's own."""
        return self.core.domain.radius if self.entry is None else float(self.entry["domain"]["radius"])

    @cached_property
    def many(self) -> ManyFacts:
        """The run of many classes."""
        return ManyFacts(self.played, self.points)

    @cached_property
    def allowance(self) -> float:
        """How far, relatively, the steps of a float run may take a bound that is stated for exact steps."""
        return float_steps(self.rounds)

    @cached_property
    def spans(self) -> Spans:
        """The run of a kernel learner, seen through its kernel."""
        return Spans(self.played, self.points)

    # -- the perceptron ------------------------------------------------------------------------------------------

    @cached_property
    def chosen(self) -> Any:
        """The rounds that were mistakes, and so updates."""
        return np.flatnonzero(missed(self.played))

    @cached_property
    def squares(self) -> tuple[Vector, Vector]:
        return row_norms2(self.rounds)

    @property
    def r(self) -> Interval:
        """max‖x‖."""
        lo, hi = self.squares
        return Interval(float(lo.max(initial=0.0)), float(hi.max(initial=0.0))).sqrt()

    @property
    def R2(self) -> Interval:
        """Σ‖x‖² over the mistakes."""
        lo, hi = self.squares
        return total(lo[self.chosen], hi[self.chosen])

    @cached_property
    def S(self) -> Interval:
        """‖Σ y·x‖ over the mistakes."""
        signs = np.zeros(self.T)
        signs[self.chosen] = self.rounds.y[self.chosen]
        return norm_between(*combined(self._unweighted, signs))

    @property
    def _unweighted(self) -> Rounds:
        return replace(self.rounds, weights=None)

    @cached_property
    def start(self) -> Vector:
        """w₁ with the bias in front, as long as the rows."""
        given = self.core.settings.get("start") or []
        w = np.zeros(max(self.rounds.width, len(given) + int(self.rounds.bias)))
        w[int(self.rounds.bias) : int(self.rounds.bias) + len(given)] = given
        return w

    @property
    def step(self) -> float:
        """η of the perceptron; other learners count in their own units."""
        return float(self.core.settings.get("rate", 1.0)) if not self.core.loss.convex else 1.0

    @cached_property
    def N(self) -> Interval:
        """‖w₁‖/η."""
        return norm(self.start) / self.step if self.start.any() else Interval.of(0.0)

    @cached_property
    def replayed(self) -> tuple[bool, Interval]:
        """Whether y⟨w₁/η + S, x⟩ ≤ 0 exactly on every update, and ‖w₁/η + S‖ at the end."""
        sums = np.array([_over(float(part), self.step) for part in self.start]).reshape(-1, 3)
        scores = np.empty((len(self.chosen), 3))
        exact_updates(self.rounds.given, self.rounds.y, self.chosen, sums, scores)
        return bool((ends(scores)[1] <= 0.0).all()), norm_between(*ends(sums))

    def at(self, name: str, scale: float = 1.0) -> At:
        """The comparator of that name."""
        v = self.points[name] * scale
        rows = self._unweighted
        along = Interval.of(0.0)
        if self.start.any():
            shared = min(len(v), len(self.start))
            lo, hi = margins(Rounds.of(self.start[None, :shared], [1.0]), v[:shared])
            along = Interval(float(lo[0]), float(hi[0])) / self.step
        return At(norm(v), risk(rows, hinge(), v).positive(), risk(rows, squared_hinge(), v).positive(), along)

    def log2_loss(self, name: str, scale: float) -> Interval:
        """Σ log₂(1 + e^(−y⟨v,x⟩))."""
        return risk(self._unweighted, logistic(), self.points[name] * scale) / Interval.of(2.0).log()

    def no_less(self, name: str) -> float:
        """What β proves that no comparator falls below: of Φ(‖S‖), of Φ(R_I), or in every order."""
        beta = self.points[name]
        if len(beta) != self.T or (beta < 0.0).any() or (beta > 1.0).any():
            raise ReceiptError(f"the dual point {name} lies outside [0, 1]", failed=True)
        m, g = total(beta, beta), norm_between(*combined(self._unweighted, beta * self.rounds.y))
        if g.hi == 0.0:
            return max(m.lo, 0.0)
        if name == "beta_root":
            return max(min(m.lo, (self.r * m / g).square().lo), 0.0)
        rho = self.S if name == "beta_sum" else self.R2.sqrt()
        return max(m.lo if rho.lo >= g.hi else min(m.lo, (m * (rho / g)).lo), 0.0)

    @cached_property
    def separates(self) -> bool:
        """y⟨u, x⟩ ≥ 1 on every round."""
        if "separator" not in self.points:
            return False
        lo, hi = margins(self.rounds, self.points["separator"])
        return bool((np.where(self.rounds.y > 0.0, lo, -hi) >= 1.0).all())

    @property
    def shortest(self) -> float:
        """No separator is shorter than Σλ/‖Σλyx‖."""
        weights = self.points["separator_weights"]
        if (weights < 0.0).any():
            raise ReceiptError("the separator's weights must not be negative", failed=True)
        g = norm_between(*combined(self._unweighted, weights * self.rounds.y))
        return max((total(weights, weights) / g).lo, 0.0) if g.lo > 0.0 else 0.0

    # -- gradient learners ---------------------------------------------------------------------------------------

    @cached_property
    def slopes(self) -> Vector:
        """The slopes at the scores that were predicted, weights included."""
        assert self.rounds.scores is not None
        slopes = self.core.loss.gradients(self.rounds.scores, self.rounds.y)
        return slopes if self.rounds.weights is None else slopes * self.rounds.weights

    @cached_property
    def figures(self) -> dict[str, Interval]:
        """Norms and sums of the gradients, from the replay where a regulariser is in them."""
        return dict(measured(self.played)["gradient"])

    @property
    def G(self) -> float:
        """max‖g‖, from above."""
        return self.figures["max_norm"].hi

    @property
    def dot(self) -> Interval:
        """Σ⟨g, w⟩."""
        return self.figures["sum_dot_weights"]

    @cached_property
    def gradient_sum(self) -> tuple[Vector, Vector]:
        plain = self.core.loss.gradients(np.asarray(self.rounds.scores), self.rounds.y)
        return combined(self.rounds, plain)

    @cached_property
    def sum_norm(self) -> Interval:
        """‖Σg‖."""
        return norm_between(*self.gradient_sum)

    @property
    def own(self) -> Interval:
        assert self.rounds.scores is not None
        return own_loss(self.played, self.T, self.judge, self.setting("sigma"))

    @property
    def ceiling(self) -> float:
        """From here on a bound on the regret says nothing."""
        return math.inf if self.core.loss.custom else self.own.hi

    @property
    def judge(self) -> Loss:
        return self.core.loss if self.core.loss.convex else hinge()

    @cached_property
    def regret_at(self) -> Interval:
        """Against the point u itself."""
        return self.own - risk(self.rounds, self.judge, self.points["u"], self.setting("sigma"))

    @cached_property
    def along_u(self) -> Interval:
        """Σ⟨g, u⟩."""
        a, b = (self.slopes * end for end in margins(self.rounds, self.points["u"]))
        off = np.where(self.slopes != 0.0, 4.0 * EPS * np.maximum(np.abs(a), np.abs(b)) + LEAST, 0.0)
        return total(np.minimum(a, b) - off, np.maximum(a, b) + off)

    @property
    def worst(self) -> Vector:
        """−U·Σg/‖Σg‖."""
        lo, hi = self.gradient_sum
        g = 0.5 * lo + 0.5 * hi
        size = middle(norm_between(lo, hi))
        return np.asarray(-g * (self.U / size)) if size else np.zeros_like(g)

    @cached_property
    def path(self) -> tuple[Vector, Vector, float, float]:
        """w_{T+1}, Σc_t·w_{t+1}, Σc_t‖w_{t+1}‖² and Σc_t‖w_{t+1}‖ with c_t = 1/η_{t+1} − 1/η_t."""
        eta, roots = self.core.rate.eta, np.sqrt(np.arange(1.0, self.T + 1.0))
        growth = (roots[1:] - roots[:-1]) / eta
        w, drift, sizes = self.start.copy(), np.zeros(len(self.start)), np.zeros(2)
        replay_path(self.rounds.given, self.slopes, eta / roots, growth, self.core.domain.radius, w, drift, sizes)
        return w, drift, float(sizes[0]), float(sizes[1])


def _over(a: float, b: float) -> tuple[float, float, float]:
    """a/b as a float, the float nearest to what that lost, and a bound on what both lost."""
    exact = Fraction(a) / Fraction(b)
    s = float(exact)
    c = float(exact - Fraction(s))
    return s, c, abs(float(exact - Fraction(s) - Fraction(c))) * (1.0 + 2.0**-50)
