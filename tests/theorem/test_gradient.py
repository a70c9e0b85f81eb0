"""What online gradient descent promises: regret bounds that hold on every stream, and the cases that attain them.

Bounds that can hold with equality are compared with an outward allowance for rounding.
"""

import math

import cvxpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import noregret as nr
from noregret.learner import OnlineGradientDescent
from noregret.loss import LOSSES, parse
from noregret.stream import Dense
from oracle.learners import doubling as period_of

EIGHTHS = st.integers(-16, 16).map(lambda n: n / 8.0)
RADII = st.sampled_from([0.25, 1.0, 3.0])
ETAS = st.sampled_from([1e-3, 0.1, 1.0, 30.0])
every_loss = pytest.mark.parametrize("spec", LOSSES)
few = settings(max_examples=40)


@st.composite
def streams(draw, regression=False, longest=25, unit=False):
    T, d = draw(st.integers(1, longest)), draw(st.integers(1, 3))
    X = draw(arrays(np.float64, (T, d), elements=EIGHTHS))
    if unit:
        X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0) * (1.0 - 1e-12)
    y = draw(arrays(np.float64, T, elements=EIGHTHS if regression else st.sampled_from([-1.0, 1.0])))
    return X, y


def play(X, y, **settings):
    return nr.play(OnlineGradientDescent(**settings), (X, y))


def loss_at(u, X, y, spec):
    loss = parse(spec)
    return math.fsum(loss(z, label) for z, label in zip(X @ u, y, strict=True))


def comparators(columns, radius, X, y):
    """Points of the ball: its centre, random ones, and the directions that suit the stream."""
    rng = np.random.default_rng(len(y))
    directions = [*rng.normal(size=(30, columns)), y @ X, -(y @ X), *np.eye(columns)]
    for direction in directions:
        norm = np.linalg.norm(direction)
        if norm > 0.0:
            for share in (1.0, 0.5, 1e-3):
                yield direction * (radius * share / norm)
    yield np.zeros(columns)


def worst_regret(run, X, y, spec, radius):
    return max(run.loss - loss_at(u, X, y, spec) for u in comparators(X.shape[1], radius, X, y))


def up(bound):
    """A little more than the bound, for the rounding of both sides."""
    return bound + 1e-9 * (1.0 + abs(bound))


@every_loss
@few
@given(st.data(), RADII, st.sampled_from(["auto", "constant:0.5", "sqrt:2", "doubling:3", "horizon:10:1"]))
def test_the_pass_alone_bounds_the_regret_against_every_comparator(spec, data, radius, rate):
    """regret(u) ≤ Σg·w + U‖Σg‖ for every ‖u‖ ≤ U, any loss, any rate."""
    X, y = data.draw(streams(parse(spec).regression))
    run = play(X, y, loss=spec, radius=radius, rate=rate)
    assert worst_regret(run, X, y, spec, radius) <= up(run.regret_upper)


@every_loss
@few
@given(st.data(), RADII)
def test_the_rate_that_knows_nothing_keeps_its_bound(spec, data, radius):
    """η_t = √2·U/√Σ_{s≤t}‖g_s‖² gives regret ≤ 2√2·U·√Σ‖g‖²."""
    X, y = data.draw(streams(parse(spec).regression))
    run = play(X, y, loss=spec, radius=radius)
    bound = 2.0 * math.sqrt(2.0) * radius * math.sqrt(run.gradient["sum_norm2"])
    assert worst_regret(run, X, y, spec, radius) <= up(bound)
    assert run.regret_upper <= up(bound)


@every_loss
@few
@given(st.data(), RADII, ETAS)
def test_any_rate_over_root_t_keeps_the_ladder(spec, data, radius, eta):
    """Σg·w + U‖Σg‖ ≤ (U²/η)(2√T − 3/2) + (η/2)Σ‖g‖²/√t ≤ 2U²√T/η + G²η√T, G the largest gradient seen."""
    X, y = data.draw(streams(parse(spec).regression))
    run = play(X, y, loss=spec, radius=radius, rate=f"sqrt:{eta}")
    ball, any_eta = ladder(run, radius, eta)
    assert run.regret_upper <= up(ball)
    assert ball <= up(any_eta)


