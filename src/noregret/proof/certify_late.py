"""From a run whose labels came late to its receipt: the regret of its predictions, and that of the learner itself."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from noregret.errors import InputError, SettingError
from noregret.interval import Interval
from noregret.late.playing import LateRun, play_late
from noregret.proof.certify import GAP, Watch, receipt_of
from noregret.proof.claims import claimed
from noregret.proof.facts.late import LateFacts
from noregret.proof.late import LateReceipt, late_figures, predictions_of, source_in, source_of, theorems_of
from noregret.proof.receipt import Vector
from noregret.proof.regret import Against, ends, entry
from noregret.proof.replay import NONE, Replayed, classes, fresh, own_code
from noregret.proof.solve import best
from noregret.rounds import Gathering, Rounds


def certify_late(
    late: LateRun, stream: Any, *, gap: float = GAP, seconds: float = math.inf, scores: bool | None = None
) -> LateReceipt:
    """The receipt of a late run, which is played again from its events or its rows."""
    core = late.run.learner
    again = fresh(core.name, core.settings, classes(core))
    with Gathering(bool(again.config["bias"][0])) as gathering:
        played = play_late(
            again, source_of(stream, late.how, core.options, source_in(late)), keep=gathering, **late.how
        )
        arrived = gathering.done()
    if played.book.digest != late.book.digest:
        raise InputError("not the events that this model learned from", getattr(stream, "source", None))
    return late_receipt(played, arrived, gap=gap, seconds=seconds, scores=scores)


def late_receipt(
    late: LateRun,
    arrived: Rounds,
    *,
    gap: float = GAP,
    seconds: float = math.inf,
    watch: Watch | None = None,
    scores: bool | None = None,
) -> LateReceipt:
    """The receipt of rounds that were kept while they were played."""
    core = late.run.learner
    if not isinstance(late.how["arrival"], str | None):
        raise SettingError("certify: a schedule of your own cannot be written to a receipt: use a delay or a column")
    if own_code(core) is not None:
        raise SettingError("certify: late labels have no receipt where the loss or the kernel is your own Python code")
    if not late.run.rounds or late.run.rounds != core.rounds or late.run.before["rounds"][0]:
        raise SettingError("certify: late labels have a receipt where all rounds, at least one, are in one log")
    facts, points = LateFacts(late.book, late.run, arrived), dict[str, Vector]()
    plays, regret = facts.plays, None
    against = Against.of(core, None, len(plays.rounds)) if facts.linear else None
    if against is not None:
        found = best(plays.rounds, against.loss, against.radius, against.sigma, gap=gap, seconds=seconds, watch=watch)
        regret = entry(plays.run, plays.rounds, found, NONE, "", points)
        facts = replace(facts, hindsight=found, points=points)
    segment = {"rows": late.run.rounds, "passes": 1, "shuffle": None, "class_weight": None}
    own = Replayed(late.run, arrived, (late.book.digest,), (not late.run.stopped,))
    said = late_figures(late, facts)
    return LateReceipt(
        how=late.how,
        digest=late.book.digest,
        predictions=predictions_of(late),
        figures={name: ends(one) if isinstance(one, Interval) else one for name, one in said.items()},
        regret=regret,
        certificates=[claimed(one, facts) for one in theorems_of(facts)],
        points=points,
        run=receipt_of(own, [segment], core, gap=gap, seconds=seconds, watch=watch, scores=scores),
        source=source_in(late),
    )
