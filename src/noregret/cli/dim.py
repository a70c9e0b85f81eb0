"""`noregret dim`: the VC and Littlestone dimension of a finite class, with their witnesses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noregret.cli.terminal import put_json

if TYPE_CHECKING:
    from noregret.finite import Dimensions


def dim(
    source: Annotated[
        str,
        typer.Argument(
            help="A 0/1 matrix, rows hypotheses and columns points (CSV, .npy, Parquet), or a family: intervals:12.",
            metavar="SOURCE",
        ),
    ],
    witness: Annotated[
        bool, typer.Option("--witness", help="Show the shattered points and the shattered mistake tree, node by node.")
    ] = False,
    tree: Annotated[bool, typer.Option("--tree", help="Draw the mistake tree.")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the mistake tree to this file (.png, .svg, .pdf).", metavar="FILE")
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="Stop the search after this time and print the interval proved so far.", metavar="S")
    ] = 60.0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Compute the VC and the Littlestone dimension of a finite hypothesis class.

    Example: noregret dim intervals:12 --tree
    """
    from noregret.cli.drawing import asked_kind, draw
    from noregret.cli.solving import checked_seconds
    from noregret.finite import dimensions, load_class

    kind = asked_kind(plot, None, ("tree",))
    limit = checked_seconds(seconds)
    hypotheses = load_class(source)
    with searching(quiet) as progress:
        found = dimensions(hypotheses, seconds=limit, progress=progress)
    draw(found, kind=kind, to=plot)
    if json:
        put_json(found.to_dict(witness))
    elif not quiet:
        _show(found, witness, tree)


@contextmanager
def searching(quiet: bool) -> Iterator[Callable[[str, int, int, int], None]]:
    """A line on a terminal with the two ends of the dimension searched; silent in a pipe."""
    from noregret.cli.terminal import telling

    with telling("searching", quiet) as tell:
        yield lambda what, lower, upper, looked: tell(f"{what} dimension: {lower} to {upper} ({looked:,} searched)")


def _show(found: Dimensions, witness: bool, tree: bool) -> None:
    from noregret.cli.show import table
    from noregret.summary import number

    hypotheses = found.hypotheses
    rows = [("hypotheses", number(len(hypotheses))), ("points", number(len(hypotheses.points)))]
    if hypotheses.repeated:
        rows.insert(1, ("  duplicate rows", number(hypotheses.repeated)))
    rows += [
        ("VC dimension", str(found.vc)),
        ("Littlestone dimension", str(found.littlestone)),
        ("log2 of the hypotheses", f"{hypotheses.log2_size:.4g}"),
    ]
    table(rows)
    if not (found.vc.exact and found.littlestone.exact):
        print("stopped by --seconds: these intervals are proved so far")
    if witness:
        print(f"\nshattered points: {', '.join(map(str, found.shattered)) or 'none'}")
        print("shattered mistake tree, nodes 1, 2, … (from node i label y leads to node 2i + y):")
        print(" ".join(map(str, found.tree.nodes)) or "no node")
    if tree:
        from noregret.picture.tree import tree_lines

        print()
        for line in (
            tree_lines(hypotheses, found.tree) if len(hypotheses) else ("the class is empty, so it has no tree",)
        ):
            print(line)
