"""`noregret game`: the adversary of a finite class against a learner, or against the person at the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.cli.linear_game import LinearGameOptions, answer_of, is_linear, leave_if_broken, play_linear
from noregret.cli.linear_game import show as show_linear
from noregret.cli.terminal import put_json
from noregret.errors import InputError, SettingError

if TYPE_CHECKING:
    from noregret.finite import Bounds, Depths, FiniteRun, HypothesisClass, Player, TreeAdversary


def game(
    source: Annotated[
        str,
        typer.Argument(
            help="A class: a 0/1 matrix (CSV, .npy, Parquet) or a family: thresholds:7. Or linear losses: linear:T,d.",
            metavar="CLASS",
        ),
    ],
    learner: Annotated[
        str | None,
        typer.Option(
            help="soa (default), halving, consistent, or you; against linear losses a linear learner,"
            " name:key=value,… (default: ogd:loss=hinge)."
        ),
    ] = None,
    tie: Annotated[int | None, typer.Option(help="What soa and halving predict on a tie: 1 (default) or 0.")] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            help="The maximum number of rounds; below the tree the game goes on with points still in dispute.", min=1
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            help="Time limit for the search of Littlestone dimensions (default: 60); then the deepest tree found is"
            " played.",
            metavar="S",
        ),
    ] = None,
    radius: Annotated[
        float | None,
        typer.Option(help="Linear losses: the radius U of the comparators, and of the learner (default: 1)."),
    ] = None,
    length: Annotated[
        float | None, typer.Option(help="Linear losses: the length G of every gradient (default: 1).")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the mistake tree and the path played to this file (.png, .svg, .pdf).", metavar="FILE"),
    ] = None,
    picture: Annotated[
        str | None,
        typer.Option(help="What --plot draws: tree (default) or mistakes; of linear losses regret.", metavar="KIND"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Play a learner, or yourself, against the adversary that forces as many mistakes as the Littlestone dimension.

    Example: noregret game thresholds:7 --learner halving
    """
    if is_linear(source):
        _refuse("a class, not linear losses", tie=tie, rounds=rounds, seconds=seconds)
        _linear(source, LinearGameOptions(learner, length, radius), plot, picture, json, quiet)
        return
    _refuse("linear losses, not a class", radius=radius, length=length)
    wanted = ClassGame(source, learner or "soa", tie, rounds, 60.0 if seconds is None else seconds)
    _finite(wanted, plot, picture, json, quiet)


@dataclass(frozen=True)
class ClassGame:
    """What was asked of the game on a class."""

    source: str
    learner: str
    tie: int | None
    rounds: int | None
    seconds: float


def _refuse(what: str, **options: Any) -> None:
    for name, value in options.items():
        if value is not None:
            raise SettingError(f"--{name} is for games of {what}")


def _linear(
    source: str, options: LinearGameOptions, plot: Path | None, picture: str | None, json: bool, quiet: bool
) -> None:
    from noregret.cli.drawing import asked_kind, draw

    kind = asked_kind(plot, picture, ("regret",))
    played = play_linear(source, options)
    draw(played, kind=kind, to=plot)
    answer = answer_of(played)
    if json:
        put_json(answer)
    elif not quiet:
        show_linear(answer)
    leave_if_broken(answer)


def _finite(wanted: ClassGame, plot: Path | None, picture: str | None, json: bool, quiet: bool) -> None:
    from noregret.cli.dim import searching
    from noregret.cli.drawing import asked_kind, draw
    from noregret.cli.solving import checked_seconds
    from noregret.finite import Depths, TreeAdversary, deepest_tree, duel, load_class
    from noregret.summary import counted

    limit = checked_seconds(wanted.seconds)
    kind = asked_kind(plot, picture, ("tree", "mistakes"))
    hypotheses = load_class(wanted.source)
    if not len(hypotheses):
        raise SettingError(f"{wanted.source}: the class is empty, so no label can be given")
    depths = Depths(hypotheses, limit)
    learner, rounds = wanted.learner, wanted.rounds
    player = _player(learner, wanted.tie, hypotheses, depths, silent=json or quiet)
    with searching(quiet) as progress:
        ends, tree = deepest_tree(depths, progress)
    if learner == "soa" and not ends.exact:
        raise SettingError(
            f"soa needs the exact Littlestone dimension, and after {limit:g} s only {ends} is proved: increase"
            " --seconds or choose another learner"
        )
    adversary = TreeAdversary(hypotheses, tree, beyond=rounds is not None)
    if learner == "you" and not (json or quiet):
        print(f"{counted(len(hypotheses), 'hypothesis')}, Littlestone dimension {ends}: answer 0 or 1")
    run = duel(player, adversary, rounds)
    if learner == "you":
        depths.give(limit)  # a person may think as long as they like
    answer = _answer(run, adversary, learner, depths, ends)
    draw(run, kind=kind, to=plot)
    if json:
        put_json(answer)
    elif not quiet:
        _show(answer)
    if any(one["verdict"] == "broken" for one in answer["certificates"]):
        raise typer.Exit(1)


