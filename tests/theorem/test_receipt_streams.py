"""Any stream, any learner: no theorem is broken, no interval inverted, and every receipt stands.

Three hundred streams by default; NOREGRET_THOROUGH=10000 asks for as many.
"""

import math
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import DivergedError
from noregret.learner import (
    LEARNERS,
    OnlineGradientDescent,
    Perceptron,
    SecondOrderPerceptron,
    StronglyConvexGradientDescent,
    VovkAzouryWarmuth,
)
from noregret.proof.certify import certify
from noregret.proof.verify import verify

EXAMPLES = int(os.environ.get("NOREGRET_THOROUGH", "300"))

STEEP = ("squared-hinge", "logistic", "exponential", "squared", "huber:0.5")  # slopes that grow, or logarithms
FLAT = ("hinge", "perceptron", "margin-hinge:0.3", "absolute", "pinball:0.9")
REGRESSION = ("squared", "huber:0.5", "absolute", "pinball:0.9")


def rows_of(size):
    """Rows of that scale: small whole numbers, ties, zeros, duplicates, cancellation, a wide spread."""
    entry = st.one_of(
        st.sampled_from([0.0, 1.0, -1.0, 0.5, 2.0, 3.0]),
        st.floats(-4.0, 4.0, allow_subnormal=False).map(lambda x: 0.0 if abs(x) < 1e-6 else x),
        st.sampled_from([1e16, -1e16, 1e-8]),
    )
    return entry.map(lambda x: x * size)


@st.composite
def streams(draw, sizes):
    rounds, features = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    entry = rows_of(draw(st.sampled_from(sizes)))
    rows = draw(st.lists(st.lists(entry, min_size=features, max_size=features), min_size=rounds, max_size=rounds))
    if draw(st.booleans()):
        rows = [rows[draw(st.integers(0, rounds - 1))] for _ in range(rounds)]
    labels = draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=rounds, max_size=rounds))
    return np.array(rows), np.array(labels)


def certified(learner, stream, radius=None):
    """The receipt of a run, or None where it would overflow, which has to be said."""
    try:
        run = nr.play(learner, stream)
    except DivergedError as error:
        assert "would overflow in round" in str(error)
        return None
    receipt = certify(run, stream, radius=radius, seconds=20.0)
    assert not receipt.broken, receipt.certificates
    for entry in receipt.entries:
        assert entry["comparator"]["lower"] <= entry["comparator"]["upper"]
        assert float(entry["lower"]) <= float(entry["upper"])
    verify(receipt, stream)
    return receipt


