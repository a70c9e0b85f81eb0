"""What every loss promises: a convex value, a slope that is a subgradient, true constants, a dual."""

import math
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest

from noregret.errors import SettingError
from noregret.loss import LOSSES, parse, zero_one
from oracle.losses import LOSS, loss_of
from oracle.registry import SPECS

RNG = np.random.default_rng(7)
SCORES = [0.0, 1.0, -1.0, 0.5, -0.5, 0.3, 2.0, *RNG.normal(scale=2.0, size=60).tolist()]
every_loss = pytest.mark.parametrize("spec", SPECS)


def labels(spec):
    return [-1.7, 0.0, 0.4, 3.0] if parse(spec).regression else [-1.0, 1.0]


def test_every_loss_of_the_library_has_its_definition_here():
    assert set(LOSS) == set(LOSSES)


@every_loss
def test_value_and_slope_are_the_definition(spec):
    value, slope = loss_of(spec)
    for z in SCORES:
        for y in labels(spec):
            assert parse(spec)(z, y) == pytest.approx(value(z, y), rel=1e-13, abs=1e-15)
            assert parse(spec).gradient(z, y) == pytest.approx(slope(z, y), rel=1e-13, abs=1e-15)


@every_loss
def test_the_slope_is_a_subgradient(spec):
    loss = parse(spec)
    for y in labels(spec):
        for z in SCORES:
            for other in SCORES:
                line = loss(z, y) + loss.gradient(z, y) * (other - z)
                assert loss(other, y) >= line - 1e-12 * (1.0 + abs(line))


@every_loss
def test_the_slope_lies_between_the_difference_quotients(spec):
    loss, h = parse(spec), 1e-6
    for y in labels(spec):
        for z in SCORES:
            left, right = (loss(z, y) - loss(z - h, y)) / h, (loss(z + h, y) - loss(z, y)) / h
            assert left - 1e-8 <= loss.gradient(z, y) <= right + 1e-8


@every_loss
def test_away_from_kinks_the_slope_is_the_central_difference(spec):
    loss, h = parse(spec), 1e-6
    for y in labels(spec):
        for z in SCORES[7:]:  # random scores: none within h of a kink
            central = (loss(z + h, y) - loss(z - h, y)) / (2.0 * h)
            assert loss.gradient(z, y) == pytest.approx(central, abs=1e-7, rel=1e-7)


@every_loss
def test_no_slope_exceeds_the_lipschitz_constant_and_one_attains_it(spec):
    loss = parse(spec)
    steepest = max(abs(loss.gradient(z, y)) for z in [*SCORES, -50.0, 50.0] for y in labels(spec))
    assert steepest <= loss.lipschitz
    assert math.isinf(loss.lipschitz) or steepest == pytest.approx(loss.lipschitz, rel=1e-12)


@pytest.mark.parametrize("spec", [spec for spec in SPECS if math.isinf(parse(spec).lipschitz)])
def test_an_infinite_constant_means_that_the_slope_grows(spec):
    assert max(abs(parse(spec).gradient(z, 1.0)) for z in (-1e6, 1e6)) > 1e6


@every_loss
def test_the_curvature_is_a_strong_convexity(spec):
    loss = parse(spec)
    for y in labels(spec):
        for z in SCORES:
            for other in SCORES[::5]:
                line = loss(z, y) + loss.gradient(z, y) * (other - z)
                bend = loss.curvature / 2.0 * (other - z) ** 2
                assert loss(other, y) >= line + bend - 1e-12 * (1.0 + abs(line) + bend)


@every_loss
def test_value_and_dual_obey_fenchel_and_young(spec):
    loss = parse(spec)
    alphas = np.array([*RNG.uniform(-1.5, 1.5, 40), 0.0, 1.0, -1.0, 0.5, -0.5])
    for y in labels(spec):
        dual = loss.conjugate(alphas, np.full(alphas.shape, y))
        for z in SCORES:
            assert (loss(z, y) + dual >= alphas * z - 1e-12).all()
            at = loss.gradient(z, y)
            assert loss(z, y) + float(loss.conjugate(at, y)) == pytest.approx(at * z, abs=1e-12, rel=1e-12)


@pytest.mark.parametrize("spec", [spec for spec in SPECS if math.isfinite(parse(spec).lipschitz)])
def test_the_dual_is_infinite_beyond_the_steepest_slope(spec):
    loss = parse(spec)
    beyond = np.array([-1.0, 1.0]) * loss.lipschitz * 1.001
    assert np.isinf(loss.conjugate(beyond, np.full(2, labels(spec)[-1]))).all()


