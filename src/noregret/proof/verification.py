"""What a verifier has checked, and the rules by which a claim stands.

A claim is compared with what is recomputed in one of four ways, and never by closeness: words and whole numbers are the
same; a claimed upper end is not below what is found; a claimed lower end is not above it; a claimed interval contains
the one found. A claim may be loose, but not false. A number that is not finite is written as the word inf or -inf.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from noregret.errors import ReceiptError
from noregret.interval import Interval


@dataclass
class Verification:
    """What was recomputed: (what, claimed, found) for each number, in the order of the receipt."""

    checks: list[tuple[str, Any, Any]] = field(default_factory=list)

    def same(self, what: str, claimed: Any, found: Any) -> None:
        """A word, a truth or a number that is what was found again, to the last bit."""
        self._judge(what, claimed, found, _identical(claimed, found))

    def true(self, what: str, holds: bool) -> None:
        """A claim without a number of its own."""
        if not holds:
            raise ReceiptError(f"{what}: this does not hold", failed=True)
        self.checks.append((what, True, True))

    def at_least(self, what: str, claimed: Any, found: float) -> None:
        """A claimed lower end: not above what was found."""
        self._judge(what, claimed, found, real(claimed) <= found)

    def at_most(self, what: str, claimed: Any, found: float) -> None:
        """A claimed upper end: not below what was found."""
        self._judge(what, claimed, found, real(claimed) >= found)

    def contains(self, what: str, claimed: Any, found: Interval, where: str = "") -> None:
        """A claimed interval, lower ≤ upper, that contains the one found."""
        if not isinstance(claimed, Mapping) or set(claimed) != {"lower", "upper"}:
            raise ReceiptError(f"{what}{where}: an interval has a lower and an upper end", failed=True)
        self.ends(what, claimed["lower"], claimed["upper"], found, where)

    def ends(self, what: str, lower: Any, upper: Any, found: Interval, where: str = "") -> None:
        """The same of two ends."""
        if not real(lower) <= real(upper):
            told = f"the lower end {shown(lower)} is above the upper end {shown(upper)}"
            raise ReceiptError(f"{what}{where}: {told}", failed=True)
        self.at_least(f"{what} at least{where}", lower, found.lo)
        self.at_most(f"{what} at most{where}", upper, found.hi)

    def _judge(self, what: str, claimed: Any, found: Any, stands: bool) -> None:
        if not stands:
            raise ReceiptError(
                f"{what}: the receipt says {shown(claimed)}, recomputed it is {shown(found)}", failed=True
            )
        self.checks.append((what, claimed, found))


def real(said: Any) -> float:
    """A number as claimed; JSON has infinities as words, and no other words are numbers."""
    if (type(said) is float and not math.isnan(said)) or (type(said) is int and abs(said) <= 2**53):
        return float(said)
    if isinstance(said, str) and said in ("inf", "-inf"):
        return float(said)
    raise TypeError(f"{said!r} is not a number")


def _identical(claimed: Any, found: Any) -> bool:
    """Whole numbers may stand for floats of the same value; nothing else may stand for another kind."""
    if isinstance(found, float) and type(claimed) in (int, float):
        return bool(claimed == found)
    return type(claimed) is type(found) and bool(claimed == found)


def shown(value: Any) -> str:
    return f"{value:.17g}" if isinstance(value, float) else str(value)
