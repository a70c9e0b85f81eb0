"""Writes native/function_tables.hpp: the constants of native/functions.hpp, rounded from fifty digits.

python native/tests/tables.py > native/function_tables.hpp
"""

from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 60
PARTS = 128
LN2 = Decimal(2).ln()


def nearest(x: Decimal) -> float:
    """The number next to x: a fraction is rounded once."""
    return float(Fraction(x))


def on_grid(x: Decimal, bits: int) -> Decimal:
    """The multiple of 2^−bits next to x."""
    return Decimal(round(Fraction(x) * 2**bits)) / Decimal(2**bits)


def line(*numbers: float) -> str:
    return ", ".join(x.hex() for x in numbers)


def powers() -> list[str]:
    """2^(i/128) and the part of it, relative to itself, that the rounding took."""
    rows = []
    for i in range(PARTS):
        exact = (LN2 * i / PARTS).exp()
        near = nearest(exact)
        rows.append(f"    {{{line(near, nearest(exact / Decimal(near) - 1))}}},")
    return rows


def logarithms() -> list[str]:
    """1/c to ten bits, and −ln(1/c) in two parts, for c in the middle of the interval i.

    Interval i holds the numbers whose bits, less those of LOW, begin with i: from about 0.69 up to twice that, with 1
    in the middle of an interval of its own.
    """
    rows = []
    for i in range(PARTS):
        ends = [number(LOW + (j << 45)) for j in (i, i + 1)]
        one = ends[0] < 1 < ends[1]
        inverse = Fraction(1) if one else Fraction(round(2 * 1024 / (ends[0] + ends[1])), 1024)
        log = -(Decimal(inverse.numerator) / Decimal(inverse.denominator)).ln()
        high = on_grid(log, 42)
        rows.append(f"    {{{line(float(inverse), nearest(high), nearest(log - high))}}},")
    return rows


LOW = 0x3FE6100000000000


def number(bits: int) -> Fraction:
    """The number with these bits, of a sign and size that the tables need."""
    return (Fraction(2) ** ((bits >> 52) - 1023)) * (1 + Fraction(bits & ((1 << 52) - 1), 1 << 52))


def series() -> list[float]:
    """(ln(1 + r) − r)/r² to the fifth power, the sixth shared out by Chebyshev's polynomial for |r| ≤ 1/230."""
    wide = Fraction(1, 230)
    taken = [Fraction((-1) ** (k + 1), k + 2) for k in range(6)]
    sixth = Fraction(-1, 8)
    for power, share in ((4, Fraction(3, 2)), (2, Fraction(-9, 16)), (0, Fraction(1, 32))):
        taken[power] += sixth * share * wide ** (6 - power)
    return [float(a) for a in taken]


