"""Check a receipt against its streams: replay the run with the loop, then evaluate every claim on its own facts.

The facts are computed here, from the replayed rounds and the vectors in the receipt, and the theorems are the rows that
the maker evaluated too; no solver is asked, nor imported. Where the stream is small both ends of a regret are checked
in exact rationals as well. A claim stands when it contains what comes out: nothing is compared by closeness, no claim
is computed from another, and the first that does not stand is named.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from noregret.errors import InputError, NoregretError, ReceiptError, SettingError
from noregret.fingerprint import fingerprint
from noregret.interval import Interval
from noregret.kernel import Kernel
from noregret.kernel import parse as parse_kernel
from noregret.learner import LEARNERS
from noregret.learner.core import Core
from noregret.loss import Loss, parse
from noregret.proof.claims import check_certificates, from_above
from noregret.proof.exact import dual_is_at_least, feasible, risk_is_at_most
from noregret.proof.facts import NAMES, Facts, judged_by, own_loss
from noregret.proof.figures import figures
from noregret.proof.hindsight import Hindsight, proved, relative_gap
from noregret.proof.receipt import Receipt, Vector, decoded, kind_of
from noregret.proof.regret import promises
from noregret.proof.replay import (
    READING,
    Replayed,
    described,
    fresh,
    own_code,
    read_again,
    replay,
    same_bits,
    segment_of,
)
from noregret.proof.selection import check_selection
from noregret.proof.theorems import spoken
from noregret.proof.verification import Verification, real
from noregret.rounds import Rounds

DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, AssertionError)
LAYOUTS = ("dense", "sparse", "mixed")
ENTRY = {"rounds", "loss", "domain", "sigma", "own", "comparator", "gap", "lower", "upper", "points"}

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
    and never a solve. Where the run used your own loss or kernel, `loss` or
    `kernel` is needed.

    >>> from noregret.learner import Perceptron
    >>> from noregret.protocol import play
    >>> from noregret.proof.certify import certify
    >>> stream = ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, -1, 1])
    >>> len(verify(certify(play(Perceptron(), stream), stream), stream).checks) > 10
    True
    """
    kind = getattr(receipt, "kind", None) or kind_of(decoded(receipt), os.fspath(receipt))
    if kind == "watched":
        from noregret.proof.watched import verify_watched

        return verify_watched(receipt, *streams, loss=loss, kernel=kernel, watch=watch)
    if kind != "run":
        return _other(kind, receipt, streams, loss, kernel)
    found = receipt if isinstance(receipt, Receipt) else Receipt.load(receipt)
    done = Verification()
    segments = [segment_of(part, place) for place, part in enumerate(found.segments, 1)]
    given = given_streams(found, streams)
    try:
        core, surrogate = learner_of(found, loss, kernel), surrogate_of(found, loss)
        played = replay(core, segments, given, watch)
    except (SettingError, InputError) as error:
        raise ReceiptError(f"the run cannot be replayed: {error}", failed=True) from error
    except DAMAGE as error:
        raise ReceiptError(f"the receipt's settings are damaged ({error})", failed=True) from error
    try:
        check_run(done, found, core, played, surrogate)
    except ReceiptError:
        raise
    except (NoregretError, *DAMAGE) as error:
        raise ReceiptError(f"the receipt is damaged ({type(error).__name__}: {error})", failed=True) from error
    return done


CHAIN = "noregret verify --chain FOLDER, the folder of the served model"
NEEDS = {
    "blend": "the receipt of a blend needs its one table",
    "late": "the receipt of late labels needs its one log of events, or its one stream",
    "cluster": "the receipt of shards needs the one stream, folder or pattern that they were made from",
    "separation": "the proof of a separation needs its one stream",
}


def _other(kind: str, receipt: Any, streams: Sequence[Any], loss: Loss | None, kernel: Any) -> Verification:
    """A receipt of another kind."""
    if kind == "period":
        raise SettingError(f"verify: the receipt of a period is checked with its chain: {CHAIN}")
    if kind == "ledger":
        from noregret.proof.ledger import load_ledger, verify_ledger

        return verify_ledger(load_ledger(receipt), streams)
    if len(streams) != 1:
        raise SettingError(f"verify: {NEEDS[kind]}, {len(streams)} were given")
    if kind == "late":
        from noregret.proof.late import load_late, verify_late

        return verify_late(load_late(receipt), streams[0], loss, kernel)
    if kind == "cluster":
        from noregret.proof.shards import load_shards, verify_shards

        return verify_shards(load_shards(receipt), streams[0])
    if kind == "blend":
        from noregret.proof.blend import load_blend, verify_blend

        return verify_blend(load_blend(receipt), streams[0])
    from noregret.proof.separation import load_proof, verify_separation

    return verify_separation(load_proof(receipt), streams[0])


