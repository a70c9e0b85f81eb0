"""Gradient descent with step 1/(σt) on loss + (σ/2)‖w‖²: the logarithmic bound, attained, and what it must not do."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import noregret as nr
from noregret.learner import OnlineGradientDescent, StronglyConvexGradientDescent
from noregret.loss import LOSSES, parse
from noregret.stream import Dense

EIGHTHS = st.integers(-16, 16).map(lambda n: n / 8.0)
SIGMAS = st.sampled_from([0.05, 0.5, 2.0])
BOUNDED = [spec for spec in LOSSES if math.isfinite(parse(spec).lipschitz)]
few = settings(max_examples=40)


@st.composite
def streams(draw, regression):
    T, d = draw(st.integers(1, 25)), draw(st.integers(1, 3))
    X = draw(arrays(np.float64, (T, d), elements=EIGHTHS))
    return X, draw(arrays(np.float64, T, elements=EIGHTHS if regression else st.sampled_from([-1.0, 1.0])))


def loss_at(u, X, y, spec, sigma):
    loss = parse(spec)
    return math.fsum(loss(z, label) for z, label in zip(X @ u, y, strict=True)) + len(y) * sigma / 2.0 * float(u @ u)


def comparators(columns, radius, w):
    for direction in np.random.default_rng(columns).normal(size=(20, columns)):
        for share in (1.0, 0.3, 0.01):
            yield direction * (share * radius / np.linalg.norm(direction))
    yield np.zeros(columns)
    yield w


def harmonic(T):
    return math.fsum(1.0 / t for t in range(1, T + 1))


def up(bound):
    return bound + 1e-9 * (1.0 + abs(bound))


@pytest.mark.parametrize("spec", BOUNDED)
@few
@given(st.data(), SIGMAS)
def test_regret_is_at_most_the_weighted_sum_of_squared_gradients(spec, data, sigma):
    """regret(u) ≤ (1/2σ)Σ‖g‖²/t − (σT/2)‖w_{T+1} − u‖² ≤ (G²/2σ)·H_T ≤ (G²/2σ)(1 + ln T), every u, G ≤ 2L·max‖x‖."""
    X, y = data.draw(streams(parse(spec).regression))
    run = nr.play(StronglyConvexGradientDescent(loss=spec, sigma=sigma), (X, y))
    w, T, G = run.learner.weights, run.rounds, run.gradient["max_norm"]
    assert run.regret_upper == pytest.approx(run.gradient["sum_norm2_over_t"] / (2.0 * sigma), rel=1e-12)
    assert run.regret_upper <= up(G * G / (2.0 * sigma) * harmonic(T))
    assert run.gradient["max_norm"] <= up(2.0 * parse(spec).lipschitz * run.max_norm)
    assert np.linalg.norm(w) <= up(parse(spec).lipschitz * run.max_norm / sigma)
    for u in comparators(X.shape[1], 3.0 * (1.0 + np.linalg.norm(w)), w):
        distance = float((w - u) @ (w - u))
        assert run.loss - loss_at(u, X, y, spec, sigma) + sigma * T / 2.0 * distance <= up(
            run.regret_upper + 1e-9 * sigma * T * distance
        )


@pytest.mark.parametrize("spec", LOSSES)
@few
@given(st.data(), SIGMAS, st.sampled_from([0.2, 2.0]))
def test_within_a_ball_the_bound_holds_against_the_ball(spec, data, sigma, radius):
    X, y = data.draw(streams(parse(spec).regression))
    run = nr.play(StronglyConvexGradientDescent(loss=spec, sigma=sigma, radius=radius), (X, y))
    for u in comparators(X.shape[1], radius, run.learner.weights):
        assert run.loss - loss_at(u, X, y, spec, sigma) <= up(run.regret_upper)


def minus(z, y):
    return -y * z


def minus_slope(z, y):
    return -y


@pytest.mark.parametrize(
    ("T", "regret", "printed"), [(1, 0.5, 0.3466), (10, 1.46448, 1.19895), (1000, 3.74274, 3.45438)]
)
def test_the_bound_is_attained_and_the_logarithm_of_t_plus_one_is_exceeded(T, regret, printed):
    """½(w − a_t)² up to a constant, a_t = w_t + 1: regret ½·H_T, more than ½·ln(T + 1), which was once printed."""
    linear = nr.custom_loss(minus, minus_slope, lipschitz=1.0)
    learner = StronglyConvexGradientDescent(loss=linear, sigma=1.0)
    a = []
    for _ in range(T):
        a.append(float(learner.weights[0]) + 1.0 if a else 1.0)
        learner.play(Dense(np.array([[a[-1]]])), np.ones(1))
    run = nr.Run.of(learner)
    best = sum(a) / T
    found = run.loss - math.fsum(best * best / 2.0 - best * target for target in a)
    assert found == pytest.approx(harmonic(T) / 2.0, rel=1e-9)
    assert found == pytest.approx(regret, abs=1e-5)
    assert math.log(T + 1.0) / 2.0 == pytest.approx(printed, abs=1e-4)
    assert run.regret_upper == pytest.approx(found, rel=1e-9)
    assert found > math.log(T + 1.0) / 2.0


def test_a_known_run():
    """From the theory notes' verified cases: hinge, σ = ½; the bound equals the regret."""
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.5], [0.5, -1.0]])
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    W = [[0, 0], [2.0, 0], [1.0, -1.0], [1.33333333333, 0], [1.0, 0], [1.0, -0.4]]
    norms = [1.0, 1.41421356237, 1.58113883008, 0.666666666667, 1.0]
    learner = StronglyConvexGradientDescent(sigma=0.5)
    found, squares = [[0.0, 0.0]], [0.0]
    for t in range(5):
        run = nr.play(learner, (X[t : t + 1], y[t : t + 1]))
        found.append(learner.weights.tolist())
        squares.append(run.gradient["sum_norm2"])
    assert np.array(found) == pytest.approx(np.array(W), abs=1e-10)
    assert np.sqrt(np.diff(squares)) == pytest.approx(np.array(norms), rel=1e-10)
    assert run.loss == pytest.approx(5.69444444444, rel=1e-10)
    assert run.regret_upper == pytest.approx(3.14444444444, rel=1e-10)
    assert loss_at(np.array([0.999947183288, -0.399999996351]), X, y, "hinge", 0.5) == pytest.approx(2.55, abs=1e-6)
    G = run.gradient["max_norm"]
    assert G * G * harmonic(5) == pytest.approx(5.70833333333, rel=1e-10)
    assert G * G * (1.0 + math.log(5.0)) == pytest.approx(6.52359478109, rel=1e-10)
    assert 2.0 * run.max_norm == pytest.approx(2.82842712475, rel=1e-10)


