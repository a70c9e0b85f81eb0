"""What the ledger of any plays proves: scores from whatever source, and the slopes of a convex loss at them.

s_t is the slope of the loss at the score z_t that was played, k_t the weight of the round: P = Σk·s·z, G = Σk·s·x.
"""

from __future__ import annotations

from noregret.interval import Interval
from noregret.proof.facts.ledger import LedgerFacts
from noregret.proof.theorem import Claim, Need, theorem
from noregret.proof.theorems.linearised import LEMMA

NAME = "ledger"
SOURCE = f"{LEMMA}, for any scores"
ANY_SCORES = Need[LedgerFacts]("the loss is convex in the score", lambda f: None if f.loss.custom else f.loss.convex)
DIGITS = Need[LedgerFacts]("no slope is smaller than the smallest normal float", lambda f: f.whole.sound)
NEEDS = (ANY_SCORES, DIGITS)


def _claim(facts: LedgerFacts, bound: Interval, **values: Interval) -> Claim:
    said = {"paid": facts.whole.paid.hi, **{name: one.hi for name, one in values.items()}, "radius": facts.radius}
    return Claim(bound, None, facts.ceiling, said)


@theorem("ledger-ball", "regret", "P + U‖G‖", SOURCE, learners=(NAME,), needs=NEEDS)
def ledger_ball(facts: LedgerFacts) -> Claim:
    """For every ‖u‖ ≤ U, Σk[φ(z) − φ(⟨u,x⟩)] ≤ P − ⟨u,G⟩ ≤ P + U‖G‖, whoever chose the scores z and whenever."""
    return _claim(facts, facts.whole.ball(facts.radius), norm_of_sum=facts.whole.norm)


@theorem("ledger-box", "regret", "P + U‖G‖₁", SOURCE, learners=(NAME,), needs=NEEDS)
def ledger_box(facts: LedgerFacts) -> Claim:
    """For every u with |u_i| ≤ U, Σk[φ(z) − φ(⟨u,x⟩)] ≤ P + U‖G‖₁."""
    return _claim(facts, facts.whole.box(facts.radius), norm1_of_sum=facts.whole.total_size)


@theorem("ledger-l1", "regret", "P + U·max|G_i|", SOURCE, learners=(NAME,), needs=NEEDS)
def ledger_l1(facts: LedgerFacts) -> Claim:
    """For every u with ‖u‖₁ ≤ U, Σk[φ(z) − φ(⟨u,x⟩)] ≤ P + U·max|G_i|."""
    return _claim(facts, facts.whole.cross(facts.radius), largest_of_sum=facts.whole.largest)


@theorem("ledger-correction", "gain of a correction", "|P| + U‖G‖", SOURCE, learners=(NAME,), needs=NEEDS)
def ledger_correction(facts: LedgerFacts) -> Claim:
    """For |c| ≤ 1 and ‖u‖ ≤ U, the scores (1 + c)z + ⟨u,x⟩ lose at most |P| + U‖G‖ less than the scores z.

    With |c| ≤ c₀ it is c₀|P| + U‖G‖: neither a rescaling nor a linear correction would have gained more.
    """
    return _claim(facts, facts.whole.corrected(facts.radius, 1.0), norm_of_sum=facts.whole.norm)


@theorem(
    "ledger-parts",
    "regret against a model per part",
    "Σ(P_p + U‖G_p‖)",
    SOURCE,
    learners=(NAME,),
    needs=NEEDS,
    applies=lambda f: len(f.parts) > 1,
)
def ledger_parts(facts: LedgerFacts) -> Claim:
    """With a u_p, ‖u_p‖ ≤ U, of its own for every part p of the rounds, the regret is at most Σ(P_p + U‖G_p‖).

    It is never below P + U‖G‖, which bounds the regret against one u for all parts: ‖ΣG_p‖ ≤ Σ‖G_p‖.
    """
    return _claim(facts, facts.of_each)
