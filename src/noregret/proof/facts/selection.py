"""What a selection is judged by, counted on the rounds of its run: candidates, their errors, the one that was chosen.

Maker and verifier both count here, each on the rounds that it has kept: the run goes once more over its prepared rows,
stops before every candidate's round, and every number is the same to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret.errors import SettingError, spelled
from noregret.interval import Interval
from noregret.learner.core import Core
from noregret.learner.selected import REFUSAL
from noregret.loss import Loss
from noregret.proof import enclose
from noregret.proof.facts import Facts, Points
from noregret.proof.facts.candidates import (
    Candidate,
    Regeneration,
    held_out,
    holds_out,
    starts,
    starts_before,
    tails,
)
from noregret.proof.facts.gradients import roundings
from noregret.rounds import Rounds
from noregret.run import Run, played_once, rows_weigh_one

Vector = NDArray[np.float64]
WAYS = ("penalised", "holdout", "gibbs", "last", "average", "voted")
HOW = "how='{}'"
POINT = "u_risk"  # a comparator of the mistakes of a perceptron's run


@dataclass(frozen=True)
class Sampled:
    """What a selection is judged by: whole numbers counted on the rounds, and what was fixed before them."""

    how: str  # one of WAYS
    confidence: float
    rounds: int  # T
    once: bool | None  # every row was played in one round only, as far as is known
    unit: bool  # every row weighs 1
    candidates: int  # K, as many as the union bound is over
    usual: bool  # K is the one that T alone gives, not one that was asked for
    mistakes: int  # rounds with y·score ≤ 0, as played
    round: int | None = None  # i, counted from 1
    errors: int | None = None  # of h_i on the rounds i … T, or on those held out
    own: int | None = None  # Σ_t errors of round t's candidate, the last one that began by then: of rounds not held out
    loss: Loss | None = None  # of the learner
    reach: float = math.inf  # |score| can be no more on any row, known beforehand
    losses: Interval | None = None  # Σ_t losses of round t's candidate, each in [0, φ(−reach)]
    held: int | None = None  # the last rounds, held out
    distinct: int | None = None  # predictors before those, of which each differs from the one before it
    draw: int | None = None  # the seed that drew h_i from h_1 … h_T
    facts: Facts | None = None  # of a perceptron's run of which every round is a candidate: its mistake bounds

    @property
    def delta(self) -> Interval:
        """δ = 1 − confidence."""
        return Interval.of(1.0) - self.confidence

    @property
    def every(self) -> bool:
        """Whether each of the rounds is a candidate."""
        return self.candidates == (self.rounds if self.held is None else self.rounds - self.held + 1)

    @property
    def tail(self) -> int:
        """n = T − i + 1, the rounds that h_i had not seen; or those held out."""
        assert self.round is not None
        return self.rounds - self.round + 1 if self.held is None else self.held

    @property
    def trained(self) -> int:
        """The rounds before those held out."""
        return self.rounds - (self.held or 0)

    @property
    def empirical(self) -> float | None:
        """The error of h_i on the rounds that it had not seen."""
        return None if self.errors is None else self.errors / self.tail

    def log(self, size: float) -> Interval:
        """ln(size/δ)."""
        return (Interval.of(size) / self.delta).log()

    def to_dict(self) -> dict[str, Any]:
        """What is said of the choice, as `--json` prints it and receipts keep it."""
        return {
            "how": self.how,
            "confidence": self.confidence,
            "rounds": self.rounds,
            "candidates": self.candidates,
            "every_round": self.every,
            "round": self.round,
            "tail": None if self.round is None else self.tail,
            "errors": self.errors,
            "empirical": self.empirical,
            "mistakes": self.mistakes,
            "held_out": self.held,
            "distinct": self.distinct,
            "draw": self.draw,
        }


def check(
    how: str,
    confidence: float,
    holdout: int | None = None,
    draw: int | None = None,
    candidates: int | str | None = None,
) -> None:
    """What can be asked for."""
    for name, value, goes in (("holdout", holdout, "holdout"), ("draw", draw, "gibbs")):
        if value is not None and how != goes:
            way = spelled("select", goes, python=HOW.format(goes))
            raise SettingError(f"{spelled(name)} goes with {way}, not with {how}")
    if how not in WAYS:
        raise SettingError(f"select must be one of {', '.join(WAYS)}, got {how!r}")
    if not isinstance(confidence, int | float) or not 0.0 < confidence < 1.0:
        raise SettingError(f"select: confidence must lie between 0 and 1, got {confidence}")
    if draw is not None and (isinstance(draw, bool) or not isinstance(draw, int) or draw < 0):
        raise SettingError(f"{spelled('draw')} must be a whole number of at least 0, got {draw!r}")
    if how == "gibbs" and candidates not in (None, "all"):
        raise SettingError(
            f"{spelled('candidates')} does not go with {spelled('select', 'gibbs', python=HOW.format('gibbs'))}:"
            " the predictor is drawn from those of every round"
        )


def refuse(core: Core) -> None:
    """A sentence for learners whose predictors along the run are not to be had."""
    if not core.learns:
        raise SettingError(REFUSAL)
    if core.sure is not None:
        what = " and ".join(spelled(name) for name in ("cover", "calibrate") if core.settings[name])
        raise SettingError(
            f"select: sets and probabilities are those of the run, not of one of its predictors: leave out {what}"
        )
    if core.regression:
        raise SettingError(
            f"select: risk certificates need a loss in [0, 1]: labels that are right or wrong, not the loss"
            f" {core.loss.name} of numbers"
        )
    if not core.linear:
        raise SettingError(f"select: {core.name} has no weight vector per round: use perceptron, pa1, ogd or adagrad")
    if core.selects is not None:
        raise SettingError(f"select: {core.name} is a selection already: use perceptron with select {core.selects}")
    if core.preparation.means is not None or core.options.get("missing") == "mean":
        raise SettingError(
            "select: with missing mean a row looks different to every predictor of the run:"
            " fill in the missing values beforehand, or use missing zero"
        )
    if core.preparation.drifts:
        raise SettingError(
            f"select: with {' and '.join(core.preparation.settings_in_words)} a row looks different to every predictor"
            " of the run: scale the columns beforehand, or use unit norm"
        )


def drawn(
    core: Core,
    rounds: Rounds,
    how: str,
    confidence: float,
    candidates: int | str | None,
    segments: Sequence[dict[str, Any]] | None = None,
    holdout: int | None = None,
    points: Points | None = None,
    draw: int | None = None,
) -> tuple[list[Candidate], Sampled]:
    """The predictors that are selected from a learner that has played these rounds, and what they are judged by.

    `segments` are the streams with their digests, where the learner itself was played without them. `points` may hold a
    comparator of its mistakes.
    """
    check(how, confidence, holdout, draw)
    refuse(core)
    streams = core.segments if segments is None else segments
    once, unit = played_once(streams), rows_weigh_one(streams, rounds.weights)
    told = Sampled(how, float(confidence), len(rounds), once, unit, 0, False, 0, loss=core.loss)
    if how == "holdout":
        return _held_out(core, rounds, told, candidates, holdout)
    if how == "gibbs":
        return _at_random(core, rounds, told, 0 if draw is None else draw)
    begins = starts(len(rounds), how, candidates)
    again = Regeneration(core, rounds, begins)
    told = replace(told, candidates=len(begins), usual=len(begins) == len(starts(len(rounds), how, None)))
    if how == "penalised":
        voters, told = _penalised(rounds, again, told)
        if core.perceptron_rounds and told.every:
            told = replace(told, facts=_facts(core, rounds, points or {}))
    elif how == "voted":
        voters, told = _voted(rounds, again, told)
    elif how == "average":
        voters, told = _averaged(core, rounds, again, told)
    else:
        again = Regeneration(core, rounds, begins[:1])
        list(again)
        voters = [Candidate(0, 1, _last(core, rounds))]
    return voters, replace(told, mistakes=again.mistakes)


def _facts(core: Core, rounds: Rounds, points: Points) -> Facts:
    """The run with the comparator of its mistakes."""
    return Facts(Run.of(core), rounds, points={f"v_{name}": one for name, one in points.items() if name == POINT})


def _held_out(
    core: Core, rounds: Rounds, told: Sampled, candidates: int | str | None, holdout: int | None
) -> tuple[list[Candidate], Sampled]:
    """The predictor with the fewest errors on the rounds held out; of equals the one that has learned from most."""
    held = holds_out(len(rounds), holdout)
    before = len(rounds) - held
    begins, asked = starts_before(before, "holdout", candidates)
    again = Regeneration(core, rounds, begins)
    places, errors = held_out(rounds, again, before)
    best = len(errors) - 1 - int(errors[::-1].argmin())
    usual = asked == len(starts(before + 1, "holdout", None)) and held == holds_out(len(rounds), None)
    told = replace(told, candidates=asked, usual=usual, held=held, distinct=len(places), mistakes=again.mistakes)
    if told.every:  # then the errors of each on its own rounds say how good the best of them is
        prefix = rounds.first(before)
        own = int(tails(prefix, Regeneration(core, prefix, np.arange(before)), whole=False).own.sum()) if before else 0
        told = replace(told, own=own)
    told = replace(told, round=int(places[best]) + 1, errors=int(errors[best]))
    return [_before_round(core, rounds, int(places[best]))], told


def _before_round(core: Core, rounds: Rounds, at: int) -> Candidate:
    """The predictor before one round, counted from 0, as a voter of its own."""
    found = list(Regeneration(core, rounds.first(at + 1), np.array([0, at] if at else [0])))[-1]
    return replace(found, start=0, stop=1)


def _at_random(core: Core, rounds: Rounds, told: Sampled, draw: int) -> tuple[list[Candidate], Sampled]:
    """The predictor before a round that the seed draws, all being equally likely, and its errors from there on."""
    T = len(rounds)
    at = int(np.random.default_rng(draw).integers(T))
    again = Regeneration(core, rounds, starts(T, "last", 1))
    list(again)
    voter = _before_round(core, rounds, at)
    errors = int(tails(rounds, [replace(voter, start=at, stop=T)]).errors[at])
    told = replace(told, candidates=T, usual=draw == 0, mistakes=again.mistakes)
    return [voter], replace(told, round=at + 1, errors=errors, draw=draw)


def penalised_risk(errors: Vector, draws: Vector, candidates: int, delta: float) -> Vector:
    """k/n + √(ln(K(K + 1)/δ)/(2n)) (Mohri & Rostamizadeh, section 4, where K = T)."""
    return np.asarray(errors / draws + np.sqrt(arithmetic.log(candidates * (candidates + 1.0) / delta) / (2.0 * draws)))


def _penalised(rounds: Rounds, again: Regeneration, told: Sampled) -> tuple[list[Candidate], Sampled]:
    found = tails(rounds, again)
    errors, draws = found.errors[again.begins], len(rounds) - again.begins
    risks = penalised_risk(errors.astype(float), draws.astype(float), len(draws), 1.0 - told.confidence)
    best = int(risks.argmin())  # the earliest of equals: it has the longest tail
    at = int(again.begins[best])
    own = int(found.own.sum()) if told.every else None
    return [_before_round(again.core, rounds, at)], replace(told, round=at + 1, errors=int(errors[best]), own=own)


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
    if not core.loss.surrogate or not core.preparation.unit_norm or core.domain.shape != "ball":
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
