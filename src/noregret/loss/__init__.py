"""What a round costs: ℓ(z, y) for a score z and a label y, its slope in z, and the constants its theorems need.

Labels are −1 and +1 for the classification losses, where ℓ(z, y) = φ(y·z) with φ convex; any number for the regression
ones. Values and slopes are the core's (native/loss.hpp), or two functions of the user's own.

All that proofs need is declared here too. Of a loss made of lines and parabolas that is its `Bend`, from which follow
its conjugate ℓ*(α) = sup_z αz − ℓ(z, y), its value and its conjugate in exact fractions, and how a solver smooths it;
and `slack`, how far its float may lie from the exact value.

Nothing large is imported before a loss is made: the help of the command line lists them all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from noregret.errors import SettingError, nearest

if TYPE_CHECKING:
    from noregret.loss.base import Array, Loss
    from noregret.loss.own import custom

__all__ = [
    "LOSSES",
    "Bend",
    "Loss",
    "absolute",
    "custom",
    "epsilon_insensitive",
    "exponential",
    "hinge",
    "huber",
    "listed",
    "log",
    "logistic",
    "margin_hinge",
    "parse",
    "perceptron",
    "pinball",
    "probability",
    "softmax",
    "squared",
    "squared_hinge",
    "tie_code",
    "zero_one",
]

EPS = 2.0**-52


class Bend(NamedTuple):
    """A convex loss by its slope clip(shrunk(z − kink, flat)/width, lo, hi): lo or hi beside a kink of width 0.

    shrunk(r, flat) is r brought nearer to 0 by `flat`. The conjugate is kink·α + flat·|α| + width·α²/2 for lo ≤ α ≤ hi.
    lo and hi depend on y by its sign alone. Made of arrays of floats or of one round's fractions alike.
    """

    kink: Any
    lo: Any
    hi: Any
    width: float = 0.0
    flat: Any = 0


def _sided(y: Any, positive: Any, negative: Any) -> Any:
    """What it is for y > 0, else for y < 0."""
    import numpy as np

    if isinstance(y, np.ndarray):
        return np.where(y > 0.0, positive, negative)
    return positive if y > 0 else negative


def _one(y: Any) -> Any:
    """Ones of the kind that y is."""
    return y * 0 + 1


def _made(name: str, **declared: Any) -> Loss:
    from noregret.loss.base import Loss

    return Loss(name, regression=name in NUMBERS, **declared)


def _hinge_bend(y: Any, p: Any) -> Bend:
    return Bend(y, _sided(y, -1, 0), _sided(y, 0, 1))


def _hinge_slack(value: Array, z: Array, y: Array, p: float) -> Array:
    """One subtraction, and none where 1 − yz is 0 or 1 exactly."""
    import numpy as np

    return np.where((value == 0.0) | (z == 0.0), 0.0, 2.0 * EPS * value)


def hinge() -> Loss:
    """max(0, 1 − y·z); at the kink y·z = 1 the slope taken is 0."""
    return _made("hinge", bend=_hinge_bend, passive=True, surrogate=True, slack_of=_hinge_slack)


def _margin_bend(y: Any, p: Any) -> Bend:
    return Bend(p * y, _sided(y, -1 / p, 0), _sided(y, 0, 1 / p))


def _margin_slack(value: Array, z: Array, y: Array, p: float) -> Array:
    import numpy as np

    margin = y * z / p
    return np.where(margin > 1.0 + 8.0 * EPS, 0.0, 16.0 * EPS * (value + 1.0 + np.abs(margin)))


def margin_hinge(margin: float = 1.0) -> Loss:
    """max(0, 1 − y·z/ρ), the hinge whose margin is ρ; slope 0 at the kink."""
    if not (margin > 0.0 and math.isfinite(margin)):
        raise SettingError(f"loss margin-hinge: the margin must be positive and finite, got {margin}")
    return _made("margin-hinge", bend=_margin_bend, parameter=margin, lipschitz=1.0 / margin, slack_of=_margin_slack)


def _squared_hinge_bend(y: Any, p: Any) -> Bend:
    return Bend(y, _sided(y, -math.inf, 0), _sided(y, 0, math.inf), width=0.5)


def squared_hinge() -> Loss:
    """max(0, 1 − y·z)²; its slope grows without bound."""
    return _made("squared-hinge", bend=_squared_hinge_bend, lipschitz=math.inf, surrogate=True)


def _perceptron_bend(y: Any, p: Any) -> Bend:
    return Bend(0 * y, _sided(y, -1, 0), _sided(y, 0, 1))


def _no_slack(value: Array, z: Array, y: Array, p: float) -> Array:
    import numpy as np

    return np.zeros_like(value)


def perceptron() -> Loss:
    """max(0, −y·z); at the kink z = 0 the slope taken is −y, so that learning can start from 0."""
    return _made("perceptron", bend=_perceptron_bend, slack_of=_no_slack)


def _logistic_conjugate(alpha: Array, y: Array, p: float) -> Array:
    import numpy as np

    from noregret import arithmetic
    from noregret.loss.base import within

    beta = -alpha * y
    inside = np.clip(beta, 0.0, 1.0)
    entropy = [q * arithmetic.log(np.where(q > 0.0, q, 1.0)) for q in (inside, 1.0 - inside)]
    return within(beta, 0.0, 1.0, entropy[0] + entropy[1])


def _logistic_second(z: Array, y: Array) -> Array:
    p = probability(z)
    return p * (1.0 - p)


def _logistic_epoch(*problem: Any) -> float:
    from noregret import _native

    return _native.logistic_epoch(*problem)


def logistic() -> Loss:
    """ln(1 + e^(−y·z)), natural logarithm."""
    return _made(
        "logistic",
        conjugate_of=_logistic_conjugate,
        probabilistic=True,
        surrogate=True,
        rounded=1.0,
        second=_logistic_second,
        sharpest=0.25,
        dual_epoch=_logistic_epoch,
    )


def _exponential_conjugate(alpha: Array, y: Array, p: float) -> Array:
    import numpy as np

    from noregret import arithmetic
    from noregret.loss.base import within

    beta = -alpha * y
    inside = np.maximum(beta, 0.0)
    return within(beta, 0.0, np.inf, inside * arithmetic.log(np.where(inside > 0.0, inside, 1.0)) - inside)


def _exponential_second(z: Array, y: Array) -> Array:
    from noregret import arithmetic

    return arithmetic.exp(-y * z)


def exponential() -> Loss:
    """e^(−y·z); its slope grows without bound, and so fast that a margin of −709 counts as infinite."""
    from noregret import _native, arithmetic

    return _made(
        "exponential",
        conjugate_of=_exponential_conjugate,
        lipschitz=math.inf,
        limit=arithmetic.exp(_native.LARGEST_EXPONENT),
        second=_exponential_second,
    )


def probability(scores: Array) -> Array:
    """What the logistic loss takes the probability of +1 to be: 1/(1 + e^(−z)), without overflow.

    >>> import numpy as np
    >>> probability(np.array([0.0, -1000.0])).tolist()
    [0.5, 0.0]
    """
    import numpy as np

    from noregret import arithmetic

    e = arithmetic.exp(-np.abs(scores))
    return np.where(scores >= 0.0, 1.0, e) / (1.0 + e)


def probability_of(score: float) -> float:
    """The same of one score.

    >>> probability_of(0.0)
    0.5
    """
    from noregret import arithmetic

    e = arithmetic.exp(-abs(score))
    return (1.0 if score >= 0.0 else e) / (1.0 + e)


def softmax(scores: Array) -> Array:
    """e^(s_k)/Σe^s, a row a row: what the log loss takes the probabilities of the classes to be.

    >>> import numpy as np
    >>> softmax(np.array([[0.0, 0.0], [0.0, -1000.0]])).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    import numpy as np

    from noregret import arithmetic

    if not scores.size:
        return scores
    e = arithmetic.exp(scores - scores.max(axis=1, keepdims=True))
    whole = np.zeros(len(e))
    for column in e.T:  # in the order of the classes, on every machine
        whole += column
    return np.asarray(e / whole[:, np.newaxis])


