"""The receipt of a blend, and a verifier that recomputes every number of it from the table.

The verifier reads the table and plays every round again with the library's own loop, as that of a run does: forecasts,
losses and weights must be the same to the last bit. Losses, regret, the best sequence and the best mean are then facts
of its own, which are rounded outward, and the theorems of the method are evaluated on them. A claim stands where it
contains what comes out; the first that does not is named.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret.errors import InputError, NoregretError, ReceiptError
from noregret.experts.blender import Blender
from noregret.experts.contest import Contest
from noregret.experts.forecasts import ExpertTable, digest_of, read_expert_table, with_last_value
from noregret.experts.loss import JUDGES, Averaged
from noregret.interval import Interval
from noregret.proof.claims import check_certificates, claimed
from noregret.proof.receipt import body_of, decoded, head, kind_of, packed, plain, unpacked, write
from noregret.proof.theorems.experts import spoken
from noregret.proof.verification import Verification

Vector = NDArray[np.float64]
SAID = {"reading", "outcomes", "digest", "rounds", "loss", "experts", "best", "regret", "bound", "mean", "switching"}
SAID |= {*head("blend"), "certificates", "points"}
ONE = {"forecasts": "forecast", "losses": "loss", "weights": "weight"}
MEAN = ("mean", "slopes")  # the points that prove the loss of the best mean


@dataclass(frozen=True)
class BlendReceipt:
    """What a blend claims, as JSON takes it; `points` holds the forecasts, losses and last weights."""

    body: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return self.body

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the receipt; the file appears whole or not at all."""
        write(path, self.body)


