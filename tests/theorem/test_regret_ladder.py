"""The certificates of gradient descent: known numbers, chains that grow, and no theorem ever broken on any stream."""

import math
import os
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noregret.interval import Interval
from noregret.learner import OnlineGradientDescent, StronglyConvexGradientDescent
from noregret.loss import LOSSES, parse
from noregret.proof import enclose
from noregret.proof.facts import Facts
from noregret.proof.facts.steps import exact_path
from noregret.proof.hindsight import Hindsight
from noregret.proof.solve import best
from noregret.proof.theorem import Verdict
from noregret.proof.theorems import certificates
from noregret.proof.theorems.constant import closed, period_roots
from noregret.proof.theorems.shared import exact_sqrt
from noregret.proof.theorems.strong import harmonic, log_rounds
from noregret.rounds import Rounds
from oracle import learners as oracle
from oracle.theorems import played

THOROUGH = bool(os.environ.get("NOREGRET_THOROUGH"))
few = settings(max_examples=10_000 if THOROUGH else 100)
solved = settings(max_examples=500 if THOROUGH else 20)


def by_name(evidence):
    return {one.theorem: one for one in certificates(evidence)}


def never_broken(found):
    assert [one.theorem for one in found if one.verdict is Verdict.BROKEN] == []


def against(rounds, loss, radius, u, sigma=0.0):
    """A comparator that need not be the best: its loss is above the least, so that the regret's upper end is open."""
    return Hindsight(u, None, 0.0, enclose.risk(rounds, loss, u, sigma).hi, radius, sigma, "given", 0, 0.0, False)


# -- the project's golden numbers ------------------------------------------------------------------------------------

