"""The perceptron's certificates: known numbers, exact twins, and no theorem ever broken on any stream."""

import math
import os
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from noregret.errors import DivergedError
from noregret.interval import Interval
from noregret.learner import Perceptron
from noregret.proof.facts import Facts
from noregret.proof.solve.points import gather
from noregret.proof.theorem import Verdict
from noregret.proof.theorems import THEOREMS, certificates
from noregret.proof.theorems.convex import SQUARED_HINGE_SLOPE, admissible, squared_hinge_root
from noregret.proof.theorems.hinge import exact_root, explicit, implicit, l2, l2_sum, squared_sum
from oracle.theorems import Exact, played

THOROUGH = bool(os.environ.get("NOREGRET_THOROUGH"))
few = settings(max_examples=10_000 if THOROUGH else 60)
solved = settings(max_examples=500 if THOROUGH else 15)
MISTAKE_THEOREMS = [one for one in THEOREMS.values() if "perceptron" in one.learners]


def evidence_of(X, y, v=None, weights=None, **settings):
    run, rounds = played(Perceptron(**settings), X, y, weights)
    found = Facts(run, rounds)
    return found if v is None else found.at(given=np.asarray(v, dtype=np.float64))


def by_name(evidence):
    return {one.theorem: one for one in certificates(evidence)}


def never_broken(found):
    assert [one.theorem for one in found if one.verdict is Verdict.BROKEN] == []


# -- the project's golden numbers ------------------------------------------------------------------------------------

AXES = [[1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1]] * 2
AXES_LABELS = [1, 1, -1, -1, 1, -1] * 2
MARGIN = [[2, 1], [1, 1], [-1, 1], [-2, 1], [0.5, 1], [-0.5, 1]] * 3
MARGIN_LABELS = [1, 1, -1, -1, 1, -1] * 3
FORMS = ("eq3", "eq4", "eq4root", "eq7", "eq8", "T2116", "eq5_fix", "eq6_fix")
# stream, tie, v, then each form with the losses of the mistake rounds alone and with those of all rounds
GOLDEN = [
    ([[1]] * 6, [1, -1] * 3, "mistake", [0.0], [6.0] * 8, [6.0] * 8),
    (
        [[1]] * 6, [1, -1] * 3, "+1", [-0.25],
        [
            5.30901699437, 5.90222473589, 5.32700778739, 5.87736389316,
            5.97187054842, 5.35736236794, 5.93053398875, 6.04147010829,
        ],
        [
            6.55901699437, 7.28724487139, 6.6444192772, 7.45109383784,
            7.6999381173, 6.6748724357, 7.49303398875, 7.76861144564,
        ],
    ),
    *[
        (
            AXES, AXES_LABELS, tie, [1.0, 0.618],
            [
                4.01061560522, 8.05462680469, 5.15753045842, 4.33830157993,
                6.16687146856, 6.10023740235, 5.93100321044, 12.3662256308,
            ],
            [
                5.39261560522, 11.0556959979, 7.23606797946, 5.30142334655,
                7.97113644196, 8.29177199896, 6.60477521044, 13.6171277346,
            ],
        )
        for tie in ("mistake", "+1")
    ],
    (
        MARGIN, MARGIN_LABELS, "mistake", [1.0, 0.0],
        [
            3.0, 8.66227766017, 5.95803989155, 3.42539052968,
            7.4860679775, 7.08113883008, 5.25, 20.496950766,
        ],
        [
            5.5, 15.7459666924, 10.1097722286, 5.32665596573,
            11.9772255751, 11.8729833462, 6.5, 22.901754251,
        ],
    ),
    (
        MARGIN, MARGIN_LABELS, "+1", [1.0, 0.0],
        [
            2.30277563773, 8.66227766017, 5.95803989155, 2.61065110913,
            7.4860679775, 7.08113883008, 3.85555127546, 20.496950766,
        ],
        [
            4.80277563773, 15.7459666924, 10.1097722286, 4.36016697792,
            11.9772255751, 11.8729833462, 5.10555127546, 22.901754251,
        ],
    ),
]  # fmt: skip


def forms(evidence, c, a2):
    """Every closed form at the evidence's comparator, Σh and Σh² being given."""
    (one,) = evidence.comparators.values()
    found = evidence.mistakes
    R, b, a = found.mistake_norm2.sqrt(), one.norm * found.radius, a2.sqrt()
    return {
        "eq3": implicit(c, one.norm * R),
        "eq4": squared_sum(c, b),
        "eq4root": exact_root(c, b),
        "eq7": l2(a, one.norm * R),
        "eq8": l2_sum(a, b),
        "T2116": explicit(c, b),
        "eq5_fix": admissible(a2, one.norm * R, SQUARED_HINGE_SLOPE),
        "eq6_fix": squared_hinge_root(a2, b),
    }


