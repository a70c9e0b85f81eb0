"""What the rounds of a run promise of new rows: risk certificates of online-to-batch conversion.

h_i is the predictor before round i. It depends on rounds 1 … i − 1 alone, so that the rounds i … T are a fresh sample
for it; w_{T+1} has none. Risk is the probability that y·score ≤ 0 on a new row. Nothing here can be checked on a run:
that rows are independent draws from one source is assumed, and every certificate says so. A weight other than 1 makes
the rounds another sample than the rows to come (a weight of 0 leaves rows out): then nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from noregret.interval import Interval
from noregret.proof.facts.selection import POINT, WAYS, Sampled
from noregret.proof.facts.steps import Comparator
from noregret.proof.theorem import Certificate, Claim, Need, Theorem, rows, speaking, theorem
from noregret.proof.theorems.hinge import TAUTOLOGY, l2, reach
from noregret.proof.theorems.tail import binomial_limit, hoeffding, kl_limit

MR = "Mohri & Rostamizadeh"
EPS = 2.0**-52


def spoken(sampled: Sampled) -> list[Theorem[Sampled]]:
    """The theorems that speak of a selection."""
    return speaking(rows(globals()), "selection", sampled)


def certificates(sampled: Sampled) -> list[Certificate]:
    """Each of them evaluated."""
    return [one(sampled) for one in spoken(sampled)]


def _theorem(
    name: str,
    bounds: str,
    formula: str,
    source: str,
    *ways: str,
    needs: tuple[Need[Sampled], ...] = (),
    when: Callable[[Sampled], bool] = lambda sampled: True,
    **more: Any,
) -> Callable[[Callable[[Sampled], Claim]], Theorem[Sampled]]:
    """A theorem for these ways to select."""
    return theorem(
        name,
        bounds,
        formula,
        source,
        learners=("selection",),
        needs=(INDEPENDENT, ONCE, UNIT, *needs),
        applies=lambda sampled: sampled.how in ways and when(sampled),
        **more,
    )


INDEPENDENT = Need[Sampled]("the rows are independent draws from one source (i.i.d.)", lambda s: None)
ONCE = Need[Sampled]("every row was played once", lambda s: s.once)
UNIT = Need[Sampled]("every row weighs 1", lambda s: s.unit)
FIXED = Need[Sampled]("the number of candidates was fixed beforehand", lambda s: True if s.usual else None)
EVERY = Need[Sampled]("every round is a candidate", lambda s: s.every)
BOUNDED = Need[Sampled](
    "a convex surrogate of the 0/1 loss, bounded beforehand: unit-norm rows, weights in a ball",
    lambda s: s.losses is not None,
)

HELD = Need[Sampled](
    "the number of rounds held out, and of candidates, was fixed beforehand", lambda s: True if s.usual else None
)
EVERY_BEFORE = Need[Sampled]("every round before those held out is a candidate", lambda s: s.every and s.trained > 0)
DRAWN = Need[Sampled]("the seed of the draw was fixed beforehand", lambda s: True if s.usual else None)
PREMISE = Need[Sampled](
    "every update was made at y⟨w,x⟩ ≤ 0, in exact arithmetic",
    lambda s: s.facts is not None and s.facts.mistakes.premise,
)
COMPARED = Need[Sampled]("a comparator v is given", lambda s: s.facts is not None and bool(s.facts.comparators))


def _values(sampled: Sampled, **more: float) -> dict[str, float]:
    return {"confidence": sampled.confidence, "rounds": float(sampled.rounds), **more}


def _chosen(sampled: Sampled, limit: Callable[[int, int, Interval], Interval]) -> Claim:
    """The limit at the chosen round, at level δ/K."""
    assert sampled.errors is not None
    bound = limit(sampled.errors, sampled.tail, sampled.log(float(sampled.candidates)))
    told = {"errors": float(sampled.errors), "tail": float(sampled.tail), "candidates": float(sampled.candidates)}
    return Claim(bound, None, 1.0, _values(sampled, **told))


@_theorem(
    "risk-binomial",
    "risk of the chosen predictor",
    "risk(h_i) ≤ max{p : P(Bin(n, p) ≤ k) ≥ δ/K}, k errors of h_i on the n rounds i … T",
    "Clopper & Pearson 1934, with a union bound over the K candidates",
    "penalised",
    needs=(FIXED,),
)
def risk_binomial(sampled: Sampled) -> Claim:
    """The errors of h_i on the rounds i … T are binomial, for h_i does not depend on them. With probability 1 − δ the
    exact limit at level δ/K holds for all K candidates at once, and so for whichever was chosen.

    K is the number of rounds, or of the candidates of a grid that T alone fixes; it is not the number of distinct
    predictors, which depends on the rows.
    """
    return _chosen(sampled, binomial_limit)


@_theorem(
    "risk-kl",
    "risk of the chosen predictor",
    "risk(h_i) ≤ max{p : n·kl(k/n ‖ p) ≤ ln(K/δ)}, k errors of h_i on the n rounds i … T",
    "Chernoff's bound on the tail, with a union bound over the K candidates",
    "penalised",
    needs=(FIXED,),
)
def risk_kl(sampled: Sampled) -> Claim:
    """As `risk-binomial`, with P(Bin(n, p) ≤ k) ≤ e^(−n·kl(k/n ‖ p)): never below it, never above `risk-hoeffding`."""
    return _chosen(sampled, kl_limit)


@_theorem(
    "risk-hoeffding",
    "risk of the chosen predictor",
    "risk(h_i) ≤ k/n + √(ln(K/δ)/(2n)), k errors of h_i on the n rounds i … T",
    "Hoeffding's inequality on the tail, with a union bound over the K candidates",
    "penalised",
    needs=(FIXED,),
)
def risk_hoeffding(sampled: Sampled) -> Claim:
    """With probability 1 − δ, for all K candidates at once, risk(h_i) ≤ k/n + √(ln(K/δ)/(2n))."""
    return _chosen(sampled, hoeffding)


@_theorem(
    "risk-printed",
    "risk of the chosen predictor",
    "risk(h_i) ≤ M/T + 6√(ln(2(T+1)/δ)/T), M = Σ_t 1[h_t errs on round t]",
    f"{MR}, Theorem 4 (9)",
    "penalised",
    needs=(FIXED, EVERY),
)
def risk_printed(sampled: Sampled) -> Claim:
    """The predictor of least penalised risk k/n + √(ln(T(T+1)/δ)/(2n)) among all T has, with probability 1 − δ, risk at
    most M/T + 6√(ln(2(T+1)/δ)/T). It says nothing before T = 344 at δ = 0.05; `risk-binomial` is far below it."""
    assert sampled.own is not None
    T = float(sampled.rounds)
    bound = Interval.of(float(sampled.own)) / T + 6.0 * (sampled.log(2.0 * (T + 1.0)) / T).sqrt()
    return Claim(bound, None, 1.0, _values(sampled, mistakes=float(sampled.own)))


def _corollary(sampled: Sampled, bound: Callable[[Comparator], Interval]) -> Claim:
    """A mistake bound at the comparator in place of the mistakes, with the rounds that the tie rule let pass."""
    assert sampled.own is not None and sampled.facts is not None
    T, one = float(sampled.rounds), sampled.facts.comparators[POINT]
    passed = float(max(sampled.own - sampled.facts.mistakes.count, 0))
    total = bound(one) + passed
    risk = total / T + 6.0 * (sampled.log(2.0 * (T + 1.0)) / T).sqrt()
    told = {"hinge": one.hinge.hi, "norm": one.norm.hi, "mistakes_at_most": total.hi, "passed": passed}
    return Claim(risk, None, 1.0, _values(sampled, **told), (POINT,))


@_theorem(
    "risk-hinge",
    "risk of the chosen predictor",
    "risk(h_i) ≤ (Σ_t h_t(v) + ‖v‖√(‖w₁‖²/η² + R_I²) − ⟨v,w₁⟩/η + n₀)/T + 6√(ln(2(T+1)/δ)/T),"
    " n₀ the rounds with a score of 0 that were no mistake",
    f"{MR}, Corollary 3, with the hinge",
    "penalised",
    needs=(FIXED, EVERY, PREMISE, COMPARED),
    when=lambda sampled: sampled.facts is not None,
    erratum="Printed with the losses of the mistake rounds, and for any admissible loss: the hinge is never worse than"
    " those. " + TAUTOLOGY,
)
def risk_hinge(sampled: Sampled) -> Claim:
    """`risk-printed` with a bound on the perceptron's mistakes for their number: what a comparator v with few hinge
    losses promises of the chosen predictor. It is never below `risk-printed`, which counts the mistakes themselves.
    """
    assert sampled.facts is not None
    length = reach(sampled.facts)
    return _corollary(sampled, lambda one: one.hinge + one.norm * length - one.along_start)


@_theorem(
    "risk-l2",
    "risk of the chosen predictor",
    "risk(h_i) ≤ ((a/2 + √(a²/4 + ‖v‖√(‖w₁‖²/η² + R_I²) − ⟨v,w₁⟩/η))² + n₀)/T + 6√(ln(2(T+1)/δ)/T), a² = Σ_t h_t(v)²",
    f"{MR}, Corollary 4",
    "penalised",
    needs=(FIXED, EVERY, PREMISE, COMPARED),
    when=lambda sampled: sampled.facts is not None,
    erratum=TAUTOLOGY,
)
def risk_l2(sampled: Sampled) -> Claim:
    """`risk-printed` with the L2 bound on the perceptron's mistakes for their number; n₀ as in `risk-hinge`."""
    assert sampled.facts is not None
    length = reach(sampled.facts)
    return _corollary(sampled, lambda one: l2(one.hinge2.sqrt(), one.norm * length - one.along_start))