ROWS = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.5], [0.5, -1.0]]
LINES = ("ogd-linearised-at-hindsight", "ogd-telescoped-at-hindsight", "ogd-ball", "ogd-any-rate", "ogd-tuned")
# loss, labels, U, G that the rate is made from, regret, then the lines
LADDERS = [
    (
        "squared", [1.0, -1.0, 0.5, -0.5, 1.0], 1.0, 8.0, 1.90366308932,
        [3.36306170501, 3.36306170501, 17.5559892746, 26.8793601114, 50.5964425627],
    ),
    (
        "hinge", [1.0, -1.0, 1.0, -1.0, 1.0], 2.0, math.sqrt(2), 2.34458303276,
        [3.16745868749, 3.64000028172, 8.80607922956, 17.88854382, 17.88854382],
    ),
    (
        "absolute", [1.0, -1.0, 0.5, -0.5, 1.0], 1.0, math.sqrt(2), 2.33372934463,
        [2.33372934114, 2.57000014186, 4.99504811197, 8.94427191, 8.94427191],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("loss", "y", "U", "G", "regret", "lines"), LADDERS)
def test_known_ladders(loss, y, U, G, regret, lines):
    eta = math.sqrt(2) * U / G
    run, rounds = played(OnlineGradientDescent(loss=loss, radius=U, rate=f"sqrt:{eta!r}"), ROWS, y)
    evidence = Facts(run, rounds, best(rounds, parse(loss), U, gap=1e-8))
    assert evidence.regret.hi == pytest.approx(regret, abs=1e-5)
    found = by_name(evidence)
    assert [found[name].bound for name in LINES] == pytest.approx(lines, abs=1e-4)
    never_broken(found.values())
    assert found["ogd-tuned"].verdict is not Verdict.UNMET


def test_known_strongly_convex_run():
    """σ = ½, hinge: Σ‖g‖²/(2σt) is the regret itself."""
    y = [1.0, -1.0, 1.0, -1.0, 1.0]
    run, rounds = played(StronglyConvexGradientDescent(loss="hinge", sigma=0.5), ROWS, y)
    evidence = Facts(run, rounds, best(rounds, parse("hinge"), math.inf, 0.5, gap=1e-8))
    assert evidence.loss.hi == pytest.approx(5.69444444444, abs=1e-9)
    assert evidence.regret.hi == pytest.approx(3.14444444096, abs=1e-6)
    found = by_name(evidence)
    assert found["strong-gradients"].bound == pytest.approx(3.14444444444, abs=1e-9)
    assert found["strong-harmonic"].bound == pytest.approx(5.70833333333, abs=1e-9)
    assert found["strong-log"].bound == pytest.approx(6.52359478109, abs=1e-9)
    assert found["strong-lipschitz"].values["max_gradient"] == pytest.approx(2.82842712475, abs=1e-9)
    never_broken(found.values())


@pytest.mark.parametrize(
    ("T", "roots", "bound"),
    [
        (1, 1.0, 3.41421356237),
        (2, 2.41421356237, 4.82842712475),
        (3, 2.41421356237, 5.91359135792),
        (7, 4.41421356237, 9.0331600089),
        (8, 7.24264068712, 9.65685424949),
        (100, 24.8994949366, 34.1421356237),
    ],
)
def test_known_doubling_sums(T, roots, bound):
    assert period_roots(T).hi == pytest.approx(roots, rel=1e-11)
    assert closed(exact_sqrt(T)).hi == pytest.approx(bound, rel=1e-11)
    assert period_roots(T).hi <= closed(exact_sqrt(T)).lo


# -- the pieces ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("T", [1, 2, 10, 1000])
def test_the_harmonic_sum_lies_between_the_logarithms(T):
    exact = math.fsum(1.0 / t for t in range(1, T + 1))
    assert harmonic(T).lo <= exact <= harmonic(T).hi <= log_rounds(T).hi * (1 + 1e-15)
    assert math.log(T + 1) < exact


def test_roots_of_squares_are_not_rounded():
    assert exact_sqrt(49) == Interval(7.0, 7.0)
    assert exact_sqrt(2).lo < math.sqrt(2) < exact_sqrt(2).hi


@few
@given(
    st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4), st.integers(-2, 2)), min_size=1, max_size=20),
    st.sampled_from([0.3, 1.0, 50.0]),
    st.sampled_from([0.1, 1.0, 7.0]),
)
def test_the_path_is_that_of_the_definition(rounds, radius, eta):
    X, slopes = [row[:2] for row in rounds], [float(row[2]) for row in rounds]
    game = oracle.descent(
        X, slopes, (lambda z, s: 0.0, lambda z, s: s), oracle.over_root(eta), oracle.ball(radius), start=[0.1, 0.0]
    )
    path = exact_path(Rounds.of(np.array(X), slopes), np.array(slopes), eta, radius, np.array([0.1, 0.0]), 0.0)
    steps = [(math.sqrt(t + 1) - math.sqrt(t)) / eta for t in range(1, len(X))]
    W = np.array(game.W)
    assert path.last == pytest.approx(W[-1], abs=1e-12)
    assert path.drift == pytest.approx(sum((c * w for c, w in zip(steps, W[1:-1], strict=True)), np.zeros(2)), abs=1e-9)
    norms = np.linalg.norm(W[1:-1], axis=1)
    assert path.norms2 == pytest.approx(float(np.dot(steps, norms**2)), abs=1e-9)
    assert path.norms == pytest.approx(float(np.dot(steps, norms)), abs=1e-9)
    u = np.array([-0.2, 0.05])
    etas = [eta / math.sqrt(t) for t in range(1, len(X) + 1)]
    far = np.sum((W - u) ** 2, axis=1)
    told = far[0] / (2 * etas[0]) + 0.5 * np.dot(steps, far[1:-1]) - far[-1] / (2 * etas[-1])
    assert path.telescoped(u, Interval.of(0.0)).lo == pytest.approx(told, abs=1e-8)
    loose = (np.linalg.norm(W[0]) + 2) ** 2 / (2 * etas[0]) + 0.5 * np.dot(steps, (norms + 2) ** 2)
    assert path.triangle(2.0, Interval.of(0.0)).lo == pytest.approx(loose, abs=1e-8)


def test_a_path_that_would_take_too_long_is_left_out_and_that_is_said(monkeypatch):
    monkeypatch.setattr("noregret.proof.facts.steps.LIMIT", 9)
    run, rounds = played(OnlineGradientDescent(radius=1.0, rate="sqrt:1"), ROWS, [1, -1, 1, -1, 1])
    found = by_name(Facts(run, rounds, against(rounds, run.learner.loss, 1.0, np.zeros(2))))
    for name in ("ogd-telescoped", "ogd-telescoped-at-hindsight", "ogd-triangle"):
        assert found[name].verdict is Verdict.UNMET
        assert "the path was replayed" in found[name].assumptions[-1].statement
    assert found["ogd-ball"].verdict is not Verdict.UNMET


# -- no theorem is ever broken ---------------------------------------------------------------------------------------

