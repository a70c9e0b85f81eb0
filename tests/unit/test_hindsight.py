"""What the solvers must survive, what they must refuse, and the project's golden numbers."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from noregret.errors import SettingError
from noregret.interval import Interval
from noregret.loss import custom, parse, zero_one
from noregret.proof import enclose
from noregret.proof.solve import best, best_expert, curve, least_l2, penalised, prefixes, root, separator
from noregret.proof.solve.design import Design
from noregret.proof.solve.newton import least_point
from noregret.proof.solve.region import Ball, Penalty
from noregret.rounds import Rounds
from oracle.hindsight import exact, norm_at_most

SPECS = [
    "hinge",
    "margin-hinge:0.5",
    "perceptron",
    "absolute",
    "pinball:0.8",
    "squared-hinge",
    "logistic",
    "exponential",
    "squared",
    "huber:0.7",
]


def data(spec, rounds=60, features=4, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, features))
    score = X @ rng.normal(size=features) + rng.normal(size=rounds)
    return X, score if parse(spec).regression else np.where(score > 0, 1.0, -1.0)


def checked(rounds, loss, found):
    """The interval is what the enclosures say at the points handed back, and u lies in the ball."""
    assert enclose.risk(rounds, loss, found.u, found.sigma).hi == found.upper
    assert enclose.dual(rounds, loss, found.alpha, found.radius, found.sigma).lo == found.lower
    if math.isfinite(found.radius):
        assert norm_at_most(exact(found.u), Fraction(found.radius))
    return found


# -- the same answer however it is asked ---------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("radius", [0.1, 30.0])
def test_sparse_and_dense_rows_have_the_same_answer(spec, radius):
    X, y = data(spec)
    X[np.abs(X) < 0.5] = 0.0
    loss = parse(spec)
    dense, sparse = Rounds.of(X, y), Rounds.of(csr_matrix(X), y)
    a, b = (checked(rounds, loss, best(rounds, loss, radius)) for rounds in (dense, sparse))
    assert max(a.lower, b.lower) <= min(a.upper, b.upper)
    assert a.finished
    assert b.finished


@pytest.mark.parametrize("spec", SPECS)
def test_weights_are_repetitions(spec):
    X, y = data(spec, rounds=30)
    loss, k = parse(spec), np.random.default_rng(2).integers(1, 4, 30)
    weighted = Rounds(Rounds.of(X, y).rows, y, k.astype(float))
    repeated = Rounds.of(np.repeat(X, k, axis=0), np.repeat(y, k))
    a = checked(weighted, loss, best(weighted, loss, 0.5, gap=1e-6))
    b = best(repeated, loss, 0.5, gap=1e-6)
    assert max(a.lower, b.lower) <= min(a.upper, b.upper)


def test_the_same_call_gives_the_same_bits():
    X, y = data("hinge", features=2500)
    first, second = (best(Rounds.of(X, y), parse("hinge"), 0.2) for _ in range(2))
    assert (first.u == second.u).all()
    assert (first.alpha == second.alpha).all()


def test_a_curve_comes_back_in_the_order_asked_and_falls_with_the_radius():
    X, y = data("hinge")
    rounds, radii = Rounds.of(X, y), [2.0, 0.1, 0.5]
    found = curve(rounds, parse("hinge"), radii, gap=1e-6, seconds=60.0)
    assert [point.radius for point in found] == radii
    assert found[1].lower > found[2].upper > found[2].lower > found[0].upper
    for point in found:
        alone = best(rounds, parse("hinge"), point.radius, gap=1e-6)
        assert max(alone.lower, point.lower) <= min(alone.upper, point.upper)


def test_prefixes_are_the_first_rounds():
    X, y = data("logistic")
    rounds = Rounds.of(X, y)
    found = prefixes(rounds, parse("logistic"), 2.0, 0.0, [1, 2, 4, 8, 60], gap=1e-6)
    for count, point in zip([1, 2, 4, 8, 60], found, strict=True):
        checked(rounds.first(count), parse("logistic"), point)
        alone = best(rounds.first(count), parse("logistic"), 2.0, gap=1e-6)
        assert max(alone.lower, point.lower) <= min(alone.upper, point.upper)


def test_a_warm_start_is_faster_and_may_lie_outside_the_ball():
    X, y = data("absolute", rounds=500)
    rounds, loss = Rounds.of(X, y), parse("absolute")
    cold = best(rounds, loss, 3.0)
    assert best(rounds, loss, 3.0, start=cold).iterations < cold.iterations
    assert checked(rounds, loss, best(rounds, loss, 0.1, start=cold)).finished


def test_the_interval_can_be_watched():
    X, y = data("hinge")
    seen = []
    found = best(Rounds.of(X, y), parse("hinge"), 1.0, watch=lambda lower, upper: seen.append((lower, upper)))
    assert len(seen) == found.iterations
    assert all(a[0] <= b[0] and a[1] >= b[1] for a, b in pairwise(seen))


@pytest.mark.parametrize("features", [20, 3000])
def test_no_time_means_a_wide_interval_that_holds(features):
    X, y = data("hinge", rounds=300, features=features)
    rounds, loss = Rounds.of(X, y), parse("hinge")
    found = checked(rounds, loss, best(rounds, loss, 0.05, gap=1e-12, seconds=0.0))
    assert not found.finished
    assert found.gap > 1e-12
    assert found.iterations <= 4
    assert found.lower <= best(rounds, loss, 0.05).upper


# -- odd shapes and sizes ------------------------------------------------------------------------------------------

ODD = {
    "no rounds": (np.zeros((0, 3)), np.zeros(0)),
    "rows of zeros": (np.zeros((4, 3)), np.array([1.0, -1.0, 1.0, 1.0])),
    "no features": (np.zeros((4, 0)), np.ones(4)),
    "a single row": (np.array([[3.0, 4.0]]), np.ones(1)),
    "one feature": (np.array([[1.0], [-2.0], [0.0]]), np.array([1.0, -1.0, 1.0])),
    "duplicates": (np.ones((5, 3)), np.ones(5)),
    "opposites and a zero": (np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]]), np.array([1.0, -1.0, 1.0])),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("spec", SPECS)
def test_odd_shapes_work(name, spec):
    X, y = ODD[name]
    loss = parse(spec)
    for radius, sigma in ((2.0, 0.0), (2.0, 0.1), (math.inf, 0.1)):
        for rounds in (Rounds.of(X, y), Rounds.of(csr_matrix(X), y)):
            assert checked(rounds, loss, best(rounds, loss, radius, sigma, gap=1e-6)).finished


@pytest.mark.parametrize("name", ODD)
def test_odd_shapes_work_for_the_perceptrons_comparators(name):
    X, y = ODD[name]
    rounds = Rounds.of(X, y)
    for found in (penalised(rounds, 1.0), penalised(rounds, 0.0), root(rounds), least_l2(rounds)):
        assert found.finished
        assert found.lower <= found.upper
    separable = name in ("no rounds", "a single row", "duplicates")
    assert (separator(rounds) is not None) is separable


@pytest.mark.parametrize(
    ("spec", "exponents"),
    [(spec, (-100, -30, 30, 100)) for spec in SPECS[:5]] + [(spec, (-30, 30)) for spec in SPECS[5:]],
)
def test_huge_and_tiny_rows_only_change_the_units(spec, exponents):
    """Rows times 2^e and a radius times 2^−e: the same losses."""
    X, y = data(spec)
    loss = parse(spec)
    here = best(Rounds.of(X, y), loss, 2.0)
    for exponent in exponents:
        scale = 2.0 ** round(exponent * math.log2(10))
        rounds = Rounds.of(X * scale, y)
        there = checked(rounds, loss, best(rounds, loss, 2.0 / scale))
        assert there.finished
        assert there.upper == pytest.approx(here.upper, rel=2e-4)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("scale", [1e-30, 1e-100])
def test_rows_that_no_comparator_can_use(spec, scale):
    X, y = data(spec)
    rounds, loss = Rounds.of(X * scale, y), parse(spec)
    found = checked(rounds, loss, best(rounds, loss, 1.0))
    assert found.finished
    assert found.upper == pytest.approx(math.fsum(loss.values(np.zeros(60), y)))


@pytest.mark.parametrize("spec", ["absolute", "pinball:0.8", "huber:0.7", "squared"])
def test_large_labels(spec):
    X, y = data(spec)
    rounds, loss = Rounds.of(X, 1e6 * y), parse(spec)
    for radius in (1e4, 1e8):
        assert checked(rounds, loss, best(rounds, loss, radius)).finished


def test_a_ball_too_large_for_floating_point_is_admitted():
    """With U‖x‖ = 1e30 no α in floating point proves anything: the interval is wide, and says so soon."""
    X, y = data("hinge")
    rounds, loss = Rounds.of(1e30 * X, y), parse("hinge")
    found = checked(rounds, loss, best(rounds, loss, 1.0))
    assert not found.finished
    assert found.iterations < 300
    assert found.upper == pytest.approx(best(Rounds.of(X, y), loss, 100.0).upper, rel=1e-3)


# -- a loss of one's own -------------------------------------------------------------------------------------------


def test_a_custom_loss_is_bounded_by_its_tangents():
    own = custom(lambda z, y: (z - y) ** 2, lambda z, y: 2 * (z - y), regression=True)
    X, y = data("squared")
    rounds = Rounds.of(X, y)
    for radius in (0.3, 20.0):
        found, known = best(rounds, own, radius), best(rounds, parse("squared"), radius)
        assert found.finished
        assert found.tangent is not None
        assert (found.alpha == own.gradients(found.tangent, y)).all()
        assert max(found.lower, known.lower) <= min(found.upper, known.upper)


def test_a_custom_loss_with_a_kink_has_a_wide_interval_that_holds():
    own = custom(lambda z, y: abs(z - y), lambda z, y: 1.0 if z > y else -1.0, lipschitz=1.0, regression=True)
    X, y = data("absolute")
    rounds = Rounds.of(X, y)
    found, known = best(rounds, own, 20.0), best(rounds, parse("absolute"), 20.0)
    assert found.lower <= known.upper
    assert known.lower <= found.upper <= 1.05 * known.upper


# -- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"radius": math.inf}, "hindsight: radius must be finite where sigma is 0, got inf"),
        ({"radius": 0.0}, "hindsight: radius must be positive, got 0.0"),
        ({"radius": math.nan}, "hindsight: radius must be positive, got nan"),
        ({"radius": 1.0, "sigma": -1.0}, "hindsight: sigma must be at least 0 and finite, got -1.0"),
        ({"radius": 1.0, "gap": 0.0}, "hindsight: gap must be positive, got 0.0"),
    ],
)
def test_settings_are_refused_in_a_sentence(settings, sentence):
    X, y = data("hinge")
    with pytest.raises(SettingError, match=sentence):
        best(Rounds.of(X, y), parse("hinge"), **settings)


def test_more_is_refused_in_a_sentence():
    rounds = Rounds.of(*data("hinge"))
    with pytest.raises(SettingError, match="hindsight: the loss must be convex, got zero-one"):
        best(rounds, zero_one(), 1.0)
    with pytest.raises(SettingError, match=r"penalised: rho must be at least 0 and finite, got -1\.0 to -1\.0"):
        penalised(rounds, -1.0)
    with pytest.raises(SettingError, match="best_expert: there must be at least one expert, got none"):
        best_expert(np.zeros((3, 0)))


# -- the project's golden numbers ----------------------------------------------------------------------------------

AXES = ([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [1.0, 1.0], [-1.0, 1.0]], [1.0, 1.0, -1.0, -1.0, 1.0, -1.0])
BIAS = ([[2.0, 1.0], [1.0, 1.0], [-1.0, 1.0], [-2.0, 1.0], [0.5, 1.0], [-0.5, 1.0]], [1.0, 1.0, -1.0, -1.0, 1.0, -1.0])
STREAMS = {
    "alternating labels": (np.ones((6, 1)), np.tile([1.0, -1.0], 3)),
    "axes, two passes": (np.tile(AXES[0], (2, 1)), np.tile(AXES[1], 2)),
    "margin and bias, three passes": (np.tile(BIAS[0], (3, 1)), np.tile(BIAS[1], 3)),
}


# golden.json, perceptron[*].tightest: (ρ, value) of Phi_RI_all and Phi_normw_all under both tie rules
@pytest.mark.parametrize(
    ("stream", "rho", "value"),
    [
        ("alternating labels", 2.44948974278, 6.0),
        ("alternating labels", 0.0, 6.0),
        ("alternating labels", 2.2360679775, 6.0),
        ("alternating labels", 1.0, 6.0),
        ("axes, two passes", 2.2360679775, 5.00000000651),
        ("margin and bias, three passes", 2.5, 5.00000000123),
        ("margin and bias, three passes", 1.80277563773, 3.60555127572),
        ("margin and bias, three passes", 1.5, 3.00000000036),
    ],
)
def test_golden_penalised(stream, rho, value):
    found = penalised(Rounds.of(*STREAMS[stream]), rho)
    assert found.finished
    assert found.upper == pytest.approx(value, rel=1e-6)
    assert found.lower == pytest.approx(value, rel=1e-6)


# golden.json, perceptron[*].tightest: root_all and eq8_all
@pytest.mark.parametrize(
    ("stream", "order_free", "l2"),
    [
        ("alternating labels", 6.0, 6.0),
        ("axes, two passes", 7.23606798702, 7.73330451958),
        ("margin and bias, three passes", 10.1097722304, 10.9941125497),
    ],
)
def test_golden_order_free(stream, order_free, l2):
    rounds = Rounds.of(*STREAMS[stream])
    for found, value in ((root(rounds), order_free), (least_l2(rounds), l2)):
        assert found.finished
        assert found.upper == pytest.approx(value, rel=1e-6)
        assert found.lower == pytest.approx(value, rel=1e-6)


# golden.json, ogd[*].comparator_interval
@pytest.mark.parametrize(
    ("spec", "labels", "radius", "low", "high"),
    [
        ("squared", [1.0, -1.0, 0.5, -0.5, 1.0], 1.0, 0.634615384178, 0.634615384615),
        ("hinge", [1.0, -1.0, 1.0, -1.0, 1.0], 2.0, 0.177124343767, 0.177124344519),
        ("absolute", [1.0, -1.0, 0.5, -0.5, 1.0], 1.0, 1.42712434363, 1.42712434712),
    ],
)
def test_golden_comparators(spec, labels, radius, low, high):
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.5], [0.5, -1.0]])
    found = best(Rounds.of(X, labels), parse(spec), radius, gap=1e-6)
    assert found.finished
    assert found.lower <= high + 1e-9
    assert found.upper >= low - 1e-9
    assert found.upper == pytest.approx(high, abs=1e-5)


# -- the parts -----------------------------------------------------------------------------------------------------


def test_an_uncertain_rho_widens_the_interval():
    rounds = Rounds.of(*data("hinge"))
    low, high = penalised(rounds, 1.0), penalised(rounds, 2.0)
    both = penalised(rounds, Interval(1.0, 2.0))
    assert both.lower <= low.upper
    assert both.upper >= high.lower
    assert norm_at_most(exact(enclose.combined(rounds, both.beta * rounds.y)[1]), Fraction(1) + Fraction(1, 10**9))


def test_the_best_expert_is_exact():
    losses = np.array([[0.1, 0.3, 1e16], [0.2, 0.0, 1.0], [0.3, 0.25, -1e16]])
    winner, total = best_expert(losses)
    assert winner == 1
    assert Fraction(total.lo) <= Fraction(0.3) + Fraction(0.25) <= Fraction(total.hi)
    assert best_expert(losses[:, 2:])[1] == Interval(1.0, 1.0)
    assert best_expert(np.zeros((3, 2)))[0] == 0


@pytest.mark.parametrize("region", [Ball(0.7), Ball(100.0), Ball(0.7, 3.0), Penalty(0.5), Penalty(40.0)])
def test_no_point_of_a_region_is_lower_than_the_minimiser_of_the_model(region):
    rng = np.random.default_rng(7)
    A, c = rng.normal(size=(5, 5)), 10.0 * rng.normal(size=5)
    H = A @ A.T + 0.01 * np.eye(5)

    def model(v):
        return 0.5 * v @ H @ v + c @ v + region.value(v)

    start = rng.normal(size=5)
    found = start + region.step(H, c + H @ start, start)
    assert (region.inside(found) == found).all() or np.allclose(region.inside(found), found, rtol=1e-14)
    for _ in range(300):
        other = region.inside(found + rng.normal(size=5) * 10.0 ** rng.uniform(-6, 1))
        assert model(found) <= model(other) + 1e-10


def test_a_step_ends_where_the_slope_is_nearly_gone():
    assert least_point(lambda t: t + 1.0) == 0.0
    assert least_point(lambda t: t - 2.0) == 1.0
    assert abs(least_point(lambda t: max(-1.0, 1e9 * (t - 1e-6))) - 1e-6) <= 1e-10
    assert abs(least_point(lambda t: t - 0.25) - 0.25) <= 0.1 * 0.25


def test_the_design_is_the_rows_in_other_units():
    X, _ = data("hinge")
    X *= 1e-40
    dense, sparse = Design.of(Rounds.of(X, np.ones(60))), Design.of(Rounds.of(csr_matrix(X), np.ones(60)))
    rng = np.random.default_rng(3)
    u, w = rng.normal(size=4), rng.random(60) * (rng.random(60) < 0.6)
    scaled = X * 2.0**-dense.exponent
    assert 0.5 <= np.abs(scaled).max() < 1.0
    for design in (dense, sparse):
        assert np.allclose(design.scores(u), scaled @ u, rtol=1e-12)
        assert np.allclose(design.combine(w), w @ scaled, rtol=1e-12)
        assert np.allclose(design.curvature(w), scaled.T @ (w[:, None] * scaled), rtol=1e-12)
        assert np.allclose(design.square_norms(), (scaled**2).sum(axis=1), rtol=1e-12)
        assert np.allclose(design.outward(design.inward(u)), u, rtol=0)


@pytest.mark.parametrize("seed", range(4))
def test_a_penalty_is_solved_for_from_0_on_ordinary_rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 3))
    y = np.where(X @ [1.0, -2.0, 0.5] + 0.5 * rng.normal(size=300) > 0, 1.0, -1.0)
    found = penalised(Rounds.of(X, y), 5.0)
    assert found.finished
    assert found.upper - found.lower <= 1e-4 * found.upper
