"""`noregret separate`: does a hyperplane separate the two classes, and what proves it?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noregret.cli.arguments import Cache, Rows, Shown, StreamFile, grouped
from noregret.cli.terminal import put_json

if TYPE_CHECKING:
    from noregret.stream import Stream
    from noregret.task.separate import Separation
    from noregret.task.separate.minimisers import Minimisers

PICTURES = ("boundary", "steps", "step-sizes", "updates", "starts", "solutions")
SHOWN = 8  # rows with their weights


@grouped
def separate(
    stream: StreamFile,
    *,
    bias: Annotated[
        bool, typer.Option("--bias", help="Do not force the hyperplane through 0: append a constant 1 to every row.")
    ] = False,
    unit_norm: Annotated[bool, typer.Option("--unit-norm", help="Scale each row to norm 1.")] = False,
    rows: Rows,
    cache: Cache = False,
    gap: Annotated[
        float, typer.Option(help="The width allowed for the margin's interval, relative to its upper end.")
    ] = 1e-4,
    seconds: Annotated[
        float, typer.Option(help="Stop solving after this time and print what is proved so far.", metavar="S")
    ] = 60.0,
    hinge: Annotated[
        bool,
        typer.Option("--hinge", help="Also find the least hinge loss, which exists whether a separator does or not."),
    ] = False,
    proof: Annotated[
        Path | None, typer.Option(help="Write the proof to this file; noregret verify checks it.", metavar="FILE")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Draw the rows (two features) and the separator to this file (.png, .svg, .pdf).", metavar="FILE"
        ),
    ] = None,
    picture: Annotated[
        str | None,
        typer.Option(
            help="What --plot draws: boundary (default); for the batch perceptron: steps, step-sizes, updates (also"
            " .gif), starts or solutions.",
            metavar="KIND",
        ),
    ] = None,
    shown: Shown,
) -> None:
    """Find the separator with the largest margin, or prove that no hyperplane separates the two classes.

    Example: noregret separate spam.svm.gz --bias --proof spam.proof.json
    """
    from noregret.cli.drawing import asked_kind
    from noregret.cli.options import check_writable
    from noregret.cli.solving import checked_gap, checked_seconds
    from noregret.cli.terminal import Bar
    from noregret.errors import SettingError
    from noregret.stream import read
    from noregret.task.separate import separate as separate_rows

    check_writable(stream, proof, plot)
    kind = asked_kind(plot, picture, PICTURES)
    for asked, option in ((kind is not None, "--plot"), (hinge, "--hinge")):
        if asked and stream == "-":
            raise SettingError(f"{option} reads the rows twice: use a file, not standard input")
    reading = rows.recipe()
    source = read(stream, **reading, cache=cache)

    def watch(what: str, fraction: float | None) -> None:
        _check_rows(kind, source, bias)
        bar.show(what, fraction)

    _check_rows(kind, source, bias)
    with Bar(shown.silent) as bar:
        found = separate_rows(
            source,
            bias=bias,
            unit_norm=unit_norm,
            positive=rows.positive,
            gap=checked_gap(gap),
            seconds=checked_seconds(seconds),
            watch=watch,
            **reading,
        )
    least = _least(found, stream, gap, seconds) if hinge else None
    if proof is not None:
        found.save(proof)
    if kind is not None and plot is not None:
        _draw(found, stream, kind, plot)
    if shown.json:
        put_json(found.to_dict() | ({} if least is None else {"minimisers": least.to_dict()}))
    elif not shown.quiet:
        from noregret.cli.show import show_lines

        _show(found, gap)
        if least is not None:
            _show_least(least)
        show_lines(source.decisions)


def _draw(found: Separation, stream: str, kind: str, plot: Path) -> None:
    """The separator among the rows, or the batch perceptron on its way."""
    from noregret import batch
    from noregret.cli.drawing import CONE, draw
    from noregret.picture.batch import step_sizes
    from noregret.picture.starts import several_starts
    from noregret.proof.separation import labelled_rows

    if kind == "boundary":
        draw(found, stream, kind=kind, to=plot)
        return
    rounds = labelled_rows(stream, reading=found.reading, **found.preparation).rounds
    if kind == "step-sizes":
        draw(step_sizes(rounds), kind="steps", to=plot)
    elif kind == CONE:
        draw(several_starts(rounds), rounds, kind=kind, to=plot)
    else:
        draw(batch.run(rounds), rounds, kind=kind, to=plot)


def _check_rows(kind: str | None, source: Stream, bias: bool) -> None:
    """A sentence where the picture cannot be drawn of rows like these."""
    from noregret.cli.drawing import CONE, PLANAR, check_cone, check_plane

    if kind in PLANAR:
        check_plane(source)
    elif kind == CONE:
        check_cone(source, bias)


def _least(found: Separation, stream: str, gap: float, seconds: float) -> Minimisers:
    """The least hinge loss of the same rows."""
    from noregret.proof.separation import labelled_rows
    from noregret.task.separate.minimisers import minimisers_of

    return minimisers_of(
        labelled_rows(stream, reading=found.reading, **found.preparation).rounds, gap=gap, seconds=seconds
    )


def _show_least(least: Minimisers) -> None:
    from noregret.cli.show import outward, table
    from noregret.summary import at_most, number

    found = least.hinge
    print()
    table(
        [
            (f"least hinge loss for ‖θ‖ ≤ {at_most(found.radius)}", outward(found.lower, found.upper)),
            ("  rows misclassified there", number(least.misclassified)),
            ("least J_soft, at θ = 0, where every row has the score 0", number(least.soft)),
        ]
    )


def _show(found: Separation, gap: float) -> None:
    from noregret.cli.show import table
    from noregret.summary import at_least, at_most, counted, number

    where = "anywhere" if found.preparation["bias"] else "through 0"
    print(f"{found.source}: {found.sentence} ({where})")
    if found.answer == "inseparable" and not found.preparation["bias"]:
        print("--bias allows hyperplanes that do not pass through 0")
    print()
    rows = [
        ("rows", number(found.count)),
        ("features", number(found.features)),
        ("longest row R", at_most(found.radius.hi)),
    ]
    if found.answer != "inseparable":
        rows += [("margin γ, from", at_least(found.margin.lo)), ("  to", at_most(found.margin.hi))]
    if found.mistake_bound is not None and found.no_separator_below is not None:
        rows += [("mistakes of a perceptron, at most", number(found.mistake_bound))]
        rows += [("  R²/γ² of any separator, from", at_least(found.no_separator_below))]
    table(rows)
    print()
    if found.answer == "inseparable":
        print(f"proof: the weights λ of {len(found.rows):,} rows, in whole numbers, make Σ λ·y·x = 0 exactly")
        if len(found.rows) <= SHOWN:
            table([(f"  row {row + 1}", f"{one:.6g}") for row, one in zip(found.rows, found.weights, strict=True)])
    elif found.answer == "separable":
        print(f"proof: the separator, and the weights of {counted(len(found.rows), 'row')} against any larger margin")
        if not found.finished:
            wide = (found.margin.hi - found.margin.lo) / found.margin.hi
            print(f"wider than requested: a gap of {wide:.2g} instead of {gap:g} is what could be proved")
    else:
        print("found neither a separator nor a proof that there is none; more --seconds may help")
