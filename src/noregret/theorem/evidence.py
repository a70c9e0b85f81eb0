"""All that the theorems of a run are evaluated on, recomputed from its rounds and from the points that solvers gave.

Nothing here trusts a solver: `gather` lets it find the points, `evaluate` takes any points, also those of a receipt,
and encloses every number afresh.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noregret import enclose
from noregret import loss as losses
from noregret._native import BALL, SQRT, STRONG, exact_updates
from noregret.errors import SettingError
from noregret.gram import Gram
from noregret.hindsight.result import Hindsight
from noregret.interval import Interval, ends, least, total
from noregret.learner import PERCEPTRONS
from noregret.loss import Loss
from noregret.rounds import Rounds
from noregret.run import Run
from noregret.theorem import gradients, steps
from noregret.theorem.comparator import Comparator, Start
from noregret.theorem.followed import Followed, followed
from noregret.theorem.gradients import Gradients
from noregret.theorem.many import Many, many, one_against_rest
from noregret.theorem.many import with_points as with_many
from noregret.theorem.path import Path, replayed
from noregret.theorem.steps import Against, Steps

Vector = NDArray[np.float64]
Points = dict[str, Vector]
PASSIVE = ("pa", "pa1", "pa2")
COORDINATES = ("adagrad", "ftrl")
COMPARATORS = ("sum", "mistakes", "root")  # best for ‖S‖, for R_I, for every order
SECOND_ORDER = ("second-order", "vaw")  # the learners with a matrix
SECOND_COMPARATORS = ("steps", "determinant")  # best for each of the second-order perceptron's bounds


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
class Evidence:
    """What is known of one run; what does not apply to its learner is None or empty."""

    run: Run
    rounds: Rounds
    start: Start
    loss: Interval  # the run's own, at the scores that it predicted
    mistakes: Mistakes | None = None
    comparators: dict[str, Comparator] = field(default_factory=dict)
    lower_ends: dict[str, float] = field(default_factory=dict)  # "no comparator gives less than …"
    separator: Separator | None = None
    hindsight: Hindsight | None = None
    regret: Interval | None = None  # against the best comparator of hindsight's ball
    regret_at: Interval | None = None  # against hindsight's own point u
    gradient: Gradients | None = None
    along_hindsight: Interval | None = None  # Σ⟨g, u⟩
    path: Path | None = None
    followed: Followed | None = None  # the matrices of a second-order learner
    gram: Gram | None = None  # a kernel learner's rounds, where they are not too many
    many: Many | None = None  # of a perceptron of many classes
    steps: Steps | None = None  # of a Passive-Aggressive learner
    against: Against | None = None
    squares: tuple[Vector, Vector] | None = None  # both ends of Σg² for every coordinate
    points: Points = field(default_factory=dict)

    @property
    def rate(self) -> int:
        return int(self.run.learner.config["rate"][0])

    @property
    def ball(self) -> bool:
        return int(self.run.learner.config["domain"][0]) == BALL

    @property
    def radius(self) -> float:
        """Of the ball of comparators: hindsight's, or the learner's own where it was not asked."""
        return self.run.learner.domain.radius if self.hindsight is None else self.hindsight.radius

    @property
    def ceiling(self) -> float:
        """From here on a bound on the regret says nothing: no comparator of a built-in loss loses less than 0."""
        return math.inf if self.run.learner.loss.custom else self.loss.hi

    @property
    def allowance(self) -> Interval:
        """1 and a little more: by this factor a bound on exact steps is taken for the steps of a float run."""
        return Interval(1.0, 1.0 + gradients.roundings(self.rounds))

    def at(self, **vectors: Vector) -> Evidence:
        """The same with other comparators of the perceptron."""
        found = {name: Comparator.at(self.rounds, v, self.start) for name, v in vectors.items()}
        points = {**self.points, **{f"v_{name}": one.v for name, one in found.items()}}
        return replace(self, comparators=found, lower_ends={}, points=points)


def gather(
    run: Run, rounds: Rounds, hindsight: Hindsight | None = None, *, gap: float = 1e-4, seconds: float = math.inf
) -> Evidence:
    """Everything: for a perceptron the best comparators of its mistake bounds are solved for."""
    if run.tally is not None:
        return _gather_many(run, rounds, gap, seconds)
    if run.learner.name == "kernel":
        from noregret.theorem.span import solved

        return solved(evaluate(run, rounds, hindsight), gap=gap, seconds=seconds)
    if rounds.weights is not None or not len(rounds):
        return evaluate(run, rounds, hindsight)
    if run.learner.name == "second-order":
        return _gather_second_order(evaluate(run, rounds, hindsight), gap, seconds)
    if run.learner.name in PASSIVE:
        u = steps.solved(run, rounds, steps.replayed(run, rounds), gap, seconds)
        return evaluate(run, rounds, hindsight, {steps.POINT: u})
    if run.learner.name not in PERCEPTRONS:
        return evaluate(run, rounds, hindsight)
    from noregret.hindsight import penalised, root, separator

    bare = evaluate(run, rounds, hindsight)
    assert bare.mistakes is not None
    if not bare.mistakes.measurable:
        return bare
    points: Points = {}
    for name, rho in (("sum", bare.mistakes.sum_norm), ("mistakes", bare.mistakes.mistake_norm)):
        found = penalised(rounds, rho, gap=gap, seconds=seconds)
        points |= {f"v_{name}": found.v, f"beta_{name}": found.beta}
    order_free = root(rounds, gap=gap, seconds=seconds)
    points |= {"v_root": order_free.v, "beta_root": order_free.beta}
    apart = separator(rounds, gap=gap, seconds=seconds)
    if apart is not None:
        points |= {"separator": apart.u, "separator_weights": apart.weights}
    return with_points(bare, points)


def _gather_many(run: Run, rounds: Rounds, gap: float, seconds: float) -> Evidence:
    """Comparators with a row a class: one V for the bounds, or a v for each class against the rest."""
    bare = evaluate(run, rounds)
    found = bare.many
    if found is None or rounds.weights is not None:
        return bare
    from noregret.hindsight import penalised
    from noregret.hindsight.multiclass import comparators

    if not found.ones:
        wanted = {"sum": found.sum_norm.hi, "mistakes": found.reach.hi}
        return _with_many_points(bare, comparators(rounds, found.classes, wanted, found.radius.hi, seconds))
    each = [
        penalised(one_against_rest(rounds, k, one.first), one.norm2.sqrt(), gap=gap, seconds=seconds / found.classes).v
        for k, one in enumerate(found.ones)
    ]
    return _with_many_points(bare, {"V_each": np.concatenate(each)})


def _with_many_points(bare: Evidence, points: Points) -> Evidence:
    assert bare.many is not None
    return replace(bare, many=with_many(bare.many, bare.rounds, points), points={**bare.points, **points})


def evaluate(run: Run, rounds: Rounds, hindsight: Hindsight | None = None, points: Points | None = None) -> Evidence:
    """The evidence at given points (v_sum, beta_sum, …), without a solver."""
    if rounds.scores is None or len(rounds) != run.rounds:
        raise SettingError(f"evidence: the run has {run.rounds} rounds with scores, and {len(rounds)} were given")
    if run.tally is not None:
        found = Evidence(run, rounds, Start(np.zeros(rounds.width)), Interval.of(run.loss))
        return _with_many_points(replace(found, many=many(run, rounds)), points or {}) if len(rounds) else found
    start = _start(run, rounds)
    if run.learner.name in PERCEPTRONS:
        found = Evidence(run, rounds, start, _own_loss(run, rounds, losses.hinge()), _mistakes(run, rounds, start))
        found = with_points(found, points or {})
    elif run.learner.name in SECOND_ORDER:
        found = _second_order(run, rounds, start, points or {})
    elif run.learner.name == "kernel":
        from noregret.theorem.span import spanned

        found = spanned(Evidence(run, rounds, start, _own_loss(run, rounds, losses.hinge())), points or {})
    else:
        found = _descent(run, rounds, start)
        if run.learner.name in PASSIVE and rounds.weights is None:
            found = _stepped(found, points or {})
        if run.learner.name in COORDINATES and found.gradient is not None and found.gradient.slopes is not None:
            found = replace(found, squares=gradients.squares(rounds, found.gradient.slopes, run.learner.loss))
    return found if hindsight is None else _against(found, hindsight)


def with_points(bare: Evidence, points: Points) -> Evidence:
    """A perceptron's evidence at these points, added to what is known without any."""
    assert bare.mistakes is not None
    named = {name: points[f"v_{name}"] for name in COMPARATORS if f"v_{name}" in points}
    comparators = {name: Comparator.at(bare.rounds, v, bare.start) for name, v in named.items()}
    lower = {name: _lower_end(bare, name, points[f"beta_{name}"]) for name in named if f"beta_{name}" in points}
    separator = None if "separator" not in points else _separator(bare, points)
    kept = {**bare.points, **points}
    return replace(bare, comparators=comparators, lower_ends=lower, separator=separator, points=kept)