def ladder(run, radius, eta):
    root, gradient = math.sqrt(run.rounds), run.gradient
    ball = radius**2 / eta * (2.0 * root - 1.5) + eta / 2.0 * gradient["sum_norm2_over_sqrt_t"]
    return ball, 2.0 * radius**2 * root / eta + gradient["max_norm"] ** 2 * eta * root


@few
@given(streams(unit=True), RADII, st.sampled_from(["hinge", "logistic", "perceptron"]))
def test_the_textbook_rate_keeps_the_textbook_bound(stream, radius, spec):
    """‖x‖ ≤ 1 and a 1-Lipschitz loss: G = 1, η = √2·U/G, regret ≤ U·G·√(8T)."""
    run = play(*stream, loss=spec, radius=radius, rate=f"sqrt:{math.sqrt(2.0) * radius!r}")
    assert run.regret_upper <= up(radius * math.sqrt(8.0 * run.rounds))


@few
@given(streams(unit=True), RADII, st.data())
def test_from_another_start_in_the_ball_the_any_rate_bound_stands(stream, radius, data):
    X, y = stream
    start = np.array(data.draw(st.lists(EIGHTHS, min_size=X.shape[1], max_size=X.shape[1])))
    start *= 0.99 * radius / max(1e-9, np.linalg.norm(start))
    run = play(X, y, radius=radius, rate="sqrt:0.5", start=start.tolist())
    assert run.regret_upper <= up(ladder(run, radius, 0.5)[1])


@few
@given(streams(unit=True), RADII)
def test_the_rate_of_a_horizon_keeps_its_bound(stream, radius):
    """η = B/(ρ√T) for T rounds, ρ-Lipschitz: regret ≤ B·ρ·√T."""
    T = len(stream[1])
    run = play(*stream, radius=radius, rate=f"horizon:{T}")
    assert run.regret_upper <= up(radius * math.sqrt(T))


@few
@given(streams(unit=True, longest=40), RADII)
def test_doubling_needs_no_horizon(stream, radius):
    """Restarts at rounds 1, 2, 4, …: regret ≤ Σ_m 2^(m/2)·Bρ ≤ √2/(√2 − 1)·B·ρ·√T."""
    T = len(stream[1])
    run = play(*stream, radius=radius, rate="doubling")
    periods = sum(2.0 ** (m / 2.0) for m in range(T.bit_length()))
    assert run.regret_upper <= up(radius * periods)
    assert periods <= math.sqrt(2.0) / (math.sqrt(2.0) - 1.0) * math.sqrt(T)


# from the theory notes' verified cases: T, Σ_m 2^(m/2), √2/(√2 − 1)·√T
DOUBLING = [
    (1, 1.0, 3.41421356237),
    (2, 2.41421356237, 4.82842712475),
    (3, 2.41421356237, 5.91359135792),
    (7, 4.41421356237, 9.0331600089),
    (8, 7.24264068712, 9.65685424949),
    (100, 24.8994949366, 34.1421356237),
]


@pytest.mark.parametrize(("T", "periods", "bound"), DOUBLING)
def test_doubling_on_an_adversarial_stream(T, periods, bound):
    """The label is against every score: the learner keeps within the periods' sum all the same."""
    learner = OnlineGradientDescent(radius=1.0, rate="doubling")
    steps, w = [], np.zeros(1)
    for t in range(1, T + 1):
        if t & (t - 1) == 0:
            w = np.zeros(1)
        y = -1.0 if w[0] > 0.0 else 1.0
        scores = learner.play(Dense(np.ones((1, 1))), np.array([y]))
        assert scores[0] == pytest.approx(w[0], abs=1e-12)
        steps.append(period_of(1.0, 1.0)(t, 0.0))
        w = np.clip(w + steps[-1] * y, -1.0, 1.0)
    assert sum({step: 1.0 / step for step in steps}.values()) == pytest.approx(periods, rel=1e-11)
    run = nr.Run.of(learner)
    assert run.regret_upper <= up(periods) <= up(bound)