PARTS = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(1e-6, 10.0) | st.floats(-10.0, -1e-6),
    st.sampled_from([0.1, -0.3, 1e8, -1e8, 1.0 + 2.0**-52]),
)
RADII = st.sampled_from([0.25, 1.0, 3.0, 1e3])


@st.composite
def streams(draw, regression, longest=12, extreme=False):
    """Rows with zeros and duplicates, scaled by anything from 1e−100 to 1e100 where the loss bears it."""
    width = draw(st.integers(1, 3))
    rows = draw(st.lists(st.lists(PARTS, min_size=width, max_size=width), min_size=1, max_size=4))
    order = draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=longest))
    labels = st.integers(-3, 3).map(float) if regression else st.sampled_from([-1.0, 1.0])
    y = draw(st.lists(labels, min_size=len(order), max_size=len(order)))
    scale = draw(st.sampled_from([1.0, 1e-100, 1e-20, 1e20, 1e90])) if extreme else 1.0
    return np.array([rows[i] for i in order]) * scale, np.array(y)


def rates(radius):
    """Every step rule, with parameters that fit and others that do not."""
    number = st.sampled_from([1e-3, 0.1, 1.0, 30.0, 1e6])
    return st.one_of(
        st.just("auto"),
        number.map(lambda eta: f"sqrt:{eta!r}"),
        number.map(lambda eta: f"constant:{eta!r}"),
        st.tuples(st.integers(1, 12), number).map(lambda two: f"horizon:{two[0]}:{two[1]!r}"),
        number.map(lambda G: f"doubling:{G!r}"),
    )


def points(draw, width, radius):
    """A point of the ball, on its border more often than not."""
    u = np.array(draw(st.lists(st.floats(-1.0, 1.0, allow_subnormal=False), min_size=width, max_size=width)))
    norm = float(np.linalg.norm(u))
    if norm < 1e-3:
        return np.zeros(width)
    return u * (radius / norm * draw(st.sampled_from([1.0, 1.0, 0.5])) * (1.0 - 1e-15))


def check(evidence):
    """Nothing is broken, no bound lies below a regret that is attained, and the two chains grow."""
    found = by_name(evidence)
    never_broken(found.values())
    for chain in (("ogd-linearised", "ogd-telescoped", "ogd-triangle", "ogd-ball", "ogd-any-rate"), LINES[:2]):
        told = [found[name].bound for name in chain if name in found and found[name].bound is not None]
        for low, high in pairwise(told):
            assert low <= high + 1e-9 * (abs(low) + abs(high)) + 1e-290, chain
    return found


@few
@given(st.data(), st.sampled_from(sorted(set(LOSSES) - {"exponential"})), RADII, st.booleans())
def test_no_certificate_of_gradient_descent_is_broken(data, spec, radius, bias):
    loss = parse(spec)
    X, y = data.draw(streams(loss.regression, extreme=spec in ("hinge", "absolute", "perceptron")))
    start = None
    rate = data.draw(rates(radius))
    if not rate.startswith("doubling") and data.draw(st.booleans()):
        start = points(data.draw, X.shape[1], radius)
    domain = "box" if rate.startswith(("sqrt", "constant")) and data.draw(st.booleans()) else "ball"
    weights = data.draw(st.none() | st.just(np.linspace(0.5, 2.0, len(y))))
    learner = OnlineGradientDescent(loss=spec, radius=radius, rate=rate, bias=bias, start=start, domain=domain)
    run, rounds = played(learner, X, y, weights)
    u = points(data.draw, rounds.width, radius)
    bare = Facts(run, rounds)
    alone = {one.theorem: one for one in certificates(bare)}
    assert set(alone) == {"ogd-linearised"} | ({"box-linearised"} if domain == "box" else set())
    assert alone["ogd-linearised"].observed is None
    check(Facts(run, rounds, against(rounds, loss, radius, u)))
    worst = -bare.gradient.total
    size = float(np.linalg.norm(worst))
    if 0.0 < size < math.inf:
        check(Facts(run, rounds, against(rounds, loss, radius, worst / size * radius * (1.0 - 1e-15))))


