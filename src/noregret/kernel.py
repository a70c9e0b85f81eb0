"""Kernels K(x, z) = ⟨φ(x), φ(z)⟩: a linear learner in the space of φ, known by inner products alone.

linear ⟨x, z⟩ · poly (coef0 + γ⟨x, z⟩)^degree · rbf e^(−γ‖x − z‖²) · laplace e^(−γ‖x − z‖₁) · precomputed, the rows
being those of the Gram matrix · one's own, a plain Python function of two rows, which numba compiles if it is there.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError

KERNELS = ("linear", "poly", "rbf", "laplace", "precomputed")
Function = Callable[..., float]
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters; those that it does not have are None.

    >>> parse("poly", degree=2)(np.array([1.0, 2.0]), np.array([3.0, 1.0]))
    36.0
    """

    name: str
    degree: int | None = None
    coef0: float | None = None
    gamma: float | None = None
    function: Function | None = None

    @property
    def custom(self) -> bool:
        """Whether it is a function of the user's own."""
        return self.function is not None

    @property
    def precomputed(self) -> bool:
        """Whether the rows that are learned from hold the kernel's values themselves."""
        return self.name == "precomputed" and not self.custom

    @property
    def summed(self) -> bool:
        """Whether it is a function of one sum over the features, by compiled code of this package."""
        return not self.custom and not self.precomputed

    @property
    def linear(self) -> bool:
        """Whether it is the plain inner product, so that a learner has weights."""
        return self.summed and self.name == "linear"

    @property
    def quadratic(self) -> bool:
        """Whether it is the polynomial one of degree 2, whose supports fold into a matrix."""
        return self.summed and self.name == "poly" and self.degree == 2

    @property
    def translates(self) -> bool:
        """Whether only differences of rows matter, so that a constant feature does not."""
        return self.summed and self.name in ("rbf", "laplace")

    @property
    def code(self) -> int:
        """The kernel as compiled code knows it."""
        return KERNELS.index(self.name)

    @property
    def sum(self) -> int:
        """Which sum over the features it is a function of."""
        from noregret._native import ABSOLUTE, DOT, SQUARE

        return {"rbf": SQUARE, "laplace": ABSOLUTE}.get(self.name, DOT)

    @property
    def numbers(self) -> tuple[float, float, int]:
        """(coef0, γ, degree) as compiled code reads them."""
        return self.coef0 or 0.0, 1.0 if self.gamma is None else self.gamma, self.degree or 1

    @property
    def semidefinite(self) -> bool | None:
        """Whether it is positive semi-definite: by theory for those built in; of others nobody can tell."""
        return True if self.summed else None

    def __call__(self, x: Any, z: Any) -> float:
        """K(x, z) of two rows, for those who want to see one value."""
        if self.precomputed:
            raise SettingError("kernel precomputed: its values are the rows themselves")
        x, z = np.ascontiguousarray(x, dtype=np.float64), np.ascontiguousarray(z, dtype=np.float64)
        if self.function is not None:
            return float(self.function(x, z))
        from noregret._native import kernel_value

        return kernel_value(self.code, self.sum, *self.numbers, x, z)

    def fill(self, stored: Matrix, rows: Matrix, G: Matrix, to: int) -> None:
        """G[t, to + i] = K(stored row i, row t), of a function of the user's own."""
        from noregret._native import own_values
        from noregret.own import ROWS, compiled

        assert self.function is not None
        address = compiled(self.function, ROWS, "kernel")
        found = G[:, to : to + len(stored)]
        if address is not None:
            own_values(address, stored, rows, G, to)
            odd = np.argwhere(np.isnan(found[: len(rows)]))
            if len(odd):  # an error, which only the function itself can tell, or its answer
                self.function(stored[odd[0, 1]], rows[odd[0, 0]])
            return
        for t, row in enumerate(rows):
            for i, other in enumerate(stored):
                found[t, i] = self.function(other, row)


def custom(function: Function, *, name: str = "custom") -> Kernel:
    """Make your own kernel from a plain Python function of two rows, given as arrays of numbers.

    If Numba is installed (the extra `own`), it compiles the function; otherwise it runs as plain Python.

    The theorems need it to be symmetric and positive semi-definite; no run can check this, and the certificates say so.

    >>> import noregret as nr
    >>> overlap = nr.custom_kernel(lambda x, z: np.minimum(x, z).sum(), name="overlap")
    >>> overlap([1.0, 2.0], [3.0, 1.0])
    2.0
    """
    if not inspect.isfunction(function) or len(inspect.signature(function).parameters) != 2:
        raise SettingError(f"kernel {name}: it must be a plain Python function of two rows, got {function!r}")
    return Kernel(name, function=function)


DEFAULTS: dict[str, dict[str, float]] = {
    "poly": {"degree": 2, "coef0": 1.0, "gamma": 1.0},
    "rbf": {"gamma": 1.0},
    "laplace": {"gamma": 1.0},
}


def parse(
    kernel: str | Kernel | Function, degree: int | None = None, coef0: float | None = None, gamma: float | None = None
) -> Kernel:
    """A kernel from its name and parameters; a parameter that it does not have is an error.

    >>> parse("rbf").gamma, parse("poly", degree=3).coef0
    (1.0, 1.0)
    """
    given = {"degree": degree, "coef0": coef0, "gamma": gamma}
    if callable(kernel) and not isinstance(kernel, Kernel):
        kernel = custom(kernel)
    if not isinstance(kernel, Kernel) and kernel not in KERNELS:
        raise SettingError(f"kernel must be one of {', '.join(KERNELS)}, or a function of two rows, got {kernel!r}")
    name = kernel.name if isinstance(kernel, Kernel) else kernel
    own = {} if isinstance(kernel, Kernel) and kernel.custom else DEFAULTS.get(name, {})
    for key, value in given.items():
        if value is not None and key not in own:
            owners = " and ".join(one for one in DEFAULTS if key in DEFAULTS[one])
            raise SettingError(f"kernel: {key} is for {owners}, not for {name}")
    if isinstance(kernel, Kernel):
        return kernel
    return Kernel(name, **_checked({**own, **{key: value for key, value in given.items() if value is not None}}))


def _checked(numbers: dict[str, Any]) -> dict[str, Any]:
    """The numbers for which the kernel is positive semi-definite."""
    for key, value in numbers.items():
        if isinstance(value, str | bool) or not isinstance(value, SupportsFloat):
            raise SettingError(f"kernel: {key} must be a number, got {value!r}")
    degree, coef0, gamma = numbers.get("degree"), numbers.get("coef0"), numbers.get("gamma")
    if degree is not None and not (isinstance(degree, int | float) and 1 <= degree <= 64 and degree == int(degree)):
        raise SettingError(f"kernel: degree must be a whole number from 1 to 64, got {degree}")
    if coef0 is not None and not 0.0 <= coef0 < math.inf:
        raise SettingError(f"kernel: coef0 must be at least 0 and finite, got {coef0}")
    if gamma is not None and not 0.0 < gamma < math.inf:
        raise SettingError(f"kernel: gamma must be positive and finite, got {gamma}")
    kinds = {"degree": int, "coef0": float, "gamma": float}
    return {key: kinds[key](value) for key, value in numbers.items()}
