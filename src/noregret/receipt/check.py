"""Check a receipt against its streams: replay the run with the loop, then recompute every number it holds.

What is recomputed here is recomputed from the rounds and the vectors in the receipt, with outward rounding and, where
the stream is small, in exact rationals; neither the solvers nor the theorems of this package are asked. A bound, an end
of an interval or a figure stands when it is what comes out again; the first that does not is named.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from noregret._kernel.stamp import fingerprint
from noregret.enclose import dual, in_dual_domain, norm, risk
from noregret.errors import InputError, NoregretError, ReceiptError, SettingError
from noregret.interval import Interval
from noregret.kernel import Kernel
from noregret.kernel import parse as parse_kernel
from noregret.learner import LEARNERS
from noregret.learner.core import Core
from noregret.loss import Loss, hinge, parse
from noregret.receipt.bounds import BOUNDS, GIVEN, NEEDS, PROMISES, speaks_of, vectors_of
from noregret.receipt.exact import dual_is_at_least, feasible, risk_is_at_most
from noregret.receipt.facts import Facts
from noregret.receipt.form import Receipt, Vector, decoded, is_blend, is_separation
from noregret.receipt.found import EITHER, Found
from noregret.receipt.measure import cancelling, measured, own_loss, relative_gap, tangent_dual
from noregret.receipt.replay import Replayed, described, fresh, replay
from noregret.receipt.selection import check_selection
from noregret.rounds import Rounds
from noregret.theorem import THEOREMS

DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, AssertionError)
READING = {"label", "columns", "ignore", "missing", "hash_bits"}
SEGMENT = {"rows", "passes", "shuffle", "class_weight", "ended", "digest"}
ENTRY = {"rounds", "loss", "domain", "sigma", "own", "comparator", "gap", "lower", "upper", "points"}
CERTIFICATE = {"theorem", "source", "bound", "observed", "verdict", "assumptions", "values", "points"}
CLOSE = 1e-12  # what the same formula may differ by from one machine's arithmetic to another's
NOTHING = 1e-145  # outward rounding near 0 leaves as much, and the root of it more
SCORED = 1e-11  # what the loss of replayed scores may differ by
REPLAYED = 1e-9  # what a replayed run may differ by: machines add dense rows in different orders


@dataclass
class Verification:
    """What was recomputed: (what, claimed, found) for each number, in the order of the receipt."""

    checks: list[tuple[str, Any, Any]] = field(default_factory=list)

    def same(self, what: str, claimed: Any, found: Any, within: float = 0.0) -> None:
        """A number of the receipt is what was found again, to within a relative difference."""
        if not _equal(claimed, found, within):
            raise ReceiptError(
                f"{what}: the receipt says {_shown(claimed)}, recomputed it is {_shown(found)}", failed=True
            )
        self.checks.append((what, claimed, found))

    def true(self, what: str, holds: bool) -> None:
        """A claim without a number of its own."""
        if not holds:
            raise ReceiptError(f"{what}: this does not hold", failed=True)
        self.checks.append((what, True, True))


def verify(
    receipt: Any,
    *streams: Any,
    loss: Loss | None = None,
    kernel: Any = None,
    watch: Callable[..., None] | None = None,
) -> Verification:
    """Recompute every number of a receipt (a file or a `Receipt`) from the streams; the first that fails is an error.

    Costs a few passes over the streams and never a solve. Where the run used a loss or a kernel of one's own, `loss` or
    `kernel` is needed.

    >>> from noregret.learner import Perceptron
    >>> from noregret.protocol import play
    >>> from noregret.receipt.make import certify
    >>> stream = ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, -1, 1])
    >>> len(verify(certify(play(Perceptron(), stream), stream), stream).checks) > 10
    True
    """
    if not isinstance(receipt, Receipt) and is_blend(decoded(receipt)):
        from noregret.receipt.blend import load_blend, verify_blend

        if len(streams) != 1:
            raise SettingError(f"verify: the receipt of a blend needs its one table, {len(streams)} were given")
        return verify_blend(load_blend(receipt), streams[0])
    if not isinstance(receipt, Receipt) and is_separation(decoded(receipt)):
        from noregret.receipt.separation import load_proof, verify_separation

        if len(streams) != 1:
            raise SettingError(f"verify: the proof of a separation needs its one stream, {len(streams)} were given")
        return verify_separation(load_proof(receipt), streams[0])
    found = receipt if isinstance(receipt, Receipt) else Receipt.load(receipt)
    if len(streams) != len(found.segments):  # whoever forgets one has not shown that the receipt is wrong
        told = f"the receipt is of a run on {len(found.segments)} streams, {len(streams)} were given"
        raise ReceiptError(f"verify: {told}: name all of them, in the order in which they were learned from")
    done = Verification()
    try:
        core = _learner(found, loss, kernel)
        played = replay(core, [_segment(part) for part in found.segments], streams, watch)
    except (SettingError, InputError) as error:
        raise ReceiptError(f"the run cannot be replayed: {error}", failed=True) from error
    except DAMAGE as error:
        raise ReceiptError(f"the receipt's settings are damaged ({error})", failed=True) from error
    try:
        _check(done, found, core, played)
    except ReceiptError:
        raise
    except (NoregretError, *DAMAGE) as error:
        raise ReceiptError(f"the receipt is damaged ({type(error).__name__}: {error})", failed=True) from error
    return done


def _check(done: Verification, receipt: Receipt, core: Core, played: Replayed) -> None:
    _check_streams(receipt, played)
    done.same("the learner, its settings and its labels", receipt.learner, described(core))
    done.true("the stream is read in ways that there are", set(receipt.reading) <= READING)
    _check_segments(done, receipt, core, played)
    _check_figures(done, receipt.figures, measured(played), cancelling(played))
    _check_vectors(receipt, played)
    used: set[str] = set()
    if receipt.regret is not None:
        done.same("the rounds of the regret", receipt.regret["rounds"], len(played.rounds))
    for entry in receipt.entries:
        _check_entry(done, entry, core, played, receipt.points, used)
    facts = Facts(played, receipt.regret, receipt.points)
    names = [certificate["theorem"] for certificate in receipt.certificates]
    done.true("no theorem is evaluated twice", len(names) == len(set(names)))
    for certificate in receipt.certificates:
        _check_certificate(done, certificate, facts)
        used |= set(certificate["points"])
    done.true("every vector of the receipt is used by a claim", set(receipt.points) <= used)
    if receipt.selection is not None:
        check_selection(done, receipt.selection, core, played)


def _check_streams(receipt: Receipt, played: Replayed) -> None:
    """Of another stream nothing can be right: that is said first."""
    for place, (segment, digest) in enumerate(zip(receipt.segments, played.digests, strict=True), 1):
        if segment["digest"] != digest:
            raise ReceiptError(f"the digest of stream {place}: this is not the stream that was played", failed=True)


def _check_segments(done: Verification, receipt: Receipt, core: Core, played: Replayed) -> None:
    """Each stream: its digest, how often it was gone over, and that it does not go on unread."""
    for place, (segment, digest) in enumerate(zip(receipt.segments, played.digests, strict=True), 1):
        done.true(f"what is said of stream {place}", set(segment) == SEGMENT)
        done.same(f"the digest of stream {place}", segment["digest"], digest)
        done.same(f"the passes over stream {place}", segment["passes"], core.segments[place - 1]["passes"])
        if segment["ended"]:  # a run that was stopped claims no end
            done.same(f"stream {place} ends with the last row of the run", True, played.ended[place - 1])


def _check_vectors(receipt: Receipt, played: Replayed) -> None:
    """Before anything is computed from them: as long as the rounds or the features, and finite."""
    counts = {name: entry["rounds"] for entry in receipt.entries for name in entry["points"].values()}
    for name, vector in receipt.points.items():
        featured = name.startswith(("u", "v_")) or name == "separator"
        wanted = played.rounds.width if featured else counts.get(name, len(played.rounds))
        if name.startswith("V_") and played.run.tally is not None:
            wanted = played.rounds.width * len(played.run.tally["labels"])
        if len(vector) != wanted or not np.isfinite(vector).all():
            raise ReceiptError(f"the vector {name} must be {wanted} finite numbers", failed=True)


def _learner(receipt: Receipt, loss: Loss | None, kernel: Any) -> Core:
    said = receipt.learner
    settings: dict[str, Any] = {
        key: float(value) if value in ("inf", "-inf") else value for key, value in said["settings"].items()
    }
    own = settings.get("loss")
    if isinstance(own, dict):
        if loss is None:
            raise SettingError(f"it was learned with the loss {own['name']!r} of its own: give it as loss=")
        if str(fingerprint(loss.value, loss.slope)) != own["fingerprint"]:
            raise SettingError(f"it was learned with another {own['name']!r} than the loss given")
        settings["loss"] = loss
    if isinstance(settings.get("kernel"), dict):
        settings["kernel"] = _kernel(settings["kernel"], kernel)
    if said["name"] not in LEARNERS:
        raise SettingError(f"there is no learner {said['name']!r}")
    core = fresh(said["name"], settings, said["labels"])
    core.options = dict(receipt.reading)
    return core


def _kernel(said: dict[str, Any], kernel: Any) -> Kernel:
    """The kernel given, if it is the one that was learned with."""
    if kernel is None:
        raise SettingError(f"it was learned with the kernel {said['name']!r} of its own: give it as kernel=")
    found = parse_kernel(kernel)
    if found.function is None or str(fingerprint(found.function)) != said["fingerprint"]:
        raise SettingError(f"it was learned with another {said['name']!r} than the kernel given")
    return replace(found, name=said["name"])


def _segment(said: dict[str, Any]) -> dict[str, Any]:
    return {key: said[key] for key in ("rows", "passes", "shuffle", "class_weight")}


def _check_figures(
    done: Verification, said: dict[str, Any], found: dict[str, Any], sizes: dict[str, float], under: str = ""
) -> None:
    done.true(f"the figures are those that are recomputed{under}", set(said) == set(found))
    for name, value in found.items():
        if isinstance(value, dict):
            _check_figures(done, said[name], value, sizes, f" ({name})")
        else:
            within = REPLAYED * max(1.0, sizes.get(name, 0.0) / max(abs(value), NOTHING)) if value is not None else 0.0
            done.same(f"{name.replace('_', ' ')}{under}", said[name], value, within)


def _check_entry(
    done: Verification, entry: dict[str, Any], core: Core, played: Replayed, points: dict[str, Vector], used: set[str]
) -> None:
    """Regret against one comparator: the point lies in the domain, both ends are what the points prove."""
    done.true("what is said of a regret", set(entry) - {"bounds"} == ENTRY)
    where = f" after {entry['rounds']} rounds" if entry["rounds"] != len(played.rounds) else ""
    radius, sigma = _real(entry["domain"]["radius"]), _real(entry["sigma"])
    where += f", radius {radius:g}"
    rounds = played.rounds.first(entry["rounds"])
    loss = core.loss if core.loss.custom else parse(entry["loss"])
    proof = {key: points[name] for key, name in entry["points"].items()}
    wanted = {"u", "tangent"} if loss.custom else {"u", "alpha"}
    done.true(f"the regret is proved by a point and a dual point{where}", set(proof) == wanted)
    used |= set(entry["points"].values())
    done.same(f"the rounds of the regret{where}", entry["rounds"], len(rounds))
    judge = core.loss if core.loss.convex else hinge()
    done.same(f"the loss that the regret is judged by{where}", entry["loss"], judge.spec)
    done.same(f"the regulariser{where}", sigma, core.comparator_sigma(entry["rounds"]))
    if core.loss.convex and math.isfinite(core.domain.radius) and entry["rounds"] and "/" not in entry["points"]["u"]:
        done.same(f"the radius{where}", radius, core.domain.radius)
    done.true(f"the comparator lies in the ball{where}", norm(proof["u"]).hi <= radius)
    above = risk(rounds, loss, proof["u"], sigma)
    done.same(f"the comparator's loss at most{where}", entry["comparator"]["upper"], above.hi, CLOSE)
    below = _proved(rounds, loss, proof, radius, sigma)
    done.same(f"the comparator's loss at least{where}", _real(entry["comparator"]["lower"]), below.lo, CLOSE)
    if "alpha" in proof and feasible(rounds, loss):
        _check_exactly(done, entry, rounds, loss, proof, where)
    lower, upper = _real(entry["comparator"]["lower"]), entry["comparator"]["upper"]
    done.same(f"the width of that{where}", _real(entry["gap"]), relative_gap(lower, upper), CLOSE)
    own = own_loss(played, entry["rounds"], loss, float(core.config["sigma"][0]))
    done.same(f"the run's own loss at least{where}", entry["own"]["lower"], own.lo, SCORED)
    done.same(f"the run's own loss at most{where}", entry["own"]["upper"], own.hi, SCORED)
    done.true(f"the run's own loss is an interval{where}", entry["own"]["lower"] <= entry["own"]["upper"])
    claimed = Interval(entry["own"]["lower"], entry["own"]["upper"])
    between = claimed - Interval(lower, upper)
    done.same(f"the regret at least{where}", entry["lower"], between.lo)
    done.same(f"the regret at most{where}", _real(entry["upper"]), between.hi)
    if "bounds" in entry:
        _check_promises(done, entry, Facts(replace(played, rounds=rounds), entry, points), where)


def _check_promises(done: Verification, entry: dict[str, Any], facts: Facts, where: str) -> None:
    """What was promised by then."""
    for name, bound in entry["bounds"].items():
        if name not in BOUNDS or facts.setting("sigma"):
            raise ReceiptError(f"{name}: this noregret knows no such theorem{where}", failed=True)
        needs, formula = BOUNDS[name]
        done.true(f"{name}: it speaks of this learner{where}", name in PROMISES and speaks_of(name, facts))
        done.true(f"{name}: its assumptions hold{where}", all(NEEDS[need](facts) is not False for need in needs))
        _check_bound(done, f"{name}{where}", _real(bound), formula(facts, {"points": [], "values": {}}))


def _check_certificate(done: Verification, said: dict[str, Any], facts: Facts) -> None:
    """The premise of the theorem, its bound, what it is compared with, the values named, and the verdict."""
    name = said["theorem"]
    if name not in BOUNDS:
        raise ReceiptError(f"{name}: this noregret knows no such theorem", failed=True)
    done.true(f"{name}: what is said of it", set(said) == CERTIFICATE)
    done.true(f"{name}: it speaks of this learner, its rate and its loss", speaks_of(name, facts))
    if said["source"] != THEOREMS[name].source:
        raise ReceiptError(f"{name}: its source is {THEOREMS[name].source}, not {said['source']}", failed=True)
    claimed = _check_assumptions(done, said, facts)
    if False in claimed.values():
        unclaimed = [said[key] for key in ("verdict", "bound", "observed", "values", "points")]
        done.same(f"{name}: the verdict", unclaimed, ["unmet", None, None, {}, []])
        return
    done.true(f"{name}: its vectors are those of the theorem", vectors_of(name, facts, said["points"]))
    found = BOUNDS[name][1](facts, said)
    _check_bound(done, name, _real(said["bound"]), found)
    observed = None if found.observed is None else found.observed.hi
    done.same(f"{name}: the observed value", said["observed"], observed, REPLAYED)
    _check_values(done, said, found, facts)
    done.same(f"{name}: the verdict", said["verdict"], _verdict(_real(said["bound"]), found))


def _check_assumptions(done: Verification, said: dict[str, Any], facts: Facts) -> dict[str, bool | None]:
    name, needs = said["theorem"], BOUNDS[said["theorem"]][0]
    stated = tuple(part["statement"] for part in said["assumptions"])
    done.true(f"{name}: its assumptions are those of the theorem", stated == needs)
    claimed = {part["statement"]: part["holds"] for part in said["assumptions"]}
    for part in said["assumptions"]:
        statement, holds = part["statement"], part["holds"]
        done.true(f"{name}: whether “{statement}” was checked", part == _assumed(statement, holds))
        if statement in GIVEN and False in claimed.values():
            continue  # where nothing is claimed the vectors are left out
        again = NEEDS[statement](facts)
        done.same(f"{name}: {statement}", holds, holds if again == EITHER else again)
    return claimed


def _assumed(statement: str, holds: bool | None) -> dict[str, Any]:
    return {"statement": statement, "checked": holds is not None, "holds": holds}


def _check_values(done: Verification, said: dict[str, Any], found: Found, facts: Facts) -> None:
    name, near = said["theorem"], max(REPLAYED, 8.0 * facts.allowance)
    done.true(f"{name}: its values are those of the theorem", set(said["values"]) == set(found.values))
    for key, value in found.values.items():
        what, claimed = f"{name}: {key.replace('_', ' ')}", said["values"][key]
        if claimed is None:  # as JSON writes what is not finite
            done.true(what, not math.isfinite(value))
            continue
        within = max(near, found.loose / max(abs(value), abs(claimed), NOTHING))
        done.same(what, claimed, float(value), within)


def _check_bound(done: Verification, name: str, claimed: float, found: Found) -> None:
    """A bound may lie above what the formula gives by as much as rounding is allowed, and below by next to nothing."""
    if not math.isfinite(found.bound.hi):
        done.same(f"{name}: the bound", claimed, found.bound.hi if math.isfinite(claimed) else claimed)
        return
    near = max(SCORED * abs(found.bound.hi), NOTHING)
    stands = found.bound.lo - near <= claimed <= found.bound.hi + near + 2.0 * found.slack
    done.same(f"{name}: the bound", claimed, claimed if stands else found.bound.hi)


def _real(said: Any) -> float:
    """A number as claimed; JSON has infinities as words, and no other words are numbers."""
    if isinstance(said, bool) or (isinstance(said, str) and said not in ("inf", "-inf")):
        raise TypeError(f"{said!r} is no number")
    return float(said)


def _verdict(bound: float, found: Found) -> str:
    """As the certificates judge; broken only where the bound as recomputed is exceeded beyond all rounding."""
    observed = found.observed
    if observed is not None and observed.lo > found.bound.hi + found.slack:
        return "broken"
    if bound >= found.ceiling:
        return "vacuous"
    return "holds" if observed is None or observed.hi <= bound else "open"


def _check_exactly(
    done: Verification, entry: dict[str, Any], rounds: Rounds, loss: Loss, proof: dict[str, Vector], where: str
) -> None:
    """The same two ends without any rounding."""
    radius, sigma, claimed = _real(entry["domain"]["radius"]), _real(entry["sigma"]), entry["comparator"]
    above = risk_is_at_most(rounds, loss, proof["u"], sigma, claimed["upper"])
    done.true(f"the comparator's loss at most {claimed['upper']}{where}, in rationals", above)
    if _real(claimed["lower"]) > 0.0:  # no loss is below 0
        below = dual_is_at_least(rounds, loss, proof["alpha"], radius, sigma, claimed["lower"])
        done.true(f"the comparator's loss at least {claimed['lower']}{where}, in rationals", below is not False)


def _proved(rounds: Rounds, loss: Loss, proof: dict[str, Vector], radius: float, sigma: float) -> Interval:
    """What the dual point, or the tangents, prove of every comparator."""
    if loss.custom:
        return tangent_dual(rounds, loss, proof["tangent"], radius, sigma)
    if not in_dual_domain(loss, proof["alpha"], rounds.y):
        raise ReceiptError("the dual point lies outside its domain", failed=True)
    return dual(rounds, loss, proof["alpha"], radius, sigma)


def _equal(claimed: Any, found: Any, within: float) -> bool:
    """Words and whole numbers to the letter, other numbers to within a share of the larger, infinities as they are."""
    if not isinstance(found, float) or type(claimed) not in (int, float):
        return type(claimed) is type(found) and bool(claimed == found)
    if claimed == found:
        return True
    near = max(within * max(abs(claimed), abs(found)), NOTHING if within else 0.0)
    return math.isfinite(claimed) and math.isfinite(found) and abs(claimed - found) <= near


def _shown(value: Any) -> str:
    return f"{value:.17g}" if isinstance(value, float) else str(value)
