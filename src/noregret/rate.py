"""Step sizes η_t: constant, η/√t, 1/(σt), the one for a known horizon, the one that needs to know nothing.

| text | η_t |
|---|---|
| `auto` | √2·U/√Σ_{s≤t}‖g_s‖², from the radius U alone |
| `constant:η` | η |
| `sqrt:η` | η/√t |
| `normalised:η` | η/‖x‖², but at most ℓ/(s²‖x‖²), s the slope of the loss ℓ |
| `late` | `auto`, and smaller while labels are outstanding: √2·U/√Σ(‖g‖² + 2‖g‖·Λ·Σ‖x‖ of the rows that wait) |
| `horizon:T`, `horizon:T:G` | U/(G√T) for T rounds with gradients of norm at most G |
| `doubling`, `doubling:G` | the same, restarted at rounds 1, 2, 4, 8, … with the period's length for T |

Without G it is the loss's Lipschitz constant, which is right for rows with ‖x‖ ≤ 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from noregret._native import ADAPTIVE, BOX, CONSTANT, DELAYED, DOUBLING, NORMALISED, SQRT, STRONG, WHOLE
from noregret.domain import Domain
from noregret.errors import SettingError
from noregret.loss import Loss

RATES = "auto, late, constant:η, sqrt:η, normalised:η, horizon:T, horizon:T:G, doubling, doubling:G"
STEPS = {"constant": CONSTANT, "sqrt": SQRT, "normalised": NORMALISED}


@dataclass(frozen=True)
class Rate:
    """A step-size rule as the kernel reads it: a code and one number."""

    code: int
    eta: float
    horizon: int | None = None
    gradient_bound: float | None = None


def parse(text: str, loss: Loss, domain: Domain) -> Rate:
    """The rule named by `text` for this loss and domain.

    >>> from noregret.loss import hinge
    >>> parse("horizon:100", hinge(), Domain("ball", 2.0)).eta
    0.2
    """
    if not isinstance(text, str):
        raise SettingError(f"rate must be one of {RATES}, got {text!r}")
    kind, *rest = text.split(":")
    if kind == "auto" and not rest:
        return Rate(ADAPTIVE, math.sqrt(2.0) * _ball_radius(text, domain))
    if kind == "late" and not rest:
        if not math.isfinite(loss.lipschitz):
            raise SettingError(f"rate late needs a loss with bounded slopes, and those of {loss.name} are not")
        return Rate(DELAYED, math.sqrt(2.0) * _ball_radius(text, domain))
    if kind in STEPS and len(rest) == 1:
        return Rate(STEPS[kind], _positive(text, rest[0]))
    if kind == "horizon" and len(rest) in (1, 2):
        rounds = _positive(text, rest[0])
        if rounds != int(rounds):
            raise SettingError(f"rate {text}: the horizon must be a whole number of rounds")
        bound = _gradient_bound(text, rest[1:], loss)
        eta = _ball_radius(text, domain) / (bound * math.sqrt(rounds))
        return Rate(CONSTANT, eta, int(rounds), bound)
    if kind == "doubling" and len(rest) <= 1:
        bound = _gradient_bound(text, rest, loss)
        return Rate(DOUBLING, _ball_radius(text, domain) / bound, None, bound)
    raise SettingError(f"rate must be one of {RATES}, got {text!r}")


def of_coordinates(text: str, box: Domain) -> float:
    """η of learners with a step for every coordinate: `constant:η`, or `auto`, √2·U for the box of radius U.

    >>> of_coordinates("constant:0.5", Domain("box", 10.0))
    0.5
    """
    kind, colon, number = str(text).partition(":")
    if kind == "constant" and colon:
        return _positive(text, number)
    if text != "auto":
        raise SettingError(f"rate must be auto or constant:η, got {text!r}")
    if box.code == WHOLE:
        raise SettingError("rate auto needs a radius; without one use constant:η")
    return math.sqrt(2.0) * box.radius


def strong() -> Rate:
    """1/(σt), for losses made strongly convex by (σ/2)‖w‖²."""
    return Rate(STRONG, 0.0)


def _positive(text: str, number: str) -> float:
    try:
        value = float(number)
    except ValueError:
        raise SettingError(f"rate {text}: {number!r} is not a number") from None
    if not (value > 0.0 and math.isfinite(value)):
        raise SettingError(f"rate {text}: {number} must be positive and finite")
    return value


def _ball_radius(text: str, domain: Domain) -> float:
    if domain.code in (WHOLE, BOX):
        raise SettingError(f"rate {text} needs the radius of a ball; with this domain use constant:η or sqrt:η")
    return domain.radius


def _gradient_bound(text: str, rest: list[str], loss: Loss) -> float:
    if rest:
        return _positive(text, rest[0])
    if math.isinf(loss.lipschitz):
        raise SettingError(f"rate {text}: the slope of the loss {loss.name} has no bound; write {text}:G")
    return loss.lipschitz