@few
@given(st.data(), st.sampled_from(sorted(LOSSES)), st.sampled_from([1e-3, 0.1, 1.0, 100.0]), st.booleans())
def test_no_certificate_of_strongly_convex_descent_is_broken(data, spec, sigma, bias):
    loss = parse(spec)
    X, y = data.draw(streams(loss.regression))
    X = np.clip(X, -10.0, 10.0)
    radius = data.draw(st.sampled_from([0.5, 10.0])) if math.isinf(loss.lipschitz) else math.inf
    weights = data.draw(st.none() | st.just(np.linspace(0.5, 2.0, len(y))))
    learner = StronglyConvexGradientDescent(loss=spec, sigma=sigma, radius=radius, bias=bias)
    run, rounds = played(learner, X, y, weights)
    bare = Facts(run, rounds)
    assert certificates(bare) == []
    nearest = np.concatenate([[learner.bias] if bias else [], learner.weights])  # w_{T+1}: where the bound is tight
    for u in (nearest, np.zeros(rounds.width), points(data.draw, rounds.width, min(radius, 3.0))):
        never_broken(certificates(Facts(run, rounds, against(rounds, loss, radius, u, sigma))))


@solved
@given(st.data(), st.sampled_from(sorted(LOSSES)), st.sampled_from([0.25, 1.0, 3.0]))
def test_with_hindsight_solved_for_nothing_is_broken(data, spec, radius):
    loss = parse(spec)
    X, y = data.draw(streams(loss.regression))
    X = np.clip(X, -10.0, 10.0)
    run, rounds = played(OnlineGradientDescent(loss=spec, radius=radius, rate=data.draw(rates(radius))), X, y)
    evidence = Facts(run, rounds, best(rounds, loss, radius, seconds=5.0))
    found = check(evidence)
    for one in found.values():
        if one.bound is not None:
            assert one.bound >= evidence.regret.lo
            assert set(one.points) <= set(evidence.points)


# -- where the bounds are attained -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-90, 1.0, 1e90])
def test_one_round_attains_the_ball_bound(scale):
    """T = 1, η = U/‖g‖: regret U‖g‖ = (U²/η)/2 + (η/2)‖g‖²."""
    U = 0.25 / scale
    run, rounds = played(OnlineGradientDescent(radius=U, rate=f"sqrt:{U / scale!r}"), [[scale]], [1])
    evidence = Facts(run, rounds, against(rounds, run.learner.loss, U, np.array([U])))
    found = by_name(evidence)
    never_broken(found.values())
    assert found["ogd-ball"].bound == pytest.approx(0.25, rel=1e-9)
    assert evidence.regret.lo == pytest.approx(0.25, rel=1e-9)


def test_the_sum_over_gradients_is_attained():
    """Where w_{T+1} is the minimiser, as with these rows, the regret is Σ‖g‖²/(2σt) itself."""
    y = [1.0, -1.0, 1.0, -1.0, 1.0]
    run, rounds = played(StronglyConvexGradientDescent(loss="hinge", sigma=0.5), ROWS, y)
    u = np.array([1.0, -0.4])  # w_{T+1}, the minimiser
    evidence = Facts(run, rounds, against(rounds, run.learner.loss, math.inf, u, 0.5))
    found = by_name(evidence)["strong-gradients"]
    assert evidence.regret.lo == pytest.approx(found.bound, rel=1e-9)
    assert evidence.regret.lo <= found.bound


# -- needs -----------------------------------------------------------------------------------------------------------


def certified(X, y, u, radius=1.0, weights=None, compared=None, **settings):
    run, rounds = played(OnlineGradientDescent(radius=radius, **settings), X, y, weights)
    return by_name(Facts(run, rounds, against(rounds, run.learner.loss, compared or radius, np.array(u))))


def test_the_horizon_must_not_be_overrun_and_no_gradient_be_longer():
    X, y = [[1.0], [1.0], [1.0]], [1, -1, 1]
    assert certified(X, y, [1.0], rate="horizon:3:1")["ogd-horizon"].bound == pytest.approx(math.sqrt(3))
    assert certified(X, y, [1.0], rate="horizon:2:1")["ogd-horizon"].verdict is Verdict.UNMET
    assert certified(X, y, [1.0], rate="horizon:3:0.9")["ogd-horizon"].verdict is Verdict.UNMET
    assert certified(X, y, [1.0], rate="horizon:9:1")["ogd-horizon"].bound == pytest.approx(3.0)
    assert certified(X, y, [1.0], rate="horizon:3:1", start=[0.5])["ogd-horizon"].verdict is Verdict.UNMET


