"""The kernel perceptron against the obvious loop: one product with the supports so far a round."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from noregret.bench.row import OURS, Row, row
from noregret.bench.size import Size
from noregret.learner import KernelPerceptron
from noregret.protocol import play

Vector = NDArray[np.float64]


def curved_stream(rows: int, width: int) -> tuple[Vector, Vector]:
    """Rows of norm about 1 whose label is the sign of a quadratic form in ten directions, one in twenty flipped."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(rows, 10))
    X = (hidden @ rng.normal(size=(10, width)) + 0.3 * rng.normal(size=(rows, width))) / np.sqrt(10.0 * width)
    y = np.where((hidden**2) @ rng.choice([-1.0, 1.0], 10) + hidden @ rng.normal(size=10) > 0, 1.0, -1.0)
    return X, np.where(rng.random(rows) < 0.05, -y, y)


def one_by_one(X: Vector, y: Vector) -> int:
    """Mistakes with (1 + ⟨x, z⟩)², one matrix–vector product a round over a preallocated array of supports."""
    kept, signs, count = np.zeros_like(X), np.zeros(len(y)), 0
    for x, label in zip(X, y, strict=True):
        score = ((1.0 + kept[:count] @ x) ** 2) @ signs[:count]
        if score * label <= 0.0:
            kept[count], signs[count] = x, label
            count += 1
    return count


def kernel(size: Size, folder: Path) -> Iterator[Row]:
    """The loop with as many threads as its library takes and with one; mistakes agree."""
    from threadpoolctl import threadpool_limits

    rows, width = size.kernel
    X, y = curved_stream(rows, width)
    play(KernelPerceptron(kernel="poly", degree=2), (X[:2000, :8], y[:2000]))  # what is first imported is not counted
    began = time.perf_counter()
    run = play(KernelPerceptron(kernel="poly", degree=2), (X, y))
    ours = time.perf_counter() - began
    job = f"kernel perceptron, poly 2, {rows:,} × {width}"
    yield row(job, OURS, ours, ours, error=(run.mistakes or 0) / rows)
    for threads, who in ((1, "a NumPy loop, one thread"), (None, "a NumPy loop, all threads")):
        with threadpool_limits(threads, user_api="blas"):
            began = time.perf_counter()
            mistakes = one_by_one(X, y)
            yield row(job, who, time.perf_counter() - began, ours, error=mistakes / rows)
