"""Linear learners: one pass in memory, one example at a time, and the progressive error of their defaults.

`noregret bench` plays the sparse stream once; `python -m noregret.bench.linear FILE.svm ...` compares the errors on
files, in ten random orders each, every row scored before it is learned from, with a constant feature. Vowpal Wabbit
runs with its default options on labels −1 and +1.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import sklearn as estimator
from noregret.bench.streams import Size, dense_stream, sparse_stream
from noregret.bench.timing import OURS, Row, best_of, installed, missing, row
from noregret.learner import LEARNERS
from noregret.loss import custom
from noregret.stream.block import Sparse

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


Rounds = Callable[[], int]  # plays them all and counts the mistakes
SLOW = 200  # rounds of a peer that takes most of a millisecond for each


def single(size: Size, folder: Path) -> Iterator[Row]:
    """Seconds for all rounds, and microseconds a round; peers that are slow play fewer."""
    X, y = dense_stream(size.single)
    labels = [bool(label > 0) for label in y]
    dicts = [{f"f{i}": value for i, value in enumerate(line)} for line in X.tolist()]
    yield from _played("one example at a time, 50 features", list(X), dicts, labels, size)
    A, y = sparse_stream(size.single)
    parts = [slice(A.indptr[t], A.indptr[t + 1]) for t in range(len(y))]
    pairs = [(A.indices[part], A.data[part]) for part in parts]
    dicts = [{str(i): v for i, v in zip(where.tolist(), what.tolist(), strict=True)} for where, what in pairs]
    yield from _played("one example at a time, sparse", pairs, dicts, [bool(label > 0) for label in y], size)


def _played(job: str, arrays: list[Any], dicts: list[Any], labels: list[bool], size: Size) -> Iterator[Row]:
    contestants: dict[str, Rounds] = {
        OURS: _rounds(estimator.Perceptron, arrays, labels),
        f"{OURS}, dicts": _rounds(estimator.Perceptron, dicts, labels),
    }
    peers: dict[str, Callable[[], Rounds]] = {
        "River": lambda: _river(dicts, labels),
        "Vowpal Wabbit": lambda: _vowpal_wabbit(dicts, labels),
        "scikit-learn": lambda: _partial_fit(arrays[:SLOW], labels[:SLOW]),
    }
    if isinstance(arrays[0], tuple):
        del peers["scikit-learn"]  # takes a matrix for each row: what that costs is not its learning
    contestants |= {name: made() for name, made in peers.items() if installed(name)}
    timed = best_of(contestants, size.turns)
    ours = timed[OURS][0] / len(labels)
    for name, (seconds, wrong) in timed.items():
        rounds = min(SLOW, len(labels)) if name == "scikit-learn" else len(labels)
        yield row(job, name, seconds / rounds, ours, error=wrong / rounds, microseconds_a_round=1e6 * seconds / rounds)
    yield from (missing(job, name) for name in peers if name not in timed)


def _rounds(make: Callable[[], Any], examples: list[Any], labels: list[bool]) -> Rounds:
    def run() -> int:
        model, wrong = make(), 0
        predict, learn = model.predict_one, model.learn_one
        for x, label in zip(examples, labels, strict=True):
            wrong += predict(x) != label
            learn(x, label)
        return wrong

    return run


def _river(dicts: list[Any], labels: list[bool]) -> Rounds:
    from river.linear_model import Perceptron

    return _rounds(Perceptron, dicts, labels)


def _partial_fit(arrays: list[Any], labels: list[bool]) -> Rounds:
    from sklearn.linear_model import Perceptron

    def run() -> int:
        model, wrong, kinds = Perceptron(), 0, np.array([False, True])
        for t, (x, label) in enumerate(zip(arrays, labels, strict=True)):
            wrong += t == 0 or model.predict(x[np.newaxis])[0] != label
            model.partial_fit(x[np.newaxis], [label], kinds)
        return wrong

    return run


def _vowpal_wabbit(dicts: list[Any], labels: list[bool]) -> Rounds:
    from vowpalwabbit import Workspace

    def run() -> int:
        workspace, wrong = Workspace("--quiet --loss_function logistic"), 0
        for x, label in zip(dicts, labels, strict=True):
            example = workspace.example({" ": x})
            example.set_label_string("1" if label else "-1")
            wrong += (workspace.predict(example) > 0.0) != label
            workspace.learn(example)
            workspace.finish_example(example)
        workspace.finish()
        return wrong

    return run


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
    theirs = float(np.mean([_vw_error(X, y, order) for order in orders])) if peer else None
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


def _vw_error(X: Any, y: NDArray[np.float64], order: NDArray[np.int64]) -> float:
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
