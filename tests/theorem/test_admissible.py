"""Theorem 2 of Mohri & Rostamizadeh for any convex loss, and L1 beside L2: random, alternating and worst streams."""

import math
import os
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import ReceiptError, SettingError
from noregret.learner import AveragedPerceptron, Perceptron
from noregret.loss import TWO_CLASSES, parse
from noregret.proof.certify import certify
from noregret.proof.facts import Facts
from noregret.proof.receipt import Receipt
from noregret.proof.solve.points import gather
from noregret.proof.theorem import Verdict
from noregret.proof.theorems import THEOREMS
from noregret.proof.verify import verify
from oracle.theorems import Exact, dot, fractions, played

EXAMPLES = int(os.environ.get("NOREGRET_THOROUGH", "300"))
LOSSES = [*(name for name in TWO_CLASSES if name != "perceptron"), "margin-hinge:0.3", "margin-hinge:7"]
NAMES = ("surrogate-mistakes", "surrogate-root")


def cubic():
    """(1 − m)³₊: its slope at 0 is −3."""
    return nr.custom_loss(lambda z, y: max(0.0, 1.0 - y * z) ** 3, lambda z, y: -3.0 * y * max(0.0, 1.0 - y * z) ** 2)


@st.composite
def streams(draw, most=12):
    rounds, features = draw(st.integers(1, most)), draw(st.integers(1, 3))
    rows = [draw(st.lists(st.integers(-3, 3), min_size=features, max_size=features)) for _ in range(rounds)]
    return np.array(rows, dtype=float), draw(st.lists(st.sampled_from([-1, 1]), min_size=rounds, max_size=rounds))


def noisy(rounds=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 3))
    return X, np.where(X @ [1.0, -1.0, 0.5] + 0.7 * rng.normal(size=rounds) > 0.0, 1.0, -1.0)


def facts_of(X, y, loss, learner=None, **points):
    run, rounds = played(learner or Perceptron(), X, y)
    return Facts(run, rounds, surrogate=parse(loss), points={k: np.array(v) for k, v in points.items()})


# -- in fractions ------------------------------------------------------------------------------------------------------

EXACT = {  # φ(m), φ(0) and the slope at 0, of losses whose values are fractions
    "hinge": (lambda m: max(1 - m, Fraction(0)), 1, -1),
    "margin-hinge:0.5": (lambda m: max(1 - 2 * m, Fraction(0)), 1, -2),
    "squared-hinge": (lambda m: max(1 - m, Fraction(0)) ** 2, 1, -2),
    "cubic": (lambda m: max(1 - m, Fraction(0)) ** 3, 1, -3),
    "parabola": (lambda m: (m + 2) ** 2 + 1, 5, 4),  # it grows with the margin: a bad loss, but an admissible one
    "line": (lambda m: max(3 - m / 2, Fraction(0)), 3, Fraction(-1, 2)),
}


