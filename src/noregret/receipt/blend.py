"""The receipt of a blend: the table as it is read, and a verifier that recomputes every number from it.

The verifier is plain code of its own: it knows neither the learners of `experts` nor the theorems of this package. It
reads the table, replays every round from the definitions with losses summed to more figures than a float has, and
compares: forecasts, losses, the best expert, regret, the best sequence, bounds and verdicts. The first number that is
not what comes out again is named. Bounds are enclosed with outward rounding.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from noregret.atomic import whole_file
from noregret.errors import InputError, NoregretError, ReceiptError, SettingError
from noregret.interval import Interval
from noregret.receipt.check import Verification
from noregret.receipt.form import VERSION, checksum, decoded, is_blend, unpacked
from noregret.stream.base import Stream
from noregret.stream.block import Dense
from noregret.stream.features import Features
from noregret.stream.hashing import written
from noregret.stream.numbers import is_missing
from noregret.stream.opening import Input
from noregret.stream.read import read

Vector = NDArray[np.float64]
Cube = NDArray[np.float64]
NOBODY = "\0"  # the name of no column
CLOSE = 1e-11  # what a replay may differ by: sums in another order, weights to other last figures


# -- the table ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Laid:
    """A table laid out for a blend: given[t, i, k], the outcomes (words as their numbers), their names, the lines."""

    given: Cube
    outcomes: Vector
    names: tuple[str, ...]  # of the outcomes, where these are words or several
    lines: NDArray[np.int64]
    source: str

    def at(self, row: int, sentence: str) -> InputError:
        return InputError(sentence, self.source, int(self.lines[row]))


def lay_out(table: Any, outcome: str | None, experts: Sequence[str], loss: str) -> Laid:
    """Read what a blend needs of a table: a file, a frame, a mapping of columns, or (forecasts, outcomes) as arrays."""
    if isinstance(table, tuple):
        return _from_arrays(table, experts)
    if isinstance(table, Mapping):
        import pyarrow

        table = pyarrow.table(dict(table))
    if isinstance(table, str | os.PathLike) and not Input(os.fspath(table)).rereadable:
        raise InputError("a table is read more than once: give a file", str(table))
    if loss == "zero-one":
        assert outcome is not None
        return _labels(table, outcome, experts)
    wanted = [*experts, *([] if outcome is None else [outcome])]
    if loss in ("log", "brier") and (several := _several(table, outcome, experts)) is not None:
        return several
    matrix, lines, source = _numbers(table, wanted)
    given = matrix[:, : len(experts), None]
    found = Laid(given, matrix[:, -1] if outcome else np.zeros(len(matrix)), (), lines, source)
    _check_there(found, outcome)
    return found


def _from_arrays(table: tuple[Any, ...], experts: Sequence[str]) -> Laid:
    given = np.asarray(table[0], dtype=np.float64)
    given = given[:, :, None] if given.ndim == 2 else given
    outcomes = np.zeros(len(given)) if len(table) == 1 else np.asarray(table[1], dtype=np.float64)
    if given.ndim != 3 or outcomes.shape != given.shape[:1] or given.shape[1] != len(experts) or not len(given):
        raise SettingError("blend: arrays must be forecasts (rounds × experts [× outcomes]) and one outcome a round")
    found = Laid(given, outcomes, (), np.arange(1, len(given) + 1), "the arrays")
    if given.shape[2] > 1:
        names = tuple(str(k) for k in range(given.shape[2]))
        if not np.isin(outcomes, np.arange(len(names))).all():
            raise SettingError(f"blend: outcomes must be whole numbers from 0 to {len(names) - 1}")
        return _summing_to_one(replace(found, names=names), experts, "outcome")
    _check_there(found, "outcome")
    return found


def _check_there(found: Laid, outcome: str | None) -> None:
    if np.isnan(found.outcomes).any():
        raise found.at(int(np.isnan(found.outcomes).argmax()), f"the outcome, column {outcome!r}, is missing")
    if np.isinf(found.outcomes).any():
        raise found.at(int(np.isinf(found.outcomes).argmax()), f"the outcome, column {outcome!r}, must be finite")
    silent = np.asarray(np.isnan(found.given[:, :, 0])).all(axis=1)
    if silent.any():
        raise found.at(int(silent.argmax()), "no expert says anything: one at least must be awake")


def _opened(table: Any, columns: Sequence[str], label: str) -> Stream:
    """A stream of some columns alone, missing numbers and all."""
    try:
        stream = read(table, label=label, labels=label != NOBODY, features=Features.named(list(columns)), frozen=True)
    except InputError as error:
        said = error.sentence.replace("the model needs a column", "there is no column")
        raise InputError(said, error.source, error.line) from error
    stream.missing = None
    return stream


def _numbers(table: Any, columns: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.int64], str]:
    stream = _opened(table, columns, NOBODY)
    parts, lines = [], []
    try:
        for block in stream.blocks():
            assert isinstance(block.rows, Dense)
            parts.append(block.rows.X.astype(np.float64))
            lines.append(block.lines)
    except InputError as error:
        raise InputError(error.sentence.partition(" (if its values")[0], error.source, error.line) from error
    return np.concatenate(parts), np.concatenate(lines), stream.source


def _words(table: Any, column: str) -> tuple[list[str | None], NDArray[np.int64], str]:
    stream = _opened(table, (), column)
    cells: list[Any] = []
    lines = []
    for block in stream.blocks():
        cells += block.labels.tolist()
        lines.append(block.lines)
    found = [written(cell.strip() if isinstance(cell, str) else cell) for cell in cells]
    return [None if word is None or is_missing(word) else word for word in found], np.concatenate(lines), stream.source


def _outcome_words(table: Any, outcome: str) -> tuple[list[str], NDArray[np.int64], str]:
    found, lines, source = _words(table, outcome)
    for word, line in zip(found, lines.tolist(), strict=True):
        if word is None:
            raise InputError(f"the outcome, column {outcome!r}, is missing", source, line)
    return [word for word in found if word is not None], lines, source


def _labels(table: Any, outcome: str, experts: Sequence[str]) -> Laid:
    """Outcomes and forecasts that are labels, as numbers in the order of their first appearance."""
    truth, lines, source = _outcome_words(table, outcome)
    said = [_words(table, expert)[0] for expert in experts]
    names = list(dict.fromkeys([*truth, *(word for column in said for word in column if word is not None)]))
    code = {name: float(place) for place, name in enumerate(names)}
    given = np.array([[math.nan if word is None else code[word] for word in column] for column in said]).T
    found = Laid(given[:, :, None], np.array([code[word] for word in truth]), tuple(names), lines, source)
    _check_there(found, outcome)
    return found


def _several(table: Any, outcome: str | None, experts: Sequence[str]) -> Laid | None:
    """Probabilities of several outcomes: the columns EXPERT:OUTCOME; None where the first expert has one column."""
    assert outcome is not None
    try:
        looked = read(table, label=outcome)
    except InputError:
        return None
    there = [name for name in looked.features.names if name.startswith(f"{experts[0]}:")]
    if not there or experts[0] in looked.features.index:
        return None
    names = [name.removeprefix(f"{experts[0]}:") for name in there]
    matrix, lines, source = _numbers(table, [f"{expert}:{name}" for expert in experts for name in names])
    truth, _, _ = _outcome_words(table, outcome)
    for word, line in zip(truth, lines.tolist(), strict=True):
        if word not in names:
            raise InputError(f"the outcome {word!r} has no column {experts[0]}:{word}", source, line)
    given = matrix.reshape(len(matrix), len(experts), len(names))
    found = Laid(given, np.array([float(names.index(word)) for word in truth]), tuple(names), lines, source)
    return _summing_to_one(found, experts, outcome)


def _summing_to_one(found: Laid, experts: Sequence[str], outcome: str) -> Laid:
    """Probabilities that sum to 1 but for their last figures are divided by their sum; others are refused."""
    sums = found.given.sum(axis=2)
    wrong = np.abs(sums - 1.0) > 1e-6
    if wrong.any():
        row, i = np.argwhere(wrong)[0].tolist()
        raise found.at(row, f"the probabilities of {experts[i]} must sum to 1, they sum to {sums[row, i]:.6g}")
    found = replace(found, given=found.given / sums[:, :, None])
    _check_there(found, outcome)
    return found


def digest_of(laid: Laid, reading: dict[str, Any]) -> str:
    """SHA-256 of how the table was read and of every number that was taken from it."""
    found = hashlib.sha256(msgspec.json.encode(reading, order="deterministic"))
    found.update(msgspec.json.encode(list(laid.names)))
    for part in (laid.given, laid.outcomes):
        found.update(np.ascontiguousarray(np.where(np.isnan(part), np.nan, part), dtype="<f8").tobytes())
    return found.hexdigest()


# -- the file ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BlendReceipt:
    """What a blend claims, as JSON takes it; `points` holds the forecasts, losses and last weights."""

    body: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return self.body

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the receipt; the file appears whole or not at all."""
        whole = msgspec.json.encode({**self.body, "checksum": checksum(self.body)})
        with whole_file(path) as file:
            file.write(msgspec.json.format(whole, indent=1) + b"\n")


