"""Values of a receipt as text: a receipt is a file that anyone may have written, so any value can be anything."""

from __future__ import annotations

import math
import shlex
from typing import Any

from noregret.summary import at_least, at_most, number

LONG = 80  # characters of a value that are shown
MANY = 12  # values of a list that are shown


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


def of_rounds(part: Any, rounds: Any) -> str:
    """A share of the rounds, or the mean of a round."""
    return number(float(part) / rounds) if rounds else "–"


def word(key: str) -> str:
    return key.replace("_", " ")


def command(*words: str) -> str:
    """A command that a shell takes as it stands; a word in capitals is to be filled in."""
    return shlex.join(["noregret", *words])


def file_word(name: str) -> str:
    """A file's name where an option could be meant."""
    return f"./{name}" if name.startswith("-") else name


def verifying(name: str, rows: list[str], digest: str | None) -> list[tuple[str, str]]:
    """How to check a receipt or a proof, and that it is the one of this page."""
    found = [("recompute every number from the rows", command("verify", file_word(name), *rows))]
    if digest is not None:
        found.append(
            (f"the file that this page was made from has SHA-256 {digest}", f"sha256sum {shlex.quote(file_word(name))}")
        )
    return found


def streams_of(segments: list[dict[str, Any]]) -> list[str]:
    """A word to fill in for every stream; of many, one for all of them."""
    if len(segments) > MANY:
        return ["STREAM..."]
    return ["STREAM"] if len(segments) == 1 else [f"STREAM{place}" for place in range(1, len(segments) + 1)]
