"""What each learner can be told: a class a learner, under the learner's own name, and the fields that several share.

A field stands once, with its default, what it means and what must hold of it. Nothing large is imported here: the
command line makes its options from these classes, and no learner's own file is read for that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from noregret.errors import SettingError
from noregret.setting import (
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


# -- checks and readers that only learners need ----------------------------------------------------------------------


def _loss(who: str, what: str, value: Any) -> Any:
    """A loss by its full name; one of the user's own as it is."""
    from noregret.loss import parse

    found = parse(value)
    return found if found.custom else found.spec


def _radius(who: str, what: str, value: Any) -> float:
    from noregret.domain import Domain

    return Domain(radius=value).radius


def _tie(who: str, what: str, value: Any) -> Any:
    from noregret.loss import tie_code

    tie_code(value)
    return value


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


# -- what several have -----------------------------------------------------------------------------------------------

LOSS = setting(
    "hinge",
    "hinge, logistic, margin-hinge:ρ, squared-hinge, perceptron, exponential;"
    " for numbers squared, absolute, huber:δ, pinball:τ.",
    _loss,
)
RADIUS = setting(10.0, "Weights stay within this distance of 0; inf for no limit.", _radius)
RATE = setting("auto", "Step size: auto, constant:η, sqrt:η, horizon:T, horizon:T:G, doubling, doubling:G.")
ETA = setting(1.0, "The step η, which never changes.", positive, _constant)
START = setting(None, "The weights to begin with.", _start)
L1 = setting(0.0, "λ₁, which makes weights exactly 0.", not_negative)
L2 = setting(0.0, "λ₂, which makes weights smaller.", not_negative)
RIDGE = setting(1.0, "The a of the matrix aI + Σx·xᵀ.", between(1e-150, 1e150))


@declares
class Prepared:
    """What every learner can be told of its rows."""

    tie = "mistake"  # of those that cannot be told
    bias: bool = setting(False, "Append a constant 1 to every row.", flag)
    unit_norm: bool = setting(False, "Scale every row to norm 1.", flag)
    scale: str | None = setting(
        None, "max: divide each feature by its largest size so far.", one_of("max", but=" or left out")
    )


@declares
class Tied(Prepared):
    """What learners of two classes can be told."""

    tie: str = setting("mistake", "What a score of 0 counts as: mistake, +1 or -1.", _tie)


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
class SecondOrderPerceptron(Tied):
    ridge: float = RIDGE


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
class CoinBetting(Tied):
    loss: str | Loss = LOSS.by_default("logistic")
    gradient_bound: float | None = setting(None, "G: no gradient is longer; a longer one stops the run.", positive)
    wealth: float = setting(1.0, "What there is to bet with at the start.", between(1e-30, 1e30))


@declares
class VovkAzouryWarmuth(Prepared):
    ridge: float = RIDGE
