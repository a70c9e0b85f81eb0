"""Whole processes: start-up, learning from files and caches, reading tables; and what a round costs as it grows."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.bench.streams import Size, write_dense, write_sparse
from noregret.bench.timing import OURS, Process, Row, best_of, best_process, installed, missing, row
from noregret.learner import AdaGrad, OnlineGradientDescent, Perceptron
from noregret.stream.block import Sparse


def start(size: Size, folder: Path) -> Iterator[Row]:
    """`noregret --help` and `learn` on ten rows, beside the imports that nobody can do without."""
    ten = folder / "ten.svm"
    ten.write_text("".join(f"{'1' if t % 2 else '-1'} 1:0.5 {t + 2}:1\n" for t in range(10)))
    ours = (sys.executable, "-m", "noregret")
    commands = {
        "import numpy": (sys.executable, "-c", "import numpy"),
        f"{OURS} --help": (*ours, "--help"),
        f"{OURS} learn, ten rows": (*ours, "learn", str(ten)),
        f"{OURS} learn --learner adagrad, ten rows": (*ours, "learn", str(ten), "--learner", "adagrad"),
    }
    found = best_process(commands, dict.fromkeys(commands, size.turns), str(folder / "report.json"))
    base = found[f"{OURS} learn, ten rows"].seconds
    for name, done in found.items():
        yield row("start-up, whole process", name, done.seconds, base, CPU_seconds=done.cpu, megabytes=done.megabytes)


LEARN = (sys.executable, "-m", "noregret", "learn")
ADAGRAD, OGD = ("--learner", "adagrad"), ("--learner", "ogd", "--loss", "logistic")
VW = (sys.executable, "-m", "vowpalwabbit", "--loss_function", "logistic")
LOAD_AND_FIT = """
import sys
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import SGDClassifier
X, y = load_svmlight_file(sys.argv[1])
X.indices, X.indptr = X.indices.astype("int32"), X.indptr.astype("int32")  # SGDClassifier takes no others
SGDClassifier(loss="log_loss", max_iter=1, tol=None, shuffle=False).fit(X, y)
"""


def files(size: Size, folder: Path) -> Iterator[Row]:
    """From text: ours with two learners, Vowpal Wabbit's command line, scikit-learn's reader and one pass."""
    text, theirs, cache = (str(folder / name) for name in ("a.svm", "a.vw", "a.vw.cache"))
    if not (folder / "a.svm").exists():
        write_sparse(Path(text), Path(theirs), size.file)
    job = f"svmlight file of {Path(text).stat().st_size / 1e6:,.0f} MB, whole process"
    commands = {
        f"{OURS}, adagrad": (*LEARN, text, *ADAGRAD, "--json"),
        f"{OURS}, ogd": (*LEARN, text, *OGD, "--json"),
        "Vowpal Wabbit": (*VW, "-d", theirs),
        "Vowpal Wabbit, its cache": (*VW, "-d", theirs, "--cache_file", cache),
        "scikit-learn": (sys.executable, "-c", LOAD_AND_FIT, text),
    }
    yield from raced(job, commands, size, folder)


def cached(size: Size, folder: Path) -> Iterator[Row]:
    """From our binary cache, beside the same from text and Vowpal Wabbit from its own cache."""
    text, theirs, cache = (str(folder / name) for name in ("a.svm", "a.vw", "a.vw.cache"))
    if not (folder / "a.svm").exists():
        write_sparse(Path(text), Path(theirs), size.file)
    commands = {
        f"{OURS}, its cache": (*LEARN, text, *ADAGRAD, "--json", "--cache"),
        f"{OURS}, text": (*LEARN, text, *ADAGRAD, "--json"),
        "Vowpal Wabbit, its cache": (*VW, "-d", theirs, "--cache_file", cache),
    }
    yield from raced("the same rows from a binary cache, whole process", commands, size, folder)


def raced(job: str, commands: dict[str, tuple[str, ...]], size: Size, folder: Path) -> Iterator[Row]:
    present = {name: command for name, command in commands.items() if OURS in name or installed(name.split(",")[0])}
    turns = {name: size.slow_turns if name == "scikit-learn" else size.turns for name in present}
    found = best_process(present, turns, str(folder / "report.json"))
    ours = next(iter(found.values())).seconds
    for name, done in found.items():
        loss, error = _reached(name, done)
        yield row(job, name, done.seconds, ours, loss=loss, error=error, CPU_seconds=done.cpu, megabytes=done.megabytes)
    yield from (missing(job, name) for name in commands if name not in found)


def _reached(name: str, done: Process) -> tuple[float | None, float | None]:
    """(mean progressive loss, progressive error), as far as a process tells them."""
    if OURS in name:
        said = json.loads(done.out)
        return said["loss"]["mean"], said["metrics"]["error"]
    told = re.search(r"average loss = (\S+)", done.err + done.out)
    return (float(told[1]) if told else None), None


def tables(size: Size, folder: Path) -> Iterator[Row]:
    """A dense CSV file read to the end, as blocks of rows of ours, as a frame or a table of theirs on one thread."""
    import os

    path = folder / "b.csv"
    write_dense(path, size.csv)
    contestants = {OURS: lambda: _our_sum(str(path))}
    if installed("polars"):
        os.environ.setdefault("POLARS_MAX_THREADS", "1")  # read once, when polars is first imported
        contestants["polars"] = lambda: _polars_sum(str(path))
    if installed("pyarrow"):
        contestants["pyarrow"] = lambda: _arrow_sum(str(path))
    timed = best_of(contestants, size.turns)
    job = f"CSV file of {path.stat().st_size / 1e6:,.0f} MB, read on one thread"
    for name, (seconds, total) in timed.items():
        megabytes = path.stat().st_size / 1e6 / seconds
        yield row(job, name, seconds, timed[OURS][0], sum_of_all=total, megabytes_a_second=megabytes)
    yield from (missing(job, name) for name in ("polars", "pyarrow") if name not in timed)


def _our_sum(path: str) -> float:
    from noregret.stream import read

    return float(sum(float(block.rows.values.sum()) for block in read(path, threads=1).blocks()))


def _polars_sum(path: str) -> float:
    import polars

    frame = polars.read_csv(path)
    return float(sum(frame[name].sum() for name in frame.columns if name != "label"))


def _arrow_sum(path: str) -> float:
    import pyarrow.compute
    from pyarrow import csv

    table = csv.read_csv(path, read_options=csv.ReadOptions(use_threads=False))
    return float(sum(pyarrow.compute.sum(table[name]).as_py() for name in table.column_names if name != "label"))


LEARNERS: dict[str, Callable[[], Any]] = {
    "perceptron": Perceptron,
    "ogd, logistic": partial(OnlineGradientDescent, loss="logistic"),
    "adagrad, logistic": AdaGrad,
}
NONZEROS, WIDTH = 40, 100_000  # where they are not what is varied
ROUNDS, WIDTHS = (1_000, 10_000, 100_000, 1_000_000), (1_000, 10_000, 100_000, 1_000_000)
NONZERO_COUNTS = (10, 100, 1_000, 10_000)


def scaling(size: Size, folder: Path) -> Iterator[Row]:
    """Nanoseconds a round at each of four decades' ends."""
    most = size.scaling // NONZEROS
    for rounds in ROUNDS:
        before = min(rounds, most)
        yield from _timed("scaling in the rounds before", before, before, most // 5, NONZEROS, WIDTH, size)
    for nonzeros in NONZERO_COUNTS:
        rows = max(size.scaling // 5 // nonzeros, 1)
        yield from _timed("scaling in the non-zeros of a row", nonzeros, rows, rows, nonzeros, WIDTH, size)
    for width in WIDTHS:
        yield from _timed("scaling in the number of features", width, most // 5, most // 5, NONZEROS, width, size)


def _timed(job: str, at: int, before: int, rows: int, nonzeros: int, width: int, size: Size) -> Iterator[Row]:
    """The cost of these rows for a learner that has played others before."""
    X, y = skewed_rows(before + rows, nonzeros, width)
    first, second = (X.slice(0, before), y[:before]), (X.slice(before, before + rows), y[before:])
    contestants = {name: _grown(make, first, second, size.turns + 1) for name, make in LEARNERS.items()}
    for name, (seconds, _) in best_of(contestants, size.turns).items():
        each = seconds / rows
        figures = {"nanoseconds per row": 1e9 * each, "nanoseconds per non-zero": 1e9 * each / nonzeros}
        yield {"job": job, "who": f"{OURS}, {name}", "at": at, "rounds": rows, **figures}


def _grown(make: Callable[[], Any], first: Any, second: Any, times: int) -> Callable[[], Any]:
    """What plays the second rows this number of times, each time with a learner that has played the first ones only."""
    waiting = [make() for _ in range(times)]
    for learner in waiting:
        learner.play(*first)
    return lambda: waiting.pop().play(*second)


def skewed_rows(rows: int, nonzeros: int, width: int, seed: int = 0) -> tuple[Sparse, NDArray[np.float64]]:
    """Unit rows whose features are drawn with probability ∝ 1/(k + 30), as words are, and a noisy linear label."""
    rng = np.random.default_rng(seed)
    places, w = rng.permutation(width).astype(np.uint32), rng.standard_normal(width)
    log = np.log1p(width / 30.0)
    ranks = np.minimum(30.0 * np.expm1(rng.random((rows, nonzeros)) * log), width - 1.0).astype(np.int64)
    indices = np.sort(places[ranks], axis=1)
    values = rng.random((rows, nonzeros)) / np.sqrt(nonzeros)
    score: Any = np.einsum("ij,ij->i", values, w[indices])
    y = np.where(score + 0.25 * score.std() * rng.standard_normal(rows) > np.median(score), 1.0, -1.0)
    bounds = np.arange(rows + 1, dtype=np.int64) * nonzeros
    return Sparse(bounds, np.ascontiguousarray(indices.ravel()), values.ravel()), y
