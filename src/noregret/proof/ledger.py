"""The receipt of ledgers: what the scores of one or of several parts cost, and the sums that bound their regret.

A part is a log that some model wrote, or the run of a learner. Its rows are read or played again to verify it: the same
digests must come out, and sums in twice the precision must lie within what is claimed. Receipts of parts that share no
rows are merged by putting the parts side by side: all of a ledger adds up.
"""

from __future__ import annotations

import math
import os
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from noregret.errors import InputError, NoregretError, ReceiptError, SettingError
from noregret.interval import Interval
from noregret.loss import Loss
from noregret.loss import parse as parse_loss
from noregret.proof.claims import check_certificates, claimed
from noregret.proof.facts.ledger import LedgerFacts, Measured, lost_by, measured
from noregret.proof.receipt import body_of, decoded, head, packed, plain, unpacked, write
from noregret.proof.regret import ends
from noregret.proof.theorem import Theorem, speaking
from noregret.proof.theorems import THEOREMS
from noregret.proof.theorems.ledger import NAME
from noregret.proof.verification import Verification, real
from noregret.stream.features import Features
from noregret.watch.ledger import Ledger

DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, AssertionError)
PART = {"how", "rounds", "infinite", "sound", "loss", "paid", "sizes", "norms", "error", "G", "rows", "scores"}
SAID = {*head("ledger"), "loss", "bias", "radius", "features", "prepared", "parts", "certificates"}


@dataclass(frozen=True)
class Part:
    """The ledger of some rounds, how they came about, and the digests of their rows and scores."""

    how: dict[str, Any]  # the columns of a log, or a learner with its settings
    ledger: Ledger
    rows: str
    scores: str

    @property
    def streams(self) -> int:
        """How many streams it is of."""
        return len(self.how["segments"]) if self.how["from"] == "learner" else 1

    @property
    def name(self) -> str:
        """What made the scores."""
        if self.how["from"] == "learner":
            return f"learner {self.how['learner']['name']}"
        return f"{self.how['kind']} in column {self.how['column']!r}"

    def to_dict(self) -> dict[str, Any]:
        one = self.ledger
        return {
            "how": self.how,
            "rounds": one.rounds,
            "infinite": one.infinite,
            "sound": one.sound,
            "loss": ends(one.loss),
            "paid": ends(one.paid),
            "sizes": plain(one.sizes),
            "norms": plain(one.norms),
            "error": plain(one.error),
            "G": packed(one.G),
            "rows": self.rows,
            "scores": self.scores,
        }


