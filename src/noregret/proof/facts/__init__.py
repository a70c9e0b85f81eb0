"""All that theorems are evaluated on: facts of a run's rounds, of its scores, and of the points that proofs name.

Each is computed when it is first asked for, from the rounds and the points alone, and encloses the true value. How a
point was found does not matter: a solver's, a receipt's or a user's are judged alike. Maker and verifier of a receipt
evaluate the same theorems on facts that each computes for itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noregret import loss as losses
from noregret._native import BALL, SQRT, STRONG, exact_updates
from noregret.errors import SettingError
from noregret.interval import Interval, ends, least, total
from noregret.learner.auto import Auto
from noregret.learner.core import Core
from noregret.learner.kernel import KernelPerceptron
from noregret.loss import Loss
from noregret.proof import enclose
from noregret.proof.facts import gradients, quadratic, steps, surrogate
from noregret.proof.facts.classes import ClassFacts
from noregret.proof.facts.gradients import Gradients
from noregret.proof.facts.matrices import Matrices, matrices
from noregret.proof.facts.pool import Pool
from noregret.proof.facts.steps import Against, Comparator, Path, Start, Steps, exact_path
from noregret.proof.facts.surrogate import Admitted
from noregret.proof.gram import Gram
from noregret.proof.hindsight import Hindsight
from noregret.rounds import Rounds
from noregret.run import Run

Vector = NDArray[np.float64]
Places = NDArray[np.int64]
Points = dict[str, Vector]
COMPARATORS = ("sum", "mistakes", "root", "l2")  # best for ‖S‖, for R_I, for every order, by ‖h‖₂ for every order
ZERO = Interval.of(0.0)
NAMES = frozenset(  # of the points that theorems are evaluated at, beside hindsight's own
    [f"{kind}_{name}" for kind in ("v", "c") for name in COMPARATORS]
    + [f"{kind}_{name}" for kind in ("beta", "V") for name in COMPARATORS[:3]]
    + ["c_separator"]
    + ["separator", "separator_weights", "v_steps", "v_determinant", steps.POINT, quadratic.POINT, *surrogate.POINTS]
    + ["V_apart", "V_each", "u_risk"]
)


@dataclass(frozen=True)
class Mistakes:
    """The update rounds I of a perceptron: S = Σ_I y·x, R_I² = Σ_I ‖x‖², r² = max‖x‖², all in units of the step."""

    count: int
    premise: bool  # y⟨w_t, x_t⟩ ≤ 0 in exact arithmetic on every update round
    sum_norm: Interval  # ‖S‖
    end_norm: Interval  # ‖w₁/η + S‖
    max_norm2: Interval
    mistake_norm2: Interval

    @property
    def measurable(self) -> bool:
        """Whether the squares of the rows, and their sums, are numbers: otherwise no comparator is looked for."""
        return all(math.isfinite(one.hi) for one in (self.max_norm2, self.mistake_norm2, self.sum_norm))

    @property
    def radius(self) -> Interval:
        """r."""
        return _root(self.max_norm2)

    @property
    def mistake_norm(self) -> Interval:
        """R_I."""
        return _root(self.mistake_norm2)


@dataclass(frozen=True)
class Separator:
    """y⟨u, x⟩ ≥ 1 on every round; no separator has a norm below `least_norm`."""

    u: Vector
    norm: Interval
    along_start: Interval
    least_norm: float


@dataclass(frozen=True)
class Facts:
    """A run with its rounds, the best comparator where one is known, and the other points, by name."""

    run: Run
    rounds: Rounds
    hindsight: Hindsight | None = None
    points: Points = field(default_factory=dict)
    follow: bool = True  # whether the path of a descent may be replayed
    surrogate: Loss | None = None  # a convex loss that a perceptron's mistakes are compared with

    def __post_init__(self) -> None:
        if self.rounds.scores is None or len(self.rounds) != self.run.rounds:
            given = len(self.rounds)
            raise SettingError(f"facts: the run has {self.run.rounds} rounds with scores, and {given} were given")
        found = {} if self.hindsight is None else self.hindsight.points
        object.__setattr__(self, "points", {**self.points, **found})

    @property
    def learner(self) -> Core:
        return self.run.learner

    @property
    def scores(self) -> Vector:
        """The scores that were predicted with."""
        assert self.rounds.scores is not None
        return self.rounds.scores

    @property
    def rate(self) -> int:
        return int(self.learner.config["rate"][0])

    @property
    def ball(self) -> bool:
        return int(self.learner.config["domain"][0]) == BALL

    @property
    def sigma(self) -> float:
        return float(self.learner.config["sigma"][0])

    @property
    def penalised(self) -> bool:
        """Whether λ₁ or λ₂ is in the steps: they are then others than a gradient's."""
        return bool(self.learner.config["l1"][0] or self.learner.config["l2"][0])

    @property
    def radius(self) -> float:
        """Of the ball of comparators: hindsight's, or the learner's own where it was not asked."""
        return self.learner.domain.radius if self.hindsight is None else self.hindsight.radius

    @property
    def ceiling(self) -> float:
        """From here on a bound on the regret says nothing: no comparator of a built-in loss loses less than 0."""
        return math.inf if self.learner.loss.custom else self.loss.hi

    @property
    def allowance(self) -> Interval:
        """1 and a little more: by this factor a bound on exact steps is taken for the steps of a float run."""
        return Interval(1.0, 1.0 + gradients.roundings(self.rounds))

    def named(self, *names: str) -> tuple[str, ...]:
        """Those of the names that there is a point of."""
        return tuple(name for name in names if name in self.points)

    def at(self, **vectors: Vector) -> Facts:
        """The same with other comparators of the perceptron."""
        others = {name: one for name, one in self.points.items() if not name.startswith(("v_", "beta_"))}
        given = {f"v_{name}": np.ascontiguousarray(v, dtype=np.float64) for name, v in vectors.items()}
        return replace(self, points={**others, **given})

    # -- the run -----------------------------------------------------------------------------------------------------

    @cached_property
    def start(self) -> Start:
        """Where the learner began, and the step of a perceptron."""
        given = self.learner.settings.get("start")
        eta = 1.0 if self.learner.loss.convex else float(self.learner.settings.get("rate", 1.0))
        if given is None:
            return Start(np.zeros(self.rounds.width), eta)
        w = np.concatenate([np.zeros(int(self.rounds.bias)), np.asarray(given, dtype=np.float64)])
        return Start(np.concatenate([w, np.zeros(max(self.rounds.width - len(w), 0))]), eta)

    @cached_property
    def loss(self) -> Interval:
        """The run's own loss, at the scores that it predicted."""
        return Interval.of(self.run.loss) if self.run.tally is not None else own_loss(self.run, self.rounds)

    @cached_property
    def row_squares(self) -> tuple[Vector, Vector]:
        """Both ends of ‖x‖² for every round; of a kernel learner those of K(x, x)."""
        if isinstance(self.learner, KernelPerceptron):
            return Gram(self.rounds, self.learner.kernel).self_products()
        return enclose.row_norms2(self.rounds)

    @cached_property
    def updates(self) -> Places:
        """The rounds whose score was a mistake under the run's tie rule."""
        return np.flatnonzero(self.learner.missed(self.scores, self.rounds.y))

    # -- perceptrons -------------------------------------------------------------------------------------------------

    @cached_property
    def gram(self) -> Gram | None:
        """A kernel learner's rounds, where they are not too many."""
        return steps.gram_of(self.learner, self.rounds, self.updates)

    @cached_property
    def mistakes(self) -> Mistakes:
        """The update rounds of a perceptron."""
        if not isinstance(self.learner, KernelPerceptron):
            return _mistakes(self.rounds, self.start, self.updates)
        if self.gram is None:
            return Mistakes(len(self.updates), False, ZERO, ZERO, ZERO, ZERO)
        premise, length, squares = steps.sum_of_updates(self.gram, self.rounds, self.updates)
        lo, hi = squares
        largest = Interval(float(lo.max(initial=0.0)), float(hi.max(initial=0.0)))
        chosen = total(lo[self.updates], hi[self.updates])
        return Mistakes(len(self.updates), premise, length, length, largest, chosen)

    @cached_property
    def comparators(self) -> dict[str, Comparator]:
        """The vectors v of a mistake bound, by name."""
        if isinstance(self.learner, KernelPerceptron):
            given = {name[2:]: one for name, one in self._points("c_").items()}
            return {} if self.gram is None else steps.comparators(self.gram, self.rounds, given)
        return {name[2:]: Comparator.at(self.rounds, v, self.start) for name, v in self._points("v_").items()}

    def _points(self, prefix: str) -> Points:
        """The points whose names begin so, in one order, however they came."""
        first = [f"{prefix}{name}" for name in COMPARATORS]
        others = sorted(name for name in self.points if name.startswith(prefix) and name not in first)
        return {name: self.points[name] for name in self.named(*first, *others)}

    @cached_property
    def lower_ends(self) -> dict[str, float]:
        """What dual points β prove: no comparator gives less."""
        return {name[5:]: _lower_end(self, name[5:], beta) for name, beta in self._points("beta_").items()}

    @cached_property
    def separator(self) -> Separator | None:
        """The separator, if it does separate; λ says how short any could be."""
        if "separator" not in self.points:
            return None
        u = np.ascontiguousarray(self.points["separator"], dtype=np.float64)
        lo, hi = enclose.margins(self.rounds, u)
        if not (np.where(self.rounds.y > 0.0, lo, -hi) >= 1.0).all():
            return None
        weights = np.maximum(self.points.get("separator_weights", np.zeros(len(self.rounds))), 0.0)
        g = enclose.norm_between(*enclose.combined(replace(self.rounds, weights=None), weights * self.rounds.y))
        shortest = (total(weights, weights) / g).lo if g.lo > 0.0 else 0.0
        return Separator(u, enclose.norm(u), self.start.along(u), max(shortest, 0.0))

    @cached_property
    def admitted(self) -> dict[str, Admitted]:
        """The loss that was asked for, at its comparators, by name."""
        loss, given = self.surrogate, self.named(*surrogate.POINTS)
        if loss is None:
            return {}
        return {name: Admitted.at(self.rounds, loss, self.points[name], self.start) for name in given}

    @cached_property
    def classes(self) -> ClassFacts:
        """A perceptron of many classes."""
        return ClassFacts(self.run, self.rounds, {name: one for name, one in self.points.items() if name[:2] == "V_"})

    @cached_property
    def pool(self) -> Pool:
        """A mixture and its members."""
        assert isinstance(self.learner, Auto)
        return Pool(self.learner, self.rounds)

    @cached_property
    def matrices(self) -> Matrices:
        """What a learner with a matrix took in: a classifier its mistakes, a regressor every round."""
        chosen = np.arange(len(self.rounds)) if self.learner.regression else self.updates
        return matrices(self.rounds, chosen, float(self.learner.settings["ridge"]))

    # -- gradients ---------------------------------------------------------------------------------------------------

    @cached_property
    def gradient(self) -> Gradients:
        """What the gradients of the rounds come to."""
        if self.rate == STRONG:
            return gradients.regularised(self.run, self.rounds)
        return gradients.plain(self.rounds, self.learner.loss, self.row_squares)

    @cached_property
    def gradient_sum(self) -> tuple[Vector, Vector]:
        """Both ends of Σg_i for every coordinate."""
        return gradients.sums(self.rounds, self.learner.loss)

    @cached_property
    def coordinate_squares(self) -> tuple[Vector, Vector]:
        """Both ends of Σg² for every coordinate."""
        return gradients.coordinate_squares(self.rounds, self.gradient.slopes, self.learner.loss)

    @cached_property
    def path(self) -> Path | None:
        """Where projected descent with the step η/√t went; None for others, and where it would take too long."""
        if not self.follow or self.rate != SQRT or not self.ball or self.penalised:
            return None
        eta, radius, allowed = self.learner.rate.eta, self.learner.domain.radius, gradients.roundings(self.rounds)
        return exact_path(self.rounds, self.gradient.slopes, eta, radius, self.start.w, allowed)

    @cached_property
    def steps(self) -> Steps:
        """The steps of a Passive-Aggressive learner."""
        return steps.replayed(self.run, self.rounds)

    @cached_property
    def against(self) -> Against | None:
        """The comparator of a Passive-Aggressive learner."""
        u = self.points.get(steps.POINT)
        return None if u is None or self.rounds.weights is not None else Against.at(self.rounds, self.learner.loss, u)

    # -- regret ------------------------------------------------------------------------------------------------------

    @cached_property
    def regret(self) -> Interval | None:
        """Against the best comparator of hindsight's ball."""
        return None if self.hindsight is None else self.loss - Interval(self.hindsight.lower, self.hindsight.upper)

    @cached_property
    def regret_at(self) -> Interval | None:
        """Against hindsight's own point u."""
        if self.hindsight is None:
            return None
        return self.loss - enclose.risk(self.rounds, judged_by(self.learner), self.hindsight.u, self.hindsight.sigma)

    @cached_property
    def along_hindsight(self) -> Interval:
        """Σ⟨g, u⟩."""
        assert self.hindsight is not None
        return gradients.along(self.rounds, self.learner.loss, self.gradient.slopes, self.hindsight.u)


