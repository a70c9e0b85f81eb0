"""Every row of `noregret.proof.theorems` against its second derivation in exact fractions (tests/oracle/rows*.py).

A bound as printed is never below the exact one, and above it by no more than the table allows; what was observed lies
in the row's interval; values stand at their right end; and a need holds in the row where it holds exactly.
"""

import itertools
import math
import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse

from noregret.adversary import linear_game
from noregret.batch import run as run_batch
from noregret.batch import stepped
from noregret.domain import Domain
from noregret.errors import DivergedError, SettingError
from noregret.experts import AdaHedge, FixedShare, Hedge, HedgeDoubling, WeightedMajority
from noregret.finite import (
    SOA,
    Agnostic,
    CoinGames,
    Consistent,
    Depths,
    Halving,
    TreeAdversary,
    dimensions,
    duel,
    family,
    mistake_tree,
    play_finite,
)
from noregret.interval import Interval
from noregret.late.book import Book
from noregret.late.playing import play_late
from noregret.learner import LEARNERS, OnlineGradientDescent
from noregret.loss import parse
from noregret.mean import mean_estimation
from noregret.proof.facts import Facts
from noregret.proof.facts.alarm import AlarmFacts
from noregret.proof.facts.gradients import roundings
from noregret.proof.facts.late import LateFacts
from noregret.proof.facts.ledger import LedgerFacts, lost_by, measured
from noregret.proof.facts.windows import Sums, WindowFacts
from noregret.proof.late import theorems_of
from noregret.proof.ledger import theorems_of as theorems_of_ledgers
from noregret.proof.shards import Proving
from noregret.proof.shards import theorems_of as shard_theorems
from noregret.proof.solve import best
from noregret.proof.theorem import rows, speaking
from noregret.proof.theorems import THEOREMS, batch, finite, risk, spoken, windows
from noregret.proof.theorems import alarm as alarms
from noregret.proof.theorems import experts as followers
from noregret.proof.theorems.batch import BatchFacts
from noregret.proof.theorems.risk import Sampled
from noregret.rounds import Gathering, Rounds
from noregret.run import Run
from noregret.shards.engine import Serial
from noregret.shards.part import parts_of
from noregret.shards.play import play_on
from noregret.shards.round import passed
from noregret.stream import read
from noregret.stream.block import Dense
from noregret.stream.features import Features
from noregret.task.blend import blend
from noregret.task.select import select
from noregret.watch.ledger import Tally
from oracle.rows import ORACLE, Data
from oracle.rows_alarm import ALARM_NEEDS, Watched
from oracle.rows_compare import SEEN, compare
from oracle.rows_cover import Covered
from oracle.rows_experts import Experts
from oracle.rows_games import GAME_NEEDS, Linear, Mean
from oracle.rows_late import LATE_NEEDS, Late
from oracle.rows_ledger import LEDGER_NEEDS, Parts
from oracle.rows_needs import NEEDS
from oracle.rows_others import OTHER_NEEDS, Batch, Finite
from oracle.rows_runs import data_of_selection, facts_of, run_all
from oracle.rows_shards import SHARD_NEEDS, Merged, Mixed
from oracle.rows_windows import WINDOW_NEEDS
from oracle.rows_windows import Rows as WindowRows

expert_rows, finite_rows, batch_rows, risk_rows = (rows(vars(module)) for module in (followers, finite, batch, risk))

# -- runs --------------------------------------------------------------------------------------------------------------

CLASSIFY = ("hinge", "logistic", "perceptron", "margin-hinge:0.3", "squared-hinge", "exponential")
REGRESS = ("squared", "absolute", "pinball:0.9", "huber:0.5", "epsilon-insensitive:0.2")
RATES = ("auto", "constant:0.3", "sqrt:0.5", "sqrt:0.01", "horizon:40:9", "horizon:3", "doubling:9", "doubling")


def stream(rng, kind="plain", regression=False, size=1.0, rounds=None, columns=None):
    """Rows of some size: in general position, whole numbers with ties and duplicates, separable, or with zero rows."""
    T, d = rounds or int(rng.integers(1, 14)), columns or int(rng.integers(1, 4))
    X = rng.normal(size=(T, d))
    if kind == "whole":
        X = rng.integers(-2, 3, size=(T, d)).astype(float)
    w = rng.normal(size=d)
    signal = X @ w + (0.0 if kind == "separable" else 0.5 * rng.normal(size=T))
    y = signal if regression else np.where(signal > 0.0, 1.0, -1.0)
    if kind == "separable":
        X = X + np.where(signal > 0.0, 1.0, -1.0)[:, None] * w / np.linalg.norm(w)
    if kind == "zeros":
        X[rng.random(T) < 0.5] = 0.0
    return X * size, y


AGAIN = [os.environ["NOREGRET_THOROUGH"]] if os.environ.get("NOREGRET_THOROUGH") else []
KINDS = ("plain", "whole", "separable", "zeros")
SIZES = (1.0, 1e-3, 1e3, 1e-30, 1e30)


def seeded(*parts):
    """The same numbers in every run, others for every test; NOREGRET_THOROUGH, a word, draws new ones."""
    return np.random.default_rng(list(" ".join(map(str, (*parts, *AGAIN))).encode()))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["perceptron", "averaged", "voted"])
