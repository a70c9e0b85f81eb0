"""The proof that rows can be separated by a hyperplane, or that they cannot, and a checker of it in whole numbers.

The checker is plain code of its own and knows no solver. Floats are whole multiples of powers of two, so that every
score, every norm and every sum of rows is computed without any rounding:

- separable: y⟨u, x⟩ > 0 on every row; the margin m = min y⟨u, x⟩/‖u‖ is not below the lower end claimed, and convex
  weights λ with ‖Σ λ·y·x‖ not above the upper end prove that no separator has a larger one;
- inseparable: weights λ ≥ 0, not all 0, with Σ λ·y·x = 0 exactly. A separator would have 0 = Σ λ·y⟨u, x⟩ > 0.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.digest import Digest
from noregret.errors import InputError, NoregretError, ReceiptError
from noregret.learner import Perceptron
from noregret.prepare import Means, Preparation
from noregret.proof.receipt import body_of, decoded, kind_of, unpacked
from noregret.proof.verification import Verification
from noregret.protocol import encoded
from noregret.rounds import Gathering, Rounds
from noregret.stream import read
from noregret.stream.base import Stream
from noregret.stream.labels import Labels

Vector = NDArray[np.float64]
Entry = tuple[int, int, int]  # feature, numerator, denominator
ANSWERS = ("separable", "inseparable", "undecided")
READING = {"label", "columns", "ignore", "interactions", "missing", "hash_bits"}
PIECE = 4096
PROOF = {"kind", "version", "arithmetic", "reading", "preparation", "labels", "rows", "features", "digest", "answer"}
PROOF |= {"margin", "radius", "mistakes", "separator", "weights"}


# -- the rows ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LabelledRows:
    """The rows as they are separated: with labels −1 and +1, prepared, and with a bias where one was asked for."""

    rounds: Rounds
    classes: tuple[Any, Any]
    digest: str
    source: str
    features: int  # that were read, without the bias
    read: Mapping[str, Any]  # what became of the columns


def labelled_rows(
    source: Any,
    *,
    reading: Mapping[str, Any],
    bias: bool,
    unit_norm: bool = False,
    positive: Any = None,
    watch: Callable[[str, float | None], None] | None = None,
) -> LabelledRows:
    """Read a stream once and keep its rows; rows of weight 0 are left out."""
    stream = source if isinstance(source, Stream) else read(source, **reading)
    core, digest = Perceptron(), Digest()
    preparation = Preparation(None, unit_norm, means=Means() if stream.gapped else None)
    if positive is not None:
        core.labels = Labels(positive)
    with Gathering(bias) as gathering:
        for block, y in encoded(core, stream):
            _check_finite(block, stream.gapped)
            digest.update(block.rows, y, block.weights)
            gathering.add(preparation.apply(block.rows, learn=True), y, block.weights, np.zeros(len(y)))
            if watch is not None:
                watch(f"reading {digest.rows:,} rows", stream.fraction())
        rounds = gathering.done()
    assert isinstance(core.labels, Labels)
    return LabelledRows(
        rounds, core.labels.classes, digest.hexdigest(), stream.source, stream.features.count, stream.features.reading
    )


def _check_finite(block: Any, gapped: bool) -> None:
    values = block.rows.values
    wrong = np.isinf(values) if gapped else ~np.isfinite(values)
    if wrong.any():
        row, feature = block.rows.row_of(int(np.flatnonzero(wrong)[0]))
        raise InputError(f"feature {feature} must be finite", block.source, int(block.lines[row]))


# -- the proof's file --------------------------------------------------------------------------------------------------


def load_proof(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The body of a proof file, its checksum checked."""
    return body_of(decoded(path), "separation", os.fspath(path))


