"""Games against fair coins: the regret of each, the mean, and what no learner's expected regret is below."""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret.finite import CoinGames
from noregret.finite.coins import CONFIDENCE
from noregret.picture.canvas import COLOURS, plain_frame
from noregret.summary import at_least

BINS = 24


def coin_axes(axes: Any, games: CoinGames) -> Any:
    """A histogram of the regrets; the mean with its confidence, the expected regret, and √(Ldim·T/8)."""
    regrets = np.array(games.regrets)
    axes.hist(regrets, bins=min(BINS, len(regrets)), color="0.85", edgecolor="0.6", linewidth=0.6)
    low, high = games.mean - games.half_width, games.mean + games.half_width
    axes.axvspan(low, high, color=COLOURS[0], alpha=0.15, linewidth=0.0, label=f"{100 * CONFIDENCE:g} % confidence")
    axes.axvline(games.mean, color=COLOURS[0], label=f"mean of {len(regrets):,} games: {games.mean:.4g}")
    expected = float(games.expected)
    axes.axvline(expected, color="black", linewidth=1.2, label=f"expected of any learner: {expected:.4g}")
    least = f"√(Ldim·T/8): {at_least(games.bound)}"
    axes.axvline(games.bound, color=COLOURS[1], linestyle="--", label=least)
    axes.set_xlabel(f"regret of {games.learner} after {games.rounds:,} rounds of fair coins")
    axes.set_ylabel("games")
    axes.legend(fontsize=8, frameon=False)
    plain_frame(axes)
    return axes