@pytest.mark.parametrize(("X", "y", "tie", "v", "on_mistakes", "on_all"), GOLDEN)
def test_known_bounds(X, y, tie, v, on_mistakes, on_all):
    evidence = evidence_of(X, y, v, tie=tie)
    (one,) = evidence.comparators.values()
    found = forms(evidence, one.hinge, one.hinge2)
    assert [found[name].hi for name in FORMS] == pytest.approx(on_all, abs=1e-9)
    h = np.maximum(1.0 - np.array(y) * (np.array(X) @ np.array(v)), 0.0)[evidence.updates]
    found = forms(evidence, Interval.of(float(h.sum())), Interval.of(float((h * h).sum())))
    assert [found[name].hi for name in FORMS] == pytest.approx(on_mistakes, abs=1e-9)


@pytest.mark.parametrize(("X", "y", "tie", "v", "on_mistakes", "on_all"), GOLDEN)
def test_certificates_print_the_known_bounds(X, y, tie, v, on_mistakes, on_all):
    found = by_name(evidence_of(X, y, v, tie=tie))
    names = ["hinge-mistakes", "hinge-squared-sum", "hinge-root", "l2-mistakes", "l2-radius", "hinge-explicit"]
    assert [found[name].bound for name in names] == pytest.approx(on_all[:6], abs=1e-9)
    never_broken(found.values())


# stream, tie, Φ(R_I), Φ(‖S‖), q*
TIGHTEST = [
    ([[1]] * 6, [1, -1] * 3, "mistake", 6.0, 6.0, 6.0),
    ([[1]] * 6, [1, -1] * 3, "+1", 6.0, 6.0, 6.0),
    (AXES, AXES_LABELS, "mistake", 5.0, 5.0, 7.2360679775),
    (AXES, AXES_LABELS, "+1", 5.0, 5.0, 7.2360679775),
    (MARGIN, MARGIN_LABELS, "mistake", 5.0, 5.0, 10.1097722286),
    (MARGIN, MARGIN_LABELS, "+1", 3.6055512755, 3.0, 10.1097722286),
]


@pytest.mark.parametrize(("X", "y", "tie", "by_norms", "by_sum", "order_free"), TIGHTEST)
def test_the_best_comparators_give_the_known_optima(X, y, tie, by_norms, by_sum, order_free):
    run, rounds = played(Perceptron(tie=tie), X, y)
    found = by_name(gather(Facts(run, rounds), gap=1e-7))
    for name, value in (("hinge-mistakes", by_norms), ("hinge-sum", by_sum), ("order-free", order_free)):
        assert found[name].bound == pytest.approx(value, abs=1e-5)
        assert found[name].values["no_comparator_below"] == pytest.approx(value, abs=1e-5)
        assert found[name].values["no_comparator_below"] <= found[name].bound
    never_broken(found.values())


def test_novikoff_on_the_axes_is_attained_and_known_to_be_the_least():
    run, rounds = played(Perceptron(), np.eye(5), np.ones(5))
    found = by_name(gather(Facts(run, rounds), gap=1e-8))
    for name in ("novikoff", "novikoff-mistakes", "novikoff-sum"):
        assert found[name].observed == 5.0
        assert 5.0 <= found[name].bound == pytest.approx(5.0, abs=1e-5)
    assert found["novikoff"].values["no_separator_below"] == pytest.approx(5.0, abs=1e-5)
    assert found["novikoff"].values["no_separator_below"] <= 5.0
    assert found["novikoff"].values["margin"] == pytest.approx(1 / math.sqrt(5), abs=1e-5)


def test_novikoff_from_another_start_is_its_exact_root():
    """w₁ = −10, u = 1, x = y = 1: M ≤ −a + b²/2 + √(b²(b²/4 − a) + n²) with a = −10, b = 1, n = 10."""
    run, rounds = played(Perceptron(start=[-10.0]), [[1.0]] * 15, [1.0] * 15)
    found = by_name(Facts(run, rounds, points={"separator": np.ones(1)}))
    assert found["novikoff"].observed == 11.0
    assert found["novikoff"].bound == pytest.approx(10 + 0.5 + math.sqrt(0.25 + 10 + 100), rel=1e-12)
    assert found["novikoff-mistakes"].bound == pytest.approx(math.sqrt(111) + 10, rel=1e-12)
    assert found["novikoff"].verdict is found["novikoff-mistakes"].verdict is Verdict.VACUOUS


