"""The perceptron on two clouds: every mistake turns the line, and their number is limited."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from noregret.learner import Perceptron
from noregret.protocol import play
from noregret.task.separate import separate
from noregret.tour.stage import Canvas, Stage, bar

Points = NDArray[np.float64]
ROUNDS, PASSES = 36, 3
LONGEST, GAP = 1.9, 0.2
SEED = 29
TILT = np.array([0.8, 0.6])  # the direction that tells the clouds apart


def clouds() -> tuple[Points, Points]:
    """Points on both sides of a line through 0, none nearer to it than the gap."""
    rng = np.random.default_rng(SEED)
    X = rng.normal(scale=0.9, size=(40 * ROUNDS, 2))
    X = X[(np.abs(X @ TILT) > GAP) & (np.linalg.norm(X, axis=1) < LONGEST)][:ROUNDS]
    X = X[np.argsort(np.abs(X @ TILT))]  # the hard ones first, so that there is something to see
    return X, np.sign(X @ TILT)


def show(stage: Stage) -> None:
    X, y = clouds()
    found = separate((X, y))
    limit = found.mistake_bound or 0
    stage.say(
        "Points arrive one by one. The perceptron predicts which side of its line each one is on. It turns the",
        "line only after a mistake. How often can that happen?",
    )
    stage.scene(frames(X, y, limit), 0.45)
    stage.say(
        f"The best separating line has a margin of γ ≈ {found.margin.hi:.3f}, and every point is within",
        f"R = {found.radius.hi:.2f} of the centre. So there can be at most R²/γ² = {limit} mistakes, in any order and",
        "over any number of passes (Novikoff 1962).",
    )


def frames(X: Points, y: Points, limit: int) -> Iterator[list[Text]]:
    """The line after every mistake, and at the end."""
    learner = Perceptron()
    mistakes = 0
    for t in range(PASSES * len(X)):
        at = t % len(X)
        run = play(learner, (X[at : at + 1], y[at : at + 1]))
        if (run.mistakes or 0) > mistakes:
            mistakes = run.mistakes or 0
            said = f"round {t + 1}: a mistake at X turns the line"
            yield [*drawn(X, y, learner.weights, at), *counted(said, mistakes, limit)]
    said = f"{PASSES * len(X)} rounds, each point seen {PASSES} times"
    yield [*drawn(X, y, learner.weights, None), *counted(said, mistakes, limit)]


def drawn(X: Points, y: Points, w: Points, at: int | None) -> list[Text]:
    """The points and the line; the point of a mistake is an X."""
    canvas = Canvas(54, 13, (-LONGEST, LONGEST), (-LONGEST, LONGEST))
    for place, ((a, b), label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        mark, style = ("+", "bold blue") if label > 0 else ("o", "bold yellow")
        canvas.put(a, b, "X" if place == at else mark, "bold red" if place == at else style)
    canvas.line([float(w[0]), float(w[1])], "·", "dim")
    return canvas.lines()


def counted(said: str, mistakes: int, limit: int) -> list[Text]:
    """The mistakes beside what was promised."""
    promised = Text(f"at most   {bar(1.0, 40)} {limit}", style="dim")
    return [Text(said), Text(f"mistakes  {bar(mistakes / limit, 40)} {mistakes}"), promised]
