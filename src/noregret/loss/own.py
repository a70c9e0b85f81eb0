"""A loss of the user's own, from two functions."""

from __future__ import annotations

import inspect
import math

from noregret.errors import SettingError
from noregret.loss.base import Function, Loss


def custom(
    value: Function,
    slope: Function,
    *,
    name: str = "custom",
    lipschitz: float = math.inf,
    regression: bool = False,
) -> Loss:
    """Make your own loss from two plain Python functions of (z, y), convex in z.

    If Numba is installed (the extra `own`), it compiles them. `lipschitz` is your guarantee that |slope| never exceeds
    it; omit it if the slope is unbounded.

    >>> import noregret as nr
    >>> cubic = nr.custom_loss(lambda z, y: abs(z - y) ** 3 / 3, lambda z, y: (z - y) * abs(z - y))
    >>> cubic(4.0, 1.0), cubic.gradient(4.0, 1.0)
    (9.0, 9.0)
    """
    for role, function in (("value", value), ("slope", slope)):
        if not inspect.isfunction(function) or len(inspect.signature(function).parameters) != 2:
            raise SettingError(f"loss {name}: {role} must be a plain Python function of (z, y), got {function!r}")
    if not lipschitz > 0.0:
        raise SettingError(f"loss {name}: lipschitz must be positive, got {lipschitz}")
    _check_convex(name, value, slope, (-1.0, 0.5, 2.0) if regression else (-1.0, 1.0))
    return Loss(name, lipschitz=float(lipschitz), regression=regression, own=(value, slope))


def _check_convex(name: str, value: Function, slope: Function, labels: tuple[float, ...]) -> None:
    """A few points tell a wrong sign or a concave loss: no tangent may lie above the loss."""
    points = (-3.0, -1.25, -0.4, 0.3, 0.9, 2.75)
    for y in labels:
        try:
            found = [(z, float(value(z, y)), float(slope(z, y))) for z in points]
        except (ArithmeticError, ValueError):  # a loss that is not defined everywhere
            continue
        for z, here, tilt in found:
            for other, there, _ in found:
                if there < here + tilt * (other - z) - 1e-9 * (1.0 + abs(here) + abs(there)):
                    raise SettingError(
                        f"loss {name}: slope must be a subgradient of a convex value; with y = {y:g} the tangent at"
                        f" z = {z:g} lies above the loss at z = {other:g}"
                    )
