"""`noregret mean`: the mean of rows as they come, on losses that are strongly convex by themselves."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.cli.terminal import put_json

if TYPE_CHECKING:
    from noregret.mean import MeanRun
    from noregret.proof.theorem import Certificate

SHOWN = 12  # columns whose means are shown


def mean(
    rows: Annotated[
        str,
        typer.Argument(help="A table of numbers, a row a round (CSV, JSON Lines, Parquet, …).", metavar="ROWS"),
    ],
    sigma: Annotated[float, typer.Option(help="σ of the losses (σ/2)‖w − a‖², known beforehand.")] = 1.0,
    radius: Annotated[
        float | None, typer.Option(help="Stay within ‖w‖ ≤ RADIUS, and compare with the best point there.")
    ] = None,
    ignore: Annotated[
        str | None, typer.Option(help="Columns to leave out, separated by commas.", metavar="COLUMNS")
    ] = None,
    missing: Annotated[str, typer.Option(help="Rows with an empty cell: error (default), zero or skip.")] = "error",
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the regret and its bounds so far to this file (.png, .svg, .pdf).", metavar="FILE"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Estimate the mean of rows by gradient descent with the step 1/(σt), with its regret and the bounds on it.

    Example: noregret mean measurements.csv --sigma 2
    """
    from noregret.cli.drawing import asked_kind, draw
    from noregret.cli.options import check_writable, names
    from noregret.mean import mean_estimation
    from noregret.proof.theorem import Verdict
    from noregret.proof.theorems.mean import certificates

    check_writable(rows, plot, what="the rows")
    kind = asked_kind(plot, None, ("regret",))
    run = mean_estimation(
        rows, sigma=sigma, radius=math.inf if radius is None else radius, ignore=names(ignore), missing=missing
    )
    found = certificates(run)
    draw(run, kind=kind, to=plot)
    if json:
        put_json(_answer(run, found))
    elif not quiet:
        _show(run, found)
    if any(one.verdict is Verdict.BROKEN for one in found):
        raise typer.Exit(1)


def _answer(run: MeanRun, found: list[Certificate]) -> dict[str, Any]:
    return {
        "rounds": len(run),
        "columns": list(run.columns),
        "sigma": run.sigma,
        "radius": None if math.isinf(run.radius) else run.radius,
        "mean": run.mean.tolist(),
        "loss": float(run.loss),
        "regret": {"lower": run.regret.lo, "upper": run.regret.hi},
        "certificates": [one.to_dict() for one in found],
    }


def _show(run: MeanRun, found: list[Certificate]) -> None:
    from noregret.cli.show import table
    from noregret.summary import at_least, at_most, number

    size, where = len(run.columns), "" if math.isinf(run.radius) else f" within ‖w‖ ≤ {run.radius:g}"
    print(f"{run.source}: the mean so far, losses ({run.sigma:g}/2)‖w − a‖²{where}")
    lines = [
        ("rows T", number(len(run))),
        ("columns", number(size)),
        ("loss", number(float(run.loss))),
        ("regret, from", at_least(run.regret.lo)),
        ("  to", at_most(run.regret.hi)),
    ]
    lines += [
        (f"mean of {name}", number(value)) for name, value in list(zip(run.columns, run.mean.tolist(), strict=True))
    ][: SHOWN if size > SHOWN else size]
    table(lines)
    print()
    said = [(one.theorem, _end(one.bound), _end(one.observed), one.verdict.name.lower()) for one in found]
    table(said, ("theorem", "bound", "observed", "verdict"))


def _end(value: float | None) -> str:
    from noregret.summary import at_most

    return "–" if value is None else at_most(value)
