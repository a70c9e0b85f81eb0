"""What a section holds before it is a page, and values as text: anyone may have written a receipt, so any value can
be anything.
"""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, field
from typing import Any

from noregret.summary import at_least, at_most, number

LONG = 80  # characters of a value that are shown
MANY = 12  # values of a list that are shown
DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError)  # of what was not written by us
Rows = list[tuple[object, ...]]


@dataclass(frozen=True)
class Part:
    """A table with its heading, and a note below it."""

    heading: str
    rows: Rows
    head: tuple[object, ...] | None = None
    note: str | None = None
    folded: bool = False


@dataclass(frozen=True)
class Subject:
    """One section of the page."""

    name: str  # of the file, or what it is
    kind: str
    meaning: list[str]  # sentences for somebody who knows no theory
    steps: list[tuple[str, str | None]]  # what to do: a sentence, and a command where there is one
    about: Part
    figures: list[Part]
    certificates: list[dict[str, Any]] = field(default_factory=list)
    promised: list[dict[str, Any]] = field(default_factory=list)  # of a selection: the risk on new rows
    proved: tuple[str, ...] = ()  # what a proof consists of
    checking: list[tuple[str, str]] = field(default_factory=list)  # (sentence, command)
    compared: dict[str, str] = field(default_factory=dict)  # its cells of the comparison
    drawn: tuple[Any, ...] = ()  # what pictures are made of


def shown(value: Any) -> str:
    """A setting or a figure."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(float(value))
    if isinstance(value, list | tuple):
        more = f", … ({len(value):,} in all)" if len(value) > MANY else ""
        return ", ".join(shown(one) for one in value[:MANY]) + more
    if isinstance(value, dict):
        return ", ".join(f"{key} {shown(one)}" for key, one in list(value.items())[:MANY])
    text = "–" if value is None else str(value)
    return text if len(text) <= LONG else f"{text[: LONG - 1]}…"


def least(value: Any) -> str:
    """A lower end; an infinite one is a word in a receipt."""
    return "–" if value is None else at_least(float(value))


def most(value: Any) -> str:
    """An upper end."""
    return "–" if value is None else at_most(float(value))


def between(ends: dict[str, Any]) -> str:
    """An interval, rounded outwards."""
    low, high = least(ends["lower"]), most(ends["upper"])
    return low if low == high else f"{low} … {high}"


def about(ends: dict[str, Any]) -> float:
    """The middle of an interval, for a figure that is known to more digits than are shown."""
    low, high = float(ends["lower"]), float(ends["upper"])
    return low if low == high else 0.5 * low + 0.5 * high


def against(entry: dict[str, Any]) -> str:
    """The loss and the comparators of a regret: `logistic, ‖u‖ ≤ 3`."""
    radius, sigma = float(entry["domain"]["radius"]), entry["sigma"]
    ball = f", ‖u‖ ≤ {radius:g}" if math.isfinite(radius) else ""
    return f"{shown(entry['loss'])}{ball}" + (f", σ {sigma:g}" if sigma else "")


def word(key: str) -> str:
    return key.replace("_", " ")


def command(*words: str) -> str:
    """A command that can be pasted into a shell; words in capitals are to be filled in."""
    return shlex.join(["noregret", *words])


def file_word(name: str) -> str:
    """A file name that cannot be mistaken for an option."""
    return f"./{name}" if name.startswith("-") else name


def verifying(name: str, rows: list[str], digest: str | None) -> list[tuple[str, str]]:
    """How to check a receipt or a proof, and that it is the file this page was made from."""
    found = [("Recompute every number from the rows", command("verify", file_word(name), *rows))]
    if digest is not None:
        told = f"Check that you have the file this page was made from: its SHA-256 is {digest}"
        found.append((told, f"sha256sum {shlex.quote(file_word(name))}"))
    return found


def streams_of(segments: list[dict[str, Any]]) -> list[str]:
    """A word to fill in for every stream; with many streams, one word for all."""
    if len(segments) > MANY:
        return ["STREAM..."]
    return ["STREAM"] if len(segments) == 1 else [f"STREAM{place}" for place in range(1, len(segments) + 1)]