@pytest.mark.parametrize("spec", ["squared", "squared-hinge"])
def test_a_slope_without_a_bound_needs_a_radius(spec):
    """(z − y)² + (σ/2)‖w‖² with ‖x‖ = 10, σ = 0.1 overflows: the first steps multiply w by 2000/t."""
    with pytest.raises(
        nr.SettingError, match=f"ogd-strong: the slope of the loss {spec} has no bound, so give a radius"
    ):
        StronglyConvexGradientDescent(loss=spec, sigma=0.1)


def test_with_the_radius_it_stays_finite():
    X, y = np.full((300, 1), 10.0), np.resize([1.0, -1.0], 300)
    run = nr.play(StronglyConvexGradientDescent(loss="squared", sigma=0.1, radius=2.0), (X, y))
    assert math.isfinite(run.loss)
    assert run.learner.weight_norm <= 2.0 * (1.0 + 1e-12)


DIVERGING = [
    (OnlineGradientDescent(loss="squared", radius=math.inf, rate="constant:1"), np.full((400, 2), 10.0)),
    (OnlineGradientDescent(loss="squared-hinge", radius=math.inf, rate="sqrt:100"), np.full((400, 2), 1e3)),
    (OnlineGradientDescent(radius=math.inf, rate="constant:1e300"), np.full((400, 2), 1e150)),
    (OnlineGradientDescent(), np.full((3, 2), 1e200)),
]


@pytest.mark.parametrize(("learner", "X"), DIVERGING)
def test_a_run_that_diverges_stops_and_says_so(learner, X):
    y = np.resize([1.0, -1.0], len(X))
    with pytest.raises(
        nr.DivergedError, match=r"ogd: the weights or the loss would overflow in round \d+: use a smaller"
    ):
        nr.play(learner, (X, y))
    assert learner.rounds < len(X)
    assert np.isfinite(learner.weights).all()
    assert np.isfinite(learner.gradient_sum).all()
    assert all(np.isfinite(learner.state[name]).all() for name in learner.state.dtype.names)


def test_the_round_that_would_overflow_leaves_the_learner_as_it_was():
    learner = OnlineGradientDescent(loss="squared", radius=math.inf, rate="constant:0.1")
    learner.play(Dense(np.ones((5, 1))), np.ones(5))
    before = learner.state.tobytes(), learner.z.tobytes(), learner.total.tobytes()
    with pytest.raises(nr.DivergedError, match="in round 6"):
        learner.play(Dense(np.full((1, 1), 1e200)), np.ones(1))
    assert (learner.state.tobytes(), learner.z.tobytes(), learner.total.tobytes()) == before
