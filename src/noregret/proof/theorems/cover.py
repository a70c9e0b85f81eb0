"""Sets whose coverage is tracked: how many labels were outside of them, on any stream and with any learner.

The set of round t holds the labels y with a(y) ≤ q_t: of numbers |y − ŷ_t|, of classes 1 − p_t(y). Counted are the
rounds that had a set: T of them, E misses. A threshold is computed from the counts of the run in floats, and is within
2⁻⁵⁰(q_1 + η(T + 1)) of its exact value: the bounds have that, divided by η, added to them. A label that comes late is
judged by the set that was shown, and τ is the most labels learned between a prediction and its own.
"""

from __future__ import annotations

from typing import Any

from noregret.interval import Interval
from noregret.learner import LEARNERS
from noregret.learner.cover import by_identity, last_threshold, most_covered, most_missed
from noregret.proof.facts import Facts
from noregret.proof.theorem import Claim, theorem

ANY = tuple(LEARNERS)
SOURCE = "Gibbs & Candès 2021, with the threshold as the state"


def _found(facts: Facts) -> dict[str, Any]:
    assert facts.run.coverage is not None
    return facts.run.coverage


def _speaks(facts: Facts) -> bool:
    """Whether there were rounds with a set."""
    return facts.run.coverage is not None and facts.run.coverage["rounds"] > 0


def _claim(found: dict[str, Any], bound: Interval, observed: int) -> Claim:
    values = {"target": found["target"], "rounds": float(found["rounds"]), "step": found["step"]}
    values |= {"first_q": found["first_q"], "last_q": last_threshold(found).hi, "largest": found["largest"]}
    return Claim(bound, Interval.of(float(observed)), float(found["rounds"]), values)


@theorem(
    "cover-identity",
    "labels outside of their sets",
    "E = αT + (q_{T+1} − q_1)/η",
    SOURCE,
    learners=ANY,
    applies=_speaks,
)
def cover_identity(facts: Facts) -> Claim:
    """With q_{t+1} = q_t + η(err_t − α) the misses are Σerr_t = αT + (q_{T+1} − q_1)/η, whatever the labels.

    Of labels that come late it counts those that have come.
    """
    found = _found(facts)
    return _claim(found, by_identity(found), found["misses"])


@theorem(
    "cover-missed",
    "labels outside of their sets",
    "E ≤ αT + max(0, B − q_1 + η(1 − α))/η",
    SOURCE,
    learners=ANY,
    erratum=(
        "With levels α_t in place of thresholds, α_{t+1} = α_t + γ(α − err_t), nothing of the kind holds where α_t is"
        " clipped to [0, 1]: with α = 1/8, γ = 1/16 and 64 rounds, who misses whenever the set is not everything gets"
        " 33 misses, and 10 without clipping."
    ),
    applies=lambda f: _speaks(f) and not _found(f)["between"],
)
def cover_missed(facts: Facts) -> Claim:
    """Where labels come at once q never rises above max(q_1, B + η(1 − α)), B the largest score of a round.

    So the misses are the share α of the rounds but for a constant, whatever the labels and the learner.
    """
    found = _found(facts)
    return _claim(found, most_missed(found), found["misses"])


@theorem(
    "cover-late",
    "labels outside of their sets",
    "E ≤ αT + max(0, B − q_1)/η + (1 + τ)(1 − α)",
    f"{SOURCE}, and late labels",
    learners=ANY,
    applies=lambda f: _speaks(f) and _found(f)["between"] > 0,
)
def cover_late(facts: Facts) -> Claim:
    """Once q ≥ B only the rounds that wait at that moment can miss: at most τ + 1 of them raise q above B."""
    found = _found(facts)
    return _claim(found, most_missed(found), found["misses"])


@theorem(
    "cover-held",
    "labels within their sets",
    "T − E ≤ (1 − α)T + q_1/η + (1 + τ)α",
    SOURCE,
    learners=ANY,
    applies=_speaks,
)
def cover_held(facts: Facts) -> Claim:
    """Sets are no larger than they must be: once q < 0 every set is empty, and q never falls below −η(1 + τ)α.

    τ = 0 where no label comes late.
    """
    found = _found(facts)
    return _claim(found, most_covered(found), found["rounds"] - found["misses"])
