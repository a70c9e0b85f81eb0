"""The default learner, with no option at all, beside the defaults of its peers."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from noregret import sklearn as estimator
from noregret.bench.processes import LEARN, VW, raced
from noregret.bench.streams import Size, dense_stream, write_dense, write_sparse
from noregret.bench.timing import OURS, Row, best_of, best_process, installed, missing, row

RIVER = "River"
QUICK_START = """
import csv, json, math, sys, time
from river.linear_model import LogisticRegression
from river.preprocessing import StandardScaler
with open(sys.argv[1]) as file:
    told = [{k: float(v) for k, v in one.items()} for one in csv.DictReader(file)]
rows = [(one, one.pop("label") > 0.0) for one in told]
model, lost, wrong, began = StandardScaler() | LogisticRegression(), 0.0, 0, time.perf_counter()
for x, y in rows:
    p = model.predict_proba_one(x).get(True, 0.5)
    lost -= math.log(max(p if y else 1.0 - p, 1e-15))
    wrong += (p > 0.5) != y
    model.learn_one(x, y)
print(json.dumps([time.perf_counter() - began, lost / len(rows), wrong / len(rows)]))
"""


def auto(size: Size, folder: Path) -> Iterator[Row]:
    """A sparse text file, a dense table, and one example at a time."""
    yield from _sparse_file(size, folder)
    yield from _dense_table(size, folder)
    yield from _one_at_a_time(size)


def _sparse_file(size: Size, folder: Path) -> Iterator[Row]:
    text, theirs = folder / "a.svm", folder / "a.vw"
    if not text.exists():
        write_sparse(text, theirs, size.file)
    job = f"auto, svmlight file of {text.stat().st_size / 1e6:,.0f} MB, whole process"
    commands = {f"{OURS}, auto": (*LEARN, str(text), "--json"), "Vowpal Wabbit": (*VW, "-d", str(theirs))}
    yield from raced(job, commands, size, folder)


def _dense_table(size: Size, folder: Path) -> Iterator[Row]:
    """River's time begins when its rows are read; ours is that of the whole process."""
    path = folder / "auto.csv"
    write_dense(path, size.csv // 2)
    job = f"auto, CSV file of {size.csv // 2:,} rows and 50 columns"
    commands: dict[str, tuple[str, ...]] = {f"{OURS}, auto": (*LEARN, str(path), "--json")}
    turns = {f"{OURS}, auto": size.slow_turns}
    if installed(RIVER):
        commands[RIVER] = (sys.executable, "-c", QUICK_START, str(path))
        turns[RIVER] = size.slow_turns
    found = best_process(commands, turns, str(folder / "report.json"))
    done = found[f"{OURS}, auto"]
    said = json.loads(done.out)
    figures = {"loss": said["loss"]["mean"], "error": said["metrics"]["error"], "megabytes": done.megabytes}
    yield row(job, f"{OURS}, auto", done.seconds, done.seconds, CPU_seconds=done.cpu, **figures)
    if RIVER in found:
        seconds, loss, error = json.loads(found[RIVER].out)
        yield row(job, RIVER, seconds, done.seconds, loss=loss, error=error)
    else:
        yield missing(job, RIVER)


def _one_at_a_time(size: Size) -> Iterator[Row]:
    X, y = dense_stream(size.single // 4)
    labels = [bool(label > 0) for label in y]
    dicts = [{f"f{i}": value for i, value in enumerate(line)} for line in X.tolist()]
    job, ours = "auto, one example at a time, 50 features", f"{OURS}, auto"
    contestants = {
        ours: _rounds(estimator.Auto, list(X), labels),
        f"{ours}, dicts": _rounds(estimator.Auto, dicts, labels),
    }
    if installed(RIVER):
        contestants[RIVER] = _rounds(_quick_start, dicts, labels)
    timed = best_of(contestants, size.turns)
    base = timed[ours][0] / len(labels)
    for name, (seconds, loss) in timed.items():
        each = seconds / len(labels)
        yield row(job, name, each, base, loss=loss / len(labels), microseconds_a_round=1e6 * each)
    if RIVER not in timed:
        yield missing(job, RIVER)


def _quick_start() -> Any:
    from river.linear_model import LogisticRegression
    from river.preprocessing import StandardScaler

    return StandardScaler() | LogisticRegression()


def _rounds(make: Callable[[], Any], examples: list[Any], labels: list[bool]) -> Callable[[], float]:
    """Plays all rounds by their probabilities, and adds up the log-loss."""

    def run() -> float:
        model, lost = make(), 0.0
        probability, learn = model.predict_proba_one, model.learn_one
        for x, label in zip(examples, labels, strict=True):
            said = probability(x)
            lost -= math.log(max(said.get(label, 0.5) if said else 0.5, 1e-15))
            learn(x, label)
        return lost

    return run
