"""Choosing one predictor of a run, and what its risk on new rows is certified to be."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic, model
from noregret.errors import InputError, SettingError
from noregret.interval import Interval
from noregret.learner.core import Core
from noregret.learner.linear import Linear
from noregret.learner.selected import REFUSAL, Selected
from noregret.proof import enclose
from noregret.proof.facts.gradients import roundings
from noregret.proof.replay import chains, classes, fresh, replay
from noregret.proof.theorem import Certificate
from noregret.proof.theorems.risk import SURROGATES, WAYS, Sampled, certificates
from noregret.protocol import play
from noregret.rounds import Gathering, Rounds
from noregret.run import Run, played_once, rows_weigh_one
from noregret.selection.candidates import Candidate, Regeneration, starts
from noregret.selection.tails import tails

Vector = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Selection:
    """The selected predictor, and the certificates of its risk; `learner` predicts with it and can be saved."""

    learner: Selected
    sampled: Sampled
    certificates: list[Certificate] = field(default_factory=list)

    def __repr__(self) -> str:
        where = "" if self.round is None else f" before round {self.round} of {self.sampled.rounds}"
        return f"<Selection: {self.how}{where} of {self.learner.name}>"

    @property
    def core(self) -> Selected:
        """The learner that predicts with the selection."""
        return self.learner

    @property
    def how(self) -> str:
        """The method: penalised, last, average or voted."""
        return self.sampled.how

    @property
    def confidence(self) -> float:
        """The probability with which its certificates hold."""
        return self.sampled.confidence

    @property
    def round(self) -> int | None:
        """The round, counted from 1, before which the selected weights were in use; only `penalised` selects one."""
        return self.sampled.round

    @property
    def empirical(self) -> float | None:
        """Its error on the rounds it had not seen."""
        return None if self.sampled.errors is None else self.sampled.errors / self.sampled.tail

    @property
    def bound(self) -> float | None:
        """The smallest certified bound on the risk of the selection; None if there is none, or none that is useful."""
        about = {"penalised": ("risk-binomial",), "voted": ("risk-voted",), "average": ("risk-average",)}
        wanted = about.get(self.how, ())
        return next((one.bound for one in self.certificates if one.theorem in wanted and _says(one)), None)

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
        told = self.sampled
        return {
            "how": told.how,
            "confidence": told.confidence,
            "rounds": told.rounds,
            "candidates": told.candidates,
            "every_round": told.every,
            "round": told.round,
            "tail": None if told.round is None else told.tail,
            "errors": told.errors,
            "empirical": self.empirical,
            "mistakes": told.mistakes,
            "certificates": [one.to_dict() for one in self.certificates],
        }


def _says(one: Certificate) -> bool:
    return one.bound is not None and one.bound < 1.0


def select(
    run: Any,
    *streams: Any,
    how: str = "penalised",
    confidence: float = 0.95,
    candidates: int | str | None = None,
) -> Selection:
    """Select one predictor of a run; a certificate of its risk on new rows holds with probability `confidence`.

    `run` is a run of `play`, whose `streams` are replayed, or a learner that has not started, which plays them. `how`
    is penalised (the smallest error on rows not yet seen, with a penalty for few such rows), last, average or voted.
    `candidates` is the number of predictors along the run to consider, or all; by default all for a run of at most 4096
    rounds, and 256 evenly spaced ones for a longer run.

    >>> from noregret.learner import Perceptron
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> chosen = select(Perceptron(), (X, np.sign(X[:, 0])))
    >>> chosen.empirical < 0.1, chosen.bound < 0.2
    (True, True)
    """
    check(how, confidence)
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
        return chosen(core, again.rounds, how, confidence, candidates, other.segments)
    with Gathering(bool(core.config["bias"][0])) as gathering:
        for stream in streams:
            play(run, stream, digest=True, keep=gathering)
        rounds = gathering.done()
    return chosen(core, rounds, how, confidence, candidates)


def check(how: str, confidence: float) -> None:
    """What can be asked for."""
    if how not in WAYS:
        raise SettingError(f"select must be one of {', '.join(WAYS)}, got {how!r}")
    if not isinstance(confidence, int | float) or not 0.0 < confidence < 1.0:
        raise SettingError(f"select: confidence must lie between 0 and 1, got {confidence}")


def refuse(core: Core) -> None:
    """A sentence for learners whose predictors along the run are not to be had."""
    if not core.learns:
        raise SettingError(REFUSAL)
    if core.regression:
        raise SettingError(
            f"select: risk certificates need a loss in [0, 1]: labels that are right or wrong, not the loss"
            f" {core.loss.name} of numbers"
        )
    if not isinstance(core, Linear):
        raise SettingError(f"select: {core.name} has no weight vector per round: use perceptron, pa1, ogd or adagrad")
    if core.name in ("averaged", "voted"):
        way = "average" if core.name == "averaged" else "voted"
        raise SettingError(f"select: {core.name} is a selection already: use perceptron with select {way}")
    if core.preparation.means is not None or core.options.get("missing") == "mean":
        raise SettingError(
            "select: with missing mean a row looks different to every predictor of the run:"
            " fill in the missing values beforehand, or use missing zero"
        )
    if core.preparation.scale is not None:
        raise SettingError(
            "select: with scale max a row looks different to every predictor of the run:"
            " scale the columns beforehand, or use unit norm"
        )


def chosen(
    core: Core,
    rounds: Rounds,
    how: str,
    confidence: float,
    candidates: int | str | None,
    segments: Sequence[dict[str, Any]] | None = None,
) -> Selection:
    """The selection among the predictors of a learner that has played these rounds.

    `segments` are the streams with their digests, where the learner itself was played without them.
    """
    refuse(core)  # again: what a stream makes of a learner shows when it is played
    if not len(rounds):
        raise SettingError("select: no rounds were played, so there is nothing to select from")
    begins = starts(len(rounds), how, candidates)
    usual = len(begins) == len(starts(len(rounds), how, None))
    again = Regeneration(core, rounds, begins)
    streams = core.segments if segments is None else segments
    once, unit = played_once(streams), rows_weigh_one(streams, rounds.weights)
    told = Sampled(how, float(confidence), len(rounds), once, unit, len(begins), usual, 0, loss=core.loss)
    if how == "penalised":
        weights, told = _penalised(rounds, again, told)
    elif how == "voted":
        weights, told = _voted(rounds, again, told)
    elif how == "average":
        weights, told = _averaged(core, rounds, again, told)
    else:
        again = Regeneration(core, rounds, begins[:1])
        list(again)
        weights = [Candidate(0, 1, _last(core, rounds))]
    told = replace(told, mistakes=again.mistakes)
    judged = certificates(told)
    learner = Selected(core, {})
    _take(learner, rounds, weights)
    found = Selection(learner, told, judged)
    learner.selection = found.to_dict()
    return found


def _take(learner: Selected, rounds: Rounds, voters: Sequence[Candidate]) -> None:
    """Candidates as voters, one vote a round of each."""
    W = np.stack([one.w for one in voters])
    biases = W[:, 0] if rounds.bias else np.zeros(len(W))
    votes = np.array([float(one.stop - one.start) for one in voters])
    width = max(learner.width, W.shape[1] - int(rounds.bias))
    wide = np.zeros((len(W), width))
    wide[:, : W.shape[1] - int(rounds.bias)] = W[:, int(rounds.bias) :]
    learner.choose(wide, biases, np.ones(1) if len(votes) == 1 else votes)


def penalised_risk(errors: Vector, draws: Vector, candidates: int, delta: float) -> Vector:
    """k/n + √(ln(K(K + 1)/δ)/(2n)) (Mohri & Rostamizadeh, section 4, where K = T)."""
    return np.asarray(errors / draws + np.sqrt(arithmetic.log(candidates * (candidates + 1.0) / delta) / (2.0 * draws)))


def _penalised(rounds: Rounds, again: Regeneration, told: Sampled) -> tuple[list[Candidate], Sampled]:
    found = tails(rounds, again)
    errors, draws = found.errors[again.begins], len(rounds) - again.begins
    risks = penalised_risk(errors.astype(float), draws.astype(float), len(draws), 1.0 - told.confidence)
    best = int(risks.argmin())  # the earliest of equals: it has the longest tail
    at = int(again.begins[best])
    before = list(Regeneration(again.core, rounds.first(at + 1), np.array([0, at] if at else [0])))[-1]
    own = int(found.own.sum()) if told.every else None
    return [replace(before, start=0, stop=1)], replace(told, round=at + 1, errors=int(errors[best]), own=own)


def _voted(rounds: Rounds, again: Regeneration, told: Sampled) -> tuple[list[Candidate], Sampled]:
    voters = list(again)
    return voters, replace(told, own=int(tails(rounds, voters, whole=False).own.sum()))


def _averaged(core: Core, rounds: Rounds, again: Regeneration, told: Sampled) -> tuple[list[Candidate], Sampled]:
    """(1/T) Σ_t w_t, each candidate as often as it has rounds, with its losses on them where these are bounded."""
    total, losses, reach = np.zeros(rounds.width), Interval.of(0.0), _reach(core, rounds)
    for one in again:
        total += (one.stop - one.start) * one.w
        if reach is not None:
            part = replace(rounds.part(one.start, one.stop), weights=None, scores=None)
            losses += enclose.risk(part, core.loss, one.w)
    mean = [Candidate(0, 1, total / len(rounds))]
    if reach is None:
        return mean, told
    # The average itself is rounded: by so much may its losses be larger.
    steep, terms = abs(core.loss.gradient(-reach, 1.0)), len(again.begins) + rounds.width + 64.0
    losses += Interval(0.0, len(rounds) * steep * reach * terms * 2.0**-50)
    return mean, replace(told, reach=reach, losses=losses)


def _reach(core: Core, rounds: Rounds) -> float | None:
    """|⟨w, x⟩| ≤ U·max‖x‖ where both are known before the rows are."""
    if core.loss.name not in SURROGATES or not core.preparation.unit_norm or core.domain.shape != "ball":
        return None
    longest, sigma = math.sqrt(2.0) if rounds.bias else 1.0, float(core.config["sigma"][0])
    radius = core.domain.radius
    if sigma and rounds.weights is None:
        radius = min(radius, core.loss.lipschitz * longest / sigma)
    return radius * longest * (1.0 + 1e-9 + roundings(rounds)) if math.isfinite(radius) else None


def _last(core: Core, rounds: Rounds) -> Vector:
    """The weights after the last round."""
    bias = [core.bias] if rounds.bias else []
    found = np.concatenate([bias, core.weights])
    return np.concatenate([found, np.zeros(max(rounds.width - len(found), 0))])