def verify_separation(body: Mapping[str, Any], stream: Any) -> Verification:
    """Check a proof against its rows in whole numbers; the first claim that does not stand is an error."""
    said = dict(body)
    if isinstance(stream, str | os.PathLike) and os.fspath(stream) != "-" and not Path(stream).exists():
        raise InputError("there is no such file", os.fspath(stream))
    kind_of(said)
    done = Verification()
    try:
        labelled = _rows_again(said, stream)
        _check(done, said, labelled)
    except ReceiptError:
        raise
    except NoregretError as error:
        raise ReceiptError(f"the rows cannot be read as the proof says: {error}", failed=True) from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        raise ReceiptError(f"the proof is damaged ({type(error).__name__}: {error})", failed=True) from error
    return done


def _rows_again(said: dict[str, Any], stream: Any) -> LabelledRows:
    reading = dict(said["reading"])
    if not set(reading) <= READING:
        raise ReceiptError("the stream is read with settings that exist: this does not hold", failed=True)
    return labelled_rows(stream, reading=reading, **said["preparation"])


# -- the checks --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """What one pass found: the least y⟨u, x⟩, the largest ‖x‖², and Σ λ·y·x feature by feature."""

    least: Fraction
    largest_norm2: Fraction
    total: dict[int, Fraction]


def _check(done: Verification, said: dict[str, Any], labelled: LabelledRows) -> None:
    rounds = labelled.rounds
    done.true("the proof holds what a proof of separation holds", set(said) == PROOF)
    done.same("rows", said["rows"], len(rounds))
    done.same("features, the bias included", said["features"], rounds.width)
    done.same("the two labels", list(said["labels"]), list(labelled.classes))
    done.same("digest of the rows", said["digest"], labelled.digest)
    done.true("the answer is separable, inseparable or undecided", said["answer"] in ANSWERS)
    weights = _weights(said["weights"], len(rounds))
    u = None if said["separator"] is None else unpacked(said["separator"])
    done.true("the separator has a weight for every feature", u is None or u.shape == (rounds.width,))
    done.true("the separator is finite", u is None or bool(np.isfinite(u).all()))
    found = _measured(rounds, u, weights)
    _check_radius(done, said["radius"], found.largest_norm2)
    {"separable": _separable, "inseparable": _inseparable, "undecided": _undecided}[said["answer"]](
        done, said, found, u, sum(weights.values(), Fraction(0))
    )


def _weights(given: Mapping[str, Any], rows: int) -> dict[int, Fraction]:
    """λ by row, counted from 0: whole numbers in hexadecimal, or floats."""
    places = [int(row) - 1 for row in given["rows"]]
    values: Sequence[Any] = given["whole"] if "whole" in given else unpacked(given["floats"]).tolist()
    found = [Fraction(int(value, 16)) if isinstance(value, str) else Fraction(value) for value in values]
    if len(set(places)) != len(places) or len(places) != len(found):
        raise ReceiptError("every weight belongs to one row: this does not hold", failed=True)
    if any(not 0 <= place < rows for place in places):
        raise ReceiptError("every weight belongs to a row of the stream: this does not hold", failed=True)
    if any(value < 0 for value in found):
        raise ReceiptError("no weight is negative: this does not hold", failed=True)
    return dict(zip(places, found, strict=True))


def _entries(rounds: Rounds) -> Iterator[list[Entry]]:
    """Row by row, its entries but for zeros as fractions."""
    for start in range(0, len(rounds), PIECE):
        part = rounds.rows.slice(start, min(start + PIECE, len(rounds)))
        for t in range(len(part)):
            values, features = _row(part, t)
            yield [(j, *x.as_integer_ratio()) for j, x in zip(features, values, strict=True) if x]


def _row(part: Any, t: int) -> tuple[list[float], list[int]]:
    if hasattr(part, "indptr"):
        low, high = int(part.indptr[t]), int(part.indptr[t + 1])
        return part.values[low:high].tolist(), part.indices[low:high].tolist()
    return part.X[t].tolist(), list(range(part.width))