def load_blend(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The body of a receipt file, its checksum still in it."""
    found = decoded(path)
    if not is_blend(found):
        raise ReceiptError("is not the receipt of a blend", os.fspath(path))
    if "checksum" not in found:
        raise ReceiptError("the receipt was damaged or changed: it has no checksum", os.fspath(path), failed=True)
    return dict(found)


def verify_blend(body: Mapping[str, Any], table: Any) -> Verification:
    """Recompute every number of a blend's receipt from its table; the first that does not stand is an error."""
    said = dict(body)
    if isinstance(table, str | os.PathLike) and not Path(table).exists():
        raise InputError("there is no such file", os.fspath(table))
    if type(said.get("receipt")) is not int or said["receipt"] != VERSION:
        what = f"is a receipt of version {said.get('receipt')}, this noregret reads version {VERSION}"
        raise ReceiptError(what, failed=True)
    claimed = said.pop("checksum", None)
    if claimed is not None and claimed != checksum(said):
        raise ReceiptError("the receipt was damaged or changed: its checksum does not match", failed=True)
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


# -- the replay --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Replay:
    """A run again: own losses, forecasts, all costs (a sleeper's are the blend's own), weights after the last round."""

    own: Vector
    forecasts: NDArray[np.float64]
    costs: NDArray[np.float64]
    weights: Vector
    gap: float

    @property
    def total(self) -> float:
        return math.fsum(self.own)


def _losses(loss: str, x: NDArray[np.float64], y: float) -> Vector:
    """What each row of x loses at the outcome y."""
    if loss == "costs":
        return np.asarray(x[:, 0])
    if loss == "zero-one":
        return np.asarray(x[:, 0] != y).astype(np.float64)
    if loss == "squared":
        return np.asarray((x[:, 0] - y) ** 2)
    if loss == "absolute":
        return np.asarray(np.abs(x[:, 0] - y))
    full = np.column_stack([1.0 - x[:, 0], x[:, 0]]) if x.shape[1] == 1 else x
    if loss == "log":
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log(full[:, int(y)]))
    return np.asarray(((full - np.eye(full.shape[1])[int(y)]) ** 2).sum(axis=1))


