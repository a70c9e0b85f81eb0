"""`noregret game`: the adversary of a finite class against a learner, or against the person at the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.errors import InputError, SettingError

if TYPE_CHECKING:
    from noregret.finite import Depths, FiniteRun, HypothesisClass, Player, TreeAdversary


def game(
    source: Annotated[
        str,
        typer.Argument(help="A class: a 0/1 matrix (CSV, .npy, Parquet) or a family: thresholds:7.", metavar="CLASS"),
    ],
    learner: Annotated[str, typer.Option(help="soa (default), halving, consistent, or you.")] = "soa",
    tie: Annotated[int | None, typer.Option(help="What soa and halving predict at a tie: 1 (default) or 0.")] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            help="At most so many rounds; beyond the tree the game goes on with points still in dispute.", min=1
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Play the adversary, which forces as many mistakes as the Littlestone dimension, against a learner or yourself.

    Example: noregret game thresholds:7 --learner halving
    """
    from noregret.cli.dim import searching
    from noregret.finite import Depths, TreeAdversary, duel, load_class, mistake_tree

    hypotheses = load_class(source)
    if not len(hypotheses):
        raise SettingError(f"{source}: the class is empty, so no label can be given")
    depths = Depths(hypotheses)
    player = _player(learner, tie, hypotheses, depths, silent=json or quiet)
    with searching(quiet) as told:
        tree = mistake_tree(depths, told)
    adversary = TreeAdversary(hypotheses, tree, beyond=rounds is not None)
    if learner == "you" and not (json or quiet):
        print(f"{len(hypotheses):,} hypotheses, Littlestone dimension {tree.depth}: answer 0 or 1")
    run = duel(player, adversary, rounds)
    answer = _answer(run, adversary, learner, depths)
    if json:
        import msgspec

        print(msgspec.json.encode(answer).decode())
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
        if not self._silent:
            print(f"{self.size:,} hypotheses left; point {point}? ", end="", flush=True)
        while True:
            line = sys.stdin.readline()
            if not line:
                raise InputError("the game was left: standard input ended before an answer")
            if line.strip() in ("0", "1"):
                return int(line)
            if not self._silent:
                print("0 or 1, please: ", end="", flush=True)

    def learn(self, point: Any, label: int) -> None:
        self.version_space = self.hypotheses.agreeing(self.version_space, point, label)
        if not self._silent:
            print(f"it is {label}")


def _player(learner: str, tie: int | None, hypotheses: HypothesisClass, depths: Depths, silent: bool) -> Player:
    from noregret.finite import SOA, Consistent, Halving

    if tie not in (None, 0, 1):
        raise SettingError(f"--tie must be 0 or 1, got {tie}")
    if tie is not None and learner in ("consistent", "you"):
        raise SettingError(f"--tie: {learner} knows no ties")
    rule = 1 if tie is None else tie
    if learner == "soa":
        return SOA(hypotheses, rule, depths)
    if learner == "halving":
        return Halving(hypotheses, rule)
    if learner == "consistent":
        return Consistent(hypotheses)
    if learner == "you":
        return You(hypotheses, silent)
    raise SettingError(f"--learner must be soa, halving, consistent or you, got {learner!r}")


def _answer(run: FiniteRun, adversary: TreeAdversary, learner: str, depths: Depths) -> dict[str, Any]:
    """The game as plain data, the dimensions of both parts in every round included."""
    from noregret.finite.dimension import plain
    from noregret.theorem.finite import certificates

    hypotheses, left, rounds = adversary.hypotheses, adversary.hypotheses.everything, []
    for one in run.rounds:
        parts = [hypotheses.agreeing(left, one.point, label) for label in (0, 1)]
        left = parts[one.label]
        rounds.append(
            {
                "round": one.number,
                "node": one.node,
                "point": plain(one.point),
                "littlestone": [depths.dimension(part) for part in parts],
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
        "learner": learner,
        "rounds": rounds,
        "mistakes": run.mistakes,
        "agrees": hypotheses.name((left & -left).bit_length() - 1),
        "certificates": [one.to_dict() for one in certificates(run)],
    }


def _show(answer: dict[str, Any]) -> None:
    from noregret.cli.show import at_most, number, table

    rows = [
        (
            str(one["round"]),
            str(one["node"] or "–"),
            str(one["point"]),
            *map(str, one["littlestone"]),
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
        f"{_counted(answer['mistakes'], 'mistake')} in {_counted(len(rows), 'round')},"
        f" Littlestone dimension {answer['littlestone']}; {answer['agrees']} agrees with every label"
    )
    if answer["certificates"]:
        shown = [
            (one["theorem"], at_most(one["bound"]), at_most(one["observed"]), one["verdict"])
            for one in answer["certificates"]
        ]
        table(shown, ("theorem", "bound", "observed", "verdict"))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