def given_streams(receipt: Receipt, streams: Sequence[Any]) -> list[Any]:
    """Files are read as the receipt says; that there is no such file is no fault of the receipt."""
    if len(streams) != len(receipt.segments):  # whoever forgets one has not shown that the receipt is wrong
        told = f"the receipt is of a run on {len(receipt.segments)} streams, {len(streams)} were given"
        raise ReceiptError(f"verify: {told}: name all of them, in the order in which they were learned from")
    try:
        return [read_again(stream, receipt.reading) for stream in streams]
    except InputError:
        raise
    except (SettingError, *DAMAGE) as error:
        raise ReceiptError(f"the stream cannot be read as the receipt says: {error}", failed=True) from error


def check_run(
    done: Verification, receipt: Receipt, core: Core, played: Replayed, surrogate: Loss | None = None
) -> None:
    """Every claim of a receipt, on the run as it came out again."""
    _check_streams(receipt, played)
    done.same("the learner, its settings and its labels", receipt.learner, described(core))
    done.true("the stream is read with settings that exist", set(receipt.reading) <= set(READING))
    _check_segments(done, receipt, core, played)
    _check_replay(done, receipt, played)
    _check_figures(done, receipt.figures, figures(Facts(played.run, played.rounds)))
    _check_vectors(receipt, played)
    if "scores" in receipt.points:
        given, again_ = receipt.points["scores"], played.rounds.scores
        alike = own_code(core) is None and again_ is not None and given.tobytes() == again_.tobytes()
        done.true("the scores that are logged", alike)
    _check_places(done, receipt, core, len(played.rounds))
    used = {name for entry in receipt.entries for name in entry["points"].values()}
    found = [check_entry(done, entry, played, receipt.points) for entry in receipt.entries]
    others = {name: point for name, point in receipt.points.items() if name not in used and name != "scores"}
    done.true("every vector is one that a claim is proved by", set(others) <= NAMES)
    main = found[0] if receipt.regret is not None else None
    facts = Facts(played.run, played.rounds, main, others, surrogate=surrogate)
    _check_certificates(done, receipt.certificates, facts)
    if receipt.selection is not None:
        check_selection(done, receipt.selection, core, played, receipt.points)


def _check_streams(receipt: Receipt, played: Replayed) -> None:
    """Of another stream nothing can be right: that is said first."""
    for place, (segment, digest) in enumerate(zip(receipt.segments, played.digests, strict=True), 1):
        if segment["digest"] != digest:
            raise ReceiptError(
                f"the digest of stream {place}: these are not the rows that the receipt is about", failed=True
            )


def _check_segments(done: Verification, receipt: Receipt, core: Core, played: Replayed) -> None:
    """Each stream: its digest, how often it was gone over, and that it does not go on unread."""
    for place, (segment, digest) in enumerate(zip(receipt.segments, played.digests, strict=True), 1):
        done.same(f"the digest of stream {place}", segment["digest"], digest)
        done.same(f"the passes over stream {place}", segment["passes"], core.segments[place - 1]["passes"])
        if segment["ended"]:  # a run that was stopped claims no end
            done.same(f"stream {place} ends with the last row of the run", True, played.ended[place - 1])


def _check_replay(done: Verification, receipt: Receipt, played: Replayed) -> None:
    """Every score and the learner at the end, to the last bit; of the user's own Python code nothing is promised."""
    again = same_bits(played)
    done.true("what is said of the replay", set(receipt.replay) == set(again))
    for name, found in again.items():
        if (
            name == "layout"
        ):  # the same rows may come in another one now, and the bits of the scores say whether it matters
            done.true("the replay: layout", receipt.replay[name] in LAYOUTS)
        else:
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
            flaw = " that are not all finite" if len(vector) == wanted else ""
            raise ReceiptError(f"{name} must hold {wanted} finite numbers, got {len(vector)}{flaw}", failed=True)


def learner_of(receipt: Receipt, loss: Loss | None, kernel: Any) -> Core:
    """The learner of a receipt, before its first round."""
    return learner_from(receipt.learner, receipt.reading, loss, kernel)