def _rates(reading: Mapping[str, Any], experts: int, rounds: int) -> tuple[Callable[[int], float], float]:
    """η of each round for costs as they are, and the share of Fixed-Share."""
    logs, width = math.log(experts), cost_width(reading)
    method, loss = reading["method"], reading["loss"]
    if method == "mixture":
        eta = {"log": 1.0, "brier": 0.25}.get(loss) or 0.5 / _width(reading) ** 2
        return lambda t: eta, 0.0
    if method == "weighted-majority":
        return lambda t: math.sqrt(2.0 * logs / rounds) / width, 0.0
    if method == "hedge":
        c = {"one": 1.0, "two": 2.0, "root-eight": math.sqrt(8.0)}[reading["rate"]]
        return lambda t: c * math.sqrt(logs / t) / width, 0.0
    if method == "hedge-doubling":
        return lambda t: math.sqrt(2.0 * logs / 2 ** (t.bit_length() - 1)) / width, 0.0
    if method != "fixed-share":
        return lambda t: math.nan, 0.0
    eta, share = sharing(reading, experts, rounds)
    return lambda t: eta / width, share


def sharing(reading: Mapping[str, Any], experts: int, rounds: int) -> tuple[float, float]:
    """(η, α) of Fixed-Share for T rounds and m switches, costs of width 1."""
    m = reading["switches"]
    share = min(max(m / max(rounds - 1, 1), 1.0 / rounds**2), 0.5)
    cost = (m + 1) * math.log(experts) + m * math.log(1.0 / share)
    cost += max(rounds - m - 1, 0) * -math.log1p(-share)
    return math.sqrt(8.0 * cost / rounds), share


def _width(reading: Mapping[str, Any]) -> float:
    lo, hi = reading["range"] or (0.0, 1.0)
    return float(hi) - float(lo)


def cost_width(reading: Mapping[str, Any]) -> float:
    """B of the costs."""
    width = _width(reading)
    found = {"squared": width * width, "absolute": width, "costs": width, "brier": 2.0, "zero-one": 1.0}
    return found.get(reading["loss"], math.inf)


def _soft(sums: NDArray[Any], eta: float, awake: NDArray[np.bool_]) -> NDArray[Any]:
    """Weights ∝ exp(−η·sum) over those awake; for η = ∞ even on the leaders."""
    behind = sums - sums[awake].min()
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        leaders = behind <= 1e-12 * abs(sums[awake].min())
        raw = leaders * np.longdouble(1.0) if math.isinf(eta) else np.exp(-eta * behind)
    raw = np.where(awake, raw, np.longdouble(0.0))
    return np.asarray(raw / raw.sum())


