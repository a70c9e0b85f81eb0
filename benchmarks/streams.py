"""Seeded workloads.

Stream A is sparse, like text: features of rank k are drawn with probability ∝ 1/(k + 30), row lengths are log-normal,
values tf·idf-like, rows of norm 1, the label the sign of a noisy linear score. Stream B is dense, unit rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

COLUMNS = 47_236


def sparse_stream(rows: int, seed: int = 0) -> tuple[Any, NDArray[np.float64]]:
    """(CSR matrix, labels ±1) of stream A."""
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(seed)
    probability = 1.0 / (np.arange(COLUMNS) + 30.0)
    cumulative = np.cumsum(probability / probability.sum())
    lengths = np.clip(np.exp(np.log(68.0) + 0.45 * rng.standard_normal(rows)), 8, 400).astype(np.int64)
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    ranks = np.minimum(np.searchsorted(cumulative, rng.random(bounds[-1])), COLUMNS - 1)
    row = np.repeat(np.arange(rows, dtype=np.int64), lengths)
    kept = np.unique(row * COLUMNS + ranks)  # a rank at most once a row
    row, ranks = kept // COLUMNS, kept % COLUMNS
    value = (1.0 + np.log1p(rng.exponential(0.5, len(ranks)))) * -np.log(probability / probability.sum())[ranks]
    columns = rng.permutation(COLUMNS).astype(np.int32)[ranks]
    norms = np.sqrt(np.bincount(row, value**2, rows))
    bounds = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))])
    X = csr_matrix((value / norms[row], columns, bounds), shape=(rows, COLUMNS))
    X.sort_indices()
    score = X @ rng.standard_normal(COLUMNS)
    return X, _labels(score - np.median(score), rng)


def dense_stream(
    rows: int, columns: int = 50, dtype: Any = np.float64, seed: int = 0
) -> tuple[Any, NDArray[np.float64]]:
    """(matrix, labels ±1) of stream B."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return np.ascontiguousarray(X, dtype=dtype), _labels(X @ rng.standard_normal(columns), rng)


def _labels(score: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    noisy = score + 0.25 * score.std() * rng.standard_normal(len(score))
    return np.where(noisy > 0.0, 1.0, -1.0)
