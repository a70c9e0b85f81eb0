"""What a round costs as the stream grows: flat in the rounds before it, linear in the non-zeros, independent of width.

Each learner first plays rows that are not timed, so that its weights have grown; those that are timed are new to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.bench.row import OURS, Row
from noregret.bench.size import Size
from noregret.bench.timing import best_of
from noregret.learner import AdaGrad, OnlineGradientDescent, Perceptron
from noregret.stream.block import Sparse

LEARNERS: dict[str, Callable[[], Any]] = {
    "perceptron": Perceptron,
    "ogd, logistic": partial(OnlineGradientDescent, loss="logistic"),
    "adagrad, logistic": AdaGrad,
}
NONZEROS, WIDTH = 40, 100_000  # where they are not what is varied
ROUNDS, WIDTHS = (1_000, 10_000, 100_000, 1_000_000), (1_000, 10_000, 100_000, 1_000_000)
NONZERO_COUNTS = (10, 100, 1_000, 10_000)


def scaling(size: Size, folder: Path) -> Iterator[Row]:
    """Nanoseconds a round at each of four decades' ends."""
    most = size.scaling // NONZEROS
    for rounds in ROUNDS:
        before = min(rounds, most)
        yield from _timed("scaling in the rounds before", before, before, most // 5, NONZEROS, WIDTH, size)
    for nonzeros in NONZERO_COUNTS:
        rows = max(size.scaling // 5 // nonzeros, 1)
        yield from _timed("scaling in the non-zeros of a row", nonzeros, rows, rows, nonzeros, WIDTH, size)
    for width in WIDTHS:
        yield from _timed("scaling in the number of features", width, most // 5, most // 5, NONZEROS, width, size)


def _timed(job: str, at: int, before: int, rows: int, nonzeros: int, width: int, size: Size) -> Iterator[Row]:
    """The cost of these rows for a learner that has played others before."""
    X, y = skewed_rows(before + rows, nonzeros, width)
    first, second = (X.slice(0, before), y[:before]), (X.slice(before, before + rows), y[before:])
    contestants = {name: _grown(make, first, second, size.turns + 1) for name, make in LEARNERS.items()}
    for name, (seconds, _) in best_of(contestants, size.turns).items():
        each = seconds / rows
        figures = {"nanoseconds per row": 1e9 * each, "nanoseconds per non-zero": 1e9 * each / nonzeros}
        yield {"job": job, "who": f"{OURS}, {name}", "at": at, "rounds": rows, **figures}


def _grown(make: Callable[[], Any], first: Any, second: Any, times: int) -> Callable[[], Any]:
    """What plays the second rows so many times, each time with a learner that has played the first ones only."""
    waiting = [make() for _ in range(times)]
    for learner in waiting:
        learner.play(*first)
    return lambda: waiting.pop().play(*second)


def skewed_rows(rows: int, nonzeros: int, width: int, seed: int = 0) -> tuple[Sparse, NDArray[np.float64]]:
    """Unit rows whose features are drawn with probability ∝ 1/(k + 30), as words are, and a noisy linear label."""
    rng = np.random.default_rng(seed)
    places, w = rng.permutation(width).astype(np.uint32), rng.standard_normal(width)
    log = np.log1p(width / 30.0)
    ranks = np.minimum(30.0 * np.expm1(rng.random((rows, nonzeros)) * log), width - 1.0).astype(np.int64)
    indices = np.sort(places[ranks], axis=1)
    values = rng.random((rows, nonzeros)) / np.sqrt(nonzeros)
    score: Any = np.einsum("ij,ij->i", values, w[indices])
    y = np.where(score + 0.25 * score.std() * rng.standard_normal(rows) > np.median(score), 1.0, -1.0)
    bounds = np.arange(rows + 1, dtype=np.int64) * nonzeros
    return Sparse(bounds, np.ascontiguousarray(indices.ravel()), values.ravel()), y
