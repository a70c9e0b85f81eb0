"""From a run and its streams to a receipt: replay, solve for hindsight, evaluate every theorem that applies."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from noregret.errors import InputError, SettingError
from noregret.hindsight import Hindsight, best, curve, prefixes
from noregret.interval import Interval
from noregret.learner.core import Core
from noregret.loss import Loss, hinge
from noregret.receipt import bits, claims
from noregret.receipt.bounds import promised, promises_of
from noregret.receipt.facts import Facts
from noregret.receipt.form import Receipt, Vector, plain
from noregret.receipt.measure import cancelled, own_loss, proved, relative_gap
from noregret.receipt.replay import Replayed, Segment, chains, classes, described, fresh, read_again, reading, replay
from noregret.receipt.selection import claimed
from noregret.rounds import Rounds
from noregret.run import Run
from noregret.theorem import certificates
from noregret.theorem.evidence import Evidence, evaluate, gather

GAP = 1e-4
Watch = Callable[[float, float], None]  # the two ends of the comparator's loss, while they close in


class Told(Protocol):
    """What can be told as JSON takes it: a selection."""

    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Against:
    """Whom the run is compared with: the loss that both are judged by, the ball, the regulariser."""

    loss: Loss
    radius: float
    sigma: float

    @classmethod
    def of(cls, core: Core, radius: float | None, rounds: int) -> Against | None:
        """The learner's own ball, or the one asked for where it has none; a perceptron is judged by the hinge.

        None where the domain holds no ball of its radius: the best comparator in it is not solved for.
        """
        own, sigma = core.domain.radius, core.comparator_sigma(rounds)
        if not core.domain.fits_ball:
            if radius is not None:
                raise SettingError(f"certify: a learner in the domain {core.domain.shape} is compared there: no radius")
            return None
        if core.name == "kernel":
            if radius is not None:
                raise SettingError("certify: a kernel learner is compared in the space of its kernel, without a radius")
            return None
        if radius is not None and core.tally() is not None:
            raise SettingError("certify: many classes are compared without a ball: leave out the radius")
        if radius is not None and not 0.0 < radius < math.inf:
            raise SettingError(f"certify: radius must be positive and finite, got {radius}")
        if not core.loss.convex:
            return None if radius is None else cls(hinge(), radius, 0.0)
        if radius is not None and math.isfinite(own) and radius != own:
            raise SettingError(f"certify: the learner has the radius {own:g}; leave out the other, {radius:g}")
        found = radius if radius is not None and math.isinf(own) else own
        return cls(core.loss, found, sigma) if math.isfinite(found) or sigma else None


def certify(
    run: Run,
    *streams: Any,
    radius: float | None = None,
    radii: Sequence[float] = (),
    anytime: bool = False,
    gap: float = GAP,
    seconds: float = math.inf,
    watch: Watch | None = None,
    selection: Told | None = None,
) -> Receipt:
    """The regret of a run as a certified interval, and every theorem that applies, with the evidence to re-check them.

    `streams` are those that the run was played from, in order: it is played again. `radius` is the ball of comparators
    where the learner has none of its own; `radii` adds the regret in other balls, `anytime` that after 1, 2, 4, …
    rounds. The interval's width is at most `gap` of the comparator's loss (or of 1), unless `seconds` run out before.
    `selection` is what `select` chose from the run: the receipt then proves its risk certificates too.

    >>> from noregret.learner import OnlineGradientDescent
    >>> from noregret.protocol import play
    >>> stream = ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, -1, 1])
    >>> receipt = certify(play(OnlineGradientDescent(radius=2.0), stream), stream)
    >>> receipt.regret["upper"] - receipt.regret["lower"] < 1e-4
    True
    """
    if not isinstance(run, Run):
        raise SettingError(f"certify: the first argument must be a run, which play gives, got {type(run).__name__}")
    core = run.learner
    if run.rounds != core.rounds:
        raise SettingError("certify: the learner has gone on since this run ended: give the newest run")
    if not core.learns:
        raise SettingError("certify: a selected model holds no run: certify the run that it was selected from")
    segments = chains(core)
    given = [read_again(stream, core.options) for stream in streams]
    again = replay(fresh(core.name, core.settings, classes(core)), segments, given)
    _check_same(run, again.run)
    made = receipt_of(
        again, segments, core, radius=radius, radii=radii, anytime=anytime, gap=gap, seconds=seconds, watch=watch
    )
    return made if selection is None else with_selection(made, selection.to_dict())


def with_selection(made: Receipt, selection: dict[str, Any]) -> Receipt:
    """The receipt with a selection from the same run."""
    if selection["rounds"] != made.figures["rounds"]:
        raise SettingError("certify: the selection is of another run")
    return replace(made, selection=claimed(selection))


def receipt_of(
    played: Replayed,
    segments: Sequence[Segment],
    core: Core,
    *,
    radius: float | None = None,
    radii: Sequence[float] = (),
    anytime: bool = False,
    gap: float = GAP,
    seconds: float = math.inf,
    watch: Watch | None = None,
) -> Receipt:
    """The receipt of rounds that were kept while they were played."""
    run, rounds = played.run, played.rounds
    against = Against.of(core, radii[0] if radii and run.tally is not None else radius, len(rounds))
    points: dict[str, Vector] = {}
    found = None
    if against is not None:
        found = best(rounds, against.loss, against.radius, against.sigma, gap=gap, seconds=seconds, watch=watch)
    entries = [] if found is None or against is None else [entry(played, rounds, against.loss, found, "", points)]
    if anytime and against is not None:
        so_far = _anytime(played, against, gap, seconds, points)
        entries = [_with_promises(played, rounds, found, entries[0], points), *so_far]
    elif anytime:
        raise SettingError("certify: anytime needs a radius")
    entries += _in_other_balls(played, radii, gap, seconds, points)
    evidence = gather(run, rounds, found, gap=gap, seconds=seconds)
    main = entries[0] if found is not None else None
    judged = _certificates(evidence, Facts(played, main, points, _recomputed(played, main, points)))
    points = {name: point for name, point in points.items() if name in _named(entries, judged)}
    return Receipt(
        learner=described(core),
        reading=reading(core),
        segments=[
            {**segment, "ended": ended, "digest": digest}
            for segment, ended, digest in zip(segments, played.ended, played.digests, strict=True)
        ],
        replay=bits.promised(played),
        figures=claims.figures(played, told(run)),
        regret=main,
        curve=entries[1:] if found is not None else entries,
        certificates=judged,
        points=points,
    )


def _certificates(evidence: Evidence, facts: Facts) -> list[dict[str, Any]]:
    """Every theorem as a receipt claims it; what the theorems were evaluated at is added to the facts' points."""
    judged = [certificate.to_dict() for certificate in certificates(evidence)]
    facts.points.update({name: point for name, point in evidence.points.items() if name not in ("u", "alpha")})
    for certificate in judged:
        certificate["points"] = [name for name in certificate["points"] if name in facts.points]
    return [claims.certificate(certificate, facts) for certificate in judged]