def test_perceptrons(name, size, kind):
    rng = seeded(name, size, kind)
    for tie in ("mistake", "+1", "-1"):
        settings = {"tie": tie, "bias": bool(rng.random() < 0.3)}
        X, y = stream(rng, kind, size=size)
        if name != "voted" and rng.random() < 0.5:
            settings["rate"] = float(rng.choice([0.1, 3.0]))
        if kind == "zeros":
            X = scipy.sparse.csr_matrix(X)
        if name == "perceptron" and rng.random() < 0.4:
            settings["start"] = (rng.normal(size=X.shape[1]) * size).tolist()
        loss = str(rng.choice(["", "hinge", "margin-hinge:0.3", "squared-hinge", "logistic", "exponential"]))
        assert run_all(facts_of(name, settings, X, y, random_points=1, surrogate=loss or None)) >= 1


def test_weights_two_passes_and_rows_so_large_that_a_premise_fails_leave_needs_unmet():
    rng = seeded("needs")
    X, y = stream(rng, rounds=6)
    for name in ("perceptron", "voted"):
        facts = facts_of(name, {}, X, y, weights=np.array([1.0, 2.0, 0.5, 1.0, 0.0, 1.0]))
        assert run_all(facts) == 0
    huge, ones = np.array([[1.0, 1e16, -1e16], [1.0, 1.0, 1.0]]), np.ones(2)
    facts = facts_of("perceptron", {}, huge, ones, random_points=1)
    assert not facts.mistakes.premise
    assert run_all(facts) >= 1
    twice = facts_of("voted", {}, X, y, passes=2)
    assert run_all(twice) > 10 and "voted-test-error" in SEEN.unmet


@pytest.mark.parametrize("domain", ["ball", "box", "l1", "simplex"])
@pytest.mark.parametrize("rate", RATES)
def test_gradient_descent(rate, domain):
    rng = seeded(rate, domain)
    for trial in range(6):
        loss = "squared" if trial == 4 else str(rng.choice([*CLASSIFY, *REGRESS]))
        regression = loss in REGRESS
        size = float(rng.choice([1.0, 1e-3, 1e-30, 1e30 if loss in ("hinge", "perceptron", "absolute") else 3.0]))
        settings = {"loss": loss, "rate": rate, "domain": domain, "radius": float(rng.choice([0.5, 3.0, 50.0]))}
        settings |= {"bias": bool(rng.random() < 0.3), "unit_norm": bool(trial == 5)}
        X, y = stream(rng, str(rng.choice(KINDS)), regression, size)
        if rng.random() < 0.3 and "doubling" not in rate and domain == "ball":
            start = rng.normal(size=X.shape[1])
            settings["start"] = (start * settings["radius"] / np.linalg.norm(start) * 0.5).tolist()
        weights = rng.choice([0.0, 0.5, 1.0, 2.0], len(X)) if rng.random() < 0.3 else None
        kept(lambda s=settings, X=X, y=y, w=weights: facts_of("ogd", s, X, y, weights=w))


def kept(made):
    """The run's theorems, compared; a run that the learner refuses or that diverges has none."""
    try:
        facts = made()
    except (DivergedError, SettingError):
        return 0
    return run_all(facts)


@pytest.mark.parametrize("T", [1, 4, 9])
def test_the_step_one_over_the_root_of_the_rounds(T):
    X, y = stream(seeded(T), rounds=T)
    for domain in ("ball", "box"):
        settings = {"rate": f"constant:{1.0 / math.sqrt(T)!r}", "radius": 2.0, "domain": domain}
        run_all(facts_of("ogd", settings, X, y))
    assert SEEN.evaluated["ogd-inverse-root"]


@pytest.mark.parametrize("loss", [*CLASSIFY, *REGRESS])
def test_strong_convexity(loss):
    rng = seeded(loss)
    for size in (1.0, 1e-3, 30.0):
        for radius in (math.inf, 2.0):
            settings = {"loss": loss, "sigma": float(rng.choice([0.05, 2.0])), "radius": radius}
            X, y = stream(rng, str(rng.choice(KINDS)), loss in REGRESS, size)
            weights = rng.choice([0.0, 0.5, 1.0, 2.0], len(X)) if rng.random() < 0.3 else None
            kept(lambda s=settings, X=X, y=y, w=weights: facts_of("ogd-strong", s, X, y, weights=w))


@pytest.mark.parametrize("name", ["adagrad", "ftrl"])
@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared", "pinball:0.9"])
def test_coordinates(name, loss):
    rng = seeded(name, loss)
    for size in (1.0, 1e-3, 1e-30, 1e30 if loss == "hinge" else 10.0):
        settings = {"loss": loss, "radius": float(rng.choice([0.7, 5.0])), "rate": "constant:0.4"}
        settings |= {"beta": 0.5, "l1": 0.2, "l2": 0.1} if name == "ftrl" and rng.random() < 0.5 else {}
        X, y = stream(rng, str(rng.choice(KINDS)), loss in REGRESS, size)
        weights = rng.choice([0.0, 0.5, 1.0, 2.0], len(X)) if rng.random() < 0.3 else None
        kept(lambda s=settings, X=X, y=y, w=weights: facts_of(name, s, X, y, weights=w))