def _second_order(run: Run, rounds: Rounds, start: Start, points: Points) -> Evidence:
    """What the rounds of a learner with a matrix show: a classifier's matrix holds its mistakes, a regressor's all."""
    chosen = np.arange(len(rounds)) if run.learner.regression else update_rounds(run, rounds)
    found = Evidence(run, rounds, start, _own_loss(run, rounds, judged_by(run)))
    found = replace(found, followed=followed(rounds, chosen, float(run.learner.settings["ridge"])))
    return found.at(**{name: points[f"v_{name}"] for name in SECOND_COMPARATORS if f"v_{name}" in points})


def _gather_second_order(bare: Evidence, gap: float, seconds: float) -> Evidence:
    """The comparators that make its two bounds least."""
    from noregret.hindsight.whitened import whitened

    assert bare.followed is not None
    held = bare.followed
    growth = {"steps": held.steps.hi, "determinant": held.log_det.hi}
    vectors = {
        name: whitened(bare.rounds, held.chosen, held.ridge, growth[name], gap=gap, seconds=seconds)
        for name in SECOND_COMPARATORS
    }
    return bare.at(**vectors)


def _descent(run: Run, rounds: Rounds, start: Start) -> Evidence:
    """What a gradient learner's rounds show by themselves."""
    loss = run.learner.loss
    found = Evidence(run, rounds, start, _own_loss(run, rounds, loss))
    if found.rate == STRONG:
        return replace(found, gradient=gradients.regularised(run, rounds))
    gradient = gradients.plain(rounds, loss)
    path = None
    penalised = run.learner.config["l1"][0] or run.learner.config["l2"][0]
    if found.rate == SQRT and found.ball and not penalised and gradient.slopes is not None:
        eta, radius = run.learner.rate.eta, run.learner.domain.radius
        path = replayed(rounds, gradient.slopes, eta, radius, start.w, gradients.roundings(rounds))
    return replace(found, gradient=gradient, path=path)


