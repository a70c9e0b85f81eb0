"""What is promised of learners that follow experts: regret against the best of N experts, or of their sequences.

Costs lie in a range of width B. The bounds are those of exact weights and means; `spare` is added for rounded ones.
Where experts may sleep, a sleeper counts as suffering the learner's own loss, so that the regret against an expert is
that of the rounds in which it was awake; every statement here then holds as it stands.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from noregret.experts.contest import Contest
from noregret.experts.loss import EPS
from noregret.interval import Interval, total
from noregret.proof.theorem import Certificate, Claim, Need, Theorem, rows, speaking, theorem

SS = "Shalev-Shwartz & Ben-David ch. 21, Theorem 21.11"
CBL = "Cesa-Bianchi & Lugosi 2006"


def _theorem(
    name: str, formula: str, source: str, learner: str, *, bounds: str = "regret", **more: Any
) -> Callable[[Callable[[Contest], Claim]], Theorem[Contest]]:
    return theorem(name, bounds, formula, source, learners=(learner,), **more)


INSIDE = Need[Contest]("every cost lies in the declared range of width B", lambda c: c.inside)
COIN = Need[Contest]("the costs of a round do not depend on the expert drawn in it", lambda c: None if c.coin else True)
KNOWN = Need[Contest](
    "T, the number of rounds, was announced beforehand",
    lambda c: c.horizon is not None and c.rounds <= c.horizon,
)
DEFINED = Need[Contest]("forecasts and outcomes lie in the declared range, probabilities in [0, 1]", lambda c: c.inside)
MIXED = Need[Contest]("exp(−η·loss) is concave in the forecast", lambda c: c.judged_by.mixable)
CONVEX = Need[Contest]("the loss is convex in the forecast", lambda c: c.judged_by.numbers)
SWITCHED = Need[Contest]("the best sequence of at most m switches is known", lambda c: c.switches is not None)


def spoken(contest: Contest) -> list[Theorem[Contest]]:
    """The theorems that speak of a run; of no rounds nothing is said."""
    return speaking(rows(globals()), contest.learner, contest) if contest.rounds else []


def certificates(contest: Contest) -> list[Certificate]:
    """Each of them evaluated."""
    return [one(contest) for one in spoken(contest)]


def _log(experts: int) -> Interval:
    """ln N."""
    return Interval.of(0.0) if experts == 1 else Interval.of(float(experts)).log()


def _claim(contest: Contest, bound: Interval, observed: Interval | None = None, **values: float) -> Claim:
    seen = contest.regret if observed is None else observed
    return Claim(bound + Interval(0.0, contest.spare), seen, contest.ceiling, values)


def _root(x: Interval) -> Interval:
    return x if x.hi == 0.0 else x.sqrt()


def _rate(contest: Contest) -> Interval:
    """η in units of 1/B: the float that was used, times B."""
    return Interval.of(contest.rule.rate) * contest.width


def _constant(contest: Contest, eta: Interval) -> Interval:
    """B·(ln N/η + ηT/8)."""
    if contest.experts == 1:
        return Interval.of(0.0)
    return (_log(contest.experts) / eta + eta * float(contest.rounds) / 8.0) * contest.width


@_theorem(
    "weighted-majority",
    "B·√(2T ln N)",
    SS,
    "weighted-majority",
    needs=(INSIDE, COIN, KNOWN),
    erratum=("Its assumption T > 2 ln N is not needed: e^{−a} ≤ 1 − a + a²/2 holds for every a ≥ 0."),
)
def weighted_majority(contest: Contest) -> Claim:
    """Weights ∝ exp(−η·loss so far) with η = √(2 ln N/T)/B have regret at most B·√(2T ln N) after T rounds."""
    assert contest.horizon is not None
    bound = _root(_log(contest.experts) * 2.0 * float(contest.horizon)) * contest.width
    return _claim(contest, bound)


@_theorem(
    "weighted-majority-hoeffding",
    "B·(ln N/η + ηT/8), η in units of 1/B",
    f"{CBL}, Theorem 2.2",
    "weighted-majority",
    needs=(INSIDE, COIN),
)
def weighted_majority_hoeffding(contest: Contest) -> Claim:
    """With any constant η the regret is at most B·(ln N/η + ηT/8), after every number of rounds T."""
    return _claim(contest, _constant(contest, _rate(contest)), rate=_rate(contest).hi)


@_theorem(
    "hedge-anytime",
    "B·(ln N/η_T + Σ η_t/8), η_t in units of 1/B",
    f"{CBL}, Theorem 2.3",
    "hedge",
    needs=(INSIDE, COIN),
    erratum="The weights must be recomputed from the losses so far: multiplying them by e^{−η_t·cost} round after "
    "round is another algorithm (regret 173 against 16.65 in a 400-round example).",
)
def hedge_anytime(contest: Contest) -> Claim:
    """Weights ∝ exp(−η_t·loss so far) with η_t that never grow: regret at most B·(ln N/η_T + Σ_{t≤T} η_t/8)."""
    if contest.experts == 1:
        return _claim(contest, Interval.of(0.0))
    first, root = _rate(contest), _root(Interval.of(float(contest.rounds)))
    bound = _log(contest.experts) / first * root + first * _inverse_roots(contest.rounds) / 8.0
    return _claim(contest, bound * contest.width)


@_theorem(
    "hedge-anytime-closed",
    "c = 1: 1.25·B√(T ln N); c = 2: B√(T ln N); c = √8: B(2√(T ln N/2) + √(ln N/8))",
    f"{CBL}, Theorem 2.3",
    "hedge",
    needs=(INSIDE, COIN),
)
def hedge_anytime_closed(contest: Contest) -> Claim:
    """With η_t = c·√(ln N/t)/B: the sum of `hedge-anytime` in closed form, by Σ 1/√t ≤ 2√T."""
    logs = _log(contest.experts)
    root = _root(logs * float(contest.rounds))
    if contest.rate_name == "root-eight":
        bound = _root(logs * float(contest.rounds) / 2.0) * 2.0 + _root(logs / 8.0)
    else:
        bound = root * (1.25 if contest.rate_name == "one" else 1.0)
    return _claim(contest, bound * contest.width)


@_theorem(
    "hedge-doubling",
    "B·Σ√(2P ln N) over the periods P = 1, 2, 4, … that were begun",
    "Shalev-Shwartz & Ben-David ch. 21, exercise 4",
    "hedge-doubling",
    needs=(INSIDE, COIN),
    erratum="The last period may be incomplete, and then its learner must keep its promise at every round of it: "
    "Weighted Majority does.",
)
def hedge_doubling(contest: Contest) -> Claim:
    """Each period of P rounds is Weighted Majority for P rounds; the regrets of the periods add up."""
    logs, found = _log(contest.experts), Interval.of(0.0)
    for m in range(contest.rounds.bit_length()):
        found = found + _root(logs * 2.0 * float(2**m))
    return _claim(contest, found * contest.width)


@_theorem(
    "hedge-doubling-closed",
    "√2/(√2 − 1)·B√(2T ln N)",
    "Shalev-Shwartz & Ben-David ch. 21, exercise 4",
    "hedge-doubling",
    needs=(INSIDE, COIN),
)
def hedge_doubling_closed(contest: Contest) -> Claim:
    """The sum of the periods' bounds is at most √2/(√2 − 1) ≈ 3.41 times the bound of one told T beforehand."""
    two = Interval.of(2.0).sqrt()
    bound = two / (two - 1.0) * _root(_log(contest.experts) * 2.0 * float(contest.rounds))
    return _claim(contest, bound * contest.width)


