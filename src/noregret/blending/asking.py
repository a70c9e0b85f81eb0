"""What a blend needs, what is missing, and an example call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError, listed
from noregret.experts.blender import LOSSES
from noregret.experts.forecasts import columns_of, first_numbers
from noregret.experts.loss import RANGED

OUTCOMES = ("target", "outcome", "label", "y", "actual", "truth", "observed", "result")  # what one is often named
MANY = 8  # experts of an example


@dataclass(frozen=True)
class Example:
    """A blend of some table that could be asked for."""

    outcome: str
    experts: tuple[str, ...]
    loss: str
    range: tuple[float, float] | None


def asked(
    table: Any, outcome: str | None, experts: Sequence[str], loss: str | None, costs: Sequence[str]
) -> tuple[list[str], str]:
    """The columns of the experts, and the loss."""
    if costs and (outcome is not None or experts or loss is not None):
        raise SettingError("blend: needs either outcome, experts and loss, or costs, not both")
    lacking = missing(table, outcome, experts, loss, costs)
    if lacking:
        raise SettingError(f"blend: {_sentence(table, lacking, outcome, experts, loss)}")
    columns = [costs] if isinstance(costs, str) else list(costs)
    if not columns:
        columns = [experts] if isinstance(experts, str) else list(experts)
    if isinstance(table, tuple):
        columns = columns or [f"expert {i + 1}" for i in np.arange(np.shape(table[0])[1])]
    twice = [name for place, name in enumerate(columns) if name in columns[:place]]
    if twice:
        raise SettingError(f"blend: the expert {twice[0]!r} is given twice")
    if outcome in columns:
        raise SettingError(f"blend: the column {outcome!r} cannot be both the outcome and an expert")
    if loss is not None and loss not in LOSSES and not (loss == "costs" and isinstance(table, tuple)):
        raise SettingError(f"blend: loss must be one of {', '.join(LOSSES)}, got {loss!r}")
    return columns, loss or "costs"


def missing(
    table: Any, outcome: str | None, experts: Sequence[str], loss: str | None, costs: Sequence[str]
) -> list[str]:
    """Which of outcome, experts and loss are not given but needed."""
    if costs:
        return []
    arrays = isinstance(table, tuple)
    there = {"outcome": outcome is not None or arrays, "experts": bool(experts) or arrays, "loss": loss is not None}
    return [name for name, given in there.items() if not given]


def joined(names: Sequence[str]) -> str:
    """a, b and c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _sentence(table: Any, lacking: list[str], outcome: str | None, experts: Sequence[str], loss: str | None) -> str:
    said = f"{joined(lacking)} {'is' if len(lacking) == 1 else 'are'} missing"
    said += f" (loss is one of {', '.join(LOSSES)})" if "loss" in lacking else ""
    names = columns_of(table)
    if names is None:
        return said
    said += f": the columns are {listed(names)}"
    found = example(table, outcome, experts, loss)
    if found is None:
        return said
    ends = "" if found.range is None else f", range={tuple(f'{end:g}' for end in found.range)}".replace("'", "")
    return (
        f"{said}; for example blend(table, outcome={found.outcome!r}, experts={list(found.experts)!r},"
        f" loss={found.loss!r}{ends})"
    )


def _counts(column: NDArray[np.float64]) -> bool:
    """Whether a column counts on, as days and row numbers do: it is not a forecast."""
    return len(column) > 1 and bool((column == np.floor(column)).all() and (np.diff(column) > 0.0).all())


def example(table: Any, outcome: str | None, experts: Sequence[str], loss: str | None) -> Example | None:
    """A blend that the first rows of a table suggest, with all that was given; None where they suggest nothing."""
    names, X = first_numbers(table)
    given = (experts,) if isinstance(experts, str) else tuple(experts)
    free = [name for name in names if name not in given]
    usual = [name for wanted in OUTCOMES for name in free if name.lower() == wanted]
    came = outcome or next(iter([*usual, *reversed(free)]), None)
    counters = {name for name, column in zip(names, X.T, strict=True) if _counts(column)}
    said = given or tuple(name for name in names if name != came and name not in counters)[:MANY]
    there = [names.index(name) for name in (*said, came) if name in names]
    if came is None or not said or len(there) < len(said) + 1:
        return None
    low, high = float(np.nanmin(X[:, there])), float(np.nanmax(X[:, there]))
    chances = low >= 0.0 and high <= 1.0 and bool(np.isin(X[:, there[-1]], (0.0, 1.0)).all())
    judged = loss or ("log" if chances else "absolute")
    wide = judged in RANGED and (low < 0.0 or high > 1.0) and math.isfinite(high - low)
    return Example(came, said, judged, (math.floor(low), math.ceil(high)) if wide else None)
