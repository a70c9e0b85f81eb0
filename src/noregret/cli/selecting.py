"""`learn --select`: one predictor of the run, with what it risks on new rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from noregret.cli.options import flag
from noregret.errors import SettingError

if TYPE_CHECKING:
    from noregret.learner import Core
    from noregret.rounds import Rounds
    from noregret.run import Run
    from noregret.task.select import Selection

AVERAGE = (
    "for the 0/1 loss averaged weights have no such bound: (1, 0) and (0, 1) are each wrong on one of the rows (1, −2)"
    " and (−2, 1)\nwith y = +1, and their average is wrong on both"
)


def asked_for(
    how: str | None,
    confidence: float | None,
    candidates: str | None,
    holdout: int | None,
    draw: int | None,
    resume: Path | None,
) -> dict[str, Any] | None:
    """What is asked of the selection, checked before any round is played; None where nothing is."""
    if how is None:
        given = {"confidence": confidence, "candidates": candidates, "holdout": holdout, "draw": draw}
        for name, value in given.items():
            if value is not None:
                raise SettingError(f"{flag(name)} needs --select")
        return None
    if resume is not None:
        raise SettingError(
            "--select needs every round, and a resumed model keeps none: learn from all rows in one run,"
            " or use noregret.select in Python"
        )
    from noregret.proof.facts.candidates import holds_out, starts
    from noregret.proof.facts.selection import check

    level = 0.95 if confidence is None else confidence
    check(how, level, holdout, draw, candidates)
    starts(1, how, candidates)
    holds_out(1, holdout)
    return {"how": how, "confidence": level, "candidates": candidates, "holdout": holdout, "draw": draw}


def check_learner(core: Core) -> None:
    from noregret.proof.facts.selection import refuse

    refuse(core)


def selected(run: Run, rounds: Rounds, wanted: dict[str, Any]) -> Selection:
    """The selection from a run whose rounds were kept."""
    from noregret.task.select import chosen

    return chosen(run.learner, rounds, **wanted)


def show_selection(selection: dict[str, Any], shuffled: bool) -> None:
    """What was chosen, among how many, and what is promised of it."""
    from noregret.cli.show import table
    from noregret.cli.solving import unmet
    from noregret.summary import at_most, number

    rows = [("candidates", _candidates(selection))] if selection["how"] != "last" else []
    if selection["round"] is not None:
        way = "chosen" if selection.get("draw") is None else f"drawn with seed {selection['draw']}"
        rows.append((f"{way}: the weights before round", number(selection["round"])))
        held = selection.get("held_out") is not None
        rows.append(("  rounds held out" if held else "  rounds it had not seen", number(selection["tail"])))
        rows.append(("  errors on those", f"{selection['errors']:,} ({100.0 * selection['empirical']:.2f} %)"))
    confidence = f"{selection['confidence']:g}"
    if rows:
        table(rows, ("", ""), title=f"selected: {selection['how']}")
        print()
    judged = [part for part in selection["certificates"] if part["verdict"] != "unmet"]
    shown = [(part["theorem"], _of(part["theorem"]), at_most(part["bound"]), part["verdict"]) for part in judged]
    if shown:
        table(shown, ("theorem", "bounds", f"at confidence {confidence}", "verdict"))
        print(
            "not checkable, and assumed by each bound: the rows are independent draws from one source (i.i.d.), and no"
            " row occurs twice"
        )
        if shuffled:
            print("shuffling makes rows exchangeable; they are independent draws only if the rows of the file are")
    for reason, names in unmet(selection["certificates"]).items():
        print(f"no claim by {', '.join(names)}: this assumption fails: {reason}")
        if "risk-average" in names:
            print(AVERAGE)
    if selection["how"] == "last":
        print("no bound for the last weights: no rows came after them to test them on")


def _candidates(selection: dict[str, Any]) -> str:
    count = f"{selection['candidates']:,}"
    where = ", one before every round" if selection["every_round"] else ", in even steps of rounds"
    different = selection.get("distinct")
    return count + where if different is None else f"{count}{where} not held out; {different:,} different"


def _of(name: str) -> str:
    from noregret.proof.theorems import THEOREMS

    return THEOREMS[name].title if name in THEOREMS else "unknown theorem"
