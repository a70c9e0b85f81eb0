"""Whole processes, from a text file or from a binary cache to a progressive logistic loss, against those of peers.

Vowpal Wabbit has the same rows in its own text format and runs as its own command line; scikit-learn reads the file and
makes one pass, without a prediction on the way. Everything counts: the interpreter, the imports, the file.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from noregret.bench.row import OURS, Row, installed, missing, row
from noregret.bench.size import Size
from noregret.bench.streams import write_dense, write_sparse
from noregret.bench.timing import Process, best_of, best_process

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
    yield from _raced(job, commands, size, folder)


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
    yield from _raced("the same rows from a binary cache, whole process", commands, size, folder)


def _raced(job: str, commands: dict[str, tuple[str, ...]], size: Size, folder: Path) -> Iterator[Row]:
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
