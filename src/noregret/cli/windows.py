"""`learn --windows`: its options, the windows that they ask for, and their tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from noregret.cli.options import names
from noregret.errors import SettingError

if TYPE_CHECKING:
    from noregret.cli.learn import Asked, InWindows
    from noregret.learner import Core
    from noregret.watch.windows import Windows


def check_windows(kept: InWindows, time: str | None, asked: Asked, schedule: str | None) -> None:
    """Say at once what cannot be; of a resumed model the windows are known later."""
    if kept.windows is None:
        if asked.resume is None:
            given = {"--challenger": kept.challenger, "--time-zone": kept.time_zone}
            other = next((name for name, value in given.items() if value), None)
            if other is not None:
                raise SettingError(f"{other} needs --windows")
            if time is not None and schedule is None:
                raise SettingError("--time needs --arrival, or --windows day or week")
        return
    from noregret.watch.windows import Windows

    period = kept.windows in ("day", "week")
    Windows(kept.windows, time if period or schedule is None else None, kept.time_zone)
    if asked.passes > 1:
        raise SettingError(f"--windows are of predictions of new rows: leave out --passes, got {asked.passes}")


def windows_of(
    kept: InWindows, time: str | None, core: Core, radius: float | None, schedule: str | None, late: bool
) -> Windows | None:
    """The windows that were asked for; a resumed model keeps its own."""
    if kept.windows is None and (core.watched or {}).get("windows") is None:
        return None
    from noregret.watch.late_windows import late_again
    from noregret.watch.windows import Windows, again

    before = late_again(core) if late else again(core)
    length = kept.windows or (before.length if before is not None else "")
    period = length in ("day", "week")
    said = {
        "length": kept.windows,
        "time": time if period or schedule is None else None,
        "time_zone": kept.time_zone,
        "radius": radius,
        "challengers": names(kept.challenger) or None,
    }
    has = {} if before is None else {name: getattr(before, name) for name in said}
    return Windows(**{**has, **{name: value for name, value in said.items() if value is not None}})


def show_windows(found: Mapping[str, Any]) -> None:
    """The table of windows, what its columns are, and what all windows together prove."""
    from noregret.cli.show import table
    from noregret.watch.shown import (
        WHOLE_HEAD,
        explained,
        missing,
        title_of_windows,
        whole_lines,
        whole_rows,
        window_head,
        window_rows,
    )

    table(window_rows(found), window_head(found), title=title_of_windows(found))
    for line in (*explained(found), *missing(found)):
        print(line)
    rows = whole_rows(found)
    if rows:
        print()
        table(rows, WHOLE_HEAD)
    for line in whole_lines(found):
        print(line)
