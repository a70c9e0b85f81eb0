"""The checks of a blend's receipt: what it says against what comes out again."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from noregret.errors import InputError, NoregretError, ReceiptError
from noregret.experts.forecasts import Laid, digest_of, lay_out, with_last_value
from noregret.interval import Interval, largest
from noregret.proof.blend.bounds import check_certificates
from noregret.proof.blend.mean import check_mean
from noregret.proof.blend.reading import in_range, names_of, sound
from noregret.proof.blend.replay import Replay, least_switching, replayed
from noregret.proof.blend.spread import about, spare
from noregret.proof.receipt import kind_of, unpacked
from noregret.proof.verification import Verification


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
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise ReceiptError(f"the receipt is damaged ({type(error).__name__}: {error})", failed=True) from error
    return done


def _check(done: Verification, said: dict[str, Any], table: Any) -> None:
    reading = said["reading"]
    done.true("the table is read, and blended, in a way that there is", sound(reading))
    laid = lay_out(table, reading["outcome"], reading["experts"], reading["loss"])
    if reading["last_value"]:
        laid = with_last_value(laid)
    known = {
        "kind",
        "version",
        "arithmetic",
        "reading",
        "outcomes",
        "digest",
        "rounds",
        "loss",
        "experts",
        "best",
        "regret",
    }
    known |= {"bound", "mean", "switching", "certificates", "points"}
    done.true("the receipt holds what a blend's receipt holds", set(said) == known)
    done.same("the digest of the table", said["digest"], digest_of(laid, reading))
    done.same("the outcomes", said["outcomes"], list(laid.names))
    done.same("the rounds", said["rounds"], len(laid.given))
    done.true("everything lies in its range", in_range(laid, reading))
    again = replayed(laid, reading)
    _check_points(done, said["points"], reading, again)
    off = spare(reading, len(laid.given))
    done.contains("the loss", said["loss"], about(again.total, off))
    regret = _check_experts(done, said, laid, again, off)
    sequence = _check_switching(done, said, again, off)
    mean = check_mean(done, said, laid, again, off)
    check_certificates(done, said, laid, again, regret if mean is None else mean, sequence)


def _check_points(done: Verification, points: dict[str, str], reading: Mapping[str, Any], again: Replay) -> None:
    """Every loss, forecast and last weight, to the last bit."""
    one = {"forecasts": "forecast", "losses": "loss", "weights": "weight"}
    found = {"losses": again.own, "forecasts": again.forecasts.reshape(-1), "weights": again.weights}
    if reading["method"] == "gradient":  # what the rounds after it were made from comes first: it is what was changed
        found = {name: found[name] for name in ("forecasts", "losses", "weights")}
    more = {"mean", "slopes"} if reading["method"] == "gradient" else set()
    done.true("the vectors of the receipt are those of its method", set(points) == {*found, *more})
    for name, vector in found.items():
        claimed = unpacked(points[name])
        there = claimed.shape == vector.shape
        wrong = claimed.view(np.int64) != np.ascontiguousarray(vector).view(np.int64) if there else np.ones(1, bool)
        row = int(wrong.argmax())
        if wrong.any() and there:
            what = f"{one[name]} {row + 1}"
            done.same(what, float(claimed[row]), float(vector[row]))
        done.true(f"every one of the {name}", not wrong.any())


def _check_experts(done: Verification, said: dict[str, Any], laid: Laid, again: Replay, off: float) -> Interval:
    """What each expert lost while awake, and the regret against it; the best is the one against whom it is most."""
    names = names_of(said["reading"])
    awake = ~np.isnan(laid.given[:, :, 0])
    done.same("the experts", [one["expert"] for one in said["experts"]], names)
    costs, regrets = [], []
    for i, one in enumerate(said["experts"]):
        done.true(f"the figures of {names[i]}", set(one) == {"expert", "awake", "loss", "regret", "weight"})
        there = awake[:, i]
        costs.append(about(math.fsum(again.costs[there, i]), off))
        regrets.append(about(_regret(again, there, i), 2.0 * off))
        done.same(f"the rounds of {names[i]}", one["awake"], int(there.sum()))
        done.contains(f"the loss of {names[i]}", one["loss"], costs[-1])
        done.contains(f"the regret against {names[i]}", one["regret"], regrets[-1])
        done.contains(f"the last weight of {names[i]}", one["weight"], Interval.of(float(again.weights[i])))
    most = largest(*regrets)
    best = names.index(said["best"]["expert"])
    done.true("the figures of the best expert", set(said["best"]) == {"expert", "loss"})
    done.true("no regret is larger than the one against the best expert", regrets[best].hi >= most.lo)
    done.contains("the loss of the best expert", said["best"]["loss"], costs[best])
    done.contains("the regret", said["regret"], most)
    return most


def _regret(again: Replay, there: Any, i: int) -> float:
    """What the blend lost more than an expert, while that one was awake."""
    return math.fsum(np.concatenate([again.own[there], -again.costs[there, i]]))


def _check_switching(done: Verification, said: dict[str, Any], again: Replay, off: float) -> Interval | None:
    """The best sequence loses no more than the one claimed, and none with as few changes loses less than is claimed."""
    found, asked = said["switching"], said["reading"]["switches"]
    if found is None or asked is None:
        done.true("a best sequence is claimed just where one was asked for", found is None and asked is None)
        return None
    done.true("what is said of the best sequence", set(found) == {"switches", "loss", "regret", "parts"})
    done.same("the switches asked for", found["switches"], asked)
    names, parts = names_of(said["reading"]), found["parts"]
    firsts, lasts = [part[0] for part in parts], [part[1] for part in parts]
    whole = all(type(end) is int and end >= 1 for end in (*firsts, *lasts))
    joined = (
        whole
        and all(a <= b for a, b in zip(firsts, lasts, strict=True))
        and firsts == [1, *(last + 1 for last in lasts[:-1])]
        and lasts[-1] == len(again.own)
    )
    done.true("the best sequence runs from the first round to the last", joined)
    done.true(f"the best sequence changes at most {asked} times", len(parts) <= asked + 1)
    taken = [again.costs[a - 1 : b, names.index(who)] for a, b, who in parts]
    least, most = least_switching(again.costs, asked), math.fsum(np.concatenate(taken))
    best = Interval(about(least, off).lo, about(max(least, most), off).hi)
    done.contains("the loss of the best sequence", found["loss"], best)
    regret = about(again.total, off) - best
    done.contains("the regret against the best sequence", found["regret"], regret)
    return regret
