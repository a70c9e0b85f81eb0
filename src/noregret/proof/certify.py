"""From a run and its streams to a receipt: replay, solve for points, evaluate every theorem that speaks of the run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from noregret.errors import InputError, SettingError, spelled
from noregret.interval import Interval
from noregret.late.playing import LateRun
from noregret.learner.core import Core
from noregret.loss import Loss, parse
from noregret.proof.claims import claimed
from noregret.proof.facts import Facts, judged_by
from noregret.proof.facts.surrogate import why_not
from noregret.proof.figures import figures
from noregret.proof.hindsight import Hindsight
from noregret.proof.receipt import Receipt, Vector, plain
from noregret.proof.regret import Against, ends, entry, promises
from noregret.proof.replay import (
    Margin,
    Replayed,
    Segment,
    chains,
    classes,
    described,
    described_loss,
    fresh,
    own_code,
    read_again,
    reading,
    replay,
    same_bits,
)
from noregret.proof.solve import best, curve, prefixes
from noregret.proof.solve.points import points as solved
from noregret.proof.theorems import spoken
from noregret.run import Run

GAP = 1e-4
LOGGED = 100_000  # rounds whose scores a receipt holds by default
Watch = Callable[[float, float], None]  # the two ends of the comparator's loss, while they close in


class Selection(Protocol):
    """A selection, as far as a receipt knows it: what JSON takes of it, and the vectors that prove it."""

    @property
    def points(self) -> dict[str, Vector]: ...

    def to_dict(self) -> dict[str, Any]: ...


def certify(
    run: Run | LateRun,
    *streams: Any,
    radius: float | None = None,
    radii: Sequence[float] = (),
    anytime: bool = False,
    gap: float = GAP,
    seconds: float = math.inf,
    watch: Watch | None = None,
    selection: Selection | None = None,
    surrogate: str | Loss | None = None,
    scores: bool | None = None,
) -> Any:
    """The regret of a run as a certified interval, and every theorem that applies, with the evidence to re-check them.

    `streams` are those that the run was played from, in order: it is played again. `radius` is the ball of comparators
    where the learner has none of its own; `radii` adds the regret in other balls, `anytime` that after 1, 2, 4, …
    rounds. The interval's width is at most `gap` of the comparator's loss (or of 1), unless `seconds` run out before.
    `selection` is what `select` chose from the run: the receipt then proves its risk certificates too. `surrogate` is a
    convex loss, by name or a `custom_loss`: a perceptron's mistakes are compared with it too (Mohri & Rostamizadeh,
    Theorem 2). `scores` is whether the receipt holds the score of every round, for those who cannot play the run again;
    by default up to 10⁵ rounds.
    Of a run that was watched from its first round on the receipt holds what the watchers claim, too.

    >>> from noregret.learner import OnlineGradientDescent
    >>> from noregret.protocol import play
    >>> stream = ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, -1, 1])
    >>> receipt = certify(play(OnlineGradientDescent(radius=2.0), stream), stream)
    >>> receipt.regret["upper"] - receipt.regret["lower"] < 1e-4
    True
    """
    if isinstance(run, LateRun):
        if len(streams) != 1:
            raise SettingError(f"certify: late labels have one log of events, or one stream, {len(streams)} were given")
        from noregret.proof.certify_late import certify_late

        return certify_late(run, streams[0], gap=gap, seconds=seconds, scores=scores)
    core = _learner_of(run)
    asked, segments = chosen_surrogate(surrogate, core), chains(core)
    given = [read_again(stream, core.options) for stream in streams]
    from noregret.proof.watched import WatchedReceipt, watched_claims, watchers_of

    new = fresh(core.name, core.settings, classes(core))
    watchers = watchers_of(core, new)
    again = replay(new, segments, given, **watchers)
    _check_same(run, again.run, ", ".join(getattr(stream, "source", "the stream") for stream in given))
    made = receipt_of(
        again,
        segments,
        core,
        radius=radius,
        radii=radii,
        anytime=anytime,
        gap=gap,
        seconds=seconds,
        watch=watch,
        surrogate=asked,
        scores=scores,
    )
    made = made if selection is None else with_selection(made, selection)
    return WatchedReceipt(made, watched_claims(watchers, again)) if watchers else made


def _learner_of(run: Run) -> Core:
    """The learner, if its run is all that it has learned from."""
    if not isinstance(run, Run):
        raise SettingError(f"certify: the first argument must be a run, which play gives, got {type(run).__name__}")
    core = run.learner
    if run.rounds != core.rounds:
        raise SettingError("certify: the learner has learned more since this run ended: pass its newest run")
    if not core.learns:
        raise SettingError("certify: a selected model holds no run: certify the run that it was selected from")
    return core


def with_selection(made: Receipt, selection: Selection) -> Receipt:
    """The receipt with a selection from the same run."""
    told = selection.to_dict()
    if told["rounds"] != made.figures["rounds"]:
        raise SettingError("certify: the selection is of another run")
    return replace(made, selection=told, points={**made.points, **selection.points})


def chosen_surrogate(surrogate: str | Loss | None, core: Core) -> Loss | None:
    """The loss that was asked for, if it can bound the mistakes of this learner."""
    if surrogate is None:
        return None
    try:
        found = parse(surrogate)
    except SettingError as error:
        raise SettingError(f"{spelled('surrogate')}: {error}") from None
    if not core.perceptron_rounds:
        raise SettingError(f"{spelled('surrogate')} goes with perceptron, averaged or voted, not with {core.name}")
    why = why_not(found)
    if why is not None:
        raise SettingError(f"{spelled('surrogate')} {why}")
    return found


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
    surrogate: Loss | None = None,
    scores: bool | None = None,
) -> Receipt:
    """The receipt of rounds that were kept while they were played."""
    run, rounds = played.run, played.rounds
    against = Against.of(core, radii[0] if radii and run.tally is not None else radius, len(rounds))
    found = None
    if against is not None:
        found = best(rounds, against.loss, against.radius, against.sigma, gap=gap, seconds=seconds, watch=watch)
    bare = Facts(run, rounds, found, surrogate=surrogate)
    facts = replace(bare, points={**bare.points, **solved(bare, gap=gap, seconds=seconds)})
    margin, points = Margin.of(facts), dict[str, Vector]()
    main = None if found is None else entry(run, rounds, found, margin, "", points)
    others: list[dict[str, Any]] = []
    if anytime:
        if against is None or main is None:
            raise SettingError("certify: anytime needs a radius")
        main = _with_promises(played, len(rounds), found, main, margin)
        others = _anytime(played, against, gap, seconds, margin, points)
    others += _in_other_balls(played, radii, gap, seconds, margin, points)
    return Receipt(
        learner=described(core),
        reading=reading(core),
        segments=[
            {**segment, "ended": ended, "digest": digest}
            for segment, ended, digest in zip(segments, played.ended, played.digests, strict=True)
        ],
        replay=same_bits(played),
        figures=_written(figures(facts), margin),
        regret=main,
        curve=others,
        certificates=[claimed(one, facts, margin.beside(facts)) for one in spoken(facts)],
        points={
            **points,
            **{name: facts.points[name] for name in facts.points if name not in points},
            **logged(played, scores),
        },
        surrogate=None if surrogate is None else described_loss(surrogate),
    )


def logged(played: Replayed, asked: bool | None) -> dict[str, Vector]:
    """The scores of the run, where a receipt holds them: of many classes, and of the user's own code, it never does."""
    scores = played.rounds.scores
    if scores is None or scores.ndim != 1 or own_code(played.run.learner) is not None:
        if asked:
            raise SettingError(
                f"{spelled('scores', python='scores=True')} must be left out: this learner has no score to log"
            )
        return {}
    kept = len(scores) <= LOGGED if asked is None else asked
    return {"scores": scores} if kept else {}


