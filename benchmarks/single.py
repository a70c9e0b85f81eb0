"""One example at a time, predict_one then learn_one, against River."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import noregret as nr
from benchmarks.streams import dense_stream
from benchmarks.timing import best_of

Row = dict[str, Any]


def single(rows: int, turns: int) -> Iterator[Row]:
    """Microseconds a round with arrays and with dicts; River takes dicts."""
    X, y = dense_stream(rows)
    arrays, names = list(X), [f"f{i}" for i in range(X.shape[1])]
    dicts = [dict(zip(names, row.tolist(), strict=True)) for row in X]
    labels = [bool(label > 0) for label in y]
    contestants = {
        "arrays": _rounds(nr.Perceptron, arrays, labels),
        "dicts": _rounds(nr.Perceptron, dicts, labels),
    }
    try:
        from river.linear_model import Perceptron
    except ImportError:
        print("river is not installed: its column is missing")
    else:
        contestants["river"] = _rounds(Perceptron, dicts, labels)
    timed = best_of(contestants, turns)
    for name in ("arrays", "dicts"):
        row: Row = {
            "job": f"predict_one + learn_one, 50 features, {name}",
            "microseconds a round": 1e6 * timed[name][0] / rows,
            "error": timed[name][1] / rows,
        }
        if "river" in timed:
            row["River takes ×"] = timed["river"][0] / timed[name][0]
            row["River's error"] = timed["river"][1] / rows
        yield row


def _rounds(make: Callable[[], Any], examples: list[Any], labels: list[bool]) -> Callable[[], int]:
    def run() -> int:
        model, wrong = make(), 0
        predict, learn = model.predict_one, model.learn_one
        for x, label in zip(examples, labels, strict=True):
            wrong += predict(x) != label
            learn(x, label)
        return wrong

    return run
