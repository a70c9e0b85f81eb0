"""The named state of a learner and of its run: one record, saved and compared bit for bit.

It is the core's own memory (native/state.hpp says what each field means), seen from here as a structured array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import _native
from noregret._native import POINTS, ROWS, WINDOW

TRACE = ("rounds", "mistakes", "loss", "constant", "last", "gradient2", "gradient_dot_weights")
CURVE = ("rounds", "loss", "gradient_dot_weights", "gradient_sum_norm")


def _structured(fields: list[tuple[str, str, int, tuple[int, ...]]], size: int) -> np.dtype[Any]:
    names, kinds, offsets, shapes = zip(*fields, strict=True)
    formats = [(kind, shape) if shape else kind for kind, shape in zip(kinds, shapes, strict=True)]
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})


STATE = _structured(_native.STATE_FIELDS, _native.STATE_BYTES)
CONFIG = _structured(_native.CONFIG_FIELDS, _native.CONFIG_BYTES)
RECORD = np.dtype([("state", STATE), ("config", CONFIG)])


def new_state() -> NDArray[Any]:
    """The state before the first round."""
    state = np.zeros(1, STATE)
    begin(state)
    return state


def begin(state: NDArray[Any]) -> None:
    """Make a state of zeros the one before the first round."""
    state["scale"] = 1.0
    state["trace_step"] = 1
    state["trace_next"] = 1
    state["curve_next"] = 1


def check_places(state: NDArray[Any]) -> None:
    """What kernels use as places in tables must lie inside them."""
    limits = {"window_at": WINDOW, "trace_rows": POINTS, "curve_rows": ROWS}
    for field, limit in limits.items():
        if not 0 <= state[field][0] < limit:
            raise ValueError(f"{field} is {state[field][0]}")
    if state["trace_step"][0] < 1 or state["rounds"][0] < 0:
        raise ValueError("its clock is wrong")
