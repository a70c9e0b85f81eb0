"""The run again, from its settings and the streams it saw: the library's own loop, with every round kept."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.errors import InputError, SettingError
from noregret.fingerprint import fingerprint
from noregret.kernel import Kernel
from noregret.learner import LEARNERS
from noregret.learner.core import Core
from noregret.loss import Loss
from noregret.proof.own_code import own_code
from noregret.proof.receipt import plain
from noregret.protocol import play
from noregret.rounds import Gathering, Rounds
from noregret.run import Run
from noregret.stream import read

READING = ("label", "columns", "ignore", "missing", "hash_bits")  # what decides how a file is read
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


def replay(core: Core, segments: Sequence[Segment], streams: Sequence[Any], watch: Watch | None = None) -> Replayed:
    """Play each segment's rows from its stream, one stream after another."""
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
        settings["loss"] = {"name": core.loss.name, "fingerprint": str(core.loss.fingerprint)}
    own = core.settings.get("kernel")
    if isinstance(own, Kernel) and own.function is not None:
        settings["kernel"] = {"name": own.name, "fingerprint": str(fingerprint(own.function))}
    return {"name": core.name, "settings": settings, "labels": classes(core)}


def classes(core: Core) -> list[Any] | None:
    """The labels that a replay has to be told: two that are not −1/+1, 0/1 or false/true, many that were declared."""
    return None if core.labels is None else core.labels.told


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
    core = played.run.learner
    own = own_code(core)
    if own is not None:
        return {"same_bits": False, "sentence": OWN.format(what=own)}
    return {"same_bits": True, "sentence": SAME, "scores": _of_scores(played), "learner": _of_learner(core)}


def _of_scores(played: Replayed) -> str:
    assert played.rounds.scores is not None
    return _digest({"scores": played.rounds.scores})


def _of_learner(core: Core) -> str:
    """Everything that a model file would keep of it."""
    return _digest(core.arrays())


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
