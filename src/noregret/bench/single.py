"""One example at a time, predict then learn, against River, scikit-learn's partial_fit and Vowpal Wabbit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from noregret import sklearn as estimator
from noregret.bench.row import OURS, Row, installed, missing, row
from noregret.bench.size import Size
from noregret.bench.streams import dense_stream, sparse_stream
from noregret.bench.timing import best_of

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
