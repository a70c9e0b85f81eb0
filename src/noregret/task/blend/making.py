"""`blend`: from a table to what came of following its experts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError, listed, spelled
from noregret.experts.blender import Blender
from noregret.experts.engine import Engine, Played
from noregret.experts.forecasts import ExpertTable, columns_of, first_numbers, read_expert_table, with_last_value
from noregret.experts.loss import COSTS, JUDGES, LOSSES
from noregret.proof.blend import reading_of
from noregret.proof.solve.mean import best_combination
from noregret.proof.theorems.experts import certificates
from noregret.task.blend.result import Blend

Vector = NDArray[np.float64]
Progress = Callable[[int, int], None]
PART = 20_000  # rounds between two words on how far it is
MEAN_GAP = 1e-9  # how far the best mean's loss may be unknown, as a part of it


def blend(
    table: Any,
    *,
    outcome: str | None = None,
    experts: Sequence[str] = (),
    loss: str | None = None,
    costs: Sequence[str] = (),
    range: Sequence[float] | None = None,
    method: str | None = None,
    against: str | None = None,
    last_value: bool = False,
    rate: str = "two",
    switches: int | None = None,
    keep_weights: bool = True,
    progress: Progress | None = None,
) -> Blend:
    """Blend the experts of a table: a file, a frame, a mapping of columns, or (forecasts, outcomes) as arrays.

    Give either `outcome`, `experts` and `loss` (squared, absolute, log, zero-one, brier), or `costs`, the columns with
    the cost of each expert. `range` is the range of the numbers (default [0, 1]). `against` is what to compete with:
    the best `expert`, or the best fixed `mean` of the experts (squared and absolute loss; the default for absolute).
    `last_value` adds an expert that forecasts the previous outcome. `switches` m also compares with the best sequence
    of experts with at most m switches. `progress` is called from time to time with the number of rounds done and the
    total.

    >>> table = {"anna": [0.9, 0.8, 0.9], "bert": [0.2, 0.4, 0.1], "rain": [1, 1, 0]}
    >>> found = blend(table, outcome="rain", experts=["anna", "bert"], loss="log")
    >>> found.best, found.regret <= found.bound
    ('bert', True)
    """
    if isinstance(table, tuple) and outcome is None and not costs and loss != COSTS.name:
        outcome = "outcome"  # arrays have no names, and a receipt names what it speaks of
    columns, name = asked(table, outcome, experts, loss, costs)
    judge = JUDGES[name]
    whole = read_expert_table(table, None if judge.costs else outcome, columns, judge)
    # labels are coded by the table; several outcomes by their columns
    outcomes = list(whole.names) or None
    blender = Blender(
        columns,
        loss=name,
        range=range,
        outcomes=outcomes,
        method=method,
        against=against,
        last_value=last_value,
        rate=rate,
        rounds=len(whole.values),
        switches=switches,
    )
    _check_ranges(whole, columns, outcome, blender)
    if last_value:
        whole = with_last_value(whole)
    rounds = len(whole.values)
    engine = blender.engine
    played = _played(engine, whole, keep_weights, progress)
    if played.rounds < rounds:
        raise whole.at(played.rounds, "every remaining expert gave the outcome probability 0")
    contest, mean = blender.contest(whole, played), None
    if contest.against_mean:
        mean = best_combination(contest.said, whole.outcomes, name, MEAN_GAP)
        contest = replace(contest, mean=(mean.weights, mean.slopes))
    return Blend(
        blender.experts,
        whole,
        reading_of(blender, None if judge.costs else outcome),
        contest,
        certificates(contest),
        played.weights,
        engine.weights(),
        mean,
        played.gaps,
    )


def _played(engine: Engine, data: ExpertTable, keep: bool, progress: Progress | None) -> Played:
    """Every round; for someone who waits in parts, which changes no figure."""
    rounds = len(data.values)
    if progress is None or rounds <= PART:
        return engine.play(data.values, data.outcomes, keep)
    parts: list[Played] = []
    for start in np.arange(0, rounds, PART).tolist():
        progress(start, rounds)
        parts.append(engine.play(data.values[start : start + PART], data.outcomes[start : start + PART], keep))
        if parts[-1].rounds < len(parts[-1].losses):
            break
    progress(rounds, rounds)
    return Played(
        sum(part.rounds for part in parts),
        np.concatenate([part.losses for part in parts]),
        np.concatenate([part.forecasts for part in parts]),
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.gaps for part in parts]),
    )


def _check_ranges(data: ExpertTable, columns: list[str], outcome: str | None, blender: Blender) -> None:
    """Every number lies in the declared range, or its line is named."""
    judge, (lo, hi) = blender.judged_by, blender.range
    if judge.labels:
        return
    advice = ", so it is not a probability"
    if judge.ranged:
        advice = f": declare another range with {spelled('range', 'LO,HI', python='range=(lo, hi)')}"
    rows: list[tuple[int, str]] = []
    if np.fmin.reduce(data.values, axis=None) < lo or np.fmax.reduce(data.values, axis=None) > hi:
        row, i, k = np.argwhere((data.values < lo) | (data.values > hi))[0].tolist()
        rows.append((row, f"column {columns[i]!r} is {data.values[row, i, k]:g}, outside [{lo:g}, {hi:g}]{advice}"))
    y = data.outcomes
    if judge.numbers and not ((y >= lo) & (y <= hi)).all():
        row = int((~((y >= lo) & (y <= hi))).argmax())
        rows.append((row, f"the outcome, column {outcome!r}, is {y[row]:g}, outside [{lo:g}, {hi:g}]{advice}"))
    if judge.chances and not data.names and not np.isin(y, (0.0, 1.0)).all():
        row = int((~np.isin(y, (0.0, 1.0))).argmax())
        rows.append((row, f"the outcome, column {outcome!r}, must be 0 or 1, got {y[row]:g}"))
    if rows:
        raise data.at(*min(rows))


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
    if loss is not None and loss not in LOSSES and not (loss == COSTS.name and isinstance(table, tuple)):
        raise SettingError(f"blend: loss must be one of {', '.join(LOSSES)}, got {loss!r}")
    return columns, loss or COSTS.name


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
    wide = JUDGES[judged].ranged and (low < 0.0 or high > 1.0) and math.isfinite(high - low)
    return Example(came, said, judged, (math.floor(low), math.ceil(high)) if wide else None)
