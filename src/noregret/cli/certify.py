"""`noregret certify`: what a model's run lost against the best fixed model, with proof."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.cli.arguments import Cache, Cluster, Gap, Json, Quiet, Scores, Seconds, Surrogate, Threads
from noregret.cli.terminal import put_json

if TYPE_CHECKING:
    from noregret.stream import Stream


def certify(
    model: Annotated[Path, typer.Argument(help="A model file written by learn --save.")],
    streams: Annotated[list[str], typer.Argument(help="The streams it was trained on, in order.", metavar="STREAM...")],
    radius: Annotated[
        float | None, typer.Option(help="The radius of the comparators, for a learner without its own radius.")
    ] = None,
    radii: Annotated[
        str | None, typer.Option(help="Also compute the regret for these radii, separated by commas.")
    ] = None,
    anytime: Annotated[
        bool, typer.Option("--anytime", help="Also compute the regret after 1, 2, 4, 8, … rounds.")
    ] = False,
    gap: Gap = None,
    seconds: Seconds = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the regret so far to this file (.png, .svg, .pdf); implies --anytime.")
    ] = None,
    picture: Annotated[
        str | None,
        typer.Option(help="What --plot draws: regret (default), radius, bounds or mistakes.", metavar="KIND"),
    ] = None,
    surrogate: Surrogate = None,
    cluster: Cluster = None,
    shards: Annotated[
        int | None, typer.Option(help="With --cluster: cut the rows into S contiguous parts.", metavar="S")
    ] = None,
    receipt: Annotated[Path | None, typer.Option(help="Write the receipt to this file.")] = None,
    scores: Scores = None,
    threads: Threads = None,
    cache: Cache = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Replay a model's run, solve for the best model in hindsight and evaluate every theorem.

    With --cluster nothing is replayed: the best fixed model of all rows is solved for, shard by shard.

    Example: noregret certify spam.nr spam.svm.gz --receipt spam.receipt.json
    """
    from noregret import model as models
    from noregret.cli.drawing import asked_kind, check_certified, draw
    from noregret.cli.options import check_writable
    from noregret.cli.solving import (
        certified,
        checked_gap,
        checked_seconds,
        closing_in,
        leave_if_broken,
        radii_of,
        show_receipt,
    )
    from noregret.errors import SettingError
    from noregret.proof.certify import certify as certify_run
    from noregret.proof.replay import reading
    from noregret.run import Run
    from noregret.summary import title_of

    if cluster is not None or shards is not None:
        from noregret.cli.cluster import certify_on_shards

        refused = {"radii": radii, "anytime": anytime, "plot": plot, "picture": picture, "surrogate": surrogate}
        given = {**refused, "receipt": receipt, "cache": cache}
        certify_on_shards(model, streams, cluster, shards, radius, gap, seconds, given, json, quiet)
        return
    check_writable(str(model), receipt, plot, what="the model")
    for stream in streams:
        check_writable(stream, receipt, plot)
    kind = asked_kind(plot, picture, ("regret", "radius", "bounds", "mistakes"))
    if kind == "radius" and not radii_of(radii):
        raise SettingError("--picture radius needs --radii")
    core, _ = models.load(model)
    run = Run.of(core)
    check_certified(kind, core, radius)
    with closing_in(quiet or json) as watch:
        found = certify_run(
            run,
            *(read_again(stream, reading(core), threads, cache) for stream in streams),
            radius=radius,
            radii=radii_of(radii),
            anytime=anytime or kind == "regret",
            gap=checked_gap(gap),
            seconds=checked_seconds(seconds),
            watch=watch,
            surrogate=surrogate,
            scores=scores,
        )
    if receipt is not None:
        found.save(receipt)
    broken, found = found.broken, getattr(found, "run", found)  # of one that was watched: the run's own
    draw(run if kind == "mistakes" else found, kind=kind, to=plot, receipt=found)
    if json:
        hidden = ("this_run", "seconds", "stopped", "digest")
        shown = {key: value for key, value in run.to_dict().items() if key not in hidden}
        put_json(certified(shown, found))
    elif not quiet:
        print(title_of(run))
        show_receipt(found, checked_gap(gap))
    leave_if_broken(broken)


def read_again(stream: str, said: dict[str, Any], threads: int | None = None, cache: bool = False) -> Stream:
    """A stream as it was read when it was learned from."""
    from noregret.proof import replay

    found: Stream = replay.read_again(stream, said, threads=threads, cache=cache)
    return found
