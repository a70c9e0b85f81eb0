"""The run again, from its settings and the streams it saw: the library's own loop, with every round kept."""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from noregret import arithmetic
from noregret.errors import InputError, ReceiptError, SettingError, spelled
from noregret.fingerprint import fingerprint
from noregret.interval import Interval, down_or_none, up_or_none
from noregret.kernel import Kernel
from noregret.learner import LEARNERS
from noregret.learner.core import Core
from noregret.loss import Loss
from noregret.proof.facts import Facts, judged_by
from noregret.proof.receipt import plain
from noregret.proof.theorem import Claim
from noregret.protocol import play
from noregret.rounds import Gathering, Rounds
from noregret.run import Run
from noregret.stream import read

READING = ("label", "columns", "ignore", "interactions", "missing", "hash_bits")  # what decides how a file is read
SAME = "every score and the final state of the learner are the same to the last bit on every machine"
OWN = "the {what} is the user's own Python code: its last digits may differ on another machine, so the claims are wider"
Segment = dict[str, Any]
Watch = Callable[[Any, Any, Any], None]


@dataclass(frozen=True)
class Replayed:
    """The run as it came out this time, its rounds, and the digest of each stream."""

    run: Run
    rounds: Rounds
    digests: tuple[str, ...]
    ended: tuple[bool, ...]  # whether each stream ends with the last row that was learned from


def fresh(name: str, settings: dict[str, Any], classes: Sequence[Any] | None, loss: Loss | None = None) -> Core:
    """A learner as it was before its first round; labels keep the meaning they had."""
    core = LEARNERS[name](**settings if loss is None else {**settings, "loss": loss})
    if core.labels is not None and classes is not None:
        core.labels = core.labels.again(classes)
    return core


def chains(core: Core) -> list[Segment]:
    """What was learned from each stream: calls that went on in the same stream (`--skip seen`) count as one."""
    found: list[Segment] = []
    reached = 0
    for segment in core.segments:
        if segment.get("late"):
            raise SettingError(
                "certify: the labels of this run came late: ask for the receipt where they are learned"
                f" ({spelled('receipt', 'FILE', python='certify(late_run, log)')})"
            )
        if segment.get("shards"):
            raise SettingError(
                "certify: this model was learned on shards: ask for the receipt where it is learned"
                f" ({spelled('receipt', 'FILE', python='play_shards(..., certify=True)')})"
            )
        if segment.get("changed"):
            raise SettingError(
                "certify: another learner went on where an alarm rang, so the run cannot be replayed as that of one"
            )
        if segment["begin"] != reached or "passes" not in segment:
            break
        reached = segment["end"]
        how = {key: segment[key] for key in ("passes", "shuffle", "class_weight")}
        if segment["skipped"]:
            found[-1] = {"rows": found[-1]["rows"] + segment["rows"], **how}
        else:
            found.append({"rows": segment["rows"], **how})
    if reached != core.rounds or not found:
        raise SettingError(
            "certify: some rounds were not played from a stream (learn_one, fit, partial_fit),"
            " so they cannot be replayed: use noregret.play"
        )
    return found


def replay(
    core: Core, segments: Sequence[Segment], streams: Sequence[Any], watch: Watch | None = None, **watchers: Any
) -> Replayed:
    """Play each segment's rows from its stream, one stream after another; watchers by the names that `play` has."""
    if len(streams) != len(segments):
        raise SettingError(f"the run was learned from {len(segments)} streams, {len(streams)} were given")
    digests: list[str] = []
    ended: list[bool] = []
    run = Run.of(core)
    with Gathering(bool(core.config["bias"][0])) as gathering:
        for segment, stream in zip(segments, streams, strict=True):
            run = play(
                core,
                stream,
                passes=segment["passes"],
                shuffle=segment["shuffle"],
                class_weight=segment["class_weight"],
                digest=True,
                keep=gathering,
                most=segment["rows"],
                watch=watch,
                **watchers,
            )
            digests.append(run.digest or "")
            _check_rows(core, segment["rows"])
            ended.append(core.segments[-1]["ended"])
        return Replayed(run, gathering.done(), tuple(digests), tuple(ended))


def _check_rows(core: Core, wanted: int) -> None:
    found = core.segments[-1]["rows"] if core.segments else 0
    if found != wanted:
        raise InputError(f"the stream holds {found} of the {wanted} rows that were learned from")


