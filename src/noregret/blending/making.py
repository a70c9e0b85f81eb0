"""`blend`: from a table to what came of following its experts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.blending.asking import asked
from noregret.blending.result import Blend
from noregret.errors import spelled
from noregret.experts import loss as losses
from noregret.experts.blender import Blender
from noregret.experts.combination import Combination, best_combination
from noregret.experts.contest import Contest, linearised_regret, own_total, regret_of_best
from noregret.experts.engine import Engine, Played
from noregret.experts.forecasts import Laid, lay_out, with_last_value
from noregret.experts.switching import best_switching
from noregret.interval import Interval
from noregret.proof.theorems.experts import certificates

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
    if isinstance(table, tuple) and outcome is None and not costs and loss != "costs":
        outcome = "outcome"  # arrays have no names, and a receipt names what it speaks of
    columns, name = asked(table, outcome, experts, loss, costs)
    whole = lay_out(table, None if name == "costs" else outcome, columns, name)
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
        rounds=len(whole.given),
        switches=switches,
    )
    _check_ranges(whole, columns, outcome, blender)
    if last_value:
        whole = with_last_value(whole)
    rounds = len(whole.given)
    engine = blender.engine
    played = _played(engine, whole, keep_weights, progress)
    if played.rounds < rounds:
        raise whole.at(played.rounds, "every remaining expert gave the outcome probability 0")
    contest, best = _contest(blender, whole, played.losses)
    mean = None
    if blender.method == "gradient":
        contest, mean = _with_mean(contest, whole, played.forecasts[:, 0])
    reading = {
        "outcome": None if name == "costs" else outcome,
        "experts": columns,
        "loss": name,
        "range": list(blender.range) if name in losses.RANGED else None,
        "method": blender.method,
        "rate": blender.rate if blender.method == "hedge" else None,
        "switches": blender.switches,
        "last_value": last_value,
    }
    forecasts = played.forecasts if name != "costs" else np.zeros((rounds, 1))
    return Blend(
        blender.experts,
        whole,
        reading,
        contest,
        certificates(contest),
        forecasts,
        played.losses,
        played.weights,
        engine.weights(),
        engine.totals,
        best,
        mean,
        played.gaps,
    )


def _with_mean(contest: Contest, laid: Laid, forecasts: Vector) -> tuple[Contest, Combination]:
    """The best fixed mean, in which a sleeper says what the blend said, and the regret against it."""
    filled = np.where(np.isnan(laid.given[:, :, 0]), forecasts[:, None], laid.given[:, :, 0])
    found = best_combination(filled, laid.outcomes, contest.loss_name, MEAN_GAP)
    regret = Interval.of(0.0) if contest.experts == 1 else contest.loss - found.loss
    linear, spreads = linearised_regret(contest.loss_name, laid.given, forecasts, laid.outcomes)
    return replace(contest, mean_regret=regret, linear=linear, spreads=spreads), found


def _played(engine: Engine, laid: Laid, keep: bool, progress: Progress | None) -> Played:
    """Every round; for someone who waits in parts, which changes no figure."""
    rounds = len(laid.given)
    if progress is None or rounds <= PART:
        return engine.play(laid.given, laid.outcomes, keep)
    parts: list[Played] = []
    for start in np.arange(0, rounds, PART).tolist():
        progress(start, rounds)
        parts.append(engine.play(laid.given[start : start + PART], laid.outcomes[start : start + PART], keep))
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


def _check_ranges(laid: Laid, columns: list[str], outcome: str | None, blender: Blender) -> None:
    """Every number lies in the declared range, or its line is named."""
    loss, (lo, hi) = blender.loss_name, blender.range
    if loss == "zero-one":
        return
    advice = ", so it is not a probability"
    if loss in losses.RANGED:
        advice = f": declare another range with {spelled('range', 'LO,HI', python='range=(lo, hi)')}"
    rows: list[tuple[int, str]] = []
    if np.fmin.reduce(laid.given, axis=None) < lo or np.fmax.reduce(laid.given, axis=None) > hi:
        row, i, k = np.argwhere((laid.given < lo) | (laid.given > hi))[0].tolist()
        rows.append((row, f"column {columns[i]!r} is {laid.given[row, i, k]:g}, outside [{lo:g}, {hi:g}]{advice}"))
    y = laid.outcomes
    if loss in ("squared", "absolute") and not ((y >= lo) & (y <= hi)).all():
        row = int((~((y >= lo) & (y <= hi))).argmax())
        rows.append((row, f"the outcome, column {outcome!r}, is {y[row]:g}, outside [{lo:g}, {hi:g}]{advice}"))
    if loss in ("log", "brier") and not laid.names and not np.isin(y, (0.0, 1.0)).all():
        row = int((~np.isin(y, (0.0, 1.0))).argmax())
        rows.append((row, f"the outcome, column {outcome!r}, must be 0 or 1, got {y[row]:g}"))
    if rows:
        raise laid.at(*min(rows))


def _contest(blender: Blender, laid: Laid, own: Vector) -> tuple[Contest, int]:
    engine, loss = blender.engine, blender.loss_name
    width = laid.given.shape[2]
    bare = Contest(
        blender.method,
        engine.rule,
        engine.rounds,
        engine.experts,
        loss,
        blender.range,
        True,
        Interval.of(0.0),
        Interval.of(0.0),
        engine.gap,
        blender.announced,
        blender.rate if blender.method == "hedge" else None,
    )
    best, regret = regret_of_best(loss, own, laid.given, laid.outcomes, engine.totals, bare.below)
    contest = replace(bare, loss=own_total(loss, own, engine.experts, bare.below, width), regret=regret)
    if blender.switches is None:
        return contest, best
    columns = [losses.values(loss, laid.given[:, i], laid.outcomes) for i in np.arange(engine.experts)]
    filled = np.where(np.isnan(laid.given[:, :, 0]), own[:, None], np.column_stack(columns))
    # a probability of 0 may have cost an infinity; 1e300 is avoided just as well, and can be added
    found = best_switching(np.minimum(filled, 1e300), blender.switches)
    return replace(contest, switching=found, switching_regret=contest.loss - found.loss), best
