"""The quadratic certificate: the theory's numbers, any scores, any point, adversaries, a wrong curvature."""

import copy
import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noregret.errors import ReceiptError
from noregret.learner import LEARNERS
from noregret.loss import logistic
from noregret.proof import enclose
from noregret.proof.certify import certify
from noregret.proof.facts import Facts
from noregret.proof.facts.quadratic import POINT, curvatures, minorants
from noregret.proof.solve.points import points
from noregret.proof.solve.quadratic import lowest
from noregret.proof.theorem import Verdict
from noregret.proof.theorems import THEOREMS, spoken
from noregret.proof.theorems import quadratic as module
from noregret.proof.verify import verify
from noregret.rounds import Rounds
from noregret.stream import Dense
from oracle.rows import dec, value
from oracle.rows_quadratic import recursion
from oracle.rows_runs import facts_of

LOGISTIC = logistic()
PLAYS = st.builds(
    lambda seed, T, d, size, apart: _any_scores(np.random.default_rng(seed), T, d, size, apart),
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.integers(1, 3),
    st.sampled_from([1e-3, 1.0, 30.0]),
    st.sampled_from([0.0, 1.0, 40.0]),
)


def _any_scores(rng, T, d, size, apart):
    """Rounds whose scores come from nowhere, half of them with the labels that cost the most."""
    X, z = rng.normal(size=(T, d)) * size, rng.normal(size=T) * apart
    y = np.where(z > 0.0, -1.0, 1.0) if rng.random() < 0.5 else rng.choice([-1.0, 1.0], T)
    weights = rng.choice([0.25, 1.0, 3.0], T) if rng.random() < 0.3 else None
    return Rounds(Dense(X), y, weights, z)


def bound_at(rounds, theta, radius, ridge):
    h = curvatures(rounds, LOGISTIC, radius)
    return minorants(rounds, LOGISTIC, h, theta, ridge).bound(radius)


def lowest_bound(rounds, radius, ridge):
    return bound_at(rounds, lowest(rounds, LOGISTIC, curvatures(rounds, LOGISTIC, radius), ridge), radius, ridge)


# -- the project's golden numbers --------------------------------------------------------------------------------------

# golden-live.json, quadratic: U = 2, λ = 1
GOLDEN = {
    "newton": {
        "X": [[0.75, -1.375], [1.5, 1.0], [0.75, -0.875], [-1.5, 1.75], [-0.375, -1.0], [0.25, -0.125]],
        "y": [1.0, -1.0, -1.0, 1.0, -1.0, 1.0],
        "scores": [
            *(0.0, -0.10088944455636847, 0.6072207115716504),
            *(0.05349609325870386, 0.41121582359996217, -0.255597983499608),
        ],
        "curvature": [
            *(0.09741858249767027, 0.08739770459501435, 0.09295432240338128),
            *(0.07498458975691757, 0.10543690131619142, 0.17477410390770495),
        ],
        "delta": [
            *(0.2474944186773414, 0.28495853597785, 0.20518606434456854),
            *(0.3585345678097932, 0.13700623036273132, 0.007449994428094354),
        ],
        "sum": 1.2406298116003789,
        "loss": 4.794869721878165,
        "maximiser": [-0.7522885624002504, 0.3286920740847325],
    },
    "two-label": {
        "X": [[1.625, -1.375], [1.75, -0.5], [-2.0, 1.25], [-1.75, -0.25], [-1.375, 1.375], [0.5, 0.875]],
        "y": [1.0, -1.0, 1.0, 1.0, -1.0, -1.0],
        "scores": [
            *(0.0, 0.5745614290554805, -0.008137163475751226),
            *(0.628101768929194, 0.5750226716160264, -0.7067667147093418),
        ],
        "curvature": [
            *(0.07990607403474691, 0.07416443511624085, 0.07434679957365363),
            *(0.0736182658900676, 0.07129273020505372, 0.09368531885214916),
        ],
        "delta": [
            *(0.4158409047583444, 0.039613903288360244, 0.34568825212700577),
            *(0.2963004324440549, 0.03471716689829016, 0.13393631974776868),
        ],
        "sum": 1.2660969792638241,
        "loss": 4.261507717193497,
        "maximiser": [-0.8365716998681229, -0.9631990119118659],
    },
}


