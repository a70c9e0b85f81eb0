"""What is promised of a finite class H: mistakes of its learners where some hypothesis gives every label, regret else.

The mistakes of Consistent, Halving and SOA are whole numbers, and so are |H| and Ldim: nothing is rounded but log2 |H|.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from noregret import arithmetic
from noregret.finite import SOA, Agnostic, CoinGames, Dimensions, FiniteRun, TreeAdversary, shatters_set, shatters_tree
from noregret.interval import Interval
from noregret.proof.theorem import Certificate, Claim, Need, Theorem, rows, speaking, theorem

SS = "Shalev-Shwartz & Ben-David ch. 21"


def _theorem(
    name: str, bounds: str, formula: str, source: str, *learners: str, **more: Any
) -> Callable[[Callable[[FiniteRun], Claim]], Theorem[FiniteRun]]:
    return theorem(name, bounds, formula, f"{SS}, {source}", learners=learners, **more)


def certificates(run: FiniteRun) -> list[Certificate]:
    """Every theorem that speaks of this learner, evaluated on its game; of no rounds nothing is said."""
    if not run.rounds:
        return []
    return [one(run) for one in speaking(rows(globals()), getattr(run.learner, "name", ""), run)]


def dimension_certificate(found: Dimensions) -> Certificate:
    """VC ≤ Ldim ≤ ⌊log2 |H|⌋ on the dimensions found."""
    return dimension_order(found)


def coin_certificate(games: CoinGames) -> Certificate:
    """√(Ldim·T/8) ≤ E[regret] on games against fair coins."""
    return littlestone_regret(games)


REALIZABLE = Need[FiniteRun]("some hypothesis of the class gives every label", lambda run: run.realizable)
WALKED = Need[FiniteRun](
    "the labels are those of the adversary, down a shattered mistake tree to a leaf", lambda run: _walked(run)
)
DETERMINISTIC = Need[FiniteRun](
    "every prediction is 0 or 1", lambda run: all(one.prediction in (0, 1) for one in run.rounds)
)
ANNOUNCED = Need[FiniteRun](
    "T, the number of rounds, was announced beforehand", lambda run: len(run.rounds) <= _agnostic(run).horizon
)
COIN = Need[FiniteRun]("the labels of a round do not depend on the coin tossed in it", lambda run: None)


def _walked(run: FiniteRun) -> bool:
    """Whether the first rounds go down the adversary's tree, every label against the prediction."""
    adversary = run.adversary
    if not isinstance(adversary, TreeAdversary) or len(run.rounds) < adversary.tree.depth:
        return False
    first = run.rounds[: adversary.tree.depth]
    path = adversary.tree.path([one.label for one in first])
    fair = all(one.point == adversary.tree.point(node) and one.mistake for one, node in zip(first, path, strict=True))
    return fair and shatters_tree(adversary.hypotheses, adversary.tree)


def _agnostic(run: FiniteRun) -> Agnostic:
    assert isinstance(run.learner, Agnostic)
    return run.learner


def agnostic_bound(learner: Agnostic) -> Interval:
    """√(2T ln d)."""
    log = arithmetic.log_of_whole(learner.experts)
    return (Interval.around(log, log * 2.0**-50) * (2.0 * learner.horizon)).sqrt()


def _size(run: FiniteRun) -> int:
    assert run.hypotheses is not None
    return len(run.hypotheses)


def _mistakes(run: FiniteRun, bound: Interval | float, **values: float) -> Claim:
    """M ≤ bound; it says nothing where there were no more rounds than that, unless as many mistakes were made."""
    claimed, seen = Interval.of(bound), Interval.of(float(run.mistakes))
    return Claim(claimed, seen, math.inf if seen.lo >= math.floor(claimed.lo) else len(run.rounds), values)


@_theorem("consistent-size", "mistakes, realizable", "M ≤ |H| − 1", "Corollary 21.2", "consistent", needs=(REALIZABLE,))
def consistent_size(run: FiniteRun) -> Claim:
    """Every mistake of Consistent takes the hypothesis it predicted with out of the version space: M ≤ |H| − 1."""
    return _mistakes(run, float(_size(run) - 1), hypotheses=float(_size(run)))


@_theorem("halving-log", "mistakes, realizable", "M ≤ log2 |H|", "Theorem 21.3", "halving", needs=(REALIZABLE,))
def halving_log(run: FiniteRun) -> Claim:
    """Every mistake of Halving leaves at most half of the version space: M ≤ log2 |H|, whatever the tie rule."""
    size = _size(run)
    whole = size.bit_length() - 1
    exact = Interval.of(float(whole)) if size == 1 << whole else Interval.of(float(size)).log() / Interval.of(2.0).log()
    return _mistakes(run, exact, hypotheses=float(size))


@_theorem(
    "soa-littlestone",
    "mistakes, realizable",
    "M ≤ Ldim(H)",
    "Lemma 21.7",
    "soa",
    needs=(REALIZABLE,),
    erratum="It needs Ldim(∅) = −1, which is not said: with 0 and ties to 1, SOA on the class of the one hypothesis 0"
    " predicts 1 forever.",
)
def soa_littlestone(run: FiniteRun) -> Claim:
    """Every mistake of SOA lowers the Littlestone dimension of the version space: M ≤ Ldim(H), for either tie rule."""
    assert isinstance(run.learner, SOA)
    depth = run.learner.depths.dimension(run.learner.hypotheses.everything)
    return _mistakes(run, float(depth), littlestone=float(depth))


