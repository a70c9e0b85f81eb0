"""What is printed and false, on the counterexample that shows it, beside the form that is evaluated here and holds.

The numbers are the project's golden numbers.
"""

import math

import numpy as np
import pytest

from noregret.interval import Interval
from noregret.learner import OnlineGradientDescent, Perceptron, StronglyConvexGradientDescent
from noregret.proof import enclose
from noregret.proof.facts import Facts
from noregret.proof.hindsight import Hindsight
from noregret.proof.theorem import Verdict
from noregret.proof.theorems import certificates
from noregret.proof.theorems.convex import SQUARED_HINGE_SLOPE, admissible, squared_hinge_root
from noregret.proof.theorems.hinge import exact_root, explicit, implicit
from noregret.proof.theorems.ladder import any_rate, in_the_ball, tuned
from noregret.proof.theorems.shared import exact_sqrt
from noregret.proof.theorems.strong import harmonic, log_rounds, over_sigma
from oracle.theorems import played


def of(value):
    return Interval.of(float(value))


def perceptron(X, y, v, **settings):
    run, rounds = played(Perceptron(**settings), X, y)
    evidence = Facts(run, rounds).at(given=np.array(v))
    return evidence, {one.theorem: one for one in certificates(evidence)}


def test_cb1_the_sign_before_the_comparators_loss_is_minus():
    """x = y = 1, u = ½: ‖w‖‖u‖ = ½; printed M + Σh = 1.5, true M − Σh = ½."""
    evidence, found = perceptron([[1.0]], [1], [0.5])
    (one,) = evidence.comparators.values()
    left = evidence.mistakes.sum_norm * one.norm
    assert left.hi < (1.0 + one.hinge).lo == pytest.approx(1.5)
    assert left.hi >= (1.0 - one.hinge).lo == pytest.approx(0.5)
    assert found["hinge-sum"].verdict is Verdict.VACUOUS  # 1 mistake in 1 round: true, and no news
    assert found["hinge-sum"].bound >= 1.0 == found["hinge-sum"].observed


@pytest.mark.parametrize(
    ("T", "regret", "printed"),
    [(1, 0.5, 0.3465735903), (10, 1.4644841270, 1.1989476364), (1000, 3.7427354303, 3.4543773897)],
)
def test_cb2_the_harmonic_sum_is_not_below_the_logarithm(T, regret, printed):
    """ℓ_t(w) = ½(w − a_t)², a_t = w_t ± 1, played out: the regret is ½H_T, and the printed ½ln(T+1) is less."""
    w, a = 0.0, []
    for t in range(1, T + 1):
        a.append(w + (1.0 if t % 2 else -1.0))
        w -= (w - a[-1]) / t
    suffered = 0.5 * T
    assert suffered - 0.5 * math.fsum((np.mean(a) - part) ** 2 for part in a) == pytest.approx(regret, abs=1e-9)
    assert 0.5 * math.log(T + 1) == pytest.approx(printed, abs=1e-9)
    assert printed < regret
    assert over_sigma(of(1), 1.0, harmonic(T)).hi == pytest.approx(regret, abs=1e-9)
    assert over_sigma(of(1), 1.0, harmonic(T)).hi >= regret - 1e-9
    assert over_sigma(of(1), 1.0, log_rounds(T)).hi >= regret - 1e-9


def against(rounds, loss, u):
    return Hindsight(
        u, None, 0.0, enclose.risk(rounds, loss, u).hi, float(np.abs(u).max()), 0.0, "given", 0, 0.0, False
    )


def test_cb5_without_a_radius_the_square_loss_is_refused():
    with pytest.raises(ValueError, match="ogd-strong: the slope of the loss squared has no bound"):
        StronglyConvexGradientDescent(loss="squared")


