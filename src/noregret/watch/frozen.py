"""A learner as it stood at some round: it scores rows and learns nothing more."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.learner.core import TOOLS, Core
from noregret.model import arrays_of, put_back

SHARED = ("features", "labels", "segments", "options")  # what it has in common with the learner that goes on
LEFT = (*TOOLS, "watched", "late", "foretold")


def frozen(core: Core) -> Core:
    """The learner as it is now."""
    shared = {id(part): part for name in SHARED if (part := getattr(core, name)) is not None}
    with core.lock:
        state = deepcopy({name: part for name, part in vars(core).items() if name not in LEFT}, shared)
    made = object.__new__(type(core))
    made.__setstate__(state)
    return made


def stored(core: Core) -> dict[str, Any]:
    """What a model file keeps of it."""
    arrays = {name: [part.dtype.str, list(part.shape), part.tobytes()] for name, part in arrays_of(core).items()}
    return {"width": core.width, "paired": core.paired, "arrays": arrays}


def restored(core: Core, kept: dict[str, Any]) -> Core:
    """It as it was stored, beside the learner that goes on; KeyError, ValueError or TypeError where it does not fit."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, (dtype, shape, data) in kept["arrays"].items():
        arrays[name] = np.frombuffer(data, np.dtype(dtype)).reshape(shape).copy()
    made = type(core)(**core.settings)
    if core.preparation.means is not None:
        made.fill_missing()
    put_back(made, arrays, kept["width"], kept["paired"])
    for name in SHARED:
        setattr(made, name, getattr(core, name))
    return made


def missed(core: Core, scores: NDArray[np.float64], y: NDArray[np.float64]) -> int | None:
    """How many of these scores, as a model that no longer learns gives them, were wrong; a tie of classes is."""
    if core.regression:
        return None
    if not core.multiclass:
        return int(np.count_nonzero(core.missed(scores, y)))
    own, wrong = y.astype(np.int64), len(y)
    known = np.flatnonzero(own < scores.shape[1])
    others = scores[known].copy()
    right = others[np.arange(len(known)), own[known]]
    others[np.arange(len(known)), own[known]] = -np.inf
    return wrong - int(np.count_nonzero(others.max(axis=1, initial=-np.inf) < right))
