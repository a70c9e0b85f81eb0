"""How a setting is declared: once, as an annotated field with its default, what it means and what must hold of it.

The learner's constructor, the estimator's, the options of the command line and the model file are made from the fields.
A check takes who asks, which setting, and what came; it gives the value as it is kept, or raises one sentence.
Nothing large is imported here: the command line reads the declarations before it knows which learner will play.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import copy
from inspect import Parameter, Signature, get_annotations
from typing import Any, Self, TypeVar, dataclass_transform

from noregret.errors import SettingError

Check = Callable[[str, str, Any], Any]
About = str | Callable[[], str]
C = TypeVar("C")


class Setting:
    """One setting: `kind` is the type of its text on the command line, `read` makes a value of that text."""

    name: str
    annotation: str
    kind: type
    optional: bool  # may be left out: None is then kept as it is

    def __init__(self, default: Any, about: About, check: Check | None, read: Callable[[str], Any] | None) -> None:
        self.default = default
        self._about = about
        self.check = check
        self.read = read
        self.for_numbers = default  # the default where labels are numbers

    @property
    def about(self) -> str:
        """What it means."""
        return self._about if isinstance(self._about, str) else self._about()

    def by_default(self, default: Any, for_numbers: Any = None) -> Self:
        """The same with another default, and another one where labels are numbers."""
        made = copy(self)
        made.default = default
        if for_numbers is not None:
            made.for_numbers = for_numbers
        return made

    def named(self, name: str, annotation: str) -> Self:
        """The same, once it is known which field it is."""
        parts = [part.strip() for part in annotation.split("|")]
        self.name, self.annotation, self.optional = name, annotation, "None" in parts
        self.kind = next(kind for kind in (bool, int, float, str, object) if kind.__name__ in (*parts, "object"))
        return self

    def checked(self, who: str, value: Any) -> Any:
        """The value as it is kept."""
        if self.check is None or (value is None and self.optional):
            return value
        return self.check(who, self.name, value)

    def of_text(self, who: str, text: str) -> Any:
        """What a text of the command line means."""
        if self.read is not None:
            return self.read(text)
        try:
            return self.kind(text) if self.kind in (int, float) else text
        except ValueError:
            kind = "a whole number" if self.kind is int else "a number"
            raise SettingError(f"{who}: {self.name} must be {kind}, got {text!r}") from None


def setting(default: Any, about: About, check: Check | None = None, read: Callable[[str], Any] | None = None) -> Any:
    """A field of a class that declares settings: its default, what it means, what must hold of it.

    `about` is a function where the sentence lists what only a larger module knows.
    """
    return Setting(default, about, check, read)


@dataclass_transform(kw_only_default=True, eq_default=False)
def declares(cls: type[C]) -> type[C]:
    """Collect the settings of a class: its own first, then those of its bases; a plain value is a new default."""
    found: dict[str, Setting] = {}
    for name, annotation in get_annotations(cls).items():
        value = cls.__dict__.get(name)
        if isinstance(value, Setting):
            found[name] = copy(value).named(name, annotation)
    for base in cls.__mro__[1:]:
        for name, inherited in base.__dict__.get("__settings__", {}).items():
            if name in cls.__dict__ and name not in found:
                inherited = inherited.by_default(cls.__dict__[name])
            found.setdefault(name, inherited)
    for name, one in found.items():
        setattr(cls, name, one.default)
    cls.__settings__ = found  # type: ignore[attr-defined]
    return cls


def fields(cls: type) -> dict[str, Setting]:
    """The settings that a class declares, by name."""
    found: dict[str, Setting] = getattr(cls, "__settings__", {})
    return found


def checked_settings(cls: type[C], who: str, given: Mapping[str, Any]) -> C:
    """The settings of one learner: what was given, checked, and the defaults of the others."""
    known = fields(cls)
    for name in given:
        if name not in known:
            raise TypeError(f"{who}: there is no setting {name!r}; it has {', '.join(known)}")
    made = cls.__new__(cls)
    for name, one in known.items():
        setattr(made, name, one.checked(who, given.get(name, one.default)))
    return made


def as_dict(made: Any) -> dict[str, Any]:
    """The settings as a model file keeps them."""
    return {name: getattr(made, name) for name in fields(type(made))}


def signature(settings: Mapping[str, Setting], *before: Parameter) -> Signature:
    """The signature of a constructor: every setting by name only."""
    by_name = Parameter.KEYWORD_ONLY
    named = (Parameter(name, by_name, default=one.default, annotation=one.annotation) for name, one in settings.items())
    return Signature([*before, *named])


# -- checks --------------------------------------------------------------------------------------------------------


def as_number(value: Any) -> float:
    """A setting as a number; NaN, which lies in no range, where it is none."""
    try:
        return math.nan if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def positive(who: str, what: str, value: Any) -> float:
    """A positive finite number."""
    if not 0.0 < as_number(value) < math.inf:
        raise SettingError(f"{who}: {what} must be positive and finite, got {value!r}")
    return float(value)


def not_negative(who: str, what: str, value: Any) -> float:
    """A finite number that may be 0."""
    if not 0.0 <= as_number(value) < math.inf:
        raise SettingError(f"{who}: {what} must be at least 0 and finite, got {value!r}")
    return float(value)


def between(low: float, high: float) -> Check:
    """A positive number that is neither tiny nor huge."""

    def check(who: str, what: str, value: Any) -> float:
        if not low <= positive(who, what, value) <= high:
            raise SettingError(f"{who}: {what} must lie between {low:g} and {high:g}, got {value!r}")
        return float(value)

    return check


def whole(least: int, most: int = 2**63 - 1) -> Check:
    """A whole number, which fits 63 bits, from `least` to `most`."""
    limits = f"of at least {least}" if most >= 2**63 - 1 else f"from {least} to {most}"

    def check(who: str, what: str, value: Any) -> int:
        if not hasattr(value, "__index__") or isinstance(value, bool) or not least <= value <= most:
            raise SettingError(f"{who}: {what} must be a whole number {limits}, got {value!r}")
        return int(value)

    return check


def one_of(*words: str, but: str = "") -> Check:
    """One of a few words; `but` is said of what else there may be."""

    def check(who: str, what: str, value: Any) -> str:
        if not isinstance(value, str) or value not in words:
            raise SettingError(f"{who}: {what} must be {' or '.join(words)}{but}, got {value!r}")
        return value

    return check


def flag(who: str, what: str, value: Any) -> bool:
    """True or False, NumPy's and 0 and 1 among them."""
    if isinstance(value, str) or value not in (False, True):
        raise SettingError(f"{who}: {what} must be True or False, got {value!r}")
    return bool(value)


def check_weights(who: str, weights: Mapping[Any, Any]) -> None:
    """Weights of labels, each finite and at least 0."""
    for label, weight in weights.items():
        if not 0.0 <= as_number(weight) < math.inf:
            raise SettingError(f"{who}: the weight of {label!r} must be finite and at least 0, got {weight!r}")
