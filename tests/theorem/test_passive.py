"""Passive-Aggressive bounds in exact rationals: from the definition of the steps, on any stream, at any comparator."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.learner import AveragedPerceptron, PassiveAggressive, PassiveAggressiveI, PassiveAggressiveII, Perceptron
from noregret.proof.certify import certify
from noregret.proof.facts import Facts
from noregret.proof.theorems.passive import pa1_mistakes, pa2_losses, pa_lemma, pa_losses
from noregret.proof.verify import verify
from noregret.rounds import Gathering
from oracle.learners import passive_step

FAST = settings(deadline=None, max_examples=150)
LEARNERS = {"pa": PassiveAggressive, "pa1": PassiveAggressiveI, "pa2": PassiveAggressiveII}


def dot(a, b):
    return sum((p * q for p, q in zip(a, b, strict=True)), start=Fraction(0))


def loss_of(w, x, y, regression):
    z = dot(w, x)
    return abs(z - y) if regression else max(1 - y * z, Fraction(0))


def played(rule, X, y, C, regression):
    """(τ, ℓ, C_t, ‖x‖², y⟨w,x⟩) of every round, without rounding."""
    w, longest, rounds = [Fraction(0)] * len(X[0]), Fraction(0), []
    for x, label in zip(X, y, strict=True):
        row2 = dot(x, x)
        longest = max(longest, row2)
        lost, z = loss_of(w, x, label, regression), dot(w, x)
        cap = C if C is not None else (1 / longest if longest else None)
        tau = passive_step(rule, lost, row2, cap) if row2 else Fraction(0)
        rounds.append((tau, lost, cap, row2, label * z))
        towards = (1 if label > z else -1) if regression else label
        w = [a + tau * towards * b for a, b in zip(w, x, strict=True)]
    return rounds


numbers = st.fractions(-3, 3, max_denominator=4)


@st.composite
def problems(draw):
    features, rounds = draw(st.integers(1, 3)), draw(st.integers(1, 12))
    regression = draw(st.booleans())
    row = st.lists(numbers, min_size=features, max_size=features)
    X = draw(st.lists(row, min_size=rounds, max_size=rounds))
    label = numbers if regression else st.sampled_from([Fraction(-1), Fraction(1)])
    y = draw(st.lists(label, min_size=rounds, max_size=rounds))
    return X, y, draw(row), draw(st.sampled_from([None, Fraction(1, 10), Fraction(1), Fraction(5)])), regression


@FAST
@given(problems(), st.sampled_from(["pa", "pa1", "pa2"]))
def test_the_lemma_holds_for_every_comparator(problem, rule):
    X, y, u, C, regression = problem
    rounds = played(rule, X, y, C, regression)
    against = [loss_of(u, x, label, regression) for x, label in zip(X, y, strict=True)]
    gained = sum(tau * (2 * lost - tau * row2) for tau, lost, _, row2, _ in rounds)
    assert gained <= dot(u, u) + 2 * sum(one[0] * lost for one, lost in zip(rounds, against, strict=True))


@FAST
@given(problems())
def test_the_squared_losses_of_pa_over_the_norms(problem):
    X, y, u, _, regression = problem
    rounds = [one for one in zip(played("pa", X, y, None, regression), X, y, strict=True) if one[0][3]]
    own = sum(lost**2 / row2 for (_, lost, _, row2, _), _, _ in rounds)
    b2 = sum(loss_of(u, x, label, regression) ** 2 / one[3] for one, x, label in rounds)
    u2 = dot(u, u)
    # √own ≤ ‖u‖ + 2√b2, without roots: own − u2 − 4·b2 ≤ 4‖u‖√b2
    left = own - u2 - 4 * b2
    assert left <= 0 or left**2 <= 16 * u2 * b2


@FAST
@given(problems())
def test_the_mistakes_of_pa1_and_the_squared_losses_of_pa2(problem):
    X, y, u, C, regression = problem
    r2 = max(dot(x, x) for x in X)
    if not r2:
        return
    least = C if C is not None else 1 / r2
    for rule in ("pa1", "pa2"):
        rounds = played(rule, X, y, C, regression)
        against = [loss_of(u, x, label, regression) for x, label in zip(X, y, strict=True)]
        caps = [least if cap is None else cap for _, _, cap, _, _ in rounds]
        if rule == "pa1" and not regression:
            mistakes = sum(margin <= 0 for *_, margin in rounds)
            lost = sum(cap * one for cap, one in zip(caps, against, strict=True))
            assert mistakes <= max(r2, 1 / least) * (dot(u, u) + 2 * lost)
        if rule == "pa2":
            moving = [row2 > 0 for _, _, _, row2, _ in rounds]
            own = sum(one[1] ** 2 for one, seen in zip(rounds, moving, strict=True) if seen)
            lost = sum(cap * one**2 for cap, one, seen in zip(caps, against, moving, strict=True) if seen)
            assert own <= (r2 + 1 / (2 * least)) * (dot(u, u) + 2 * lost)


def test_updates_may_be_more_than_the_bound_on_mistakes():
    """Margins between 0 and 1 update PA-I without being mistakes: the bound counts mistakes alone."""
    X, y = np.array([[1.0, 0.0], [-0.8, 0.6]] * 15), np.ones(30)
    run = nr.play(PassiveAggressiveI(aggressiveness=1.0), (X, y))
    bound = next(one["bound"] for one in certify(run, (X, y)).certificates if one["theorem"] == "pa1-mistakes")
    assert run.mistakes <= bound < 11 < run.updates == 30


@pytest.mark.parametrize("loss", ["hinge", "absolute"])
@pytest.mark.parametrize(("name", "one"), [("pa", pa_losses), ("pa1", pa1_mistakes), ("pa2", pa2_losses)])
def test_a_certificate_is_the_formula_at_its_comparator(name, one, loss):
    rng = np.random.default_rng(3)
    X, u = rng.normal(size=(80, 3)), np.array([0.5, -1.0, 0.25])
    y = np.where(X @ u > 0, 1.0, -1.0)
    learner = LEARNERS[name](loss=loss, **({} if name == "pa" else {"aggressiveness": 0.4}))
    with Gathering(False) as kept:
        run = nr.play(learner, (X, y), keep=kept)
        rounds = kept.done()
    evidence = Facts(run, rounds, None, {"v_passive": u})
    lost = np.abs(X @ u - y) if loss == "absolute" else np.maximum(1 - y * (X @ u), 0)
    norms = np.sum(X**2, axis=1)
    expected = {
        "pa": lambda: (np.linalg.norm(u) + 2 * np.sqrt(np.sum(lost**2 / norms))) ** 2,
        "pa1": lambda: max(norms.max(), 2.5) * (u @ u + 0.8 * lost.sum()),
        "pa2": lambda: (norms.max() + 1.25) * (u @ u + 0.8 * np.sum(lost**2)),
    }[name]()
    if name != "pa1" or loss == "hinge":
        found = one(evidence)
        assert found.bound == pytest.approx(expected, rel=1e-9)
        assert found.bound >= expected * (1 - 1e-15)
        assert found.values["rounding"] < 1e-9
    assert pa_lemma(evidence).verdict.name == "HOLDS"


def test_the_average_is_as_the_perceptron_in_its_rounds_and_its_certificates():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 4))
    y = np.where(X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=200) > 0, 1.0, -1.0)
    plain, mean = (certify(nr.play(kind(), (X, y)), (X, y)) for kind in (Perceptron, AveragedPerceptron))
    assert mean.figures["mistakes"] == plain.figures["mistakes"]
    assert mean.certificates == plain.certificates
    verify(mean, (X, y))


def test_the_average_is_better_than_the_last_weights_on_noise():
    rng = np.random.default_rng(5)
    u, errors = rng.normal(size=10), {"perceptron": 0.0, "averaged": 0.0}
    for _ in range(10):
        X, test = rng.normal(size=(500, 10)), rng.normal(size=(500, 10))
        y = np.where(X @ u + 2 * rng.normal(size=500) > 0, 1, -1)
        for name, kind in (("perceptron", nr.Perceptron), ("averaged", nr.AveragedPerceptron)):
            errors[name] += np.mean(kind().fit(X, y).predict(test) != np.sign(test @ u))
    assert errors["averaged"] < 0.5 * errors["perceptron"]
