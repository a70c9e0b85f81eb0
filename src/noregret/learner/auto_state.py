"""The memory of a pool: what the mixture keeps, and after it the arrays of every member and of every view."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from noregret._native import HISTORY_ROWS
from noregret.learner.core import Arrays, Core, fit
from noregret.state import RECORD, check_places

if TYPE_CHECKING:
    from noregret.learner.auto import Auto

SCALARS = tuple(name for name in RECORD["state"].names or () if not RECORD["state"][name].shape)  # of a state


def arrays_of(pool: Auto) -> Arrays:
    """What a model file keeps of a pool."""
    kept = {**pool.mixture, "out": pool.out, "total": pool.total[: pool.width], "reached": pool.reached}
    if pool.since[0]:
        kept["since"] = np.array(pool.since)
    kept["slots"] = pool.numbering.slots
    kept["widths"] = np.array([core.width for core in pool.cores], np.int64)
    kept["paired"] = np.array([core.paired for core in pool.cores], np.bool_)
    for i, core in enumerate(pool.cores):
        kept |= {f"{i}.{name}": array for name, array in core.arrays().items()}
        kept[f"{i}.state"] = _bits(core)
    kept |= {f"{i}.scaling": scaling.state for i, scaling in pool.scalings.items()}
    for i, view in enumerate(pool.views):
        kept |= {f"view{i}.{name}": array for name, array in view.arrays().items()}
    return kept


def restore(pool: Auto, arrays: Arrays, width: int, paired: bool) -> None:
    """Go back to what was kept; a KeyError or a ValueError where it does not fit."""
    fit(arrays, {name: array.shape for name, array in pool.mixture.items()})
    fit(arrays, {"total": (width if pool.gathers else 0,), "reached": (1,), "widths": (len(pool.members),)})
    pool.grow(width, sparse=paired)
    pool.total[:width] = arrays["total"]
    for name, array in {**pool.mixture, "reached": pool.reached}.items():
        array[:] = arrays[name]
    beats, reached = pool.beats, pool.reached[0]
    if not (0 <= beats[0] < HISTORY_ROWS and beats[1] > 0 and beats[2] > 0 and reached >= 0):
        raise ValueError("its clock is wrong")
    pool.out[:] = arrays["out"].astype(np.bool_)
    if "since" in arrays:
        fit(arrays, {"since": (2,)})
        rounds, loss = arrays["since"].tolist()
        pool.since = (int(rounds), float(loss))
    pool.numbering.restore(arrays["slots"])
    for i, core in enumerate(pool.cores):
        core.restore(_under(arrays, f"{i}."), int(arrays["widths"][i]), bool(arrays["paired"][i]))
        for name, value in zip(SCALARS, arrays[f"{i}.state"].view(np.int64), strict=True):
            core.state[name] = np.array([value]).view(core.state.dtype[name])[0]
        check_places(core.state)
    for i, scaling in pool.scalings.items():
        fit(arrays, {f"{i}.scaling": scaling.state.shape})
        scaling.state[:] = arrays[f"{i}.scaling"]
    for i, view in enumerate(pool.views):
        view.restore(_under(arrays, f"view{i}."))


def _bits(core: Core) -> NDArray[np.int64]:
    """The single numbers of a state, eight bytes each."""
    return np.concatenate([core.state[name].view(np.int64) for name in SCALARS])


def _under(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays whose names begin so, without it."""
    return {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
