"""The best comparator in hindsight to a certified gap of 1e-4, against a conic solver on the same problem.

Every job of our own runs in a process of its own, so that its peak memory is its own too:
`python -m benchmarks.hindsight dense hinge 100000` prints one of them as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.streams import sparse_stream
from noregret.hindsight import best
from noregret.loss import parse
from noregret.rounds import Rounds

Row = dict[str, Any]
LOSSES = ("hinge", "logistic", "squared", "absolute")
GAP, RADIUS = 1e-4, {"dense": 10.0, "sparse": 30.0}


def hindsight(rows: int, many_rows: int, sparse_rows: tuple[int, ...]) -> Iterator[Row]:
    """A row for each job: seconds, gap, iterations and memory; a conic solver's time beside the first ones."""
    for loss in LOSSES:
        row = own("dense", loss, rows)
        took, value = conic(loss, rows)
        if took is not None:
            row |= {"cvxpy + Clarabel takes ×": took / row["seconds"], "its value / ours": value / row["upper"]}
        yield row
    for loss in LOSSES:
        yield own("dense", loss, many_rows)
    for count in sparse_rows:
        for loss in ("hinge", "logistic"):
            yield own("sparse", loss, count)


def peak() -> float:
    """The most memory this process held, in MiB; what getrusage tells is inherited from the parent."""
    status = Path("/proc/self/status").read_text()
    return float(status.split("VmHWM:")[1].split()[0]) / 2**10


def own(layout: str, loss: str, rows: int) -> Row:
    """Our figures for one problem, from a new process."""
    command = [sys.executable, "-m", "benchmarks.hindsight", layout, loss, str(rows)]
    found: Row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def conic(loss: str, rows: int) -> tuple[float | None, float]:
    """(seconds, value) of cvxpy with Clarabel."""
    try:
        import cvxpy
    except ImportError:
        print("cvxpy is not installed: its column is missing")
        return None, 0.0
    X, y = problem("dense", loss, rows)
    u = cvxpy.Variable(X.shape[1])
    z = X @ u
    m = cvxpy.multiply(y, z)
    terms = {
        "hinge": lambda: cvxpy.pos(1 - m),
        "logistic": lambda: cvxpy.logistic(-m),
        "squared": lambda: cvxpy.square(z - y),
        "absolute": lambda: cvxpy.abs(z - y),
    }
    task = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(terms[loss]())), [cvxpy.norm(u) <= RADIUS["dense"]])
    began = time.perf_counter()
    value = float(task.solve(solver=cvxpy.CLARABEL))
    return time.perf_counter() - began, value


def problem(layout: str, loss: str, rows: int) -> tuple[Any, Any]:
    """Stream A of `streams`, or 50 features whose scales differ by a factor of 1000."""
    if layout == "sparse":
        return sparse_stream(rows)
    rng = np.random.default_rng(0)
    scales = np.logspace(-1.5, 1.5, 50)
    X = rng.standard_normal((rows, 50)) * scales
    score = X @ rng.standard_normal(50) / scales.mean()
    score += 0.5 * score.std() * rng.standard_normal(rows)
    return X, score if parse(loss).regression else np.where(score > 0.0, 1.0, -1.0)


def measured(layout: str, loss: str, rows: int) -> Row:
    """One problem solved in this process, the compiler's time not counted."""
    X, y = problem(layout, loss, rows)
    rounds = Rounds.of(X, y)
    del X
    best(rounds.first(200), parse(loss), RADIUS[layout], seconds=1.0)
    began = time.process_time()
    found = best(rounds, parse(loss), RADIUS[layout], gap=GAP)
    return {
        "job": f"best comparator, {loss}, {layout}, {rows:.0e} rounds",
        "seconds": found.seconds,
        "CPU seconds": time.process_time() - began,
        "gap": found.gap,
        "iterations": found.iterations,
        "upper": found.upper,
        "megabytes of data": rounds.rows.values.nbytes * (1.0 if layout == "dense" else 1.5) / 2**20,
        "megabytes at most": peak(),
    }


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