def replayed(laid: Laid, reading: Mapping[str, Any]) -> Replay:
    """Every round from the definitions; sums and weights in the longest floats that there are."""
    method, loss = reading["method"], reading["loss"]
    rounds, experts, width = laid.given.shape
    rate, share = _rates(reading, experts, rounds)
    sums, shared = np.zeros(experts, np.longdouble), np.full(experts, np.longdouble(1.0)) / experts
    own, forecasts, costs = np.zeros(rounds), np.zeros((rounds, width)), np.zeros((rounds, experts))
    gap, everyone = np.longdouble(0.0), np.ones(experts, dtype=np.bool_)
    for t in range(rounds):
        if method == "hedge-doubling" and (t + 1) & t == 0:
            sums = np.zeros(experts, np.longdouble)
        x, y = laid.given[t], float(laid.outcomes[t])
        awake = ~np.isnan(x[:, 0])
        eta = (float(math.log(experts) / gap) if gap > 0.0 else math.inf) if method == "adahedge" else rate(t + 1)
        q = _shares(shared, awake) if method == "fixed-share" else _soft(sums, eta, awake)
        cost = np.where(awake, _losses(loss, np.where(awake[:, None], x, 0.0), y), 0.0)
        own[t], forecasts[t] = _blended(loss, x, y, q, awake, cost)
        cost = np.where(awake, cost, own[t])
        if method == "adahedge":
            gap += max(_mixability(_soft(sums, eta, everyone), cost, sums, eta), np.longdouble(0.0))
        elif method == "fixed-share":
            moved = shared * np.exp(-eta * (cost - cost.min()).astype(np.longdouble))
            shared = (1.0 - share) * moved / moved.sum() + share / experts
        costs[t] = cost
        sums = sums + cost
    last = _last_weights(method, rounds, rate, sums, shared, float(gap), everyone)
    return Replay(own, forecasts, costs, np.asarray(last, dtype=np.float64), float(gap))


def _last_weights(
    method: str,
    rounds: int,
    rate: Callable[[int], float],
    sums: NDArray[Any],
    shared: NDArray[Any],
    gap: float,
    everyone: NDArray[np.bool_],
) -> NDArray[Any]:
    """The weights of the round that would come next."""
    if method == "fixed-share":
        return shared
    if method == "hedge-doubling" and (rounds + 1) & rounds == 0:
        sums = np.zeros_like(sums)
    if method == "adahedge":
        return _soft(sums, math.log(len(sums)) / gap if gap > 0.0 else math.inf, everyone)
    return _soft(sums, rate(rounds + 1), everyone)


def _shares(shared: NDArray[Any], awake: NDArray[np.bool_]) -> NDArray[Any]:
    there = np.where(awake, shared, 0.0)
    return np.asarray(there / there.sum())


def _blended(
    loss: str, x: NDArray[np.float64], y: float, q: NDArray[Any], awake: NDArray[np.bool_], cost: Vector
) -> tuple[float, Vector]:
    """(own loss, forecast) of one round."""
    q, x, cost = q[awake], x[awake], cost[awake]
    with np.errstate(invalid="ignore"):
        expected = float((q[q > 0.0] * cost[q > 0.0]).sum())
    if loss == "costs":
        return expected, np.zeros(x.shape[1])
    if loss == "zero-one":
        best, votes = 0, np.bincount(x[:, 0].astype(np.int64), weights=q.astype(np.float64))
        for label, vote in enumerate(votes.tolist()):
            best = label if vote > votes[best] + 1e-12 else best
        return expected, np.array([float(best)])
    mean = np.asarray((q[:, None] * x).sum(axis=0))
    if loss == "log":
        chances = x[:, int(y)] if x.shape[1] > 1 else (x[:, 0] if y == 1.0 else 1.0 - x[:, 0])
        return float(-np.log((q * chances).sum())), mean.astype(np.float64)
    return float(_losses(loss, mean[None, :], y)[0]), mean.astype(np.float64)


def _mixability(p: NDArray[Any], cost: Vector, sums: NDArray[Any], eta: float) -> Any:
    """Σ p·cost less the exponential mean of the costs at rate η."""
    mean = (p * cost).sum()
    if math.isinf(eta):
        gap = mean - ((sums - sums.min()) + cost).min()
        return gap if gap > 2.0**-50 * (len(p) + 2) * np.abs(cost).max() else np.longdouble(0.0)
    least = cost.min()
    with np.errstate(under="ignore"):
        below = (p * np.expm1(-eta * (cost - least).astype(np.longdouble))).sum()
    return (mean - least) + np.log1p(below) / eta