def learner_from(said: Mapping[str, Any], reading: Mapping[str, Any], loss: Loss | None, kernel: Any) -> Core:
    """The learner that was described, and how its streams are read."""
    settings: dict[str, Any] = {
        key: float(value) if value in ("inf", "-inf") else value for key, value in said["settings"].items()
    }
    if isinstance(settings.get("loss"), dict):
        settings["loss"] = _own_loss(settings["loss"], loss)
    if isinstance(settings.get("kernel"), dict):
        settings["kernel"] = _kernel(settings["kernel"], kernel)
    if said["name"] not in LEARNERS:
        raise SettingError(f"unknown learner {said['name']!r}")
    core = fresh(said["name"], settings, said["labels"])
    core.options = dict(reading)
    return core


def _own_loss(said: dict[str, Any], loss: Loss | None) -> Loss:
    """The loss given, if it is the one of the run."""
    if loss is None:
        raise SettingError(f"it was made with the loss {said['name']!r} of its own: give it as loss=")
    if str(loss.fingerprint) != said["fingerprint"]:
        raise SettingError(f"it was made with another {said['name']!r} than the loss given")
    return loss


def surrogate_of(receipt: Receipt, loss: Loss | None) -> Loss | None:
    """The loss that mistakes are compared with; one of the user's own is the one given."""
    said = receipt.surrogate
    return _own_loss(said, loss) if isinstance(said, dict) else None if said is None else parse(str(said))


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


def check_entry(done: Verification, entry: dict[str, Any], played: Replayed, points: dict[str, Vector]) -> Hindsight:
    """Regret against one comparator: the point lies in the domain, and the claims contain what the points prove."""
    done.true("what is said of a regret", set(entry) - {"bounds"} == ENTRY and set(entry["domain"]) == {"radius"})
    core, rounds = played.run.learner, played.rounds.first(entry["rounds"])
    where = f" after {entry['rounds']} rounds" if entry["rounds"] != len(played.rounds) else ""
    radius, sigma = real(entry["domain"]["radius"]), real(entry["sigma"])
    where += f", radius {radius:g}"
    done.same(f"the rounds of the regret{where}", entry["rounds"], len(rounds))
    judge = judged_by(core)
    done.same(f"the loss that the regret is judged by{where}", entry["loss"], judge.spec)
    done.same(f"the regulariser{where}", sigma, core.comparator_sigma(entry["rounds"]))
    try:
        found = proved(rounds, judge, {key: points[name] for key, name in entry["points"].items()}, radius, sigma)
    except SettingError as error:
        raise ReceiptError(f"the regret{where}: {error}", failed=True) from error
    done.contains("the comparator's loss", entry["comparator"], Interval(found.lower, found.upper), where)
    if found.tangent is None and feasible(rounds, judge):
        _check_exactly(done, entry, rounds, judge, found, where)
    width = relative_gap(real(entry["comparator"]["lower"]), real(entry["comparator"]["upper"]))
    done.at_most(f"the width of the comparator's interval{where}", entry["gap"], width)
    own = own_loss(played.run, rounds)
    done.contains("the run's own loss", entry["own"], own, where)
    done.ends("the regret", entry["lower"], entry["upper"], own - Interval(found.lower, found.upper), where)
    if "bounds" in entry:
        _check_promises(done, entry["bounds"], promises(played.run, rounds, found), where)
    return found


def _check_promises(done: Verification, said: dict[str, Any], found: dict[str, float], where: str) -> None:
    """What was promised by then: every theorem that promises something, and no other."""
    done.same(f"the theorems that promise something{where}", sorted(said), sorted(found))
    for name, bound in found.items():
        done.at_most(f"{name}{where}: the bound", said[name], from_above(bound))


def _check_certificates(done: Verification, said: list[dict[str, Any]], facts: Facts) -> None:
    """Every theorem that speaks of the run."""
    check_certificates(done, said, spoken(facts), facts, None if own_code(facts.learner) is None else facts.points)


def _check_exactly(
    done: Verification, entry: dict[str, Any], rounds: Rounds, loss: Loss, found: Hindsight, where: str
) -> None:
    """The same two ends without any rounding."""
    claimed = entry["comparator"]
    above = risk_is_at_most(rounds, loss, found.u, found.sigma, claimed["upper"])
    done.true(f"the comparator's loss at most {claimed['upper']}{where}, in rationals", above)
    if real(claimed["lower"]) > 0.0 and found.alpha is not None:  # no loss is below 0
        below = dual_is_at_least(rounds, loss, found.alpha, found.radius, found.sigma, claimed["lower"])
        done.true(f"the comparator's loss at least {claimed['lower']}{where}, in rationals", below is not False)
