"""Progressive error of the learners' defaults beside Vowpal Wabbit's.

Every learner plays the same rows in the same orders with a constant feature, each row scored before it is learned from;
the error is that of the score's sign. `noregret bench` plays the sparse stream once; `python -m noregret.bench.accuracy
FILE.svm ...` plays files, in ten random orders each. Vowpal Wabbit runs with its default options on labels −1 and +1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.bench.row import OURS, Row, installed, missing
from noregret.bench.size import Size
from noregret.bench.streams import sparse_stream
from noregret.learner import LEARNERS
from noregret.stream.block import Sparse

ORDERS = 10
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


def accuracy(size: Size, folder: Path) -> Iterator[Row]:
    """The sparse stream in its own order."""
    X, y = sparse_stream(size.sparse)
    yield from compared("progressive error, sparse stream", X, y, [np.arange(len(y))])


def compared(job: str, X: Any, y: NDArray[np.float64], orders: list[NDArray[np.int64]]) -> Iterator[Row]:
    """The mean error of each over the orders, and how often that of Vowpal Wabbit goes into ours."""
    peer = installed("Vowpal Wabbit") is not None
    theirs = float(np.mean([_vowpal_wabbit(X, y, order) for order in orders])) if peer else None
    yield {"job": job, "who": "Vowpal Wabbit", "error": theirs} if peer else missing(job, "Vowpal Wabbit")
    for learner, settings in LEARNER_SETTINGS.items():
        error = float(np.mean([_error(learner, settings, X, y, order) for order in orders]))
        ratio = {"of its error": error / theirs} if theirs else {}
        yield {"job": job, "who": f"{OURS}, {learner}", "error": error, **ratio}


def main() -> None:
    from sklearn.datasets import load_svmlight_file

    for path in sys.argv[1:]:
        X, y = load_svmlight_file(path)
        orders = [np.random.default_rng(seed).permutation(len(y)) for seed in range(ORDERS)]
        for found in compared(path, X, np.where(y > 0, 1.0, -1.0), orders):
            print("  ".join(f"{key} {value}" for key, value in found.items()), flush=True)


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