@_theorem(
    "adahedge",
    "2Δ_T, Δ_T = Σ (mean cost − exponential mean of the costs at η_t)",
    "de Rooij, van Erven, Grünwald & Koolen 2014",
    "adahedge",
    needs=(COIN,),
)
def adahedge(contest: Contest) -> Claim:
    """With η_t = ln N/Δ_{t−1} the regret is at most twice the mixability gap Δ_T that the run itself gathered."""
    return _claim(contest, Interval.of(contest.gap) * 2.0, mixability_gap=contest.gap)


def _sharing(contest: Contest, switches: int) -> Interval:
    """B·([(m+1) ln N + m ln(1/α) + (T − m − 1) ln(1/(1 − α))]/η + ηT/8)."""
    eta, share = _rate(contest), Interval.of(contest.rule.share)
    stays = max(contest.rounds - switches - 1, 0)
    cost = _log(contest.experts) * float(switches + 1)
    cost = cost - share.log() * float(switches) - (Interval.of(1.0) - share).log() * float(stays)
    return (cost / eta + eta * float(contest.rounds) / 8.0) * contest.width


@_theorem(
    "fixed-share",
    "B·([(m+1) ln N + m ln(1/α) + (T − m − 1) ln(1/(1 − α))]/η + ηT/8)",
    "Herbster & Warmuth 1998",
    "fixed-share",
    bounds="regret against the best sequence with m switches",
    needs=(INSIDE, COIN, SWITCHED),
    applies=lambda c: c.switches is not None,
)
def fixed_share(contest: Contest) -> Claim:
    """Fixed-Share's regret against any sequence of experts that changes at most m times."""
    assert contest.switches is not None
    switches = min(contest.switches, contest.rounds - 1)
    if contest.experts == 1:
        return _claim(contest, Interval.of(0.0), Interval.of(0.0), switches=float(switches))
    return _claim(contest, _sharing(contest, switches), contest.switching_regret, switches=float(switches))


