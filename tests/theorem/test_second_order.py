"""The learners with a matrix: what their certificates rest on, checked in exact fractions, and where they lead."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

import noregret as nr
from noregret._native import follow_matrix, play_matrix, score_matrix
from noregret.errors import DivergedError, SettingError
from noregret.learner import SecondOrderPerceptron, VovkAzouryWarmuth
from noregret.learner import matrix as module
from noregret.loss import squared
from noregret.proof import enclose
from noregret.proof.facts import Facts
from noregret.proof.facts.matrices import matrices
from noregret.proof.solve import best
from noregret.proof.solve.perceptron import whitened
from noregret.proof.solve.points import gather
from noregret.proof.theorem import Verdict
from noregret.proof.theorems import certificates
from noregret.rounds import Rounds
from noregret.state import RECORD
from noregret.stream import Dense
from oracle import inverse
from oracle.elimination import determinant, solved
from oracle.registry import LAYOUTS
from oracle.theorems import dot, fractions, played

FAST = settings(deadline=None, max_examples=150)


def rows(kind, rng, rounds, features):
    """Rows in general position, all but in one line, of every size, and of small whole numbers."""
    X = rng.normal(size=(rounds, features))
    if kind == "near a line":
        return np.outer(rng.normal(size=rounds), rng.normal(size=features)) * 10.0 ** rng.integers(0, 9) + X
    if kind == "of every size":
        return X * 10.0 ** rng.integers(-8, 9, size=(rounds, features))
    return np.round(2.0 * X) if kind == "whole" else X


KINDS = ["plain", "near a line", "of every size", "whole"]
streams = st.builds(
    lambda kind, seed, rounds, features: (rows(kind, np.random.default_rng(seed), rounds, features), seed),
    st.sampled_from(KINDS),
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.integers(1, 3),
)
ridges = st.sampled_from([1e-6, 1e-2, 1.0, 30.0])


def exact_rounds(X, y, k, chosen, a):
    """For each chosen round, without rounding: xᵀA_t⁻¹x and ⟨b_t, A_t⁻¹x⟩; at the end det A_T."""
    n = X.shape[1]
    A, b, found = [[Fraction(a) * (i == j) for j in range(n)] for i in range(n)], [Fraction(0)] * n, []
    for t in chosen:
        x, weight, label = fractions(X[t]), Fraction(float(k[t])), Fraction(float(y[t]))
        A = [[entry + weight * p * q for entry, q in zip(row, x, strict=True)] for row, p in zip(A, x, strict=True)]
        z = solved(A, x)
        found.append((dot(x, z), dot(b, z)))
        b = [p + weight * label * q for p, q in zip(b, x, strict=True)]
    return found, determinant(A)


@FAST
@given(streams, ridges, st.booleans())
def test_the_followed_matrices_enclose_those_of_exact_arithmetic(stream, a, weighted):
    X, seed = stream
    rng = np.random.default_rng(seed)
    y, k = rng.normal(size=len(X)), rng.choice([0.5, 1.0, 3.7], len(X)) if weighted else np.ones(len(X))
    chosen = np.flatnonzero(rng.random(len(X)) < 0.8)
    found = matrices(Rounds(Dense(X), y, k if weighted else None), chosen, a)
    exact, det = exact_rounds(X, y, k, chosen, a)
    for i, (form, score) in enumerate(exact):
        assert Fraction(found.lo[i]) <= form <= Fraction(found.hi[i])
        assert abs(Fraction(found.scores[i]) - score) <= Fraction(found.errors[i])
    size = det / Fraction(a) ** X.shape[1]
    log = math.log(size.numerator) - math.log(size.denominator)
    assert found.log_det.lo <= log + 1e-9 * (1.0 + log)
    assert log - 1e-9 * (1.0 + log) <= found.log_det.hi
    trace = sum((Fraction(float(k[t])) * dot(fractions(X[t]), fractions(X[t])) for t in chosen), start=Fraction(0))
    assert Fraction(found.trace.lo) <= trace <= Fraction(found.trace.hi)


def test_the_followed_matrices_are_narrow_where_the_rows_allow_it():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(500, 20)), rng.normal(size=500)
    found = matrices(Rounds(Dense(X), y), np.arange(500), 1.0)
    assert (found.hi - found.lo).max() < 1e-8
    assert found.errors.max() < 1e-8
    sign, log = np.linalg.slogdet(np.eye(20) + X.T @ X)
    assert sign == 1.0
    assert found.log_det.lo <= log <= found.log_det.hi < found.log_det.lo + 1e-6


@FAST
@given(streams, ridges, st.sampled_from(["mistake", "+1", "-1"]))
def test_the_second_order_bound_holds_in_exact_fractions(stream, a, tie):
    """(M − Σh(v))₊² ≤ (a‖v‖² + Σ_I⟨v,x⟩²)·(Σ_I xᵀA_t⁻¹x + 2Σ_I(y⟨w, A_t⁻¹x⟩)₊), and so the certificates hold."""
    X, seed = stream
    rng = np.random.default_rng(seed)
    y, v = rng.choice([-1.0, 1.0], len(X)), rng.normal(size=X.shape[1])
    try:
        run, rounds = played(SecondOrderPerceptron(ridge=a, tie=tie), X, y)
    except DivergedError:
        return
    evidence = Facts(run, rounds, points={"v_steps": v})
    chosen = evidence.matrices.chosen
    exact, _ = exact_rounds(X, y, np.ones(len(X)), chosen, a)
    growth = sum(
        (form + 2 * max(Fraction(int(y[t])) * score, 0) for t, (form, score) in zip(chosen, exact, strict=True)),
        start=Fraction(0),
    )
    inner = [dot(fractions(v), fractions(x)) for x in X]
    losses = sum(max(Fraction(0), 1 - Fraction(int(label)) * z) for label, z in zip(y, inner, strict=True))
    stretched = Fraction(a) * dot(fractions(v), fractions(v)) + sum((inner[t] ** 2 for t in chosen), start=Fraction(0))
    assert max(len(chosen) - losses, 0) ** 2 <= stretched * growth
    assert [one.theorem for one in certificates(evidence)] == ["second-order-steps", "second-order"]
    for one in certificates(evidence):
        assert one.verdict in (Verdict.HOLDS, Verdict.VACUOUS)
        assert len(chosen) <= one.bound
    steps = next(one for one in certificates(evidence) if one.theorem == "second-order-steps")
    assert max(Fraction(steps.bound) - losses, 0) ** 2 >= stretched * sum(form for form, _ in exact)


@FAST
@given(streams, ridges, st.booleans(), st.sampled_from([1.0, 1e-3, 1e4]))
def test_the_forecasters_regret_is_within_its_bounds(stream, a, weighted, size):
    X, seed = stream
    rng = np.random.default_rng(seed)
    y = size * rng.normal(size=len(X))
    k = rng.choice([0.5, 1.0, 3.7], len(X)) if weighted else None
    try:
        run, rounds = played(VovkAzouryWarmuth(ridge=a), X, y, k)
    except DivergedError:
        return
    found = best(rounds, squared(), math.inf, run.learner.comparator_sigma(len(rounds)), gap=1e-9)
    evidence = Facts(run, rounds, found)
    bounds = {one.theorem: one for one in certificates(evidence)}
    assert set(bounds) == {"vaw-steps", "vaw-determinant", "vaw-dimension"}
    assert all(one.verdict is not Verdict.BROKEN for one in bounds.values())
    assert bounds["vaw-steps"].bound <= bounds["vaw-determinant"].bound * (1 + 1e-9) + bounds["vaw-steps"].values[
        "rounding"
    ] + 1e-6 * (1.0 + bounds["vaw-determinant"].bound)
    assert bounds["vaw-determinant"].bound <= bounds["vaw-dimension"].bound * (1 + 1e-9)


@FAST
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 3), ridges)
def test_the_forecasters_theorem_in_exact_fractions(seed, rounds, features, a):
    """Σ(ŷ−y)² + Σ ŷ²·xᵀA_{t−1}⁻¹x = min_u[Σ(⟨u,x⟩−y)² + a‖u‖²] + Σ y²·xᵀA_t⁻¹x, of which the theorem drops a term."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, (rounds, features)).astype(float), rng.integers(-3, 4, rounds).astype(float)
    exact, _ = exact_rounds(X, y, np.ones(rounds), range(rounds), a)
    labels = fractions(y)
    A = [[Fraction(a) * (i == j) for j in range(features)] for i in range(features)]
    b = [Fraction(0)] * features
    for x, label in zip(map(fractions, X), labels, strict=True):
        A = [[entry + p * q for entry, q in zip(row, x, strict=True)] for row, p in zip(A, x, strict=True)]
        b = [p + label * q for p, q in zip(b, x, strict=True)]
    least = sum(label**2 for label in labels) - dot(b, solved(A, b))
    own = sum((score - label) ** 2 for label, (_, score) in zip(labels, exact, strict=True))
    dropped = sum(score**2 * form / (1 - form) for form, score in exact)
    assert own + dropped == least + sum(label**2 * form for label, (form, _) in zip(labels, exact, strict=True))


