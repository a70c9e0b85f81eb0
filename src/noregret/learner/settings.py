"""The settings of each learner: a class a learner, under the learner's own name, and the fields that several share.

A field stands once, with its default, what it means and what must hold of it. Nothing large is imported here: the
command line makes its options from these classes, and no learner's own file is read for that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from noregret.errors import SettingError
from noregret.setting import (
    as_number,
    between,
    declares,
    flag,
    not_negative,
    one_of,
    positive,
    setting,
    whole,
)

if TYPE_CHECKING:
    from noregret.kernel import Kernel
    from noregret.loss import Loss
    from noregret.stream.task import Task


# -- checks and readers that only learners need ----------------------------------------------------------------------


def _loss(who: str, what: str, value: Any) -> Any:
    """A loss by its full name; one of the user's own as it is."""
    from noregret.loss import parse

    found = parse(value)
    return found if found.custom else found.spec


def _share(who: str, what: str, value: Any) -> float:
    """A number from 0 to below 1."""
    if not 0.0 <= as_number(value) < 1.0:
        raise SettingError(f"{who}: {what} must be at least 0 and below 1, got {value}")
    return float(value)


def _target(who: str, what: str, value: Any) -> float:
    """A share that is neither none nor all."""
    if not 0.0 < as_number(value) < 1.0:
        raise SettingError(f"{who}: {what} must lie between 0 and 1, such as 0.9, got {value}")
    return float(value)


def _losses() -> str:
    from noregret.loss import listed

    return listed()


def _radius(who: str, what: str, value: Any) -> float:
    from noregret.domain import Domain

    return Domain(radius=value).radius


def _tie(who: str, what: str, value: Any) -> Any:
    from noregret.loss import tie_code

    tie_code(value)
    return value


def _expand(who: str, what: str, value: Any) -> str:
    """What rows become, checked by making it once."""
    from noregret.expand import expansion_of

    try:
        expansion_of(str(value))
    except SettingError as error:
        raise SettingError(f"{who}: {error}") from None
    return str(value)


def _lags(who: str, what: str, value: Any) -> int:
    count: int = whole(1)(who, what, value)
    if count > 8:
        raise SettingError(f"{who}: lags must be at most 8, got {value}")
    return count


def _start(who: str, what: str, value: Any) -> list[float]:
    """The weights to begin with, as they are kept."""
    import numpy as np

    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.full((1, 1), np.nan)
    if found.ndim != 1 or not np.isfinite(found).all():
        raise SettingError(f"{who}: start must be one row of finite numbers, got {value!r}")
    return [float(part) for part in found]


def _constant(text: str) -> float:
    """A rate that never changes: `constant:η`, or `auto`, which is 1."""
    kind, _, number = text.partition(":")
    try:
        if kind != "constant":
            return {"auto": 1.0}[text]
        return float(number)
    except (KeyError, ValueError):
        raise SettingError(f"rate of the perceptron must be auto or constant:η, got {text!r}") from None


def _task(who: str, what: str, value: Any) -> str:
    from noregret.stream.task import Task

    return str(Task.parse(value))


def _fixed(text: str) -> float:
    """A step that never changes: `constant:η`."""
    kind, _, number = text.partition(":")
    try:
        return {"constant": float}[kind](number)
    except (KeyError, ValueError):
        raise SettingError(f"rate of softmax must be constant:η, got {text!r}") from None


def _order(who: str, what: str, value: Any) -> int:
    if whole(0)(who, what, value) > 1:
        raise SettingError(f"{who}: {what} must be 0 or 1, got {value}")
    return int(value)


def _at_most_half(who: str, what: str, value: Any) -> float:
    if not_negative(who, what, value) > 0.5:
        raise SettingError(f"{who}: {what} must be at most 0.5, got {value}")
    return float(value)


# -- what several have -----------------------------------------------------------------------------------------------

