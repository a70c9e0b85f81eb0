"""One pass in memory, all figures gathered, against scikit-learn on the same rows with the same answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from noregret import sklearn as estimator
from noregret.bench.row import OURS, Row, row
from noregret.bench.size import Size
from noregret.bench.streams import dense_stream, sparse_stream
from noregret.bench.timing import best_of
from noregret.loss import custom

PLAIN = {"max_iter": 1, "tol": None, "shuffle": False, "fit_intercept": False}
SGD = {
    "loss": "log_loss",
    "alpha": 0.0,
    "penalty": None,
    "learning_rate": "invscaling",
    "eta0": 1.0,
    "power_t": 0.5,
}

ONCE: dict[str, Any] = {"passes": 1, "shuffle": None}


def _fit(model: Any, X: Any, y: Any) -> Callable[[], Any]:
    return lambda: model.fit(X, y)


def _sum(X: Any) -> Callable[[], float]:
    """Merely reading the arrays once: the limit that memory sets."""
    parts = [X.data, X.indices] if hasattr(X, "indices") else [X]
    return lambda: sum(float(part.sum()) for part in parts)


def passes(size: Size, folder: Path) -> Iterator[Row]:
    """Our time and scikit-learn's, the share of the speed of summing, the error, and how far apart the weights are."""
    streams: dict[str, Callable[[], tuple[Any, Any]]] = {
        "sparse": lambda: sparse_stream(size.sparse),
        "dense float64": lambda: dense_stream(size.dense),
        "dense float32": lambda: dense_stream(size.dense, dtype=np.float32),
    }
    for layout, made in streams.items():
        X, y = made()
        for job, model, peer in _jobs():
            yield from _compared(f"{job}, {layout}, in memory", model, peer, X, y, size.short_turns)


def _jobs() -> list[tuple[str, Any, Any]]:
    from sklearn.linear_model import Perceptron, SGDClassifier

    descent = estimator.OnlineGradientDescent(loss="logistic", radius=math.inf, rate="sqrt:1", **ONCE)
    return [
        ("perceptron", estimator.Perceptron(**ONCE), Perceptron(**PLAIN)),
        ("logistic descent", descent, SGDClassifier(**PLAIN, **SGD)),
        ("logistic descent in a ball", estimator.OnlineGradientDescent(loss="logistic", **ONCE), None),
    ]


def _compared(job: str, model: Any, peer: Any, X: Any, y: Any, turns: int) -> Iterator[Row]:
    contestants = {"ours": _fit(model, X, y), "sum": _sum(X)}
    if peer is not None:
        contestants["peer"] = _fit(peer, X, y)
    timed = best_of(contestants, turns)
    ours, state = timed["ours"][0], model.core.state
    yield row(
        job,
        OURS,
        ours,
        ours,
        error=float(state["mistakes"][0]) / len(y),
        loss=float(state["loss"][0]) / len(y),
        nanoseconds_per_row=1e9 * ours / len(y),
        share_of_summing=timed["sum"][0] / ours,
    )
    if peer is not None:
        apart = float(np.abs(model.coef_ - peer.coef_).max())
        yield row(job, "scikit-learn", timed["peer"][0], ours, weights_differ_by=apart)


def own_loss(size: Size, folder: Path) -> Iterator[Row]:
    """Your own loss against the built-in one that it copies."""
    X, y = dense_stream(size.dense)
    built_in = estimator.OnlineGradientDescent(loss="logistic", **ONCE)
    copied = estimator.OnlineGradientDescent(loss=custom(_logistic, _logistic_slope, lipschitz=1.0), **ONCE)
    timed = best_of({"built-in": _fit(built_in, X, y), "own": _fit(copied, X, y)}, size.short_turns)
    job, ours = "logistic descent, dense, your own loss", timed["built-in"][0]
    for who, name, model in ((OURS, "built-in", built_in), (f"{OURS}, the loss in Python", "own", copied)):
        yield row(job, who, timed[name][0], ours, loss=float(model.core.state["loss"][0]) / len(y))


def _logistic(z: float, y: float) -> float:
    m = y * z
    e = math.exp(-abs(m))
    u = 1.0 + e
    return max(-m, 0.0) + (math.log(u) + (e - (u - 1.0)) / u)


def _logistic_slope(z: float, y: float) -> float:
    m = y * z
    e = math.exp(-abs(m))
    return -y * (e if m > 0.0 else 1.0) / (1.0 + e)