@pytest.mark.parametrize(
    ("spec", "at_zero", "slope"),
    [
        ("hinge", 1.0, -1.0),
        ("margin-hinge:0.5", 1.0, -2.0),
        ("squared-hinge", 1.0, -2.0),
        ("logistic", math.log(2.0), -0.5),
        ("perceptron", 0.0, -1.0),
        ("exponential", 1.0, -1.0),
    ],
)
def test_the_constants_at_zero_are_those_of_the_mistake_bounds(spec, at_zero, slope):
    assert parse(spec).at_zero == pytest.approx(at_zero, rel=1e-15)
    assert parse(spec).gradient(0.0, 1.0) == slope


def test_logistic_is_right_to_the_last_digits():
    logistic, digits = parse("logistic"), Context(prec=60)
    rng = np.random.default_rng(0)
    for margin in np.concatenate(
        [rng.uniform(0.0, 40.0, 300), rng.exponential(1.0, 300), 10.0 ** rng.uniform(-18, 1.5, 300)]
    ):
        e = Decimal(math.exp(-margin))
        exact = digits.ln(digits.add(1, e))
        assert abs(Decimal(logistic(margin, 1.0)) - exact) <= Decimal(2.0**-51) * exact


def test_logistic_neither_overflows_nor_loses_a_large_margin():
    logistic = parse("logistic")
    assert logistic(-1e300, 1.0) == 1e300
    assert logistic(1e300, 1.0) == 0.0
    assert logistic(40.0, 1.0) == pytest.approx(math.exp(-40.0), rel=1e-12)
    assert logistic.gradient(1e300, -1.0) == 1.0


def test_exponential_is_infinite_where_no_float_holds_it_and_never_raises():
    exponential = parse("exponential")
    assert exponential(708.0, -1.0) == math.exp(708.0)
    assert exponential(1e4, -1.0) == math.inf
    assert exponential.gradient(-1e4, 1.0) == -math.inf
    assert exponential(1e4, 1.0) == exponential.gradient(1e4, 1.0) == 0.0


@pytest.mark.parametrize(("tie", "expected"), [("mistake", (1.0, 1.0)), ("+1", (0.0, 1.0)), ("-1", (1.0, 0.0))])
def test_zero_one_at_a_score_of_zero_is_as_the_tie_rule_says(tie, expected):
    assert (zero_one(tie)(0.0, 1.0), zero_one(tie)(0.0, -1.0)) == expected


@pytest.mark.parametrize("tie", ["mistake", "+1", "-1"])
def test_zero_one_is_at_most_the_hinge(tie):
    assert all(zero_one(tie)(z, y) <= parse("hinge")(z, y) for z in SCORES for y in (-1.0, 1.0))


def test_zero_one_is_right_for_the_smallest_scores():
    assert zero_one()(5e-324, -1.0) == 1.0
    assert zero_one()(-5e-324, -1.0) == 0.0


@pytest.mark.parametrize(
    ("z", "y", "slope"), [(0.3, 0.1, 0.0), (0.1, 0.3, 0.0), (1.0 + 2.0**-52, 0.8, 1.0), (0.5, 0.75, -1.0)]
)
def test_the_side_of_a_kink_is_that_of_the_exact_difference(z, y, slope):
    """0.3 − 0.1 as floats is less than the float 0.2, and as exact numbers too; ε = 0.2 is the float itself."""
    loss, exact = parse("epsilon-insensitive:0.2"), abs(Fraction(z) - Fraction(y))
    assert loss.gradient(z, y) == slope
    assert (exact > Fraction(0.2)) == (slope != 0.0)


def test_a_difference_that_rounds_to_epsilon_has_the_slope_of_its_side():
    """1 + 2⁻⁵⁴ and 1 − 2⁻⁵⁵ beyond y are both 1 as floats."""
    loss = parse("epsilon-insensitive:1")
    assert loss.gradient(1.0, -(2.0**-54)) == 1.0
    assert loss.gradient(1.0, 2.0**-55) == 0.0
    assert loss.gradient(-1.0, 2.0**-54) == -1.0
    assert loss.gradient(-1.0, -(2.0**-55)) == 0.0
    assert loss.gradient(1.0, 0.0) == 0.0


@pytest.mark.parametrize("spec", ["epsilon-insensitive:-1", "epsilon-insensitive:inf", "epsilon-insensitive:nan"])
def test_epsilon_must_be_a_number_that_is_not_negative(spec):
    with pytest.raises(SettingError, match="loss epsilon-insensitive: epsilon must be finite and not negative, got"):
        parse(spec)


@pytest.mark.parametrize("spec", [spec for spec in SPECS if parse(spec).bend])
def test_exact_value_and_conjugate_are_the_definition_in_fractions(spec):
    loss, p = parse(spec), Fraction(parse(spec).number)
    value = LOSS[loss.name][0]
    for y in map(Fraction, labels(spec)):
        for z in map(Fraction, SCORES[:20]):
            assert loss.exact_value(z, y) == value(z, y, p)
            alpha = Fraction(loss.gradient(float(z), float(y)))
            assert abs(float(loss.exact_value(z, y) + loss.exact_conjugate(alpha, y) - alpha * z)) <= 1e-12
