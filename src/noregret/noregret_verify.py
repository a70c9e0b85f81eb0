"""Check a receipt of noregret with Python alone: one file, the standard library, none of the package's own code.

    python noregret_verify.py receipt.json rows.svm [more.svm ...] [--partial]

The format is described in docs/receipt-format.md. Every number that a claim is compared with is recomputed from the
rows: runs of the perceptron and of gradient descent bit by bit in floats, everything else in exact fractions, or in
decimals of fifty digits where a logarithm stands. A claim stands if it contains what is found. What is claimed and not
covered here is listed. Exit code: 0 all stands, 1 a claim fails, 2 bad usage, 4 all that is covered stands.
Signatures are not checked.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import struct
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

VERSION, ARITHMETIC = 3, "lanes-1"
KINDS = ("run", "late", "blend", "separation")
EXACTLY = {"rate", "radius", "scaled_by"}  # values of theorems that are what they are
BELOW = {"no_comparator_below", "no_separator_below", "margin"}  # values that are lower ends
Row = tuple[list[int], list[float]]
Number = Fraction | float
TEN = Context(prec=50, Emin=-(10**17), Emax=10**17, traps=[])


class FailedError(Exception):
    """A claim that does not stand."""


class UsageError(Exception):
    """Nothing can be checked."""


# -- numbers -----------------------------------------------------------------------------------------------------------


class Span:
    """A number between two fractions: the same one twice where it is known exactly."""

    def __init__(self, lo: Any, hi: Any = None) -> None:
        self.lo, self.hi = Fraction(lo), Fraction(lo if hi is None else hi)

    @staticmethod
    def of(x: Any) -> Span:
        return x if isinstance(x, Span) else Span(x)

    def __add__(self, other: Any) -> Span:
        other = Span.of(other)
        return Span(self.lo + other.lo, self.hi + other.hi)

    def __neg__(self) -> Span:
        return Span(-self.hi, -self.lo)

    def __sub__(self, other: Any) -> Span:
        return self + -Span.of(other)

    def __mul__(self, other: Any) -> Span:
        other = Span.of(other)
        ends = [a * b for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        return Span(min(ends), max(ends))

    def __truediv__(self, other: Any) -> Span:
        other = Span.of(other)
        return self * Span(1 / other.hi, 1 / other.lo)

    def root(self) -> Span:
        return Span(_root(max(self.lo, Fraction(0)), False), _root(max(self.hi, Fraction(0)), True))


def _root(x: Fraction, up: bool) -> Fraction:
    bits = max(0, 160 - (x.numerator.bit_length() - x.denominator.bit_length()) // 2)
    whole, rest = divmod(x.numerator << 2 * bits, x.denominator)
    found = math.isqrt(whole)
    return Fraction(found + (up and (rest > 0 or found * found < whole)), 1 << bits)


def decimal(x: Fraction) -> Decimal:
    return TEN.divide(Decimal(x.numerator), Decimal(x.denominator))


def added(parts: Iterable[Fraction | Decimal]) -> Span:
    """A sum: exact where all parts are fractions, else as near as fifty digits allow."""
    exact, near, size = Fraction(0), Decimal(0), Decimal(0)
    for part in parts:
        if isinstance(part, Fraction):
            exact += part
        else:
            near, size = TEN.add(near, part), TEN.add(size, TEN.add(abs(part), Decimal(1)))
    off = Fraction(size) / 10**42
    return Span(exact + Fraction(near) - off, exact + Fraction(near) + off)


def real(said: Any) -> Number:
    """A number as claimed; infinities are words."""
    if said in ("inf", "-inf"):
        return float(said)
    if type(said) not in (int, float) or not math.isfinite(said):
        raise FailedError(f"{said!r} is not a number")
    return Fraction(said)


# -- losses: value and conjugate in exact numbers, slope in floats ------------------------------------------------------


def _softplus(m: Fraction) -> Decimal:
    e = TEN.exp(-abs(decimal(m)))
    return TEN.add(TEN.ln(TEN.add(Decimal(1), e)), max(-decimal(m), Decimal(0)))


def _times_log(b: Fraction) -> Fraction | Decimal:
    return TEN.multiply(decimal(b), TEN.ln(decimal(b))) if b else Fraction(0)


def _plus(a: Fraction | Decimal, b: Fraction | Decimal) -> Fraction | Decimal:
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a + b
    return TEN.add(*(decimal(one) if isinstance(one, Fraction) else one for one in (a, b)))


def _huber(r: Fraction, p: Fraction) -> Fraction:
    return r * r / 2 if r <= p else p * r - p * p / 2


VALUES: dict[str, Callable[[Fraction, Fraction, Fraction], Fraction | Decimal]] = {
    "zero-one": lambda z, y, p: Fraction(y * z <= 0),
    "hinge": lambda z, y, p: max(1 - y * z, Fraction(0)),
    "margin-hinge": lambda z, y, p: max(1 - y * z / p, Fraction(0)),
    "squared-hinge": lambda z, y, p: max(1 - y * z, Fraction(0)) ** 2,
    "perceptron": lambda z, y, p: max(-y * z, Fraction(0)),
    "logistic": lambda z, y, p: _softplus(y * z),
    "exponential": lambda z, y, p: TEN.exp(-decimal(y * z)),
    "squared": lambda z, y, p: (z - y) ** 2,
    "absolute": lambda z, y, p: abs(z - y),
    "huber": lambda z, y, p: _huber(abs(z - y), p),
    "pinball": lambda z, y, p: max(p * (y - z), (1 - p) * (z - y)),
    "epsilon-insensitive": lambda z, y, p: max(abs(z - y) - p, Fraction(0)),
}
# ℓ*(α) and the least and greatest of its arguments; of losses for two classes in β = −αy
INF = math.inf
CONJUGATES: dict[str, tuple[Callable[[Fraction, Fraction, Fraction], Any], Callable[[Fraction], tuple[Any, Any]]]] = {
    "hinge": (lambda b, y, p: -b, lambda p: (0, 1)),
    "margin-hinge": (lambda b, y, p: -b * p, lambda p: (0, 1 / p)),
    "squared-hinge": (lambda b, y, p: b * b / 4 - b, lambda p: (0, INF)),
    "perceptron": (lambda b, y, p: Fraction(0), lambda p: (0, 1)),
    "logistic": (lambda b, y, p: _plus(_times_log(b), _times_log(1 - b)), lambda p: (0, 1)),
    "exponential": (lambda b, y, p: _plus(_times_log(b), -b), lambda p: (0, INF)),
    "squared": (lambda a, y, p: a * a / 4 + a * y, lambda p: (-INF, INF)),
    "absolute": (lambda a, y, p: a * y, lambda p: (-1, 1)),
    "huber": (lambda a, y, p: a * a / 2 + a * y, lambda p: (-p, p)),
    "pinball": (lambda a, y, p: a * y, lambda p: (-p, 1 - p)),
    "epsilon-insensitive": (lambda a, y, p: a * y + p * abs(a), lambda p: (-1, 1)),
}
NUMBERS = ("squared", "absolute", "huber", "pinball", "epsilon-insensitive")
STEEP = {"hinge": 1.0, "logistic": 1.0, "absolute": 1.0, "perceptron": 1.0, "epsilon-insensitive": 1.0}
DEFAULTS = {"margin-hinge": 1.0, "huber": 1.0, "pinball": 0.5, "epsilon-insensitive": 0.1}


@lru_cache(maxsize=1)
def _powers() -> list[tuple[float, float]]:
    """2^(i/128) and the part of it, relative to itself, that the rounding took."""
    exact = [TEN.exp(TEN.divide(TEN.multiply(TEN.ln(Decimal(2)), Decimal(i)), Decimal(128))) for i in range(128)]
    near = [float(Fraction(one)) for one in exact]
    rest = [Fraction(TEN.subtract(TEN.divide(e, Decimal(x)), Decimal(1))) for e, x in zip(exact, near, strict=True)]
    return list(zip(near, map(float, rest), strict=True))


def exp(x: float) -> float:
    """eˣ with the bits of lanes-1."""
    if x > 710.0 or x < -746.0:
        return INF if x > 0.0 else 0.0
    k = (x * float.fromhex("0x1.71547652b82fep+7") + 1.5 * 2.0**52) - 1.5 * 2.0**52
    r = (x - k * float.fromhex("0x1.62e42fefc0000p-8")) - k * float.fromhex("-0x1.c610ca86c3899p-44")
    value, rest = _powers()[int(k) % 128]
    square = r * r
    series = square * ((0.5 + r * (1.0 / 6.0)) + square * (1.0 / 24.0 + r * (1.0 / 120.0)))
    edge = 0 if -700.0 < x < 700.0 else 128 if x < 0.0 else -128
    s = math.ldexp(value, int(k) // 128 + edge)
    return (s + s * (rest + (r + series))) * 2.0**-edge


def _logistic(z: float, y: float) -> float:
    e = exp(-abs(y * z))
    return -y * max(e, float(not y * z > 0.0)) / (1.0 + e)


def _epsilon(z: float, y: float, p: float) -> float:
    r = z - y
    lost = (z - (r - (r - z))) - (y + (r - z))
    beyond = abs(r) > p or (abs(r) == p and r * lost > 0.0)
    return 0.0 if not beyond else 1.0 if r > 0.0 else -1.0


SLOPES: dict[str, Callable[[float, float, float], float]] = {
    "zero-one": lambda z, y, p: -y if y * z < 0.0 or (y * z == 0.0 and p * y <= 0.0) else 0.0,
    "hinge": lambda z, y, p: -y if y * z < 1.0 else 0.0,
    "margin-hinge": lambda z, y, p: -y / p if y * z < p else 0.0,
    "squared-hinge": lambda z, y, p: -2.0 * y * max(1.0 - y * z, 0.0),
    "perceptron": lambda z, y, p: -y if y * z <= 0.0 else 0.0,
    "logistic": lambda z, y, p: _logistic(z, y),
    "exponential": lambda z, y, p: -y * (exp(-y * z) if -y * z < 709.0 else INF),
    "squared": lambda z, y, p: 2.0 * (z - y),
    "absolute": lambda z, y, p: 1.0 if z > y else -1.0 if z < y else 0.0,
    "huber": lambda z, y, p: min(max(z - y, -p), p),
    "pinball": lambda z, y, p: 1.0 - p if z > y else -p if z < y else 0.0,
    "epsilon-insensitive": _epsilon,
}


class Loss:
    """One of them, with its parameter."""

    def __init__(self, spec: str) -> None:
        self.name, _, text = spec.partition(":")
        if self.name not in VALUES:
            raise FailedError(f"there is no loss {spec!r}")
        self.p = float(text) if text else DEFAULTS.get(self.name, 0.0)
        self.exact = Fraction(self.p)

    @property
    def lipschitz(self) -> float:
        """The largest slope."""
        more = {"margin-hinge": 1.0 / (self.p or 1.0), "huber": self.p, "pinball": max(self.p, 1.0 - self.p)}
        return (STEEP | more).get(self.name, INF)

    def total(self, z: Iterable[Fraction], y: Sequence[float], k: Sequence[float]) -> Span:
        """Σ k·ℓ(z, y)."""
        value = VALUES[self.name]
        terms = zip(z, y, k, strict=False)
        return added(_scaled(Fraction(c), value(a, Fraction(b), self.exact)) for a, b, c in terms)

    def conjugates(self, alpha: Sequence[float], y: Sequence[float], k: Sequence[float]) -> Span:
        """Σ k·ℓ*(α); an α outside the domain proves nothing."""
        star, reach = CONJUGATES[self.name]
        least, most = reach(self.exact)
        found = []
        for a, b, c in zip(alpha, y, k, strict=True):
            at = Fraction(a) if self.name in NUMBERS else -Fraction(a) * Fraction(b)
            if not least <= at <= most:
                raise FailedError("a dual point lies outside its domain")
            found.append(_scaled(Fraction(c), star(at, Fraction(b), self.exact)))
        return added(found)


def _scaled(k: Fraction, x: Fraction | Decimal) -> Fraction | Decimal:
    return k * x if isinstance(x, Fraction) else TEN.multiply(decimal(k), x)


# -- rows --------------------------------------------------------------------------------------------------------------


def svmlight(path: str) -> tuple[list[str], list[Row]]:
    """The labels and rows of an svmlight file; a feature is the number that is written."""
    labels, rows = list[str](), list[Row]()
    with open(path, encoding="utf-8") as file:
        for line in file:
            said = line.partition("#")[0].split()
            if said:
                pairs = [one.partition(":") for one in said[1:] if not one.startswith("qid:")]
                labels.append(said[0])
                rows.append(([int(j) for j, _, _ in pairs], [float(x) for _, _, x in pairs]))
    return labels, rows


def codes(labels: Sequence[str], two: Sequence[Any] | None, numbers: bool) -> list[float]:
    """Labels as −1 and +1, or as the numbers that they are."""
    if numbers:
        return [float(one) for one in labels]
    known = {_plain(one): sign for one, sign in zip(two or (), (-1.0, 1.0), strict=False) if one is not None}
    known = known or {-1.0: -1.0, 0.0: -1.0, "false": -1.0, 1.0: 1.0, "true": 1.0}
    try:
        return [known[_plain(one)] for one in labels]
    except KeyError as error:
        raise FailedError(f"the label {error} is none of the receipt's") from None


def _plain(label: Any) -> Any:
    try:
        return float(label)
    except ValueError:
        return label


def digest(rows: Sequence[Row], y: Sequence[float], k: Sequence[float]) -> str:
    """SHA-256 over five digests: of labels, weights, entries a row, features and values, without zeros."""
    kept = [[(j, x) for j, x in zip(*row, strict=True) if x != 0.0] for row in rows]
    parts = [
        struct.pack(f"<{len(y)}d", *y),
        struct.pack(f"<{len(k)}d", *k),
        struct.pack(f"<{len(kept)}q", *map(len, kept)),
        b"".join(struct.pack("<I", j) for row in kept for j, _ in row),
        b"".join(struct.pack("<d", x) for row in kept for _, x in row),
    ]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def of_arrays(**arrays: Sequence[float]) -> str:
    """SHA-256 over names, lengths and floats, in the order of the names."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        found.update(f"{name} ({len(arrays[name])},) <f8\n".encode())
        found.update(struct.pack(f"<{len(arrays[name])}d", *arrays[name]))
    return found.hexdigest()