@pytest.mark.parametrize("loss", ["hinge", "logistic", "absolute", "squared"])
def test_coins(loss):
    rng = seeded("coin", loss)
    for kind in KINDS:
        settings = {"loss": loss, "wealth": float(rng.choice([1.0, 0.01, 100.0]))}
        settings |= {"unit_norm": True} if loss != "squared" and rng.random() < 0.5 else {"gradient_bound": 300.0}
        X, y = stream(rng, kind, loss in REGRESS)
        weights = rng.choice([0.0, 0.5, 1.0, 2.0], len(X)) if rng.random() < 0.3 else None
        kept(lambda s=settings, X=X, y=y, w=weights: facts_of("coin", s, X, y, weights=w, radius=3.0))


@pytest.mark.parametrize("loss", ["hinge", "logistic", "absolute", "huber:0.5"])
def test_scale_free(loss):
    rng = seeded("scale-free", loss)
    for kind in KINDS:
        for size in (1.0, 1e-3, 1e-30, 1e30 if loss in ("hinge", "absolute") else 10.0):
            settings = {"loss": loss, "bias": bool(rng.random() < 0.3), "centre": bool(rng.random() < 0.2)}
            X, y = stream(rng, kind, loss in REGRESS, size)
            weights = rng.choice([0.0, 0.5, 1.0, 2.0], len(X)) if rng.random() < 0.3 else None
            kept(lambda s=settings, X=X, y=y, w=weights: facts_of("scale-free", s, X, y, weights=w, radius=3.0))


@pytest.mark.parametrize("loss", ["hinge", "absolute", "epsilon-insensitive:0.2"])
@pytest.mark.parametrize("name", ["pa", "pa1", "pa2"])
def test_passive_aggressive(name, loss):
    rng = seeded(name, loss)
    for size in SIZES:
        for points in (0, 1):
            settings = {"loss": loss, "bias": bool(rng.random() < 0.2)}
            if name != "pa" and rng.random() < 0.5:
                settings["aggressiveness"] = float(rng.choice([0.1, 3.0]))
            X, y = stream(rng, str(rng.choice(KINDS)), loss != "hinge", size)
            kept(lambda s=settings, X=X, y=y, p=points: facts_of(name, s, X, y, random_points=p, radius=2.0))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["second-order", "vaw"])
def test_matrices(name, size):
    rng = seeded(name, size)
    for kind in KINDS:
        settings = {"ridge": float(rng.choice([0.5, 3.0])) * (size * size if rng.random() < 0.5 else 1.0)}
        settings |= {"tie": str(rng.choice(["mistake", "+1", "-1"]))} if name == "second-order" else {}
        X, y = stream(rng, kind, name == "vaw", size)
        weights = rng.choice([0.0, 0.5, 1.0, 2.0], len(X)) if name == "vaw" and rng.random() < 0.3 else None
        kept(lambda s=settings, X=X, y=y, w=weights: facts_of(name, s, X, y, weights=w, random_points=1))


@pytest.mark.parametrize("size", (1.0, 1e-3, 30.0))
@pytest.mark.parametrize("play", ["newton", "two-label"])
def test_newton(play, size):
    rng = seeded(play, size)
    for kind in KINDS:
        settings = {"play": play, "ridge": float(rng.choice([0.1, 3.0])), "bias": bool(rng.random() < 0.3)}
        settings |= {"walk": 0.02} if rng.random() < 0.3 else {}
        X, y = stream(rng, kind, size=size)
        weights = rng.choice([0.0, 0.5, 1.0, 2.0], len(X)) if rng.random() < 0.3 else None
        radius = float(rng.choice([0.5, 2.0, 20.0]))
        kept(lambda s=settings, X=X, y=y, w=weights, r=radius: facts_of("newton", s, X, y, weights=w, radius=r))


@pytest.mark.parametrize("size", SIZES)
def test_labels_alone(size):
    rng = seeded("labels", size)
    for order in (0, 1, 3, 8):
        X, y = stream(rng, str(rng.choice(KINDS)), size=size)
        assert run_all(facts_of("markov", {"order": order}, X, y, radius=2.0)) >= 2
        weights = rng.choice([0.0, 0.5, 1.0, 2.0], len(X))
        run_all(facts_of("markov", {"order": order}, X, y, weights=weights))
    ones = np.ones(30)
    assert run_all(facts_of("markov", {"order": 1}, ones[:, None], ones)) == 1


@pytest.mark.parametrize("size", (1.0, 1e-3, 1e3))
@pytest.mark.parametrize("name", ["naive-bayes", "nearest", "nearest-numbers"])
def test_scores_that_are_not_linear(name, size):
    rng = seeded(name, size)
    for kind in KINDS:
        X, y = stream(rng, kind, name == "nearest-numbers", size)
        assert run_all(facts_of(name, {"bias": bool(rng.random() < 0.3)}, X, y, radius=2.0)) >= 1


POOLS = {
    "binary": ("labels,labels-1,adagrad-.15,newton", "labels", "labels-1,adagrad-.03", None),
    "multiclass": ("labels,labels-1,softmax-.15,newton", "labels", None),
    "regression": (None, "ridge-raw", "last,ridge-3,passive"),
}


