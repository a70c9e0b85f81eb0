"""Check a receipt against its streams: replay the run with the loop, then recompute every number it holds.

What is recomputed here is recomputed from the rounds and the vectors in the receipt, with outward rounding and, where
the stream is small, in exact rationals; neither the solvers nor the theorems of this package are asked. A claim stands
when it contains what comes out again, and the first that does not is named. Nothing is compared by closeness, and no
claim is recomputed from another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from noregret.enclose import norm
from noregret.errors import InputError, NoregretError, ReceiptError, SettingError
from noregret.fingerprint import fingerprint
from noregret.interval import Interval
from noregret.kernel import Kernel
from noregret.kernel import parse as parse_kernel
from noregret.learner import LEARNERS
from noregret.learner.core import Core
from noregret.loss import Loss, hinge, parse
from noregret.receipt import bits
from noregret.receipt.bounds import BOUNDS, GIVEN, NEEDS, promised, promises_of, speaks_of, vectors_of
from noregret.receipt.exact import dual_is_at_least, feasible, risk_is_at_most
from noregret.receipt.facts import Facts
from noregret.receipt.form import Receipt, Vector, decoded, is_blend, is_separation
from noregret.receipt.found import EITHER, LOWER, Found, is_exact
from noregret.receipt.measure import measured, own_loss, proved, relative_gap
from noregret.receipt.replay import READING, Replayed, described, fresh, read_again, replay
from noregret.receipt.segments import segment_of
from noregret.receipt.selection import check_selection
from noregret.receipt.verification import Verification, real
from noregret.rounds import Rounds
from noregret.theorem import THEOREMS

DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, AssertionError)
ENTRY = {"rounds", "loss", "domain", "sigma", "own", "comparator", "gap", "lower", "upper", "points"}
CERTIFICATE = {"theorem", "source", "bound", "observed", "verdict", "assumptions", "values", "points"}
NEARLY = 2e-9  # a bound this close to where it says nothing may be called vacuous

__all__ = ["Verification", "verify"]


def verify(
    receipt: Any,
    *streams: Any,
    loss: Loss | None = None,
    kernel: Any = None,
    watch: Callable[..., None] | None = None,
) -> Verification:
    """Recompute every number of a receipt (a file or a `Receipt`) from the streams; the first that fails is an error.

    A stream that is given as a path is read as the receipt says that it was read. Costs a few passes over the streams
    and never a solve. Where the run used a loss or a kernel of one's own, `loss` or
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
    segments = [segment_of(part, place) for place, part in enumerate(found.segments, 1)]
    given = _given(found, streams)
    try:
        core = _learner(found, loss, kernel)
        played = replay(core, segments, given, watch)
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


def _given(receipt: Receipt, streams: Sequence[Any]) -> list[Any]:
    """Files are read as the receipt says; that there is no such file is no fault of the receipt."""
    try:
        return [read_again(stream, receipt.reading) for stream in streams]
    except InputError:
        raise
    except (SettingError, *DAMAGE) as error:
        raise ReceiptError(f"the stream cannot be read as the receipt says: {error}", failed=True) from error


def _check(done: Verification, receipt: Receipt, core: Core, played: Replayed) -> None:
    _check_streams(receipt, played)
    done.same("the learner, its settings and its labels", receipt.learner, described(core))
    done.true("the stream is read in ways that there are", set(receipt.reading) <= set(READING))
    _check_segments(done, receipt, core, played)
    _check_replay(done, receipt, played)
    _check_figures(done, receipt.figures, measured(played))
    _check_vectors(receipt, played)
    used = {name for entry in receipt.entries for name in entry["points"].values()}
    _check_places(done, receipt, core, len(played.rounds))
    found = [_check_entry(done, entry, core, played, receipt.points) for entry in receipt.entries]
    facts = Facts(played, receipt.regret, receipt.points, found[0] if receipt.regret is not None else None)
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
        done.same(f"the digest of stream {place}", segment["digest"], digest)
        done.same(f"the passes over stream {place}", segment["passes"], core.segments[place - 1]["passes"])
        if segment["ended"]:  # a run that was stopped claims no end
            done.same(f"stream {place} ends with the last row of the run", True, played.ended[place - 1])