def _named(entries: list[dict[str, Any]], judged: list[dict[str, Any]]) -> set[str]:
    """The vectors that some claim is proved by."""
    named = {name for one in entries for name in one["points"].values()}
    return named | {name for certificate in judged for name in certificate["points"]}


def _recomputed(played: Replayed, entry: dict[str, Any] | None, points: dict[str, Vector]) -> Interval | None:
    """The regret as a verifier finds it."""
    if entry is None:
        return None
    core, rounds = played.run.learner, played.rounds.first(entry["rounds"])
    loss = core.loss if core.loss.convex else hinge()
    proof = {key: points[name] for key, name in entry["points"].items()}
    above, below = proved(rounds, loss, proof, float(entry["domain"]["radius"]), entry["sigma"])
    own = own_loss(played, len(rounds), loss, float(core.config["sigma"][0]))
    return own - Interval(below.lo, above.hi)


def _anytime(
    played: Replayed, against: Against, gap: float, seconds: float, points: dict[str, Vector]
) -> list[dict[str, Any]]:
    """The regret after 1, 2, 4, … rounds, with what was promised by then."""
    rounds, sigma = played.rounds, played.run.learner.comparator_sigma
    counts = [2**k for k in range(len(rounds).bit_length()) if 2**k < len(rounds)]
    found = prefixes(rounds, against.loss, against.radius, sigma, counts, gap=gap, seconds=seconds)
    made = []
    for count, one in zip(counts, found, strict=True):
        part = rounds.first(count)
        then = entry(played, part, against.loss, one, f"@{count}", points)
        made.append(_with_promises(played, part, one, then, points))
    return made