# -- the checks --------------------------------------------------------------------------------------------------------


def _check(done: Verification, said: dict[str, Any], table: Any) -> None:
    reading = said["reading"]
    done.true("the table is read, and blended, in a way that there is", sound(reading))
    laid = lay_out(table, reading["outcome"], reading["experts"], reading["loss"])
    known = {"receipt", "kind", "reading", "outcomes", "digest", "rounds", "loss", "experts", "best", "regret"}
    known |= {"bound", "switching", "certificates", "points"}
    done.true("the receipt holds what a blend's receipt holds", set(said) == known)
    done.same("the digest of the table", said["digest"], digest_of(laid, reading))
    done.same("the outcomes", said["outcomes"], list(laid.names))
    done.same("the rounds", said["rounds"], len(laid.given))
    done.true("everything lies in its range", in_range(laid, reading))
    again = replayed(laid, reading)
    _check_points(done, said["points"], reading, again)
    scale = float(np.abs(again.own).sum()) + len(laid.given) * grain(reading) / CLOSE
    _near(done, "the loss at least", said["loss"]["lower"], again.total, scale)
    _near(done, "the loss at most", said["loss"]["upper"], again.total, scale)
    done.true("the loss at least is not above the loss at most", said["loss"]["lower"] <= said["loss"]["upper"])
    regrets = _check_experts(done, said, laid, again, scale)
    _check_switching(done, said, again, scale)
    _check_certificates(done, said, laid, again, max(regrets))


METHODS = ("adahedge", "hedge", "hedge-doubling", "weighted-majority", "fixed-share")


def sound(reading: Mapping[str, Any]) -> bool:
    """Whether such a blend can be made at all: a method for the loss, a range where it has one, experts told apart."""
    loss, method, limits = reading["loss"], reading["method"], reading["range"]
    allowed = {"log": ("mixture",), "squared": ("mixture", *METHODS), "brier": ("mixture", *METHODS)}
    keys = {"outcome", "experts", "loss", "range", "method", "rate", "switches"}
    if set(reading) != keys or method not in allowed.get(loss, METHODS) or (method == "hedge") != bool(reading["rate"]):
        return False
    if (limits is not None) != (loss in ("squared", "absolute", "costs")) or (limits and not limits[0] < limits[1]):
        return False
    names = [*reading["experts"], *([] if reading["outcome"] is None else [reading["outcome"]])]
    return len(names) == len(set(names)) and (reading["outcome"] is None) == (loss == "costs")


def grain(reading: Mapping[str, Any]) -> float:
    """What the loss of one round may be off by in float64, whatever its own size: the numbers' size counts."""
    lo, hi = reading["range"] or (0.0, 1.0)
    width, reach = float(hi) - float(lo), max(abs(float(lo)), abs(float(hi)))
    sizes = {"squared": width * (width + reach), "absolute": width + reach, "costs": reach, "brier": 2.0}
    return (len(reading["experts"]) + 16) * 2.0**-48 * sizes.get(reading["loss"], 1.0)


def in_range(laid: Laid, reading: Mapping[str, Any]) -> bool:
    """Whether forecasts, costs and outcomes lie where the theorems need them."""
    loss, there = reading["loss"], laid.given[~np.isnan(laid.given)]
    if loss == "zero-one":
        return True
    lo, hi = reading["range"] or (0.0, 1.0)
    inside = bool((there >= lo).all() and (there <= hi).all())
    if loss in ("squared", "absolute"):
        return inside and bool((laid.outcomes >= lo).all() and (laid.outcomes <= hi).all())
    if loss in ("log", "brier") and laid.given.shape[2] == 1:
        return inside and bool(np.isin(laid.outcomes, (0.0, 1.0)).all())
    if loss in ("log", "brier"):
        sums = laid.given.sum(axis=2)
        return inside and bool((np.abs(sums[~np.isnan(sums)] - 1.0) <= 1e-9).all())
    return inside


def _near(done: Verification, what: str, claimed: Any, found: float, scale: float) -> None:
    """A number that is what it was found to be, to within a part of the size of what it was summed from."""
    there = isinstance(claimed, int | float) and not isinstance(claimed, bool)
    stands = there and (claimed == found or abs(claimed - found) <= CLOSE * max(scale, abs(found)))
    done.same(what, claimed, claimed if stands else found)