class Rounds:
    """Rows as they were played, and sums over them without any rounding: floats are whole multiples of 2^−shift."""

    def __init__(self, rows: list[Row], y: list[float], k: list[float], bias: bool) -> None:
        self.rows, self.y, self.k, self.bias = rows, y, k, bias
        self.width = max((max(j) + 1 for j, _ in rows if j), default=0)

    def first(self, count: int) -> Rounds:
        return Rounds(self.rows[:count], self.y[:count], self.k[:count], self.bias)

    @cached_property
    def whole(self) -> tuple[list[list[tuple[int, int]]], int]:
        """Every row as (feature, whole number); with a bias feature 0 is the constant 1."""
        shift = max((_bits(x) for _, values in self.rows for x in values), default=0)
        made = [[(j + self.bias, _whole(x, shift)) for j, x in zip(*row, strict=True)] for row in self.rows]
        return [[(0, 1 << shift), *row] if self.bias else row for row in made], shift

    @cached_property
    def squares(self) -> list[Fraction]:
        """‖x‖² of every round."""
        rows, shift = self.whole
        return [Fraction(sum(x * x for _, x in row), 1 << 2 * shift) for row in rows]

    def dots(self, u: Sequence[float]) -> list[Fraction]:
        """⟨u, x⟩ of every round."""
        (rows, shift), more = self.whole, max(map(_bits, u), default=0)
        w = [_whole(x, more) for x in u] + [0] * max(self.width + self.bias - len(u), 0)
        return [Fraction(sum(w[j] * x for j, x in row), 1 << (shift + more)) for row in rows]

    def length2(self, c: Sequence[Fraction | float], start: Sequence[Fraction] = ()) -> Fraction:
        """‖start + Σ c·x‖²."""
        rows, shift = self.whole
        exact = [Fraction(one) for one in c]
        more = max((one.denominator.bit_length() - 1 for one in exact), default=0)
        total: dict[int, int] = {}
        for one, row in zip(exact, rows, strict=True):
            if one:
                a = one.numerator << (more + 1 - one.denominator.bit_length())
                for j, x in row:
                    total[j] = total.get(j, 0) + a * x
        if not any(start):
            return Fraction(sum(v * v for v in total.values()), 1 << 2 * (shift + more))
        parts = {j: Fraction(v, 1 << (shift + more)) for j, v in total.items()}
        both = parts | {j: parts.get(j, Fraction(0)) + one for j, one in enumerate(start)}
        return sum((v * v for v in both.values()), Fraction(0))