@_theorem(
    "littlestone-lower",
    "mistakes, from below",
    "Ldim(H) ≤ M",
    "Lemma 21.6",
    "consistent",
    "halving",
    "soa",
    "expert",
    needs=(DETERMINISTIC, WALKED),
    applies=lambda run: isinstance(run.adversary, TreeAdversary),
    erratum="The text sends y = 0 to the right; the formula i ← 2i + y and Figure 21.1 send it to the left, and only so"
    " do the thresholds 1[x < a] shatter the tree ½; ¼, ¾.",
)
def littlestone_lower(run: FiniteRun) -> Claim:
    """The adversary on a shattered tree of depth Ldim(H) makes every deterministic learner err Ldim(H) times or more.

    Observed is the depth of the tree, the bound is the number of mistakes.
    """
    assert isinstance(run.adversary, TreeAdversary)
    depth = float(run.adversary.tree.depth)
    return Claim(Interval.of(float(run.mistakes)), Interval.of(depth), math.inf, {"tree_depth": depth})


@_theorem(
    "agnostic-littlestone",
    "regret",
    "√(2T ln d), d = Σ_{L ≤ Ldim(H)} C(T, L)",
    "Theorem 21.10",
    "agnostic",
    needs=(ANNOUNCED, COIN),
    erratum="The proof of Lemma 21.13 breaks SOA's ties to 1 and the experts' to 0 and so names the wrong expert: on"
    " one point with H = {0, 1} and h = 1, SOA makes no mistake, and Expert(∅) predicts 0. The same tie rule in both"
    " repairs it. Printed with d ≤ (eT)^Ldim; here d is exact.",
)
def agnostic_littlestone(run: FiniteRun) -> Claim:
    """Exponential weights over the d experts Expert(i₁ … i_L) have expected regret at most √(2T ln d) against the best
    hypothesis, whatever the labels. The bound is that of exact weights; T(T + 50)/2⁴⁶ is added for rounded ones."""
    learner, rounds = _agnostic(run), len(run.rounds)
    assert run.best is not None
    log, bound = arithmetic.log_of_whole(learner.experts), agnostic_bound(learner)
    loss = math.fsum(one.loss for one in run.rounds)
    regret = Interval.around(loss, (rounds + 1) * 2.0**-53) - float(run.best)
    spare = Interval(0.0, rounds * (rounds + 50) * 2.0**-46)
    return Claim(bound + spare, regret, loss, {"log_experts": log, "littlestone": float(learner.dimension)})


@theorem(
    "littlestone-regret",
    "expected regret, from below",
    "√(Ldim(H)·T/8) ≤ Σ_b E|S_{k_b}|/2 = E[regret], k_b the rounds of block b, S_k a sum of k fair signs",
    f"{SS}, the lower bound Ω(√(Ldim(H)·T)) beside Theorem 21.10",
    learners=(),
    needs=(
        Need[CoinGames]("the mistake tree is shattered", lambda g: shatters_tree(g.hypotheses, g.tree)),
        Need[CoinGames]("the labels are fair coins, tossed one by one", lambda g: None),
    ),
)
def littlestone_regret(games: CoinGames) -> Claim:
    """Against fair coins in Ldim(H) blocks of T/Ldim(H) rounds, down a shattered tree by the majority of each block,
    any learner has the same expected regret, Σ_b E|S_{k_b}|/2, and that is at least √(Ldim(H)·T/8).

    Observed is √(Ldim·T/8) at the depth of the tree, the bound is the expected regret.
    """
    exact, least = float(games.expected), Interval.of(games.bound)
    if Fraction(games.bound) ** 2 != Fraction(games.tree.depth * games.rounds, 8):
        least = Interval.outward(games.bound, games.bound)
    return Claim(Interval.outward(exact, exact), least, math.inf, {"tree_depth": float(games.tree.depth)})


@theorem(
    "dimension-order",
    "the dimensions of a class",
    "VC(H) ≤ Ldim(H) ≤ ⌊log2 |H|⌋",
    f"{SS}, Theorem 21.9",
    learners=(),
    needs=(
        Need[Dimensions]("the set of points is shattered", lambda d: shatters_set(d.hypotheses, d.shattered)),
        Need[Dimensions]("the mistake tree is shattered", lambda d: shatters_tree(d.hypotheses, d.tree)),
    ),
)
def dimension_order(found: Dimensions) -> Claim:
    """A shattered set is a shattered tree with the same point all over a level, and a tree of depth d has 2^d leaves,
    each with a hypothesis: VC(H) ≤ Ldim(H) ≤ ⌊log2 |H|⌋. The gap between VC and Ldim can be as large as you like.

    Observed is the larger of the two lower ends, the bound is ⌊log2 |H|⌋.
    """
    most = len(found.hypotheses).bit_length() - 1
    seen = max(found.vc.lower, found.littlestone.lower)
    ends = {"vc": float(found.vc.lower), "littlestone": float(found.littlestone.lower)}
    return Claim(Interval.of(float(most)), Interval.of(float(seen)), math.inf, ends)
