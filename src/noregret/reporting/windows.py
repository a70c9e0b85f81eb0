"""Windows on the page: of a model as its table shows them, of a receipt as it claims them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from noregret.reporting.html import Part, Rows, Subject, about, between, least, most, shown
from noregret.summary import RINGS, alarm_rows, counted
from noregret.watch.shown import AMONG, explained, missing, title_of_windows, whole_rows, window_head, window_rows


def windows_parts(found: dict[str, Any] | None) -> list[Part]:
    """Tables of the windows of a run, and of what they prove together."""
    if found is None or not found["parts"]:
        return []
    note = ". ".join([title_of_windows(found), *explained(found), *missing(found)])
    parts = [Part("Windows", list(window_rows(found)), window_head(found), note)]
    rows = whole_rows(found)
    return [
        *parts,
        *([Part("Regret over all windows", list(rows), ("bound against", "total", "per row"))] if rows else []),
    ]


def alarm_parts(found: Mapping[str, Any] | None) -> list[Part]:
    """What an alarm of a run watches, and whether it rang."""
    return [] if found is None else [Part("Alarm", list(alarm_rows(found)))]


def with_watchers(subject: Subject, watched: Mapping[str, Any]) -> Subject:
    """The section of a run's receipt with what it claims of windows and of an alarm."""
    parts = _claimed(watched["windows"]) if "windows" in watched else []
    return replace(subject, figures=[*subject.figures, *parts, *_listened(watched.get("alarm"))])


def _listened(said: Mapping[str, Any] | None) -> list[Part]:
    if said is None:
        return []
    rang = ", ".join(f"{one:,}" for one in said["rang"][:RINGS]) + (", …" if len(said["rang"]) > RINGS else "")
    rows: Rows = [
        ("after which round it rang", rang or "it has not rung"),
        ("null", said["words"]),
        ("probability of ringing for nothing", f"at most {said['false_alarm']:g} in the whole life of the run"),
        ("rounds watched", f"{said['watched']:,} of {said['rounds']:,}"),
    ]
    rows += [("largest e-value", least(one["values"]["largest_e_value"])) for one in said["certificates"]]
    return [Part("Alarm", rows)]


def _claimed(said: dict[str, Any]) -> list[Part]:
    bounded = said["domain"] is not None
    head = ["window", "mistakes", *(["loss", "regret bound", "best model at least"] if bounded else [])]
    head += ["mistakes, frozen", *(["loss, frozen"] if said["loss"] is not None else [])]
    rows: Rows = []
    for one in said["parts"]:
        name = f"{one['first']:,}–{one['last']:,}" + (f" (from {one['from']})" if "from" in one else "")
        row = [name, shown(one["mistakes"])]
        row += [shown(about(one["loss"])), most(one["bound"]), least(one["best_at_least"])] if bounded else []
        row += [shown(one["frozen_mistakes"])]
        row += [between(one["frozen_loss"])] if said["loss"] is not None else []
        rows.append(tuple(row))
    note = "Frozen: the model as it stood when the window began, or each of the windows that were joined to it."
    if bounded:
        among = f"{AMONG[said['domain']['shape']]} ≤ {shown(said['domain']['radius'])}"
        note = f"Judged by the {said['loss']} loss, against any {among}. Totals. {note}"
    parts = [Part("Windows", rows, tuple(head), note)]
    whole = [(_whole(one), most(one["bound"])) for one in said["certificates"] if one["theorem"] != "window-linearised"]
    return [*parts, *([Part("Regret over all windows", list(whole), ("bound against", "total"))] if whole else [])]


def _whole(one: dict[str, Any]) -> str:
    if one["theorem"] == "switching-at-limits":
        return "a model for each window"
    return f"at most {counted(int(one['values']['switches']), 'change')} at limits of windows"
