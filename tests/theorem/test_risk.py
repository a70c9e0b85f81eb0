"""Risk certificates: the limits against their definitions, and how often they hold where the risk is known.

NOREGRET_THOROUGH=1 simulates 1000 runs instead of 150.
"""

import math
import os
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

import noregret as nr
from noregret.interval import Interval
from noregret.proof.theorems.risk import Sampled, certificates
from noregret.proof.theorems.tail import binomial_limit, divergence, hoeffding, kl_limit, log_tail
from oracle.selection import binomial_tail

RUNS = 1000 if os.environ.get("NOREGRET_THOROUGH") else 150
counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def log_of(level):
    return Interval.of(1.0 / level).log()


# -- the limits ------------------------------------------------------------------------------------------------------


@given(counts, st.sampled_from([0.5, 0.05, 1e-3, 1e-9]))
def test_the_binomial_limit_is_excluded_and_nothing_much_below_it_is(found, level):
    k, n = found
    limit = binomial_limit(k, n, log_of(level)).hi
    if k == n:
        assert limit == 1.0
        return
    assert binomial_tail(k, n, limit) <= Fraction(level)
    assert binomial_tail(k, n, limit * (1 - 1e-9)) > Fraction(level) * Fraction(99_999_999, 100_000_000)


@given(counts, st.floats(0.01, 0.99))
def test_the_tail_is_never_below_the_binomial_one(found, p):
    k, n = found
    if not k / n < p:
        return
    exact = math.log(binomial_tail(k, n, p))
    assert exact - 1e-12 <= log_tail(k, n, p) <= exact + 4e-9 or log_tail(k, n, p) == 0.0


@pytest.mark.parametrize(("k", "n"), [(0, 1), (0, 10**6), (1, 10**6), (3, 500), (250_000, 10**6), (400_000, 10**6)])
@pytest.mark.parametrize("level", [0.05, 1e-6])
def test_large_samples_agree_with_beta_quantiles(k, n, level):
    limit = binomial_limit(k, n, log_of(level)).hi
    assert limit == pytest.approx(beta.isf(level, k + 1, n - k), rel=1e-9)


@given(counts, st.sampled_from([0.5, 0.05, 1e-6]))
def test_each_limit_lies_below_the_next(found, level):
    k, n = found
    log = log_of(level)
    ends = [limit(k, n, log).hi for limit in (binomial_limit, kl_limit)]
    assert k / n <= ends[0] <= ends[1] * (1 + 1e-12)
    assert ends[1] <= hoeffding(k, n, log).hi * (1 + 1e-12)
    if ends[1] < 1.0:
        assert divergence(k, n, ends[1]).hi >= log.lo
        assert divergence(k, n, ends[1] * (1 - 1e-9)).lo <= log.hi


# -- the figures -----------------------------------------------------------------------------------------------------


def told(**more):
    given = {
        "how": "penalised",
        "confidence": 0.95,
        "rounds": 400,
        "once": None,
        "unit": True,
        "candidates": 400,
        "usual": True,
    }
    return Sampled(**{**given, "mistakes": 60, "round": 101, "errors": 36, "own": 60, **more})


def bounds_of(sampled):
    return {one.theorem: one.bound for one in certificates(sampled)}


def test_the_formulas_by_hand():
    found, log = bounds_of(told()), math.log(400 / 0.05)
    assert found["risk-hoeffding"] == pytest.approx(0.12 + math.sqrt(log / 600))
    assert found["risk-printed"] == pytest.approx(0.15 + 6 * math.sqrt(math.log(802 / 0.05) / 400))
    assert found["risk-gibbs"] == pytest.approx(0.15 + math.sqrt(math.log(20) / 800))
    assert bounds_of(told(how="voted"))["risk-voted"] == pytest.approx(2 * (0.15 + math.sqrt(math.log(20) / 800)))