def load_blend(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The body of a receipt file, its checksum checked."""
    return body_of(decoded(path), "blend", os.fspath(path))


# -- what is claimed ---------------------------------------------------------------------------------------------------


def reading_of(blender: Blender, outcome: str | None) -> dict[str, Any]:
    """How a table was read and blended."""
    return {
        "outcome": outcome,
        "experts": blender.experts[:-1] if blender.last_value else blender.experts,
        "loss": blender.judged_by.name,
        "range": list(blender.range) if blender.judged_by.ranged else None,
        "method": blender.method,
        "rate": blender.rate_name,
        "switches": blender.switches,
        "last_value": blender.last_value,
    }


def receipt_of(
    names: list[str], data: ExpertTable, reading: dict[str, Any], contest: Contest, last: Vector
) -> BlendReceipt:
    """The receipt of a blend that ended with these weights."""
    certificates = [claimed(one, contest) for one in spoken(contest)]
    points = {**_replayed(contest, last), **dict(zip(MEAN, contest.mean or (), strict=False))}
    return BlendReceipt(
        {
            **head("blend"),
            "reading": reading,
            "outcomes": list(data.names),
            "digest": digest_of(data, reading),
            "rounds": contest.rounds,
            **_written(_figures(names, contest, last)),
            "bound": _bound(certificates),
            "certificates": certificates,
            "points": {name: packed(vector) for name, vector in points.items()},
        }
    )


def _replayed(contest: Contest, last: Vector) -> dict[str, Vector]:
    """What must come out again to the last bit."""
    return {"forecasts": contest.forecasts.reshape(-1), "losses": contest.own, "weights": last}


def _figures(names: list[str], contest: Contest, last: Vector) -> dict[str, Any]:
    """What is said of losses and regret, each number exact or between two ends."""
    rows = [
        {
            "expert": name,
            "awake": int(np.count_nonzero(contest.awake[:, i])),
            "loss": contest.loss_of(i),
            "regret": contest.regret_against(i),
            "weight": Interval.of(float(last[i])),
        }
        for i, name in enumerate(names)
    ]
    best, mean, path = rows[contest.best], contest.mean_loss, contest.switching
    return {
        "loss": contest.loss,
        "experts": rows,
        "best": {"expert": best["expert"], "loss": best["loss"]},
        "regret": contest.regret,
        "mean": None if mean is None else {"loss": mean, "regret": contest.mean_regret},
        "switching": None
        if path is None
        else {
            "switches": path.switches,
            "loss": contest.switching_loss,
            "regret": contest.switching_regret,
            "parts": [[first, last, names[who]] for first, last, who in path.stretches],
        },
    }


def _written(found: Any) -> Any:
    """As JSON takes it."""
    if isinstance(found, Interval):
        return {"lower": plain(found.lo), "upper": plain(found.hi)}
    if isinstance(found, dict):
        return {name: _written(one) for name, one in found.items()}
    return [_written(one) for one in found] if isinstance(found, list) else found


def _bound(certificates: list[dict[str, Any]]) -> Any:
    """The least bound on the regret: that against a sequence is another one."""
    bounds = [one["bound"] for one in certificates if one["bound"] is not None and one["theorem"] != "fixed-share"]
    return min(bounds, key=float, default=None)


# -- how it is judged --------------------------------------------------------------------------------------------------


def verify_blend(body: Mapping[str, Any], table: Any) -> Verification:
    """Recompute every number of a blend's receipt from its table; the first that does not stand is an error."""
    said = dict(body)
    if isinstance(table, str | os.PathLike) and not Path(table).exists():
        raise InputError("there is no such file", os.fspath(table))
    kind_of(said)
    done = Verification()
    try:
        _check(done, said, table)
    except ReceiptError:
        raise
    except NoregretError as error:
        raise ReceiptError(f"the blend cannot be replayed: {error}", failed=True) from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        raise ReceiptError(f"the receipt is damaged ({type(error).__name__}: {error})", failed=True) from error
    return done


def _check(done: Verification, said: dict[str, Any], table: Any) -> None:
    reading = said["reading"]
    data = read_expert_table(table, reading["outcome"], reading["experts"], JUDGES[reading["loss"]])
    blender = _blender(done, reading, data)
    done.true("the receipt holds what a blend's receipt holds", set(said) == SAID)
    if blender.last_value:
        data = with_last_value(data)
    done.same("the digest of the table", said["digest"], digest_of(data, reading))
    done.same("the outcomes", said["outcomes"], list(data.names))
    done.same("the rounds", said["rounds"], len(data.values))
    played = blender.engine.play(data.values, data.outcomes)
    done.true("in every round some expert left gave the outcome a chance", played.rounds == len(data.values))
    contest, last = blender.contest(data, played), blender.engine.weights()
    done.true("everything lies in its range", contest.inside)
    _check_points(done, said["points"], _replayed(contest, last), contest.against_mean)
    if contest.against_mean:
        contest = replace(contest, mean=_mean(done, said["points"], contest))
    _check_figures(done, said, _figures(blender.experts, contest, last))
    check_certificates(done, said["certificates"], spoken(contest), contest)
    done.same("the bound", said["bound"], _bound(said["certificates"]))


def _blender(done: Verification, reading: dict[str, Any], data: ExpertTable) -> Blender:
    """The blend that is to be replayed: one that could be asked for, and said as it is said."""
    found = Blender(
        reading["experts"],
        loss=reading["loss"],
        range=reading["range"],
        outcomes=list(data.names) or None,
        method=reading["method"],
        last_value=reading["last_value"],
        rounds=len(data.values),
        switches=reading["switches"],
        rate=reading["rate"] or "two",
    )
    names = [*found.experts, reading["outcome"]]
    there = (reading["outcome"] is None) == (found.judged_by.costs) and len(names) == len(set(names))
    sound = there and reading == reading_of(found, reading["outcome"])
    done.true("the table is read and blended with settings that exist", sound)
    return found


def _check_points(done: Verification, points: dict[str, str], found: dict[str, Vector], mean: bool) -> None:
    """Every forecast, loss and last weight, to the last bit."""
    known = {*found, *(MEAN if mean else ())}
    done.true("the vectors of the receipt are those of its method", set(points) == known)
    for name, vector in found.items():
        said = unpacked(points[name])
        size = min(len(said), len(vector))
        wrong = np.flatnonzero(said[:size].view(np.int64) != np.ascontiguousarray(vector[:size]).view(np.int64))
        for place in wrong[:1].tolist():
            done.same(f"{ONE[name]} {place + 1}", float(said[place]), float(vector[place]))
        done.true(f"every one of the {name}", len(said) == len(vector) and not len(wrong))


def _mean(done: Verification, points: dict[str, str], contest: Contest) -> tuple[Vector, Vector]:
    """Weights of a mean, and slopes that prove what any mean loses: whatever they are, they prove something."""
    weights, slopes = (unpacked(points[name]) for name in MEAN)
    there = weights.shape == (contest.experts,) and bool((weights >= 0.0).all())
    there = there and 0.0 < arithmetic.total(weights) < math.inf
    done.true("the weights of the best mean are those of a mean", there)
    within = slopes.shape == (contest.rounds,) and bool(np.isfinite(slopes).all())
    assert isinstance(contest.judged_by, Averaged)
    within = within and bool((np.abs(slopes) <= contest.judged_by.steepest).all())
    done.true("the slopes that prove the best mean's loss are slopes of the loss", within)
    return weights, slopes


POSSESSIVE = {"expert": "the name of", "awake": "the waking rounds of", "weight": "the last weight of"}
POSSESSIVE |= {"regret": "the regret against"}
OF = {"best": "the best expert", "mean": "the best mean", "switching": "the best sequence"}


def _check_figures(done: Verification, said: Any, found: dict[str, Any], whose: str = "") -> None:
    """Words and counts are what they are, the others lie between two ends."""
    if whose:
        done.true(f"what is said of {whose}", isinstance(said, Mapping) and set(said) == set(found))
    for key, value in found.items():
        what = f"the {key}" if not whose else f"{POSSESSIVE.get(key, f'the {key} of')} {whose}"
        if isinstance(value, Interval):
            done.contains(what, said[key], value)
        elif value is None:
            done.true(f"{OF[key]} is claimed just where one is competed with", said[key] is None)
        elif isinstance(value, dict):
            _check_figures(done, said[key], value, OF[key])
        elif key == "experts":
            done.same(what, [one["expert"] for one in said[key]], [one["expert"] for one in value])
            for one, again in zip(said[key], value, strict=True):
                _check_figures(done, one, again, again["expert"])
        else:
            done.same(what, said[key], value)