def _check_points(done: Verification, points: dict[str, str], reading: Mapping[str, Any], again: Replay) -> None:
    lo, hi = reading["range"] or (0.0, 1.0)
    reach = max(abs(float(lo)), abs(float(hi)), float(hi) - float(lo))
    spare = {"forecasts": CLOSE * reach, "losses": grain(reading), "weights": CLOSE}
    one = {"forecasts": "forecast", "losses": "loss", "weights": "weight"}
    found = {"forecasts": again.forecasts.reshape(-1), "losses": again.own, "weights": again.weights}
    done.true("the vectors of the receipt are forecasts, losses and weights", set(points) == set(found))
    for name, vector in found.items():
        claimed = unpacked(points[name])
        there = claimed.shape == vector.shape
        near = CLOSE * np.abs(vector) + spare[name]
        wrong = ~((claimed == vector) | (np.abs(claimed - vector) <= near)) if there else np.ones(1, bool)
        row = int(wrong.argmax())
        if wrong.any() and there:
            what = f"{one[name]} {row + 1}"
            done.same(what, float(claimed[row]), float(vector[row]))
        done.true(f"every one of the {name}", not wrong.any())


def _check_experts(done: Verification, said: dict[str, Any], laid: Laid, again: Replay, scale: float) -> list[float]:
    """What each expert lost while awake, and the regret against it; the best is the one against whom it is most."""
    names = said["reading"]["experts"]
    awake = ~np.isnan(laid.given[:, :, 0])
    done.same("the experts", [one["expert"] for one in said["experts"]], names)
    regrets = []
    for i, one in enumerate(said["experts"]):
        done.true(f"the figures of {names[i]}", set(one) == {"expert", "awake", "loss", "regret", "weight"})
        there = awake[:, i]
        cost = math.fsum(again.costs[there, i])
        regret = math.fsum(np.concatenate([again.own[there], -again.costs[there, i]]))
        done.same(f"the rounds of {names[i]}", one["awake"], int(there.sum()))
        _near(done, f"the loss of {names[i]}", _float(one["loss"]), cost, scale)
        _near(done, f"the regret against {names[i]}", _float(one["regret"]), regret, scale)
        _near(done, f"the last weight of {names[i]}", one["weight"], float(again.weights[i]), 1.0)
        regrets.append(regret)
    best = names.index(said["best"]["expert"])
    near = abs(regrets[best] - max(regrets)) <= CLOSE * scale
    done.true("the best expert is the one against whom the regret is largest", near)
    done.true("the figures of the best expert", set(said["best"]) == {"expert", "loss"})
    _near(
        done, "the loss of the best expert", said["best"]["loss"], float(_float(said["experts"][best]["loss"])), scale
    )
    for end in ("lower", "upper"):
        _near(done, f"the regret at {'least' if end == 'lower' else 'most'}", said["regret"][end], max(regrets), scale)
    done.true("the regret at least is not above the regret at most", said["regret"]["lower"] <= said["regret"]["upper"])
    return regrets


def _float(value: Any) -> Any:
    """An infinite loss is written as a word."""
    return float(value) if value in ("inf", "-inf") else value


def _check_switching(done: Verification, said: dict[str, Any], again: Replay, scale: float) -> None:
    """The sequence claimed loses what is claimed, and none with as few changes loses less."""
    found, asked = said["switching"], said["reading"]["switches"]
    if found is None or asked is None:
        done.true("a best sequence is claimed just where one was asked for", found is None and asked is None)
        return
    done.same("the switches asked for", found["switches"], asked)
    names, parts = said["reading"]["experts"], found["parts"]
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
    loss = math.fsum(np.concatenate(taken))
    _near(done, "the loss of the best sequence", found["loss"], loss, scale)
    done.true(
        "no sequence with as few changes loses less", abs(least_switching(again.costs, asked) - loss) <= CLOSE * scale
    )
    for end in ("lower", "upper"):
        _near(done, f"the regret against the best sequence ({end})", found["regret"][end], again.total - loss, scale)


def least_switching(costs: NDArray[np.float64], switches: int) -> float:
    """The least loss of sequences with at most so many changes, by the recursion over rounds."""
    least = np.zeros((min(switches, len(costs) - 1) + 1, costs.shape[1]), np.longdouble)
    for row in costs:
        least[1:] = np.minimum(least[1:], least[:-1].min(axis=1, keepdims=True))
        least += row
    return float(least[-1].min())


# -- the bounds, a second time -----------------------------------------------------------------------------------------

RANGE = "every cost lies in the declared range of width B"
COIN = "the costs of a round do not depend on the expert drawn in it"
ANNOUNCED = "T, the number of rounds, was announced beforehand"
DEFINED = "forecasts and outcomes lie in the declared range, probabilities in [0, 1]"
CONCAVE = "exp(−η·loss) is concave in the forecast"
SEQUENCE = "the best sequence of at most m switches is known"