def test_the_conversion_by_rows_held_out_by_hand():
    """300 rounds before 100 held out, with 45 mistakes and so 46 predictors; the one chosen errs on 12 of the 100."""
    given = {"how": "holdout", "held": 100, "candidates": 301, "distinct": 46, "round": 290, "errors": 12, "own": 45}
    found, three, every = bounds_of(told(**given)), math.log(3 / 0.05), math.log(3 * 46 / 0.05)
    by_hand = 0.15 + math.sqrt(three / 600) + math.sqrt(three / 200) + math.sqrt(every / 200)
    assert found["risk-littlestone"] == pytest.approx(by_hand)
    level = 0.05 / 46
    limit_ = found["risk-holdout"]
    assert float(binomial_tail(12, 100, limit_)) <= level <= float(binomial_tail(12, 100, limit_ * (1 - 1e-9)))
    assert bounds_of(told(**given, usual=False))["risk-holdout"] == limit_  # then it is named as not checked
    assert bounds_of(told(**{**given, "candidates": 30}))["risk-littlestone"] is None
    assert {one.verdict.name for one in certificates(told(**given, once=False))} == {"UNMET"}


def test_a_mistake_bound_in_place_of_the_mistakes_is_never_below_them():
    """Corollaries 3 and 4 beside Theorem 4: of a stream that is learned, of noise, of nothing but mistakes."""
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(300, 2)), np.where(rng.random(300) < 0.5, 1, -1)
    worst = np.ones((300, 1)), np.tile([1, -1], 150)
    for stream in (easy(600, 0), noise, worst):
        found = {one.theorem: one for one in nr.select(nr.Perceptron(), stream).certificates}
        for name in ("risk-hinge", "risk-l2"):
            assert found[name].bound >= found["risk-printed"].bound
            assert found[name].assumptions[0].holds is None and "i.i.d." in found[name].assumptions[0].statement
    assert found["risk-hinge"].verdict.name == "VACUOUS"


def test_scores_of_0_that_the_tie_rule_lets_pass_count_as_errors():
    """With the tie +1 the perceptron never moves, though every score of 0 is an error of the risk."""
    chosen = nr.select(nr.Perceptron(tie="+1"), (np.ones((500, 1)), np.ones(500)))
    found = {one.theorem: one for one in chosen.certificates}
    assert chosen.sampled.facts.mistakes.count == 0
    assert found["risk-hinge"].values["passed"] == 500.0
    assert found["risk-hinge"].bound >= found["risk-printed"].bound >= 1.0


def test_a_grid_pays_for_its_candidates_alone():
    assert bounds_of(told(candidates=16))["risk-hoeffding"] == pytest.approx(0.12 + math.sqrt(math.log(320) / 600))
    assert bounds_of(told(candidates=16))["risk-printed"] is None


def test_the_printed_bound_says_nothing_before_344_rounds():
    # THEORY, item 22: vacuous for T < 344 at δ = 0.05, even without a mistake.
    verdicts = []
    for rounds in (343, 344):
        found = certificates(told(rounds=rounds, candidates=rounds, own=0, round=1, errors=0))
        verdicts.append(next(one.verdict.name for one in found if one.theorem == "risk-printed"))
    assert verdicts == ["VACUOUS", "HOLDS"]


def test_rows_played_twice_promise_nothing():
    assert {one.verdict.name for one in certificates(told(once=False))} == {"UNMET"}


def test_independence_is_never_called_checked():
    for one in certificates(told()):
        assert one.assumptions[0].holds is None
        assert "i.i.d." in one.assumptions[0].statement


def test_the_average_of_two_can_be_wrong_where_each_is_right_half_the_time():
    """The counterexample: no bound on the 0/1 risk of averaged weights follows from the risks of those averaged."""
    rows, weights = np.array([[1.0, -2.0], [-2.0, 1.0]]), np.eye(2)
    assert [float(np.mean(rows @ w <= 0)) for w in weights] == [0.5, 0.5]
    assert float(np.mean(rows @ weights.mean(axis=0) <= 0)) == 1.0
    assert bounds_of(told(how="average"))["risk-average"] is None


# -- coverage --------------------------------------------------------------------------------------------------------


POINTS = np.array([[math.cos(a), math.sin(a)] for a in np.linspace(0.1, 2 * math.pi + 0.1, 9)[:-1]])
CLEAN = np.where(POINTS[:, 0] > 0, 1.0, -1.0)
NOISE = np.array([0.0, 0.1, 0.45, 0.1, 0.0, 0.1, 0.45, 0.1])  # of each point, how often its label is turned