def test_rows_of_norm_one_are_not_longer_than_one():
    """‖x‖ = 1 but for rounding: the Lipschitz constant is still the G of the rate."""
    x = np.array([[0.1, 0.2, 0.3]])
    x = x / np.linalg.norm(x)
    for rate, name in (("horizon:1", "ogd-horizon"), ("doubling", "ogd-doubling"), ("doubling", "ogd-doubling-closed")):
        assert certified(x, [1], [0.0, 0.0, 0.0], rate=rate)[name].verdict is not Verdict.UNMET


def test_the_rate_that_adapts_has_its_bound():
    X, y = np.array([[3.0, 0.0], [0.0, 4.0], [1.0, 1.0]]), np.array([1.0, -1.0, 1.0])
    run, rounds = played(OnlineGradientDescent(loss="hinge", radius=1.0, rate="auto"), X, y)
    found = by_name(Facts(run, rounds, against(rounds, parse("hinge"), 1.0, np.zeros(2))))["ogd-adaptive"]
    assert found.bound == pytest.approx(2 * math.sqrt(2) * math.sqrt(run.gradient["sum_norm2"]), rel=1e-9)


def test_the_inverse_root_is_recognised():
    X, y = [[1.0]] * 4, [1, -1, 1, -1]
    assert certified(X, y, [1.0], rate="constant:0.5")["ogd-inverse-root"].bound == pytest.approx(2.0)
    assert "ogd-inverse-root" not in certified(X, y, [1.0], rate="constant:0.6")


def test_a_box_has_only_what_is_true_of_it():
    found = certified([[1.0], [1.0]], [1, -1], [1.0], rate="sqrt:1", domain="box")
    met = {name for name, one in found.items() if one.verdict is not Verdict.UNMET}
    assert met == {"ogd-linearised", "ogd-linearised-at-hindsight", "box-linearised"}
    found = certified([[1.0], [1.0]], [1, -1], [1.0], rate="constant:1", domain="box")
    assert found["ogd-constant"].verdict is not Verdict.UNMET


def test_comparators_beyond_the_learners_ball_are_not_promised_anything_by_its_steps():
    found = certified([[1.0], [1.0]], [1, 1], [2.0], compared=2.0, rate="sqrt:1")
    assert found["ogd-ball"].verdict is Verdict.UNMET
    assert found["ogd-linearised"].verdict is not Verdict.UNMET


def test_in_the_whole_space_a_constant_step_has_its_bound():
    """‖u‖²/2η + (η/2)Σ‖g‖² with ‖u‖ ≤ 1, η = ½ and one gradient of norm 1 in two rounds: 1 + ¼ + ¼."""
    run, rounds = played(OnlineGradientDescent(radius=math.inf, rate="constant:0.5"), [[1.0], [1.0]], [1, 1])
    found = by_name(Facts(run, rounds, against(rounds, run.learner.loss, 1.0, np.array([1.0]))))
    assert found["ogd-constant"].bound == pytest.approx(1.5)
    assert certificates(Facts(run, rounds)) == []


def test_from_another_start_line_four_keeps_what_it_spared():
    X, y = [[1.0], [1.0]], [1, -1]
    at_zero = certified(X, y, [1.0], rate="sqrt:1")["ogd-ball"].bound
    elsewhere = certified(X, y, [1.0], rate="sqrt:1", start=[0.0, 1.0])["ogd-ball"].bound
    assert elsewhere == pytest.approx(at_zero + 1.5)


def test_the_square_loss_has_its_gradient_bound_beforehand():
    """X = 1, Y = 1, U = 1: G = 4, and at η = √2·U/G the bound is U·G√(8T)."""
    eta = math.sqrt(2) / 4
    found = certified([[1.0], [-1.0]], [1.0, 0.5], [1.0], loss="squared", rate=f"sqrt:{eta!r}")["ogd-square-loss"]
    assert found.values["a_priori_gradient"] == pytest.approx(4.0)
    assert found.bound == pytest.approx(4 * math.sqrt(16))


def test_a_loss_of_ones_own_is_not_known_to_be_convex():
    import noregret as nr

    loss = nr.custom_loss(lambda z, y: (z - y) ** 4, lambda z, y: 4 * (z - y) ** 3, regression=True)
    run, rounds = played(OnlineGradientDescent(loss=loss, radius=1.0), [[1.0], [0.5]], [0.3, 0.1])
    (one,) = certificates(Facts(run, rounds))
    assert one.assumptions[0].to_dict() == {
        "statement": "the loss is convex in the score", "checked": False, "holds": None,
    }  # fmt: skip