@_theorem(
    "risk-holdout",
    "risk of the chosen predictor",
    "risk(h) ≤ max{p : P(Bin(m, p) ≤ k) ≥ δ/K}, k errors of h on the m rounds held out, K predictors before them",
    "Littlestone 1989; Clopper & Pearson 1934",
    "holdout",
    needs=(HELD,),
)
def risk_holdout(sampled: Sampled) -> Claim:
    """The rounds held out are a fresh sample for every predictor before them. So the union bound is over the K
    different ones, as few as the run's updates and one more, and with probability 1 − δ it holds for the one chosen.
    """
    assert sampled.errors is not None and sampled.distinct is not None
    bound = binomial_limit(sampled.errors, sampled.tail, sampled.log(float(sampled.distinct)))
    told = {"errors": sampled.errors, "tail": sampled.tail, "candidates": sampled.distinct}
    return Claim(bound, None, 1.0, _values(sampled, **{name: float(value) for name, value in told.items()}))


@_theorem(
    "risk-littlestone",
    "risk of the chosen predictor",
    "risk(h) ≤ M/n + √(ln(3/δ)/(2n)) + √(ln(3/δ)/(2m)) + √(ln(3K/δ)/(2m)), M errors in the n rounds before the m held"
    " out",
    "Littlestone 1989, with Hoeffding's inequality",
    "holdout",
    needs=(HELD, EVERY_BEFORE),
)
def risk_littlestone(sampled: Sampled) -> Claim:
    """What the conversion promises before the held-out rounds are looked at. Of h_1 … h_n some predictor has a risk of
    at most M/n + √(ln(3/δ)/(2n)) (Azuma); on the rounds held out it errs little more often (Hoeffding), the chosen one
    no more often than it, and the risk of none of the K is far above its error there (Hoeffding, K times).
    """
    assert sampled.own is not None and sampled.distinct is not None
    n, m = float(sampled.trained), float(sampled.tail)
    three, every = sampled.log(3.0), sampled.log(3.0 * float(sampled.distinct))
    apart = (three / (2.0 * n)).sqrt() + (three / (2.0 * m)).sqrt() + (every / (2.0 * m)).sqrt()
    told = {"mistakes": float(sampled.own), "tail": m, "candidates": float(sampled.distinct)}
    return Claim(Interval.of(float(sampled.own)) / n + apart, None, 1.0, _values(sampled, **told))