@_theorem(
    "fixed-share-expert",
    "B·([ln N + (T − 1) ln(1/(1 − α))]/η + ηT/8)",
    "Herbster & Warmuth 1998",
    "fixed-share",
    needs=(INSIDE, COIN),
)
def fixed_share_expert(contest: Contest) -> Claim:
    """Fixed-Share's regret against the best single expert: a sequence without a switch."""
    return _claim(contest, Interval.of(0.0) if contest.experts == 1 else _sharing(contest, 0))


@_theorem(
    "blend-mixture",
    "ln N/η: log loss ln N, squared loss 2B² ln N, Brier loss 4 ln N",
    f"Vovk 1990; {CBL}, section 3.3",
    "mixture",
    needs=(DEFINED, MIXED),
)
def blend_mixture(contest: Contest) -> Claim:
    """Where exp(−η·loss) is concave in the forecast, the mean of the forecasts with weights ∝ exp(−η·loss so far) has
    regret at most ln N/η, after every number of rounds."""
    return _claim(contest, _log(contest.experts) / Interval.of(contest.rule.rate), rate=contest.rule.rate)


MEAN = "regret against the best fixed mean of the experts"
FOLLOW = "de Rooij, van Erven, Grünwald & Koolen 2014"


@_theorem(
    "linearised-mean",
    "max_i Σ ℓ'(p_t)·(p_t − x_{t,i})",
    f"Kivinen & Warmuth 1997; {CBL}, section 2.5",
    "gradient",
    bounds=MEAN,
    needs=(CONVEX,),
)
def linearised_mean(contest: Contest) -> Claim:
    """A blend that forecasts p_t has, against every fixed mean Σ w_i·x_{t,i} of the experts, w ≥ 0, Σw = 1, a regret
    of at most the largest linearised one, max_i Σ ℓ'(p_t)·(p_t − x_{t,i}), ℓ' a slope of the convex loss at p_t."""
    return _claim(contest, contest.linear, contest.mean_regret)


@_theorem(
    "adahedge-mean",
    "2Δ_T, Δ_T the mixability gap of the linearised losses",
    FOLLOW,
    "gradient",
    bounds=MEAN,
    needs=(CONVEX,),
)
def adahedge_mean(contest: Contest) -> Claim:
    """AdaHedge on the linearised losses ℓ'(p_t)·x_{t,i} has a regret of at most 2Δ_T against every fixed mean of the
    experts, Δ_T being the mixability gap that the run itself gathered; no range need be known."""
    return _claim(contest, Interval.of(contest.gap) * 2.0, contest.mean_regret, mixability_gap=contest.gap)


@_theorem(
    "adahedge-mean-spread",
    "√(ln N·Σ s_t²) + 2·max s_t, s_t = max_i ℓ'(p_t)·x_{t,i} − min_i ℓ'(p_t)·x_{t,i}",
    FOLLOW,
    "gradient",
    bounds=MEAN,
    needs=(CONVEX,),
)
def adahedge_mean_spread(contest: Contest) -> Claim:
    """AdaHedge on the linearised losses has a regret of at most √(ln N·Σ s_t²) + 2·max s_t against every fixed mean of
    the experts, s_t being how far apart the linearised losses of round t lie; none of them need be known beforehand."""
    s = contest.spreads
    slack = EPS * 8.0 * s * s
    bound = _root(_log(contest.experts) * total(s * s - slack, s * s + slack)) + float(s.max()) * 2.0
    return _claim(contest, bound, contest.mean_regret)


def _inverse_roots(rounds: int) -> Interval:
    """Σ_{t ≤ T} 1/√t."""
    terms = 1.0 / np.sqrt(np.arange(1.0, rounds + 1.0))
    slack = terms * math.ldexp(1.0, -51)
    return total(terms - slack, terms + slack)
