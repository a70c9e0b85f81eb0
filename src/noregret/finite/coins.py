"""Fair coins down a shattered tree: no learner's expected regret is below √(Ldim·T/8), whatever it does.

The T rounds are cut into Ldim blocks, as equal as can be. A block shows the point of one node, and every label is a
fair coin; the label that came more often leads to the next node, i ← 2i + y. Every prediction costs ½ on average, so
any learner loses T/2. Some hypothesis agrees with the majority of every block and errs Σ min(zeros, ones) times; none
errs less often, for every block shows one point. With S_k the sum of k signs the expected regret is exactly
Σ E|S_k|/2 over the blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from noregret import arithmetic
from noregret.errors import SettingError, spelled
from noregret.finite.dimension import Depths, MistakeTree, mistake_tree, shatters_tree
from noregret.finite.hypotheses import HypothesisClass
from noregret.finite.playing import Player, duel

CONFIDENCE = 0.95


def even_blocks(rounds: int, depth: int) -> tuple[int, ...]:
    """The lengths of the blocks, the longer ones first.

    >>> even_blocks(11, 3)
    (4, 4, 3)
    """
    return tuple(rounds // depth + (level < rounds % depth) for level in range(depth))


def mean_distance(steps: int) -> Fraction:
    """E|S_k| of a fair walk of k steps: 2k·C(k−1, ⌊(k−1)/2⌋)/2^k, never below √(k/2).

    >>> [str(mean_distance(k)) for k in (1, 2, 3, 4)]
    ['1', '1', '3/2', '3/2']
    """
    return Fraction(2 * steps * math.comb(steps - 1, (steps - 1) // 2), 2**steps) if steps else Fraction(0)


class CoinAdversary:
    """Shows the point of a node for a block of rounds, each with a fair label; the majority leads to the next node."""

    def __init__(
        self, hypotheses: HypothesisClass, rounds: int, rng: np.random.Generator, tree: MistakeTree | None = None
    ) -> None:
        self.hypotheses = hypotheses
        self.tree = mistake_tree(Depths(hypotheses)) if tree is None else tree
        _check(hypotheses, self.tree, rounds)
        self.blocks = even_blocks(rounds, self.tree.depth)
        self.rounds = rounds
        self._coins = rng.integers(2, size=rounds).tolist()
        self.node: int | None = 1
        self.best = 0  # mistakes of the best hypothesis, of the blocks that are over
        self._block, self._ones, self._shown, self._played = 0, 0, 0, 0

    def point(self) -> Hashable | None:
        """The point of this round; None when the game is over."""
        return None if self.node is None else self.tree.point(self.node)

    def answer(self, prediction: float) -> int:
        """A fair label, whatever was predicted."""
        if self.node is None:
            raise SettingError("CoinAdversary: the game is over")
        label = int(self._coins[self._played])
        self._played += 1
        self._ones += label
        self._shown += 1
        if self._shown == self.blocks[self._block]:
            self._turn(self.node)
        return label

    def _turn(self, node: int) -> None:
        zeros = self._shown - self._ones
        self.best += min(zeros, self._ones)
        self.node = 2 * node + (self._ones > zeros) if self._played < self.rounds else None
        self._block, self._ones, self._shown = self._block + 1, 0, 0


def _check(hypotheses: HypothesisClass, tree: MistakeTree, rounds: int) -> None:
    if not tree.depth:
        raise SettingError("fair coins need a class of Littlestone dimension 1 or more: here no point is in dispute")
    if rounds < tree.depth:
        raise SettingError(
            f"{spelled('rounds')} must be at least the depth of the tree, {tree.depth}, so that every block has a"
            f" round, got {rounds}"
        )
    if not shatters_tree(hypotheses, tree):
        raise SettingError("CoinAdversary: the class must shatter the tree, so that some hypothesis takes every turn")


@dataclass(frozen=True)
class CoinGames:
    """Many games of one kind of learner against fair coins, each with labels of its own."""

    hypotheses: HypothesisClass
    tree: MistakeTree
    rounds: int  # of each game
    seed: int
    learner: str
    losses: tuple[float, ...]  # Σ|p − y| of each game
    best: tuple[int, ...]  # mistakes of the best hypothesis in each

    def __repr__(self) -> str:
        return f"<CoinGames: {len(self.losses)} of {self.rounds} rounds, mean regret {self.mean:.4g}>"

    @property
    def blocks(self) -> tuple[int, ...]:
        """The lengths of the blocks."""
        return even_blocks(self.rounds, self.tree.depth)

    @property
    def regrets(self) -> tuple[float, ...]:
        """Loss minus that of the best hypothesis, game by game."""
        return tuple(loss - best for loss, best in zip(self.losses, self.best, strict=True))

    @property
    def mean(self) -> float:
        """The mean regret of the games."""
        return math.fsum(self.regrets) / len(self.regrets)

    @property
    def standard_error(self) -> float:
        """The standard error of that mean; 0 of a single game."""
        games, mean = len(self.regrets), self.mean
        spread = math.fsum((one - mean) ** 2 for one in self.regrets) / max(games - 1, 1)
        return math.sqrt(spread / games)

    @property
    def half_width(self) -> float:
        """√(2T ln(2/δ)/N): with fair and independent coins, the mean of N games is further than that from the expected
        regret with probability δ = 0.05 at most. Each coin moves the conditional expectation of a game's regret by 1 at
        most: the loss by |p − ½| ≤ ½, the best hypothesis by ½ (Azuma)."""
        return math.sqrt(2.0 * self.rounds * arithmetic.log(2.0 / (1.0 - CONFIDENCE)) / len(self.losses))

    @property
    def expected(self) -> Fraction:
        """E[regret] of any learner, exactly: Σ E|S_k|/2 over the blocks."""
        return sum((mean_distance(k) for k in self.blocks), start=Fraction(0)) / 2

    @property
    def bound(self) -> float:
        """√(Ldim·T/8)."""
        return math.sqrt(self.tree.depth * self.rounds / 8.0)


def coin_games(
    make: Callable[[], Player],
    hypotheses: HypothesisClass,
    rounds: int,
    games: int = 200,
    seed: int = 0,
    tree: MistakeTree | None = None,
) -> CoinGames:
    """Play a new learner, made by `make`, in each of many games against fair coins; game i has the seed (seed, i).

    >>> from noregret.finite import Agnostic, Depths, family
    >>> line = family("thresholds:7")
    >>> found = coin_games(lambda: Agnostic(line, 24), line, 24, games=3)
    >>> float(found.expected), found.bound
    (3.28125, 3.0)
    """
    if games < 1:
        raise SettingError(f"{spelled('games')} must be at least 1, got {games}")
    if seed < 0:
        raise SettingError(f"{spelled('seed')} must be at least 0, got {seed}")
    tree = mistake_tree(Depths(hypotheses)) if tree is None else tree
    losses, best, name = [], [], ""
    for number in range(games):
        learner = make()
        adversary = CoinAdversary(hypotheses, rounds, np.random.default_rng([seed, number]), tree)
        losses.append(duel(learner, adversary).loss)
        best.append(adversary.best)
        name = str(getattr(learner, "name", type(learner).__name__))
    return CoinGames(hypotheses, tree, rounds, seed, name, tuple(losses), tuple(best))