def drawn(rng, rounds):
    at = rng.integers(len(POINTS), size=rounds)
    return POINTS[at], np.where(rng.random(rounds) < NOISE[at], -CLEAN[at], CLEAN[at])


def risk_of(scores):
    """The exact risk of a predictor with these scores on the points; 0 counts as an error."""
    wrong = CLEAN * scores <= 0
    turned = -CLEAN * scores <= 0
    return float(np.mean((1 - NOISE) * wrong + NOISE * turned))


@cache
def limit(k, n, candidates, delta, kind):
    return kind(k, n, Interval.of(candidates / delta).log()).hi


@pytest.mark.parametrize("kind", [binomial_limit, kl_limit, hoeffding])
@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_limits_hold_for_all_predictors_of_a_run_at_once(kind, confidence):
    """On `RUNS` runs of 40 rounds: the share of runs in which some h_i exceeds its limit is at most δ."""
    rng, rounds, bad = np.random.default_rng(5), 40, 0
    for _ in range(RUNS):
        X, y = drawn(rng, rounds)
        w, path = np.zeros(2), []
        for x, label in zip(X, y, strict=True):
            path.append(w)
            if label * (w @ x) <= 0:
                w = w + label * x
        wrong = y * (np.array(path) @ X.T) <= 0
        risks = [risk_of(POINTS @ one) for one in path]
        ends = [limit(int(wrong[i, i:].sum()), rounds - i, rounds, 1 - confidence, kind) for i in range(rounds)]
        bad += any(risk > end for risk, end in zip(risks, ends, strict=True))
    assert bad <= (1 - confidence) * RUNS


def test_without_the_union_bound_the_least_limit_would_break_its_promise():
    """The limit of the best of 40 at level δ instead of δ/40 fails more often than δ: the simulation can tell."""
    rng, rounds, bad = np.random.default_rng(6), 40, 0
    for _ in range(RUNS):
        _, y = drawn(rng, rounds)
        ends = [
            limit(int((y[i:] < 0).sum()), rounds - i, 1, 0.5, binomial_limit) for i in range(rounds)
        ]  # of the one predictor "always +1"
        bad += risk_of(np.ones(len(POINTS))) > min(ends)
    assert bad > 0.5 * RUNS


@pytest.mark.parametrize(
    ("learner", "how", "names"),
    [
        (nr.Perceptron, "penalised", ["risk-binomial", "risk-kl", "risk-hoeffding", "risk-printed"]),
        (nr.Perceptron, "penalised", ["risk-hinge", "risk-l2"]),
        (nr.Perceptron, "holdout", ["risk-holdout", "risk-littlestone"]),
        (lambda: nr.OnlineGradientDescent(radius=2.0, unit_norm=True), "holdout", ["risk-holdout"]),
        (nr.Perceptron, "voted", ["risk-voted"]),
        (nr.Perceptron, "gibbs", ["risk-drawn"]),
        (lambda: nr.OnlineGradientDescent(radius=2.0, unit_norm=True), "gibbs", ["risk-drawn"]),
        (lambda: nr.OnlineGradientDescent(radius=2.0, unit_norm=True), "penalised", ["risk-binomial"]),
        (lambda: nr.OnlineGradientDescent(radius=2.0, unit_norm=True), "average", ["risk-average"]),
        (lambda: nr.StronglyConvexGradientDescent(sigma=1.0, unit_norm=True), "average", ["risk-average"]),
    ],
)
@pytest.mark.parametrize("candidates", [None, 8])
def test_certificates_hold_as_often_as_they_say(learner, how, names, candidates):
    """The exact risk of what `select` chooses lies below each of its bounds in at least 80 % of the runs."""
    rng, bad, runs = np.random.default_rng(7), dict.fromkeys(names, 0), RUNS
    more = {"candidates": candidates} if how != "gibbs" else {}
    for number in range(runs):
        if how == "gibbs":
            more = {"draw": number if candidates is None else 5 * number}
        chosen = nr.select(learner(), drawn(rng, 60), how=how, confidence=0.8, **more)
        risk = risk_of(chosen.scores(POINTS))
        for one in chosen.certificates:
            if one.theorem in names and one.bound is not None:
                bad[one.theorem] += risk > one.bound
    assert all(count <= 0.2 * runs for count in bad.values()), bad