@pytest.mark.parametrize("play", GOLDEN)
def test_the_golden_numbers(play):
    wanted = GOLDEN[play]
    X, y, z = (np.array(wanted[name]) for name in ("X", "y", "scores"))
    found = recursion(X.tolist(), y.tolist(), z.tolist(), 2, 1)
    lost = sum(value(("logistic", 0), dec(score), dec(label)) for score, label in zip(z, y, strict=True))
    assert [float(one) for one in found.h] == pytest.approx(wanted["curvature"], rel=1e-12)
    assert [float(one) for one in found.delta] == pytest.approx(wanted["delta"], rel=1e-12)
    assert float(sum(found.delta)) == pytest.approx(wanted["sum"], rel=1e-12)
    assert float(lost) == pytest.approx(wanted["loss"], rel=1e-12)
    assert [float(one) for one in found.theta] == pytest.approx(wanted["maximiser"], rel=1e-12)
    for score, inner, Q in zip(z.tolist(), found.inner, found.Q, strict=True):  # the play itself
        pulled = float(Q) * math.tanh(score / 2.0) if play == "two-label" else 0.0
        assert float(inner) - pulled == pytest.approx(score, rel=1e-12, abs=1e-12)
    rounds = Rounds(Dense(X), y, None, z)
    assert curvatures(rounds, LOGISTIC, 2.0) == pytest.approx(wanted["curvature"], rel=1e-12)
    assert lowest_bound(rounds, 2.0, 1.0).hi == pytest.approx(2.0 + wanted["sum"], rel=1e-12)


@pytest.mark.parametrize("play", GOLDEN)
def test_the_row_has_the_golden_bound(play):
    wanted = GOLDEN[play]
    X, y, z = (np.array(wanted[name]) for name in ("X", "y", "scores"))
    facts = facts_of("newton", {"ridge": 1.0, "play": play, "bias": False}, X, y, radius=2.0)
    told = Facts(facts.run, replace(facts.rounds, scores=z), facts.hindsight)
    told = replace(told, points={**told.points, **points(told)})
    assert THEOREMS["quadratic"](told).bound == pytest.approx(2.0 + wanted["sum"], rel=1e-12)


# -- any scores, any point ---------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=150)
@given(PLAYS, st.sampled_from([0.1, 2.0, 50.0]), st.sampled_from([1e-3, 1.0, 20.0]))
def test_no_scores_and_no_labels_break_the_quadratic_bound(rounds, radius, ridge):
    bound = lowest_bound(rounds, radius, ridge)
    own = enclose.loss_total(LOGISTIC, rounds.scores, rounds.y, rounds.weights)
    rng = np.random.default_rng(len(rounds))
    towards = [rng.normal(size=rounds.width) for _ in range(20)]
    towards += [rounds.y @ rounds.rows.X, lowest(rounds, LOGISTIC, np.full(len(rounds), 0.05), ridge)]
    for u in towards:
        size = np.linalg.norm(u)
        for share in (0.2, 1.0):
            inside = u * (radius * share * (1.0 - 1e-12) / size) if size else u
            assert (own - enclose.risk(rounds, LOGISTIC, inside)).lo <= bound.hi


@settings(deadline=None, max_examples=60)
@given(PLAYS, st.sampled_from([0.1, 2.0, 50.0]), st.sampled_from([1e-3, 1.0, 20.0]))
def test_every_point_gives_at_least_the_bound_of_the_recursion(rounds, radius, ridge):
    k = None if rounds.weights is None else rounds.weights.tolist()
    exact = recursion(rounds.rows.X.tolist(), rounds.y.tolist(), rounds.scores.tolist(), radius, ridge, k)
    least = dec(ridge) * dec(radius) ** 2 / 2 + sum(exact.delta)
    best = lowest(rounds, LOGISTIC, curvatures(rounds, LOGISTIC, radius), ridge)
    for theta in (best, np.zeros(rounds.width), 1.01 * best, np.ones(rounds.width)):
        found = bound_at(rounds, theta, radius, ridge)
        assert found.lo <= found.hi and dec(found.hi) >= least
    assert dec(bound_at(rounds, best, radius, ridge).hi) <= least + Decimal("1e-11") * exact.size + Decimal("1e-290")


def test_rows_beyond_numbers_prove_nothing_and_break_nothing():
    rounds = Rounds(Dense(np.array([[1e200, 1.0], [-1e160, 2.0]])), np.array([1.0, -1.0]), None, np.array([0.5, 700.0]))
    for theta in (np.zeros(2), np.array([1e-3, -1.0]), np.array([1e300, 1e300])):
        assert bound_at(rounds, theta, 2.0, 1.0).hi >= 700.0 - 1.0