@dataclass(frozen=True)
class Bound:
    """One formula: of which method it speaks, what it assumes, its value, the values that it names."""

    method: str
    needs: tuple[str, ...]
    source: str
    value: Callable[[_Facts], Interval]
    named: Callable[[_Facts], dict[str, float]] = lambda facts: {}


@dataclass(frozen=True)
class _Facts:
    reading: Mapping[str, Any]
    rounds: int
    experts: int
    gap: float

    @property
    def logs(self) -> Interval:
        return Interval.of(float(self.experts)).log() if self.experts > 1 else Interval.of(0.0)

    @property
    def width(self) -> float:
        return cost_width(self.reading)

    @property
    def T(self) -> float:
        return float(self.rounds)

    def root(self, factor: float) -> Interval:
        """√(factor·T·ln N)."""
        return (self.logs * (factor * self.T)).sqrt()

    def steady(self) -> Interval:
        """√(2 ln N/T)."""
        return (self.logs * 2.0 / self.T).sqrt()

    def hedged(self) -> Interval:
        """ln N/η_T + Σ η_t/8 with η_t = c√(ln N/t)."""
        c = {"one": 1.0, "two": 2.0, "root-eight": math.sqrt(8.0)}[self.reading["rate"]]
        sums = math.fsum(1.0 / math.sqrt(t) for t in range(1, self.rounds + 1))
        return self.root(1.0) / c + self.logs.sqrt() * (Interval.around(sums, 1e-15 * sums) * c) / 8.0

    def closed(self) -> Interval:
        if self.reading["rate"] == "root-eight":
            return self.root(0.5) * 2.0 + (self.logs / 8.0).sqrt()
        return self.root(1.0) * (1.25 if self.reading["rate"] == "one" else 1.0)

    def periods(self) -> Interval:
        found = Interval.of(0.0)
        for m in range(self.rounds.bit_length()):
            found = found + (self.logs * 2.0 * float(2**m)).sqrt()
        return found

    def shared(self, switches: int) -> Interval:
        """[(m+1) ln N + m ln(1/α) + (T − m − 1) ln(1/(1 − α))]/η + ηT/8."""
        eta, alpha = sharing(self.reading, self.experts, self.rounds)
        stays = float(max(self.rounds - switches - 1, 0))
        share = Interval.of(alpha)
        cost = self.logs * float(switches + 1) - share.log() * float(switches) - (1.0 - share).log() * stays
        return cost / eta + Interval.of(eta) * self.T / 8.0

    def mixed(self) -> Interval:
        scale = {"log": 1.0, "brier": 4.0}.get(self.reading["loss"]) or 2.0 * _width(self.reading) ** 2
        return self.logs * scale


def _switches(facts: _Facts) -> int:
    return int(min(facts.reading["switches"], facts.rounds - 1))


def _mixing(facts: _Facts) -> dict[str, float]:
    return {"rate": {"log": 1.0, "brier": 0.25}.get(facts.reading["loss"]) or 0.5 / _width(facts.reading) ** 2}


SS = "Shalev-Shwartz & Ben-David ch. 21"
CBL = "Cesa-Bianchi & Lugosi 2006"
HW = "Herbster & Warmuth 1998"
FOLLOW = "de Rooij, van Erven, Grünwald & Koolen 2014"
BOUNDS: dict[str, Bound] = {
    "weighted-majority": Bound(
        "weighted-majority", (RANGE, COIN, ANNOUNCED), f"{SS}, Theorem 21.11", lambda f: f.root(2.0) * f.width
    ),
    "weighted-majority-hoeffding": Bound(
        "weighted-majority",
        (RANGE, COIN),
        f"{CBL}, Theorem 2.2",
        lambda f: (f.logs / f.steady() + f.steady() * f.T / 8.0) * f.width,
        lambda f: {"rate": f.steady().hi},
    ),
    "hedge-anytime": Bound("hedge", (RANGE, COIN), f"{CBL}, Theorem 2.3", lambda f: f.hedged() * f.width),
    "hedge-anytime-closed": Bound("hedge", (RANGE, COIN), f"{CBL}, Theorem 2.3", lambda f: f.closed() * f.width),
    "hedge-doubling": Bound("hedge-doubling", (RANGE, COIN), f"{SS}, exercise 4", lambda f: f.periods() * f.width),
    "hedge-doubling-closed": Bound(
        "hedge-doubling",
        (RANGE, COIN),
        f"{SS}, exercise 4",
        lambda f: f.root(2.0) * (Interval.of(2.0).sqrt() / (Interval.of(2.0).sqrt() - 1.0)) * f.width,
    ),
    "adahedge": Bound(
        "adahedge", (COIN,), FOLLOW, lambda f: Interval.of(f.gap) * 2.0, lambda f: {"mixability_gap": f.gap}
    ),
    "fixed-share": Bound(
        "fixed-share",
        (RANGE, COIN, SEQUENCE),
        HW,
        lambda f: f.shared(_switches(f)) * f.width,
        lambda f: {"switches": float(_switches(f))},
    ),
    "fixed-share-expert": Bound("fixed-share", (RANGE, COIN), HW, lambda f: f.shared(0) * f.width),
    "mixture": Bound(
        "mixture", (DEFINED, CONCAVE), f"Vovk 1990; {CBL}, section 3.3", lambda f: f.mixed(), lambda f: _mixing(f)
    ),
}


