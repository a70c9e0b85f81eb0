"""Writes the vectors: honest receipts of every kind, forged ones, and what verifiers must answer to each.

python tests/vectors/make.py

`vectors.json` lists receipt, streams, whether it stands, and the exit code of the stand-alone verifier (`alone`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr
from noregret.late.playing import play_late
from noregret.proof.receipt import checksum, packed, unpacked
from noregret.task.separate import separate

HERE = Path(__file__).parent
TWO = "ledger-rows.json ledger-apart.json"
Forger = Callable[[dict[str, Any]], None]


def svm(name: str, X: Any, y: Any) -> str:
    texts = (" ".join(f"{j + 1}:{x!r}" for j, x in enumerate(row) if x) for row in X)
    rows = (f"{label} {text}" for label, text in zip(y, texts, strict=True))
    (HERE / name).write_text("\n".join(rows) + "\n")
    return str(HERE / name)


def honest() -> dict[str, tuple[Any, list[str], int]]:
    """Receipts by name, with their streams and the exit code of the stand-alone verifier."""
    rng = np.random.default_rng(26)
    X = np.round(rng.normal(size=(24, 5)) * (rng.random((24, 5)) < 0.7), 2)
    y = np.where(X[:, 0] - X[:, 2] + 0.4 * rng.normal(size=24) > 0, 1, -1)
    rows, numbers = svm("rows.svm", X.tolist(), y), svm("numbers.svm", X.tolist(), np.round(X[:, 1] * 2, 2))
    apart = svm("apart.svm", X.tolist(), np.where(X[:, 0] > 0, 1, -1) * np.where(X[:, 0] == 0, -1, 1))
    events = [{"id": f"a{t}", "x": row} for t, row in enumerate(X.tolist())]
    for t in range(23, 2, -1):
        events.insert(t + 1, {"id": f"a{t - 3}", "y": int(y[t - 3])})
    (HERE / "events.jsonl").write_text("".join(json.dumps(one) + "\n" for one in events))
    table = ["a,b,outcome", *(f"{a},{b},{c}" for a, b, c in np.round(rng.random((12, 3)), 2).tolist())]
    (HERE / "table.csv").write_text("\n".join(table) + "\n")
    log, shelf = str(HERE / "events.jsonl"), str(HERE / "table.csv")

    def run(learner: Any, stream: str, alone: int = 0, **more: Any) -> tuple[Any, list[str], int]:
        return nr.certify(nr.play(learner, stream), stream, **more), [stream], alone

    return {
        "perceptron": run(nr.Perceptron(bias=True), rows, radius=2.0),
        "logistic": run(nr.OnlineGradientDescent(loss="logistic", radius=3.0, bias=True), rows, anytime=True),
        "hinge-unit-norm": run(nr.OnlineGradientDescent(radius=2.0, unit_norm=True), rows, radii=[1.0, 2.0]),
        "numbers": run(nr.OnlineGradientDescentRegressor(loss="huber:0.5", rate="doubling:9"), numbers),
        "ladder": run(nr.OnlineGradientDescent(rate="sqrt:0.5"), rows, 4),
        "adagrad": run(nr.AdaGrad(), rows, 4),
        "late-events": late(nr.OnlineGradientDescent(rate="late"), log),
        "late-delay": late(nr.Perceptron(), rows, delay=4),
        "separable": (separate(apart), [apart], 0),
        "inseparable": (separate(rows, bias=True), [rows], 0),
        "blend": (nr.blend(shelf, outcome="outcome", experts=["a", "b"], loss="squared").receipt(), [shelf], 4),
    }


def ledgers() -> dict[str, list[str]]:
    """Ledgers of two runs and of both together, with their streams."""
    learn = "learn {0}.svm --learner ogd --loss logistic --radius 3 --bias --quiet --ledger ledger-{0}.json"
    for call in (learn.format("rows"), learn.format("apart"), f"merge {TWO} --quiet --receipt merged.json"):
        subprocess.run([sys.executable, "-m", "noregret", *call.split()], check=True, cwd=HERE)
    (HERE / "ledger-apart.json").unlink()
    watch = "learn rows.svm --learner ogd --loss logistic --radius 3 --windows every:10 --quiet --receipt watched.json"
    subprocess.run([sys.executable, "-m", "noregret", *watch.split()], check=True, cwd=HERE)
    return {"watched": ["rows.svm"], "ledger-rows": ["rows.svm"], "merged": ["rows.svm", "apart.svm"]}


def late(learner: Any, stream: str, **how: Any) -> tuple[Any, list[str], int]:
    return nr.certify(play_late(learner, stream, **how), stream), [stream], 0


def shifted(*path: Any, by: float = 0.01) -> Forger:
    """A number, or both ends of an interval, a little lower."""

    def forge(said: dict[str, Any]) -> None:
        for key in path[:-1]:
            said = said[key]
        if isinstance(said[path[-1]], dict):
            said[path[-1]] = {end: value - by for end, value in said[path[-1]].items()}
        else:
            said[path[-1]] = type(said[path[-1]])(said[path[-1]] - by)

    return forge


def bent(name: str, *inside: str) -> Forger:
    """A vector that is another one."""

    def forge(said: dict[str, Any]) -> None:
        for key in inside:
            said = said[key]
        points = said.get("points", said)
        vector = unpacked(points[name])
        vector[-1] += 0.3
        points[name] = packed(vector)

    return forge


def flipped(*path: Any) -> Forger:
    """A digest with another first digit."""

    def forge(said: dict[str, Any]) -> None:
        for key in path[:-1]:
            said = said[key]
        said[path[-1]] = ("1" if said[path[-1]][0] == "0" else "0") + said[path[-1]][1:]

    return forge


RUN: dict[str, Forger] = {
    "mistakes": shifted("figures", "mistakes", by=1),
    "norm": shifted("figures", "max_norm2"),
    "weights": shifted("figures", "weight_norm", by=1e-9),
    "order": shifted("figures", "score_moment"),
    "own": shifted("regret", "own"),
    "comparator": shifted("regret", "comparator"),
    "point": bent("u"),
    "bound": shifted("certificates", 0, "bound", by=0.1),
    "rows": flipped("replay", "rows"),
    "scores": flipped("replay", "scores"),
    "state": flipped("replay", "learner"),
    "logged": bent("scores"),
}
SOME = ("mistakes", "norm", "own", "comparator", "point", "rows", "logged")
FORGED: dict[str, dict[str, Forger]] = {
    "perceptron": RUN,
    "logistic": {**RUN, "dual": bent("alpha"), "gradient": shifted("figures", "gradient", "sum_norm2")},
    "hinge-unit-norm": RUN,
    "numbers": {name: RUN[name] for name in RUN if name != "mistakes"},
    "ladder": {name: RUN[name] for name in SOME},
    "adagrad": {name: RUN[name] for name in SOME if name != "logged"},
    "late-events": {
        "events": flipped("digest"),
        "answers": flipped("predictions"),
        "staleness": shifted("figures", "staleness"),
        "delay": shifted("figures", "delay", by=1),
        "own": shifted("regret", "own"),
        "bound": shifted("certificates", 0, "bound", by=0.1),
        "inner": shifted("run", "figures", "loss"),
    },
    "late-delay": {"answers": flipped("predictions"), "inner": shifted("run", "figures", "mistakes", by=1)},
    "separable": {"margin": shifted("margin", by=-0.01), "rows": shifted("rows", by=1), "digest": flipped("digest")},
    "inseparable": {"radius": shifted("radius"), "digest": flipped("digest")},
    "watched": {"run": shifted("run", "figures", "loss"), "own": shifted("run", "regret", "own")},
    "ledger-rows": {"paid": shifted("parts", 0, "paid"), "size": shifted("parts", 0, "norms", by=0.1)},
    "merged": {
        "ball": shifted("certificates", 0, "bound", by=0.1),
        "parts": shifted("certificates", 4, "bound", by=0.1),
        "sum": bent("G", "parts", 1),
        "rows": flipped("parts", 0, "rows"),
    },
    "blend": {"loss": shifted("loss")},
}


def written(name: str, said: dict[str, Any]) -> None:
    body = {key: value for key, value in said.items() if key != "checksum"}
    (HERE / name).write_text(json.dumps({**body, "checksum": checksum(body)}, indent=1) + "\n")


def main() -> None:
    vectors = []
    for name, (receipt, streams, alone) in honest().items():
        path = HERE / f"{name}.json"
        receipt.save(path)
        names = [Path(stream).name for stream in streams]
        vectors += judged(name, json.loads(path.read_text()), names, alone)
    for name, files in ledgers().items():
        vectors += judged(name, json.loads((HERE / f"{name}.json").read_text()), files, 4 * (name == "watched"))
    (HERE / "vectors.json").write_text(json.dumps(vectors, indent=1) + "\n")


def judged(name: str, said: dict[str, Any], files: list[str], alone: int) -> list[dict[str, Any]]:
    """An honest receipt and those that are forged from it, with what must be said of them."""
    vectors: list[dict[str, Any]] = []
    path = HERE / f"{name}.json"
    vectors.append({"receipt": path.name, "streams": files, "stands": True, "alone": alone})
    for what, forge in FORGED[name].items():
        copy = deepcopy(said)
        forge(copy)
        written(f"{name}-{what}.forged.json", copy)
        found = 1 if name != "blend" else 4
        vectors.append({"receipt": f"{name}-{what}.forged.json", "streams": files, "stands": False, "alone": found})
    return vectors


if __name__ == "__main__":
    main()