@_theorem(
    "risk-drawn",
    "risk of the chosen predictor",
    "risk(h_r) ≤ max{p : P(Bin(n, p) ≤ k) ≥ δ}, k errors of h_r on the n rounds r … T",
    "Clopper & Pearson 1934",
    "gibbs",
    needs=(DRAWN,),
)
def risk_drawn(sampled: Sampled) -> Claim:
    """A round r drawn without a look at the rows leaves r … T a fresh sample for h_r. No other predictor was in
    question, so no union bound is paid: the exact limit holds at level δ. After a draw near the end few rounds are
    left, and the limit is large."""
    assert sampled.errors is not None
    bound = binomial_limit(sampled.errors, sampled.tail, sampled.log(1.0))
    return Claim(bound, None, 1.0, _values(sampled, errors=float(sampled.errors), tail=float(sampled.tail)))


@_theorem(
    "risk-gibbs",
    "risk of a predictor drawn from the run's",
    "(1/T) Σ_t risk(h_t) ≤ M/T + √(ln(1/δ)/(2T))",
    "Cesa-Bianchi, Conconi & Gentile 2004; Hoeffding–Azuma",
    *WAYS,
)
def risk_gibbs(sampled: Sampled) -> Claim:
    """A predictor drawn at random from h_1 … h_T for every new row errs with probability (1/T) Σ_t risk(h_t), which is
    at most M/T + √(ln(1/δ)/(2T)) with probability 1 − δ. It is a statement about the draw, not about any one of them.
    """
    T = float(sampled.rounds)
    bound = Interval.of(float(sampled.mistakes)) / T + (sampled.log(1.0) / (2.0 * T)).sqrt()
    return Claim(bound, None, 1.0, _values(sampled, mistakes=float(sampled.mistakes)))


