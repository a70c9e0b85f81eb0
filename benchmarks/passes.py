"""One pass in memory, all figures gathered, against scikit-learn on the same rows with the same answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import noregret as nr
from benchmarks.streams import dense_stream, sparse_stream
from benchmarks.timing import best_of

Row = dict[str, Any]


def _ours(model: Any, X: Any, y: Any) -> Callable[[], Any]:
    return lambda: model.fit(X, y)


def _sum(X: Any) -> Callable[[], float]:
    """Merely reading the arrays once: the limit that memory sets."""
    parts = [X.data, X.indices] if hasattr(X, "indices") else [X]
    return lambda: sum(float(part.sum()) for part in parts)


def passes(sparse_rows: int, dense_rows: int, turns: int) -> Iterator[Row]:
    """A row for each job: our time, the peer's, their ratio, and how far apart the weights are."""
    from sklearn.linear_model import Perceptron, SGDClassifier

    plain = {"max_iter": 1, "tol": None, "shuffle": False, "fit_intercept": False}
    sgd = {
        "loss": "log_loss",
        "alpha": 0.0,
        "penalty": None,
        "learning_rate": "invscaling",
        "eta0": 1.0,
        "power_t": 0.5,
    }
    streams = {
        "sparse": sparse_stream(sparse_rows),
        "dense float64": dense_stream(dense_rows),
        "dense float32": dense_stream(dense_rows, dtype=np.float32),
    }
    for layout, (X, y) in streams.items():
        jobs = {
            "perceptron": (nr.Perceptron(), Perceptron(**plain)),
            "logistic descent": (
                nr.OnlineGradientDescent(loss="logistic", radius=math.inf, rate="sqrt:1"),
                SGDClassifier(**plain, **sgd),
            ),
            "logistic, radius 10": (nr.OnlineGradientDescent(loss="logistic"), None),
        }
        for job, (model, peer) in jobs.items():
            contestants = {"ours": _ours(model, X, y), "sum": _sum(X)}
            if peer is not None:
                contestants["peer"] = _ours(peer, X, y)
            timed = best_of(contestants, turns)
            row: Row = {
                "job": f"{job}, {layout}",
                "nanoseconds a round": 1e9 * timed["ours"][0] / len(y),
                "share of summing": timed["sum"][0] / timed["ours"][0],
                "error": float(model.core.state["mistakes"][0]) / len(y),
            }
            if peer is not None:
                row["scikit-learn takes ×"] = timed["peer"][0] / timed["ours"][0]
                row["weights differ by"] = float(np.abs(model.coef_ - peer.coef_).max())
            yield row


def own_loss(rows: int, turns: int) -> Iterator[Row]:
    """A loss of one's own against the built-in one that it copies."""
    X, y = dense_stream(rows)
    built_in = nr.OnlineGradientDescent(loss="logistic")
    copied = nr.OnlineGradientDescent(loss=nr.custom_loss(_logistic, _logistic_slope, lipschitz=1.0))
    timed = best_of({"built-in": _ours(built_in, X, y), "own": _ours(copied, X, y)}, turns)
    yield {
        "job": "own logistic loss, dense float64",
        "nanoseconds a round": 1e9 * timed["own"][0] / rows,
        "of the built-in's time": timed["own"][0] / timed["built-in"][0],
        "weights differ by": float(np.abs(built_in.coef_ - copied.coef_).max()),
    }


def _logistic(z: float, y: float) -> float:
    m = y * z
    return max(-m, 0.0) + math.log1p(math.exp(-abs(m)))


def _logistic_slope(z: float, y: float) -> float:
    m = y * z
    e = math.exp(-abs(m))
    return -y * (e if m > 0.0 else 1.0) / (1.0 + e)