def test_the_comparator_with_a_ridge_lies_between_its_ends():
    """min_u Σ(⟨u,x⟩−y)² + a‖u‖² from the normal equations; σT/2 is a, or the least float above."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(300, 6)), rng.normal(size=300)
    for a in (0.3, 1.0, 7.0):
        sigma = VovkAzouryWarmuth(ridge=a).comparator_sigma(300)
        assert 0 <= Fraction(sigma) * 150 - Fraction(a) <= Fraction(a) / 2**51
        rounds = Rounds.of(X, y)
        found = best(rounds, squared(), math.inf, sigma)
        u = np.linalg.solve(a * np.eye(6) + X.T @ X, X.T @ y)
        value = ((X @ u - y) ** 2).sum() + a * u @ u
        assert found.lower <= value * (1 + 1e-12)
        assert found.upper >= value * (1 - 1e-12)
        assert found.gap <= 1e-4
        assert enclose.risk(rounds, squared(), u, sigma).holds(value) or abs(value - found.upper) < 1e-6


def test_no_comparator_near_the_one_found_is_better():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(200, 4)) * [1.0, 10.0, 0.1, 3.0]
    y = np.where(X @ rng.normal(size=4) + rng.normal(size=200) > 0, 1.0, -1.0)
    rounds, chosen, growth = Rounds.of(X, y), np.arange(0, 200, 3), 9.0
    A = np.eye(4) + X[chosen].T @ X[chosen]

    def bound(v):
        return np.maximum(1.0 - y * (X @ v), 0.0).sum() + math.sqrt(growth * v @ A @ v)

    v = whitened(rounds, chosen, 1.0, growth, gap=1e-6, seconds=20.0)
    assert bound(v) < 0.9 * bound(np.zeros(4))
    for _ in range(300):
        assert bound(v) <= bound(v + 10.0 ** rng.uniform(-4, 0) * rng.normal(size=4) * np.abs(v).mean()) + 1e-3


def test_rows_too_many_to_whiten_still_have_a_comparator(monkeypatch):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(200, 4))
    y = np.where(X @ rng.normal(size=4) > 0, 1.0, -1.0)
    run, rounds = played(SecondOrderPerceptron(), X, y)
    monkeypatch.setattr("noregret.proof.solve.perceptron.ENTRIES", 1)
    found = certificates(gather(Facts(run, rounds)))
    assert {one.verdict for one in found} == {Verdict.HOLDS}
    assert max(one.bound for one in found) < 150.0


def test_the_bound_of_the_second_order_perceptron_uses_the_losses_of_all_rounds():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(400, 5))
    y = np.where(X @ rng.normal(size=5) + 0.5 * rng.normal(size=400) > 0, 1.0, -1.0)
    run, rounds = played(SecondOrderPerceptron(), X, y)
    found = gather(Facts(run, rounds))
    at_zero = found.at(steps=np.zeros(5))
    assert {one.verdict for one in certificates(at_zero)} == {Verdict.VACUOUS}
    assert all(one.bound == pytest.approx(400.0) for one in certificates(at_zero))
    tightest = min(one.bound for one in certificates(found))
    assert run.mistakes <= tightest < 200.0


def test_weights_other_than_one_leave_its_bound_unmet():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(30, 2)), rng.choice([-1.0, 1.0], 30)
    run, rounds = played(SecondOrderPerceptron(), X, y, np.where(y > 0, 2.0, 1.0))
    assert {one.verdict for one in certificates(gather(Facts(run, rounds)))} == {Verdict.UNMET}


@pytest.mark.parametrize("bias", [False, True])
def test_the_forecaster_comes_to_ridge_regression(bias):
    """Its weights are ridge regression's on the rounds so far; its predictions, shrunk by 1 + xᵀA⁻¹x, come close."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(20_000, 8))
    y = X @ rng.normal(size=8) + 0.3 * bias + rng.normal(size=20_000)
    learned = nr.VovkAzouryWarmuth(ridge=2.0, bias=bias)
    longer = np.hstack([np.ones((len(X), 1)), X]) if bias else X
    for start, stop in ((0, 50), (50, 1000), (1000, 20_000)):
        learned.partial_fit(X[start:stop], y[start:stop])
        theirs = Ridge(alpha=2.0, fit_intercept=False, solver="cholesky").fit(longer[:stop], y[:stop])
        ours = np.concatenate([[learned.intercept_], learned.coef_]) if bias else learned.coef_
        assert ours == pytest.approx(theirs.coef_, rel=1e-9, abs=1e-11)
        assert learned.predict(X[:50]) == pytest.approx(theirs.predict(longer[:50]), rel=40.0 * 9 / stop, abs=1e-9)