def _bits(x: float) -> int:
    return x.as_integer_ratio()[1].bit_length() - 1


def _whole(x: float, shift: int) -> int:
    top, bottom = x.as_integer_ratio()
    return top << (shift + 1 - bottom.bit_length())


# -- the run again, in floats ------------------------------------------------------------------------------------------


def products(row: Row, z: list[float], dense: bool) -> tuple[float, float]:
    """⟨z, x⟩ and ‖x‖², added up in the lanes of lanes-1."""
    features, x = row
    n, w = len(x), [z[j] for j in features]
    if n < 4 and not dense:
        return _line(x, w, range(n)), _line(x, x, range(n))
    if dense:
        far, near = n - n % 16, n - n % 4
        parts = [[list(range(4 * q + lane, far, 16)) for lane in range(4)] for q in range(4)]
        for lane in range(4):
            parts[0][lane] += range(far + lane, near, 4)
        for lane, j in enumerate(range(near, near + (n & 2))):
            parts[1][lane].append(j)
        parts[2][0] += range(n - (n & 1), n)
        return _lanes(x, w, parts), _lanes(x, x, parts)
    near = n - n % 4
    lanes = [list(range(lane, near, 4)) for lane in range(4)]
    for lane, j in enumerate(range(near, n), 4 - n % 4):
        lanes[lane].append(j)
    d, s = ([_line(x, other, one) for one in lanes] for other in (w, x))
    return (d[0] + d[2]) + (d[1] + d[3]), (s[0] + s[2]) + (s[1] + s[3])


