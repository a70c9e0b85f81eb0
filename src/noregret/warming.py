"""Compiling everything once: small jobs, one a part, that run the public routes on tiny inputs.

Machine code is kept for each function and each layout of rows, so a job plays each layout that a stream can have. A new
part that compiles adds one job here.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import learner as cores
from noregret.blending import blend
from noregret.errors import SettingError
from noregret.finite import SOA, Halving, TreeAdversary, dimensions, duel, family
from noregret.learner import KernelPerceptron
from noregret.loss import LOSSES, parse
from noregret.protocol import play
from noregret.receipt import certify, verify
from noregret.selection import select
from noregret.separation import separate
from noregret.stream.read import read

Job = Callable[[Path], None]
LEARNERS: dict[str, Any] = dict(cores.LEARNERS)
ROWS, COLUMNS = 24, 3


def layouts() -> dict[str, Callable[[NDArray[np.float64]], Any]]:
    """Rows as the compiled loops tell them apart."""
    from scipy.sparse import csr_matrix

    return {
        "dense float64": lambda X: X,
        "dense float32": lambda X: X.astype(np.float32),
        "sparse float64": csr_matrix,
        "sparse float32": lambda X: csr_matrix(X.astype(np.float32)),
    }


def jobs() -> dict[str, Job]:
    """What there is to compile, by the name of its part."""
    found: dict[str, Job] = {"learners with a loss of their own": _own}
    found |= {f"learners with the loss {name}": _with_loss(name) for name in LOSSES}
    found |= {
        "kernels": _kernels,
        "scaling": _scaling,
        "one example at a time": _one,
        "readers": _readers,
        "receipts": _receipts,
        "receipts of kernels and classes": _receipts_of_more,
        "selection": _selection,
        "separation": _separation,
        "experts": _experts,
        "finite classes": _finite,
    }
    return found


def warm(chosen: Mapping[str, Job], told: Callable[[str], None] = lambda name: None) -> Iterator[tuple[str, float]]:
    """Run the jobs one after another: (part, seconds) of each, `told` hearing which one begins."""
    with tempfile.TemporaryDirectory(prefix="noregret-") as folder:
        for name, job in chosen.items():
            told(name)
            began = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of figures on toy inputs
                job(Path(folder))
            yield name, time.perf_counter() - began


def example(regression: bool = False) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A few rows with labels of either kind."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS)) / 4.0
    score = X @ np.arange(1.0, COLUMNS + 1.0) + 0.1 * rng.normal(size=ROWS)
    return X, score if regression else np.where(score > 0.0, 1.0, -1.0)


def _play(make: Callable[[], Any], X: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    """The rounds, and the scores of a learner that has played them, for every layout."""
    for laid in layouts().values():
        learner = make()
        play(learner, (laid(X), y))
        for block in read((laid(X), y)).blocks():
            learner.scores(block.rows)


def _own(folder: Path) -> None:
    for name in ("perceptron", "averaged", "voted", "multiclass", "second-order", "vaw"):
        kind = LEARNERS[name]
        _play(kind, *example(regression=name == "vaw"))
        play(kind(bias=True), (example(regression=name == "vaw")))


def _with_loss(loss: str) -> Job:
    def job(folder: Path) -> None:
        for name in ("pa", "ogd", "ogd-strong", "adagrad", "ftrl", "coin"):
            settings = {"loss": loss, **({"gradient_bound": 1e3} if name == "coin" else {})}
            with suppress(SettingError):  # not every learner takes every loss
                _play(partial(LEARNERS[name], **settings), *example(parse(loss).regression))

    return job


def _kernels(folder: Path) -> None:
    for kernel in ("linear", "poly", "rbf", "laplace"):
        _play(partial(KernelPerceptron, kernel=kernel), *example())
    X, y = example()
    play(KernelPerceptron(kernel="precomputed"), (X @ X.T, y))
    play(KernelPerceptron(kernel="poly", budget=4), (X, y))


def _scaling(folder: Path) -> None:
    _play(partial(LEARNERS["perceptron"], scale="max", unit_norm=True), *example())


def _one(folder: Path) -> None:
    from noregret import estimator

    X, y = example()
    for kind in (estimator.Perceptron, estimator.OnlineGradientDescent, estimator.AdaGrad, estimator.KernelPerceptron):
        model = kind()
        model.fit(X, y).predict(X)
        model.learn_one(X[0], y[0]).predict_one(X[0])
        named = kind()
        named.learn_one({"a": 1.0}, 1).learn_one({"b": 1.0}, -1).predict_one({"a": 1.0})


def _readers(folder: Path) -> None:
    """Text files in, a model out: what is parsed, hashed and summed for the digest."""
    (folder / "rows.svm").write_text("1 1:0.5 2:1e-3\n-1 1:-0.25 3:1\n" * 4)
    (folder / "rows.csv").write_text("label,x,colour,said\n" + "1,0.5,red,good day\n-1,2,blue,bad day\n" * 4)
    (folder / "numbers.csv").write_text("label,x,z\n" + "1,0.5,1e-3\n-1,2,4\n" * 4)
    (folder / "rows.vw").write_text("1 2 |a red:0.5 tall\n-1 |a blue:2\n")
    play(LEARNERS["perceptron"](), str(folder / "rows.vw"))
    (folder / "quoted.csv").write_text('label,x\n1,"0.5"\n-1,"2"\n')
    for _ in range(2):  # into a cache, and from it
        play(LEARNERS["perceptron"](), read(str(folder / "rows.svm"), cache=True), digest=True)
    play(LEARNERS["perceptron"](), str(folder / "quoted.csv"))
    play(LEARNERS["perceptron"](), str(folder / "numbers.csv"), digest=True)
    play(LEARNERS["perceptron"](), read(str(folder / "rows.csv"), text=("said",), categorical=("colour",)), digest=True)


def _receipts(folder: Path) -> None:
    """Hindsight, certificates and their verification, of dense and of sparse rows."""
    for loss in LOSSES:
        X, y = example(parse(loss).regression)
        for laid in (layouts()["dense float64"], layouts()["sparse float64"]):
            for name in ("ogd", "ogd-strong", "adagrad"):
                settings = {"loss": loss, "radius": 2.0}
                _proved(LEARNERS[name](**settings), (laid(X), y))


def _receipts_of_more(folder: Path) -> None:
    X, y = example()
    for laid in (layouts()["dense float64"], layouts()["sparse float64"]):
        for name in ("perceptron", "pa1", "ftrl", "second-order", "multiclass", "voted"):
            _proved(LEARNERS[name](), (laid(X), y), **({} if name in ("ftrl", "multiclass") else {"radius": 2.0}))
        _proved(LEARNERS["coin"](gradient_bound=1e3), (laid(X), y), radius=2.0)
        _proved(LEARNERS["vaw"](), (laid(X), example(regression=True)[1]), radius=2.0)
        for kernel in ("linear", "poly", "rbf", "laplace"):
            _proved(KernelPerceptron(kernel=kernel), (laid(X), y))


def _proved(learner: Any, stream: Any, **more: Any) -> None:
    receipt = certify(play(learner, stream, digest=True), stream, **more)
    verify(receipt, stream)


def _selection(folder: Path) -> None:
    for laid in (layouts()["dense float64"], layouts()["sparse float64"]):
        for how in ("penalised", "average", "voted"):
            select(LEARNERS["perceptron"](), (laid(example()[0]), example()[1]), how=how)


def _separation(folder: Path) -> None:
    for laid in (layouts()["dense float64"], layouts()["sparse float64"]):
        separate((laid(example()[0]), example()[1]), seconds=1.0)


def _experts(folder: Path) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.random((ROWS, COLUMNS)), rng.random(ROWS)
    for loss in ("squared", "absolute", "log", "zero-one", "brier"):
        blend((x, np.round(y) if loss in ("log", "zero-one", "brier") else y), loss=loss, switches=2)
    for method in ("mixture", "hedge", "adahedge", "doubling", "fixed-share", "weighted-majority"):
        with suppress(SettingError):
            blend((x, y), loss="squared", method=method)
    (folder / "table.csv").write_text("anna,bert,rain\n0.9,0.2,1\n0.4,0.3,0\n")
    blend(str(folder / "table.csv"), outcome="rain", experts=("anna", "bert"), loss="squared")


def _finite(folder: Path) -> None:
    hypotheses = family("intervals:6")
    dimensions(hypotheses)
    for kind in (SOA, Halving):
        duel(kind(hypotheses), TreeAdversary(hypotheses))