def _measured(rounds: Rounds, u: Vector | None, weights: dict[int, Fraction]) -> Measured:
    """One pass in whole numbers: within a row all entries get the denominator of the finest."""
    unit = 1 if u is None else max((one.as_integer_ratio()[1] for one in u.tolist()), default=1)
    direction = [0] * rounds.width if u is None else [int(Fraction(one) * unit) for one in u.tolist()]
    least: Fraction | None = None
    norm2 = Fraction(0)
    parts: dict[int, list[tuple[int, int]]] = {}  # of Σ λ·y·x, as numerators and denominators
    for t, row in enumerate(_entries(rounds)):
        sign, common = int(rounds.y[t]), max((below for _, _, below in row), default=1)
        whole = [(j, above * (common // below)) for j, above, below in row]
        margin = Fraction(sign * sum(direction[j] * x for j, x in whole), unit * common)
        least = margin if least is None or margin < least else least
        norm2 = max(norm2, Fraction(sum(x * x for _, x in whole), common * common))
        if t in weights:
            for j, x in whole:
                weight = weights[t]
                parts.setdefault(j, []).append((sign * x * weight.numerator, common * weight.denominator))
    return Measured(least or Fraction(0), norm2, {j: _added(terms) for j, terms in parts.items()})


def _added(terms: list[tuple[int, int]]) -> Fraction:
    """A sum of fractions whose denominators are powers of two."""
    common = max(below for _, below in terms)
    return Fraction(sum(above * (common // below) for above, below in terms), common)


def _check_radius(done: Verification, radius: Mapping[str, Any], norm2: Fraction) -> None:
    """lower ≤ max‖x‖ ≤ upper."""
    lower, upper = Fraction(radius["lower"]), Fraction(radius["upper"])
    done.true("the longest row is at least the lower end of the radius", lower <= 0 or lower**2 <= norm2)
    done.true("the longest row is at most the upper end of the radius", upper >= 0 and norm2 <= upper**2)


def _separable(done: Verification, said: dict[str, Any], found: Measured, u: Vector | None, total: Fraction) -> None:
    if u is None:
        raise ReceiptError("a separator is given: this does not hold", failed=True)
    margin, norm2 = found.least, sum((Fraction(one) ** 2 for one in u.tolist()), Fraction(0))
    done.true("y⟨u,x⟩ > 0 on every row, exactly", margin > 0)
    lower = Fraction(said["margin"]["lower"])
    done.true("the margin of the separator is at least the lower end", lower > 0 and lower**2 * norm2 <= margin**2)
    _check_upper(done, said, found, total)
    bound = found.largest_norm2 * norm2 / margin**2
    most = said["mistakes"]["at_most"]
    done.true("mistakes: at most ⌊R²/γ²⌋ of this separator", most is None or math.floor(bound) <= int(most))
    least = Fraction(said["mistakes"]["no_separator_below"])
    square = sum((part**2 for part in found.total.values()), Fraction(0))
    done.true("no separator gives less", least * square <= found.largest_norm2 * total**2)


def _inseparable(done: Verification, said: dict[str, Any], found: Measured, u: Vector | None, total: Fraction) -> None:
    done.true("no separator is given", u is None)
    done.true("some weight is positive", total > 0)
    done.true("Σ λ·y·x = 0 in every feature, exactly", not any(found.total.values()))
    done.true("the best margin is 0", said["margin"]["lower"] == said["margin"]["upper"] == 0.0)
    done.true("no bound on mistakes is claimed", said["mistakes"] is None)


def _undecided(done: Verification, said: dict[str, Any], found: Measured, u: Vector | None, total: Fraction) -> None:
    done.true("no separator is given", u is None)
    done.true("the lower end of the margin is 0", said["margin"]["lower"] == 0.0)
    _check_upper(done, said, found, total)
    done.true("no bound on mistakes is claimed", said["mistakes"] is None)


def _check_upper(done: Verification, said: dict[str, Any], found: Measured, total: Fraction) -> None:
    """‖Σ λ·y·x‖ ≤ upper·Σλ."""
    upper = Fraction(said["margin"]["upper"])
    square = sum((part**2 for part in found.total.values()), Fraction(0))
    done.true("some weight is positive", total > 0)
    done.true("no separator has a larger margin than the upper end", upper >= 0 and square <= upper**2 * total**2)
