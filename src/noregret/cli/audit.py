"""`noregret audit`: the regret of predictions that some model has logged."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noregret.cli.arguments import Group, Rows, Shown, Solving, grouped
from noregret.cli.terminal import put_json
from noregret.errors import SettingError

if TYPE_CHECKING:
    from noregret.interval import Interval
    from noregret.task.audit import Audit, Part
    from noregret.task.audit.passing import Passed


NAMED = 12  # columns that the heading names


class LogRows(Rows):
    """How the rows of a log are read."""

    keep: Annotated[
        str | None,
        typer.Option(
            help="Columns to keep as features, separated by commas, though they look like logged predictions or ids."
        ),
    ] = None


class Once(Group):
    """What one pass alone proves."""

    one_pass: Annotated[
        bool,
        typer.Option(
            "--pass",
            help="Bound the regret in one pass over the log, in little memory, without solving for the best model.",
            show_default=False,
        ),
    ] = False
    receipt: Annotated[
        Path | None, typer.Option(help="With --pass: write the ledger to this file, for verify and merge.")
    ] = None


@grouped
def audit(
    log: Annotated[
        str,
        typer.Argument(
            help="A table with a header (CSV, TSV, Parquet, Arrow; compressed or not): label, prediction, features.",
            metavar="LOG",
        ),
    ],
    *,
    score: Annotated[
        str | None,
        typer.Option(help="The column with the logged scores; the sign is the prediction."),
    ] = None,
    probability: Annotated[
        str | None,
        typer.Option(
            help="The column with the logged probabilities p of the positive label; the score is ln(p/(1−p))."
        ),
    ] = None,
    prediction: Annotated[
        str | None,
        typer.Option(
            help="The column with the logged predictions: labels, scored ±1 (a blank scores 0, a mistake), or numbers."
        ),
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            help="hinge (default; logistic, the log-loss, for probabilities), margin-hinge:ρ, squared-hinge,"
            " perceptron, logistic, exponential; for numbers: squared, absolute, huber:δ, pinball:τ."
        ),
    ] = None,
    radius: Annotated[float, typer.Option(help="Compare with all weights of norm at most this.")] = 10.0,
    bias: Annotated[
        bool, typer.Option("--bias", help="Give the comparators a bias: a constant 1 in every row.")
    ] = False,
    segments: Annotated[
        int | None, typer.Option(help="Split the log into K equal parts, in order.", metavar="K")
    ] = None,
    segment_by: Annotated[
        str | None, typer.Option(help="The column whose values define the segments; it is not used as a feature.")
    ] = None,
    windows: Annotated[
        str | None,
        typer.Option(
            help="Bound the regret in windows of N rounds (1000; older ones are joined), every:N (all are kept), or"
            " each day or week of the column --time.",
            metavar="WINDOWS",
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(help="With --windows day or week: the column with the date of each row.", metavar="COLUMN"),
    ] = None,
    time_zone: Annotated[
        str | None,
        typer.Option(
            help="With --windows day or week: whose days, such as Europe/Paris (default: those of the column, UTC where"
            " it states no zone).",
            metavar="ZONE",
        ),
    ] = None,
    rows: LogRows,
    once: Once,
    solving: Solving,
    plot: Annotated[
        Path | None, typer.Option(help="Draw each part and its best model to this file (.png, .svg, .pdf).")
    ] = None,
    shown: Shown,
) -> None:
    """Compare the predictions in a log with the best fixed linear model: how much was lost, and where.

    Examples:

    noregret audit log.csv --label clicked --probability p --radius 5 --bias --segments 12

    noregret audit log.parquet --prediction said --segment-by country

    noregret audit log.parquet --probability p --pass
    """
    from noregret.cli.drawing import asked_kind, draw
    from noregret.cli.options import check_writable
    from noregret.cli.terminal import Bar
    from noregret.task.audit import audit as audit_log

    check_writable(log, plot, once.receipt)
    asked = {
        "score": score,
        "probability": probability,
        "prediction": prediction,
        "loss": loss,
        "radius": radius,
        "segments": segments,
        "segment_by": segment_by,
        "positive": rows.positive,
        "bias": bias,
        **rows.recipe(),
    }
    if once.one_pass:
        from noregret.cli.passing import passed

        beside = {"gap": solving.gap, "seconds": solving.seconds, "windows": windows, "time": time, "plot": plot}
        passed(log, asked, once.receipt, shown, beside)
        return
    if once.receipt is not None:
        raise SettingError("--receipt goes with --pass: what is solved for has none")
    kind = asked_kind(plot, None, ("parts",))
    with Bar(shown.silent) as bar:
        found = audit_log(
            log,
            **asked,
            windows=windows,
            time=time,
            time_zone=time_zone,
            gap=1e-4 if solving.gap is None else solving.gap,
            seconds=float("inf") if solving.seconds is None else solving.seconds,
            watch=bar.show,
        )
    draw(found, kind=kind, to=plot)
    if shown.json:
        put_json(found.to_dict())
    elif not shown.quiet:
        from noregret.cli.show import show_lines

        _show(found)
        if found.windows is not None:
            from noregret.cli.windows import show_windows

            print()
            show_windows(found.windows)
        show_lines(found.decisions)
    note_probabilities(found.probabilities)


def note_probabilities(there: bool) -> None:
    """Whether scores may be something else than was said."""
    if there:
        told = "every score lies in [0, 1]: if these are probabilities, use --probability instead of --score"
        print(f"noregret: note: {told}", file=sys.stderr)


def _show(found: Audit) -> None:
    from noregret.cli.show import outward, table

    show_heading(found, f"compared with the best fixed weights ‖u‖ ≤ {found.radius:g}")
    head = ("", "rounds", "mistakes", "loss", "best in hindsight", "regret", "regret per row")
    table([_row(part) for part in (found.overall, *found.segments)], head)
    for line in _explained(found):
        print(line)
    drift, summed = found.drift, found.by_segment
    if drift is not None and summed is not None:
        print(f"the best fixed model of each segment, total loss: {outward(summed.lo, summed.hi)}")
        print(f"drift, what one fixed model loses compared with one per segment: {outward(drift.lo, drift.hi)}")
    if found.finished:
        print(f"each best loss is known to a relative precision of {found.gap:g} (absolute below 1)")
    else:
        print(f"time ran out before every best loss was known to {found.gap:g}: these are the intervals proved so far")


def show_heading(found: Audit | Passed, against: str) -> None:
    """What was judged, by what, and on which features."""
    from noregret.summary import number

    with_bias = ", with a bias" if found.bias else ""
    print(f"{found.source}: {found.loss.spec} loss, {against} on {number(found.features)} features{with_bias}")
    if found.columns:
        more = len(found.columns) - NAMED
        print(f"features: {', '.join(found.columns[:NAMED])}" + (f" and {more} more columns" if more > 0 else ""))
    if found.left_out:
        which = ", ".join(found.left_out)
        print(f"not used as features because they look like logged predictions: {which} (override: --keep COLUMNS)")


def blank_line(blank: int) -> Iterator[str]:
    """That predictions without a label are mistakes, where there are any."""
    from noregret.summary import number

    if blank:
        said = "prediction is" if blank == 1 else "predictions are"
        yield f"{number(blank)} {said} blank: a blank counts as score 0, which is a mistake"


def infinite_line(rounds: int, infinite: int, finite: Interval) -> Iterator[str]:
    """That a probability of 0 was given to what happened, where it was."""
    from noregret.summary import counted, number

    if infinite:
        left = number(0.5 * (finite.lo + finite.hi))
        yield (
            f"the loss is infinite: {counted(infinite, 'round')} gave the actual outcome probability 0;"
            f" the loss of the other {counted(rounds - infinite, 'round')} is {left}"
        )


def _explained(found: Audit) -> Iterator[str]:
    """What a reader may stumble over, a line each."""
    whole = found.overall
    yield from blank_line(found.blank)
    yield from infinite_line(whole.rounds, whole.infinite, whole.finite)
    below = [part.name for part in (whole, *found.segments) if part.regret.hi < 0.0]
    if below:
        yield (
            f"regret below 0 ({', '.join(below[:NAMED])}): the predictions did better than every fixed linear model on"
            " these features within the radius"
        )


def _row(part: Part) -> tuple[str, ...]:
    from noregret.cli.show import outward
    from noregret.summary import number

    regret = part.regret
    if part.infinite:
        return (part.name, number(part.rounds), number(part.mistakes or 0), "∞", _best(part), "∞", "∞")
    return (
        part.name,
        number(part.rounds),
        "–" if part.mistakes is None else number(part.mistakes),
        number(0.5 * part.loss.lo + 0.5 * part.loss.hi),
        _best(part),
        outward(regret.lo, regret.hi),
        outward(regret.lo / part.rounds, regret.hi / part.rounds),
    )


def _best(part: Part) -> str:
    from noregret.cli.show import outward

    return outward(part.best.lower, part.best.upper)
