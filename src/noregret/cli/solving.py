"""What the certifying commands share: the options, the line that shows the ends closing in, the receipt's table."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from noregret.errors import SettingError

if TYPE_CHECKING:
    from noregret.proof.late import LateReceipt
    from noregret.proof.receipt import Receipt


def checked_gap(gap: float | None) -> float:
    if gap is None:
        return 1e-4
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
    from noregret.cli.terminal import telling

    with telling("solving for the best model in hindsight", quiet) as tell:
        yield lambda lower, upper: tell(f"loss of the best model in hindsight: between {lower:.6g} and {upper:.6g}")


def certified(answer: dict[str, Any], receipt: Receipt | LateReceipt) -> dict[str, Any]:
    """A run's JSON with its regret and certificates."""
    regret = None
    if receipt.regret is not None:
        regret = {key: receipt.regret[key] for key in ("lower", "upper", "comparator", "domain", "loss", "gap")}
    return {
        **answer,
        "regret": answer["regret"] if regret is None else regret,
        "curve": receipt.curve,
        "certificates": receipt.certificates,
    }


def show_receipt(receipt: Receipt, gap: float) -> None:
    """The regret as an interval, and the certificates: bounds are rounded up, what is at least so much down."""
    from noregret.cli.show import table
    from noregret.summary import at_most

    rows = [_regret_row(entry) for entry in receipt.entries]
    if rows:
        table(rows, ("best fixed weights in hindsight", "rounds", "their loss from", "to", "regret from", "to"))
        widest = max(float(entry["gap"]) for entry in receipt.entries)
        if widest > gap:
            print(f"wider than requested: a gap of {widest:.2g} instead of {gap:g} is what could be proved")
        print()
    shown = [
        (part["theorem"], at_most(_float(part["bound"])), at_most(_float(part["observed"])), part["verdict"])
        for part in receipt.certificates
        if part["verdict"] != "unmet"
    ]
    if shown:
        table(shown, ("theorem", "bound", "observed", "verdict"))
    for part in receipt.certificates:
        if "l1_printed" in part["values"]:
            print(l1_or_l2(part))
    for reason, names in unmet(receipt.certificates).items():
        print(f"no claim by {', '.join(names)}: this assumption fails: {reason}")


def show_late_receipt(receipt: LateReceipt, gap: float) -> None:
    """The regret of the predictions, then that of the learner in the order in which labels came."""
    from noregret.cli.show import table
    from noregret.summary import at_most

    if receipt.regret is not None:
        head = ("best fixed weights in hindsight", "rounds", "their loss from", "to", "regret from", "to")
        table([_regret_row(receipt.regret)], head, title="the predictions")
        print()
    rows = [
        (one["theorem"], at_most(_float(one["bound"])), at_most(_float(one["observed"])), one["verdict"])
        for one in receipt.certificates
        if one["verdict"] != "unmet"
    ]
    if rows:
        table(rows, ("theorem", "bound", "observed", "verdict"))
    for reason, names in unmet(receipt.certificates).items():
        print(f"no claim by {', '.join(names)}: this assumption fails: {reason}")
    print("\nthe learner, in the order in which labels came")
    show_receipt(receipt.run, gap)


def l1_or_l2(part: dict[str, Any]) -> str:
    """Which of the two bounds as printed is the smaller one on this run, and what the exact root of L1 gives."""
    from noregret.summary import at_most

    l1, l2 = (float(part["values"][name]) for name in ("l1_printed", "l2_printed"))
    first, second = (("L1", l1), ("L2", l2)) if l1 <= l2 else (("L2", l2), ("L1", l1))
    told = f"the printed {first[0]} bound is {at_most(first[1])}, the {second[0]} bound {at_most(second[1])}"
    return f"L1 or L2: {told}; the exact root of L1 is {at_most(_float(part['observed']))}"


def _float(value: Any) -> float | None:
    """A figure of a receipt, where an infinite one is a word."""
    return None if value is None else float(value)


def _regret_row(entry: dict[str, Any]) -> tuple[str, ...]:
    from noregret.summary import at_least, at_most

    radius, sigma = float(entry["domain"]["radius"]), entry["sigma"]
    ball = f", ‖u‖ ≤ {radius:g}" if math.isfinite(radius) else ""
    ridge = f", σ {sigma:g}" if sigma else ""
    loses = entry["comparator"]
    ends = [at_least(float(loses["lower"])), at_most(loses["upper"])]
    ends += [at_least(entry["lower"]), at_most(float(entry["upper"]))]
    return (f"{entry['loss']}{ball}{ridge}", f"{entry['rounds']:,}", *ends)


def unmet(certificates: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Theorems that claim nothing, by what fails."""
    found: dict[str, list[str]] = {}
    for part in certificates:
        if part["verdict"] == "unmet":
            failing = [one["statement"] for one in part["assumptions"] if one["holds"] is False]
            found.setdefault("; ".join(failing), []).append(part["theorem"])
    return found


def leave_if_broken(broken: Sequence[str], beside: str = "the receipt and the stream") -> None:
    """A theorem that breaks is a bug alarm."""
    if broken:
        print(
            f"noregret: broken: {', '.join(broken)}: every assumption holds and the bound is exceeded;"
            f" this is a bug, please report it with {beside}",
            file=sys.stderr,
        )
        raise typer.Exit(1)