def judged_by(learner: Core) -> Loss:
    """The convex loss of a learner; a perceptron is judged by the hinge."""
    return learner.loss if learner.loss.convex else losses.hinge()


def own_loss(run: Run, rounds: Rounds) -> Interval:
    """What the run lost in these rounds, its first ones, in the loss that it is judged by."""
    assert rounds.scores is not None
    loss, sigma = judged_by(run.learner), float(run.learner.config["sigma"][0])
    if not sigma:
        return enclose.loss_total(loss, rounds.scores, rounds.y, rounds.weights)
    # The regulariser (σ/2)‖w‖² is known from the loop's running norm alone, and ‖w‖ ≤ max‖k·s·x‖/σ.
    value = run.loss
    if len(rounds) != run.rounds:
        curve = run.regret_curve
        value = float(curve["loss"][curve["rounds"] == len(rounds)][0])
    size = value + float(np.square(gradients.slope_bound(run, rounds))) / sigma
    return Interval.around(value, size * gradients.roundings(rounds))


def _mistakes(rounds: Rounds, start: Start, chosen: Places) -> Mistakes:
    """Replay Σ y·x over the update rounds in twice the precision."""
    plain = replace(rounds, weights=None)
    reached, after = _in_steps(start), np.empty((len(chosen), 3))
    exact_updates(plain.native, plain.y, chosen, reached, after)
    signs = np.zeros(len(rounds))
    signs[chosen] = rounds.y[chosen]
    lo, hi = enclose.row_norms2(plain)
    return Mistakes(
        len(chosen),
        rounds.weights is None and bool((ends(after)[1] <= 0.0).all()),
        enclose.norm_between(*enclose.combined(plain, signs)),
        enclose.norm_between(*ends(reached)),
        Interval(float(lo.max(initial=0.0)), float(hi.max(initial=0.0))),
        total(lo[chosen], hi[chosen]),
    )