# -- no theorem is ever broken ---------------------------------------------------------------------------------------

TIES = st.sampled_from(["mistake", "+1", "-1"])
RATES = st.sampled_from([1.0, 0.1, 3.0, 2.0**-20, 1e50])
PARTS = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(1e-8, 10.0) | st.floats(-10.0, -1e-8),
    st.sampled_from([0.1, 0.2, 0.3, -0.1, 1e16, -1e16, 1e8, 1e-8, 1.0 + 2.0**-52]),
)
SCALES = st.sampled_from([1.0, 1.0, 1.0, 1e-100, 1e-30, 1e30, 1e100])


@st.composite
def streams(draw, longest=14, widest=3):
    """Rows with ties, zeros, duplicates and cancellation, in every scale."""
    width = draw(st.integers(1, widest))
    few_rows = draw(st.lists(st.lists(PARTS, min_size=width, max_size=width), min_size=1, max_size=5))
    order = draw(st.lists(st.integers(0, len(few_rows) - 1), min_size=1, max_size=longest))
    X = np.array([few_rows[i] for i in order]) * draw(SCALES)
    y = draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=len(X), max_size=len(X)))
    return X, np.array(y)


@st.composite
def comparators(draw, width, X):
    """Any vector, in the scale of the rows' inverse more often than not."""
    v = np.array(
        draw(st.lists(st.just(0.0) | st.floats(1e-8, 3.0) | st.floats(-3.0, -1e-8), min_size=width, max_size=width))
    )
    size = float(np.abs(X).max(initial=0.0))
    return v / size if size > 0.0 and draw(st.booleans()) else v


@few
@given(streams(), TIES, RATES, st.booleans(), st.data())
def test_certificates_agree_with_exact_fractions(stream, tie, rate, bias, data):
    """On every stream: no theorem is broken, and exact arithmetic stands by every bound that is printed."""
    X, y = stream
    width = X.shape[1]
    start = data.draw(st.none() | st.lists(st.integers(-5, 5).map(float), min_size=width, max_size=width))
    v = data.draw(comparators(width + bias, X))
    try:
        evidence = evidence_of(X, y, v, tie=tie, rate=rate, bias=bias, start=start)
    except DivergedError:  # 1e116 by a step of 1e50
        assume(False)
    updated = evidence.updates
    assert evidence.mistakes.count == evidence.run.mistakes == len(updated)
    exact = Exact(X, y, updated, start, rate, bias)
    if evidence.mistakes.premise:
        assert exact.premise
        assert exact.norm_lemma()
    within = exact.within(v)
    found = by_name(evidence)
    never_broken(found.values())
    for name, holds in within.items():
        if found[name].verdict in (Verdict.HOLDS, Verdict.VACUOUS):
            assert holds, name  # a printed bound is one that exact arithmetic stands by
        else:
            assert found[name].verdict is Verdict.UNMET
            assert not evidence.mistakes.premise


def test_the_bounds_that_exact_fractions_stand_by():
    """Those that the test above compares: all whose formula has no logarithm, no separator and no solver in it."""
    known = Exact(np.eye(2), np.ones(2), [0, 1], None, 1.0, False).within(np.ones(2))
    assert set(known) == {
        "hinge-sum",
        "hinge-mistakes",
        "hinge-radius",
        "hinge-root",
        "hinge-explicit",
        "hinge-squared-sum",
        "l2-mistakes",
        "l2-radius",
        "squared-hinge-mistakes",
        "squared-hinge-radius",
    }
    assert all(known.values())


@few
@given(streams(), TIES, st.data())
def test_the_premise_is_found_wherever_it_holds_for_plain_numbers(stream, tie, data):
    """Small whole numbers are never rounded: there the premise holds, and nothing but a separator is unmet."""
    X, y = stream
    X = np.rint(np.clip(X, -50.0, 50.0))
    evidence = evidence_of(X, y, data.draw(comparators(X.shape[1], X)), tie=tie)
    assert evidence.mistakes.premise
    unmet = {one.theorem for one in certificates(evidence) if one.verdict is Verdict.UNMET}
    assert unmet == {"novikoff", "novikoff-mistakes", "novikoff-sum", "order-free"}


@few
@given(streams(), TIES, st.data())
def test_the_exact_roots_are_never_above_the_closed_forms(stream, tie, data):
    X, y = stream
    evidence = evidence_of(X, y, data.draw(comparators(X.shape[1], X)), tie=tie)
    assume(evidence.mistakes.premise)
    found = {name: one.bound for name, one in by_name(evidence).items() if one.bound is not None}
    ladder = ["hinge-root", "hinge-explicit", "hinge-squared-sum"]
    for low, high in pairwise(ladder):
        assert found[low] <= found[high] * (1.0 + 1e-12) + 1e-12
    assert found["hinge-sum"] <= found["hinge-mistakes"] * (1.0 + 1e-12) + 1e-12