@pytest.mark.parametrize("task", POOLS)
@pytest.mark.parametrize("size", (1.0, 1e-3, 1e3))
def test_pools(task, size):
    rng = seeded("pool", task, size)
    for kind in KINDS:
        X, y = stream(rng, kind, task == "regression", size)
        classes = None
        if task == "multiclass":
            y, classes = rng.integers(0, 3, len(X)), None if rng.random() < 0.5 else [0, 1, 2]
        weights = rng.choice([0.0, 0.25, 1.0], len(X)) if rng.random() < 0.3 else None
        if rng.random() < 0.1:
            weights = rng.choice([1.0, 2.0], len(X))
        settings = {"task": task, "members": POOLS[task][int(rng.integers(len(POOLS[task])))]}
        kept(lambda s=settings, X=X, y=y, w=weights, c=classes: facts_of("auto", s, X, y, w, radius=2.0, classes=c))


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplace"])
def test_kernels(kernel):
    rng = seeded(kernel)
    for kind in KINDS:
        settings = {"kernel": kernel, "tie": str(rng.choice(["mistake", "+1", "-1"])), "bias": bool(rng.random() < 0.3)}
        settings |= {"gamma": float(rng.choice([0.3, 2.0]))} if kernel != "linear" else {}
        settings |= {"budget": 2} if rng.random() < 0.25 else {}
        X, y = stream(rng, kind, size=float(rng.choice([1.0, 1e-2, 10.0])))
        run_all(facts_of("kernel", settings, X, y))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("update", ["max-score", "one-vs-rest"])
def test_many_classes(update, size):
    rng = seeded(update, size)
    for kind in KINDS:
        X, _ = stream(rng, kind, size=size)
        y = rng.integers(0, 3, len(X)) if kind != "separable" else (X @ np.ones(X.shape[1]) > 0).astype(int)
        labels = None if rng.random() < 0.5 else [0, 1, 2]
        facts = facts_of("multiclass", {"update": update, "bias": bool(rng.random() < 0.3)}, X, y, classes=labels)
        run_all(facts)


# -- ledgers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("loss", ["hinge", "logistic", "absolute", "squared", "huber:0.5", "pinball:0.3"])
def test_ledgers(size, loss):
    rng, judged = seeded("ledgers", size, loss), parse(loss)
    for trial in range(12):
        bias, radius, parts, tallies, kept = bool(trial % 2), float(rng.choice([0.5, 3.0])), [], [], []
        for _ in range(1 + trial % 3):
            X, y = stream(rng, str(rng.choice(["plain", "whole", "zeros"])), judged.regression, size, columns=2)
            z = rng.normal(size=len(y))
            weights = rng.choice([1.0, 0.5, 2.0], size=len(y)) if trial % 4 == 3 else None
            tally = Tally(judged, bias)
            tally.add(Dense(X), y, weights, z)
            parts.append((X, y, z, weights))
            tallies.append(tally.ledger())
            ones = np.ones((len(y), int(bias)))
            kept.append(measured(Rounds(Dense(np.hstack([ones, X])), y, weights, z, bias), judged))
        data = Parts((judged.name, Fraction(judged.number)), radius, parts, bias)
        for ledgers in (tuple(tallies), tuple(kept)):  # as a run sums them, and as a verifier does
            facts = LedgerFacts(ledgers, judged, radius, lost_by(ledgers))
            for one in theorems_of_ledgers(facts):
                compare(one, facts, data, LEDGER_NEEDS)


# -- late labels -------------------------------------------------------------------------------------------------------


def late_events(rng, X):
    """Predictions and labels in some order, and the rows that waited while each label was learned."""
    open_rows, events, waiting = [], [], []
    for t in range(len(X)):
        events.append({"id": t, "x": X[t].tolist()})
        open_rows.append(t)
        while open_rows and rng.random() < 0.5:
            key = open_rows.pop(int(rng.integers(len(open_rows))))
            events.append({"id": key})
            waiting.append([X[i].tolist() for i in open_rows])
    return events, waiting


@pytest.mark.parametrize("size", [1.0, 1e-3, 30.0])
@pytest.mark.parametrize("rate", ["late", "auto", "sqrt:0.5"])
def test_late_labels(size, rate):
    rng = seeded("late", size, rate)
    for trial in range(12):
        loss = str(rng.choice(["hinge", "logistic", "absolute"]))
        X, y = stream(rng, str(rng.choice(["plain", "whole", "zeros"])), loss == "absolute", size)
        events, waiting = late_events(rng, X)
        labels = {one["id"]: one for one in events if "x" not in one}
        for key, one in labels.items():
            one["y"] = float(y[key])
        revised = trial % 6 == 5 and labels
        if revised and loss != "absolute":
            key = next(iter(labels))
            events.append({"id": key, "y": -float(y[key]), "revise": True})
            waiting.append([])
        settings = {"loss": loss, "rate": rate, "radius": float(rng.choice([0.5, 2.0]))}
        if trial % 4 == 3:
            settings["scale"] = "max"
        if trial % 4 == 2:
            settings["start"] = (0.1 * rng.normal(size=X.shape[1])).tolist()
        core = LEARNERS["ogd"](**settings)
        with Gathering(False) as gathering:
            late = play_late(core, events, keep=gathering)
            arrived = gathering.done()
        if not len(arrived):
            continue
        facts = LateFacts(late.book, late.run, arrived)
        found = best(facts.plays.rounds, core.loss, core.domain.radius, 0.0, gap=1e-3, seconds=2.0)
        facts = LateFacts(late.book, late.run, arrived, found, found.points)
        for one in theorems_of(facts):
            compare(one, facts, Late(facts, waiting), LATE_NEEDS, roundings(arrived))


# -- shards ------------------------------------------------------------------------------------------------------------