def _line(a: list[float], b: list[float], places: Iterable[int]) -> float:
    found = 0.0
    for j in places:
        found += a[j] * b[j]
    return found


def _lanes(a: list[float], b: list[float], parts: list[list[list[int]]]) -> float:
    sums = [[_line(a, b, lane) for lane in part] for part in parts]
    d = [(sums[0][lane] + sums[1][lane]) + (sums[2][lane] + sums[3][lane]) for lane in range(4)]
    return (d[0] + d[2]) + (d[1] + d[3])


def norm2(z: list[float]) -> float:
    """‖z‖²: number i in part i mod 16."""
    p = [_line(z, z, range(part, len(z), 16)) for part in range(16)]
    q = [(p[lane] + p[lane + 4]) + (p[lane + 8] + p[lane + 12]) for lane in range(4)]
    return (q[0] + q[2]) + (q[1] + q[3])


class Descent:
    """The perceptron and gradient descent: weights w = scale·z, every number as lanes-1 computes it."""

    def __init__(self, name: str, said: Mapping[str, Any]) -> None:
        self.perceptron, self.bias_on = name == "perceptron", float(bool(said.get("bias")))
        self.loss = Loss("zero-one" if self.perceptron else said["loss"])
        if self.perceptron:
            self.loss.p = self.tie = {"mistake": 0.0, "+1": 1.0, "-1": -1.0}[said["tie"]]
        self.radius = INF if self.perceptron else float(said["radius"])
        self.l2, self.rate, self.horizon, self.bound = float(said.get("l2", 0.0)), "constant", 0, 0.0
        self.eta = float(said["rate"]) if self.perceptron else self._step(said["rate"])
        self.z, self.total = list[float](), list[float]()
        self.bias = self.norm2 = self.gradient2 = self.delayed2 = 0.0
        self.scale = self.eta if self.perceptron and "start" not in said else 1.0
        self.rounds = self.updates = self.period = 0
        self.start = [float(x) for x in said.get("start", ())]
        self.large = len(self.start) > 64
        self.grow(len(self.start))
        self.z[:], self.norm2 = self.start, norm2(self.start)

    def _step(self, text: str) -> float:
        """η, and what becomes of it."""
        kind, *rest = text.split(":")
        self.rate = {"auto": "adaptive", "horizon": "constant"}.get(kind, kind)
        if kind in ("auto", "late"):
            return math.sqrt(2.0) * self.radius
        if kind in ("horizon", "doubling"):
            self.bound = float(rest[-1]) if len(rest) > (kind == "horizon") else self.loss.lipschitz
            self.horizon = int(float(rest[0])) if kind == "horizon" else 0
            return self.radius / (self.bound * math.sqrt(float(rest[0])) if kind == "horizon" else self.bound)
        return float(rest[0])

    def grow(self, width: int) -> None:
        self.z += [0.0] * (width - len(self.z))
        self.total += [0.0] * (0 if self.perceptron else width - len(self.total))

    def predict(self, row: Row, dense: bool) -> float:
        self.grow(max(row[0], default=-1) + 1)
        return self.scale * (products(row, self.z, dense)[0] + self.bias_on * self.bias)

    def play(self, row: Row, y: float, k: float, dense: bool, outstanding: float = 0.0) -> float:
        """One round; its score."""
        self.grow(max(row[0], default=-1) + 1)
        inner, row2 = products(row, self.z, dense)
        row2 += self.bias_on
        if self.rate == "doubling" and (self.rounds + 1) & self.rounds == 0:
            self.z[:] = [0.0] * len(self.z)
            self.bias = self.norm2 = inner = 0.0
            self.scale, self.period = 1.0, self.rounds + 1
        inner += self.bias_on * self.bias
        score = self.scale * inner
        g = k * SLOPES[self.loss.name](score, y, self.loss.p)
        if g != 0.0 or self.l2 > 0.0:
            c = self._descend(inner, row2, g, outstanding)
            self.large |= len(row[1]) > 64 if dense else any(j >= 64 for j in row[0])
            if g != 0.0:
                self.updates += 1
                self.bias += self.bias_on * c
                for j, x in zip(*row, strict=True):
                    self.z[j] += c * x
                    if not self.perceptron:
                        self.total[j] += g * x
            self._settle(g != 0.0)
        self.large |= len(row[1]) > 64 if dense else any(j >= 64 for j in row[0])
        self.rounds += 1
        return score

    def _descend(self, dot: float, row2: float, g: float, outstanding: float) -> float:
        """The c of z ← z + c·x, and the norm that z then has."""
        gradient2 = g * g * row2
        total2 = self.gradient2 + gradient2
        felt2 = total2
        if self.rate == "late":
            felt2 = self.delayed2 = self.delayed2 + (gradient2 + 2.0 * math.sqrt(gradient2) * outstanding)
        t = float(self.rounds + 1)
        eta = {"constant": self.eta, "sqrt": self.eta / math.sqrt(t)}.get(self.rate)
        if eta is None and self.rate == "doubling":
            eta = self.eta / math.sqrt(float(self.period))
        elif eta is None:
            eta = self.eta / math.sqrt(felt2) if felt2 > 0.0 else 0.0
        c = 0.0
        if g != 0.0:
            c = -(1.0 if eta == self.scale else eta * (1.0 / self.scale)) * g
        new2 = self.norm2 + c * (2.0 * dot + c * row2)
        if not math.isfinite(new2 + total2 + felt2):
            raise FailedError("the run: a number overflows")
        self.scale = self.scale / (1.0 + eta * self.l2)
        self.norm2 = max(new2, 0.0)
        if gradient2 > 0.0:
            self.gradient2 = total2
        return c

    def _settle(self, update: bool) -> None:
        """Take the norm from the weights at fixed updates, project on the ball, keep the scale from underflow."""
        n, ball = self.updates, self.radius < INF
        fixed = update and ((n & (n - 1)) == 0 or n % 65536 == 0 if self.large else n <= 64 or n % 64 == 0)
        if fixed and ball:
            self.norm2 = norm2(self.z) + self.bias * self.bias
        if ball:
            scale = min(self.scale, self.radius / math.sqrt(self.norm2)) if self.norm2 else self.scale
            if self.large or not fixed or scale == 1.0:
                self.scale = scale
            else:
                self._fold(scale)
        if (ball or self.l2 > 0.0) and self.scale < 1e-60:
            self._fold(self.scale)

    def _fold(self, factor: float) -> None:
        self.z[:] = [x * factor for x in self.z]
        self.bias *= factor
        self.norm2 *= factor * factor
        self.scale = 1.0

    @property
    def weight_norm(self) -> float:
        return abs(self.scale) * math.sqrt(norm2(self.z) + self.bias * self.bias)