@dataclass(frozen=True, repr=False)
class LedgerReceipt:
    """Ledgers that add up, side by side, and what all of them together prove."""

    loss: Loss
    bias: bool
    radius: float
    features: dict[str, Any]  # how they are numbered, which all parts share
    prepared: dict[str, Any]  # what was done to rows before they were played
    parts: tuple[Part, ...]
    certificates: list[dict[str, Any]]
    kind: ClassVar[str] = "ledger"

    def __repr__(self) -> str:
        return (
            f"<LedgerReceipt of {len(self.parts)} parts: {self.whole.rounds} rounds, regret at most {self.bound:.6g}>"
        )

    @cached_property
    def facts(self) -> LedgerFacts:
        """What the theorems are evaluated on."""
        ledgers = tuple(one.ledger for one in self.parts)
        return LedgerFacts(ledgers, self.loss, self.radius, lost_by(ledgers))

    @property
    def whole(self) -> Ledger:
        """The ledger of all rounds."""
        return self.facts.whole

    @property
    def bound(self) -> float:
        """The regret against one model for all parts, ‖u‖ ≤ U, is at most this."""
        return min(self.whole.ball(self.radius).hi, self.bound_of_each)  # equal, they differ by their roundings

    @property
    def bound_of_each(self) -> float:
        """The regret against one model for each part is at most this: the stronger claim, so the larger number."""
        return self.facts.of_each.hi

    @property
    def broken(self) -> list[str]:
        """The theorems that are broken: a bug, in noregret or in the theorem."""
        return [one["theorem"] for one in self.certificates if one["verdict"] == "broken"]

    def to_dict(self) -> dict[str, Any]:
        """All but the checksum, as JSON takes it."""
        return {
            **head("ledger"),
            "loss": self.loss.spec,
            "bias": self.bias,
            "radius": self.radius,
            "features": self.features,
            "prepared": self.prepared,
            "parts": [one.to_dict() for one in self.parts],
            "certificates": self.certificates,
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the receipt; the file appears whole or not at all."""
        write(path, self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LedgerReceipt:
        """The receipt of a file; a file that is none, or was damaged, gets one sentence."""
        name = os.fspath(path)
        body = body_of(decoded(path), "ledger", name)
        try:
            return _receipt(body)
        except ReceiptError:
            raise
        except (NoregretError, *DAMAGE, zlib.error) as error:
            raise ReceiptError(f"the receipt is damaged ({error})", name, failed=True) from error


def receipt_of_ledgers(
    loss: Loss, radius: float, features: dict[str, Any], prepared: dict[str, Any], parts: Sequence[Part]
) -> LedgerReceipt:
    """The receipt of parts, with what they prove."""
    made = LedgerReceipt(loss, parts[0].ledger.bias, float(radius), features, prepared, tuple(parts), [])
    facts = made.facts
    return replace(made, certificates=[claimed(one, facts) for one in theorems_of(facts)])


def theorems_of(facts: LedgerFacts) -> list[Theorem[LedgerFacts]]:
    """Those that speak of ledgers."""
    return speaking(THEOREMS.values(), NAME, facts)


def numbering(features: Features | None) -> dict[str, Any]:
    """How features are numbered: two ledgers add up where this is the same."""
    if features is None:
        return {"kind": "index"}
    if features.kind != "names":
        return {"kind": features.kind}
    special = {name: str(kind) for name, kind in features.special.items() if name in features.columns}
    found = {key: list(getattr(features, key)) for key in ("names", "categorical", "text", "interactions")}
    return {"kind": "names", **found, "special": special, "hash": [features.hash_start, features.hash_bits]}


# -- reading what was written ------------------------------------------------------------------------------------


def _hexadecimal(said: Any) -> bool:
    return isinstance(said, str) and re.fullmatch("[0-9a-f]{64}", said) is not None


def _count(said: Any) -> bool:
    return type(said) is int and said >= 0


RIGHT: dict[str, Callable[[Any], bool]] = {
    "rounds": lambda said: _count(said) and said > 0,
    "infinite": _count,
    "sound": lambda said: isinstance(said, bool),
    "rows": _hexadecimal,
    "scores": _hexadecimal,
}


def _receipt(body: Mapping[str, Any]) -> LedgerReceipt:
    if set(body) != SAID:
        raise ReceiptError(f"a receipt of ledgers must say {', '.join(sorted(SAID))}", failed=True)
    loss, radius, bias = parse_loss(str(body["loss"])), real(body["radius"]), body["bias"]
    wrong = not 0.0 < radius < math.inf or not isinstance(bias, bool) or not body["parts"]
    if wrong or not isinstance(body["features"], dict) or not isinstance(body["prepared"], dict):
        raise ReceiptError("radius, bias, features, prepared or parts of the receipt are damaged", failed=True)
    parts = tuple(_part(one, place, bias) for place, one in enumerate(body["parts"], 1))
    _apart(parts, failed=True)
    return LedgerReceipt(loss, bias, radius, body["features"], body["prepared"], parts, body["certificates"])


def _part(said: Any, place: int, bias: bool) -> Part:
    if not isinstance(said, dict) or set(said) != PART:
        raise ReceiptError(f"part {place} must say {', '.join(sorted(PART))}", failed=True)
    for name, right in RIGHT.items():
        if not right(said[name]):
            raise ReceiptError(f"{name} of part {place} cannot be {said[name]!r}", failed=True)
    G = unpacked(said["G"])
    if not np.isfinite(G).all():
        raise ReceiptError(f"G of part {place} must hold finite numbers", failed=True)
    loss, paid = (Interval(real(said[key]["lower"]), real(said[key]["upper"])) for key in ("loss", "paid"))
    error, norms, sizes = (real(said[key]) for key in ("error", "norms", "sizes"))
    if min(error, norms, sizes) < 0.0 or loss.lo > loss.hi or paid.lo > paid.hi:
        raise ReceiptError(f"a sum of part {place} is below 0, or an interval has its ends the wrong way", failed=True)
    one = Ledger(said["rounds"], loss, paid, G, error, norms, bias, said["infinite"], sizes, said["sound"])
    if said["how"]["from"] not in ("log", "learner"):
        raise ReceiptError(f"part {place} is of {said['how']['from']!r}, not of a log or a learner", failed=True)
    return Part(said["how"], one, said["rows"], said["scores"])


# -- putting parts side by side ----------------------------------------------------------------------------------


def merge(*receipts: Any, radius: float | None = None) -> LedgerReceipt:
    """The receipt of the parts of several, which must be files or receipts of ledgers and share no rows.

    Its `bound` is the regret of all rounds against one model for all parts, `bound_of_each` against one model for
    each part. Without `radius` all receipts must have one of the same radius.

    >>> import pyarrow, noregret as nr
    >>> logs = [pyarrow.table({"x": [1.0, k], "label": [1, 0], "p": [0.9, 0.2]}) for k in (2.0, 3.0)]
    >>> parts = [nr.audit_pass(log, probability="p", radius=1.0, digest=True).receipt() for log in logs]
    >>> both = merge(*parts)
    >>> both.whole.rounds, both.bound <= both.bound_of_each
    (4, True)
    """
    if not receipts:
        raise SettingError("merge: needs the receipt of at least one ledger")
    found = [one if isinstance(one, LedgerReceipt) else LedgerReceipt.load(one) for one in receipts]
    first = found[0]
    for place, one in enumerate(found[1:], 2):
        for what, mine, theirs in (
            ("losses", first.loss.spec, one.loss.spec),
            ("biases", first.bias, one.bias),
            ("features", first.features, one.features),
            ("preparations of the rows", first.prepared, one.prepared),
        ):
            if mine != theirs:
                raise InputError(f"merge: receipts 1 and {place} have different {what}: {_differ(mine, theirs)}")
        if radius is None and one.radius != first.radius:
            raise SettingError(
                f"merge: receipts 1 and {place} have the radii {first.radius:g} and {one.radius:g}: give a radius"
            )
    if first.prepared.get("learned") and sum(len(one.parts) for one in found) > 1:
        raise InputError("merge: the rows were prepared by what each part had seen: their features are not the same")
    if radius is not None and not 0.0 < radius < math.inf:
        raise SettingError(f"merge: radius must be positive and finite, got {radius}")
    parts = [part for one in found for part in one.parts]
    _apart(parts)
    wanted = first.radius if radius is None else radius
    return receipt_of_ledgers(first.loss, wanted, first.features, first.prepared, parts)


def _differ(mine: Any, theirs: Any) -> str:
    """Two settings, in short."""
    if isinstance(mine, dict) and isinstance(theirs, dict):
        keys = sorted(key for key in {*mine, *theirs} if mine.get(key) != theirs.get(key))
        mine, theirs = ({key: one.get(key) for key in keys} for one in (mine, theirs))
    short = [text if len(text) <= 60 else f"{text[:59]}…" for text in map(str, (mine, theirs))]
    return " and ".join(short)


def _apart(parts: Sequence[Part], failed: bool = False) -> None:
    """No rows may be in two parts."""
    seen: dict[str, int] = {}
    for place, part in enumerate(parts, 1):
        if part.rows in seen:
            told = f"parts {seen[part.rows]} and {place} are of the same rows: they would count twice"
            raise ReceiptError(told, failed=True) if failed else InputError(f"merge: {told}")
        seen[part.rows] = place


# -- verifying ---------------------------------------------------------------------------------------------------


def verify_ledger(receipt: LedgerReceipt, streams: Sequence[Any]) -> Verification:
    """Read or play every part again, and check every number; the first that does not stand is an error."""
    from noregret.proof.ledger_again import again

    wanted = sum(part.streams for part in receipt.parts)
    if len(streams) != wanted:
        told = "its one stream" if wanted == 1 else f"the streams of its parts, {wanted} in their order"
        raise SettingError(f"verify: the receipt of ledgers needs {told}; {len(streams)} were given")
    done = Verification()
    found: list[Measured] = []
    left = list(streams)
    for place, part in enumerate(receipt.parts, 1):
        where = f" of part {place}" if len(receipt.parts) > 1 else ""
        mine, left = left[: part.streams], left[part.streams :]
        seen = again(receipt, part, mine)
        if part.rows != seen.rows:
            raise ReceiptError(
                f"the digest of the rows{where}: these are not the rows that the receipt is about", failed=True
            )
        done.same(f"the digest of the rows{where}", part.rows, seen.rows)
        done.same(f"the digest of the scores{where}", part.scores, seen.scores)
        done.same(f"how the rounds came about{where}", part.how, seen.how)
        done.same(f"how features are numbered{where}", receipt.features, seen.features)
        done.same(f"how rows were prepared{where}", receipt.prepared, seen.prepared)
        done.same(f"the bias{where}", receipt.bias, seen.rounds.bias)
        sums = measured(seen.rounds, receipt.loss)
        _check_sums(done, part.ledger, sums, where)
        found.append(sums)
    facts = LedgerFacts(tuple(found), receipt.loss, receipt.radius, receipt.facts.ceiling)
    try:
        check_certificates(done, receipt.certificates, theorems_of(facts), facts)
    except ReceiptError:
        raise
    except (NoregretError, *DAMAGE) as error:
        raise ReceiptError(f"the receipt is damaged ({type(error).__name__}: {error})", failed=True) from error
    return done


def _check_sums(done: Verification, said: Ledger, found: Measured, where: str) -> None:
    """What is claimed contains what was summed."""
    done.same(f"the rounds{where}", said.rounds, found.rounds)
    done.same(f"the rounds of infinite loss{where}", said.infinite, found.infinite)
    done.same(f"whether every slope has its digits{where}", said.sound, found.sound)
    done.same(f"the number of features{where}", len(said.G), len(found.G))
    done.ends("the loss", said.loss.lo, said.loss.hi, found.loss, where)
    done.ends("Σk·s·z", said.paid.lo, said.paid.hi, found.paid, where)
    done.at_most(f"Σ|k·s·z| at most{where}", said.sizes, found.sizes)
    done.at_most(f"Σ|k·s|·‖x‖ at most{where}", said.norms, found.norms)
    if found.sound:
        done.at_most(f"how far G may be off, at most{where}", said.error, found.off(said.G))


def load_ledger(receipt: Any) -> LedgerReceipt:
    """A receipt, or that of a file."""
    return receipt if isinstance(receipt, LedgerReceipt) else LedgerReceipt.load(receipt)
