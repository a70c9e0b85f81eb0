"""The options that tell a learner something: made from the settings that learners declare, no learner's file is read.

An option stands for a setting of one learner or of several; its help says whose it is, and what it is by default.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from noregret.cli.groups import Group
from noregret.learner import LEARNERS, settings_of
from noregret.learner.settings import Prepared, Tied
from noregret.setting import Setting, fields


class LearnerSettings(dict[str, Any], Group):
    """The settings of the learner: every one of every learner, None where nothing was said."""

    @classmethod
    def wanted(cls) -> dict[str, dict[str, Setting]]:
        """The settings, and what each learner that has one says of it."""
        return told()

    @classmethod
    def options(cls) -> dict[str, tuple[Any, Any]]:
        wanted = cls.wanted()
        return {name: (Annotated[_kind(owners) | None, _option(name, owners)], None) for name, owners in wanted.items()}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> LearnerSettings:
        return cls(given)


class CommonSettings(LearnerSettings):
    """The settings that every learner has."""

    @classmethod
    def wanted(cls) -> dict[str, dict[str, Setting]]:
        return {name: owners for name, owners in told().items() if name in fields(Prepared)}


def told() -> dict[str, dict[str, Setting]]:
    """Every setting that a text can give, with what each learner that has it says of it: the most common ones first."""
    found: dict[str, dict[str, Setting]] = {}
    for learner in LEARNERS:
        for name, one in settings_of(learner).items():
            if one.kind is not object:
                found.setdefault(name, {})[learner] = one
    return dict(sorted(found.items(), key=lambda item: (item[0] in fields(Tied), -len(item[1]))))


def sentence(owners: Mapping[str, Setting]) -> str:
    """What a setting means, which learners have it, and with which default."""
    return Counter(one.about for one in owners.values()).most_common(1)[0][0] + _whose(owners)


def _kind(owners: Mapping[str, Setting]) -> type:
    """The type of an option: text, where learners read it in different ways."""
    kinds = {one.kind for one in owners.values()}
    return kinds.pop() if len(kinds) == 1 else str


def _option(name: str, owners: Mapping[str, Setting]) -> Any:
    if _kind(owners) is bool:
        return typer.Option(f"--{name.replace('_', '-')}", help=sentence(owners), show_default=False)
    return typer.Option(help=sentence(owners))


def _whose(owners: Mapping[str, Setting]) -> str:
    groups: dict[str, list[str]] = {}
    for learner, one in owners.items():
        shown = "" if one.default is None or one.kind is bool else _shown(one.default)
        groups.setdefault(shown, []).append(learner)
    if len(groups) == 1 and len(owners) > len(LEARNERS) / 2:
        (shown,) = groups
        return f" Default: {shown}." if shown else ""
    parts = [f"{', '.join(who)}{f' (default {shown})' if shown else ''}" for shown, who in groups.items()]
    return f" For {', '.join(parts)}."


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