def test_the_inverse_stays_an_inverse_over_many_rounds():
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(5000, 6)) * [1.0, 1e3, 1e-3, 1.0, 30.0, 0.1], rng.normal(size=5000)
    core = VovkAzouryWarmuth()
    core.play(Dense(X), y)
    n = core.places
    assert np.array_equal(core.A, core.A.T)
    assert np.array_equal(core.B, core.B.T)
    assert core.A[:n, :n] @ core.B[:n, :n] == pytest.approx(np.eye(n), abs=1e-8)
    assert core.weights == pytest.approx(np.linalg.solve(np.eye(n) + X.T @ X, X.T @ y), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("kind", [SecondOrderPerceptron, VovkAzouryWarmuth])
def test_cuts_across_the_rounds_where_the_inverse_is_taken_afresh_change_nothing(kind, layout):
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(300, 3)), rng.choice([-1.0, 1.0], 300)
    X[100] *= 1e6  # and one row that calls for it at once
    whole, parts = kind(), kind()
    scores = whole.play(LAYOUTS[layout](X), y)
    cuts = [0, 63, 64, 65, 100, 101, 127, 128, 129, 255, 256, 257, 300]
    found = [parts.play(LAYOUTS[layout](X[a:b]), y[a:b]) for a, b in itertools.pairwise(cuts)]
    assert np.concatenate(found).tobytes() == scores.tobytes()
    assert all(
        one.tobytes() == other.tobytes()
        for one, other in zip(whole.arrays().values(), parts.arrays().values(), strict=True)
    )


