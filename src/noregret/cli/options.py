"""From option texts to settings: what was not given stays None, so that a resumed model can tell a conflict."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

from noregret.atomic import descriptor, has_whole
from noregret.errors import InputError, SettingError, nearest
from noregret.learner import LEARNERS, Core, settings_of
from noregret.loss import parse as parse_loss
from noregret.setting import Setting
from noregret.stream.labels import Labels


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def make_learner(name: str, options: dict[str, Any]) -> Core:
    """A new learner from the options that were given."""
    if name not in LEARNERS:
        known = f"the {len(LEARNERS)} that noregret learn --help lists"
        raise SettingError(f"learner must be one of {known}, got {name!r}{nearest(name, LEARNERS, 3)}")
    return LEARNERS[name](**learner_settings(name, options))


def settings_of_text(name: str) -> dict[str, Setting]:
    """The settings of a learner that an option or a SPEC can give."""
    return {key: one for key, one in settings_of(name).items() if one.kind is not object}


def learner_settings(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The settings among the given options, refusing those that the learner does not have."""
    known, found = settings_of_text(name), dict[str, Any]()
    for key, value in options.items():
        if value is None:
            continue
        if key == "task" and key in settings_of(name):  # an option of its own
            found[key] = value
            continue
        if key not in known:
            *others, last = (owner for owner in LEARNERS if key in settings_of(owner))
            owners = f"{', '.join(others)} and {last}" if others else last
            raise SettingError(f"{flag(key)} is for {owners}, not for {name}")
        found[key] = known[key].of_text(flag(key), value) if isinstance(value, str) else value
    return found


def spec_settings(spec: str, own: dict[str, Setting], common: Collection[str] = ()) -> dict[str, Any]:
    """The settings in `name:key=value,key=value`; `common` are those that options give to all learners."""
    name, colon, rest = spec.partition(":")
    given: dict[str, Any] = {}
    for part in rest.split(",") if colon else []:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        key = key.replace("-", "_")
        if key in common:
            raise SettingError(f"--learner {spec}: {flag(key)} applies to all learners, so it cannot be part of a SPEC")
        if not (equals and value) or key in given:
            raise SettingError(f"--learner {spec}: expected key=value, each key once, got {part!r}")
        if key not in own:
            raise SettingError(f"--learner {spec}: {name} has {', '.join(own)}, not {key!r}")
        given[key] = own[key].of_text(f"--learner {spec}", value)
    return given


def positive_label(core: Core, positive: str) -> Labels:
    """The labels of a learner of two classes, the positive one told; a refusal for another learner."""
    if core.labels is None:
        raise SettingError(f"--positive is for two classes; the loss {core.loss.name} is for numbers")
    if not isinstance(core.labels, Labels):
        raise SettingError(f"--positive is for two classes; {core.name} takes any number of them")
    return Labels(positive)


def check_same(stored: dict[str, Any], given: dict[str, Any], what: str) -> None:
    """A resumed model keeps its settings: an option that says otherwise is an error."""
    for key, value in given.items():
        if key == "loss" and value is not None:
            value = parse_loss(value).spec
        kept = "label" if key == "label" and stored.get(key) is None else stored.get(key)
        if value is not None and kept != value:
            said = flag(key) if value is True else f"{flag(key)} {_shown(value)}"
            raise SettingError(f"{said} conflicts with the {what}, which has {_shown(kept)}: leave it out")


def _shown(value: Any) -> str:
    if value is None or value is False:
        return "none"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


READING_DEFAULTS = {"hash_bits": 18, "missing": "error"}


def with_defaults(reading: dict[str, Any]) -> dict[str, Any]:
    """How a stream is read, where nothing was said."""
    return {key: READING_DEFAULTS.get(key) if value is None else value for key, value in reading.items()}


def names(text: str | None) -> tuple[str, ...]:
    """Column names separated by commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip()) if text else ()


def class_weights(text: str | None) -> dict[str, float] | None:
    """`spam=2,ham=1` as weights by label."""
    if text is None:
        return None
    weights: dict[str, float] = {}
    for part in text.split(","):
        label, equals, number = part.rpartition("=")
        if label.strip() in weights:
            raise SettingError(f"--class-weight names the label {label.strip()!r} twice, got {text!r}")
        try:
            weights[label.strip()] = float(number)
            if not (equals and label and 0.0 <= weights[label.strip()] < float("inf")):
                raise ValueError
        except ValueError:
            raise SettingError(f"--class-weight must be LABEL=WEIGHT,LABEL=WEIGHT, got {text!r}") from None
    return weights


def check_writable(source: str, *outputs: Path | None, what: str = "the stream") -> None:
    """Say before the work, not after it, that a file cannot be written, or would be written over another."""
    taken = {} if source == "-" else {os.path.realpath(source): what}
    for path in outputs:
        if path is None:
            continue
        whole = has_whole(path)
        try:
            _check_place(path, whole)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", str(path)) from error
        place = os.path.realpath(path)
        if place in taken and whole:
            raise InputError(f"would be written over {taken[place]}", str(path))
        taken[place] = "another output"


def _check_place(path: Path, whole: bool) -> None:
    if str(path) == "-":
        raise InputError("must be the name of a file, or /dev/stdout", str(path))
    if path.is_dir():
        raise InputError("is a folder, a file was expected", str(path))
    if not whole:  # its folder need not be written to
        if descriptor(path) is None and not os.access(path, os.W_OK):
            raise InputError("cannot be written: permission denied", str(path))
        return
    if not path.parent.is_dir():
        wrong = "is not a folder" if path.parent.exists() else "does not exist"
        raise InputError(f"cannot be written: {str(path.parent)!r} {wrong}", str(path))
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"cannot be written: the folder {str(path.parent)!r} is read-only", str(path))