# -- runs --------------------------------------------------------------------------------------------------------------


def adversarial(name, told, T, seed):
    """Rows, and labels each of which is the one that the learner thinks less of."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, 3))
    y, core = np.empty(T), LEARNERS[name](**told)
    for t in range(T):
        score = core.scores(Dense(X[t : t + 1]))[0] if t else 0.0
        y[t] = -1.0 if score > 0.0 else 1.0
        core.play(Dense(X[t : t + 1].copy()), y[t : t + 1].copy())
    return X, y


@pytest.mark.parametrize("labels", ["adversarial", "coins", "linear"])
@pytest.mark.parametrize("told", [{"play": "newton"}, {"play": "two-label", "walk": 0.02}, {"ridge": 1e-3}])
def test_newtons_regret_is_within_the_quadratic_bound(told, labels):
    for seed in range(3):
        X, y = adversarial("newton", told, 60, seed)
        if labels != "adversarial":
            rng = np.random.default_rng(seed)
            y = rng.choice([-1.0, 1.0], 60) if labels == "coins" else np.where(X[:, 0] > X[:, 1], 1.0, -1.0)
        for radius in (0.5, 3.0, 30.0):
            found = THEOREMS["quadratic"](facts_of("newton", told, X, y, radius=radius))
            assert found.verdict is not Verdict.BROKEN and found.observed <= found.bound


def test_the_mixtures_regret_is_within_the_quadratic_bound():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 4))
    for y in (rng.choice([-1.0, 1.0], 120), np.where(X @ [1.0, 1.0, 0.0, 0.0] > 0.0, 1.0, -1.0)):
        facts = facts_of("auto", {"radius": 2.0}, X, y)
        found = THEOREMS["quadratic"](facts)
        assert THEOREMS["quadratic"] in spoken(facts) and found.verdict is Verdict.HOLDS
        assert found.observed <= found.bound < facts.loss.lo


def test_rows_that_are_too_wide_for_a_matrix_are_left_to_other_theorems():
    X, y = np.eye(230), np.ones(230)
    y[::2] = -1.0
    facts = facts_of("auto", {"radius": 2.0}, X, y)
    assert POINT not in facts.points and THEOREMS["quadratic"] not in spoken(facts)


def test_a_curvature_that_forgets_how_far_a_comparator_reaches_is_found_out(monkeypatch):
    """ψ'' at the score alone is no minorant: on one row a comparator far out breaks the bound."""
    facts = facts_of("newton", {"ridge": 1e-4, "bias": False}, np.ones((1, 1)), np.ones(1), radius=20.0)
    assert THEOREMS["quadratic"](facts).verdict is not Verdict.BROKEN
    monkeypatch.setattr(module, "curvatures", lambda rounds, loss, radius: np.full(len(rounds), 0.25))
    wrong = replace(facts, points={**facts.points, POINT: lowest(facts.rounds, LOGISTIC, np.full(1, 0.25), 1e-4)})
    assert THEOREMS["quadratic"](wrong).verdict is Verdict.BROKEN


@pytest.mark.parametrize("name", ["newton", "auto"])
def test_a_receipt_with_the_quadratic_bound_verifies_and_a_smaller_one_does_not(name):
    from noregret.protocol import play

    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 2))
    stream = (X.tolist(), np.where(X[:, 0] + rng.normal(size=40) > 0.0, 1, -1).tolist())
    receipt = certify(play(LEARNERS[name](), stream), stream, radius=None if name == "auto" else 2.0)
    one = next(part for part in receipt.certificates if part["theorem"] == "quadratic")
    assert one["verdict"] in ("holds", "vacuous") and one["points"] == [POINT]
    assert verify(receipt, stream)
    for key in ("bound", "observed"):
        forged = copy.deepcopy(receipt.certificates)
        next(part for part in forged if part["theorem"] == "quadratic")[key] -= 1e-3
        with pytest.raises(ReceiptError, match="quadratic"):
            verify(replace(receipt, certificates=forged), stream)
    moved = replace(receipt, points={**receipt.points, POINT: receipt.points[POINT] + 0.1})
    with pytest.raises(ReceiptError, match="quadratic"):
        verify(moved, stream)
