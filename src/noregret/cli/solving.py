"""What the certifying commands share: the options, the line that shows the ends closing in, the receipt's table."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from noregret.errors import SettingError

if TYPE_CHECKING:
    from noregret.receipt.form import Receipt


def checked_gap(gap: float) -> float:
    if not 0.0 < gap < math.inf:
        raise SettingError(f"--gap must be positive and finite, got {gap}")
    return gap


def checked_seconds(seconds: float | None) -> float:
    if seconds is None:
        return math.inf
    if not seconds > 0.0:
        raise SettingError(f"--seconds must be positive, got {seconds}")
    return seconds


def radii_of(text: str | None) -> list[float]:
    """`1,3,10` as radii."""
    try:
        found = [float(part) for part in text.split(",")] if text else []
    except ValueError:
        raise SettingError(f"--radii must be numbers separated by commas, got {text!r}") from None
    if any(not 0.0 < one < math.inf for one in found):
        raise SettingError(f"--radii must be positive and finite, got {text!r}")
    return found


@contextmanager
def closing_in(quiet: bool) -> Iterator[Callable[[float, float], None]]:
    """A line on a terminal with the two ends of the comparator's loss; silent in a pipe."""
    if quiet or not sys.stderr.isatty():
        yield lambda lower, upper: None
        return
    from rich.console import Console

    with Console(stderr=True).status("looking for the best model in hindsight") as status:
        yield lambda lower, upper: status.update(
            f"the best model in hindsight loses between {lower:.6g} and {upper:.6g}"
        )


def certified(answer: dict[str, Any], receipt: Receipt) -> dict[str, Any]:
    """A run's JSON with its regret and certificates."""
    regret = None
    if receipt.regret is not None:
        regret = {key: receipt.regret[key] for key in ("lower", "upper", "comparator", "domain", "loss")}
    return {
        **answer,
        "regret": answer["regret"] if regret is None else regret,
        "curve": receipt.curve,
        "certificates": receipt.certificates,
    }


def show_receipt(receipt: Receipt) -> None:
    """The regret as an interval, and the certificates."""
    from noregret.cli.show import number, table

    rows = [row for entry in _entries(receipt) for row in _regret_rows(entry)]
    if rows:
        table(rows, ("regret", "at least", "at most"))
        print()
    shown = [
        (
            part["theorem"],
            "–" if part["bound"] is None else number(part["bound"]),
            "–" if part["observed"] is None else number(part["observed"]),
            part["verdict"],
        )
        for part in receipt.certificates
    ]
    if shown:
        table(shown, ("theorem", "bound", "observed", "verdict"))
    for part in receipt.certificates:
        if part["verdict"] == "unmet":
            print(f"{part['theorem']}: unmet, {_unmet(part)}")


def _entries(receipt: Receipt) -> list[dict[str, Any]]:
    return [*([] if receipt.regret is None else [receipt.regret]), *receipt.curve]


def _regret_rows(entry: dict[str, Any]) -> list[tuple[str, str, str]]:
    from noregret.cli.show import number

    radius, sigma = float(entry["domain"]["radius"]), entry["sigma"]
    ball = f", ‖u‖ ≤ {radius:g}" if math.isfinite(radius) else ""
    ridge = f", σ {sigma:g}" if sigma else ""
    name = f"{entry['loss']}{ball}{ridge}, {entry['rounds']:,} rounds"
    comparator = entry["comparator"]
    return [
        (name, number(entry["lower"]), number(float(entry["upper"]))),
        ("  the best u loses", number(float(comparator["lower"])), number(comparator["upper"])),
    ]


def _unmet(certificate: dict[str, Any]) -> str:
    return "; ".join(part["statement"] for part in certificate["assumptions"] if part["holds"] is False)


def leave_if_broken(receipt: Receipt) -> None:
    """A theorem that breaks is a bug alarm."""
    if receipt.broken:
        print(
            f"noregret: broken: {', '.join(receipt.broken)}: every assumption holds and the bound is exceeded;"
            " this is a bug, please report it with the receipt and the stream",
            file=sys.stderr,
        )
        raise typer.Exit(1)
