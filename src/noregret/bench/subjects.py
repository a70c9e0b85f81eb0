"""The other subjects: kernels, experts, finite classes, and the best fixed model in hindsight."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.bench.streams import Size, sparse_stream
from noregret.bench.timing import OURS, Row, best_of, installed, missing, row
from noregret.finite import HypothesisClass, dimensions, family
from noregret.learner import KernelPerceptron
from noregret.loss import parse
from noregret.proof.solve import best
from noregret.protocol import play
from noregret.rounds import Rounds
from noregret.task.blend import blend

Vector = NDArray[np.float64]


def curved_stream(rows: int, width: int) -> tuple[Vector, Vector]:
    """Rows of norm about 1 whose label is the sign of a quadratic form in ten directions, one in twenty flipped."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(rows, 10))
    X = (hidden @ rng.normal(size=(10, width)) + 0.3 * rng.normal(size=(rows, width))) / np.sqrt(10.0 * width)
    y = np.where((hidden**2) @ rng.choice([-1.0, 1.0], 10) + hidden @ rng.normal(size=10) > 0, 1.0, -1.0)
    return X, np.where(rng.random(rows) < 0.05, -y, y)


def one_by_one(X: Vector, y: Vector) -> int:
    """Mistakes with (1 + ⟨x, z⟩)², one matrix–vector product a round over a preallocated array of supports."""
    kept, signs, count = np.zeros_like(X), np.zeros(len(y)), 0
    for x, label in zip(X, y, strict=True):
        score = ((1.0 + kept[:count] @ x) ** 2) @ signs[:count]
        if score * label <= 0.0:
            kept[count], signs[count] = x, label
            count += 1
    return count


def kernel(size: Size, folder: Path) -> Iterator[Row]:
    """The loop with as many threads as its library takes and with one; mistakes agree."""
    from threadpoolctl import threadpool_limits

    rows, width = size.kernel
    X, y = curved_stream(rows, width)
    play(KernelPerceptron(kernel="poly", degree=2), (X[:2000, :8], y[:2000]))  # what is first imported is not counted
    began = time.perf_counter()
    run = play(KernelPerceptron(kernel="poly", degree=2), (X, y))
    ours = time.perf_counter() - began
    job = f"kernel perceptron, poly 2, {rows:,} × {width}"
    yield row(job, OURS, ours, ours, error=(run.mistakes or 0) / rows)
    for threads, who in ((1, "a NumPy loop, one thread"), (None, "a NumPy loop, all threads")):
        with threadpool_limits(threads, user_api="blas"):
            began = time.perf_counter()
            mistakes = one_by_one(X, y)
            yield row(job, who, time.perf_counter() - began, ours, error=mistakes / rows)


EXPERTS = 64


def forecasts(rounds: int) -> tuple[Any, Any]:
    """(forecasts, outcomes): 64 experts of growing noise, all in [0, 1]."""
    rng = np.random.default_rng(0)
    y = rng.random(rounds)
    x = np.clip(y[:, None] + rng.normal(size=(rounds, EXPERTS)) * np.linspace(0.05, 0.5, EXPERTS), 0.0, 1.0)
    return x, y


def experts(size: Size, folder: Path) -> Iterator[Row]:
    """Each method of ours, and River's beside the one with the same loss."""
    rounds, fewer = size.expert_rounds
    x, y = forecasts(rounds)
    for loss, method in (("squared", "mixture"), ("absolute", "adahedge"), ("absolute", "hedge")):
        job = f"blend of {EXPERTS} experts, {loss} loss, {method}"
        ours = partial(blend, (x, y), loss=loss, method=method, keep_weights=False)
        took, found = best_of({OURS: ours}, size.turns)[OURS]
        each = took / rounds
        yield row(job, OURS, each, each, loss=found.loss / rounds, nanoseconds_per_row=1e9 * each)
        if loss == "squared" and installed("River"):
            theirs, lost = river(x[:fewer], y[:fewer])
            yield row(job, "River", theirs, each, loss=lost, nanoseconds_per_row=1e9 * theirs)
        elif loss == "squared":
            yield missing(job, "River")


def river(x: Any, y: Any) -> tuple[float, float]:
    """(seconds, mean squared loss) a round of River's loop."""
    from river import base, ensemble, optim

    class Reader(base.Regressor):  # type: ignore[misc]
        """An expert whose forecast is a number of the row."""

        def __init__(self, place: int) -> None:
            self.place = place

        def predict_one(self, x: dict[int, float]) -> float:
            return x[self.place]

        def learn_one(self, x: dict[int, float], y: float) -> None:
            pass

    model = ensemble.EWARegressor([Reader(i) for i in range(EXPERTS)], loss=optim.losses.Squared(), learning_rate=0.5)
    rows, outcomes, total = [dict(enumerate(line)) for line in x.tolist()], y.tolist(), 0.0
    began = time.perf_counter()
    for line, outcome in zip(rows, outcomes, strict=True):
        total += (model.predict_one(line) - outcome) ** 2
        model.learn_one(line, outcome)
    return (time.perf_counter() - began) / len(rows), total / len(rows)


SIDE_BY_SIDE = ("thresholds:31", "cube:6", "intervals:10", "unions:2,7")
LARGE = ("intervals:200", "halfspaces:10", "conjunctions:8", "random 4096×24")


def finite(size: Size, folder: Path) -> Iterator[Row]:
    """Times of both, then the intervals that a limit of seconds leaves."""
    for name in SIDE_BY_SIDE:
        hypotheses = family(name)
        lines = tuple(tuple(line) for line in hypotheses.matrix.tolist())
        contestants: dict[str, Any] = {
            OURS: partial(dimensions, hypotheses),
            "plain Python": partial(by_definition, lines),
        }
        timed = best_of(contestants, size.turns)
        job, ours = f"dimensions of {name}", timed[OURS][0]
        yield row(job, OURS, ours, ours, Littlestone=timed[OURS][1].littlestone.lower)
        yield row(job, "plain Python", timed["plain Python"][0], ours, Littlestone=timed["plain Python"][1])
    for name in LARGE if size.large_classes else ():
        began = time.perf_counter()
        ends = dimensions(_large(name), seconds=size.finite_seconds)
        took = time.perf_counter() - began
        low, high = ends.littlestone.lower, ends.littlestone.upper
        yield row(f"dimensions of {name}", OURS, took, took, Littlestone=low, Littlestone_at_most=high)


def by_definition(hypotheses: tuple[tuple[int, ...], ...]) -> int:
    """1 + the larger side's worst: max over points of min over labels, version spaces remembered."""

    @cache
    def depth(space: tuple[tuple[int, ...], ...]) -> int:
        best = 0
        for point in range(len(space[0])):
            zero = tuple(h for h in space if not h[point])
            one = tuple(h for h in space if h[point])
            if zero and one:
                best = max(best, 1 + min(depth(zero), depth(one)))
        return best

    return depth(hypotheses)


def _large(name: str) -> HypothesisClass:
    if name.startswith("random"):
        return HypothesisClass(np.random.default_rng(0).integers(0, 2, (4096, 24)))
    return family(name)


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
    command = [sys.executable, "-m", "noregret.bench.subjects", layout, loss, str(rows)]
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
