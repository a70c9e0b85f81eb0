"""The core's own functions: within 1 ulp of the exact value, right at the edges, arrays like single numbers."""

import math
import subprocess
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret import _native

HERE = Path(__file__).parents[1]
NATIVE = HERE.parent / "native"
NAMES = ("exp", "expm1", "log", "log1p", "tanh", "cos", "sin", "log_gamma")
HARD = [line.split() for line in (HERE / "oracle/functions.txt").read_text().splitlines() if line[0] != "#"]
floats = st.floats(allow_nan=False, allow_infinity=False)


def steps(a: float, b: float) -> int:
    """How many floats lie between two, counted from the smallest."""

    def place(x: float) -> int:
        whole = int(np.float64(x).view(np.int64))
        return whole if whole >= 0 else -(whole & (2**63 - 1))

    return abs(place(a) - place(b))


@pytest.mark.parametrize("name", NAMES)
def test_hard_arguments_are_within_one_ulp(name):
    mine = [(float.fromhex(x), float.fromhex(y)) for which, x, y in HARD if which == name]
    assert len(mine) > 30
    for x, y in mine:
        assert steps(getattr(_native, name)(x), y) <= 1, x.hex()


@pytest.mark.parametrize("name", NAMES)
def test_arrays_are_given_the_same_bits_as_single_numbers(name):
    x = np.concatenate([np.linspace(-30.0, 30.0, 1001), [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e308, -1e308]])
    for given_x in (x, x[::3], x[::-1]):
        out = np.empty(2 * len(given_x))[::2]
        getattr(_native, f"{name}_all")(given_x, out)
        assert out.tobytes() == np.array([getattr(_native, name)(float(one)) for one in given_x]).tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_arrays_of_another_length_are_refused(name):
    with pytest.raises(ValueError, match="equally long"):
        getattr(_native, f"{name}_all")(np.zeros(3), np.zeros(4))


EDGES = [
    *[(name, math.nan, math.nan) for name in NAMES],
    *[("exp", math.inf, math.inf), ("exp", -math.inf, 0.0), ("exp", 0.0, 1.0), ("exp", 710.0, math.inf)],
    *[("expm1", math.inf, math.inf), ("expm1", -math.inf, -1.0), ("expm1", -0.0, -0.0)],
    *[("log", 0.0, -math.inf), ("log", -0.0, -math.inf), ("log", math.inf, math.inf), ("log", 1.0, 0.0)],
    *[("log", -1.0, math.nan), ("log", -math.inf, math.nan), ("log", -5e-324, math.nan)],
    *[("log1p", -1.0, -math.inf), ("log1p", -0.0, -0.0), ("log1p", math.inf, math.inf), ("log1p", -1.5, math.nan)],
    *[("log1p", -math.inf, math.nan), ("tanh", math.inf, 1.0), ("tanh", -math.inf, -1.0), ("tanh", -0.0, -0.0)],
    *[("cos", math.inf, math.nan), ("cos", -math.inf, math.nan), ("cos", 0.0, 1.0)],
    *[("sin", math.inf, math.nan), ("sin", -0.0, -0.0), ("sin", 0.0, 0.0)],
    *[("log_gamma", 0.0, math.inf), ("log_gamma", math.inf, math.inf), ("log_gamma", -1.5, math.nan)],
    *[("log_gamma", 1.0, 0.0), ("log_gamma", 2.0, 0.0)],
]


@pytest.mark.parametrize(("name", "x", "wanted"), EDGES)
def test_edges(name, x, wanted):
    found = getattr(_native, name)(x)
    assert (math.isnan(found) and math.isnan(wanted)) or (
        found == wanted and math.copysign(1.0, found) == math.copysign(1.0, wanted)
    )


def exactly(x: float) -> Decimal:
    return Decimal(x)


def near(found: float, exact: Decimal) -> bool:
    """Within 1 ulp of what decimal arithmetic gives to sixty digits."""
    return abs(Fraction(found) - Fraction(exact)) <= Fraction(math.ulp(float(Fraction(exact)) or 5e-324))


@given(st.floats(-745.0, 709.0))
def test_exp_of_anything(x):
    with localcontext(prec=60):
        assert near(_native.exp(x), exactly(x).exp())


@given(floats.filter(lambda x: x > 0.0))
def test_log_of_anything(x):
    with localcontext(prec=60):
        assert near(_native.log(x), exactly(x).ln())


@given(st.floats(min_value=-1.0, exclude_min=True, allow_infinity=False))
def test_log1p_of_anything(x):
    with localcontext(prec=1200 if abs(x) < 1e-30 else 100):
        assert near(_native.log1p(x), (1 + exactly(x)).ln() if abs(x) > 1e-300 else exactly(x))


@given(st.floats(-700.0, 700.0).filter(lambda x: abs(x) > 1e-20))
def test_expm1_and_tanh_of_anything(x):
    with localcontext(prec=100):
        assert near(_native.expm1(x), exactly(x).exp() - 1)
        if abs(x) < 20.0:
            twice = (2 * exactly(x)).exp()
            assert near(_native.tanh(x), (twice - 1) / (twice + 1))


@given(floats)
def test_cos_and_sin_are_on_the_circle(x):
    assert math.isclose(_native.cos(x) ** 2 + _native.sin(x) ** 2, 1.0, rel_tol=1e-15)


@given(st.integers(1, 170))
def test_log_gamma_of_whole_numbers_is_the_log_of_a_factorial(n):
    with localcontext(prec=60):
        assert near(_native.log_gamma(float(n)), Decimal(math.factorial(n - 1)).ln() if n > 2 else Decimal(0))


def test_normal_deviates_look_normal_and_come_in_pairs():
    whole = np.random.default_rng(0).integers(0, 2**64, 200_001, dtype=np.uint64)
    found = np.empty(len(whole))
    _native.normal_all(whole, found)
    assert abs(found.mean()) < 0.01 and abs(found.std() - 1.0) < 0.01
    assert abs((found**3).mean()) < 0.03 and abs((found**4).mean() - 3.0) < 0.1
    assert abs(np.corrcoef(found[:-1:2], found[1::2])[0, 1]) < 0.01
    u, v = (int(whole[0]) // 2**11 + 1) / 2**53, (int(whole[1]) // 2**11) / 2**53
    size, turn = math.sqrt(-2.0 * math.log(u)), 2.0 * math.pi * v
    assert np.allclose(found[:2], [size * math.cos(turn), size * math.sin(turn)], rtol=1e-13)


def test_the_tables_are_those_that_their_program_writes():
    written = subprocess.run([sys.executable, NATIVE / "tests/tables.py"], capture_output=True, check=True, text=True)
    assert written.stdout == (NATIVE / "function_tables.hpp").read_text()
