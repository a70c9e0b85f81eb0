"""Decimal numbers as text: bit for bit what Python's `float` reads, on a million random and nasty literals.

NOREGRET_THOROUGH=1 takes ten million.
"""

import math
import os
from fractions import Fraction

import numpy as np
import pytest

from noregret import _native

SHARE = 10_000_000 if os.environ.get("NOREGRET_THOROUGH") else 1_000_000
EACH = SHARE // 10
NONE = -1  # the length of what is no number


def parsed(literals, behind=b"\n"):
    """(value, how many bytes were read or NONE) of each literal, as arrays."""
    data = np.frombuffer(behind.join([*literals, b""]) + b"\n" + b"7" * _native.SLACK, dtype=np.uint8)
    lengths = np.array([len(one) for one in literals])
    starts = np.cumsum([0, *(lengths[:-1] + len(behind))])
    values, ends = np.empty(len(literals)), np.empty(len(literals), np.int64)
    _native.read_numbers(data, starts, values, ends)
    return values, np.where(ends < 0, NONE, ends - starts)


def bits(floats):
    return np.asarray(floats, dtype=np.float64).view(np.uint64)


def random_bits(rng, below=2**63):
    found = rng.integers(0, below, EACH, dtype=np.uint64) | rng.integers(0, 2, EACH, dtype=np.uint64) << np.uint64(63)
    floats = found.view(np.float64)
    return floats[np.isfinite(floats)].tolist()


def reprs(rng):
    return list(map(repr, random_bits(rng)))


def subnormals(rng):
    return list(map(repr, random_bits(rng, 2**53)))


def seventeen_digits(rng):
    return [f"{one:.17g}" for one in random_bits(rng)]


def six_places(rng):
    return [f"{one:.6f}" for one in (rng.normal(size=EACH) * 10.0 ** rng.integers(-4, 9, EACH)).tolist()]


def short(rng):
    return [f"{one:.4g}" for one in rng.normal(size=EACH).tolist()]


def wide_exponents(rng):
    digits = (
        rng.integers(0, 2**63, EACH, dtype=np.uint64) // 10 ** rng.integers(0, 19, EACH).astype(np.uint64)
    ).tolist()
    return [f"{w}e{q}" for w, q in zip(digits, rng.integers(-400, 401, EACH).tolist(), strict=True)]


def points_anywhere(rng):
    digits = rng.integers(0, 10**18, EACH).tolist()
    places = rng.integers(0, 20, EACH).tolist()
    return [
        f"{w:019d}"[:p] + "." + f"{w:019d}"[p:] + tail
        for w, p, tail in zip(
            digits, places, rng.choice(["", "e5", "E-7", "e+12", "e-300"], EACH).tolist(), strict=True
        )
    ]


def ties(rng):
    """Halfway between two floats, and one unit of the last digit beside it: (m + ½)·2^k with 2^52 ≤ m < 2^53."""
    found = []
    halves = (2 * rng.integers(2**52, 2**53, EACH) + 1).tolist()
    for half, k, shift in zip(
        halves, rng.integers(-4, 11, EACH).tolist(), rng.integers(-1, 2, EACH).tolist(), strict=True
    ):
        if k >= 0:
            found.append(str((half << k) + shift))
        else:  # half / 2^−k has −k decimals
            found.append(f"{half * 5**-k + shift}e{k}")
    return found


def many_digits(rng):
    first, second = rng.integers(0, 10**18, EACH).tolist(), rng.integers(0, 10**18, EACH).tolist()
    zeros = rng.integers(0, 30, EACH).tolist()
    return [f"{'0' * z}{a}.{b}" if z % 2 else f"0.{'0' * z}{a}" for a, b, z in zip(first, second, zeros, strict=True)]


def exact_halves(rng):
    """Halfway between two floats of any size, all digits written out, and the like with more behind them."""
    found, behind = [], ["", "0", "1", "000", "0" * 800 + "1", "9" * 40]
    floats = rng.integers(1, 2047 << 52, EACH // 100, dtype=np.uint64).view(np.float64).tolist()
    for one, more in zip(floats, rng.choice(behind, EACH // 100).tolist(), strict=True):
        half = (Fraction(one) + Fraction(math.nextafter(one, 0.0))) / 2
        power = max(0, half.denominator.bit_length() - 1)
        digits = str(half.numerator * 5**power).zfill(power + 1)
        place = len(digits) - power
        found += [f"{digits[:place]}.{digits[place:]}{more}", f"{digits}{more}e-{power + len(more)}"]
        found.append(f"{int(digits) - 1}e-{power}")
    return found


def borders(rng):
    """Around 0, the least subnormal, the least normal, and the greatest float."""
    near = ["4.9406564584124654e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "2.2250738585072014e-308"]
    near += ["2.2250738585072011e-308", "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308"]
    near += [
        "1e308",
        "1e309",
        "1e-400",
        "1e400",
        "0e400",
        "0e-400",
        "0",
        "-0",
        "-0.0",
        "+0",
        "00",
        "1.",
        ".5",
        "1e5",
        "1E+5",
    ]
    near += ["9007199254740993", "9007199254740992", "9007199254740991", "18446744073709551615", "18446744073709551616"]
    near += [
        "9999999999999999999",
        "10000000000000000000",
        "9007199254740993e22",
        "9007199254740993e-22",
        "1e22",
        "1e23",
    ]
    near += [
        "0.000001",
        "123456789012345678e-17",
        "8.5",
        "3e0",
        "-7e-1",
        "+7e+1",
        "000000000000000000000000001",
        "1e0000005",
    ]
    return near


FAMILIES = [
    reprs,
    subnormals,
    seventeen_digits,
    six_places,
    short,
    wide_exponents,
    points_anywhere,
    ties,
    exact_halves,
    many_digits,
    borders,
]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_a_number_is_what_float_reads_to_the_last_bit(family):
    literals = family(np.random.default_rng(20260))
    signed = [
        sign + one for sign, one in zip(("", "-", "+") * len(literals), literals, strict=False) if one[0] not in "+-"
    ]
    for texts in (literals, signed):
        values, lengths = parsed([one.encode() for one in texts])
        assert lengths.tolist() == list(map(len, texts))
        assert np.array_equal(bits(values), bits(list(map(float, texts))))


@pytest.mark.parametrize(
    "text", ["", ".", "e5", "+", "-", "1e", "--1", "+-1", "1e+", ".e1", "nan", "inf", "x1", "1e-x", ":"]
)
def test_what_is_no_number_is_said_to_be_none(text):
    assert parsed([text.encode()])[1].tolist() == [NONE]


@pytest.mark.parametrize("behind", [b" ", b"\n", b"\t", b":", b"|", b"#", b"x", b"-", b".", b",", b"_"])
def test_a_number_ends_at_the_first_byte_that_is_none_of_it(behind):
    texts = ["1", "12.5", "1.5e3", ".25", "7.", "123456789", "1.2345678", "-1.23456789012345678", "0.1234567"]
    if behind == b".":
        texts = [text for text in texts if "." in text]
    values, lengths = parsed([text.encode() for text in texts], behind)
    assert lengths.tolist() == list(map(len, texts))
    assert values.tolist() == list(map(float, texts))