def test_cb6_the_largest_gradient_seen_is_not_the_parameter():
    """ℓ_t(w) = −w, U = 1, η = √2/1000, nine rounds: regret 8.967 > U·G_seen√(8T) = 8.485."""
    eta, T = math.sqrt(2) / 1000, 9
    learner = OnlineGradientDescent(loss="absolute", radius=1.0, rate=f"sqrt:{eta!r}")
    run, rounds = played(learner, [[1.0]] * T, [1e3] * T)  # |z − 1000| has the slope −1 throughout
    evidence = Facts(run, rounds, against(rounds, learner.loss, np.array([1.0])))
    assert evidence.regret.lo == pytest.approx(8.96742086021, abs=1e-9)
    printed = evidence.gradient.max_norm * (of(8 * T).sqrt())
    assert printed.hi == pytest.approx(8.48528137424, abs=1e-9)
    assert printed.hi < evidence.regret.lo
    found = {one.theorem: one for one in certificates(evidence)}
    assert found["ogd-tuned"].bound == pytest.approx(1000 * math.sqrt(72))
    assert {one.verdict for one in found.values()} <= {Verdict.HOLDS, Verdict.VACUOUS, Verdict.OPEN}


def test_cb6_a_parameter_too_small_breaks_the_printed_bound_too():
    """η = √2/0.001 and an adversary of signs, 50 rounds: the regret is 49, and U·G_seen√(8T) = 20."""
    eta, T, U = math.sqrt(2) / 0.001, 50, 1.0
    learner = OnlineGradientDescent(loss="absolute", radius=U, rate=f"sqrt:{eta!r}")
    run, rounds = played(learner, [[1.0]] * T, [1e6 * (-1) ** t for t in range(T)])
    evidence = Facts(run, rounds, against(rounds, learner.loss, np.array([1.0])))
    assert evidence.regret.lo == pytest.approx(49.0)
    assert of(8 * T).sqrt().hi == pytest.approx(20.0)
    found = {one.theorem: one for one in certificates(evidence)}
    assert found["ogd-tuned"].verdict is Verdict.UNMET
    assert found["ogd-ball"].verdict is not Verdict.BROKEN
    assert found["ogd-any-rate"].bound >= found["ogd-ball"].bound >= evidence.regret.lo


def test_the_lines_of_the_ladder_need_the_parameter_to_be_in_order():
    root = exact_sqrt(9)
    for G_par, in_order in ((2.0, True), (0.5, False)):
        eta = math.sqrt(2) / G_par
        assert (any_rate(of(1), eta, root, of(1)).hi <= tuned(of(1), eta, root).hi) is in_order
    assert in_the_ball(of(1), 1.0, root, of(0)).lo == pytest.approx(4.5)


@pytest.mark.parametrize("tie", ["mistake", "+1", "-1"])
def test_mr1_the_squared_hinge_needs_its_slope_at_zero(tie):
    """x = 1, |u| = 1: with ρ = 3 the printed (5) allows 2/3, with ρ = 4 the printed (6) 0.7656; there is 1 mistake."""
    sign = -1.0 if tie == "+1" else 1.0
    for rho, printed, fixed, form in ((3, 2 / 3, 1.11111111111, 5), (4, 0.765625, 1.08278470752, 6)):
        evidence, found = perceptron([[1.0]], [sign], [sign / rho], tie=tie)
        assert evidence.run.mistakes == 1
        (one,) = evidence.comparators.values()
        n, c2, R, r = one.norm, one.hinge2, evidence.mistakes.mistake_norm2.sqrt(), evidence.mistakes.radius
        if form == 5:
            false, ours = c2 + r * R * n.square() * 2.0, admissible(c2, n * R, SQUARED_HINGE_SLOPE)
        else:
            false, ours = ((r * n).square() * 2.0 + c2.sqrt()).square(), squared_hinge_root(c2, n * r)
        assert false.hi == pytest.approx(printed, abs=1e-9)
        assert false.hi < 1.0
        assert ours.hi == pytest.approx(fixed, abs=1e-9)
        name = "squared-hinge-mistakes" if form == 5 else "squared-hinge-radius"
        assert 1.0 <= found[name].bound <= ours.hi