def pi() -> Fraction:
    """π to more bits than any argument needs (J. Machin 1706)."""

    def arctangent_of_one_over(n: int) -> int:
        total, term, k = 0, (1 << BITS) // n, 0
        while term:
            total += (-1) ** k * (term // (2 * k + 1))
            term //= n * n
            k += 1
        return total

    return Fraction(4 * (4 * arctangent_of_one_over(5) - arctangent_of_one_over(239)), 1 << BITS)


BITS = 1500
PI = pi()


def pair(x: Fraction) -> tuple[float, float]:
    return float(x), float(x - Fraction(float(x)))


def two_over_pi() -> list[str]:
    """Sixty-four zeros, then the bits of 2/π."""
    words = 1 + (971 + 192 + 64) // 64 + 1
    bits = int(2 / PI * (1 << (64 * (words - 1))))
    rows = [f"{(bits >> (64 * (words - 1 - i))) & ((1 << 64) - 1):#018x}" for i in range(words)]
    return ["    " + ", ".join(rows[i : i + 4]) + "," for i in range(0, words, 4)]


def zeta(s: int) -> Fraction:
    """ζ(s) by Euler and Maclaurin, from thirty terms on, to some fifty digits."""
    n = 30
    total = sum((Fraction(1, k**s) for k in range(1, n)), Fraction(1, 2 * n**s)) + Fraction(1, (s - 1) * n ** (s - 1))
    rising = Fraction(s)
    for j, bernoulli in enumerate(BERNOULLI, start=1):
        total += bernoulli * rising / _factorial(2 * j) / n ** (s + 2 * j - 1)
        rising *= (s + 2 * j - 1) * (s + 2 * j)
    return total


def _factorial(n: int) -> int:
    return n * _factorial(n - 1) if n else 1


def bernoulli(count: int) -> list[Fraction]:
    """B₂, B₄, … from Σ C(m + 1, j)·B_j = 0."""
    known = [Fraction(1)]
    for m in range(1, 2 * count + 1):
        total = sum(Fraction(_factorial(m + 1), _factorial(j) * _factorial(m + 1 - j)) * known[j] for j in range(m))
        known.append(-total / (m + 1))
    return known[2::2]


BERNOULLI = bernoulli(16)


def euler() -> Fraction:
    """γ = H_n − ln n − 1/2n + Σ B_2j/(2j·n^2j)."""
    n = 40
    total = sum((Fraction(1, k) for k in range(1, n + 1)), -Fraction(Decimal(n).ln())) - Fraction(1, 2 * n)
    return total + sum(b / (2 * j) / n ** (2 * j) for j, b in enumerate(BERNOULLI, start=1))


def main() -> None:
    ln2_high, step = on_grid(LN2, 42), LN2 / PARTS
    step_high = on_grid(step, 42)
    print("// Constants of functions.hpp, written by native/tests/tables.py: not to be edited.")
    print("#pragma once\n\n#include <cstdint>\n\nnamespace noregret::functions {\n")
    print("struct PowerOfTwo {\n    double value;\n    double rest;  // relative to value\n};\n")
    print("// 2^(i/128).\ninline constexpr PowerOfTwo POWERS_OF_TWO[128] = {")
    print("\n".join(powers()))
    print("};\n")
    print("struct Logarithm {\n    double inverse;  // of the middle of an interval, ten bits")
    print("    double high, low;    // −ln(inverse)\n};\n")
    print("// Interval i of [0.69, 1.38): bits less TABLE_START begin with i.")
    print("inline constexpr Logarithm LOGARITHMS[128] = {")
    print("\n".join(logarithms()))
    print("};\n")
    print(f"constexpr std::uint64_t TABLE_START = {LOW:#x};")
    print(f"constexpr double LN2_HIGH = {line(nearest(ln2_high))}, LN2_LOW = {line(nearest(LN2 - ln2_high))};")
    steps = f"STEP_HIGH = {line(nearest(step_high))}, STEP_LOW = {line(nearest(step - step_high))}"
    print(f"constexpr double {steps};  // ln 2/128")
    print(f"constexpr double STEPS_A_UNIT = {line(nearest(1 / step))};  // 128/ln 2")
    print(f"constexpr double LOG_SERIES[6] = {{{line(*series())}}};")
    print()
    constants = (
        ("HALF_PI", PI / 2),
        ("AT_ONE", -euler()),
        ("AT_TWO", 1 - euler()),
        ("TWELFTH", Fraction(1, 12)),
        ("HALF_LOG_TWO_PI", Fraction((Decimal(2 * PI.numerator) / Decimal(PI.denominator)).ln() / 2)),
    )
    for name, value in constants:
        high, low = pair(value)
        print(f"constexpr double {name}_HIGH = {line(high)}, {name}_LOW = {line(low)};")
    print(f"constexpr double QUARTER_PI = {line(float(PI / 4))};")
    for name, less in (("ONE", 0), ("TWO", 1)):
        terms = [float((zeta(k) - less) * (-1) ** k / k) for k in range(2, 11)]
        print(f"// {'(ζ(k) − 1)' if less else 'ζ(k)'}·(−1)^k/k")
        print(f"inline constexpr double LOG_GAMMA_AT_{name}[9] = {{{line(*terms)}}};")
    print("// Sixty-four zeros, then the bits of 2/π.\ninline constexpr std::uint64_t TWO_OVER_PI[] = {")
    print("\n".join(two_over_pi()))
    print("};")
    print("\n}  // namespace noregret::functions")


if __name__ == "__main__":
    main()
