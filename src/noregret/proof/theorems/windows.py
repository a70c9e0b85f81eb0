"""Windows of a run: what the best model of each, or models that change from one to the next, can have done better by.

The sums of a window are those of its rounds alone, whoever chose the predictions: no step rule, no restart.
"""

from __future__ import annotations

from noregret.interval import Interval
from noregret.proof.facts.windows import WindowFacts, joined
from noregret.proof.theorem import Claim, Need, theorem
from noregret.proof.theorems.linearised import LEMMA
from noregret.watch.switching import MOST, best_switching

NAME = "windows"
CONVEX = Need[WindowFacts]("the loss is convex in the score", lambda f: f.loss.convex)


@theorem(
    "window-linearised",
    "regret within a window",
    "Σ_W s_t·z_t + max_u⟨u, −Σ_W s_t·x_t⟩",
    f"{LEMMA} over a window, for any predictions",
    learners=(NAME,),
    needs=(CONVEX,),
    applies=lambda f: len(f.parts) == 1,
)
def window_linearised(facts: WindowFacts) -> Claim:
    """Σ_W [ℓ_t(z_t) − ℓ_t(⟨u,x_t⟩)] ≤ P_W + max⟨u, −G_W⟩ for every u of the domain.

    s_t is the slope of the loss at the prediction z_t, P_W = Σs·z and G_W = Σs·x over W, which is any set of rounds.
    The best model of a window thus loses at least L_W − C_W on it, C_W the bound. How z_t came about does not matter.
    """
    (part,) = facts.parts
    values = {"paid": part.paid.hi, "reach": facts.reach(part).hi, "rounds": part.rounds, "radius": facts.domain.radius}
    return Claim(facts.bound(part), None, part.loss.hi, values)


@theorem(
    "switching-at-limits",
    "regret against one model for each window",
    "Σ_W (Σ_W s_t·z_t + max_u⟨u, −Σ_W s_t·x_t⟩)",
    f"{LEMMA} over each window, summed",
    learners=(NAME,),
    needs=(CONVEX,),
    applies=lambda f: bool(f.parts) and not f.switches,
)
def switching_at_limits(facts: WindowFacts) -> Claim:
    """Against a comparator that may change at every limit between windows the regret is at most ΣC_W.

    It is the strongest claim of its kind: C is superadditive, so joining windows only lowers the sum.
    """
    bound = Interval.of(0.0)
    for part in facts.parts:
        bound = bound + facts.bound(part)
    return Claim(bound, None, facts.whole.loss.hi, {"rounds": facts.whole.rounds, "radius": facts.domain.radius})


@theorem(
    "switching-k",
    "regret against a model that changes at most k times",
    "max over partitions of the windows into at most k+1 blocks of ΣC(block)",
    f"{LEMMA} over each block, the worst partition by dynamic programming",
    learners=(NAME,),
    needs=(CONVEX,),
    applies=lambda f: 0 < f.switches < len(f.parts) <= MOST,
)
def switching_k(facts: WindowFacts) -> Claim:
    """Against any comparator that changes at most k times, at limits that nobody named beforehand, ≤ max ΣC(block).

    The maximum runs over all partitions of the windows into at most k + 1 consecutive blocks.
    """

    def bound(i: int, j: int) -> float:
        return facts.bound(joined(facts.parts[i:j])).hi

    found = best_switching(len(facts.parts), bound, facts.switches)[-1]
    values = {"switches": facts.switches, "rounds": facts.whole.rounds, "radius": facts.domain.radius}
    return Claim(Interval(found, found), None, facts.whole.loss.hi, values)