class You:
    """The person at the terminal: a line 0 or 1 a round."""

    name = "you"

    def __init__(self, hypotheses: HypothesisClass, silent: bool) -> None:
        self.hypotheses = hypotheses
        self.version_space = hypotheses.everything
        self._silent = silent

    @property
    def size(self) -> int:
        return self.version_space.bit_count()

    def predict(self, point: Any) -> int:
        from noregret.summary import counted

        if not self._silent:
            print(f"{counted(self.size, 'hypothesis')} left; point {point}? ", end="", flush=True)
        while True:
            line = sys.stdin.readline()
            if not line:
                raise InputError("game over: standard input ended before an answer")
            if line.strip() in ("0", "1"):
                return int(line)
            if not self._silent:
                print("please enter 0 or 1: ", end="", flush=True)

    def learn(self, point: Any, label: int) -> None:
        self.version_space = self.hypotheses.agreeing(self.version_space, point, label)
        if not self._silent:
            print(f"it is {label}")


def _player(learner: str, tie: int | None, hypotheses: HypothesisClass, depths: Depths, silent: bool) -> Player:
    from noregret.finite import SOA, Consistent, Halving

    if tie not in (None, 0, 1):
        raise SettingError(f"--tie must be 0 or 1, got {tie}")
    rule = 1 if tie is None else tie
    voters: dict[str, Callable[[], Player]] = {
        SOA.name: lambda: SOA(hypotheses, rule, depths),
        Halving.name: lambda: Halving(hypotheses, rule),
    }
    others: dict[str, Callable[[], Player]] = {
        Consistent.name: lambda: Consistent(hypotheses),
        You.name: lambda: You(hypotheses, silent),
    }
    if learner not in {**voters, **others}:
        raise SettingError(f"--learner must be soa, halving, consistent or you, got {learner!r}")
    if tie is not None and learner in others:
        raise SettingError(f"--tie does not apply to {learner}: it has no ties")
    return {**voters, **others}[learner]()


def _answer(run: FiniteRun, adversary: TreeAdversary, learner: str, depths: Depths, ends: Bounds) -> dict[str, Any]:
    """The game as plain data, with the dimensions of both parts in every round as far as they were found in time."""
    from noregret.finite.dimension import plain
    from noregret.proof.theorems.finite import certificates

    hypotheses, left, rounds = adversary.hypotheses, adversary.hypotheses.everything, []
    for one in run.rounds:
        parts = [hypotheses.agreeing(left, one.point, label) for label in (0, 1)]
        left = parts[one.label]
        rounds.append(
            {
                "round": one.number,
                "node": one.node,
                "point": plain(one.point),
                "littlestone": [depths.dimension_in_time(part) for part in parts],
                "prediction": int(one.prediction),
                "label": one.label,
                "mistake": one.mistake,
                "version_space": left.bit_count(),
            }
        )
    return {
        "hypotheses": len(hypotheses),
        "points": len(hypotheses.points),
        "littlestone": adversary.tree.depth,
        "littlestone_bounds": ends.to_dict(),
        "learner": learner,
        "rounds": rounds,
        "mistakes": run.mistakes,
        "agrees": hypotheses.name((left & -left).bit_length() - 1),
        "certificates": [one.to_dict() for one in certificates(run)],
    }


def _show(answer: dict[str, Any]) -> None:
    from noregret.cli.show import table
    from noregret.finite import Bounds
    from noregret.summary import at_most, counted, number

    ends = Bounds(**answer["littlestone_bounds"])
    rows = [
        (
            str(one["round"]),
            str(one["node"] or "–"),
            str(one["point"]),
            *("–" if depth is None else str(depth) for depth in one["littlestone"]),
            str(one["prediction"]),
            str(one["label"]),
            number(one["version_space"]),
        )
        for one in answer["rounds"]
    ]
    if rows:
        head = ("round", "node", "point", "Ldim if 0", "Ldim if 1", "prediction", "label", "hypotheses left")
        table(rows, head, title=f"{answer['learner']} against the adversary")
    print(
        f"{counted(answer['mistakes'], 'mistake')} in {counted(len(rows), 'round')},"
        f" Littlestone dimension {ends}; {answer['agrees']} agrees with every label"
    )
    if not ends.exact:
        print("stopped by --seconds: the game used the deepest tree found so far")
    if answer["certificates"]:
        shown = [
            (one["theorem"], at_most(one["bound"]), at_most(one["observed"]), _verdict(one))
            for one in answer["certificates"]
        ]
        table(shown, ("theorem", "bound", "observed", "verdict"))


def _verdict(one: dict[str, Any]) -> str:
    """The verdict; of a bound that holds and cannot be smaller, that it is attained."""
    tight = one["verdict"] == "holds" and one["observed"] == one["bound"]
    return "holds, attained" if tight else str(one["verdict"])