def _squared_bend(y: Any, p: Any) -> Bend:
    return Bend(y, -math.inf * _one(y), math.inf * _one(y), width=0.5)


def squared() -> Loss:
    """(z − y)²; its slope grows without bound."""
    return _made("squared", bend=_squared_bend, lipschitz=math.inf, curvature=2.0)


def _absolute_bend(y: Any, p: Any) -> Bend:
    return Bend(y, -_one(y), _one(y))


def absolute() -> Loss:
    """|z − y|; at the kink z = y the slope taken is 0."""
    return _made("absolute", bend=_absolute_bend, passive=True)


def _huber_bend(y: Any, p: Any) -> Bend:
    return Bend(y, -p * _one(y), p * _one(y), width=1.0)


def huber(delta: float = 1.0) -> Loss:
    """r²/2 where |r| ≤ δ, else δ|r| − δ²/2, with r = z − y."""
    if not (delta > 0.0 and math.isfinite(delta)):
        raise SettingError(f"loss huber: delta must be positive and finite, got {delta}")
    return _made("huber", bend=_huber_bend, parameter=delta, lipschitz=delta)


def _pinball_bend(y: Any, p: Any) -> Bend:
    return Bend(y, -p * _one(y), (1 - p) * _one(y))


def pinball(tau: float = 0.5) -> Loss:
    """τ·(y − z) where z < y, else (1 − τ)·(z − y): its best constant is the τ-quantile; slope 0 at z = y."""
    if not 0.0 < tau < 1.0:
        raise SettingError(f"loss pinball: tau must lie between 0 and 1, got {tau}")
    return _made("pinball", bend=_pinball_bend, parameter=tau, lipschitz=max(tau, 1.0 - tau))


