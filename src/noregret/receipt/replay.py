"""The run again, from its settings and the streams it saw: the library's own loop, with every round kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from noregret.errors import InputError, SettingError
from noregret.learner import LEARNERS
from noregret.learner.linear import Linear
from noregret.loss import Loss
from noregret.protocol import play
from noregret.rounds import Gathering, Rounds
from noregret.run import Run
from noregret.stream.labels import Labels

Segment = dict[str, Any]
Watch = Callable[[Any, Any, Any], None]


@dataclass(frozen=True)
class Replayed:
    """The run as it came out this time, its rounds, and the digest of each stream."""

    run: Run
    rounds: Rounds
    digests: tuple[str, ...]


def fresh(name: str, settings: dict[str, Any], classes: Sequence[Any] | None, loss: Loss | None = None) -> Linear:
    """A learner as it was before its first round; labels keep the meaning they had."""
    core = LEARNERS[name](**settings if loss is None else {**settings, "loss": loss})
    if core.labels is not None and classes is not None:
        negative, positive = classes
        if negative is not None and positive is not None:
            core.labels = Labels.of(negative, positive)
        elif positive is not None:
            core.labels = Labels(positive)
    return core


def chains(core: Linear) -> list[Segment]:
    """What was learned from each stream: calls that went on in the same stream (`--skip seen`) count as one."""
    found: list[Segment] = []
    reached = 0
    for segment in core.segments:
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


def replay(core: Linear, segments: Sequence[Segment], streams: Sequence[Any], watch: Watch | None = None) -> Replayed:
    """Play each segment's rows from its stream, one stream after another."""
    if len(streams) != len(segments):
        raise SettingError(f"the run was learned from {len(segments)} streams, {len(streams)} were given")
    digests: list[str] = []
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
            )
            digests.append(run.digest or "")
            _check_rows(core, segment["rows"])
        return Replayed(run, gathering.done(), tuple(digests))


def _check_rows(core: Linear, wanted: int) -> None:
    found = core.segments[-1]["rows"] if core.segments else 0
    if found != wanted:
        raise InputError(f"the stream holds {found} of the {wanted} rows that were learned from")
