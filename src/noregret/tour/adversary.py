"""You against the adversary: it names the label after hearing your guess, and never lies."""

from __future__ import annotations

from noregret.finite import SOA, Depths, HypothesisClass, TreeAdversary, family
from noregret.tour.stage import Stage

POINTS = 15
CLASS = f"thresholds:{POINTS}"


def show(stage: Stage) -> None:
    hypotheses = family(CLASS)
    depths = Depths(hypotheses)
    best, adversary = SOA(hypotheses, 1, depths), TreeAdversary(hypotheses)
    stage.say(
        f"There is a threshold somewhere among {POINTS} points: points left of it are 1, the others 0. The adversary",
        "shows a point, you guess its label, and it reveals the true one. The catch: the adversary fixes the threshold",
        "only as far as it must.",
    )
    stage.say("")
    rounds = mistakes = 0
    while (point := adversary.point()) is not None:
        rounds += 1
        stage.say(known(hypotheses, adversary.possible, point))
        answer = stage.ask(f"round {rounds}: is point {point} a 0 or a 1?", ("0", "1"))
        guess = int(best.predict(point)) if answer is None else int(answer)
        label = adversary.answer(guess)
        best.learn(point, label)
        mistakes += label != guess
        who = "the optimal learner says" if answer is None else "you say"
        stage.say(f"round {rounds}: {who} {guess}. It is {label}.", style="red" if label != guess else "green")
    left = hypotheses.name((adversary.possible & -adversary.possible).bit_length() - 1)
    stage.say("")
    stage.say(
        f"{mistakes} mistakes in {rounds} rounds, and every answer was true: threshold {left.removeprefix('h')} agrees",
        f"with each label. The Littlestone dimension of these {len(hypotheses)} thresholds is {adversary.tree.depth}:",
        "the adversary can force that many mistakes on anyone, and the optimal learner (SOA) never makes more.",
    )


def known(hypotheses: HypothesisClass, possible: int, point: object) -> str:
    """Every point with its label, where the thresholds still possible agree on it."""
    cells = []
    for place in hypotheses.points:
        told = [label for label in (0, 1) if hypotheses.agreeing(possible, place, label)]
        mark = "?" if len(told) == 2 else str(told[0])
        cells.append(f"[{mark}]" if place == point else f" {mark} ")
    return "points " + "".join(cells)
