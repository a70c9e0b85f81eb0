"""Regret against promise: after 1, 2, 4, … rounds, what was lost by not knowing the best weights, and what could be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from noregret.learner import OnlineGradientDescent
from noregret.proof.certify import certify
from noregret.protocol import play
from noregret.summary import at_least, at_most
from noregret.tour.stage import Canvas, Stage

ROUNDS = 512
RADIUS = 3.0
PROMISE = "ogd-linearised"


def stream() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows in a square; a line decides the label, and about one label in ten is flipped."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1.0, 1.0, size=(ROUNDS, 2))
    y = np.where((X @ [1.0, -0.5] > 0.0) ^ (rng.random(ROUNDS) < 0.1), 1.0, -1.0)
    return X, y


def show(stage: Stage) -> None:
    data = stream()
    stage.say(
        f"Gradient descent on {ROUNDS} noisy rounds. The regret is how much more it loses than the best fixed weights,",
        "chosen after all labels are known. A solver finds these weights and bounds their loss from both sides.",
    )
    receipt = certify(play(OnlineGradientDescent(loss="logistic", radius=RADIUS), data), data, anytime=True)
    points = sorted(receipt.entries, key=lambda entry: int(entry["rounds"]))
    stage.scene(frames(points), 0.5)
    last = points[-1]
    stage.say(
        f"Certified after {ROUNDS} rounds: regret between {at_least(last['lower'])} and {at_most(last['upper'])}.",
        f"The bound from theory is {at_most(last['bounds'][PROMISE])}. Try it on your own data:",
    )
    stage.say("noregret learn FILE --learner ogd --loss logistic --radius 3 --certify", style="bold")


def frames(points: list[dict[str, Any]]) -> Iterator[list[Text]]:
    """One point more in every picture."""
    for many in range(1, len(points) + 1):
        yield frame(points[:many], points)


def frame(shown: list[dict[str, Any]], points: list[dict[str, Any]]) -> list[Text]:
    """Rounds by doubling to the right, the sum upwards."""
    top = 1.1 * max(float(entry["bounds"][PROMISE]) for entry in points)
    canvas = Canvas(60, 12, (0.0, math.log2(ROUNDS)), (0.0, top))
    for entry in shown:
        x = math.log2(entry["rounds"])
        canvas.put(x, float(entry["bounds"][PROMISE]), "▔", "yellow")
        canvas.put(x, float(entry["upper"]), "●", "bold blue")
    sides = [f"{top:>7.1f} ┤", *["        │"] * (canvas.height - 1)]
    lines = [Text(side).append(line) for side, line in zip(sides, canvas.lines(), strict=True)]
    lines += [Text("      0 └" + "─" * 60), Text(f"         1 round, then 2, 4, 8, …{ROUNDS:>35,}"), legend(shown[-1])]
    return lines


def legend(now: dict[str, Any]) -> Text:
    """What the marks are, and their figures now."""
    promised = at_most(now["bounds"][PROMISE])
    after = f" after {now['rounds']}: {at_most(now['upper'])}"
    text = Text("● regret", style="bold blue").append(after, style="default")
    return text.append("   ▔ bound", style="yellow").append(f": at most {promised}", style="default")
