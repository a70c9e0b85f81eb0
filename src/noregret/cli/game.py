"""`noregret game`: the adversary of a finite class, or fair coins, against a learner or the person at the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.cli.arguments import Group, grouped
from noregret.cli.terminal import put_json
from noregret.errors import InputError, SettingError

if TYPE_CHECKING:
    from noregret.finite import Depths, HypothesisClass, Player

TREE, COINS = "tree", "coins"
Class = Annotated[
    str,
    typer.Argument(
        help="A class: a 0/1 matrix (CSV, .npy, Parquet) or a family: thresholds:7. Or exercise:1, :2, :3; or linear"
        " losses: linear:T,d.",
        metavar="CLASS",
    ),
]


class Asked(Group):
    """Who plays against whom, and what is shown of it."""

    learner: Annotated[
        str | None,
        typer.Option(
            help="soa (default), halving, consistent, expert or you; against coins agnostic or expert; against linear"
            " losses a linear learner, name:key=value,… (default: ogd:loss=hinge)."
        ),
    ] = None
    turns: Annotated[
        str | None,
        typer.Option(
            help="The rounds in which expert predicts the opposite of SOA: 2,5 (default none).", metavar="ROUNDS"
        ),
    ] = None
    tie: Annotated[
        int | None, typer.Option(help="What soa, halving, expert and agnostic predict on a tie: 1 (default) or 0.")
    ] = None
    adversary: Annotated[
        str | None,
        typer.Option(
            help="tree (default): every label against the prediction; coins: fair labels, regret √(Ldim·T/8) at least."
        ),
    ] = None
    rounds: Annotated[
        int | None,
        typer.Option(
            help="The maximum number of rounds; below the tree the game goes on with points still in dispute."
            " Against coins: the rounds of each game (default 128).",
            min=1,
        ),
    ] = None
    games: Annotated[int | None, typer.Option(help="Against coins: how many games (default 200).", min=1)] = None
    seed: Annotated[int | None, typer.Option(help="Against coins: the seed of the coins (default 0).", min=0)] = None
    seconds: Annotated[
        float | None,
        typer.Option(
            help="Time limit for the search of Littlestone dimensions (default: 60); then the deepest tree found is"
            " played.",
            metavar="S",
        ),
    ] = None
    radius: Annotated[
        float | None,
        typer.Option(help="Linear losses: the radius U of the comparators, and of the learner (default: 1)."),
    ] = None
    length: Annotated[
        float | None, typer.Option(help="Linear losses: the length G of every gradient (default: 1).")
    ] = None
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the game, or the games, to this file (.png, .svg, .pdf).", metavar="FILE"),
    ] = None
    picture: Annotated[
        str | None,
        typer.Option(
            help="What --plot draws: tree (default) or mistakes; of coins and linear losses regret.",
            metavar="KIND",
        ),
    ] = None
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False

    def check(self) -> None:
        """What goes together in a game on a class."""
        if self.adversary not in (None, TREE, COINS):
            raise SettingError(f"--adversary must be tree or coins, got {self.adversary!r}")
        if self.tie not in (None, 0, 1):
            raise SettingError(f"--tie must be 0 or 1, got {self.tie}")
        self.refuse("is for games of linear losses, not a class", "radius", "length")
        if self.learner != "expert":
            self.refuse("goes with --learner expert", "turns")
        if self.adversary != COINS:
            self.refuse("goes with --adversary coins", "games", "seed")

    @property
    def limit(self) -> float:
        """How long the search of Littlestone dimensions may take."""
        from noregret.cli.solving import checked_seconds

        return checked_seconds(60.0 if self.seconds is None else self.seconds)

    def refuse(self, why: str, *names: str) -> None:
        """A sentence for the first of these options that was given."""
        from noregret.cli.options import flag

        for name in names:
            if getattr(self, name) is not None:
                raise SettingError(f"{flag(name)} {why}")


@grouped
def game(source: Class, asked: Asked) -> None:
    """Play a learner, or yourself, against the adversary that forces as many mistakes as the Littlestone dimension.

    Example: noregret game thresholds:7 --learner halving
    """
    from noregret.cli.gaming import play_against_linear_losses, play_coins, play_named, play_tree

    if source.startswith("linear:"):
        answer = play_against_linear_losses(source, asked)
    else:
        asked.check()
        named = source.partition(":")[0] == "exercise"
        answer = (play_named if named else play_coins if asked.adversary == COINS else play_tree)(source, asked)
    if asked.json:
        put_json(answer.figures)
    elif not asked.quiet:
        answer.show(answer.figures)
    if any(one["verdict"] == "broken" for one in answer.figures["certificates"]):
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


def make_player(asked: Asked, name: str, hypotheses: HypothesisClass, depths: Depths) -> Callable[[], Player]:
    """What makes a new learner of this name, once no option contradicts it."""
    from noregret.finite import SOA, Consistent, Expert, Halving

    rule, turns = 1 if asked.tie is None else asked.tie, _turns(asked.turns)
    makers: dict[str, Callable[[], Player]] = {
        SOA.name: lambda: SOA(hypotheses, rule, depths),
        Halving.name: lambda: Halving(hypotheses, rule),
        Consistent.name: lambda: Consistent(hypotheses),
        Expert.name: lambda: Expert(hypotheses, turns, rule, depths),
        You.name: lambda: You(hypotheses, asked.json or asked.quiet),
    }
    if name not in makers:
        raise SettingError(f"--learner must be soa, halving, consistent, expert or you, got {name!r}")
    if asked.tie is not None and name in (Consistent.name, You.name):
        raise SettingError(f"--tie does not apply to {name}: it has no ties")
    return makers[name]


def _turns(text: str | None) -> list[int]:
    """The rounds that `2,5` names."""
    words = [] if text is None else text.split(",")
    if not all(word.strip().isascii() and word.strip().isdigit() for word in words):
        raise SettingError(f"--turns must be rounds, counted from 1: 2,5, got {text!r}")
    return [int(word) for word in words]
