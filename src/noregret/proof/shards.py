"""The receipt of a schedule on shards: which shares mixed which passes, and what the plays of all shards lost.

Verifying needs one machine and no cluster: the schedule is played again shard after shard. The weights after every
epoch, the figures and the ledger of every shard must come out to the last bit; the theorems are evaluated on facts of
the verifier's own.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np

from noregret.errors import InputError, NoregretError, ReceiptError, SettingError
from noregret.interval import Interval, largest
from noregret.learner import LEARNERS
from noregret.learner.core import Core
from noregret.proof.claims import check_certificates
from noregret.proof.facts.shards import Against, Pass, ShardFacts, drift, faced, longest, pass_of
from noregret.proof.hindsight import Hindsight, relative_gap
from noregret.proof.on_shards import on_shards
from noregret.proof.receipt import Vector, body_of, decoded, head, packed, plain, unpacked, write
from noregret.proof.regret import ends
from noregret.proof.replay import READING, described, fresh, read_again
from noregret.proof.theorem import Theorem, speaking
from noregret.proof.theorems import THEOREMS
from noregret.proof.theorems.shards import NAME
from noregret.proof.verification import Verification, real
from noregret.shards.engine import Engine, Serial
from noregret.shards.mixing import ONCE, RULES
from noregret.shards.part import parts_of
from noregret.shards.play import ShardedRun, play_on
from noregret.shards.round import Pace
from noregret.shards.shard import mixable
from noregret.stream import read
from noregret.watch.ledger import Ledger

KIND = "cluster"
NOTHING = np.zeros(0)
DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, AssertionError)
SAID = {*head(KIND), "learner", "reading", "how", "shards", "epochs", "weights", "ledgers", "regret", "certificates"}
SAID |= {"points"}


def _whole(said: Any) -> bool:
    return type(said) is int and said >= 1


HOW: dict[str, Callable[[Any], bool]] = {
    "mixing": lambda said: said in RULES,
    "passes": _whole,
    "parts": lambda said: said in ("files", "rows"),
    "shards": _whole,
}


@dataclass(frozen=True, repr=False)
class ShardReceipt:
    """A schedule with what it came to, epoch by epoch and shard by shard."""

    learner: dict[str, Any]
    reading: dict[str, Any]
    how: dict[str, Any]  # rule, passes asked for, what the shards are, how many
    shards: list[dict[str, Any]]  # rows and digest of each
    epochs: list[dict[str, Any]]  # counts of the mixture, figures of each shard, digest of the weights
    weights: str
    ledgers: list[dict[str, Any]]
    regret: dict[str, Any] | None
    certificates: list[dict[str, Any]]
    points: dict[str, Vector] = field(default_factory=dict)
    kind: ClassVar[str] = KIND

    def __repr__(self) -> str:
        name, shards, epochs = self.learner["name"], len(self.shards), len(self.epochs)
        return f"<ShardReceipt of {name}: {shards} shards, {epochs} epochs, {len(self.certificates)} theorems>"

    @property
    def curve(self) -> list[dict[str, Any]]:
        """The regret after fewer rounds: rounds on shards have no one order, so there is none."""
        return []

    @property
    def broken(self) -> list[str]:
        """The theorems that this run breaks: a bug, in noregret or in the theorem."""
        return [one["theorem"] for one in self.certificates if one["verdict"] == "broken"]

    def to_dict(self) -> dict[str, Any]:
        """All but the checksum, as JSON takes it."""
        points = {name: packed(point) for name, point in self.points.items()}
        return {**head(KIND), **{one.name: getattr(self, one.name) for one in fields(self)}, "points": points}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the receipt; the file appears whole or not at all."""
        write(path, self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ShardReceipt:
        """The receipt of a file; a file that is none, or was damaged, gets one sentence."""
        name = os.fspath(path)
        body = body_of(decoded(path), KIND, name)
        try:
            if set(body) != SAID:
                raise KeyError(", ".join(sorted(set(body) ^ SAID)))
            said = {key: body[key] for key in SAID - set(head(KIND))}
            said["points"] = {key: unpacked(text) for key, text in said["points"].items()}
            return cls(**said)
        except (KeyError, TypeError, AttributeError, ValueError, zlib.error) as error:
            raise ReceiptError(f"the receipt is damaged ({error})", name, failed=True) from error


class Proving:
    """Takes note of every epoch of perceptrons: what each pass was without rounding, and how far mixtures are off."""

    def __init__(self, engine: Engine, core: Core, mixing: str) -> None:
        self.engine = engine
        self._speaks = core.perceptron_rounds and mixing != ONCE
        self.passes: list[list[Pass]] = []
        self.off = Interval.of(0.0)

    def __call__(self, starts: list[tuple[Vector, Pace]], counts: list[int], mixture: Vector) -> None:
        if self._speaks:
            found = self.engine.each(pass_of, own=starts)
            self.off = self.off + drift(mixture, found, counts)
            self.passes.append([replace(one, low=NOTHING, high=NOTHING) for one in found])

    def facts(self, sharded: ShardedRun, points: dict[str, Vector], hindsight: Hindsight | None = None) -> ShardFacts:
        """The facts of the schedule, with the comparators among the points."""
        if not self.passes:
            return ShardFacts(sharded, hindsight=hindsight, points=points)
        against = {
            name: Against.of(v, sharded.weights, self.engine.each(faced, v))
            for name, v in points.items()
            if name.startswith("v_")
        }
        far = largest(*self.engine.each(longest))
        return ShardFacts(sharded, self.passes, self.off, far, against, hindsight, points)


def theorems_of(facts: ShardFacts) -> list[Theorem[ShardFacts]]:
    """Those that speak of schedules on shards."""
    return speaking(THEOREMS.values(), NAME, facts)


# -- what is claimed of the schedule -----------------------------------------------------------------------------------


def told_how(sharded: ShardedRun) -> dict[str, Any]:
    how = {"mixing": sharded.mixing, "passes": sharded.asked, "parts": sharded.parts}
    return {**how, "shards": len(sharded.shards)}


def told_shards(sharded: ShardedRun) -> list[dict[str, Any]]:
    return [{"rows": one["rows"], "digest": one["digest"]} for one in sharded.shards]


def told_epochs(sharded: ShardedRun) -> list[dict[str, Any]]:
    return [asdict(epoch) for epoch in sharded.epochs]


def told_ledger(ledger: Ledger) -> dict[str, Any]:
    """A ledger in numbers, and the digest of all its bits."""
    sums = {"rounds": ledger.rounds, "infinite": ledger.infinite}
    loss, paid = ledger.loss, ledger.paid
    bits = np.array([*ledger.G, ledger.error, ledger.norms, loss.lo, loss.hi, paid.lo, paid.hi])
    digest = hashlib.sha256(np.ascontiguousarray(bits, dtype="<f8").tobytes()).hexdigest()
    return {**sums, "loss": ends(ledger.loss), "paid": ends(ledger.paid), "digest": digest}


def told_regret(sharded: ShardedRun, found: Hindsight, width: float) -> dict[str, Any]:
    """The regret of all plays against the best model of the rows, as often as they were gone over."""
    passes, own = len(sharded.epochs), sharded.ledger
    best = Interval(found.lower, found.upper)
    lost = Interval(np.inf, np.inf) if own.infinite else own.loss
    return {
        "rounds": own.rounds,
        "passes": passes,
        "loss": sharded.learner.judged_by.spec,
        "domain": {"radius": found.radius},
        "own": ends(lost),
        "comparator": ends(best),
        "gap": plain(relative_gap(best.lo, best.hi)),
        "width": width,
        **ends(lost if own.infinite else lost - best * float(passes)),
    }


# -- the verifier ------------------------------------------------------------------------------------------------------


def load_shards(receipt: Any) -> ShardReceipt:
    """A receipt, or that of a file."""
    return receipt if isinstance(receipt, ShardReceipt) else ShardReceipt.load(receipt)


def verify_shards(receipt: ShardReceipt, stream: Any) -> Verification:
    """Play the schedule again on this machine and check every number; the first that does not stand is an error."""
    done, engine = Verification(), Serial()
    try:
        core = _learner_of(receipt)
        _check_how(receipt)
        proving = Proving(engine, core, receipt.how["mixing"])
        sharded = _played(receipt, engine, core, stream, proving)
    except ReceiptError:
        raise
    except (SettingError, InputError) as error:
        raise ReceiptError(f"the run cannot be replayed: {error}", failed=True) from error
    except DAMAGE as error:
        raise ReceiptError(f"the receipt's settings are damaged ({error})", failed=True) from error
    try:
        _check(done, receipt, sharded, proving)
    except ReceiptError:
        raise
    except (NoregretError, *DAMAGE) as error:
        raise ReceiptError(f"the receipt is damaged ({type(error).__name__}: {error})", failed=True) from error
    return done


def _learner_of(receipt: ShardReceipt) -> Core:
    said = receipt.learner
    if said["name"] not in LEARNERS or isinstance(said["settings"].get("loss"), dict):
        raise SettingError(f"no learner of shards: {said['name']!r}")
    if not set(receipt.reading) <= set(READING):
        raise SettingError("the stream is read with settings that do not exist")
    settings = {key: float(value) if value in ("inf", "-inf") else value for key, value in said["settings"].items()}
    core = fresh(said["name"], settings, said["labels"])
    core.options = dict(receipt.reading)
    mixable(core)
    return core


def _check_how(receipt: ShardReceipt) -> None:
    """What a replay is asked for: a field of another kind is an error."""
    if not isinstance(receipt.how, dict) or set(receipt.how) != set(HOW):
        raise ReceiptError(f"how the shards were played must be {', '.join(HOW)}", failed=True)
    for name, right in HOW.items():
        if not right(receipt.how[name]):
            raise ReceiptError(f"{name} cannot be {receipt.how[name]!r}", failed=True)


def _played(receipt: ShardReceipt, engine: Engine, core: Core, stream: Any, proving: Proving) -> ShardedRun:
    source = read(read_again(stream, receipt.reading))
    known = deepcopy(source.features)
    count = None if receipt.how["parts"] == "files" else receipt.how["shards"]
    parts = parts_of(stream, source, count, receipt.reading)
    how = {"passes": receipt.how["passes"], "mixing": receipt.how["mixing"]}
    return play_on(engine, core, parts, known, **how, after=proving)


def _check(done: Verification, receipt: ShardReceipt, sharded: ShardedRun, proving: Proving) -> None:
    for number, (said, found) in enumerate(zip(receipt.shards, told_shards(sharded), strict=False), 1):
        if said != found:
            told = f"the digest of shard {number}: these are not the rows that the receipt is about"
            raise ReceiptError(told, failed=True)
    done.same("the shards", receipt.shards, told_shards(sharded))
    done.same("how the shards were played", receipt.how, told_how(sharded))
    done.same("the learner, its settings and its labels", receipt.learner, described(sharded.learner))
    done.same("the number of epochs", len(receipt.epochs), len(sharded.epochs))
    for number, (said, found) in enumerate(zip(receipt.epochs, told_epochs(sharded), strict=True), 1):
        for name, value in found.items():
            done.same(f"epoch {number}: {name}", said[name], value)
        done.true(f"epoch {number}: what is said of it", set(said) == set(found))
    done.same("the weights at the end", receipt.weights, sharded.epochs[-1].weights)
    done.same("the ledgers of the shards", receipt.ledgers, [told_ledger(one) for one in sharded.ledgers])
    _check_points(receipt, len(sharded.weights))
    best = _check_regret(done, receipt, sharded, proving.engine)
    facts = proving.facts(sharded, receipt.points, best)
    check_certificates(done, receipt.certificates, theorems_of(facts), facts)


def _check_points(receipt: ShardReceipt, width: int) -> None:
    for name, vector in receipt.points.items():
        if name not in ("u", "at") and not name.startswith("v_"):
            raise ReceiptError(f"{name}: no claim is proved by such a vector", failed=True)
        if len(vector) != width or not np.isfinite(vector).all():
            raise ReceiptError(f"{name} must hold {width} finite numbers, got {len(vector)}", failed=True)


def judged(core: Core) -> bool:
    """Whether there is a ball in which the best model is looked for."""
    return core.loss.convex and core.domain.fits_ball and bool(np.isfinite(core.domain.radius))


def _check_regret(done: Verification, receipt: ShardReceipt, sharded: ShardedRun, engine: Engine) -> Hindsight | None:
    """The regret of all plays: the points of the receipt, evaluated again on every shard."""
    core, said = sharded.learner, receipt.regret
    done.same("whether there is a regret", said is not None, judged(core))
    if said is None:
        return None
    u, at, width = receipt.points["u"], receipt.points["at"], real(said["width"])
    found = on_shards(engine, core.judged_by, u, at, width, core.domain.radius)
    again = told_regret(sharded, found, width)
    done.true("what is said of the regret", set(said) == set(again))
    for name in ("rounds", "passes", "loss", "domain"):
        done.same(f"the regret: its {name}", said[name], again[name])
    best = Interval(found.lower, found.upper)
    done.contains("the comparator's loss", said["comparator"], best)
    done.contains("the run's own loss", said["own"], Interval(real(again["own"]["lower"]), real(again["own"]["upper"])))
    done.ends("the regret", said["lower"], said["upper"], Interval(real(again["lower"]), real(again["upper"])))
    claimed = said["comparator"]
    wide = relative_gap(real(claimed["lower"]), real(claimed["upper"]))
    done.at_most("the width of the comparator's interval", said["gap"], wide)
    return found
