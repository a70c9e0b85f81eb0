"""A selection in a receipt, checked: the candidates once more, one vector product each, and the bounds by other means.

Neither the counting nor the limits of this package are asked: errors of the chosen predictor are enclosed in twice the
precision, limits come from SciPy's beta quantiles and root finder, and for short tails from exact rationals.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret.errors import ReceiptError
from noregret.learner import LEARNERS
from noregret.learner.core import Core
from noregret.proof.enclose import margins
from noregret.proof.facts.gradients import roundings
from noregret.proof.receipt import Vector
from noregret.proof.replay import Replayed
from noregret.proof.verification import Verification, real
from noregret.rounds import Rounds
from noregret.run import played_once, rows_weigh_one
from noregret.stream.block import Dense, Rows, Sparse

KEYS = {"how", "confidence", "rounds", "candidates", "every_round", "round", "tail", "errors", "empirical", "mistakes"}
ABOVE = ("losses", "reach")  # values that are claimed from above; the others are counts
CERTIFICATE = {"theorem", "source", "bound", "observed", "verdict", "assumptions", "values", "points"}
IID, ONCE = "the rows are independent draws from one source (i.i.d.)", "every row was played once"
UNIT = "every row weighs 1"
FIXED, EVERY = "the number of candidates was fixed beforehand", "every round is a candidate"
BOUNDED = "a convex surrogate of the 0/1 loss, bounded beforehand: unit-norm rows, weights in a ball"
SURE = (
    1.0 + 1e-10
)  # the formulas here are evaluated in floats: a claim must be above them by as much as they may be off
CLAIMED = 1.0 + 1e-9  # and a claim is put above them by this
SHORT = 300  # draws for which a binomial tail is summed in rationals


@dataclass
class Again:
    """What the candidates did this time: errors on the rounds from their start on, own errors, weights."""

    begins: NDArray[np.int64]
    errors: list[int]
    own: int
    losses: float
    weights: Vector | None  # of the round that was asked for
    mistakes: int


def claimed(selection: dict[str, Any]) -> dict[str, Any]:
    """A selection as a receipt claims it: bounds, and the losses they are made from, a little higher."""
    made = []
    for part in selection["certificates"]:
        values = {key: value * CLAIMED if key == "losses" else value for key, value in part["values"].items()}
        bound = part["bound"] if part["bound"] is None else part["bound"] * CLAIMED
        verdict = "vacuous" if bound is not None and bound >= 1.0 else part["verdict"]
        made.append({**part, "values": values, "bound": bound, "verdict": verdict})
    return {**selection, "certificates": made}


def check_selection(done: Verification, said: dict[str, Any], core: Core, played: Replayed) -> None:
    """Every number of the selection; the first that does not stand is named."""
    done.true("the selection: what is said of it", set(said) == KEYS | {"certificates"})
    T, K, how = len(played.rounds), said["candidates"], said["how"]
    done.true("the selection: how", how in THEOREMS_OF and core.labels is not None)
    done.true("the selection: the rows are not rescaled", core.settings.get("scale") is None)
    confidence = said["confidence"]
    done.true("the selection: the confidence", type(confidence) is float and 0.0 < confidence < 1.0)
    done.same("the selection: the rounds", said["rounds"], T)
    done.true("the selection: the number of candidates", type(K) is int and 1 <= K <= T)
    done.same("the selection: every round is a candidate", said["every_round"], K == T)
    begins = np.array([k * T // K for k in range(K)], dtype=np.int64)
    again = _again(core, played.rounds, begins, said)
    done.same("the selection: mistakes of the run", said["mistakes"], again.mistakes)
    _check_chosen(done, said, played.rounds, again)
    names = [part["theorem"] for part in said["certificates"]]
    done.same("the selection: its theorems", names, list(THEOREMS_OF[how]))
    for part in said["certificates"]:
        _check_certificate(done, part, said, core, played, again)


def _check_chosen(done: Verification, said: dict[str, Any], rounds: Rounds, again: Again) -> None:
    """The round has the least penalised risk, and errors as many as it is said to have."""
    if said["how"] != "penalised":
        told = [said[key] for key in ("round", "tail", "errors", "empirical")]
        done.same("the selection: no round is chosen", told, [None] * 4)
        return
    at = said["round"] - 1
    places = np.flatnonzero(again.begins == at)
    done.true("the selection: the chosen round is that of a candidate", type(said["round"]) is int and len(places) == 1)
    K, n = len(again.begins), len(rounds) - again.begins
    errors = np.array(again.errors, dtype=float)
    risks = errors / n + np.sqrt(arithmetic.log(K * (K + 1.0) / (1.0 - said["confidence"])) / (2.0 * n))
    done.true("the selection: its penalised risk is the least", bool(risks[places[0]] <= risks.min() + 1e-12))
    done.same("the selection: the rounds not seen", said["tail"], int(n[places[0]]))
    done.same("the selection: errors on the rounds not seen", said["errors"], again.errors[int(places[0])])
    assert again.weights is not None
    lo, hi = margins(rounds.part(at, len(rounds)), again.weights)
    y = rounds.y[at:]
    surely = int(np.count_nonzero(np.where(y > 0.0, hi, -lo) <= 0.0))
    done.true("the selection: no error is left out, in twice the precision", said["errors"] >= surely)
    done.same("the selection: the error on the rounds not seen", said["empirical"], said["errors"] / said["tail"])


def _check_certificate(
    done: Verification, part: dict[str, Any], said: dict[str, Any], core: Core, played: Replayed, again: Again
) -> None:
    name = part["theorem"]
    done.true(f"{name}: what is said of it", set(part) == CERTIFICATE)
    unit = rows_weigh_one(core.segments, played.rounds.weights)
    needs = {IID: None, ONCE: played_once(core.segments), UNIT: unit, **_needs(name, said, core, played)}
    stated = [{"statement": one, "checked": holds is not None, "holds": holds} for one, holds in needs.items()]
    done.same(f"{name}: its assumptions", part["assumptions"], stated)
    if False in needs.values():
        unclaimed = [part[key] for key in ("verdict", "bound", "observed", "values", "points")]
        done.same(f"{name}: the verdict", unclaimed, ["unmet", None, None, {}, []])
        return
    values = {
        "confidence": said["confidence"],
        "rounds": float(said["rounds"]),
        **_values(name, said, core, played, again),
    }
    done.true(f"{name}: its values are those of the theorem", set(part["values"]) == set(values))
    for key, value in values.items():
        if key in ABOVE:
            done.at_most(f"{name}: {key}", part["values"][key], value)
        else:
            done.same(f"{name}: {key}", part["values"][key], float(value))
    bound = real(part["bound"])
    done.at_most(f"{name}: the bound", bound, min(_bound(name, values, core) * SURE, 1.0))
    if name == "risk-binomial" and said["tail"] <= SHORT and bound < 1.0:
        level = (1 - Fraction(said["confidence"])) / said["candidates"]
        below = tail_probability(said["errors"], said["tail"], Fraction(bound)) <= level
        done.true(f"{name}: the bound, in rationals", below)
    done.same(f"{name}: nothing is observed", [part["observed"], part["points"]], [None, []])
    done.same(f"{name}: the verdict", part["verdict"], "vacuous" if bound >= 1.0 else "holds")


def _needs(name: str, said: dict[str, Any], core: Core, played: Replayed) -> dict[str, bool | None]:
    """What the theorem needs beside independent rows, each played once."""
    T = said["rounds"]
    usual = min(T, 256) if said["how"] == "voted" or T > 4096 else T
    fixed = {FIXED: True if said["candidates"] == usual else None}
    if name == "risk-gibbs":
        return {}
    if name == "risk-printed":
        return {**fixed, EVERY: said["every_round"]}
    return {**fixed, BOUNDED: _reach(core, played.rounds) is not None} if name == "risk-average" else fixed


def _values(name: str, said: dict[str, Any], core: Core, played: Replayed, again: Again) -> dict[str, float]:
    if name in ("risk-binomial", "risk-kl", "risk-hoeffding"):
        return {key: float(said[key]) for key in ("errors", "tail", "candidates")}
    if name == "risk-average":
        reach = _reach(core, played.rounds)
        assert reach is not None
        return {"losses": again.losses * SURE, "reach": reach}
    counted = again.mistakes if name == "risk-gibbs" else again.own
    return {"errors" if name == "risk-voted" else "mistakes": float(counted)}


def _bound(name: str, v: dict[str, float], core: Core) -> float:
    """Each bound from its formula."""
    T, delta = v["rounds"], 1.0 - v["confidence"]
    drawn = math.sqrt(-arithmetic.log(delta) / (2.0 * T))
    formulas: dict[str, Callable[[], float]] = {
        "risk-binomial": lambda: _clopper_pearson(v["errors"], v["tail"], delta / v["candidates"]),
        "risk-kl": lambda: _chernoff(v["errors"] / v["tail"], arithmetic.log(v["candidates"] / delta) / v["tail"]),
        "risk-hoeffding": lambda: (
            v["errors"] / v["tail"] + math.sqrt(arithmetic.log(v["candidates"] / delta) / (2.0 * v["tail"]))
        ),
        "risk-printed": lambda: v["mistakes"] / T + 6.0 * math.sqrt(arithmetic.log(2.0 * (T + 1.0) / delta) / T),
        "risk-gibbs": lambda: v["mistakes"] / T + drawn,
        "risk-voted": lambda: 2.0 * (v["errors"] / T + drawn),
        "risk-average": lambda: (v["losses"] / T + core.loss(-v["reach"], 1.0) * drawn) / core.loss.at_zero,
    }
    return formulas[name]()


def _clopper_pearson(errors: float, draws: float, level: float) -> float:
    from scipy.stats import beta

    return 1.0 if errors == draws else float(beta.isf(level, errors + 1.0, draws - errors))


def _chernoff(q: float, most: float) -> float:
    from scipy.optimize import brentq
    from scipy.special import rel_entr

    def above(p: float) -> float:
        return float(rel_entr(q, p) + rel_entr(1.0 - q, 1.0 - p) - most)

    end = 1.0 - 2.0**-53
    return 1.0 if q == 1.0 or above(end) <= 0.0 else float(brentq(above, q, end, xtol=1e-15, rtol=1e-14))


def tail_probability(errors: int, draws: int, p: Fraction) -> Fraction:
    """P(Bin(n, p) ≤ k), exactly."""
    a, b = p.numerator, p.denominator
    total = sum(math.comb(draws, j) * a**j * (b - a) ** (draws - j) for j in range(errors + 1))
    return Fraction(total, b**draws)


# -- the candidates ----------------------------------------------------------------------------------------------------


def _again(core: Core, rounds: Rounds, begins: NDArray[np.int64], said: dict[str, Any]) -> Again:
    """Play the prepared rows again and stop before every candidate's round."""
    T, whole, wanted = len(rounds), said["how"] == "penalised", said["round"]
    bounded = said["how"] == "average" and _reach(core, rounds) is not None
    twin = LEARNERS[core.name](**{**core.settings, "unit_norm": False, "scale": None})
    twin.grow(rounds.width - int(rounds.bias), sparse=isinstance(rounds.rows, Sparse))
    found = Again(begins, [], 0, 0.0, None, 0)
    lengths = _lengths(rounds)
    w, wrong, since = None, np.zeros(0, bool), 0
    for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), T], strict=True):
        now = np.concatenate([[twin.bias] if rounds.bias else [], twin.weights])[: rounds.width]
        if said["how"] != "last" and (w is None or not np.array_equal(now, w) or not whole):
            w, since = now, begin
            scores = _product(rounds.part(begin, T if whole else end), w)
            limit = _rounding(rounds) * arithmetic.norm(w) * lengths[begin : T if whole else end]
            wrong = ~(rounds.y[begin : T if whole else end] * scores > limit)
            if bounded:
                found.losses += math.fsum(core.loss.values(scores, rounds.y[begin:end]))
        found.errors.append(int(np.count_nonzero(wrong[begin - since :])))
        found.own += int(np.count_nonzero(wrong[begin - since : end - since]))
        if wanted == begin + 1:
            found.weights = now
        part = rounds.part(begin, end)
        played = twin.play(_bare(part), np.ascontiguousarray(part.y), part.weights)
        found.mistakes += int(np.count_nonzero(~(part.y * played > 0.0)))
    if whole and found.weights is None:
        raise ReceiptError("the selection: the chosen round is that of a candidate: this does not hold", failed=True)
    return found