POWERS = range(1, 9)
FACTORS = (*(1.0 - 1.0 / (1 << k) for k in POWERS), *(0.5 / (1 << k) for k in POWERS))  # s = e^(−λ), fixed beforehand


@_theorem(
    "risk-gibbs-few",
    "risk of a predictor drawn from the run's",
    "(1/T) Σ_t risk(h_t) ≤ min_s (ln(1/s)·M + ln(16/δ))/(T(1 − s)), s = 1 − 2^(−k) and 2^(−k−1), k = 1 … 8",
    "a supermartingale in the mistakes, with a union bound over 16 factors s",
    "gibbs",
)
def risk_gibbs_few(sampled: Sampled) -> Claim:
    """`risk-gibbs` for runs with few mistakes: with M = 0 it falls as 1/T and not as 1/√T. For s between 0 and 1 the
    mean of s^(mistake on round t), given the past, is 1 − (1 − s)·risk(h_t) ≤ e^(−(1 − s)·risk(h_t))."""
    T, M = float(sampled.rounds), float(sampled.mistakes)
    log = sampled.log(float(len(FACTORS)))
    found = [((1.0 / Interval.of(s)).log() * M + log) / (T * (1.0 - s)) for s in FACTORS]
    bound = Interval(min(one.lo for one in found), min(one.hi for one in found))
    return Claim(bound, None, 1.0, _values(sampled, mistakes=M))


@_theorem(
    "risk-voted",
    "risk of the vote",
    "risk(vote) ≤ 2(V/T + √(ln(1/δ)/(2T))), V the errors of each voter on its own rounds",
    "Markov's inequality on the randomised predictor",
    "voted",
    needs=(FIXED,),
)
def risk_voted(sampled: Sampled) -> Claim:
    """Where the vote errs, voters of at least half of all votes err: its risk is at most twice that of a voter drawn by
    its votes. A voter has as many votes as rounds until the next one; its errors V on these are a fresh sample."""
    assert sampled.own is not None
    T = float(sampled.rounds)
    half = Interval.of(float(sampled.own)) / T + (sampled.log(1.0) / (2.0 * T)).sqrt()
    return Claim(2.0 * half, None, 1.0, _values(sampled, errors=float(sampled.own)))


@_theorem(
    "risk-average",
    "risk of the averaged weights",
    "risk(w̄) ≤ (Σ_t ℓ_t/T + φ(−B)√(ln(1/δ)/(2T)))/φ(0), |score| ≤ B",
    "Jensen's inequality; Hoeffding–Azuma",
    "average",
    needs=(FIXED, BOUNDED),
    erratum="For the 0/1 loss nothing follows for averaged weights: (1, 0) and (0, 1) err on half of the rows (1, −2)"
    " and (−2, 1) with y = +1, and their average errs on both.",
)
def risk_average(sampled: Sampled) -> Claim:
    """A loss φ(y·score) that is convex in the weights loses at their average no more than on average, and φ/φ(0) is
    nowhere below the 0/1 loss. The bound on the score, B = U·max‖x‖, must be known before the rows are."""
    assert sampled.losses is not None and sampled.loss is not None
    T, B = float(sampled.rounds), sampled.reach
    most, zero = (Interval.around(value, 8.0 * EPS * value) for value in (sampled.loss(-B, 1.0), sampled.loss.at_zero))
    bound = (sampled.losses / T + most * (sampled.log(1.0) / (2.0 * T)).sqrt()) / zero
    return Claim(bound, None, 1.0, _values(sampled, losses=sampled.losses.hi, reach=B))