FAST = settings(deadline=None, max_examples=EXAMPLES // 3, suppress_health_check=list(HealthCheck))
WIDE = [1.0, 1.0, 1e-100, 1e100, 1e-30, 1e30]
NARROW = [1.0, 1.0, 1e-30, 1e30, 1e-10, 1e10]


@FAST
@given(
    streams(WIDE),
    st.sampled_from(["mistake", "+1", "-1"]),
    st.booleans(),
    st.sampled_from([1.0, 0.1, 3.0]),
    st.sampled_from([None, [0.5], [-10.0], [0.1, -0.3]]),
    st.sampled_from([None, 0.5, 20.0]),
)
def test_perceptrons(stream, tie, bias, rate, start, radius):
    certified(Perceptron(tie=tie, bias=bias, rate=rate, start=start), stream, radius)


RATES = ("auto", "constant:0.3", "sqrt:0.5", "horizon:12:4", "horizon:5", "doubling:4")


@FAST
@given(
    st.data(), st.sampled_from(FLAT + STEEP), st.sampled_from(RATES), st.sampled_from([0.5, 3.0, 50.0]), st.booleans()
)
def test_descents(data, loss, rate, radius, bias):
    stream = data.draw(streams(WIDE if loss in FLAT else NARROW))
    if loss in REGRESSION and data.draw(st.booleans()):
        stream = stream[0], data.draw(st.lists(st.floats(-9, 9), min_size=len(stream[1]), max_size=len(stream[1])))
    if rate in ("horizon:5", "doubling") and math.isinf(nr.LOSSES[loss.split(":")[0]]().lipschitz):
        rate = "auto"
    start = data.draw(st.sampled_from([None, [0.2], [0.1, -0.3]])) if rate != "doubling:4" else None
    certified(OnlineGradientDescent(loss=loss, rate=rate, radius=radius, bias=bias, start=start), stream)


@FAST
@given(st.data(), st.sampled_from(FLAT + STEEP), st.sampled_from([0.1, 1.0, 7.0]), st.booleans())
def test_strongly_convex_descents(data, loss, sigma, bias):
    radius = data.draw(st.sampled_from([math.inf, 2.0] if loss in FLAT else [2.0]))
    stream = data.draw(streams(WIDE if loss in FLAT else NARROW))
    certified(StronglyConvexGradientDescent(loss=loss, sigma=sigma, bias=bias, radius=radius), stream)


@FAST
@given(
    streams(NARROW),
    st.sampled_from(["mistake", "+1", "-1"]),
    st.booleans(),
    st.sampled_from([1.0, 1e-3, 50.0]),
    st.sampled_from([None, 0.5, 20.0]),
)
def test_second_order_perceptrons(stream, tie, bias, ridge, radius):
    certified(SecondOrderPerceptron(tie=tie, bias=bias, ridge=ridge), stream, radius)


@FAST
@given(st.data(), st.sampled_from([1.0, 1e-3, 50.0]), st.booleans())
def test_forecasters(data, ridge, bias):
    X, y = data.draw(streams(NARROW))
    if data.draw(st.booleans()):
        y = np.array(data.draw(st.lists(st.floats(-9, 9), min_size=len(y), max_size=len(y))))
    certified(VovkAzouryWarmuth(ridge=ridge, bias=bias), (X, y))


@given(streams(WIDE), st.sampled_from(["mistake", "+1"]), st.booleans(), st.sampled_from([None, [0.5], [0.1, -0.3]]))
def test_averaged_perceptrons(stream, tie, bias, start):
    certified(LEARNERS["averaged"](tie=tie, bias=bias, start=start), stream)


@FAST
@given(
    st.data(),
    st.sampled_from(["pa", "pa1", "pa2"]),
    st.sampled_from(["hinge", "absolute"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 0.01, 3.0]),
    st.sampled_from([None, 0.5, 20.0]),
)
def test_passive_aggressive_learners(data, name, loss, bias, unit_norm, bound, radius):
    own = {} if name == "pa" else {"aggressiveness": bound}
    stream = data.draw(streams(NARROW))
    certified(LEARNERS[name](loss=loss, bias=bias, unit_norm=unit_norm, **own), stream, radius)


@FAST
@given(st.data(), st.sampled_from(["adagrad", "ftrl"]), st.sampled_from(FLAT + STEEP), st.booleans(), st.booleans())
def test_learners_with_a_step_for_every_coordinate(data, name, loss, bias, auto):
    radius = data.draw(st.sampled_from([0.5, 3.0, 50.0]))
    own = {"l1": data.draw(st.sampled_from([0.0, 0.5])), "beta": 1.0} if name == "ftrl" else {}
    rate = "auto" if auto else "constant:0.8"
    certified(LEARNERS[name](loss=loss, radius=radius, rate=rate, bias=bias, **own), data.draw(streams(NARROW)))


@FAST
@given(
    streams(NARROW),
    st.sampled_from(FLAT),
    st.booleans(),
    st.sampled_from([0.01, 1.0, 100.0]),
    st.sampled_from([None, 0.5, 20.0]),
)
def test_coin_betting(stream, loss, bias, wealth, radius):
    certified(LEARNERS["coin"](loss=loss, bias=bias, unit_norm=True, wealth=wealth), stream, radius)


@FAST
@given(
    streams(WIDE),
    st.sampled_from(["newton", "two-label"]),
    st.booleans(),
    st.sampled_from([1e-3, 1.0, 100.0]),
    st.sampled_from([0.0, 0.01, 0.9]),
    st.sampled_from([None, 0.5, 20.0]),
)
def test_newton_steps(stream, play, bias, ridge, walk, radius):
    certified(LEARNERS["newton"](play=play, bias=bias, ridge=ridge, walk=walk), stream, radius)


@pytest.mark.parametrize(
    "name", ["pa", "pa1", "pa2", "ogd", "adagrad", "ftrl", "second-order", "vaw", "averaged", "newton", "diagonal"]
)
def test_rows_whose_squares_vanish(name):
    X = np.array([[1e-200], [-1e-200], [2e-200]])
    certified(LEARNERS[name](), (X, np.array([1.0, -1.0, 1.0])))


SIGNS = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
NORMAL = np.random.default_rng(0).normal(size=(8, 4))


@pytest.mark.parametrize(
    ("learner", "stream"),
    [
        (LEARNERS["pa"](), (np.eye(2), np.array([1.0, -1.0]), np.array([1.0, 2.5]))),
        (LEARNERS["pa"](), (np.array([[1e100], [2e100], [1e100]]), np.array([1.0, 1.0, -1.0]))),
        (LEARNERS["second-order"](), (1e30 * NORMAL, SIGNS)),
        (LEARNERS["vaw"](), (1e140 * NORMAL, SIGNS)),
        (LEARNERS["ogd"](), (np.array([[1e-310], [2e-310]]), np.array([1.0, -1.0]))),
        (nr.MulticlassPerceptron(), (np.array([[1.0, 2.0]]), np.array([0.0]), np.array([0.0]))),
    ],
    ids=["weights", "large rows", "residuals beyond numbers", "bound beyond numbers", "subnormal rows", "no round"],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_receipt_stands_at_the_ends_of_what_numbers_can_say(learner, stream, tmp_path):
    receipt = certify(nr.play(learner, nr.read(stream)), nr.read(stream))
    assert not receipt.broken
    receipt.save(tmp_path / "r.json")
    verify(tmp_path / "r.json", nr.read(stream))


def test_weights_of_classes_that_are_numbers_are_kept_with_a_receipt(tmp_path):
    stream = (np.eye(2), np.array([1.0, -1.0]))
    run = nr.play(nr.Perceptron(), nr.read(stream), class_weight={-1: 2.0, 1: 0.5})
    certify(run, nr.read(stream)).save(tmp_path / "r.json")
    verify(tmp_path / "r.json", nr.read(stream))