def described(core: Core) -> dict[str, Any]:
    """The learner's name and settings; of a loss or a kernel of the user's own its name and fingerprint."""
    settings = {key: plain(value) for key, value in core.settings.items() if value is not None}
    if core.loss.custom:
        settings["loss"] = described_loss(core.loss)
    own = core.settings.get("kernel")
    if isinstance(own, Kernel) and own.function is not None:
        settings["kernel"] = {"name": own.name, "fingerprint": str(fingerprint(own.function))}
    return {"name": core.name, "settings": settings, "labels": classes(core)}


def described_loss(loss: Loss) -> Any:
    """The text of a loss that `parse` reads back; of one of the user's own its name and fingerprint."""
    return {"name": loss.name, "fingerprint": str(loss.fingerprint)} if loss.custom else loss.spec


def classes(core: Core) -> list[Any] | None:
    """The labels that a replay needs: two that are not −1/+1, 0/1 or false/true, many that were declared."""
    return None if core.labels is None else core.labels.needed_again


def read_again(stream: Any, said: Mapping[str, Any], **more: Any) -> Any:
    """A file as it was read when it was learned from; what is not a file is taken as it is."""
    if not isinstance(stream, str | os.PathLike):
        return stream
    told = {key: said[key] for key in READING if said.get(key) is not None}
    return read(stream, **told, **more)


def reading(core: Core) -> dict[str, Any]:
    """How the streams were read, as far as it mattered."""
    kept = {key: core.options.get(key) for key in ("label", "ignore", "missing")}
    told = {} if core.features is None else core.features.reading
    return {key: value for key, value in kept.items() if value is not None} | told


def same_bits(played: Replayed) -> dict[str, Any]:
    """What a replay must give again to the last bit: every score of the run, and the learner after the last round."""
    core, rounds = played.run.learner, played.rounds
    own, rows = own_code(core), {"rows": rounds.digest, "layout": rounds.layout}
    if own is not None:
        return {"same_bits": False, "sentence": OWN.format(what=own), **rows}
    return {"same_bits": True, "sentence": SAME, "scores": _of_scores(played), "learner": _of_learner(core), **rows}


def _of_scores(played: Replayed) -> str:
    assert played.rounds.scores is not None
    return _digest({"scores": played.rounds.scores})


def _of_learner(core: Core) -> str:
    """Everything that a model file would keep of it."""
    return _digest(core.kept())


def _digest(arrays: dict[str, Any]) -> str:
    """SHA-256 over names, shapes and bits; every NaN counts the same."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        if array.dtype.kind == "f":
            array = np.where(np.isnan(array), np.nan, array)
        array = array.astype(array.dtype.newbyteorder("<"))
        found.update(f"{name} {array.shape} {array.dtype.str}\n".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _count(said: Any) -> bool:
    return type(said) is int and said >= 1


def _seed(said: Any) -> bool:
    return said is None or (type(said) is int and said >= 0)


def weights_of_classes(said: Any) -> bool:
    """None, or a weight for every label that has one other than 1."""
    if not isinstance(said, dict):
        return said is None
    return all(isinstance(key, str) for key in said) and all(
        type(weight) in (int, float) and math.isfinite(weight) and weight >= 0.0 for weight in said.values()
    )


def _hexadecimal(said: Any) -> bool:
    return isinstance(said, str) and re.fullmatch("[0-9a-f]{64}", said) is not None


# each field, whether what is said of it can be so, and what it has to be
FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "rows": (_count, "a whole number of at least 1"),
    "passes": (_count, "a whole number of at least 1"),
    "shuffle": (_seed, "null, or a whole number of at least 0"),
    "class_weight": (weights_of_classes, "null, or a number of at least 0 for each label"),
    "ended": (lambda said: isinstance(said, bool), "true or false"),
    "digest": (_hexadecimal, "64 hexadecimal digits"),
}


def segment_of(said: Any, place: int) -> dict[str, Any]:
    """What a replay needs of a stream: rows, passes, seed and class weights; a field of another kind is an error."""
    if not isinstance(said, dict) or set(said) != set(FIELDS):
        raise ReceiptError(f"what is said of stream {place} must be {', '.join(FIELDS)}", failed=True)
    for name, (right, sentence) in FIELDS.items():
        if not right(said[name]):
            raise ReceiptError(f"{name} of stream {place} must be {sentence}, got {said[name]!r}", failed=True)
    return {key: said[key] for key in ("rows", "passes", "shuffle", "class_weight")}


FIGURE = 1e-9  # what a figure of the run may differ by from one machine to another
SCORED = 1e-11  # what scores may differ by, as a share of ‖w‖‖x‖, and with every round a little more
ENCLOSED = 2.0**-46  # what an enclosure of a loss at given scores may differ by
LOWER = (  # values that are lower ends; the others are upper ends
    *("no_comparator_below", "no_separator_below", "margin"),
    *("e_value", "largest_e_value"),
)
EXACT = (  # values that are what they are
    *("scaled_by", "target", "rate", "radius", "bets", "unforeseen", "updates", "switches"),
    *("level", "false_alarm", "rang", "target"),
    *("confidence", "rounds", "tail", "errors", "mistakes", "candidates", "passed"),
)


def own_code(core: Core) -> str | None:
    """What the user wrote in Python: the loss or the kernel; None where all of the run is the core's arithmetic."""
    if core.loss.custom:
        return "loss"
    kernel = core.settings.get("kernel")
    return "kernel" if isinstance(kernel, Kernel) and kernel.function is not None else None