def _written(found: dict[str, Any], margin: Margin) -> dict[str, Any]:
    """The figures as a receipt writes them."""
    made: dict[str, Any] = {}
    for name, one in found.items():
        if isinstance(one, dict):
            made[name] = _written(one, margin)
        else:
            made[name] = ends(margin.figure(one)) if isinstance(one, Interval) else one
    return made


def _anytime(
    played: Replayed, against: Against, gap: float, seconds: float, margin: Margin, points: dict[str, Vector]
) -> list[dict[str, Any]]:
    """The regret after 1, 2, 4, … rounds, with what was promised by then."""
    rounds, sigma = played.rounds, played.run.learner.comparator_sigma
    counts = [2**k for k in range(len(rounds).bit_length()) if 2**k < len(rounds)]
    found = prefixes(rounds, against.loss, against.radius, sigma, counts, gap=gap, seconds=seconds)
    made = []
    for count, one in zip(counts, found, strict=True):
        then = entry(played.run, rounds.first(count), one, margin, f"@{count}", points)
        made.append(_with_promises(played, count, one, then, margin))
    return made


def _with_promises(
    played: Replayed, count: int, found: Hindsight | None, then: dict[str, Any], margin: Margin
) -> dict[str, Any]:
    """A regret with the bounds that were promised by then, as they are claimed."""
    promised = promises(played.run, played.rounds.first(count), found)
    return {**then, "bounds": {name: plain(margin.upper(bound)) for name, bound in promised.items()}}


def _in_other_balls(
    played: Replayed, radii: Sequence[float], gap: float, seconds: float, margin: Margin, points: dict[str, Vector]
) -> list[dict[str, Any]]:
    """The regret in balls of other radii."""
    core = played.run.learner
    if radii and core.supports is not None:
        raise SettingError("certify: radii must be left out: the comparators of a kernel learner have no radius")
    if not radii:
        return []
    sigma = core.comparator_sigma(len(played.rounds))
    found = curve(played.rounds, judged_by(core), sorted(radii), sigma, gap=gap, seconds=seconds)
    return [entry(played.run, played.rounds, one, margin, f"/{place}", points) for place, one in enumerate(found)]


def _check_same(run: Run, again: Run, source: str) -> None:
    """The stream must be the one that was learned from: the same rounds give the same figures, bit for bit."""
    for what in ("rounds", "mistakes", "loss"):
        was, found = getattr(run, what), getattr(again, what)
        if was != found:
            told = f"they give {what} {found}, the run had {was}"
            raise InputError(f"not the rows that this model learned from: {told}", source)
