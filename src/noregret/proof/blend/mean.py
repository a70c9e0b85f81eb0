"""The best fixed mean of a blend's experts: its loss between what weights lose and what slopes prove, evaluated again.

A sleeper says what the blend said. For weights w ≥ 0, Σw = 1 the loss F(w) = Σ ℓ(⟨w, x_t⟩, y_t) is an upper end of the
best; for slopes α the number −Σ ℓ*(α_t) + min_i Σ α_t·x_{t,i} is a lower one, ℓ* being αy + α²/4 for the squared loss
and αy with abs(α) ≤ 1 for the absolute one. Both are rounded outward, and what is claimed must contain them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret.experts.forecasts import Laid
from noregret.interval import Interval
from noregret.proof.blend.replay import Replay
from noregret.proof.blend.spread import about
from noregret.proof.receipt import unpacked
from noregret.proof.verification import Verification

Vector = NDArray[np.float64]
ULP = 2.0**-52


def check_mean(done: Verification, said: dict[str, Any], laid: Laid, again: Replay, off: float) -> Interval | None:
    """The loss of the best mean, and the regret against it; None where the blend does not compete with it."""
    claimed, reading, points = said["mean"], said["reading"], said["points"]
    if reading["method"] != "gradient":
        done.true("a best mean is claimed just where the blend competes with it", claimed is None)
        return None
    forecasts, w, alpha = (unpacked(points[name]) for name in ("forecasts", "mean", "slopes"))
    done.true("the best mean has its loss and the regret", set(claimed) == {"loss", "regret"})
    x = np.where(np.isnan(laid.given[:, :, 0]), forecasts[:, None], laid.given[:, :, 0])
    there = w.shape == (x.shape[1],) and bool((w >= 0.0).all()) and abs(math.fsum(w) - 1.0) <= 1e-9
    done.true("the weights of the best mean are those of a mean", there)
    within = alpha.shape == laid.outcomes.shape and bool(np.isfinite(alpha).all())
    within = within and (reading["loss"] != "absolute" or bool((np.abs(alpha) <= 1.0).all()))
    done.true("the slopes that prove the best mean's loss are slopes of the loss", within)
    squared = reading["loss"] == "squared"
    best = Interval(max(_proved(x, laid.outcomes, alpha, squared), 0.0), _lost(x, laid.outcomes, w, squared))
    done.contains("the loss of the best mean", claimed["loss"], best)
    regret = Interval.of(0.0) if x.shape[1] == 1 else about(again.total, off) - best
    done.contains("the regret against the best mean", claimed["regret"], regret)
    return regret


def _lost(x: NDArray[np.float64], y: Vector, w: Vector, squared: bool) -> float:
    """An upper end of what the mean with weights w/Σw loses."""
    w = w / math.fsum(w)
    z = arithmetic.row_totals(x * w)
    missed = np.abs(z - y) + (len(w) + 4.0) * 2.0 * ULP * (arithmetic.row_totals(np.abs(x) * w) + np.abs(y))
    terms = missed * missed if squared else missed
    return math.nextafter(math.fsum(terms * (1.0 + 4.0 * ULP)), math.inf)


def _proved(x: NDArray[np.float64], y: Vector, alpha: Vector, squared: bool) -> float:
    """A lower end of what the slopes prove of every mean."""
    own = -alpha * y - (0.25 * alpha * alpha if squared else 0.0)
    off = 4.0 * ULP * (np.abs(alpha * y) + alpha * alpha) + 1e-300
    ends = []
    for i in range(x.shape[1]):
        terms = alpha * x[:, i]
        ends.append(math.fsum(np.concatenate([own - off, terms - ULP * np.abs(terms) - 1e-300])))
    return math.nextafter(min(ends), -math.inf)
