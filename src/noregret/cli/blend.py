"""`noregret blend`: follow the best of several forecasters without knowing which it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.cli.arguments import Group, grouped
from noregret.cli.terminal import put_json

if TYPE_CHECKING:
    from noregret.proof.solve.mean import Combination
    from noregret.task.blend import Blend

STRETCHES = 12  # of the lead that are listed; more are only counted


class Blending(Group):
    """What is blended, and how."""

    outcome: Annotated[str | None, typer.Option(help="The column with the actual outcomes.", metavar="COLUMN")] = None
    experts: Annotated[
        str | None,
        typer.Option(
            help="The columns with the forecasts, separated by commas. Probabilities of several outcomes are in columns"
            " named EXPERT:OUTCOME. An empty cell means that the expert sits out this round.",
            metavar="COLUMNS",
        ),
    ] = None
    loss: Annotated[
        str | None, typer.Option(help="squared, absolute, log (probabilities), zero-one (labels) or brier.")
    ] = None
    costs: Annotated[
        str | None,
        typer.Option(help="Instead of forecasts: the columns with the cost of each expert.", metavar="COLUMNS"),
    ] = None
    range: Annotated[str | None, typer.Option(help="The range of the numbers (default 0,1).", metavar="LO,HI")] = None
    method: Annotated[
        str | None,
        typer.Option(
            help="mixture (for log, squared, brier), gradient (for absolute), adahedge (for the others), hedge,"
            " hedge-doubling, weighted-majority or fixed-share."
        ),
    ] = None
    against: Annotated[
        str | None,
        typer.Option(
            help="What to compete with: the best expert, or the best fixed mean of the experts (squared and absolute"
            " loss; the default for absolute).",
            metavar="expert|mean",
        ),
    ] = None
    last_value: Annotated[
        bool, typer.Option("--last-value", help="Add an expert that forecasts the previous outcome.")
    ] = False
    switches: Annotated[
        int | None,
        typer.Option(
            help="Also compare with the best sequence of experts with at most M switches; fixed-share is tuned for it.",
            metavar="M",
        ),
    ] = None

    def settings(self) -> dict[str, Any]:
        """The same as the library takes it."""
        from noregret.cli.options import names

        given = {name: getattr(self, name) for name in self.options()}
        return {**given, "experts": names(self.experts), "costs": names(self.costs), "range": _range(self.range)}


class Output(Group):
    """What is shown and written of it."""

    combination: Annotated[
        bool, typer.Option("--combination", help="Also compare with the best fixed mean of the experts.")
    ] = False
    forecasts: Annotated[Path | None, typer.Option(help="Write the blend's forecasts to this CSV file.")] = None
    weights: Annotated[Path | None, typer.Option(help="Write the weights of every round to this CSV file.")] = None
    plot: Annotated[
        Path | None, typer.Option(help="Draw weights and regret over time to this file (.png, .svg, .pdf).")
    ] = None
    picture: Annotated[
        str | None, typer.Option(help="What --plot draws: overview (default), weights or regret.", metavar="KIND")
    ] = None
    receipt: Annotated[Path | None, typer.Option(help="Write a receipt to this file; noregret verify checks it.")] = (
        None
    )
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not print the table.")] = False


@grouped
def blend(
    table: Annotated[
        str,
        typer.Argument(
            help="A table with a header (CSV, TSV, Parquet, Arrow; compressed or not), one round per row.",
            metavar="TABLE",
        ),
    ],
    asked: Blending,
    output: Output,
) -> None:
    """Blend the forecasts of several experts into one that stays close to the best of them.

    Examples:

    noregret blend polls.csv --outcome target --experts gallup,ipsos --loss absolute --range 0,100 --last-value

    noregret blend routes.csv --costs north,south,ferry --range 0,90 --weights weights.csv
    """
    from noregret.cli.drawing import asked_kind, draw
    from noregret.cli.options import check_writable
    from noregret.cli.solving import leave_if_broken
    from noregret.errors import SettingError
    from noregret.task.blend import blend as blended

    check_writable(table, output.forecasts, output.weights, output.plot, output.receipt)
    kind = asked_kind(output.plot, output.picture, ("overview", "weights", "regret"))
    if output.forecasts is not None and asked.costs is not None:
        raise SettingError("--forecasts does not work with --costs: there are no forecasts to write")
    settings = asked.settings()
    _check_asked(table, asked.outcome, settings["experts"], asked.loss, settings["costs"])
    with blending(output.quiet) as progress:
        found = blended(table, **settings, progress=progress)
    best_mean = found.combination() if output.combination or found.mean is not None else None
    _write(found, output.forecasts, output.weights, output.receipt)
    draw(found, kind=kind, to=output.plot)
    if output.json:
        put_json({**found.to_dict(), **_combination(found, best_mean)})
    elif not output.quiet:
        _show(found, best_mean)
    leave_if_broken(found.broken, "the table")


def _combination(found: Blend, mean: Combination | None) -> dict[str, Any]:
    """The best fixed mean, for programs."""
    if mean is None:
        return {}
    shares = dict(zip(found.names, mean.weights.tolist(), strict=True))
    return {"combination": {"lower": mean.lower, "upper": mean.upper, "weights": shares}}


def _check_asked(
    table: str, outcome: str | None, experts: Sequence[str], loss: str | None, costs: Sequence[str]
) -> None:
    """All that is missing in one sentence, with the columns there are and a command that would work."""
    from shlex import quote

    from noregret.errors import SettingError, listed
    from noregret.experts.forecasts import columns_of
    from noregret.experts.loss import LOSSES
    from noregret.stream.opening import Input
    from noregret.task.blend.making import example, joined, missing

    lacking = [f"--{name}" for name in missing(table, outcome, experts, loss, costs)]
    if not lacking or (costs and (outcome or experts or loss)):
        return
    said = f"{joined(lacking)} {'is' if len(lacking) == 1 else 'are'} missing"
    said += f" (--loss is one of {', '.join(LOSSES)})" if "--loss" in lacking else ""
    if Input(table).rereadable:
        said += f": the columns are {listed(columns_of(table) or [])}"
        found = example(table, outcome, experts, loss)
        if found is not None:
            words = ["noregret", "blend", table, "--outcome", found.outcome, "--experts", ",".join(found.experts)]
            words += ["--loss", found.loss]
            if found.range is not None:
                words += ["--range", f"{found.range[0]:g},{found.range[1]:g}"]
            said += f"; for example: {' '.join(map(quote, words))}"
    raise SettingError(said)


@contextmanager
def blending(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on a terminal with the rounds blended so far; silent in a pipe."""
    from noregret.cli.terminal import Bar

    with Bar(quiet) as bar:
        bar.show("reading the table", None)

        def update(done: int, rounds: int) -> None:
            bar.show("blending", done / max(rounds, 1), f"{done:,} of {rounds:,} rounds")

        yield update if bar.wanted else None


