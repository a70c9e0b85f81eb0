"""Labels that come late: what the predictions lost, whatever version of the learner each was made with.

z_k is the score that was predicted, z'_k the one that the learner has when the label comes, at which it learns.
"""

from __future__ import annotations

from noregret._native import DELAYED
from noregret.interval import Interval
from noregret.proof.facts.late import LateFacts
from noregret.proof.theorem import Claim, Need, theorem
from noregret.proof.theorems.linearised import LEMMA, linearised

NAME = "late"
ANY_PLAYS = Need[LateFacts](
    "the loss is convex in the score", lambda f: None if f.run.learner.loss.custom else f.run.learner.loss.convex
)
ONCE = Need[LateFacts]("no label was revised", lambda f: f.once)
FRESH = Need[LateFacts]("no label came after its round had expired", lambda f: not f.book.counts.after_expiry)
AS_THEY_COME = Need[LateFacts]("rows are played as they come, or at length 1", lambda f: not f.prepared)
FROM_ZERO = Need[LateFacts]("the run starts at w₁ = 0", lambda f: f.fresh.start.zero)


@theorem(
    "late-plays",
    "regret of the predictions",
    "Σs_k·z_k + U‖Σs_k·x_k‖",
    f"{LEMMA}, for any predictions",
    learners=(NAME,),
    needs=(ANY_PLAYS,),
    applies=lambda f: f.linear and f.bounded,
)
def late_plays(facts: LateFacts) -> Claim:
    """With s_k the slope of the loss at z_k, Σ[φ_k(z_k) − φ_k(u)] ≤ Σs_k·z_k + U‖Σs_k·x_k‖ for every ‖u‖ ≤ U.

    It holds for any predictions of rounds with labels, however late these came and whatever was learned from them.
    """
    plays = facts.plays
    found = plays.gradient
    bound = linearised(found.sum_dot_weights, found.norm_of_sum, facts.radius)
    values = {"dot_weights": found.sum_dot_weights.hi, "norm_of_sum": found.norm_of_sum.hi, "radius": facts.radius}
    return Claim(bound, plays.regret, plays.ceiling, values, plays.named("u", "alpha"))


@theorem(
    "late-fresh",
    "regret of the predictions",
    "Σ⟨g'_k,w_k⟩ + U‖Σg'_k‖ + Σ[φ_k(z_k) − φ_k(z'_k)]",
    "an identity; delayed feedback in Joulani, György & Szepesvári 2013",
    learners=(NAME,),
    needs=(ANY_PLAYS, ONCE),
    applies=lambda f: f.linear and f.bounded,
)
def late_fresh(facts: LateFacts) -> Claim:
    """The regret of the predictions is that of the learner in the order of the labels plus the staleness cost.

    So whatever bounds the learner's regret bounds theirs, with Σ[φ_k(z_k) − φ_k(z'_k)] added, which is measured.
    """
    found = facts.fresh.gradient
    own = linearised(found.sum_dot_weights, found.norm_of_sum, facts.radius)
    values = {"learner": own.hi, "staleness": facts.staleness.hi, "radius": facts.radius}
    return Claim(
        own + facts.staleness, facts.plays.regret, facts.plays.ceiling, values, facts.plays.named("u", "alpha")
    )


@theorem(
    "late-rate",
    "regret of the predictions",
    "2√2·U·√Σc_k, c_k = ‖g'_k‖² + 2‖g'_k‖·Λ·Σ‖x_i‖ over the rounds i that wait",
    "adaptive rates under delay: McMahan & Streeter 2014, with slopes at the arrival",
    learners=(NAME,),
    needs=(ANY_PLAYS, ONCE, FRESH, AS_THEY_COME, FROM_ZERO),
    applies=lambda f: f.linear and f.bounded and f.fresh.rate == DELAYED,
)
def late_rate(facts: LateFacts) -> Claim:
    """Projected descent with η_k = √2·U/√(c_1 + … + c_k) has regret at most 2√2·U·√Σc_k, staleness included.

    Λ bounds the slopes of the loss. Neither the gradients nor the delays need to be known beforehand.
    """
    bound = facts.felt.sqrt() * Interval.of(8.0).sqrt() * facts.radius * facts.fresh.allowance
    values = {"sum_c": facts.felt.hi, "radius": facts.radius}
    return Claim(bound, facts.plays.regret, facts.plays.ceiling, values, facts.plays.named("u", "alpha"))
