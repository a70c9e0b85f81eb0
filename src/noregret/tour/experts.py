"""Five experts: following the best of them without knowing which it is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from noregret.experts import Hedge
from noregret.proof.theorems.experts import certificates
from noregret.tour.stage import Stage, bar, spark

NAMES = ("Ada", "Bruno", "Carla", "Dario", "Emil")
ROUNDS = 240


def costs() -> NDArray[np.float64]:
    """What each expert's forecast costs in each round: Bruno starts well, Dario is the best in the end."""
    rng = np.random.default_rng(5)
    table = rng.random((ROUNDS, len(NAMES))) * [0.8, 0.8, 1.0, 0.55, 1.0]
    table[: ROUNDS // 4, 1] *= 0.6
    table[: ROUNDS // 4, 3] += 0.3
    return table


def show(stage: Stage) -> None:
    table = costs()
    game = Hedge(len(NAMES)).play(table)
    stage.say(
        "Five experts give advice. In each round, the advice of each one costs between 0 and 1. Hedge follows them",
        "with weights that shrink as an expert's total cost grows. It does not know who will turn out best.",
    )
    stage.scene(frames(table, game.weights, game.losses), 0.12)
    bound = next(one.bound for one in certificates(game.contest) if one.theorem == "hedge-anytime-closed")
    stage.say(
        f"The blend cost {game.loss:.1f}, the best expert ({NAMES[game.best]}) {table[:, game.best].sum():.1f}:",
        f"a regret of {game.regret.hi:.1f}. Theory guarantees at most √(T ln N) = {bound:.1f}, whatever the costs.",
        f"That is {(bound or 0.0) / ROUNDS:.3f} per round, and it goes to 0 as the game gets longer.",
    )


def frames(table: NDArray[np.float64], weights: NDArray[np.float64], own: NDArray[np.float64]) -> Iterator[list[Text]]:
    """The weights now, and over time, every few rounds."""
    totals, blend = table.cumsum(axis=0), own.cumsum()
    for t in [*range(0, ROUNDS, 6), ROUNDS - 1]:
        leader = int(totals[t].argmin())
        lines = [Text(f"{f'round {t + 1} of {ROUNDS}: weights':<44} cost so far", style="dim")]
        for i, name in enumerate(NAMES):
            now = f"{name:<6} {bar(weights[t, i], 32):<32} {weights[t, i]:.2f} {totals[t, i]:>10.1f}"
            lines.append(Text(now, style="bold" if i == leader else ""))
        lines.append(Text(f"{'blend':<6} {'':<37} {blend[t]:>10.1f}"))
        lines.append(Text("weights over time", style="dim"))
        for i, name in enumerate(NAMES):
            story = spark(weights[: t + 1, i].tolist(), max(1, 60 * (t + 1) // ROUNDS))
            lines.append(Text(f"{name:<6} {story}", style="bold" if i == leader else ""))
        yield lines