def _with_promises(
    played: Replayed, part: Rounds, found: Hindsight | None, then: dict[str, Any], points: dict[str, Vector]
) -> dict[str, Any]:
    """A regret with the bounds that were promised by then, as they are claimed."""
    facts = Facts(replace(played, rounds=part), then, points)
    bounds = {
        name: plain(claims.bound_of(bound, promised(name, facts), facts))
        for name, bound in promises(played, part, found).items()
        if promises_of(name, facts)
    }
    return {**then, "bounds": bounds}


def promises(played: Replayed, part: Rounds, found: Hindsight | None) -> dict[str, float]:
    """The regret bounds of a descent over its first rounds, those that follow its path left out."""
    core = played.run.learner
    if not core.loss.convex or core.config["sigma"][0]:
        return {}
    state = played.run.state.copy()
    state["rounds"] = len(part)
    evidence = evaluate(replace(played.run, state=state), part, found)
    judged = certificates(replace(evidence, path=None))
    return {one.theorem: one.bound for one in judged if one.bound is not None and "at-hindsight" not in one.theorem}


def _in_other_balls(
    played: Replayed, radii: Sequence[float], gap: float, seconds: float, points: dict[str, Vector]
) -> list[dict[str, Any]]:
    """The regret in balls of other radii."""
    core = played.run.learner
    if radii and core.name == "kernel":
        raise SettingError("certify: a kernel learner is compared in the space of its kernel, without radii")
    loss, sigma = core.loss if core.loss.convex else hinge(), core.comparator_sigma(len(played.rounds))
    found = curve(played.rounds, loss, sorted(radii), sigma, gap=gap, seconds=seconds) if radii else []
    return [entry(played, played.rounds, loss, one, f"/{place}", points) for place, one in enumerate(found)]


def entry(
    played: Replayed, rounds: Rounds, loss: Loss, found: Hindsight, name: str, points: dict[str, Vector]
) -> dict[str, Any]:
    """Regret against one comparator: S − F* with S the run's own loss and F* between a primal and a dual value."""
    given = {"u": found.u, "alpha": None if found.tangent is not None else found.alpha, "tangent": found.tangent}
    proof = {key: point for key, point in given.items() if point is not None}
    points |= {f"{key}{name}": point for key, point in proof.items()}
    own = own_loss(played, len(rounds), loss, float(played.run.learner.config["sigma"][0]))
    own = claims.own(played, own, len(rounds), loss)
    above, below = proved(rounds, loss, proof, found.radius, found.sigma)
    size = cancelled(rounds, loss, proof, found.radius, found.sigma)
    best = claims.hull(Interval(found.lower, found.upper), Interval(below.lo, above.hi))
    best = claims.comparator(best, size, loss)
    return {
        "rounds": len(rounds),
        "loss": loss.spec,
        "domain": {"radius": plain(found.radius)},
        "sigma": found.sigma,
        "own": claims.ends(own),
        "comparator": claims.ends(best),
        "gap": plain(relative_gap(best.lo, best.hi)),
        **claims.ends(own - best),
        "points": {key: f"{key}{name}" for key in proof},
    }


def told(run: Run) -> dict[str, Any]:
    """What the loop gathered."""
    return {
        "rounds": run.rounds,
        "features": run.features,
        "mistakes": run.mistakes,
        "updates": run.updates,
        "loss": run.loss,
        "max_norm2": run.max_norm2,
        "mistake_norm2": run.mistake_norm2,
        "weight_norm": run.weight_norm,
        **_by_kind(run),
    }


def _by_kind(run: Run) -> dict[str, Any]:
    """The figures of gradients, or of many classes."""
    if run.tally is None:
        return {"gradient": run.gradient}
    return {"classes": len(run.tally["labels"]), "unforeseen": run.tally["unforeseen"]}


def _check_same(run: Run, again: Run) -> None:
    """The stream must be the one that was learned from: the same rounds give the same figures, bit for bit."""
    for what in ("rounds", "mistakes", "loss"):
        was, found = getattr(run, what), getattr(again, what)
        if was != found:
            raise InputError(f"is not the stream that was learned from: {what} {found}, in the run {was}", "the stream")