def _stepped(found: Evidence, points: Points) -> Evidence:
    """With the steps of a Passive-Aggressive learner and its comparator."""
    u = points.get(steps.POINT)
    against = None if u is None else Against.at(found.rounds, found.run.learner.loss, u)
    kept = {**found.points, **points}
    return replace(found, steps=steps.replayed(found.run, found.rounds), against=against, points=kept)


def _against(found: Evidence, hindsight: Hindsight) -> Evidence:
    """With the regret against the best comparator."""
    rounds, loss = found.rounds, judged_by(found.run)
    regret = found.loss - Interval(hindsight.lower, hindsight.upper)
    at = found.loss - enclose.risk(rounds, loss, hindsight.u, hindsight.sigma)
    slopes = None if found.gradient is None else found.gradient.slopes
    along = None if slopes is None else gradients.along(rounds, loss, slopes, hindsight.u)
    points = {"u": hindsight.u} | ({} if hindsight.alpha is None else {"alpha": hindsight.alpha})
    return replace(
        found,
        hindsight=hindsight,
        regret=regret,
        regret_at=at,
        along_hindsight=along,
        points={**found.points, **points},
    )


def judged_by(run: Run) -> Loss:
    """The convex loss of a learner; a perceptron is judged by the hinge."""
    return run.learner.loss if run.learner.loss.convex else losses.hinge()


