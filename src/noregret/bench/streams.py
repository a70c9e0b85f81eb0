"""Workloads: what is timed on, made from a seed, and how large it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
COLUMNS = 47_236
PART = 50_000  # rows of stream A that are made at a time


def sparse_chunks(rows: int, seed: int = 0, columns: int = COLUMNS) -> Iterator[tuple[Any, Vector]]:
    """(CSR matrix, labels ±1) of stream A, part after part."""
    rng = np.random.default_rng(seed)
    places, w = rng.permutation(columns).astype(np.int32), rng.standard_normal(columns)
    middle = None
    for first in range(0, rows, PART):
        X = _sparse_rows(min(PART, rows - first), places, rng)
        score = X @ w
        middle = float(np.median(score)) if middle is None else middle
        yield X, _labels(score - middle, rng)


def _sparse_rows(rows: int, places: NDArray[np.int32], rng: np.random.Generator) -> Any:
    from scipy.sparse import csr_matrix

    columns = len(places)
    probability = 1.0 / (np.arange(columns) + 30.0)
    probability /= probability.sum()
    lengths = np.clip(np.exp(np.log(68.0) + 0.45 * rng.standard_normal(rows)), 8, 400).astype(np.int64)
    ranks = np.minimum(np.searchsorted(np.cumsum(probability), rng.random(int(lengths.sum()))), columns - 1)
    kept = np.unique(np.repeat(np.arange(rows, dtype=np.int64), lengths) * columns + ranks)  # a rank once a row
    row, ranks = kept // columns, kept % columns
    value = (1.0 + np.log1p(rng.exponential(0.5, len(ranks)))) * -np.log(probability)[ranks]
    norms = np.sqrt(np.bincount(row, value**2, rows))
    bounds = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))])
    X = csr_matrix((value / norms[row], places[ranks], bounds), shape=(rows, columns))
    X.sort_indices()
    return X


def sparse_stream(rows: int, seed: int = 0) -> tuple[Any, Vector]:
    """(CSR matrix, labels ±1) of stream A."""
    from scipy.sparse import vstack

    matrices, labels = zip(*sparse_chunks(rows, seed), strict=True)
    return vstack(matrices, format="csr"), np.concatenate(labels)


def dense_stream(rows: int, columns: int = 50, dtype: Any = np.float64, seed: int = 0) -> tuple[Any, Vector]:
    """(matrix, labels ±1) of stream B."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return np.ascontiguousarray(X, dtype=dtype), _labels(X @ rng.standard_normal(columns), rng)


def _labels(score: Vector, rng: np.random.Generator) -> Vector:
    noisy = score + 0.25 * score.std() * rng.standard_normal(len(score))
    return np.where(noisy > 0.0, 1.0, -1.0)


def write_sparse(svmlight: Path, vowpal_wabbit: Path, rows: int) -> None:
    """Stream A as svmlight text and, the same pairs, in the text format of Vowpal Wabbit."""
    with svmlight.open("w") as ours, vowpal_wabbit.open("w") as theirs:
        for X, y in sparse_chunks(rows):
            pairs = list(map("%d:%.6g".__mod__, zip((X.indices + 1).tolist(), X.data.tolist(), strict=True)))
            for t, label in enumerate(y.tolist()):
                text = " ".join(pairs[X.indptr[t] : X.indptr[t + 1]])
                ours.write(f"{label:.0f} {text}\n")
                theirs.write(f"{label:.0f} | {text}\n")


def write_dense(path: Path, rows: int) -> None:
    """Stream B as CSV with a head, a label and 50 columns."""
    X, y = dense_stream(rows)
    line = ",".join(["%.0f", *["%.6g"] * X.shape[1]]) + "\n"
    with path.open("w") as file:
        file.write(",".join(["label", *(f"x{i}" for i in range(X.shape[1]))]) + "\n")
        file.writelines(line % (label, *row) for label, row in zip(y.tolist(), X.tolist(), strict=True))


@dataclass(frozen=True)
class Size:
    """Turns of each contestant, and rows of each job."""

    turns: int
    short_turns: int  # of what takes a tenth of a second: others who use the same memory come and go in such times
    sparse: int  # rows of stream A in memory
    dense: int  # rows of stream B in memory
    single: int  # rounds played one at a time
    file: int  # rows of stream A in a text file
    csv: int
    slow_turns: int  # of peers that take minutes
    kernel: tuple[int, int]
    expert_rounds: tuple[int, int]  # ours, River's
    finite_seconds: float
    large_classes: bool
    hindsight: tuple[int, int, tuple[int, ...]]
    scaling: int  # entries of the largest stream of the scaling measurements


FULL = Size(
    turns=5,
    short_turns=15,
    sparse=500_000,
    dense=1_000_000,
    single=20_000,
    file=950_000,
    csv=1_000_000,
    slow_turns=1,
    kernel=(20_000, 784),
    expert_rounds=(1_000_000, 2_000),
    finite_seconds=60.0,
    large_classes=True,
    hindsight=(100_000, 1_000_000, (100_000, 400_000)),
    scaling=50_000_000,
)
QUICK = Size(
    turns=3,
    short_turns=3,
    sparse=50_000,
    dense=200_000,
    single=3_000,
    file=35_000,
    csv=60_000,
    slow_turns=1,
    kernel=(3_000, 784),
    expert_rounds=(100_000, 500),
    finite_seconds=1.0,
    large_classes=False,
    hindsight=(2_000, 20_000, (5_000,)),
    scaling=5_000_000,
)
TINY = Size(
    turns=1,
    short_turns=1,
    sparse=60,
    dense=80,
    single=20,
    file=40,
    csv=30,
    slow_turns=1,
    kernel=(40, 6),
    expert_rounds=(50, 20),
    finite_seconds=0.1,
    large_classes=False,
    hindsight=(60, 80, ()),
    scaling=10_000,
)