def is_exact(value: str) -> bool:
    """Whether a value is a setting or a count; one of several, as updates_2, counts as the one it is of."""
    return value in EXACT or value.startswith("updates_")


def wider(found: Interval, off: float) -> Interval:
    """Further out at both ends; what is exact is so everywhere."""
    return found if found.exact or not off else Interval(down_or_none(found.lo - off), up_or_none(found.hi + off))


@dataclass(frozen=True)
class Margin:
    """By how much claims are wider than what was found: nothing, but for the user's own code."""

    share: float
    size: float  # Σ k|s|·‖w‖‖x‖, from above: how much sums would move if every score moved by its full size
    losses: float  # the share of losses at scores that are what they are

    @classmethod
    def of(cls, facts: Facts) -> Margin:
        if own_code(facts.learner) is None:
            return NONE
        share = SCORED + len(facts.rounds) * 2.0**-50
        return cls(share, _steepness(facts), ENCLOSED if facts.learner.loss.custom else 0.0)

    def beside(self, facts: Facts) -> Margin:
        """The margin of certificates, where they evaluate a loss of the user's own beside the run."""
        own = facts.surrogate is not None and facts.surrogate.custom
        return replace(self, share=max(self.share, ENCLOSED)) if own else self

    def figure(self, found: Interval) -> Interval:
        """A figure of the run."""
        size = max(abs(found.lo), abs(found.hi))
        return wider(found, max(FIGURE, self.share) * (size + self.size) if self.share else 0.0)

    def own(self, found: Interval) -> Interval:
        """The run's own loss."""
        return wider(found, self.share * self.size + self.losses * abs(found.hi))

    def comparator(self, found: Interval, size: float) -> Interval:
        """A comparator's loss between its ends; the terms of the lower one are of that size."""
        off = self.losses * (abs(found.hi) + size)
        return wider(found, off)

    def upper(self, value: float) -> float:
        """A number that is claimed from above."""
        if math.isnan(value):
            return math.inf
        return up_or_none(value + self.share * (abs(value) + self.size)) if self.share else value

    def value(self, key: str, value: float) -> float:
        """A value that a certificate names, at its end."""
        if is_exact(key) or not self.share:
            return math.inf if math.isnan(value) else value
        if key in LOWER:
            return max(down_or_none(value - self.share * (abs(value) + self.size)), 0.0)
        return self.upper(value)

    def observed(self, claim: Claim) -> float | None:
        """What was observed, from above."""
        if claim.observed is None:
            return None
        return claim.observed.hi if claim.observed.exact else self.upper(claim.observed.hi)


NONE = Margin(0.0, 0.0, 0.0)


def _steepness(facts: Facts) -> float:
    """The norms of the weights on the way are not kept: they are at most the radius, the last norm, or what scores ask.

    With a regulariser the weights are in the loss too, and it is counted as well.
    """
    rounds, run, loss = facts.rounds, facts.run, judged_by(facts.learner)
    scores, lengths = facts.scores, np.sqrt(facts.row_squares[1])
    if scores.ndim != 1:
        return 0.0
    least = np.abs(scores) / np.where(lengths > 0.0, lengths, 1.0)
    inside = facts.learner.domain.radius if math.isfinite(facts.learner.domain.radius) else 0.0
    longest = max(inside, run.weight_norm, float(least.max(initial=0.0)))
    weights = 1.0 if rounds.weights is None else rounds.weights
    with np.errstate(over="ignore"):
        slopes = np.abs(loss.gradients(scores, rounds.y)) * weights
        moved = arithmetic.total(slopes * np.maximum(lengths * longest, np.abs(scores)))
    return moved + (facts.loss.hi if facts.sigma else 0.0)