def test_the_randomised_predictor_is_covered():
    rng, bad, few = np.random.default_rng(8), 0, 0
    for _ in range(RUNS):
        X, y = drawn(rng, 60)
        w, risks, mistakes = np.zeros(2), [], 0
        for x, label in zip(X, y, strict=True):
            risks.append(risk_of(POINTS @ w))
            if label * (w @ x) <= 0:
                mistakes += 1
                w = w + label * x
        found = bounds_of(told(how="gibbs", rounds=60, mistakes=mistakes, confidence=0.8, round=1, errors=mistakes))
        bad += np.mean(risks) > found["risk-gibbs"]
        few += np.mean(risks) > found["risk-gibbs-few"]
    assert bad <= 0.2 * RUNS and few <= 0.2 * RUNS


def test_with_few_mistakes_the_other_bound_of_the_draw_is_far_below():
    found = bounds_of(told(how="gibbs", rounds=10_000, candidates=10_000, mistakes=0))
    assert found["risk-gibbs"] == pytest.approx(math.sqrt(math.log(20) / 20_000))
    assert found["risk-gibbs-few"] == pytest.approx(math.log(16 / 0.05) / (10_000 * (1 - 2**-9)) + 0.0)
    assert found["risk-gibbs-few"] < 0.05 * found["risk-gibbs"]
    many = bounds_of(told(how="gibbs", rounds=10_000, candidates=10_000, mistakes=4_000))
    assert many["risk-gibbs"] < many["risk-gibbs-few"] < 1.1 * many["risk-gibbs"]


@pytest.mark.parametrize("name", ["thresholds:3", "singletons:3", "cube:2"])
@pytest.mark.parametrize("learner", [nr.SOA, nr.Halving, nr.Consistent])
def test_exercise_5_a_predictor_drawn_from_the_run_errs_as_often_as_the_run_does(name, learner):
    """Over all samples and draws, in fractions: E[L_D(h_r)] = E[M]/T, and M is within the learner's mistake bound."""
    hypotheses, T = nr.family(name), 4
    at = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)][: len(hypotheses.points)]
    at[-1] += 1 - sum(at)
    most = {"soa": nr.dimensions(hypotheses).littlestone.lower, "halving": math.floor(hypotheses.log2_size)}
    for target in range(len(hypotheses)):
        risk, mistakes = Fraction(0), Fraction(0)
        for places in product(range(len(at)), repeat=T):
            weight, player = math.prod(at[j] for j in places), learner(hypotheses)
            for j in places:
                wrong = [player.predict(p) != hypotheses.label(target, p) for p in hypotheses.points]
                risk += weight * sum(p for p, err in zip(at, wrong, strict=True) if err) / T
                mistakes += weight * wrong[j]
                player.learn(hypotheses.points[j], hypotheses.label(target, hypotheses.points[j]))
        assert risk == mistakes / T <= Fraction(most.get(learner.name, len(hypotheses) - 1), T)


# -- how tight -------------------------------------------------------------------------------------------------------


def easy(rounds, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 2))
    return X, np.sign(X[:, 0] + 0.3 * X[:, 1])


@pytest.mark.parametrize("seed", range(5))
def test_the_tight_bound_says_something_from_100_rounds_on(seed):
    for name in ("risk-binomial", "risk-kl", "risk-hoeffding"):
        found = nr.select(nr.Perceptron(), easy(100, seed)).certificates
        assert next(one.bound for one in found if one.theorem == name) < 1.0


def test_400_rounds_as_in_the_theory():
    """THEORY, section 3.8: at T = 400 the bound over all i is near 0.27 where the printed one is near 1.20."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 10))
    y = np.where(X @ rng.normal(size=10) + rng.normal(size=400) > 0, 1.0, -1.0)
    found = {one.theorem: one.bound for one in nr.select(nr.Perceptron(), (X, y)).certificates}
    assert 0.2 < found["risk-hoeffding"] < 0.45
    assert 1.0 < found["risk-printed"] < 1.35