PAST = "How many of the last labels a forecast looks at: 0 to 8, for many classes 0 or 1."
LOSS = setting(
    "hinge",
    _losses,
    _loss,
).by_default("hinge", for_numbers="squared")
RADIUS = setting(10.0, "Weights stay within this distance of 0; inf for no limit.", _radius)
RATE = setting(
    "auto", "Step size: auto, late, constant:η, sqrt:η, normalised:η, horizon:T, horizon:T:G, doubling, doubling:G."
)
ETA = setting(1.0, "The step η, which never changes.", positive, _constant)
WINDOW = setting(1000, "How many of the last rows are kept (at most 100,000).", whole(1, 100_000))
NEIGHBOURS = setting(10, "How many of the nearest of them vote (at most 1000).", whole(1, 1000))
SMOOTHING = setting(
    0.5, "What is added to every count: of a feature in a class, or of the votes for a class.", between(1e-9, 1e9)
)
START = setting(None, "The weights to begin with.", _start)
L1 = setting(0.0, "λ₁, which makes weights exactly 0.", not_negative)
L2 = setting(0.0, "λ₂, which makes weights smaller.", not_negative)
RIDGE = setting(1.0, "The a of the matrix aI + Σx·xᵀ.", between(1e-150, 1e150))


@declares
class Sure:
    """What every learner can say beside its scores."""

    cover: float | None = setting(
        None,
        "Beside every prediction an interval, or a set of labels; this share of them hold the label (0.9).",
        _target,
    )


@declares
class Prepared(Sure):
    """How every learner takes its rows."""

    tie, calibrate = "mistake", False  # of learners without these settings
    bias: bool = setting(False, "Append a constant 1 to every row.", flag)
    unit_norm: bool = setting(False, "Scale every row to norm 1.", flag)
    scale: str | None = setting(
        None,
        "max: divide each feature by its largest size so far; standard: by mean and deviation so far;"
        " log: sign(x)·ln(1 + |x|).",
        one_of("max", "standard", "log", but=" or left out"),
    )
    expand: str | None = setting(
        None, "What scaled rows become: fourier:D:γ (random cosines), bins:K, crosses:K or quadratic.", _expand
    )
    lags: int | None = setting(
        None, "The labels of this many rounds before, at most 8, as features of every row.", _lags
    )


@declares
class Tied(Prepared):
    """The settings of learners of two classes."""

    tie: str = setting("mistake", "What a score of 0 counts as: mistake, +1 or -1.", _tie)
    calibrate: bool = setting(
        False, "Two classes: make probabilities of the scores, learned as labels come (Platt scaling).", flag
    )


# -- one class a learner ---------------------------------------------------------------------------------------------


@declares
class Perceptron(Tied):
    rate: float = ETA
    start: Sequence[float] | None = START


@declares
class AveragedPerceptron(Perceptron):
    pass


@declares
class VotedPerceptron(Tied):
    pass


@declares
class MulticlassPerceptron(Prepared):
    update: str = setting(
        "max-score", "How classes are learned: max-score or one-vs-rest.", one_of("max-score", "one-vs-rest")
    )


@declares
class SoftmaxAdaGrad(Prepared):
    rate: float = setting(0.15, "The step η of every weight, divided by √Σg² of its gradients.", positive, _fixed)


@declares
class SoftmaxNewton(Prepared):
    ridge: float = RIDGE.by_default(10.0)


@declares
class MarkovClasses(Prepared):
    order: int = setting(0, PAST, _order)


@declares
class KernelPerceptron(Tied):
    kernel: str | Kernel | Callable[..., float] = setting("rbf", "rbf, poly, laplace, linear or precomputed.")
    degree: int | None = setting(None, "Of the poly kernel (2 if left out).")
    coef0: float | None = setting(None, "The constant in the poly kernel (1 if left out).")
    gamma: float | None = setting(None, "The scale of the kernels poly, rbf and laplace (1 if left out).")
    budget: int | None = setting(None, "How many rows may be kept (all if left out).", whole(1))
    forget: str | None = setting(
        None, "What goes over the budget: oldest (if left out) or random.", one_of("oldest", "random")
    )
    seed: int | None = setting(None, "The seed of forget random (0 if left out).", whole(0))


@declares
class MarkovLabels(Tied):
    order: int = setting(1, PAST, whole(0, 8))


@declares
class NaiveBayes(Tied):
    smoothing: float = SMOOTHING
    temper: str = setting(
        "platt", "How log-odds become a probability: platt (scaled online) or none.", one_of("platt", "none")
    )


@declares
class NearestNeighbours(Tied):
    window: int = WINDOW
    neighbours: int = NEIGHBOURS