def on_parts(core, X, y, count, **how):
    """A schedule on parts of the rows, its notes, and the parts as lists of (x, y)."""
    engine, source = Serial(), read((X, y))
    parts = parts_of(None, source, count, {})
    proving = Proving(engine, core, how["mixing"])
    found = play_on(engine, core, parts, source.features, after=proving, **how)
    bounds = [place * len(y) // count for place in range(count + 1)]
    rows = [list(zip(X[a:b].tolist(), y[a:b].tolist(), strict=True)) for a, b in itertools.pairwise(bounds)]
    return proving, found, rows


@pytest.mark.parametrize("mixing", ["uniform", "mistakes"])
@pytest.mark.parametrize("kind", ["separable", "plain", "whole"])
def test_mixed_perceptrons(kind, mixing):
    rng = seeded("shards", kind, mixing)
    for _ in range(8):
        X = rng.integers(-4, 5, size=(int(rng.integers(6, 20)), 2)).astype(float)
        X = rng.normal(size=X.shape) if kind == "plain" else X
        score = X @ np.array([1.0, -2.0])
        X, score = (X[score != 0.0], score[score != 0.0]) if kind == "separable" else (X, score)
        y = np.where((score > 0.0) ^ (rng.random(len(X)) < (0.0 if kind == "separable" else 0.2)), 1.0, -1.0)
        passes, count = int(rng.integers(1, 5)), int(rng.integers(1, 4))
        proving, found, rows = on_parts(LEARNERS["perceptron"](), X, y, count, passes=passes, mixing=mixing)
        points = {f"v_{name}": 0.5 * rng.normal(size=2) for name in "ab"}
        if kind == "separable" and len(X):
            points["v_u"] = np.array([1.0, -2.0]) / np.abs(score).min()
        facts = proving.facts(found, points)
        data = Mixed(facts, rows, mixing, passes)
        assert [sum(one["mistakes"] for one in epoch.figures) for epoch in found.epochs] == data.mistakes
        assert found.weights.tolist() == data.w
        names = ["mixing-sum", "mixing-mistakes", "mixing-root", "mixing-novikoff", "mixing-epochs"]
        assert [one.name for one in shard_theorems(facts)] == names
        for one in shard_theorems(facts):
            compare(one, facts, data, SHARD_NEEDS)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "absolute"])
def test_merged_ledgers(loss):
    rng = seeded("ledgers", loss)
    for _ in range(4):
        X = rng.normal(size=(int(rng.integers(6, 30)), 3))
        y = X @ np.ones(3) if loss == "absolute" else np.where(rng.random(len(X)) < 0.5, 1.0, -1.0)
        core, starts = LEARNERS["ogd"](loss=loss, radius=2.0), []
        engine, source = Serial(), read((X, y))
        found = play_on(
            engine,
            core,
            parts_of(None, source, 2, {}),
            source.features,
            passes=3,
            after=lambda begun, *_: starts.append(begun),  # noqa: B023
        )
        plays = [[data_of_pass(shard, *begun[place]) for begun in starts] for place, shard in enumerate(engine.shards)]
        facts = Proving(engine, core, "uniform").facts(found, {})
        assert [one.name for one in shard_theorems(facts)] == ["shards-one", "shards-each"]
        for one in shard_theorems(facts):
            assert compare(one, facts, Merged(facts, plays, 2.0), SHARD_NEEDS)


def data_of_pass(shard, start, pace):
    with Gathering(False) as gathering:
        core, _ = passed(shard, start, pace, gathering)
        return Data(Run.of(core), gathering.done())


# -- sets whose coverage is tracked ------------------------------------------------------------------------------------


def covering(facts):
    return [one for one in spoken(facts) if one.name.startswith("cover-")]


@pytest.mark.parametrize("target", [0.5, 0.9, 0.31])
@pytest.mark.parametrize("delay", [0, 1, 20])
def test_coverage(target, delay):
    rng = seeded("coverage", target, delay)
    for size in (1.0, 1e-3, 1e5):
        X = rng.normal(size=(200, 2)) * size
        y = X @ [1.0, -2.0] + size * rng.normal(size=200) * (1.0 + (np.arange(200) > 120))
        with Gathering(False) as gathering:
            late = play_late(LEARNERS["vaw"](cover=target), (X, y), delay=delay, keep=gathering)
            facts = Facts(late.run, gathering.done())
        said = [round.said[0] for round in foretold(target, X, y, delay)]
        by_then = [max(t - delay, 0) for t in range(200)]
        data = Covered(target, [abs(float(a) - b) for a, b in zip(y, said, strict=True)], by_then)
        wanted = ["cover-identity", "cover-late" if delay else "cover-missed", "cover-held"]
        assert sorted(one.name for one in covering(facts)) == sorted(wanted)
        assert sum(compare(one, facts, data) for one in covering(facts)) == 3


def foretold(target, X, y, delay):
    """Each prediction of a learner whose labels come so many rows later."""
    book, made = Book(LEARNERS["vaw"](cover=target)), []
    book.core.features = Features("columns", X.shape[1])
    for t in range(len(X)):
        made.append(book.predict(t, Dense(X[t : t + 1])))
        if t >= delay:
            book.label(t - delay, float(y[t - delay]))
    return made


# -- experts, finite classes, the batch perceptron, risk ---------------------------------------------------------------


def lists(matrix):
    """A matrix as fractions, None where an expert sleeps."""
    return [[None if math.isnan(x) else Fraction(x) for x in line] for line in matrix.tolist()]