@pytest.mark.parametrize("loss", EXACT)
@settings(max_examples=EXAMPLES // 5, deadline=None)
@given(streams(), st.data())
def test_any_convex_loss_bounds_mistakes_in_fractions(loss, stream, data):
    (X, y), (phi, zero, slope) = stream, EXACT[loss]
    run, _ = played(Perceptron(), X, y)
    exact = Exact(X, y, updates_of(X, y))
    u = [Fraction(data.draw(st.integers(-6, 6)), 4) for _ in X[0]]
    lost = sum((phi(label * dot(u, x)) for x, label in zip(exact.X, exact.y, strict=True)), Fraction(0))
    assert run.mistakes == exact.M
    short = max(exact.M * zero - lost, Fraction(0))
    assert short**2 <= slope**2 * dot(u, u) * exact.R2
    assert short**2 <= slope**2 * dot(u, u) * exact.r2 * exact.M


def updates_of(X, y):
    w, found = [Fraction(0)] * len(X[0]), []
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        row = fractions(x)
        if int(label) * dot(w, row) <= 0:
            found.append(t)
            w = [a + int(label) * b for a, b in zip(w, row, strict=True)]
    return found


# -- the certificates --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=EXAMPLES // 10, deadline=None)
@given(streams(), st.data())
def test_no_certificate_is_broken_and_the_hinge_is_never_worse(loss, stream, data):
    """φ(m)/φ(0) ≥ (1 + g·m/φ(0))₊: at v = −g·u/φ(0) the hinge gives no more."""
    X, y = stream
    u = np.array(data.draw(st.lists(st.floats(-2.0, 2.0), min_size=X.shape[1], max_size=X.shape[1])))
    phi = parse(loss)
    facts = facts_of(X, y, loss, u_surrogate=u)
    hinge = facts.at(one=-phi.gradient(0.0, 1.0) * u / phi.at_zero)
    for name, other in zip(NAMES, ("hinge-mistakes", "hinge-root"), strict=True):
        one = THEOREMS[name](facts)
        assert one.verdict in (Verdict.HOLDS, Verdict.VACUOUS) and one.bound >= one.observed
        assert THEOREMS[other](hinge).bound <= one.bound * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("learner", [Perceptron(), AveragedPerceptron(bias=True), Perceptron(start=[1.0, 2.0, -3.0])])
def test_a_receipt_with_any_loss_stands(tmp_path, loss, learner):
    stream = noisy()
    receipt = certify(nr.play(type(learner)(**learner.settings), stream), stream, surrogate=loss)
    said = {one["theorem"]: one for one in receipt.certificates}
    assert said["surrogate-mistakes"]["verdict"] == "holds"
    assert said["surrogate-mistakes"]["bound"] >= said["hinge-mistakes"]["bound"] * (1 - 1e-3)
    receipt.save(tmp_path / "r.json")
    assert Receipt.load(tmp_path / "r.json").surrogate == parse(loss).spec
    verify(tmp_path / "r.json", stream)


def test_of_the_hinges_the_best_of_any_margin_is_the_same():
    """(1 − m/ρ)₊ at u is the hinge at u/ρ."""
    bounds = [
        THEOREMS[name](gather(facts_of(*noisy(), f"margin-hinge:{margin}"), gap=1e-6)).bound
        for name in NAMES
        for margin in (1.0, 0.2, 9.0)
    ]
    assert bounds[:3] == pytest.approx([bounds[0]] * 3, rel=1e-3)
    assert bounds[3:] == pytest.approx([bounds[3]] * 3, rel=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rounds", [1, 2, 40])
def test_a_row_of_changing_label_is_always_a_mistake_and_no_loss_says_less(loss, rounds):
    X, y = np.ones((rounds, 1)), np.where(np.arange(rounds) % 2, -1.0, 1.0)
    facts = gather(facts_of(X, y, loss))
    assert facts.run.mistakes == rounds
    for name in NAMES:
        assert THEOREMS[name](facts).bound >= rounds


def test_one_row_attains_it():
    """x = y = u = 1: the hinge loses nothing, and ‖u‖·R_I = 1 = M."""
    facts = facts_of([[1.0]], [1.0], "hinge", u_surrogate=[1.0])
    for name in NAMES:
        one = THEOREMS[name](facts)
        assert one.observed == 1.0 <= one.bound <= 1.0 + 1e-12


@pytest.mark.parametrize("loss", ["squared-hinge", "exponential"])
def test_no_lipschitz_constant_is_needed(loss):
    assert parse(loss).lipschitz == math.inf
    assert THEOREMS["surrogate-mistakes"](gather(facts_of(*noisy(), loss))).verdict is Verdict.HOLDS


# -- a loss of one's own -----------------------------------------------------------------------------------------------


def test_a_loss_of_ones_own_is_needed_again_to_verify():
    stream, own = noisy(), cubic()
    receipt = certify(nr.play(Perceptron(), stream), stream, surrogate=own)
    one = next(part for part in receipt.certificates if part["theorem"] == "surrogate-mistakes")
    assert one["verdict"] == "holds"
    assert one["values"]["slope_at_zero"] == pytest.approx(3.0)
    assert {"statement": "φ is convex", "checked": False, "holds": None} in one["assumptions"]
    verify(receipt, stream, loss=own)
    with pytest.raises(ReceiptError, match="the loss 'custom' of its own: give it as loss="):
        verify(receipt, stream)
    other = nr.custom_loss(lambda z, y: max(0.0, 2.0 - y * z), lambda z, y: -y if y * z < 2.0 else 0.0)
    with pytest.raises(ReceiptError, match="another 'custom' than the loss given"):
        verify(receipt, stream, loss=other)


def test_what_is_below_0_counts_as_0():
    """max(1 − m, −1): convex, and below 0 on rows that are far on the right side."""
    low = nr.custom_loss(lambda z, y: max(1.0 - y * z, -1.0), lambda z, y: -y if y * z < 2.0 else 0.0)
    X, y = np.full((30, 1), 10.0), np.ones(30)
    facts = facts_of(X, y, low, u_surrogate=[1.0])
    one = THEOREMS["surrogate-mistakes"](facts)
    assert (one.observed, one.values["losses"]) == (1.0, 0.0)
    assert one.bound >= 1.0


@pytest.mark.parametrize(
    ("loss", "sentence"),
    [
        ("perceptron", "surrogate must be above 0 at the score 0, and perceptron is 0 there"),
        ("squared", "surrogate must be a convex loss of two labels, got squared"),
        ("hige", "surrogate: loss must be one of .*did you mean hinge"),
        (
            nr.custom_loss(lambda z, y: (z - 2.0) ** 2 + y, lambda z, y: 2.0 * (z - 2.0)),
            "surrogate must be one function of label times score: at the score 0 custom has the values 5 and 3",
        ),
        (
            nr.custom_loss(lambda z, y: -math.log(y * z), lambda z, y: -1.0 / z),
            "surrogate must have a value and a slope at 0, and custom has none",
        ),
    ],
)
def test_a_loss_that_cannot_bound_mistakes_is_refused(loss, sentence):
    stream = noisy(20)
    with pytest.raises(SettingError, match=sentence):
        certify(nr.play(Perceptron(), stream), stream, surrogate=loss)


def test_other_learners_have_no_such_bound():
    stream = noisy(20)
    for learner in (nr.OnlineGradientDescent(radius=1.0), nr.KernelPerceptron()):
        with pytest.raises(SettingError, match="surrogate goes with perceptron, averaged or voted, not with"):
            certify(nr.play(learner, stream), stream, surrogate="hinge")


FORGERIES = {
    "another loss": (lambda r: replace(r, surrogate="squared-hinge"), "surrogate-"),
    "no loss": (lambda r: replace(r, surrogate=None), "the theorems"),
    "a loss that is none": (lambda r: replace(r, surrogate="hige"), "must be one of"),
    "a loss of 0 at 0": (lambda r: replace(r, surrogate="perceptron"), "surrogate-mistakes"),
    "a loss of numbers": (lambda r: replace(r, surrogate="squared"), "surrogate-mistakes"),
    "not a loss": (lambda r: replace(r, surrogate={"name": 3}), "give it as loss"),
    "a list": (lambda r: replace(r, surrogate=["hinge"]), "must be one of"),
    "another comparator": (
        lambda r: replace(r, points={**r.points, "u_surrogate": 2.0 * r.points["u_surrogate"]}),
        "surrogate-mistakes",
    ),
    "a shorter comparator": (
        lambda r: replace(r, points={**r.points, "u_surrogate": r.points["u_surrogate"][:-1]}),
        "u_surrogate must hold 3 finite numbers, got 2",
    ),
    "no comparator": (
        lambda r: replace(r, points={name: one for name, one in r.points.items() if "surrogate" not in name}),
        "surrogate-mistakes: a comparator u",
    ),
}


@pytest.fixture(scope="module")
def honest():
    stream = noisy(60)
    return certify(nr.play(Perceptron(), stream), stream, surrogate="exponential"), stream


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_receipts_are_rejected(honest, name):
    receipt, stream = honest
    forge, sentence = FORGERIES[name]
    with pytest.raises(ReceiptError, match=sentence) as said:
        verify(forge(receipt), stream)
    assert said.value.failed


@pytest.mark.parametrize("theorem", [*NAMES, "l1-l2"])
def test_a_bound_that_was_moved_is_noticed(honest, theorem):
    receipt, stream = honest
    for factor, stands in ((1.0 - 1e-9, False), (1.0 + 1e-9, True)):
        parts = [
            {**one, "bound": one["bound"] * factor} if one["theorem"] == theorem else one
            for one in receipt.certificates
        ]
        if stands:
            verify(replace(receipt, certificates=parts), stream)
        else:
            with pytest.raises(ReceiptError, match=f"{theorem}: the bound"):
                verify(replace(receipt, certificates=parts), stream)


# -- L1 beside L2 ------------------------------------------------------------------------------------------------------


@settings(max_examples=EXAMPLES // 3, deadline=None)
@given(streams(), st.data())
def test_at_one_comparator_and_on_the_mistakes_alone_l1_is_never_above_l2(stream, data):
    """(3) ≤ (7), Σ_I h + p ≤ the root of M = a√M + p at the run's own M, by Cauchy–Schwarz; in fractions."""
    X, y = stream
    exact = Exact(X, y, updates_of(X, y))
    v = [Fraction(data.draw(st.integers(-6, 6)), 4) for _ in X[0]]
    h = [exact.hinges(v)[t] for t in exact.updated]
    assert sum(h, Fraction(0)) ** 2 <= exact.M * sum((one * one for one in h), Fraction(0))


@settings(max_examples=EXAMPLES // 5, deadline=None)
@given(streams())
def test_at_their_best_comparators_l1_is_never_above_l2(stream):
    facts = gather(facts_of(*stream, "hinge"), gap=1e-6)
    one = THEOREMS["l1-l2"](facts)
    assert one.verdict is not Verdict.BROKEN
    assert one.observed <= one.bound * (1 + 1e-4)
    assert one.values["l1_printed"] >= one.observed * (1 - 1e-12)


def test_printed_either_may_be_the_smaller_one():
    """Many small losses favour the L2 form, a few large ones the L1 form, as Σh² is below or above Σh."""
    found = {}
    for name, X, y in (
        ("small", *noisy(400)),
        ("large", [[1.0]] * 60 + [[-6.0]] * 4, [1.0] * 64),
    ):
        values = THEOREMS["l1-l2"](gather(facts_of(X, y, "hinge"))).values
        found[name] = values["l1_printed"] > values["l2_printed"]
    assert found == {"small": True, "large": False}