def _own_loss(run: Run, rounds: Rounds, loss: Loss) -> Interval:
    assert rounds.scores is not None
    plain = enclose.loss_total(loss, rounds.scores, rounds.y, rounds.weights)
    sigma = float(run.learner.config["sigma"][0])
    if not sigma:
        return plain
    # The regulariser (σ/2)‖w‖² is known from the loop's running norm alone, and ‖w‖ ≤ max‖k·s·x‖/σ.
    size = run.loss + float(np.square(gradients.slope_bound(run, rounds))) / sigma
    return Interval.around(run.loss, size * gradients.roundings(rounds))


def _start(run: Run, rounds: Rounds) -> Start:
    given = run.learner.settings.get("start")
    eta = float(run.learner.settings.get("rate", 1.0)) if run.learner.name in PERCEPTRONS else 1.0
    if given is None:
        return Start(np.zeros(rounds.width), eta)
    w = np.concatenate([np.zeros(int(rounds.bias)), np.asarray(given, dtype=np.float64)])
    return Start(np.concatenate([w, np.zeros(max(rounds.width - len(w), 0))]), eta)


def update_rounds(run: Run, rounds: Rounds) -> NDArray[np.int64]:
    """The rounds whose score was a mistake under the run's tie rule."""
    assert rounds.scores is not None
    tie, scores = float(run.learner.config["tie"][0]), rounds.scores
    return np.flatnonzero(np.where(scores == 0.0, rounds.y != tie, (scores > 0.0) != (rounds.y > 0.0)))


def _mistakes(run: Run, rounds: Rounds, start: Start) -> Mistakes:
    """Replay Σ y·x over the update rounds in twice the precision."""
    plain, chosen = replace(rounds, weights=None), update_rounds(run, rounds)
    before, after = _in_steps(start), np.empty((len(chosen), 3))
    reached = before.copy()
    exact_updates(plain.given, plain.y, chosen, reached, after)
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


def _lower_end(found: Evidence, name: str, beta: Vector) -> float:
    """What β proves that no comparator falls below: of Φ(ρ) for a known ρ, of q* for every order."""
    assert found.mistakes is not None
    beta = np.clip(beta, 0.0, 1.0)
    m = total(beta, beta)
    g = enclose.norm_between(*enclose.combined(found.rounds, beta * found.rounds.y))
    if g.hi == 0.0:
        return max(m.lo, 0.0)
    if name == "root":
        return max(least(m, (found.mistakes.radius * m / g).square()).lo, 0.0)
    rho = found.mistakes.sum_norm if name == "sum" else found.mistakes.mistake_norm
    if rho.lo >= g.hi:
        return max(m.lo, 0.0)
    return max((m * least(1.0, rho / g)).lo, 0.0)


def _separator(found: Evidence, points: Points) -> Separator | None:
    """The separator, if it does separate; λ says how short any could be."""
    u = np.ascontiguousarray(points["separator"], dtype=np.float64)
    lo, hi = enclose.margins(found.rounds, u)
    if not (np.where(found.rounds.y > 0.0, lo, -hi) >= 1.0).all():
        return None
    weights = np.maximum(points.get("separator_weights", np.zeros(len(found.rounds))), 0.0)
    g = enclose.norm_between(*enclose.combined(found.rounds, weights * found.rounds.y))
    shortest = (total(weights, weights) / g).lo if g.lo > 0.0 else 0.0
    return Separator(u, enclose.norm(u), found.start.along(u), max(shortest, 0.0))