def run_experts(contest, data):
    """A contest's theorems: rounded weights and means may cost `spare`, as a share of what the sizes are."""
    share = contest.spare / max(float(data.T), 1e-300)
    for one in speaking(expert_rows, contest.learner, contest):
        compare(one, contest, data, OTHER_NEEDS, share)


@pytest.mark.parametrize("name", ["softmax", "softmax-newton", "nearest-classes"])
@pytest.mark.parametrize("size", [1.0, 1e-3, 30.0])
def test_forecasts_of_many_classes(name, size):
    rng = seeded(name, size)
    for kind in KINDS:
        X, _ = stream(rng, kind, size=size)
        y, labels = rng.integers(0, 3, len(X)), None if rng.random() < 0.5 else [0, 1, 2]
        weights = rng.choice([0.5, 1.0, 2.0], len(X)) if rng.random() < 0.5 else None
        run_all(facts_of(name, {"bias": bool(rng.random() < 0.5)}, X, y, weights, classes=labels))


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("classes", [1, 2, 5])
def test_labels_of_many_classes(order, classes):
    rng = seeded(order, classes)
    for rounds in (1, 2, 13):
        y = rng.integers(0, classes, rounds)
        for told in (None, list(range(classes))):
            weights = rng.choice([1.0, 2.0], rounds) if rng.random() < 0.3 else None
            run_all(facts_of("markov-classes", {"order": order}, np.ones((rounds, 1)), y, weights, classes=told))


@pytest.mark.parametrize("ends", [(0.0, 1.0), (-3.0, 40.0), (0.1, 0.3)])
@pytest.mark.parametrize("kind", ["eighths", "any", "sleepers"])
@pytest.mark.parametrize("experts", [1, 2, 4])
def test_experts(experts, kind, ends):
    rng = seeded("experts", experts, kind, ends)
    for T in (1, 2, 9):
        costs = rng.integers(0, 9, (T, experts)) / 8.0 if kind == "eighths" else rng.random((T, experts))
        costs = np.clip(ends[0] + costs * (ends[1] - ends[0]), *ends)
        if kind == "sleepers":
            asleep = rng.random(costs.shape) < 0.3
            asleep[:, 0] = False
            costs[asleep] = np.nan
        players = [WeightedMajority(experts, T + int(rng.integers(0, 3)), ends), HedgeDoubling(experts, ends)]
        players += [*(Hedge(experts, rate, ends) for rate in ("one", "two", "root-eight")), AdaHedge(experts, ends)]
        players += [FixedShare(experts, T, switches, ends) for switches in (0, 2)]
        for player in players:
            game = player.play(costs)
            run_experts(game.contest, Experts(game.contest, game.losses, lists(costs)))


BLENDS = [
    *((loss, "expert", (0.0, 1.0)) for loss in ("log", "brier")),
    ("brier", "sequence", (0.0, 1.0)),
    *(
        (loss, against, ends)
        for loss in ("squared", "absolute")
        for against in ("expert", "mean", "sequence")
        for ends in ((0.0, 1.0), (-3.0, 40.0), (1e6, 1e6 + 0.5), (0.0, 1e-30))
    ),
]


@pytest.mark.parametrize(("loss", "against", "ends"), BLENDS)
def test_blends(loss, against, ends):
    rng = seeded("blend", loss, against, ends)
    wide = ends[1] - ends[0]
    how = {"method": "fixed-share", "switches": 2} if against == "sequence" else {"against": against}
    how |= {"range": ends} if loss in ("squared", "absolute") else {}
    for experts, T in ((1, 3), (2, 1), (3, 8), (4, 12)):
        x = ends[0] + wide * (rng.integers(1, 8, (T, experts)) / 8.0)
        y = rng.integers(0, 2, T).astype(float) if loss in ("log", "brier") else rng.integers(0, 9, T) / 8.0
        y = ends[0] + wide * y
        if experts == 4:
            x[rng.random(x.shape) < 0.2] = np.nan
            x[:, 0] = ends[0] + 0.25 * wide
        found = blend((x, y), loss=loss, **how)
        said = [Fraction(p) for p in found.forecasts[:, 0].tolist()]
        given = lists(found.data.values[:, :, 0])
        data = Experts(found.contest, found.losses, None, given, said, [Fraction(one) for one in y.tolist()])
        run_experts(found.contest, data)


@pytest.mark.parametrize(
    "name", ["singletons:5", "thresholds:7", "intervals:4", "cube:3", "singletons:1", "parities:2"]
)
def test_finite_classes(name):
    hypotheses, rng = family(name), seeded(name)
    tree = mistake_tree(Depths(hypotheses))
    runs = []
    for learner in (Consistent(hypotheses), Halving(hypotheses), SOA(hypotheses)):
        labels = hypotheses.matrix[int(rng.integers(len(hypotheses)))]
        runs.append(play_finite(learner, [(p, int(labels[j])) for j, p in enumerate(hypotheses.points)]))
    for learner in (Consistent(hypotheses), Halving(hypotheses), SOA(hypotheses)):
        runs.append(duel(learner, TreeAdversary(hypotheses, tree)))
        runs.append(replace(runs[-1], rounds=runs[-1].rounds[:-1]))  # not down to a leaf
    noise = [(p, int(rng.integers(2))) for p in hypotheses.points * 2]
    runs.append(play_finite(SOA(hypotheses, agnostic=True, rounds=len(noise)), noise))
    T = min(len(hypotheses.points), 6)
    noise = [(p, int(rng.integers(2))) for p in hypotheses.points[:T]]
    runs += [play_finite(Agnostic(hypotheses, T + more), noise) for more in (0, 2)]
    for run in runs:
        for one in speaking(finite_rows, run.learner.name, run):
            if run.rounds:
                compare(one, run, Finite(run), OTHER_NEEDS, len(run.rounds) * 2.0**-40)
    found = dimensions(hypotheses)
    compare(THEOREMS["dimension-order"], found, found, OTHER_NEEDS)
    for rounds in (tree.depth, 2 * tree.depth, 3 * tree.depth + 1, 97) if tree.depth else ():
        games = CoinGames(hypotheses, tree, rounds, 0, "expert", (0.0,), (0,))
        compare(THEOREMS["littlestone-regret"], games, games, OTHER_NEEDS)