def _check_replay(done: Verification, receipt: Receipt, played: Replayed) -> None:
    """Every score and the learner at the end, to the last bit; of the user's own Python code nothing is promised."""
    again = bits.promised(played)
    done.true("what is said of the replay", set(receipt.replay) == set(again))
    for name, found in again.items():
        done.same(f"the replay: {name.replace('_', ' ')}", receipt.replay[name], found)


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
        if str(loss.fingerprint) != own["fingerprint"]:
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


def _check_figures(done: Verification, said: dict[str, Any], found: dict[str, Any], under: str = "") -> None:
    """Whole numbers are what they are, the others lie between two ends."""
    done.true(f"the figures are those that are recomputed{under}", set(said) == set(found))
    for name, value in found.items():
        what = f"{name.replace('_', ' ')}{under}"
        if isinstance(value, dict):
            _check_figures(done, said[name], value, f" ({name})")
        elif isinstance(value, Interval):
            done.contains(name.replace("_", " "), said[name], value, under)
        else:
            done.same(what, said[name], value)


def _check_places(done: Verification, receipt: Receipt, core: Core, rounds: int) -> None:
    """Which regret is the run's, which is one after fewer rounds, which is in another ball: by place, not by name."""
    others = 0
    if receipt.regret is not None:
        _check_names(done, receipt.regret, "")
        done.same("the rounds of the regret", receipt.regret["rounds"], rounds)
        radius = real(receipt.regret["domain"]["radius"])
        if core.loss.convex and math.isfinite(core.domain.radius) and rounds:
            done.same("the radius of the regret", radius, core.domain.radius)
    for entry in receipt.curve:
        if "bounds" in entry:
            count, main = entry["rounds"], receipt.regret
            done.true("a regret so far is one after fewer rounds", type(count) is int and 0 < count < rounds)
            done.true("a regret so far has its regret at the end", main is not None and "bounds" in main)
            assert main is not None
            done.same("the ball of a regret so far", entry["domain"], main["domain"])
            _check_names(done, entry, f"@{count}")
        else:
            done.same("the rounds of a regret in another ball", entry["rounds"], rounds)
            _check_names(done, entry, f"/{others}")
            others += 1


def _check_names(done: Verification, entry: dict[str, Any], suffix: str) -> None:
    """The vectors of a regret are named after its place."""
    named = entry["points"]
    done.true("the vectors of a regret have its names", named == {key: f"{key}{suffix}" for key in named})


def _check_entry(
    done: Verification, entry: dict[str, Any], core: Core, played: Replayed, points: dict[str, Vector]
) -> Interval:
    """Regret against one comparator: the point lies in the domain, and the claims contain what the points prove."""
    done.true("what is said of a regret", set(entry) - {"bounds"} == ENTRY and set(entry["domain"]) == {"radius"})
    where = f" after {entry['rounds']} rounds" if entry["rounds"] != len(played.rounds) else ""
    radius, sigma = real(entry["domain"]["radius"]), real(entry["sigma"])
    where += f", radius {radius:g}"
    rounds = played.rounds.first(entry["rounds"])
    loss = core.loss if core.loss.custom else parse(entry["loss"])
    proof = {key: points[name] for key, name in entry["points"].items()}
    wanted = {"u", "tangent"} if loss.custom else {"u", "alpha"}
    done.true(f"the regret is proved by a point and a dual point{where}", set(proof) == wanted)
    done.same(f"the rounds of the regret{where}", entry["rounds"], len(rounds))
    judge = core.loss if core.loss.convex else hinge()
    done.same(f"the loss that the regret is judged by{where}", entry["loss"], judge.spec)
    done.same(f"the regulariser{where}", sigma, core.comparator_sigma(entry["rounds"]))
    done.true(f"the comparator lies in the ball{where}", radius > 0.0 and norm(proof["u"]).hi <= radius)
    above, below = proved(rounds, loss, proof, radius, sigma)
    done.contains("the comparator's loss", entry["comparator"], Interval(below.lo, above.hi), where)
    if "alpha" in proof and feasible(rounds, loss):
        _check_exactly(done, entry, rounds, loss, proof, where)
    width = relative_gap(real(entry["comparator"]["lower"]), real(entry["comparator"]["upper"]))
    done.at_most(f"the width of that{where}", entry["gap"], width)
    own = own_loss(played, entry["rounds"], loss, float(core.config["sigma"][0]))
    done.contains("the run's own loss", entry["own"], own, where)
    regret = own - Interval(below.lo, above.hi)
    done.ends("the regret", entry["lower"], entry["upper"], regret, where)
    if "bounds" in entry:
        _check_promises(done, entry, Facts(replace(played, rounds=rounds), entry, points), where)
    return regret


