"""What a report says of one run, blend, proof or model, before it is a page: words and figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Rows = list[tuple[object, ...]]
DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError)  # of what was not written by us


@dataclass(frozen=True)
class Part:
    """A table with its heading; a note stands below it."""

    heading: str
    rows: Rows
    head: tuple[object, ...] | None = None
    note: str | None = None


@dataclass(frozen=True)
class Subject:
    """One section of the page."""

    name: str  # of the file, or what it is
    kind: str
    lead: str  # what it says, in a few sentences
    about: Part
    figures: list[Part]
    certificates: list[dict[str, Any]] = field(default_factory=list)
    promised: list[dict[str, Any]] = field(default_factory=list)  # of a selection: what new rows risk
    proved: tuple[str, ...] = ()  # what a proof consists of
    checking: list[tuple[str, str]] = field(default_factory=list)  # (sentence, command)
    compared: dict[str, str] = field(default_factory=dict)  # its cells of the comparison
    drawn: tuple[Any, ...] = ()  # what pictures are made of