@pytest.mark.parametrize("update", ["sum", "average", "normalised", "random"])
def test_batches(update):
    rng = seeded(update)
    for size in (1.0, 1e-30, 1e30, 1.0, 1.0):
        X = rng.integers(-4, 5, (int(rng.integers(1, 8)), 2)).astype(float) * size
        u = np.array([1.0, 0.5]) / size
        X = X[X @ u != 0.0]
        if not len(X):
            continue
        y = np.sign(X @ u)
        for start in (None, np.ones(2)):
            for separator in (u, -u):
                rounds = Rounds.of(X, y)
                run = run_batch(rounds, update=update, limit=500, start=start, rng=3 if update == "random" else None)
                facts = BatchFacts(run, rounds, separator)
                data = Batch(run, X.tolist(), y, stepped(rounds, run), separator)
                for one in speaking(batch_rows, f"batch-{update}", facts):
                    compare(one, facts, data, OTHER_NEEDS)


class Stubborn:
    """Points drawn beforehand, whatever the gradients are."""

    def __init__(self, points):
        self.points = iter(points)

    def point(self):
        return next(self.points)

    def learn(self, gradient):
        pass


@pytest.mark.parametrize("features", [3, 4, 7])
@pytest.mark.parametrize("length", [1.0, 1e-30, 3e40])
def test_games_of_linear_losses(features, length):
    rng = seeded(features, length)
    for rounds in (1, 2, 9, 30):
        radius = float(rng.choice([0.3, 1.0, 50.0]))
        players = (
            OnlineGradientDescent(loss="hinge", radius=radius),
            Stubborn(rng.normal(size=(rounds, features)) * 10.0 ** rng.integers(-9, 9, (rounds, 1))),
            Stubborn(rng.integers(-1, 2, (rounds, features))),
        )
        for player in players:
            game = linear_game(player, rounds, features=features, length=length, radius=radius)
            assert compare(THEOREMS["linear-lower"], game, Linear(game), GAME_NEEDS)
        bent = replace(game, gradients=game.gradients + 1e-9 * length * rng.normal(size=game.gradients.shape))
        assert not compare(THEOREMS["linear-lower"], bent, Linear(bent), GAME_NEEDS)


@pytest.mark.parametrize("sigma", [1.0, 0.3, 1e-20, 1e20])
@pytest.mark.parametrize("radius", [math.inf, 0.5, 2.0])
def test_means(sigma, radius):
    rng = seeded(sigma, radius)
    for T, d in ((1, 1), (2, 3), (12, 1), (40, 2)):
        for rows_ in (rng.normal(size=(T, d)) + 1.0, rng.integers(-2, 3, (T, d)).astype(float), np.ones((T, d))):
            run = mean_estimation(rows_, sigma=sigma, radius=radius)
            for name in ("mean-gradients", "mean-harmonic"):
                assert compare(THEOREMS[name], run, Mean(run), GAME_NEEDS)