def _check_promises(done: Verification, entry: dict[str, Any], facts: Facts, where: str) -> None:
    """What was promised by then."""
    for name, bound in entry["bounds"].items():
        if name not in BOUNDS or facts.setting("sigma"):
            raise ReceiptError(f"{name}: this noregret knows no such theorem{where}", failed=True)
        done.true(f"{name}: it speaks of this learner, and its assumptions hold{where}", promises_of(name, facts))
        done.at_most(f"{name}{where}: the bound", bound, _formula(promised(name, facts)))


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
    done.at_most(f"{name}: the bound", said["bound"], _formula(found))
    _check_observed(done, said, found)
    _check_values(done, said, found)
    done.same(f"{name}: the verdict", said["verdict"], _verdict(said, found))


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
        done.same(f"{name}: {statement}", holds, False if again == EITHER else again)
    return claimed


def _assumed(statement: str, holds: bool | None) -> dict[str, Any]:
    return {"statement": statement, "checked": holds is not None, "holds": holds}


def _formula(found: Found) -> float:
    """A bound from above; one that is not a number promises nothing."""
    return math.inf if math.isnan(found.bound.hi) else found.bound.hi


def _check_observed(done: Verification, said: dict[str, Any], found: Found) -> None:
    """A count is what it is, any other observation is claimed from above."""
    what = f"{said['theorem']}: the observed value"
    if found.observed is None:
        done.same(what, said["observed"], None)
    elif found.observed.exact:
        done.same(what, real(said["observed"]), found.observed.hi)
    else:
        done.at_most(what, said["observed"], found.observed.hi)


def _check_values(done: Verification, said: dict[str, Any], found: Found) -> None:
    """Settings and counts are what they are; other values are claimed from above, a few from below."""
    name = said["theorem"]
    done.true(f"{name}: its values are those of the theorem", set(said["values"]) == set(found.values))
    for key, value in found.values.items():
        what, claimed = f"{name}: {key.replace('_', ' ')}", said["values"][key]
        if is_exact(key):
            done.same(what, real(claimed), float(value))
        elif key in LOWER:
            done.at_least(what, claimed, value)
        else:
            done.at_most(what, claimed, math.inf if math.isnan(value) else value)


def _verdict(said: dict[str, Any], found: Found) -> str:
    """What follows from the numbers claimed; broken where the bound as recomputed is exceeded beyond all rounding."""
    bound, observed = real(said["bound"]), found.observed
    if observed is not None and observed.lo > found.bound.hi + found.slack:
        return "broken"
    if bound >= found.ceiling or (said["verdict"] == "vacuous" and bound >= found.ceiling * (1.0 - NEARLY)):
        return "vacuous"
    return "holds" if observed is None or real(said["observed"]) <= bound else "open"


def _check_exactly(
    done: Verification, entry: dict[str, Any], rounds: Rounds, loss: Loss, proof: dict[str, Vector], where: str
) -> None:
    """The same two ends without any rounding."""
    radius, sigma, claimed = real(entry["domain"]["radius"]), real(entry["sigma"]), entry["comparator"]
    above = risk_is_at_most(rounds, loss, proof["u"], sigma, claimed["upper"])
    done.true(f"the comparator's loss at most {claimed['upper']}{where}, in rationals", above)
    if real(claimed["lower"]) > 0.0:  # no loss is below 0
        below = dual_is_at_least(rounds, loss, proof["alpha"], radius, sigma, claimed["lower"])
        done.true(f"the comparator's loss at least {claimed['lower']}{where}, in rationals", below is not False)