def _check_certificates(done: Verification, said: dict[str, Any], laid: Laid, again: Replay, regret: float) -> None:
    """Every theorem of the method, no other, each with its assumptions, bound, values and verdict."""
    reading = said["reading"]
    facts = _Facts(reading, len(laid.given), laid.given.shape[1], again.gap)
    mine = [name for name, one in BOUNDS.items() if one.method == reading["method"]]
    done.same("the theorems", sorted(one["theorem"] for one in said["certificates"]), sorted(mine))
    lowest = float((reading["range"] or (0.0, 1.0))[0]) if reading["loss"] == "costs" else 0.0
    ceiling = again.total - lowest * len(laid.given)
    best = math.inf
    for one in said["certificates"]:
        name, own = one["theorem"], one["theorem"] == "fixed-share"
        observed = regret
        if own:
            observed = again.total - least_switching(again.costs, reading["switches"])
        _check_certificate(done, one, BOUNDS[name], facts, observed, ceiling, again)
        best = best if own else min(best, one["bound"])
    done.same("the bound", said["bound"], best)


def _check_certificate(
    done: Verification,
    said: dict[str, Any],
    known: Bound,
    facts: _Facts,
    observed: float,
    ceiling: float,
    again: Replay,
) -> None:
    name, coin = said["theorem"], facts.reading["loss"] in ("costs", "zero-one")
    holds = [None if need == COIN and coin else True for need in known.needs]
    assumed = [
        {"statement": need, "checked": one is not None, "holds": one}
        for need, one in zip(known.needs, holds, strict=True)
    ]
    keys = {"theorem", "source", "bound", "observed", "verdict", "assumptions", "values", "points"}
    done.true(f"{name}: its parts are those of a certificate", set(said) == keys and said["points"] == [])
    done.same(f"{name}: its source", said["source"], known.source)
    done.same(f"{name}: its assumptions", said["assumptions"], assumed)
    bound = known.value(facts) if facts.experts > 1 else Interval.of(0.0)
    scale = float(np.abs(again.own).sum()) + facts.T * grain(facts.reading) / CLOSE
    above = 1e-10 * abs(bound.hi) + 1.001 * rounding(facts)
    below = CLOSE * abs(bound.hi) + (facts.T * grain(facts.reading) if known.method == "adahedge" else 0.0)
    stands = bound.lo - below <= said["bound"] <= bound.hi + above
    done.same(f"{name}: the bound", said["bound"], said["bound"] if stands else bound.hi)
    _near(done, f"{name}: the observed value", said["observed"], observed, scale)
    values = known.named(facts)
    done.true(f"{name}: its values are those of the theorem", set(said["values"]) == set(values))
    for key, value in values.items():
        spare = scale if key == "mixability_gap" else 1e-100
        _near(done, f"{name}: {key.replace('_', ' ')}", said["values"][key], value, spare)
    done.same(f"{name}: the verdict", said["verdict"], _verdict(said, observed, ceiling, CLOSE * scale))


def rounding(facts: _Facts) -> float:
    """What a bound may have been raised by for weights and means that were rounded."""
    lo, hi = facts.reading["range"] or (0.0, 1.0)
    width, reach = hi - lo, max(abs(lo), abs(hi))
    sizes = {"squared": width * (width + reach), "absolute": width + reach, "costs": reach, "brier": 2.0}
    return facts.T * (facts.experts + 16) * 2.0**-48 * float(sizes.get(facts.reading["loss"], 1.0))


def _verdict(said: dict[str, Any], observed: float, ceiling: float, near: float) -> str:
    """As certificates judge; within a rounding of a limit either side of it is right."""
    bound, claimed = said["bound"], str(said["verdict"])
    if claimed == "holds" and observed <= bound + near and bound <= ceiling + near:
        return claimed
    if claimed == "vacuous" and bound >= ceiling - near:
        return claimed
    if claimed == "open" and abs(observed - bound) <= near:
        return claimed
    return "broken" if observed > bound else ("vacuous" if bound >= ceiling else "holds")