def test_the_conversion_by_rows_held_out():
    rng = seeded("holdout")
    for trial in range(40):
        T = int(rng.choice([1, 2, 7, 60, 200]))
        m = int(rng.integers(1, T)) if T > 1 else 1
        K = int(rng.choice([1, T - m + 1]))
        sampled = Sampled(
            "holdout",
            float(rng.choice([0.5, 0.95, 0.999999])),
            T,
            [None, None, False][trial % 3],
            bool(trial % 5 != 4),
            K,
            bool(rng.random() < 0.5),
            int(rng.integers(0, T + 1)),
            int(rng.integers(1, T - m + 2)),
            int(rng.choice([0, rng.integers(0, m + 1), m])),
            int(rng.integers(0, T - m + 1)),
            held=m,
            distinct=int(rng.integers(1, T - m + 2)),
        )
        for one in speaking(risk_rows, "selection", sampled):
            compare(one, sampled, sampled, OTHER_NEEDS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", (1.0, 1e-3, 1e3))
def test_mistake_bounds_in_place_of_mistakes(size, kind):
    rng = seeded("corollaries", size, kind)
    for tie in ("mistake", "+1", "-1"):
        X, y = stream(rng, kind, size=size)
        settings = {"tie": tie, "bias": bool(rng.random() < 0.3)}
        if rng.random() < 0.4:
            settings |= {"start": (rng.normal(size=X.shape[1]) * size).tolist(), "rate": 0.5}
        sampled = select(LEARNERS["perceptron"](**settings), (X, y)).sampled
        for one in speaking(risk_rows, "selection", sampled):
            compare(one, sampled, data_of_selection(sampled), OTHER_NEEDS)


@pytest.mark.parametrize("how", ["penalised", "gibbs", "last", "average", "voted"])
def test_risk(how):
    rng = seeded(how)
    for trial in range(25):
        T = int(rng.choice([1, 2, 7, 60, 200]))
        K, i = int(rng.choice([1, T])), int(rng.integers(1, T + 1))
        errors = int(rng.choice([0, rng.integers(0, T - i + 2), T - i + 1]))
        sampled = Sampled(
            how,
            float(rng.choice([0.5, 0.95, 0.999999])),
            T,
            [None, None, False][trial % 3],
            bool(trial % 5 != 4),
            K,
            bool(rng.random() < 0.5),
            int(rng.integers(0, T + 1)),
            i,
            errors,
            int(rng.integers(0, T + 1)),
            parse(str(rng.choice(["hinge", "squared-hinge", "logistic"]))),
            float(rng.choice([0.5, 3.0])),
            Interval.of(float(rng.random() * T)) if trial % 7 else None,
        )
        for one in speaking(risk_rows, "selection", sampled):
            compare(one, sampled, sampled, OTHER_NEEDS)


# -- alarms ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("kind", ["binary", "graded", "all 1", "all 0", "a flip"])
def test_alarms(kind, level):
    rng = seeded("alarm", kind, level)
    for T in (0, 1, 2, 17, 120):
        losses = {
            "binary": (rng.random(T) < level).astype(float),
            "graded": rng.random(T),
            "all 1": np.ones(T),
            "all 0": np.zeros(T),
            "a flip": (rng.random(T) < np.where(np.arange(T) < T // 2, level / 2, 0.9)).astype(float),
        }[kind]
        for told, left_out in ((True, 0), (True, 3), (False, 0)):
            facts = AlarmFacts(losses, level, 0.05, told, left_out)
            compare(alarms.alarm, facts, Watched(facts), ALARM_NEEDS)
    outside = AlarmFacts(np.array([0.5, 1.25]), level, 0.05)
    assert not compare(alarms.alarm, outside, Watched(outside), ALARM_NEEDS)


# -- windows -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e3])
@pytest.mark.parametrize("domain", ["ball", "box", "l1", "simplex"])
def test_windows(domain, size):
    rng = seeded("windows", domain, size)
    for trial in range(8):
        name = str(rng.choice([*CLASSIFY, *REGRESS]))
        loss = parse(name)
        kind = str(rng.choice(["plain", "whole", "zeros"]))
        X, y = stream(rng, kind, loss.regression, size, rounds=int(rng.integers(4, 14)))
        scores = rng.normal(size=len(y)) * float(rng.choice([0.0, 1.0, 4.0]))
        weights = rng.choice([0.5, 1.0, 2.0], len(y)) if trial % 2 else None
        rounds = replace(Rounds.of(X, y), scores=scores, weights=weights)
        ends = sorted({0, len(y), *rng.integers(1, len(y), 4).tolist()})
        parts = [rounds.part(i, j) for i, j in pairwise(ends)]
        ball = Domain(domain, float(rng.choice([0.5, 10.0])))
        whole = WindowFacts(loss, ball, tuple(Sums.of(part, loss) for part in parts))
        said = (loss.name, Fraction(loss.number))
        exact = WindowRows(parts, said, ball)
        for i, part in enumerate(parts):
            one = replace(whole, parts=whole.parts[i : i + 1])
            assert compare(windows.window_linearised, one, WindowRows([part], said, ball), WINDOW_NEEDS)
        assert compare(windows.switching_at_limits, whole, exact, WINDOW_NEEDS)
        for k in range(1, min(len(parts), 4)):
            exact.switches = k
            assert compare(windows.switching_k, replace(whole, switches=k), exact, WINDOW_NEEDS)


# -- nothing is left out -----------------------------------------------------------------------------------------------

LEFT_OUT = ()  # theorems without a second derivation, each with its reason: none


def test_every_theorem_has_a_second_derivation():
    assert sorted({*ORACLE, *LEFT_OUT}) == sorted(THEOREMS)
    assert not set(LEFT_OUT) & set(ORACLE)
    asked = {need.statement for one in THEOREMS.values() for need in one.needs}
    known = (NEEDS, GAME_NEEDS, LATE_NEEDS, LEDGER_NEEDS, ALARM_NEEDS, SHARD_NEEDS, WINDOW_NEEDS)
    assert asked <= {statement for needs in known for statement in needs}


def test_every_theorem_was_evaluated_with_its_needs_met(request):
    """It comes last: alone, or after a choice of tests, it has nothing to judge.

    Workers share the tests of a file, and each sees its own part: there the whole file is run once more in one process.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        alone = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(request.node.path)]
        done = subprocess.run(command, env=alone, cwd=request.config.rootpath, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:]
        assert "skipped" not in done.stdout
        return
    tests = {one.originalname for one in request.session.items if one.path == request.node.path}
    if any(name.startswith("test_") and name not in tests for name in globals() if callable(globals()[name])):
        pytest.skip("only some of the tests of this file were run")
    assert sorted(set(ORACLE) - set(SEEN.evaluated)) == []
    assert sorted(set(ORACLE) - SEEN.sharp) == []
    assert {"novikoff", "hinge-radius", "ogd-horizon", "ogd-doubling", "kernel-norm-lemma"} <= set(SEEN.unmet)
