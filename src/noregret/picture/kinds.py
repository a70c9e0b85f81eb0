"""The kinds of picture: of what, under what title, drawn how, and why not where it cannot be."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from noregret.batch import BatchRun
from noregret.finite import Dimensions, FiniteRun, TreeAdversary
from noregret.picture.batch import step_sizes_axes, steps_axes, why_not_compared
from noregret.picture.blend import blend_figure, weight_axes, why_no_weights
from noregret.picture.blend import regret_axes as blend_regret_axes
from noregret.picture.boundary import FRAMES, PANELS, boundary_axes, updates_figure, write_film
from noregret.picture.bounds import bounds_axes, drawable, mistakes_axes, statements
from noregret.picture.coins import coin_axes
from noregret.picture.curves import error_axes, reliability_axes, risk_axes, why_no_reliability
from noregret.picture.lifting import lifting_figure, lifting_of, why_no_lifting
from noregret.picture.linear_game import linear_game_axes
from noregret.picture.mean import mean_axes
from noregret.picture.plane import Film, film_of, why_no_boundary
from noregret.picture.regret import audit_axes, audit_width, by_radius, radius_axes, regret_axes, so_far
from noregret.picture.shares import share_axes, why_no_shares
from noregret.picture.solutions import solutions_figure, solutions_of, why_no_solutions
from noregret.picture.starts import starts_axes, why_no_starts
from noregret.picture.surrogate import surrogate_figure, surrogates_of, why_no_surrogates
from noregret.picture.tangent import tangent_figure, tangents_of, why_no_tangent
from noregret.picture.tree import tree_axes
from noregret.picture.windows import why_no_windows, window_axes
from noregret.proof.receipt import Receipt
from noregret.proof.theorems.finite import certificates as finite_certificates
from noregret.run import Run


@dataclass(frozen=True)
class Subject:
    """What is to be drawn: the thing, the streams whose rows it is drawn among, and the receipt with its bounds."""

    thing: Any
    streams: tuple[Any, ...] = ()
    receipt: Receipt | None = None

    @property
    def named(self) -> dict[str, Any]:
        """The things by name, a single one too."""
        if isinstance(self.thing, Mapping):
            return dict(self.thing)
        return {self.thing.learner.name if isinstance(self.thing, Run) else type(self.thing).__name__: self.thing}

    @property
    def certificates(self) -> list[dict[str, Any]]:
        """What theorems say of the thing."""
        if isinstance(self.thing, FiniteRun):
            return statements(finite_certificates(self.thing))
        if isinstance(self.thing, Run):
            return [] if self.receipt is None else self.receipt.certificates
        return statements(self.thing.certificates)

    def films(self, most: int) -> list[Film]:
        """Each thing on its way through the rows, in at most `most` moments."""
        return [film_of(name, thing, self.streams, most) for name, thing in self.named.items()]


@dataclass(frozen=True)
class Kind:
    """One kind of picture: `draw` on axes, or `fill` a figure with several; `missing` says why it cannot be."""

    title: str
    caption: str
    draw: Callable[[Any, Subject], Any] | None = None
    fill: Callable[[Any, Subject], Any] | None = None
    moving: Callable[[Subject, str | os.PathLike[str]], None] | None = None
    missing: Callable[[Subject], str | None] = field(default=lambda subject: None)
    size: Callable[[Subject], tuple[float, float]] = field(default=lambda subject: (8.0, 4.5))


# -- why not -----------------------------------------------------------------------------------------------------------


def _labels_only(subject: Subject) -> str | None:
    runs = subject.named.values()
    if any(isinstance(run, Run) and run.learner.regression for run in runs):
        return "mistakes need class labels, and these labels are numbers: draw the risk instead"
    return None


def _flat(subject: Subject) -> str | None:
    if not subject.streams:
        return "a boundary needs the rows: pass the stream that the learner was trained on"
    return next((why for why in map(why_no_boundary, subject.named.values()) if why), None)


def _tree(subject: Subject) -> str | None:
    if isinstance(subject.thing, Dimensions):
        return None if len(subject.thing.hypotheses) else "the class is empty, so it has no tree"
    adversary = subject.thing.adversary
    return None if isinstance(adversary, TreeAdversary) else "this game has no mistake tree"


# -- the kinds ---------------------------------------------------------------------------------------------------------


def _overview(figure: Any, subject: Subject) -> Any:
    """The error, and beside it the mean loss where all have one convex loss; of numbers the mean loss alone."""
    runs: dict[str, Run] = subject.named
    learners = [run.learner for run in runs.values()]
    shown = [risk_axes] if learners[0].regression else [error_axes]
    if len({one.loss.spec for one in learners}) == 1 and learners[0].loss.convex and not learners[0].regression:
        shown.append(risk_axes)
    figure.set_size_inches(8.0 * len(shown), 4.5)
    all_axes = figure.subplots(1, len(shown), squeeze=False)[0]
    for axes, draw in zip(all_axes, shown, strict=True):
        draw(axes, runs)
    return all_axes


def _boundary(axes: Any, subject: Subject) -> Any:
    return boundary_axes(axes, subject.films(2))


def _updates(figure: Any, subject: Subject) -> Any:
    return updates_figure(figure, subject.films(PANELS))


def _film(subject: Subject, path: str | os.PathLike[str]) -> None:
    write_film(subject.films(FRAMES), path)


def _draw_tree(axes: Any, subject: Subject) -> Any:
    found = subject.thing
    if isinstance(found, Dimensions):
        return tree_axes(axes, found.hypotheses, found.tree)
    return tree_axes(axes, found.adversary.hypotheses, found.adversary.tree, found.rounds)


ERROR = Kind(
    "Error so far",
    "Mistakes so far divided by rounds so far. Dashed and dotted: two baselines that use no feature.",
    draw=lambda axes, subject: error_axes(axes, subject.named),
    missing=_labels_only,
)
RISK = Kind(
    "Mean loss so far",
    "The sequential risk: the mean loss so far, where every prediction is made before its label is known.",
    draw=lambda axes, subject: risk_axes(axes, subject.named),
)
OVERVIEW = Kind(
    "Learners side by side",
    "Left: the error so far. Right: the mean loss so far, if all learners use the same loss.",
    fill=_overview,
)
MISTAKES = Kind(
    "Mistakes and bounds",
    "Mistakes so far. Dashed, if there is a bound: what each theorem allows over all rounds; the curve stays below.",
    draw=lambda axes, subject: mistakes_axes(axes, subject.thing, subject.certificates),
    missing=_labels_only,
)
RELIABILITY = Kind(
    "Reliability of the scores",
    "How often the label was +1 among rounds with similar scores. Each score is from before its label was known.",
    draw=lambda axes, subject: reliability_axes(axes, subject.thing),
    missing=lambda subject: why_no_reliability(subject.thing),
    size=lambda subject: (6.0, 4.5),
)
BOUNDARY = Kind(
    "Boundary",
    "Where the prediction changes. Hollow points are on the wrong side; dashed lines show the margin.",
    draw=_boundary,
    missing=_flat,
    size=lambda subject: (6.0, 5.0),
)
UPDATES = Kind(
    "Boundary after each update",
    "The boundary after some of the updates. A ring marks the rows that caused the update.",
    fill=_updates,
    moving=_film,
    missing=_flat,
)
LIFTING = Kind(
    "A stream that nothing separates, lifted",
    "Each row gets an axis of its own, as long as its hinge loss asks for: then a plane separates all of them.",
    fill=lambda figure, subject: lifting_figure(figure, lifting_of(subject.thing, subject.streams, subject.receipt)),
    missing=lambda subject: why_no_lifting(subject.thing, subject.streams),
    size=lambda subject: (13.0, 4.2),
)
SURROGATE = Kind(
    "Surrogate losses of the perceptron",
    "The perceptron is gradient descent on these losses: the hinge loss of a mistake, and 0 in every other round.",
    fill=lambda figure, subject: surrogate_figure(figure, surrogates_of(subject.thing, subject.streams)),
    missing=lambda subject: why_no_surrogates(subject.thing, subject.streams),
    size=lambda subject: (11.0, 4.2),
)
TANGENT = Kind(
    "A loss above its tangent",
    "Left: the loss of one round from w_t to u, and its tangent at w_t. Right: what both fall by, in every round.",
    fill=lambda figure, subject: tangent_figure(figure, tangents_of(subject.thing, subject.streams, subject.receipt)),
    missing=lambda subject: why_no_tangent(subject.thing, subject.streams, subject.receipt),
    size=lambda subject: (11.0, 4.5),
)
BOUNDS = Kind(
    "Observed values and bounds",
    "One line per theorem: the dot is the observed value, the bar the bound that it may not exceed.",
    draw=lambda axes, subject: bounds_axes(axes, subject.certificates),
    missing=lambda subject: None if drawable(subject.certificates) else "no theorem gave a bound on this run",
    size=lambda subject: (8.0, 1.4 + 0.3 * len(drawable(subject.certificates))),
)
REGRET = Kind(
    "Regret and its bounds so far",
    "The certified regret after 1, 2, 4, … rounds, as a band between its two ends. Dashed: the bounds at that time.",
    draw=lambda axes, subject: regret_axes(axes, subject.thing),
    missing=lambda subject: (
        None
        if so_far(subject.thing)
        else "the receipt holds no regret to draw: certify with anytime and, if the learner has none, a radius"
    ),
)
RADIUS = Kind(
    "Regret by the comparator's radius",
    "The regret against the best fixed model of norm at most U. A larger ball contains a better best model.",
    draw=lambda axes, subject: radius_axes(axes, subject.thing),
    missing=lambda subject: (
        None if by_radius(subject.thing) else "the receipt holds the regret for one radius only: certify with radii"
    ),
)
WINDOWS = Kind(
    "Windows of the run",
    "Loss per row in each window: of the run and of frozen models; no comparator lost less than the band.",
    draw=lambda axes, subject: window_axes(axes, subject.thing.windows),
    missing=lambda subject: why_no_windows(subject.thing.windows),
    size=lambda subject: (9.0, 4.5),
)
SHARES = Kind(
    "Shares of the members",
    "Whom the mixture followed: the share of each member over the rounds, stacked to 100 %.",
    draw=lambda axes, subject: share_axes(axes, subject.thing),
    missing=lambda subject: why_no_shares(subject.thing),
    size=lambda subject: (9.0, 4.5),
)
WEIGHTS = Kind(
    "Weights of the experts",
    "Which experts the blend followed: their weights in every round, stacked to 1.",
    draw=lambda axes, subject: weight_axes(axes, subject.thing),
    missing=lambda subject: why_no_weights(subject.thing),
    size=lambda subject: (9.0, 3.6),
)
BLEND_REGRET = Kind(
    "Regret of the blend",
    "The regret against the best expert (or mean of experts) so far, and its bound.",
    draw=lambda axes, subject: blend_regret_axes(axes, subject.thing),
    size=lambda subject: (9.0, 3.6),
)
BLEND = Kind(
    "The blend over time",
    "Above: the weights of the experts. Below: the regret against the best of them, and its bound.",
    fill=lambda figure, subject: blend_figure(figure, subject.thing),
    missing=lambda subject: why_no_weights(subject.thing),
    size=lambda subject: (9.0, 6.5),
)
PARTS = Kind(
    "The log, part by part",
    "The loss per row of the logged predictions, and of the best fixed model for each part.",
    draw=lambda axes, subject: audit_axes(axes, subject.thing),
    size=lambda subject: (audit_width(subject.thing), 4.5),
)
STEPS = Kind(
    "The batch perceptron, step by step",
    "J_hard counts the misclassified rows; J_soft sums how far they are on the wrong side.",
    draw=lambda axes, subject: steps_axes(axes, subject.thing),
)
STEP_SIZES = Kind(
    "Step sizes of the batch perceptron",
    "Misclassified rows after each step. Small steps are slow, large ones oscillate; from 0 all would be the same.",
    draw=lambda axes, subject: step_sizes_axes(axes, subject.thing),
    missing=lambda subject: why_not_compared(subject.thing),
)
SOLUTIONS = Kind(
    "What a convex solver finds",
    "The perceptron goes round where no line separates. The hinge loss has a minimiser all the same, and J_soft θ = 0.",
    fill=lambda figure, subject: solutions_figure(figure, solutions_of(subject.thing, subject.streams)),
    missing=lambda subject: why_no_solutions(subject.streams),
)
STARTS = Kind(
    "Starts and ends of the batch perceptron",
    "From each start (hollow) to its end (full), in the plane of the weights. Grey: all separators.",
    draw=lambda axes, subject: starts_axes(axes, subject.named, subject.streams),
    missing=lambda subject: why_no_starts(subject.named, subject.streams),
    size=lambda subject: (6.4, 5.6),
)
TREE = Kind(
    "Mistake tree",
    "Every path down agrees with some hypothesis of the class. Thick: the path that was played.",
    draw=_draw_tree,
    missing=_tree,
    size=lambda subject: (10.0, 5.0),
)
COINS = Kind(
    "Regret against fair coins",
    "Each game's regret. No learner has an expected regret below the dashed line, and all have that of the black one.",
    draw=lambda axes, subject: coin_axes(axes, subject.thing),
)

LINEAR_GAME = Kind(
    "Regret against the adversary of linear losses",
    "The regret so far. No learner has less than the dotted line, and gradient descent no more than the dashed one.",
    draw=lambda axes, subject: linear_game_axes(axes, subject.thing),
    size=lambda subject: (10.0, 4.5),
)
MEAN = Kind(
    "Regret of the mean so far",
    "The regret after every round against the best point for the rows so far, below its two bounds.",
    draw=lambda axes, subject: mean_axes(axes, subject.thing),
)

RUN = {"error": ERROR, "risk": RISK, "mistakes": MISTAKES, "reliability": RELIABILITY, "weights": SHARES}
RUN |= {"windows": WINDOWS}
RUN |= {"boundary": BOUNDARY, "updates": UPDATES, "tangent": TANGENT, "lifting": LIFTING, "surrogate": SURROGATE}
RUNS = {"error": ERROR, "risk": RISK, "overview": OVERVIEW, "boundary": BOUNDARY, "updates": UPDATES}
RECEIPT = {"regret": REGRET, "radius": RADIUS, "bounds": BOUNDS}
BATCH = {"steps": STEPS, "boundary": BOUNDARY, "updates": UPDATES, "solutions": SOLUTIONS}
BATCHES = {"steps": STEP_SIZES, "boundary": BOUNDARY, "updates": UPDATES, "starts": STARTS}
MIXED = {"boundary": BOUNDARY, "updates": UPDATES}
GAME = {"tree": TREE, "mistakes": MISTAKES}
GAMES = {"regret": COINS}
BLENDED = {"weights": WEIGHTS, "regret": BLEND_REGRET, "overview": BLEND}


def of_several(things: Sequence[Any]) -> dict[str, Kind] | None:
    """The kinds of several runs in one frame."""
    kinds = {type(one) for one in things}
    known: dict[frozenset[type], dict[str, Kind]] = {
        frozenset({Run}): RUNS,
        frozenset({BatchRun}): BATCHES,
        frozenset({Run, BatchRun}): MIXED,
    }
    return known.get(frozenset(kinds))
