"""`noregret game linear:T`: the adversary of linear losses against one of our learners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from noregret.errors import SettingError

if TYPE_CHECKING:
    from noregret.adversary import LinearGame

NAME = "linear:"
SPEC = "ogd:loss=hinge"


@dataclass(frozen=True)
class LinearGameOptions:
    """What was asked of a linear game; None where nothing was."""

    learner: str | None
    length: float | None
    radius: float | None


def sizes_of(source: str) -> tuple[int, int]:
    """Rounds and dimensions of `linear:T` or `linear:T,d`."""
    parts = source.removeprefix(NAME).split(",")
    if len(parts) > 2 or not all(part.strip().isascii() and part.strip().isdigit() for part in parts):
        raise SettingError(f"a linear game is linear:T or linear:T,d, T rounds in d dimensions, got {source}")
    rounds, features = (*(int(part) for part in parts), 3)[:2]
    return rounds, features


def play_linear(source: str, options: LinearGameOptions) -> LinearGame:
    """The game that was asked for."""
    from noregret.adversary import linear_game
    from noregret.cli.compare import parse

    rounds, features = sizes_of(source)
    radius = 1.0 if options.radius is None else options.radius
    core = parse(options.learner or SPEC, radius, {})
    length = 1.0 if options.length is None else options.length
    return linear_game(core, rounds, features=features, length=length, radius=radius)


def answer_of(game: LinearGame) -> dict[str, Any]:
    """The game as plain data."""
    from noregret.proof.theorems.linear_game import certificate

    found = certificate(game)
    return {
        "game": "linear",
        "rounds": len(game),
        "features": game.gradients.shape[1],
        "length": game.length,
        "radius": game.radius,
        "learner": game.learner,
        "regret": {"lower": game.regret.lo, "upper": game.regret.hi},
        "every_learner_at_least": found.observed,
        "gradient_descent_at_most": game.guaranteed,
        "certificates": [found.to_dict()],
    }


def show(answer: dict[str, Any]) -> None:
    from noregret.cli.show import table
    from noregret.summary import at_least, at_most, number

    print(f"{answer['learner']} against the adversary of linear losses")
    least, most, regret = answer["every_learner_at_least"], answer["gradient_descent_at_most"], answer["regret"]
    rows = [
        ("rounds T", number(answer["rounds"])),
        ("dimensions", number(answer["features"])),
        ("length of the gradients G", number(answer["length"])),
        ("radius of the comparators U", number(answer["radius"])),
        ("regret, from", at_least(regret["lower"])),
        ("  to", at_most(regret["upper"])),
        ("every learner has at least U·G·√T", "–" if least is None else at_least(least)),
        ("gradient descent has at most U·G·√(8T)", at_most(most)),
    ]
    table(rows)
    (one,) = answer["certificates"]
    print(f"{one['theorem']}: {one['verdict']}")