def test_mr3_a_subgradient_at_zero_is_enough():
    """The squared hinge has no Lipschitz constant on the line: rows of any length, and the bound with slope 2 holds."""
    X = [[1e3], [-1e3], [1e3], [5.0], [-7.0]]
    evidence, found = perceptron(X, [1, 1, -1, 1, 1], [1.0])
    for name in ("squared-hinge-mistakes", "squared-hinge-radius", "logistic-mistakes", "logistic-root"):
        assert found[name].bound >= evidence.run.mistakes


def test_mr4_the_norm_lemma_needs_the_start():
    """w₁ = −10, x = y = 1 repeated: M = 11, ‖S‖ = 11 > √11; with the start ‖w₁ + S‖ = 1 ≤ √(100 + 11)."""
    evidence, found = perceptron([[1.0]] * 15, [1] * 15, [0.5], start=[-10.0])
    assert evidence.mistakes.count == 11
    assert evidence.mistakes.sum_norm.lo == pytest.approx(11.0)
    assert evidence.mistakes.mistake_norm2.sqrt().hi == pytest.approx(3.31662479036)
    assert found["norm-lemma"].observed == pytest.approx(1.0)
    assert found["norm-lemma"].bound == pytest.approx(math.sqrt(111))
    assert found["norm-lemma"].verdict is Verdict.HOLDS
    (one,) = evidence.comparators.values()
    without = implicit(one.hinge, one.norm * evidence.mistakes.mistake_norm2.sqrt())
    assert without.hi < 11.0 <= found["hinge-mistakes"].bound


def test_mr6_over_the_mistakes_alone_the_best_comparator_says_nothing():
    """Nine rounds, one mistake: over the mistakes alone v = 0 gives 1, whatever happens; over all rounds 9."""
    evidence, found = perceptron([[1.0]] * 9, [1] * 9, [0.0])
    assert evidence.mistakes.count == 1
    assert implicit(of(1), of(0)).hi == 1.0
    assert found["hinge-mistakes"].bound == pytest.approx(9.0)
    assert found["hinge-mistakes"].verdict is Verdict.VACUOUS


def test_mr8_the_kernel_form_takes_the_root_of_the_trace():
    """x = 0.1, v = 10: one mistake; ‖v‖·Tr = 0.1 < 1, ‖v‖·√Tr = 1."""
    evidence, found = perceptron([[0.1]], [1], [10.0])
    (one,) = evidence.comparators.values()
    trace = evidence.mistakes.mistake_norm2
    assert (one.hinge + one.norm * trace).hi == pytest.approx(0.1)
    assert found["hinge-mistakes"].bound == pytest.approx(1.0)
    assert found["hinge-mistakes"].bound >= 1.0


def test_ss6_the_transcribed_theorem_is_false():
    """x = y = 1, v = ½: c + b√(c + b²) = 0.933 < 1; the true closed form 1.1036, the exact root 1."""
    evidence, found = perceptron([[1.0]], [1], [0.5])
    (one,) = evidence.comparators.values()
    c, b = one.hinge, one.norm * evidence.mistakes.radius
    assert (c + b * (c + b.square()).sqrt()).hi == pytest.approx(0.933012701892)
    assert explicit(c, b).hi == found["hinge-explicit"].bound == pytest.approx(1.10355339059)
    assert exact_root(c, b).hi == pytest.approx(1.0) == found["hinge-root"].bound
    assert found["hinge-root"].bound >= 1.0


def test_ss8_every_begun_period_counts_in_full():
    """Five rounds begin the period of four: 1 + √2 + 2, although three of its rounds are missing."""
    run, rounds = played(OnlineGradientDescent(radius=1.0, rate="doubling:1"), [[1.0]] * 5, [1, -1, 1, -1, 1])
    evidence = Facts(run, rounds, against(rounds, run.learner.loss, np.array([1.0])))
    found = {one.theorem: one for one in certificates(evidence)}
    assert found["ogd-doubling"].bound == pytest.approx(3 + math.sqrt(2))
    assert found["ogd-doubling"].bound <= found["ogd-doubling-closed"].bound