@pytest.mark.parametrize("kind", [SecondOrderPerceptron, VovkAzouryWarmuth])
def test_a_feature_never_learned_from_counts_nothing_in_a_prediction(kind):
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(40, 3)), rng.choice([-1.0, 1.0], 40)
    core = kind(bias=True)
    core.play(Dense(X), y)
    expected = core.scores(Dense(X))
    wider = np.hstack([X, 5.0 * np.ones((40, 2))])
    for layout in ("dense", "sparse"):
        assert core.scores(LAYOUTS[layout](wider)) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("kind", [SecondOrderPerceptron, VovkAzouryWarmuth])
@pytest.mark.parametrize("ridge", [0.0, -1.0, math.inf, math.nan, "1"])
def test_the_ridge_must_be_positive_and_finite(kind, ridge):
    with pytest.raises(SettingError, match=f"{kind.name}: ridge must be positive and finite, got"):
        kind(ridge=ridge)


def test_more_features_than_there_is_memory_for_is_said_with_how_many_fit(monkeypatch):
    monkeypatch.setattr(module, "free_memory", lambda: 16 * 10**8 // 4096 * 4096)
    core = SecondOrderPerceptron()
    with pytest.raises(
        SettingError, match=r"20000 features need two matrices of 3\.2 GB each, .* enough for 10000 feat"
    ):
        core.grow(20_000, sparse=True)
    assert core.width == 0


@pytest.mark.parametrize("kind", [SecondOrderPerceptron, VovkAzouryWarmuth])
def test_rows_that_would_overflow_stop_the_run_with_a_sentence(kind):
    core = kind()
    with pytest.raises(DivergedError, match="the matrix or the loss would overflow in round 2: use a larger ridge"):
        core.play(Dense(np.array([[1.0], [1e160]])), np.array([1.0, -1.0]))
    assert core.rounds == 1


def test_a_followed_run_with_other_scores_pays_for_them():
    """A certificate is about the predictions that were made: wrong ones enter the bound as rounding does."""
    rng = np.random.default_rng(13)
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    run, rounds = played(VovkAzouryWarmuth(), X, y)
    found = best(rounds, squared(), math.inf, run.learner.comparator_sigma(50))
    other = replace(rounds, scores=rounds.scores + 0.1)
    honest, moved = (
        next(one for one in certificates(Facts(run, some, found)) if one.theorem == "vaw-steps")
        for some in (rounds, other)
    )
    assert honest.values["rounding"] < 1e-9
    assert moved.values["rounding"] > 0.1
    assert moved.verdict is not Verdict.BROKEN


@pytest.mark.parametrize("kind", [SecondOrderPerceptron, VovkAzouryWarmuth])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("columns", [1, 3, 6, 13])
@pytest.mark.parametrize("bias", [False, True])
def test_every_bit_is_that_of_plain_loops(kind, layout, columns, bias):
    rng = np.random.default_rng(columns)
    X = rng.normal(size=(300, columns)) * (rng.random((300, columns)) < (0.2 if columns > 6 else 0.8))
    X[100] *= 1e4  # a row that cancels digits of the inverse
    y, weights = rng.choice([-1.0, 1.0], 300), rng.choice([0.5, 1.0, 3.0], 300)
    learner = kind(ridge=0.5, bias=bias)
    scores = learner.play(LAYOUTS[layout](X), y, weights)
    rows = np.column_stack([np.ones(300), X]) if bias else X
    given = (rows.tolist(), y.tolist(), 0.5, weights.tolist())
    expected, *arrays = inverse.second_order(*given, every=kind is VovkAzouryWarmuth)
    assert scores.tolist() == expected
    for name, values in zip("ABbu", arrays, strict=True):
        assert np.array_equal(learner.arrays()[name], values), name
    later = learner.scores(LAYOUTS[layout](X))
    for x, score in zip(rows.tolist(), later.tolist(), strict=True):
        assert score == inverse.along(x, arrays[3]) / (1.0 + max(inverse.along(x, inverse.product(arrays[1], x)), 0.0))


def test_matrices_too_small_for_a_row_are_not_written_to():
    small, record = np.eye(2), np.zeros(1, RECORD)
    vectors = [np.zeros(2) for _ in range(3)]
    rows, y, out = np.ones((1, 3)), np.ones(1), np.zeros(1)
    assert play_matrix(rows, y, np.zeros(0), small, np.eye(2), *vectors, 2, record, out) == 0
    score_matrix(rows, False, np.eye(2), vectors[0], 2, record, vectors[1], out)
    assert math.isnan(out[0])
    with pytest.raises(ValueError, match="wider than the matrices"):
        follow_matrix(rows, y, np.zeros(0), np.zeros(1, np.int64), 1.0, small, small, *vectors, 2, np.zeros((1, 5)))
    with pytest.raises(ValueError, match="no room for so many features"):
        play_matrix(rows, y, np.zeros(0), small, small, *vectors, 3, record, out)
