"""From a run to one predictor, the last, the average, a vote or that of least penalised risk, and what it risks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import model
from noregret.errors import InputError, SettingError
from noregret.learner.core import Core
from noregret.learner.selected import Selected
from noregret.proof.facts import Facts
from noregret.proof.facts.candidates import Candidate, starts
from noregret.proof.facts.selection import POINT, Sampled, check, drawn, refuse
from noregret.proof.replay import chains, classes, fresh, replay
from noregret.proof.theorem import Certificate
from noregret.proof.theorems.risk import certificates
from noregret.protocol import play
from noregret.rounds import Gathering, Rounds
from noregret.run import Run

Vector = NDArray[np.float64]
BEST = {  # the theorem with the smallest bound
    "penalised": "risk-binomial",
    "holdout": "risk-holdout",
    "gibbs": "risk-drawn",
    "voted": "risk-voted",
    "average": "risk-average",
}
SECONDS, NEAR = 10.0, 1e-3  # for a comparator of the run's mistakes: any gives a bound, so one near the best will do


@dataclass(frozen=True, repr=False)
class Selection:
    """The selected predictor, and the certificates of its risk; `learner` predicts with it and can be saved."""

    learner: Selected
    sampled: Sampled
    certificates: list[Certificate] = field(default_factory=list)
    points: dict[str, Vector] = field(default_factory=dict)  # a comparator of the run's mistakes

    def __repr__(self) -> str:
        where = "" if self.round is None else f" before round {self.round} of {self.sampled.rounds}"
        return f"<Selection: {self.how}{where} of {self.learner.name}>"

    @property
    def core(self) -> Selected:
        """The learner that predicts with the selection."""
        return self.learner

    @property
    def how(self) -> str:
        """The method: penalised, holdout, gibbs, last, average or voted."""
        return self.sampled.how

    @property
    def confidence(self) -> float:
        """The probability with which its certificates hold."""
        return self.sampled.confidence

    @property
    def round(self) -> int | None:
        """The round, counted from 1, before which the selected weights were in use; only `penalised`,
        `holdout` and `gibbs` select one."""
        return self.sampled.round

    @property
    def empirical(self) -> float | None:
        """Its error on the rounds it had not seen."""
        return self.sampled.empirical

    @property
    def bound(self) -> float | None:
        """The smallest certified bound on the risk of the selection; None if there is none, or none that is useful."""
        wanted = BEST.get(self.how)
        return next((one.bound for one in self.certificates if one.theorem == wanted and _says(one)), None)

    def scores(self, X: Any) -> Vector:
        """The score of each row of a stream or a matrix."""
        from noregret.stream import read

        source = read(X, features=self.learner.features, frozen=True, labels=False)
        found = [self.learner.scores(block.rows) for block in source.blocks()]
        return np.concatenate([np.zeros(0), *found])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file with the selected weights; `noregret.load` and `noregret predict` read it."""
        model.save(self.learner, path)

    def to_dict(self) -> dict[str, Any]:
        """As `--json` prints it, and receipts keep it."""
        return {**self.sampled.to_dict(), "certificates": [one.to_dict() for one in self.certificates]}


def _says(one: Certificate) -> bool:
    return one.bound is not None and one.bound < 1.0


def select(
    run: Any,
    *streams: Any,
    how: str = "penalised",
    confidence: float = 0.95,
    candidates: int | str | None = None,
    holdout: int | None = None,
    draw: int | None = None,
) -> Selection:
    """Select one predictor of a run; a certificate of its risk on new rows holds with probability `confidence`.

    `run` is a run of `play`, whose `streams` are replayed, or a learner that has not started, which plays them. `how`
    is penalised (the smallest error on rows not yet seen, with a penalty for few such rows), holdout (the fewest errors
    on the last `holdout` rounds, by default a fifth, among the predictors before them), gibbs (drawn from those of all
    rounds by `draw`, by default 0), last, average or voted.
    `candidates` is the number of predictors along the run to consider, or all; by default all for a run of at most 4096
    rounds, and 256 evenly spaced ones for a longer run.

    >>> from noregret.learner import Perceptron
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> chosen = select(Perceptron(), (X, np.sign(X[:, 0])))
    >>> chosen.empirical < 0.1, chosen.bound < 0.2
    (True, True)
    """
    check(how, confidence, holdout, draw, candidates)
    core = getattr(run.learner if isinstance(run, Run) else run, "core", None)
    if not isinstance(core, Core):
        raise SettingError(f"select: the first argument must be a run or a learner, got {type(run).__name__}")
    refuse(core)
    if not streams:
        raise SettingError("select: pass the stream that the run was trained on, or all of its streams in order")
    if isinstance(run, Run) or core.rounds:
        if isinstance(run, Run) and run.rounds != core.rounds:
            raise SettingError("select: the learner has continued since this run ended: pass the newest run")
        segments = chains(core)
        again = replay(fresh(core.name, core.settings, classes(core)), segments, streams)
        other = again.run.learner
        if other.rounds != core.rounds or not np.array_equal(other.weights, core.weights):
            raise InputError("is not the stream that the run was trained on", "the stream")
        return chosen(core, again.rounds, how, confidence, candidates, holdout, other.segments, draw)
    with Gathering(bool(core.config["bias"][0])) as gathering:
        for stream in streams:
            play(run, stream, digest=True, keep=gathering)
        rounds = gathering.done()
    return chosen(core, rounds, how, confidence, candidates, holdout, draw=draw)


def chosen(
    core: Core,
    rounds: Rounds,
    how: str,
    confidence: float,
    candidates: int | str | None,
    holdout: int | None = None,
    segments: Sequence[dict[str, Any]] | None = None,
    draw: int | None = None,
) -> Selection:
    """The selection among the predictors of a learner that has played these rounds."""
    refuse(core)  # again: what a stream makes of a learner shows when it is played
    if not len(rounds):
        raise SettingError("select: no rounds were played, so there is nothing to select from")
    points = _points(core, rounds, how, candidates)
    voters, told = drawn(core, rounds, how, confidence, candidates, segments, holdout, points, draw)
    learner = Selected(core, {})
    _take(learner, rounds, voters)
    found = Selection(learner, told, certificates(told), points)
    learner.selection = found.to_dict()
    return found


def _points(core: Core, rounds: Rounds, how: str, candidates: int | str | None) -> dict[str, Vector]:
    """Where every round of a perceptron is a candidate, a comparator that bounds its mistakes well."""
    every = how == "penalised" and len(starts(len(rounds), how, candidates)) == len(rounds)
    if not (every and core.perceptron_rounds) or rounds.weights is not None:
        return {}
    from noregret.proof.solve.perceptron import penalised

    found = Facts(Run.of(core), rounds).mistakes
    if not found.measurable:
        return {}
    return {POINT: penalised(rounds, found.mistake_norm, gap=NEAR, seconds=SECONDS).v}


def _take(learner: Selected, rounds: Rounds, voters: Sequence[Candidate]) -> None:
    """Candidates as voters, one vote a round of each."""
    W = np.stack([one.w for one in voters])
    biases = W[:, 0] if rounds.bias else np.zeros(len(W))
    votes = np.array([float(one.stop - one.start) for one in voters])
    width = max(learner.width, W.shape[1] - int(rounds.bias))
    wide = np.zeros((len(W), width))
    wide[:, : W.shape[1] - int(rounds.bias)] = W[:, int(rounds.bias) :]
    learner.choose(wide, biases, np.ones(1) if len(votes) == 1 else votes)
