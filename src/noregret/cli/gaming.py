"""The games of `noregret game`: down a tree, against fair coins, of exercises, of linear losses; as data and tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from noregret.cli.drawing import asked_kind, draw
from noregret.cli.game import Asked, You, make_player
from noregret.errors import SettingError
from noregret.finite import (
    SOA,
    Agnostic,
    Bounds,
    CoinGames,
    Depths,
    Expert,
    FiniteRun,
    HypothesisClass,
    MistakeTree,
    Player,
    TreeAdversary,
    coin_games,
    deepest_tree,
    duel,
    exercise,
    load_class,
    play_exercise,
)
from noregret.finite.coins import CONFIDENCE
from noregret.finite.dimension import plain
from noregret.proof.theorems.finite import agnostic_bound, certificates, coin_certificate
from noregret.summary import at_least, at_most, counted, number

ROUNDS, GAMES = 128, 200  # against coins, where no other number is asked for


@dataclass(frozen=True)
class Answer:
    """What came of a game, as `--json` prints it, and what shows it as tables."""

    figures: dict[str, Any]
    show: Callable[[dict[str, Any]], None]


# -- down the tree -----------------------------------------------------------------------------------------------------


def play_tree(source: str, asked: Asked) -> Answer:
    """A learner, or a person, against the adversary that walks down the deepest tree."""
    kind = asked_kind(asked.plot, asked.picture, ("tree", "mistakes"))
    hypotheses, depths = _class(source, asked.limit)
    name = asked.learner or "soa"
    make = make_player(asked, name, hypotheses, depths)
    ends, tree = _searched(asked, depths, name if name in (SOA.name, Expert.name) else None)
    adversary = TreeAdversary(hypotheses, tree, beyond=asked.rounds is not None)
    if name == You.name and not (asked.json or asked.quiet):
        print(f"{counted(len(hypotheses), 'hypothesis')}, Littlestone dimension {ends}: answer 0 or 1")
    run = duel(make(), adversary, asked.rounds)
    if name == You.name:
        depths.give(asked.limit)  # a person may think as long as they like
    draw(run, kind=kind, to=asked.plot)
    return Answer(_figures(run, hypotheses, name, depths, ends), _show_game)


def _class(source: str, limit: float) -> tuple[HypothesisClass, Depths]:
    hypotheses = load_class(source)
    if not len(hypotheses):
        raise SettingError(f"{source}: the class is empty, so no label can be given")
    return hypotheses, Depths(hypotheses, limit)


def _searched(asked: Asked, depths: Depths, needs: str | None) -> tuple[Bounds, MistakeTree]:
    """The deepest tree found in time; refused where the learner, named here, `needs` the exact dimension."""
    from noregret.cli.dim import searching

    with searching(asked.quiet) as progress:
        ends, tree = deepest_tree(depths, progress)
    if needs is not None and not ends.exact:
        raise SettingError(
            f"{needs} needs the exact Littlestone dimension, and after {asked.limit:g} s only {ends} is proved:"
            " increase --seconds or choose another learner"
        )
    return ends, tree


def _figures(run: FiniteRun, hypotheses: HypothesisClass, learner: str, depths: Depths, ends: Bounds) -> dict[str, Any]:
    """The game as plain data, with the dimensions of both parts in every round as far as they were found in time."""
    left, rounds = hypotheses.everything, []
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
        "littlestone": ends.lower,
        "littlestone_bounds": ends.to_dict(),
        "learner": learner,
        "rounds": rounds,
        "mistakes": run.mistakes,
        "agrees": hypotheses.name((left & -left).bit_length() - 1),
        "certificates": [one.to_dict() for one in certificates(run)],
    }


def _show_game(answer: dict[str, Any]) -> None:
    from noregret.cli.show import table

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
        table(rows, head, title=f"{answer['learner']} against {answer.get('against', 'the adversary')}")
    print(
        f"{counted(answer['mistakes'], 'mistake')} in {counted(len(rows), 'round')},"
        f" Littlestone dimension {ends}; {answer['agrees']} agrees with every label"
    )
    if not ends.exact:
        print("stopped by --seconds: the game used the deepest tree found so far")
    _show_certificates(answer)


def _show_certificates(answer: dict[str, Any]) -> None:
    from noregret.cli.show import table

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


# -- the exercises -----------------------------------------------------------------------------------------------------


def play_named(source: str, asked: Asked) -> Answer:
    """The game of an exercise: its class, its learner unless another is asked for, its sequence or adversary."""
    found, points = exercise(source)
    asked.refuse(f"does not go with exercise:{found.number}: its game is given", "adversary", "rounds")
    kind = asked_kind(asked.plot, asked.picture, ("mistakes", "tree") if found.number == 2 else ("mistakes",))
    hypotheses, depths = _class(f"{found.family}:{points}", asked.limit)
    name = asked.learner or found.learner
    make = make_player(asked, name, hypotheses, depths)
    ends, tree = _searched(asked, depths, needs=source)
    run = play_exercise(found, hypotheses, make, tree)
    draw(run, kind=kind, to=asked.plot)
    figures = _figures(run, hypotheses, name, depths, ends)
    figures |= {"exercise": found.number, "against": AGAINST[found.number], "claim": found.claim}
    figures["claimed"] = found.mistakes(points) if name == found.learner else None
    return Answer(figures, _show_exercise)


AGAINST = {1: "the points in order", 2: "the adversary", 3: "a sequence that costs it the most mistakes"}


def _show_exercise(answer: dict[str, Any]) -> None:
    print(f"exercise {answer['exercise']}: {answer['claim']}")
    _show_game(answer)
    if answer["claimed"] is not None:
        print(f"claimed and played: {answer['claimed']} and {answer['mistakes']}")
    if answer["exercise"] == 3:
        print("every version space that points and labels lead to was searched: no sequence costs it more mistakes")


# -- against coins -----------------------------------------------------------------------------------------------------


def play_coins(source: str, asked: Asked) -> Answer:
    """Many games against fair coins, each with a new learner."""
    kind = asked_kind(asked.plot, asked.picture, ("regret",))
    hypotheses, depths = _class(source, asked.limit)
    name, rounds = asked.learner or Agnostic.name, asked.rounds or ROUNDS
    make = _against_coins(asked, name, hypotheses, depths, rounds)
    _, tree = _searched(asked, depths, needs=name)
    games = coin_games(make, hypotheses, rounds, asked.games or GAMES, asked.seed or 0, tree)
    draw(games, kind=kind, to=asked.plot)
    return Answer(_coin_figures(games, make()), _show_coins)


def _against_coins(
    asked: Asked, name: str, hypotheses: HypothesisClass, depths: Depths, rounds: int
) -> Callable[[], Player]:
    """What makes a learner that takes any labels."""
    if name == Agnostic.name:
        rule = 1 if asked.tie is None else asked.tie
        return lambda: Agnostic(hypotheses, rounds, rule, depths)
    maker = make_player(asked, name, hypotheses, depths)
    if name != Expert.name:
        raise SettingError(
            f"--learner {name} needs labels that some hypothesis gives, and coins give others: use agnostic or expert"
        )
    return maker


def _coin_figures(games: CoinGames, learner: Player) -> dict[str, Any]:
    known, regrets = games.hypotheses, games.regrets
    promise = agnostic_bound(learner).hi if isinstance(learner, Agnostic) else None
    return {
        "hypotheses": len(known),
        "points": len(known.points),
        "littlestone": games.tree.depth,
        "learner": games.learner,
        "rounds": games.rounds,
        "blocks": list(games.blocks),
        "games": len(regrets),
        "seed": games.seed,
        "regret": {
            "mean": games.mean,
            "standard_error": games.standard_error,
            "confidence": CONFIDENCE,
            "lower": games.mean - games.half_width,
            "upper": games.mean + games.half_width,
            "least": min(regrets),
            "most": max(regrets),
        },
        "expected": float(games.expected),
        "bound": games.bound,
        "promise": promise,
        "certificates": [coin_certificate(games).to_dict()],
    }


def _show_coins(answer: dict[str, Any]) -> None:
    from noregret.cli.show import table

    told, sure = answer["regret"], f"{100 * CONFIDENCE:g} %"
    longest, shortest = answer["blocks"][0], answer["blocks"][-1]
    lengths = number(longest) if longest == shortest else f"{number(longest)} or {number(shortest)}"
    rows = [
        ("Littlestone dimension, and blocks of a game", number(answer["littlestone"])),
        ("  rounds of a block", lengths),
        ("regret, mean of the games", number(told["mean"])),
        ("  standard error", number(told["standard_error"])),
        (f"  {sure} confidence, at least", at_least(told["lower"])),
        (f"  {sure} confidence, at most", at_most(told["upper"])),
        ("  least and most of a game", f"{number(told['least'])} to {number(told['most'])}"),
        ("expected regret of any learner", number(answer["expected"])),
        ("lower bound √(Ldim·T/8)", at_least(answer["bound"])),
    ]
    if answer["promise"] is not None:
        rows.append(("upper bound of agnostic-littlestone", at_most(answer["promise"])))
    games = f"{counted(answer['games'], 'game')} of {counted(answer['rounds'], 'round')}"
    table(rows, title=f"{answer['learner']} against fair coins: {games}, seed {answer['seed']}")
    print("the confidence interval is Azuma's: it holds for fair, independent coins, which no run can check;")
    print("the expected regret is computed, not measured: half the mean distance of a fair walk, block by block")
    _show_certificates(answer)


# -- linear losses -----------------------------------------------------------------------------------------------------


def play_against_linear_losses(source: str, asked: Asked) -> Answer:
    """A linear learner against the adversary that leaves none a regret below U·G·√T."""
    from noregret.cli.linear_game import LinearGameOptions, answer_of, play_linear, show

    ours = ("tie", "rounds", "seconds", "turns", "adversary", "games", "seed")
    asked.refuse("is for games of a class, not linear losses", *ours)
    kind = asked_kind(asked.plot, asked.picture, ("regret",))
    played = play_linear(source, LinearGameOptions(asked.learner, asked.length, asked.radius))
    draw(played, kind=kind, to=asked.plot)
    return Answer(answer_of(played), show)
