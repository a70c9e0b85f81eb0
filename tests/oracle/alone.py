"""Random runs with their receipts, for verifiers to agree on."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr
from noregret.late.playing import play_late

Rng = np.random.Generator
TWO = ["hinge", "logistic", "squared-hinge", "perceptron", "margin-hinge:0.3", "exponential"]
NUMBERS = ["absolute", "huber:0.5", "pinball:0.2", "epsilon-insensitive:0.1", "squared"]
RATES = ["auto", "sqrt:0.3", "constant:0.1", "horizon:500:30", "doubling:20", "doubling:2"]


def stream(rng: Rng, path: Path, most: int = 60) -> tuple[Any, Any, bool]:
    """Rows and labels, written as svmlight; and whether labels are numbers."""
    count, width, numbers = int(rng.integers(2, most)), int(rng.choice([1, 3, 5, 20, 70])), bool(rng.random() < 0.3)
    X = rng.normal(size=(count, width)) * (rng.random((count, width)) < rng.choice([0.1, 0.5, 1.0]))
    X = np.round(X) if rng.random() < 0.3 else X
    noise = rng.normal(size=count)
    y = np.round(noise * 3, 2) if numbers else np.where(X[:, 0] + noise * rng.choice([0, 0.5]) > 0, 1, -1)
    with path.open("w") as file:
        for row, label in zip(X.tolist(), y, strict=True):
            pairs = " ".join(f"{j + 1}:{x!r}" for j, x in enumerate(row) if x or rng.random() < 0.05)
            file.write(f"{label} {pairs}\n")
    return X, y, numbers


def linear_run(rng: Rng, folder: Path) -> tuple[Any, str] | None:
    """A receipt of the perceptron or of descent, and its stream; None where the run overflows."""
    path = folder / "rows.svm"
    _, _, numbers = stream(rng, path)
    bias, more = bool(rng.random() < 0.4), dict[str, Any]()
    if not numbers and rng.random() < 0.35:
        start = rng.normal(size=3).tolist() if rng.random() < 0.3 else None
        tie = str(rng.choice(["mistake", "+1", "-1"]))
        learner: Any = nr.Perceptron(bias=bias, rate=float(rng.choice([1, 0.3, 2.5])), tie=tie, start=start)
        more = {"radius": 2.0} if rng.random() < 0.5 else {}
    else:
        radius = float(rng.choice([0.5, 3, 10, math.inf]))
        rate = str(rng.choice(RATES if radius < math.inf else ["sqrt:0.01", "constant:0.01"]))
        kind = nr.OnlineGradientDescentRegressor if numbers else nr.OnlineGradientDescent
        loss, l2 = str(rng.choice(NUMBERS if numbers else TWO)), float(rng.choice([0, 0, 0, 0.1]))
        learner = kind(loss=loss, radius=radius, rate=rate, bias=bias, l2=l2)
    try:
        run = nr.play(learner, str(path))
    except nr.NoregretError:
        return None
    more |= {"radii": [1.0, 4.0]} if rng.random() < 0.3 else {}
    known = "radius" in more or getattr(learner, "radius", math.inf) < math.inf
    return nr.certify(run, str(path), anytime=bool(known and rng.random() < 0.3), **more), str(path)


def late_run(rng: Rng, folder: Path) -> tuple[Any, str] | None:
    """The same with labels that come late."""
    path = folder / "rows.svm"
    X, y, numbers = stream(rng, path, 40)
    bias, rate = bool(rng.random() < 0.4), str(rng.choice(["late", "auto", "sqrt:0.3"]))
    how: dict[str, Any] = {"expire": int(rng.integers(1, 10))} if rng.random() < 0.4 else {}
    how |= {"default_label": float(y[0])} if rng.random() < 0.3 else {}
    if not numbers and rng.random() < 0.3:
        learner: Any = nr.Perceptron(bias=bias)
    else:
        kind = nr.OnlineGradientDescentRegressor if numbers else nr.OnlineGradientDescent
        learner = kind(loss="absolute" if numbers else "logistic", radius=2.0, rate=rate, bias=bias)
    if rng.random() < 0.4:
        how["delay"] = int(rng.integers(0, 9))
    else:
        path = folder / "events.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in _events(rng, X.tolist(), y.tolist())))
    try:
        return nr.certify(play_late(learner, str(path), **how), str(path)), str(path)
    except nr.NoregretError:
        return None


def _events(rng: Rng, rows: list[list[float]], y: list[float]) -> list[dict[str, Any]]:
    made, open_ = list[dict[str, Any]](), list[int]()
    named, weighed = rng.random() < 0.5, rng.random() < 0.3
    for t, row in enumerate(rows):
        x: Any = {f"f{j}": v for j, v in enumerate(row) if v} | {"town": "Rome"} if named else row
        made.append({"id": f"a{t}", "x": x, **({"w": float(rng.choice([0.5, 2]))} if weighed else {})})
        open_.append(t)
        while open_ and rng.random() < 0.6:
            k = open_.pop(int(rng.integers(len(open_))))
            made.append({"id": f"a{k}", "y": y[k]})
            if rng.random() < 0.2:
                made.append({"id": f"a{k}", "y": y[k - 1], "revise": True})
        if open_ and rng.random() < 0.1:
            made.append({"id": f"a{open_[0]}", "expire": True})
    return made
