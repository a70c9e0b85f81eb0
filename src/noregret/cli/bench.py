"""`noregret bench`: this machine, every installed peer, ratios."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.cli.arguments import Quiet

if TYPE_CHECKING:
    from noregret.bench.streams import Size
    from noregret.bench.timing import Row


def bench(
    only: Annotated[
        str | None,
        typer.Option(
            help="Jobs, separated by commas: start, passes, own-loss, single, files, cache, csv, accuracy,"
            " kernel, experts, finite, hindsight, scaling (default all).",
            metavar="JOB",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small streams, few repetitions: two minutes.")] = False,
    json: Annotated[
        Path | None, typer.Option(help="Write all figures and facts about the machine to this file.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the scaling job to this file (.png, .svg, .pdf).")] = None,
    quiet: Quiet = False,
) -> None:
    """Time noregret and every installed peer on generated streams, and print the ratios.

    Examples:

    noregret bench --quick

    noregret bench --only files,csv --json figures.json
    """
    from noregret.bench import FULL, JOBS, QUICK, facts
    from noregret.cli.options import check_writable, names

    chosen = list(names(only)) or list(JOBS)
    if plot is not None:
        from noregret.errors import SettingError
        from noregret.picture.canvas import check_picture

        check_picture(plot)
        if "scaling" not in chosen:
            raise SettingError("--plot needs the job scaling: add it to --only")
    check_writable("-", json, plot)
    machine = facts()
    found = _timed(chosen, QUICK if quick else FULL, machine, quiet)
    if json is not None:
        _write(json, {"facts": machine, "rows": found})
    if plot is not None:
        from noregret.picture.curves import draw_scaling

        draw_scaling(found, plot)


def _timed(jobs: Sequence[str], size: Size, machine: dict[str, str], quiet: bool) -> list[Row]:
    """The rows of all jobs, below the machine; each job is shown when it is done."""
    from noregret.bench import run

    shown: list[Row] = []
    found: list[Row] = []

    def announce(name: str) -> None:
        _show(shown, quiet)
        shown.clear()
        if sys.stderr.isatty() and not quiet:
            print(f"… {name}", file=sys.stderr)

    rows = run(jobs, size, announce)
    if not quiet:
        print("  ".join(f"{key} {value}" for key, value in machine.items()))
    for row in rows:
        if shown and shown[0]["job"] != row["job"]:
            _show(shown, quiet)
            shown.clear()
        shown.append(row)
        found.append(row)
    _show(shown, quiet)
    return found


def _write(path: Path, answer: dict[str, Any]) -> None:
    """All figures, indented: people compare two such files."""
    import msgspec

    from noregret.atomic import whole_file

    with whole_file(path) as file:
        file.write(msgspec.json.format(msgspec.json.encode(answer), indent=1) + b"\n")


def _show(rows: list[Row], quiet: bool) -> None:
    """One job: who, how long, how often ours, and every other figure that some of them have."""
    from noregret.cli.show import table

    if quiet or not rows:
        return
    keys = list(dict.fromkeys(key for row in rows for key in row if key not in ("name", "job", "who", "missing")))
    print()
    table(
        [
            (row["who"], *(["not installed"] if row.get("missing") else []), *(_cell(key, row) for key in keys))[
                : len(keys) + 1
            ]
            for row in rows
        ],
        (rows[0]["job"], *keys),
    )


def _cell(key: str, row: Row) -> str:
    value = row.get(key)
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