def test_the_doubling_rate_starts_anew_at_powers_of_two():
    scores = OnlineGradientDescent(rate="doubling", radius=1.0).play(Dense(np.ones((40, 1))), np.ones(40))
    assert np.flatnonzero(scores == 0.0).tolist() == [0, 1, 3, 7, 15, 31]


def test_the_largest_gradient_seen_is_not_the_one_the_rate_was_made_for():
    """−w in every round, U = 1, η = √2/1000, T = 9: the printed U·G·√(8T) fails with G seen; the ladder holds."""
    X, y = np.ones((9, 1)), np.ones(9)
    eta = math.sqrt(2.0) / 1000.0
    run = play(X, y, radius=1.0, rate=f"sqrt:{eta!r}")  # the hinge is 1 − w here
    regret = run.loss - loss_at(np.ones(1), X, y, "hinge")
    assert run.gradient["max_norm"] == 1.0
    assert regret == pytest.approx(8.96742086021, rel=1e-11)  # from the theory notes' verified cases
    assert regret > math.sqrt(8.0 * 9.0)
    assert regret <= run.regret_upper + 1e-12 <= ladder(run, 1.0, eta)[0]


def test_a_rate_made_for_too_small_a_gradient_breaks_the_printed_bound_too():
    """The label is against every score, η = √2/0.001, T = 50: regret 49 > √(8·50)."""
    learner = OnlineGradientDescent(loss="perceptron", radius=1.0, rate=f"sqrt:{math.sqrt(2.0) / 0.001!r}")
    score = 0.0
    for _ in range(50):
        learner.play(Dense(np.ones((1, 1))), np.array([-1.0 if score > 0.0 else 1.0]))
        score = float(learner.weights[0])
    run = nr.Run.of(learner)
    assert run.loss == pytest.approx(49.0, rel=1e-12)  # and the comparator 0 loses nothing
    assert run.loss > math.sqrt(8.0 * 50.0)
    assert run.loss <= run.regret_upper + 1e-9 <= ladder(run, 1.0, math.sqrt(2.0) / 0.001)[0]


def test_the_bound_of_the_pass_is_attained_by_linear_losses():
    """1 − w against u = U: regret and bound are one number."""
    X, y = np.full((30, 1), 0.5), np.ones(30)
    run = play(X, y, radius=1.0)
    assert run.regret_upper == pytest.approx(run.loss - loss_at(np.ones(1), X, y, "hinge"), rel=1e-12)


def cvxpy_loss(name, z, y):
    m = cvxpy.multiply(y, z)
    return {
        "hinge": lambda: cvxpy.sum(cvxpy.pos(1 - m)),
        "squared-hinge": lambda: cvxpy.sum_squares(cvxpy.pos(1 - m)),
        "logistic": lambda: cvxpy.sum(cvxpy.logistic(-m)),
        "squared": lambda: cvxpy.sum_squares(z - y),
        "absolute": lambda: cvxpy.norm1(z - y),
        "huber": lambda: cvxpy.sum(cvxpy.huber(z - y, 1.0)) / 2,
    }[name]()


@pytest.mark.parametrize("spec", ["hinge", "squared-hinge", "logistic", "squared", "absolute", "huber"])
@pytest.mark.parametrize("radius", [0.5, 20.0])
def test_the_bound_holds_against_the_best_comparator_that_a_solver_finds(spec, radius):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=30)
    y = y if parse(spec).regression else np.sign(y)
    u = cvxpy.Variable(3)
    cvxpy.Problem(cvxpy.Minimize(cvxpy_loss(spec, X @ u, y)), [cvxpy.norm(u) <= radius]).solve(solver=cvxpy.CLARABEL)
    best = u.value * min(1.0, radius / np.linalg.norm(u.value))
    run = play(X, y, loss=spec, radius=radius)
    assert run.loss - loss_at(best, X, y, spec) <= up(run.regret_upper)