def _bare(rounds: Rounds) -> Rows:
    """Rows without the constant in front."""
    rows = rounds.rows
    if not rounds.bias:
        return rows
    if isinstance(rows, Dense):
        return Dense(rows.X[:, 1:].copy())
    firsts = rows.indptr[:-1]
    indptr = rows.indptr - np.arange(len(rows.indptr))
    return Sparse(
        indptr, np.delete(rows.indices, firsts) - np.uint32(1), np.delete(rows.values, firsts), rows.width - 1
    )


def _product(rounds: Rounds, w: Vector) -> Vector:
    rows = rounds.rows
    if isinstance(rows, Dense):
        return arithmetic.row_totals(rows.X * w)
    row = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))
    return np.asarray(np.bincount(row, rows.values * w[rows.indices], minlength=len(rows)))


def _lengths(rounds: Rounds) -> Vector:
    rows = rounds.rows
    if isinstance(rows, Dense):
        return np.sqrt(arithmetic.row_totals(np.square(rows.X, dtype=np.float64)))
    row = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))
    return np.sqrt(np.bincount(row, rows.values**2, minlength=len(rows)))


def _rounding(rounds: Rounds) -> float:
    """What another order of summation may move a score by, twice over, as a share of ‖w‖‖x‖."""
    rows = rounds.rows
    terms = rows.width if isinstance(rows, Dense) else int(np.diff(rows.indptr).max(initial=0))
    unit = (terms + 8.0) * 2.0**-53
    return 2.0 * unit / (1.0 - unit) * (1.0 + 1e-9) if unit < 0.5 else math.inf


def _reach(core: Core, rounds: Rounds) -> float | None:
    """The largest |score| that any row can have, where that is known beforehand."""
    if core.loss.name not in ("hinge", "squared-hinge", "logistic") or not core.settings.get("unit_norm"):
        return None
    longest, sigma = math.sqrt(2.0) if rounds.bias else 1.0, float(core.config["sigma"][0])
    radii = [core.domain.radius] if core.domain.shape == "ball" else []
    if sigma and rounds.weights is None and radii:
        radii.append(core.loss.lipschitz * longest / sigma)
    if not radii or math.isinf(min(radii)):
        return None
    return min(radii) * longest * (1.0 + 1e-9 + roundings(rounds))


THEOREMS_OF = {
    "penalised": ("risk-binomial", "risk-kl", "risk-hoeffding", "risk-printed", "risk-gibbs"),
    "last": ("risk-gibbs",),
    "average": ("risk-gibbs", "risk-average"),
    "voted": ("risk-gibbs", "risk-voted"),
}
