"""The best comparator in hindsight to a certified gap of 1e-4, against a conic solver on the same problem.

Every job of our own runs in a process of its own, so that its peak memory is its own too:
`python -m noregret.bench.hindsight dense hinge 100000` prints one of them as JSON.
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

from noregret.bench.row import OURS, Row, installed, missing, row
from noregret.bench.size import Size
from noregret.bench.streams import sparse_stream
from noregret.loss import parse
from noregret.proof.solve import best
from noregret.rounds import Rounds

LOSSES = ("hinge", "logistic", "squared", "absolute")
GAP, RADIUS = 1e-4, {"dense": 10.0, "sparse": 30.0}


def hindsight(size: Size, folder: Path) -> Iterator[Row]:
    """Seconds, gap, iterations and memory of each problem; a conic solver's time beside the first ones."""
    rows, many_rows, sparse_rows = size.hindsight
    for loss in LOSSES:
        yield (ours := own("dense", loss, rows))
        if installed("cvxpy"):
            took, value = conic(loss, rows)
            yield row(ours["job"], "cvxpy with Clarabel", took, ours["seconds"], value=value)
        else:
            yield missing(ours["job"], "cvxpy")
    problems = [("dense", loss, many_rows) for loss in LOSSES]
    problems += [("sparse", loss, count) for count in sparse_rows for loss in ("hinge", "logistic")]
    yield from (own(*problem) for problem in problems)


def own(layout: str, loss: str, rows: int) -> Row:
    """Our figures for one problem, from a new process."""
    command = [sys.executable, "-m", "noregret.bench.hindsight", layout, loss, str(rows)]
    found: Row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def conic(loss: str, rows: int) -> tuple[float, float]:
    """(seconds, value) of cvxpy with Clarabel."""
    import cvxpy

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
    """One problem solved in this process, what is first imported not counted."""
    X, y = problem(layout, loss, rows)
    rounds = Rounds.of(X, y)
    del X
    best(rounds.first(200), parse(loss), RADIUS[layout], seconds=1.0)
    found = best(rounds, parse(loss), RADIUS[layout], gap=GAP)
    status = Path("/proc/self/status").read_text()  # what getrusage tells is inherited from the parent
    return row(
        f"best comparator, {loss}, {layout}, {rows:,} rounds",
        OURS,
        found.seconds,
        found.seconds,
        value=found.upper,
        gap=found.gap,
        iterations=found.iterations,
        megabytes=float(status.split("VmHWM:")[1].split()[0]) / 2**10,
    )


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