def _epsilon_bend(y: Any, p: Any) -> Bend:
    return Bend(y, -_one(y), _one(y), flat=p)


def _epsilon_slack(value: Array, z: Array, y: Array, p: float) -> Array:
    """Two subtractions, of which the first may hide that |z − y| is more than ε by a hair."""
    import numpy as np

    size = np.abs(z - y)
    return np.where(size < p * (1.0 - 4.0 * EPS), 0.0, 2.0 * EPS * (size + value))


def epsilon_insensitive(epsilon: float = 0.1) -> Loss:
    """max(0, |z − y| − ε): errors of at most ε cost nothing; at the kinks the slope taken is 0."""
    if not (epsilon >= 0.0 and math.isfinite(epsilon)):
        raise SettingError(f"loss epsilon-insensitive: epsilon must be finite and not negative, got {epsilon}")
    return _made("epsilon-insensitive", bend=_epsilon_bend, parameter=epsilon, passive=True, slack_of=_epsilon_slack)


TIES = {"mistake": 0.0, "+1": 1.0, "-1": -1.0}


def tie_code(tie: str) -> float:
    """What a score of exactly 0 counts as: +1, −1, or 0 for "a mistake either way"."""
    if not isinstance(tie, str) or tie not in TIES:
        raise SettingError(f"tie must be one of {', '.join(TIES)}, got {tie!r}")
    return TIES[tie]


def zero_one(tie: str = "mistake") -> Loss:
    """1 where sgn(z) ≠ y; its "slope" −y on a mistake is the perceptron's update. Not convex: it only scores."""
    return _made("zero-one", parameter=tie_code(tie), lipschitz=math.inf, convex=False, slack_of=_no_slack)


def log() -> Loss:
    """−ln p(y), natural logarithm, of a forecast p of many classes; a gradient in the scores is p − e_y, at most √2."""
    return _made("log", lipschitz=math.sqrt(2.0), probabilistic=True)


TWO_CLASSES: dict[str, Callable[..., Loss]] = {
    "hinge": hinge,
    "margin-hinge": margin_hinge,
    "squared-hinge": squared_hinge,
    "perceptron": perceptron,
    "logistic": logistic,
    "exponential": exponential,
}
NUMBERS: dict[str, Callable[..., Loss]] = {
    "squared": squared,
    "absolute": absolute,
    "huber": huber,
    "pinball": pinball,
    "epsilon-insensitive": epsilon_insensitive,
}
LOSSES = TWO_CLASSES | NUMBERS
PARAMETER = {  # the word and the letter of each that has one
    "margin-hinge": ("margin", "ρ"),
    "huber": ("delta", "δ"),
    "pinball": ("tau", "τ"),
    "epsilon-insensitive": ("epsilon", "ε"),
}


def listed() -> str:
    """Every loss as `parse` reads it, those for numbers apart.

    >>> listed().partition("; for numbers ")[2]
    'squared, absolute, huber:δ, pinball:τ, epsilon-insensitive:ε.'
    """
    two, numbers = (
        ", ".join(name + (f":{PARAMETER[name][1]}" if name in PARAMETER else "") for name in names)
        for names in (TWO_CLASSES, NUMBERS)
    )
    return f"{two}; for numbers {numbers}."


def parse(spec: str | Loss | Any) -> Loss:
    """A loss from its name, with its parameter after a colon: "hinge", "huber:0.5", "pinball:0.9".

    >>> parse("huber:0.5").lipschitz
    0.5
    """
    if not isinstance(spec, str):
        from noregret.loss.base import Loss

        if isinstance(spec, Loss):
            return spec
        raise SettingError(f"loss must be a name or noregret.custom_loss(value, slope), got {spec!r}")
    name, colon, text = spec.partition(":")
    if name not in LOSSES:
        raise SettingError(f"loss must be one of {', '.join(LOSSES)}, got {name!r}{nearest(name, LOSSES)}")
    if not colon:
        return LOSSES[name]()
    if name not in PARAMETER:
        raise SettingError(f"loss {name} takes no parameter, got {text!r}")
    try:
        number = float(text)
    except ValueError:
        raise SettingError(f"loss {name}: {PARAMETER[name][0]} must be a number, got {text!r}") from None
    return LOSSES[name](number)


def __getattr__(name: str) -> Any:
    """What is large."""
    home = {"Loss": "base", "custom": "own"}
    if name not in home:
        raise AttributeError(f"module 'noregret.loss' has no attribute {name!r}")
    return getattr(import_module(f"noregret.loss.{home[name]}"), name)