@solved
@given(streams(longest=10), TIES)
def test_with_solved_comparators_nothing_is_broken_and_no_lower_end_lies_above(stream, tie):
    run, rounds = played(Perceptron(tie=tie), *stream)
    evidence = gather(Facts(run, rounds), seconds=2.0)
    found = by_name(evidence)
    never_broken(found.values())
    for one in found.values():
        if one.bound is not None:
            assert one.values.get("no_comparator_below", 0.0) <= one.bound
            assert one.values.get("no_separator_below", 0.0) <= one.bound
            assert set(one.points) <= set(evidence.points)
    exact = Exact(*stream, Facts(run, rounds).updates)
    assert evidence.lower_ends["root"] <= exact.order_free_lower_end(np.clip(evidence.points["beta_root"], 0.0, 1.0))
    again = Facts(run, rounds, points=evidence.points)  # what a receipt's reader does
    assert [one.to_dict() for one in certificates(again)] == [one.to_dict() for one in certificates(evidence)]


# -- the premise and the weights -------------------------------------------------------------------------------------

CANCELLING = [[1.0, 1e16, -1e16], [1.0, 1.0, 1.0]]


def test_a_run_that_rounding_led_astray_has_only_the_bound_that_needs_no_premise():
    """x₁ = (1, 1e16, −1e16), x₂ = (1, 1, 1): the float run updates twice, and exactly ‖S‖² − R_I² = 2."""
    evidence = evidence_of(CANCELLING, [1, 1], [0.5, 0.0, 0.0])
    assert evidence.mistakes.count == 2
    assert not evidence.mistakes.premise
    assert not Exact(CANCELLING, [1, 1], [0, 1]).norm_lemma()
    verdicts = {one.theorem: one.verdict for one in certificates(evidence)}
    assert verdicts.pop("hinge-sum") is Verdict.VACUOUS
    assert set(verdicts.values()) == {Verdict.UNMET}


def test_sample_weights_leave_no_mistake_bound():
    evidence = evidence_of([[1.0], [2.0]], [1, -1], [1.0], weights=np.array([1.0, 2.0]))
    assert {one.verdict for one in certificates(evidence)} == {Verdict.UNMET}
    (first, *_) = by_name(evidence)["hinge-sum"].assumptions
    assert first.to_dict() == {"statement": "every round weighs 1", "checked": True, "holds": False}


def test_weights_of_one_and_nought_are_no_weights():
    evidence = evidence_of([[1.0], [2.0]], [1, -1], [1.0], weights=np.array([1.0, 0.0]))
    assert by_name(evidence)["hinge-sum"].verdict is not Verdict.UNMET


def test_a_separator_that_does_not_separate_is_not_believed():
    run, rounds = played(Perceptron(), [[1.0], [2.0]], [1, 1])
    for u, verdict in ((1.0, Verdict.HOLDS), (math.nextafter(1.0, 0.0), Verdict.UNMET)):
        found = by_name(Facts(run, rounds, points={"separator": np.array([u])}))
        assert found["novikoff-sum"].verdict is verdict


def test_the_losses_are_those_of_all_rounds():
    """At v = 0 every bound is at least the number of rounds; over the mistakes alone it would be M."""
    evidence = evidence_of([[1.0]] * 9, [1] * 9, [0.0])
    assert evidence.run.mistakes == 1
    for one in certificates(evidence):
        if one.theorem.startswith(("hinge", "l2", "logistic", "squared")):
            assert one.bound >= 9.0
            assert one.verdict is Verdict.VACUOUS


def test_a_run_without_mistakes_has_bounds_too():
    evidence = evidence_of([[1.0], [2.0]], [1, 1], [1.0], tie="+1")
    assert evidence.run.mistakes == 0
    assert by_name(evidence)["hinge-mistakes"].verdict is Verdict.HOLDS
    assert by_name(evidence)["norm-lemma"].verdict is Verdict.HOLDS


def test_evidence_asks_for_the_rounds_of_the_run():
    run, rounds = played(Perceptron(), [[1.0], [2.0]], [1, 1])
    with pytest.raises(ValueError, match="facts: the run has 2 rounds with scores, and 1 were given"):
        Facts(run, rounds.first(1))
    with pytest.raises(ValueError, match="facts: the run has 2 rounds"):
        Facts(run, replace(rounds, scores=None))
