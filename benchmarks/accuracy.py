"""`python -m benchmarks.accuracy [FILE.svm ...]`: progressive error of the learners' defaults beside Vowpal Wabbit's.

Every learner plays the same rows in the same orders with a constant feature, each row scored before it is learned from;
the error is that of the score's sign. Files are played in ten random orders, the sparse stream of the other benchmarks
once. Vowpal Wabbit runs with its default options on labels −1 and +1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.streams import sparse_stream
from noregret.learner import LEARNERS
from noregret.stream.block import Sparse

ORDERS = 10
ROWS = 300_000
LEARNER_SETTINGS: dict[str, dict[str, Any]] = {
    "adagrad": {},
    "ftrl": {},
    "coin": {"unit_norm": True},
    "pa": {},
    "pa1": {},
    "pa2": {},
    "ogd": {},
    "averaged": {},
    "perceptron": {},
}


def main() -> None:
    for name, X, y, orders in _streams(sys.argv[1:]):
        theirs = float(np.mean([_vowpal_wabbit(X, y, order) for order in orders]))
        print(f"{name}: {len(y):,} rows, {len(orders)} orders\n  vowpal wabbit {theirs:.4f}", flush=True)
        for learner, settings in LEARNER_SETTINGS.items():
            error = float(np.mean([_error(learner, settings, X, y, order) for order in orders]))
            print(f"  {learner:13} {error:.4f}  {error / theirs:.3f} of it", flush=True)


def _streams(paths: list[str]) -> Iterator[tuple[str, Any, NDArray[np.float64], list[NDArray[np.int64]]]]:
    from sklearn.datasets import load_svmlight_file

    for path in paths:
        X, y = load_svmlight_file(path)
        orders = [np.random.default_rng(seed).permutation(len(y)) for seed in range(ORDERS)]
        yield path, X, np.where(y > 0, 1.0, -1.0), orders
    X, y = sparse_stream(ROWS)
    yield "the sparse stream", X, y, [np.arange(len(y))]


def _error(name: str, settings: dict[str, Any], X: Any, y: NDArray[np.float64], order: NDArray[np.int64]) -> float:
    rows, learner = X[order], LEARNERS[name](bias=True, **settings)
    learner.play(Sparse(rows.indptr.astype(np.int64), rows.indices.astype(np.uint32), rows.data), y[order])
    return int(learner.state["mistakes"][0]) / len(y)


def _vowpal_wabbit(X: Any, y: NDArray[np.float64], order: NDArray[np.int64]) -> float:
    """Text lines, as its users write them; the score of each before it is learned from."""
    from vowpalwabbit import Workspace

    workspace, wrong = Workspace("--quiet"), 0
    for t in order:
        part = slice(X.indptr[t], X.indptr[t + 1])
        pairs = zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True)
        example = workspace.parse(f"{int(y[t])} | " + " ".join(f"{i}:{value:.9g}" for i, value in pairs))
        wrong += workspace.predict(example) * y[t] <= 0.0
        workspace.learn(example)
        workspace.finish_example(example)
    workspace.finish()
    return int(wrong) / len(y)


if __name__ == "__main__":
    main()
