"""Columns of a log that hold a prediction too, and so are no features: known by name, or by what they say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.logged.column import Beside, column
from noregret.loss import probability as chance
from noregret.rounds import as_sparse
from noregret.stream.block import Block, Dense
from noregret.stream.cells import as_text, numbers
from noregret.stream.reading import read

Vector = NDArray[np.float64]
ROWS = 1000  # that are looked at
ENOUGH = 20  # rows: of fewer a coincidence is likely, and the names alone decide
WORDS = 50  # columns of words that are compared at most: each is another look at the file
NAMES = {
    "p",
    *("score", "scores", "probability", "probabilities", "prob", "probs", "proba", "prediction", "predictions"),
    *("predicted", "pred", "preds", "yhat", "phat", "ypred", "yscore", "yprob", "yproba", "logit", "logodds"),
    *("predictedlabel", "predictedclass", "predictedscore", "predictedprobability", "predictionscore"),
}
WRITTEN = {"row", "score", "prediction"}  # together: a file that `learn --predictions` wrote, where row counts


def logged_beside(
    log: Any, said: str, kind: str, keep: Sequence[str], taken: Sequence[str], **reading: Any
) -> list[str]:
    """The other columns that hold a prediction, in the order of the log; `taken` are those with a part of their own."""
    stream = read(log, block_rows=ROWS, keep=keep, **reading)
    block = next(stream.blocks())
    names = [name for name in stream.columns if stream.features.knows(name)]
    free = [name for name in names if name not in keep and name not in taken]
    found = {name for name in free if _plain(name) in NAMES}
    if {_plain(name) for name in (*names, said)} >= WRITTEN:
        found |= {name for name in free if _plain(name) == "row"}
    found |= set(_repeats(log, said, kind, block, stream.features.index, [one for one in free if one not in found]))
    return [name for name in names if name in found]


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _repeats(log: Any, said: str, kind: str, block: Block, index: dict[str, int], free: Sequence[str]) -> Iterator[str]:
    """The columns that say on every row what the audited one says."""
    cells = Beside(column(log, said)).at(block.lines)
    signs, values = _audited(cells, kind)
    columns = _numeric(block)
    words = 0
    for name in free:
        if name in index:
            if _same_numbers(columns(index[name]), values, kind) or _same_signs(columns(index[name]), signs):
                yield name
        elif words < WORDS:
            words += 1
            if _same_signs(_codes([as_text(cell) for cell in Beside(column(log, name)).at(block.lines)]), signs):
                yield name


def _audited(cells: list[Any], kind: str) -> tuple[Vector, Vector | None]:
    """What was predicted: its sign (NaN where there is none), and the number, where it is one.

    Of a `number`, which predicts a number and not a class, the sign says nothing.
    """
    if kind == "prediction":
        return _codes([as_text(cell) for cell in cells]), None
    found = numbers(cells) if cells and isinstance(cells[0], str) else np.array(cells, dtype=np.float64)
    if isinstance(found, int):  # said in words when the log is read
        return np.full(len(cells), np.nan), None
    if kind == "number":
        return np.full(len(cells), np.nan), found
    middle = 0.5 if kind == "probability" else 0.0
    return np.where(found == middle, np.nan, np.sign(found - middle)), found


def _codes(cells: Sequence[str | None]) -> Vector:
    """A number for each spelling, in order of appearance; NaN for an empty cell."""
    places: dict[str, float] = {}
    return np.array([np.nan if cell is None else places.setdefault(cell, float(len(places))) for cell in cells])


def _numeric(block: Block) -> Any:
    """A function that gives a numeric column of a block."""
    if isinstance(block.rows, Dense):
        X = block.rows.X
        return lambda place: X[:, place]
    from scipy.sparse import csc_matrix, csr_matrix

    rows = as_sparse(block.rows)
    made = csc_matrix(csr_matrix((rows.values, rows.indices, rows.indptr), shape=(len(rows), rows.width)))

    def one(place: int) -> Vector:
        out = np.zeros(len(rows))
        low, high = made.indptr[place : place + 2]
        out[made.indices[low:high]] = made.data[low:high]
        return out

    return one


def _same_signs(values: Vector, signs: Vector) -> bool:
    """Whether a column of two values tells the audited sign on every row."""
    there = ~(np.isnan(values) | np.isnan(signs))
    pairs = set(zip(values[there].tolist(), signs[there].tolist(), strict=True))
    return int(there.sum()) >= ENOUGH and len(pairs) == 2 and all(len({pair[k] for pair in pairs}) == 2 for k in (0, 1))


def _same_numbers(values: Vector, said: Vector | None, kind: str) -> bool:
    """Whether a column is the audited number itself, or the probability or log-odds that belongs to it."""
    if said is None:
        return False
    there = ~(np.isnan(values) | np.isnan(said))
    c, s = values[there], said[there]
    if len(c) < ENOUGH or len(np.unique(s)) < 3:
        return False
    if kind == "number" or bool((c == s).all()):
        return bool((c == s).all())
    p = s if kind == "probability" else chance(s)
    with np.errstate(over="ignore"):
        near = 1e-3 * np.minimum(p, 1.0 - p) + 1e-6
        alike = any(bool((np.abs(one - p) <= near).all()) for one in (c, 1.0 - c))
        if kind != "probability":
            return alike
        odds = chance(c)
        return alike or bool((np.abs(odds - p) <= near).all() and (p.max() - p.min()) > 0.01)