def _range(text: str | None) -> tuple[float, ...] | None:
    from noregret.errors import SettingError

    if text is None:
        return None
    try:
        lo, hi = (float(part) for part in text.split(","))
    except ValueError:
        raise SettingError(f"--range must be LO,HI, got {text!r}") from None
    return lo, hi


def _write(found: Blend, forecasts: Path | None, weights: Path | None, receipt: Path | None) -> None:
    """Every file that was asked for, each whole or not at all."""
    if forecasts is not None:
        _write_rows(forecasts, _forecast_rows(found))
    if weights is not None:
        _write_rows(weights, _weight_rows(found))
    if receipt is not None:
        found.receipt().save(receipt)


def _write_rows(path: Path, rows: Iterator[list[Any]]) -> None:
    import csv
    import io

    from noregret.atomic import whole_file

    with whole_file(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        csv.writer(text, lineterminator="\n").writerows(rows)
        text.detach()


def _forecast_rows(found: Blend) -> Iterator[list[Any]]:
    """round, forecast, outcome, loss; a probability for each outcome, where there are several."""
    names, labels = found.data.names, found.contest.judged_by.labels
    several = bool(names) and not labels
    yield ["round", *([f"forecast:{name}" for name in names] if several else ["forecast"]), "outcome", "loss"]
    rows = zip(found.forecasts.tolist(), found.data.outcomes.tolist(), found.losses.tolist(), strict=True)
    for round, (forecast, outcome, lost) in enumerate(rows, 1):
        said = [names[int(forecast[0])]] if labels else [repr(value) for value in forecast]
        yield [round, *said, names[int(outcome)] if names else repr(outcome), repr(lost)]


def _weight_rows(found: Blend) -> Iterator[list[Any]]:
    yield ["round", *found.names]
    for round, row in enumerate(found.weights.tolist(), 1):
        yield [round, *map(repr, row)]


def _show(found: Blend, best_mean: Combination | None) -> None:
    from noregret.cli.show import outward, table
    from noregret.summary import at_most, counted, number, share

    print(_title(found))
    leads = found.leaders()
    led: dict[str, int] = {}
    for first, last, name in leads:
        led[name] = led.get(name, 0) + last - first + 1
    rows = [("the blend", number(found.rounds), number(found.loss), number(found.loss / found.rounds), "", "", "")]
    for row in found.table():
        lost, awake = float(row["loss"]), row["awake"]
        cells = (number(awake), number(lost), number(lost / awake) if awake else "–", number(float(row["regret"])))
        name = row["expert"] + (" (best)" if row["expert"] == found.best else "")
        rows.append((name, *cells, f"{row['weight']:.4f}", share(led.get(row["expert"], 0), found.rounds)))
    table(rows, ("", "rounds", "loss", "per row", "regret", "final weight", "in the lead"))
    if found.mistakes is not None:
        print(f"the label with the most weight was wrong {counted(found.mistakes, 'time')}")
    print(f"in the lead: {_stretches(leads)}")
    _show_promises(found)
    switching = found.to_dict()["switching"]
    if switching is not None:
        regret = outward(switching["regret"]["lower"], switching["regret"]["upper"])
        told = _stretches([tuple(part) for part in switching["parts"]])
        changes = "1 switch" if switching["switches"] == 1 else f"{switching['switches']} switches"
        loss = number(switching["loss"])
        print(f"best sequence with at most {changes}: loss {loss}, regret {regret}: {told}")
    if best_mean is not None:
        parts = ", ".join(f"{name} {value:.3f}" for name, value in zip(found.names, best_mean.weights, strict=True))
        print(f"best fixed mean: loss in {outward(best_mean.lower, best_mean.upper)}: {parts}")
    if found.bound is not None:
        empty = " (too loose to be useful here)" if found.vacuous else ""
        whom, regret = found.best, number(found.regret)
        if found.mean_regret is not None:
            whom, regret = "the best fixed mean", outward(found.mean_regret.lo, found.mean_regret.hi)
        print(f"regret against {whom}: {regret}, bound: {at_most(found.bound)}{empty}")


def _title(found: Blend) -> str:
    from noregret.summary import counted

    reading = found.reading
    ends = reading["range"]
    where = "" if ends is None else f" in [{ends[0]:g}, {ends[1]:g}]"
    what = "costs" if found.contest.judged_by.costs else f"{reading['loss']} loss"
    whom = ", against the best fixed mean" if found.mean is not None else ""
    return f"{found.data.source}: {counted(len(found.names), 'expert')}, {what}{where}, {reading['method']}{whom}"


def _stretches(parts: list[Any]) -> str:
    """Who and from when; of a long story the last part."""
    told = [f"{name} from round {first:,}" for first, _, name in parts]
    if len(told) > STRETCHES:
        return f"{len(told) - 1} changes, last {told[-1]}"
    return ", ".join(told)


def _show_promises(found: Blend) -> None:
    from noregret.summary import at_most

    for one in found.certificates:
        print(f"{one.theorem}: at most {at_most(one.bound)}, {one.verdict.name.lower()} ({one.source})")