@declares
class NearestClasses(Prepared):
    window: int = WINDOW
    neighbours: int = NEIGHBOURS.by_default(6)
    smoothing: float = SMOOTHING.by_default(0.01)


@declares
class NearestNumbers(Prepared):
    window: int = WINDOW
    neighbours: int = NEIGHBOURS


@declares
class SecondOrderPerceptron(Tied):
    ridge: float = RIDGE


@declares
class LogisticNewton(Tied):
    play: str = setting(
        "two-label",
        "What a row is scored by: newton, the weights, or two-label, as if it had been learned with both labels.",
        one_of("newton", "two-label"),
    )
    ridge: float = RIDGE
    walk: float = setting(
        0.0, "How far the weights may walk: from 0, not at all, to below 1; 0.01 forgets in some 100 rounds.", _share
    )


@declares
class DiagonalNewton(Tied):
    ridge: float = RIDGE.by_default(0.1)


@declares
class PassiveAggressive(Tied):
    loss: str | Loss = LOSS


@declares
class PassiveAggressiveI(Tied):
    loss: str | Loss = LOSS
    aggressiveness: float | None = setting(
        None, "C, which limits a step (1/max‖x‖² over the rows so far if left out).", positive
    )


@declares
class PassiveAggressiveII(PassiveAggressiveI):
    pass


@declares
class OnlineGradientDescent(Tied):
    loss: str | Loss = LOSS
    radius: float = RADIUS
    domain: str = setting("ball", "What the radius is the radius of: ball, box, l1 or simplex.")
    rate: str = RATE
    l1: float = L1
    l2: float = L2
    start: Sequence[float] | None = START


@declares
class StronglyConvexGradientDescent(Tied):
    loss: str | Loss = LOSS
    sigma: float = setting(0.1, "Strength of the regulariser (σ/2)‖w‖².", positive)
    radius: float = RADIUS.by_default(math.inf)


@declares
class AdaGrad(Tied):
    loss: str | Loss = LOSS.by_default("logistic")
    radius: float = RADIUS
    rate: str = RATE.by_default("constant:0.8")


@declares
class FollowTheRegularisedLeader(Tied):
    loss: str | Loss = LOSS.by_default("logistic")
    radius: float = RADIUS
    rate: str = RATE.by_default("constant:0.8")
    beta: float = setting(0.0, "β, which shortens the first steps.", not_negative)
    l1: float = L1
    l2: float = L2


@declares
class ScaleFree(Tied):
    loss: str | Loss = LOSS.by_default("logistic", for_numbers="absolute")
    centre: bool = setting(False, "Subtract the mean so far from every feature: for dense rows.", flag)


@declares
class CoinBetting(Tied):
    loss: str | Loss = LOSS.by_default("logistic", for_numbers="absolute")
    gradient_bound: float | None = setting(None, "G: no gradient is longer; a longer one stops the run.", positive)
    wealth: float = setting(1.0, "What there is to bet with at the start.", between(1e-30, 1e30))


@declares
class VovkAzouryWarmuth(Prepared):
    ridge: float = RIDGE


@declares
class RidgeForgetting(Prepared):
    forgetting: float = setting(0.01, "The share of the past that is forgotten in every round.", _at_most_half)
    ridge: float = RIDGE


@declares
class Persistence(Prepared):
    rule: str = setting(
        "last",
        "What labels are forecast to be: their mean, the last one, or drift, the last one and the mean step.",
        one_of("mean", "last", "drift"),
    )


def _names(who: str, what: str, value: Any) -> str:
    """Names as one text with commas; a list of them is as good."""
    names = [value] if isinstance(value, str) else list(value) if isinstance(value, Sequence) else [value]
    if not names or not all(isinstance(name, str) for name in names):
        raise SettingError(f"{who}: {what} must be names of members, as a list or separated by commas, got {value!r}")
    return ",".join(names)


@declares
class Auto(Tied):
    bias: bool = setting(True, "Append a constant 1 to every row.", flag)
    radius: float = RADIUS
    members: str | None = setting(None, "The members of the pool, by name (all if left out).", _names)
    task: Task | None = setting(None, "What is predicted: binary (if left out), multiclass or regression.", _task)
