"""The perceptron's theorems, in exact arithmetic: small whole numbers, so that the float run is the exact one."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import noregret as nr
from noregret.learner import Perceptron
from noregret.stream import Dense

TIES = st.sampled_from(["mistake", "+1", "-1"])
WHOLE = st.integers(-3, 3)


@st.composite
def streams(draw, longest=30):
    """(X, y) of whole numbers."""
    columns = draw(st.integers(1, 4))
    rows = draw(
        st.lists(st.tuples(st.tuples(*[WHOLE] * columns), st.sampled_from([-1, 1])), min_size=1, max_size=longest)
    )
    return [list(x) for x, _ in rows], [y for _, y in rows]


@st.composite
def comparators(draw, columns):
    return [Fraction(draw(st.integers(-8, 8)), draw(st.integers(1, 8))) for _ in range(columns)]


def play(X, y, **settings):
    return nr.play(Perceptron(**settings), (np.array(X, float), y), mistakes=True)


def dot(a, b):
    return sum(p * q for p, q in zip(a, b, strict=True))


def hinge(v, X, y):
    return sum(max(Fraction(0), 1 - label * dot(v, x)) for x, label in zip(X, y, strict=True))


def whole(number):
    """A float that is a whole number, as that number."""
    assert number == int(number)
    return int(number)


@given(streams(), TIES)
def test_the_weights_are_no_longer_than_the_mistakes_together(stream, tie):
    """Norm lemma: ‖w‖² ≤ Σ_I ‖x‖², from w₁ = 0, whatever a tie counts as."""
    run = play(*stream, tie=tie)
    assert sum(whole(w) ** 2 for w in run.learner.weights) <= whole(run.mistake_norm2)


@given(streams(), TIES, st.data())
def test_mistakes_are_bounded_by_any_comparators_hinge_loss(stream, tie, data):
    """M ≤ Σ_{t≤T} h_t(v) + ‖v‖·R_I ≤ Σ_{t≤T} h_t(v) + ‖v‖·r·√M for every v, the losses taken over all rounds."""
    X, y = stream
    run = play(X, y, tie=tie)
    v = data.draw(comparators(len(X[0])))
    excess = max(run.mistakes - hinge(v, X, y), Fraction(0))
    assert excess**2 <= dot(v, v) * whole(run.mistake_norm2)
    assert excess**2 <= dot(v, v) * whole(run.max_norm2) * run.mistakes


@given(streams(), TIES, st.data())
def test_a_separator_with_a_margin_bounds_the_mistakes(stream, tie, data):
    """Novikoff: M ≤ (r‖u‖/γ)², and M·γ ≤ ⟨u, w⟩ ≤ ‖u‖·R_I, in any number of passes."""
    X, _ = stream
    u = data.draw(comparators(len(X[0])))
    X = [x for x in X if dot(u, x) != 0]
    assume(X)
    y = [1 if dot(u, x) > 0 else -1 for x in X]
    run = nr.play(Perceptron(tie=tie), (np.array(X, float), y), passes=3)
    margin = min(label * dot(u, x) for x, label in zip(X, y, strict=True))
    assert run.mistakes * margin**2 <= dot(u, u) * whole(run.max_norm2)
    assert run.mistakes * margin <= dot(u, map(whole, run.learner.weights))
    assert (run.mistakes * margin) ** 2 <= dot(u, u) * whole(run.mistake_norm2)


@pytest.mark.parametrize("columns", [1, 4, 60, 100])
def test_novikoff_is_attained_on_the_axes(columns):
    run = play(np.eye(columns), np.ones(columns))
    assert run.mistakes == columns == run.max_norm2 * columns  # u = (1, …, 1): γ = 1, ‖u‖² = d


def test_the_hinge_bound_is_attained():
    """x = y = 1 and v = ½: M = 1 = ½ + ½·1."""
    run = play([[1]], [1])
    assert run.mistakes == hinge([Fraction(1, 2)], [[1]], [1]) + Fraction(1, 2) * whole(run.mistake_norm2)


@given(streams(), TIES, st.sampled_from([2.0**-20, 0.25, 2.0, 2.0**30]))
def test_from_zero_the_rate_changes_no_mistake(stream, tie, rate):
    assert play(*stream, tie=tie).mistake_rounds.tolist() == play(*stream, tie=tie, rate=rate).mistake_rounds.tolist()


@given(streams(), TIES, st.sampled_from([0.25, 1.0, 4.0]), st.data())
def test_from_another_start_the_bound_counts_the_start(stream, tie, rate, data):
    """M ≤ Σh(v) + ‖v‖√(‖w₁‖²/η² + R_I²) − ⟨v, w₁⟩/η."""
    X, y = stream
    start = data.draw(st.lists(WHOLE, min_size=len(X[0]), max_size=len(X[0])))
    v = data.draw(comparators(len(X[0])))
    run = play(X, y, tie=tie, rate=rate, start=start)
    eta = Fraction(rate)
    excess = max(run.mistakes - hinge(v, X, y) + dot(v, start) / eta, Fraction(0))
    assert excess**2 <= dot(v, v) * (dot(start, start) / eta**2 + whole(run.mistake_norm2))


def test_the_norm_lemma_needs_a_start_at_zero():
    """w₁ = −10, x = y = 1: eleven mistakes, and ‖Σ y·x‖ = 11 > √11."""
    run = play([[1]] * 15, [1] * 15, start=[-10.0])
    assert run.mistakes == 11
    assert run.learner.weights.tolist() == [1.0]
    assert (run.learner.weights[0] + 10.0) ** 2 > run.mistake_norm2


@given(st.lists(st.tuples(WHOLE, WHOLE, WHOLE), min_size=1, max_size=25), TIES)
def test_an_adversary_forces_a_mistake_in_every_round_and_the_lemma_still_holds(rows, tie):
    learner = Perceptron(tie=tie)
    answer = {"mistake": 1.0, "+1": -1.0, "-1": 1.0}[tie]
    for x in np.array(rows, float):
        row = x.reshape(1, -1)
        score = float(learner.weights @ x) if learner.rounds else 0.0
        learner.play(Dense(row), np.array([-np.sign(score) if score else answer]))
    assert learner.state["mistakes"][0] == learner.rounds == len(rows)
    assert sum(whole(w) ** 2 for w in learner.weights) <= whole(learner.state["mistake_row2"][0])


def test_a_bias_counts_in_the_norms():
    """(½,+), (−½,−): γ = ½ for u = (1, 0). With r² = ¼ the bound would be 1; played are (x, 1), r² = 5/4: 5."""
    run = play([[0.5], [-0.5]], [1, -1], bias=True)
    assert run.mistakes == 2
    assert run.max_norm2 == 1.25


def test_passes_count_every_round():
    """{(1,+), (1,−)}: twenty mistakes in ten passes."""
    run = nr.play(Perceptron(), (np.ones((2, 1)), [1, -1]), passes=10)
    assert (run.rounds, run.mistakes) == (20, 20)


AXES = [[1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1]] * 2
AXES_LABELS = [1, 1, -1, -1, 1, -1] * 2
MARGIN = [[2, 1], [1, 1], [-1, 1], [-2, 1], [0.5, 1], [-0.5, 1]] * 3
MARGIN_LABELS = [1, 1, -1, -1, 1, -1] * 3
# from the theory notes' verified cases: stream, tie, mistake rounds, w after each round, R_I, max ‖x‖, ‖w‖
KNOWN = [
    ([[1]] * 6, [1, -1] * 3, "mistake", [0, 1, 2, 3, 4, 5], [[1], [0]] * 3, 2.44948974278, 1.0, 0.0),
    ([[1]] * 6, [1, -1] * 3, "+1", [1, 2, 3, 4, 5], [[0], [-1]] * 3, 2.2360679775, 1.0, 1.0),
    (
        AXES, AXES_LABELS, "mistake", [0, 1, 5, 7],
        [[1, 0], *[[1, 1]] * 4, [2, 0], [2, 0], *[[2, 1]] * 5],
        2.2360679775, 1.41421356237, 2.2360679775,
    ),
    (
        AXES, AXES_LABELS, "+1", [2, 3, 5, 9],
        [[0, 0], [0, 0], [1, 0], [1, 1], [1, 1], *[[2, 0]] * 4, *[[2, 1]] * 3],
        2.2360679775, 1.41421356237, 2.2360679775,
    ),
    (MARGIN, MARGIN_LABELS, "mistake", [0, 5], [*[[2, 1]] * 5, *[[2.5, 0]] * 13], 2.5, 2.2360679775, 2.5),
    (
        MARGIN, MARGIN_LABELS, "+1", [2, 4],
        [[0, 0], [0, 0], [1, -1], [1, -1], *[[1.5, 0]] * 14],
        1.80277563773, 2.2360679775, 1.5,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("X", "y", "tie", "rounds", "W", "R", "r", "norm"), KNOWN)
def test_known_runs(X, y, tie, rounds, W, R, r, norm):
    run = play(X, y, tie=tie)
    assert run.mistake_rounds.tolist() == rounds
    assert run.mistakes == len(rounds)
    assert [play(X[: t + 1], y[: t + 1], tie=tie).learner.weights.tolist() for t in range(len(y))] == W
    assert math.sqrt(run.mistake_norm2) == pytest.approx(R, rel=1e-11)
    assert run.max_norm == pytest.approx(r, rel=1e-11)
    assert run.learner.weight_norm == pytest.approx(norm, rel=1e-11)


@pytest.mark.parametrize(("tie", "first"), [("mistake", [0, 1]), ("+1", [1]), ("-1", [0])])
def test_a_score_of_zero_counts_as_the_tie_rule_says(tie, first):
    """Two rows on different axes: both scores are 0."""
    assert play([[1, 0], [0, 1]], [1, -1], tie=tie).mistake_rounds.tolist() == first


@given(streams(), st.sampled_from([1.0, 0.1, 1e-5, 3.0, 1e50]))
def test_the_mistakes_are_those_of_exact_arithmetic_for_every_rate(stream, rate):
    """In floats 0.1 + 0.1 + 0.1 is not 0.3: sums must be kept in units of the step."""
    X, y = stream
    w, wrong = [Fraction(0)] * len(X[0]), []
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        if label * sum(a * b for a, b in zip(w, x, strict=True)) <= 0:
            w = [a + label * b for a, b in zip(w, x, strict=True)]
            wrong.append(t)
    run = nr.play(Perceptron(rate=rate), (X, y), mistakes=True)
    assert run.mistake_rounds.tolist() == wrong