def test_the_bound_of_a_run_stays_when_the_learner_goes_on():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 2)), rng.choice([-1.0, 1.0], 40)
    learner = OnlineGradientDescent(radius=1.0)
    first = nr.play(learner, (X[:20], y[:20]))
    bound, gradient = first.regret_upper, first.gradient
    nr.play(learner, (X[20:], y[20:]))
    assert first.regret_upper == bound
    assert first.gradient == gradient


def test_in_the_whole_space_no_bound_is_claimed():
    assert play(np.ones((3, 1)), np.ones(3), radius=math.inf, rate="sqrt:1").regret_upper is None


def test_in_a_box_the_bound_is_that_of_its_corners():
    run = play(np.array([[1.0, -2.0]]), np.ones(1), domain="box", rate="sqrt:1", radius=3.0)
    assert run.regret_upper == 3.0 * (1.0 + 2.0)  # w = 0 in the round, and Σg = (−1, 2)


ROWS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.5], [0.5, -1.0]])
# from the theory notes' verified cases: loss, labels, U, η, w before each round and after the last, each ‖g‖, and then
# the sum of the losses, the sequential risk and the largest gradient seen
KNOWN = [
    (
        "squared", [1.0, -1.0, 0.5, -0.5, 1.0], 1.0, math.sqrt(2.0) / 8.0,
        [[0, 0], [0.353553390593, 0], [0.353553390593, -0.25], [0.434477715869, -0.169075674725],
         [0.431116209209, -0.167394921395], [0.479898055738, -0.264958614453]],
        [2.0, 2.0, 1.12132034356, 0.0425200696541, 1.37975897918], 2.5382784735, 0.5076556947, 2.0,
    ),
    (
        "hinge", [1.0, -1.0, 1.0, -1.0, 1.0], 2.0, 2.0,
        [[0, 0], [2.0, 0], [1.63299316186, -1.15470053838], [2.0, 0], [2.0, 0], [2.0, 0]],
        [1.0, 1.0, 1.41421356237, 0.0, 0.0], 2.52170737652, 0.504341475305, 1.41421356237,
    ),
    (
        "absolute", [1.0, -1.0, 0.5, -0.5, 1.0], 1.0, 1.0,
        [[0, 0], [1.0, 0], [0.816496580928, -0.57735026919], [1.0, 0], [0.5, 0.25], [0.72360679775, -0.1972135955]],
        [1.0, 1.0, 1.41421356237, 1.11803398875, 1.11803398875], 3.76085368826, 0.752170737652, 1.41421356237,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "y", "radius", "eta", "W", "norms", "loss", "risk", "seen"), KNOWN)
def test_known_runs(spec, y, radius, eta, W, norms, loss, risk, seen):
    y = np.array(y)
    learner = OnlineGradientDescent(loss=spec, radius=radius, rate=f"sqrt:{eta!r}")
    found, squares = [[0.0, 0.0]], [0.0]
    for t in range(5):
        run = nr.play(learner, (ROWS[t : t + 1], y[t : t + 1]))
        found.append(learner.weights.tolist())
        squares.append(run.gradient["sum_norm2"])
    assert np.array(found) == pytest.approx(np.array(W), abs=1e-10)
    assert np.sqrt(np.diff(squares)) == pytest.approx(np.array(norms), abs=1e-7)
    assert run.loss == pytest.approx(loss, rel=1e-10)
    assert run.sequential_risk == pytest.approx(risk, rel=1e-10)
    assert run.gradient["max_norm"] == pytest.approx(seen, rel=1e-10)