def _root(x: Interval) -> Interval:
    """√x; that of 0 is 0, without a step outward."""
    return x if x.hi == 0.0 else x.sqrt()


def _in_steps(start: Start) -> NDArray[np.float64]:
    """w₁/η as triples (s, c, error)."""
    found = np.zeros((len(start.w), 3))
    for i in np.flatnonzero(start.w):
        exact = Fraction(start.w[i]) / Fraction(start.eta)
        s = float(exact)
        c = float(exact - Fraction(s))
        found[i] = s, c, abs(float(exact - Fraction(s) - Fraction(c))) * (1.0 + 2.0**-50)
    return found


def _lower_end(facts: Facts, name: str, beta: Vector) -> float:
    """What β proves that no comparator falls below: of Φ(ρ) for a known ρ, of q* for every order."""
    beta = np.clip(beta, 0.0, 1.0)
    m = total(beta, beta)
    g = enclose.norm_between(*enclose.combined(replace(facts.rounds, weights=None), beta * facts.rounds.y))
    if g.hi == 0.0:
        return max(m.lo, 0.0)
    if name == "root":
        return max(least(m, (facts.mistakes.radius * m / g).square()).lo, 0.0)
    rho = facts.mistakes.sum_norm if name == "sum" else facts.mistakes.mistake_norm
    if rho.lo >= g.hi:
        return max(m.lo, 0.0)
    return max((m * least(1.0, rho / g)).lo, 0.0)
