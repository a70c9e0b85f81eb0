"""Check a receipt of noregret with Python alone: one file, the standard library, none of the package's own code.

    python noregret_verify.py receipt.json rows.svm [more.svm ...] [--partial]

docs/receipt-format.md describes the format. The perceptron and gradient descent are played again bit by bit in floats;
all else is recomputed in exact fractions, and with fifty digits where a logarithm stands. A claim stands if it contains
what is found. What is claimed and not covered is listed. Exit code: 0 all stands; 1 a claim fails; 2 bad usage; 4 all
that is covered stands, something else is claimed too (0 with --partial). Signatures are not checked.
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
from pathlib import Path
from typing import Any

VERSION, ARITHMETIC, INF = 4, "lanes-1", math.inf
TEN = Context(prec=50, Emin=-(10**17), Emax=10**17, traps=[])
ZERO = Fraction(0)
Row = tuple[list[int], list[float]]


class FailedError(Exception):
    """A claim that does not stand."""


class UsageError(Exception):
    """Nothing can be checked."""


# -- numbers -----------------------------------------------------------------------------------------------------------


class Span:
    """A number between two fractions, which are the same where it is known exactly."""

    def __init__(self, lo: Any, hi: Any = None) -> None:
        self.lo, self.hi = Fraction(lo), Fraction(lo if hi is None else hi)

    def __add__(self, other: Any) -> Span:
        other = other if isinstance(other, Span) else Span(other)
        return Span(self.lo + other.lo, self.hi + other.hi)

    def __sub__(self, other: Any) -> Span:
        return self + (other if isinstance(other, Span) else Span(other)) * -1

    def __mul__(self, other: Any) -> Span:
        other = other if isinstance(other, Span) else Span(other)
        ends = [a * b for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        return Span(min(ends), max(ends))

    def __truediv__(self, other: Any) -> Span:
        other = other if isinstance(other, Span) else Span(other)
        return self * Span(1 / other.hi, 1 / other.lo)

    @property
    def square(self) -> Span:
        return self * self

    @property
    def root(self) -> Span:
        """√ of what is not below 0, to some fifty digits."""
        return Span(_root(max(self.lo, ZERO), 0), _root(max(self.hi, ZERO), 1))


def _root(x: Fraction, up: int) -> Fraction:
    bits = max(0, 160 - (x.numerator.bit_length() - x.denominator.bit_length()) // 2)
    whole, rest = divmod(x.numerator << 2 * bits, x.denominator)
    found = math.isqrt(whole)
    return Fraction(found + (up if rest or found * found < whole else 0), 1 << bits)


def decimal(x: Fraction) -> Decimal:
    return TEN.divide(Decimal(x.numerator), Decimal(x.denominator))


def fixed(x: Decimal) -> Fraction:
    """To sixty digits behind the point."""
    return Fraction(int(TEN.scaleb(x, 60)), 10**60)


def real(said: Any) -> Any:
    """A number as claimed; infinities are words."""
    if said in ("inf", "-inf"):
        return float(said)
    if type(said) not in (int, float) or not math.isfinite(said):
        raise FailedError(f"{said!r} is not a number")
    return Fraction(said)


LN2 = fixed(TEN.ln(Decimal(2)))

# -- losses: values and conjugates exactly, slopes in floats ----------------------------------------------------------


def _softplus(m: Fraction) -> Fraction:
    return fixed(TEN.ln(TEN.add(Decimal(1), TEN.exp(-abs(decimal(m)))))) + max(-m, ZERO)


def _log(b: Fraction) -> Fraction:
    return fixed(TEN.multiply(decimal(b), TEN.ln(decimal(b)))) if b else ZERO


Exact = Callable[[Fraction, Fraction, Fraction], Fraction]  # of z or α, y, and the loss's own parameter
VALUES: dict[str, Exact] = {
    "hinge": lambda z, y, p: max(1 - y * z, ZERO),
    "margin-hinge": lambda z, y, p: max(1 - y * z / p, ZERO),
    "squared-hinge": lambda z, y, p: max(1 - y * z, ZERO) ** 2,
    "perceptron": lambda z, y, p: max(-y * z, ZERO),
    "logistic": lambda z, y, p: _softplus(y * z),
    "exponential": lambda z, y, p: fixed(TEN.exp(-decimal(y * z))),
    "squared": lambda z, y, p: (z - y) ** 2,
    "absolute": lambda z, y, p: abs(z - y),
    "huber": lambda z, y, p: (z - y) ** 2 / 2 if abs(z - y) <= p else p * abs(z - y) - p * p / 2,
    "pinball": lambda z, y, p: max(p * (y - z), (1 - p) * (z - y)),
    "epsilon-insensitive": lambda z, y, p: max(abs(z - y) - p, ZERO),
}
CONJUGATES: dict[str, tuple[Exact, Callable[[Fraction], tuple[Any, Any]]]] = {  # and where α may lie, for y = +1
    "hinge": (lambda a, y, p: y * a, lambda p: (-1, 0)),
    "margin-hinge": (lambda a, y, p: y * a * p, lambda p: (-1 / p, 0)),
    "squared-hinge": (lambda a, y, p: a * a / 4 + y * a, lambda p: (-INF, 0)),
    "perceptron": (lambda a, y, p: ZERO, lambda p: (-1, 0)),
    "logistic": (lambda a, y, p: _log(abs(a)) + _log(1 - abs(a)), lambda p: (-1, 0)),
    "exponential": (lambda a, y, p: _log(abs(a)) - abs(a), lambda p: (-INF, 0)),
    "squared": (lambda a, y, p: a * a / 4 + a * y, lambda p: (-INF, INF)),
    "absolute": (lambda a, y, p: a * y, lambda p: (-1, 1)),
    "huber": (lambda a, y, p: a * a / 2 + a * y, lambda p: (-p, p)),
    "pinball": (lambda a, y, p: a * y, lambda p: (-p, 1 - p)),
    "epsilon-insensitive": (lambda a, y, p: a * y + p * abs(a), lambda p: (-1, 1)),
}
NUMBERS = ("squared", "absolute", "huber", "pinball", "epsilon-insensitive")
OWN = {"margin-hinge": 1.0, "huber": 1.0, "pinball": 0.5, "epsilon-insensitive": 0.1}  # parameters


@lru_cache(maxsize=1)
def _powers() -> list[tuple[float, float]]:
    """2^(i/128) and the part of it, relative to itself, that the rounding took."""
    exact = [TEN.exp(decimal(LN2 * i / 128)) for i in range(128)]
    near = [float(Fraction(one)) for one in exact]
    return [(x, float(Fraction(TEN.divide(e, Decimal(x))) - 1)) for e, x in zip(exact, near, strict=True)]


def exp(x: float) -> float:
    """eˣ with the bits of lanes-1."""
    if x > 710.0 or x < -746.0:
        return INF if x > 0.0 else 0.0
    k = (x * float.fromhex("0x1.71547652b82fep+7") + 1.5 * 2.0**52) - 1.5 * 2.0**52
    r = (x - k * float.fromhex("0x1.62e42fefc0000p-8")) - k * float.fromhex("-0x1.c610ca86c3899p-44")
    value, rest = _powers()[int(k) % 128]
    series = r * r * ((0.5 + r * (1.0 / 6.0)) + r * r * (1.0 / 24.0 + r * (1.0 / 120.0)))
    edge = 0 if -700.0 < x < 700.0 else 128 if x < 0.0 else -128
    s = math.ldexp(value, int(k) // 128 + edge)
    return (s + s * (rest + (r + series))) * 2.0**-edge


def _logistic(z: float, y: float, p: float) -> float:
    e = exp(-abs(y * z))
    return -y * max(e, float(not y * z > 0.0)) / (1.0 + e)


def _epsilon(z: float, y: float, p: float) -> float:
    r = z - y
    lost = (z - (r - (r - z))) - (y + (r - z))  # what rounding took of r tells on which side of the kink it lies
    return 0.0 if abs(r) < p or (abs(r) == p and not r * lost > 0.0) else 1.0 if r > 0.0 else -1.0


SLOPES: dict[str, Callable[[float, float, float], float]] = {
    "zero-one": lambda z, y, p: -y if y * z < 0.0 or (y * z == 0.0 and p * y <= 0.0) else 0.0,
    "hinge": lambda z, y, p: -y if y * z < 1.0 else 0.0,
    "margin-hinge": lambda z, y, p: -y / p if y * z < p else 0.0,
    "squared-hinge": lambda z, y, p: -2.0 * y * max(1.0 - y * z, 0.0),
    "perceptron": lambda z, y, p: -y if y * z <= 0.0 else 0.0,
    "logistic": _logistic,
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
        if self.name not in SLOPES:
            raise FailedError(f"there is no loss {spec!r}")
        self.p = float(text or OWN.get(self.name, 0.0))
        steep = {"margin-hinge": 1.0 / (self.p or 1.0), "huber": self.p, "pinball": max(self.p, 1.0 - self.p)}
        bounded = self.name in ("hinge", "logistic", "absolute", "perceptron", "epsilon-insensitive")
        self.lipschitz = steep.get(self.name, 1.0 if bounded else INF)

    def total(self, z: Iterable[Fraction], y: Sequence[float], k: Sequence[float]) -> Span:
        """Σ k·ℓ(z, y)."""
        of, p = VALUES[self.name], Fraction(self.p)
        return self._near([Fraction(c) * of(a, Fraction(b), p) for a, b, c in zip(z, y, k, strict=True)])

    def conjugates(self, alpha: Sequence[float], y: Sequence[float], k: Sequence[float]) -> Span:
        """Σ k·ℓ*(α); an α outside the domain proves nothing."""
        (of, reach), p = CONJUGATES[self.name], Fraction(self.p)
        (least, most), found = reach(p), []
        for a, b, c in zip(map(Fraction, alpha), map(Fraction, y), map(Fraction, k), strict=True):
            if not least <= (a if self.name in NUMBERS else a * b) <= most:
                raise FailedError("a dual point lies outside its domain")
            found.append(c * of(a, b, p))
        return self._near(found)

    def _near(self, terms: list[Fraction]) -> Span:
        total, size = sum(terms, ZERO), sum(map(abs, terms), Fraction(len(terms)))
        off = size / 10**42 if self.name in ("logistic", "exponential") else ZERO
        return Span(total - off, total + off)


# -- rows --------------------------------------------------------------------------------------------------------------


def svmlight(path: str, two: Any, numbers: bool) -> tuple[list[Any], list[Row], list[float], list[float] | None]:
    """Labels, rows, codes and, of rows as they were played, weights; a feature is the number that is written."""
    text = written(path)
    handed = text.startswith("# rows as they were played")
    labels, rows, k = list[Any](), list[Row](), list[float]()
    for place, line in enumerate(text.splitlines(), 1):
        before, _, behind = line.partition("#")
        if said := before.split():
            pairs = [one.partition(":") for one in said[1:] if not one.startswith("qid:")]
            try:
                rows.append(([int(j) for j, _, _ in pairs], [float(x) for _, _, x in pairs]))
                k.append(float(behind.rpartition("weight ")[2] or 1.0) if handed else 1.0)
            except ValueError:
                raise other_format(path, place, line) from None
            labels.append(said[0])
    try:
        return labels, rows, codes(labels, two if not handed else None, numbers), k if handed else None
    except FailedError:
        if any(j for j, _ in rows):
            raise
        raise other_format(path, 1, text.partition("\n")[0]) from None  # unknown labels, no feature


FORMATS = "rows must be svmlight (noregret learn --rows-out FILE writes them), events of late labels JSON Lines"


def written(path: str) -> str:
    """The text of a file of rows."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError:
        raise UsageError(f"{path}: {FORMATS}; this is not text in UTF-8") from None


def other_format(path: str, place: int, line: str) -> UsageError:
    return UsageError(f"{path}:{place}: {FORMATS}, got {line[:60]!r}")


def prepared(rows: list[Row], how: Mapping[str, Any]) -> list[Row]:
    """Each feature divided by its largest size so far, rows scaled to norm 1: whatever of it is asked for."""
    made, peak = list[Row](), dict[int, float]()
    for j, x in rows:
        if how.get("scale") == "max":
            for i, value in zip(j, x, strict=True):
                peak[i] = max(peak.get(i, 0.0), abs(value))
            x = [value / peak[i] if peak[i] else 0.0 for i, value in zip(j, x, strict=True)]
        if how.get("unit_norm") and any(x):
            top = max(map(abs, x))
            x = [value / top for value in x]
            size = math.sqrt(_added(x))
            x = [value / size for value in x]
        made.append((j, x))
    return made


def plain(label: Any) -> Any:
    try:
        return float(label)
    except (TypeError, ValueError):
        return label


def codes(labels: Sequence[Any], two: Sequence[Any] | None, numbers: bool) -> list[float]:
    """Labels as −1 and +1, or as the numbers that they are."""
    known = {plain(one): sign for one, sign in zip(two or (), (-1.0, 1.0), strict=False) if one is not None}
    known = known or {-1.0: -1.0, 0.0: -1.0, "false": -1.0, 1.0: 1.0, "true": 1.0}
    try:
        return [float(one) if numbers else known[plain(one)] for one in labels]
    except (KeyError, ValueError) as error:
        raise FailedError(f"the label {error} is none of the receipt's") from None


def digest(rows: Sequence[Row], y: Sequence[float], k: Sequence[float]) -> str:
    """SHA-256 over five digests: of labels, weights, entries a row, features and values, without zeros."""
    kept = [[(j, x) for j, x in zip(*row, strict=True) if x != 0.0] for row in rows]
    flat = [one for row in kept for one in row]
    counts = struct.pack(f"<{len(kept)}q", *map(len, kept))
    features = struct.pack(f"<{len(flat)}I", *(j for j, _ in flat))
    parts = (floats(y), floats(k), counts, features, floats([x for _, x in flat]))
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def floats(numbers: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(numbers)}d", *numbers)


def of_arrays(**arrays: Sequence[float]) -> str:
    """SHA-256 over names, lengths and floats, in the order of the names."""
    parts = (f"{name} ({len(arrays[name])},) <f8\n".encode() + floats(arrays[name]) for name in sorted(arrays))
    return hashlib.sha256(b"".join(parts)).hexdigest()


def unpacked(text: str) -> list[float]:
    """A vector of a receipt: base64 of zlib of little-endian floats."""
    found = zlib.decompress(base64.b64decode(text, validate=True))
    vector = list(struct.unpack(f"<{len(found) // 8}d", found))
    if not all(map(math.isfinite, vector)):
        raise FailedError("a vector holds what is not a finite number")
    return vector


def whole(x: float, shift: int) -> int:
    """x·2^shift, a whole number."""
    top, bottom = x.as_integer_ratio()
    return top << (shift + 1 - bottom.bit_length())


def bits(numbers: Iterable[Any]) -> int:
    """The least shift that makes all of them whole."""
    return max((x.as_integer_ratio()[1].bit_length() - 1 for x in numbers), default=0)


class Rounds:
    """Rows as they were played, and sums over them without any rounding: floats are whole multiples of 2^−shift."""

    def __init__(self, rows: list[Row], y: list[float], k: list[float], bias: int, dense: bool) -> None:
        self.rows, self.y, self.k, self.bias, self.dense = rows, y, k, bias, dense
        self.width = max((max(j) + 1 for j, _ in rows if j), default=0) + bias
        self.features = max(self.width - bias - (not dense), 0)  # of svmlight, the highest
        self.shift = bits(x for _, values in rows for x in values)

    def first(self, count: int) -> Rounds:
        found = Rounds(self.rows[:count], self.y[:count], self.k[:count], self.bias, self.dense)
        found.width = self.width
        return found

    @cached_property
    def whole(self) -> list[list[tuple[int, int]]]:
        """Every row as (feature, whole number); with a bias feature 0 is the constant 1, the others follow."""
        one = [(0, 1 << self.shift)] * self.bias
        return [[*one, *((j + self.bias, whole(x, self.shift)) for j, x in zip(*r, strict=True))] for r in self.rows]

    @cached_property
    def squares(self) -> list[Fraction]:
        """‖x‖² of every round."""
        return [Fraction(sum(x * x for _, x in row), 1 << 2 * self.shift) for row in self.whole]

    def dots(self, u: Sequence[Any]) -> list[Fraction]:
        """⟨u, x⟩ of every round."""
        more = bits(u)
        w = [whole(x, more) for x in u] + [0] * max(self.width - len(u), 0)
        return [Fraction(sum(w[j] * x for j, x in row), 1 << (self.shift + more)) for row in self.whole]

    def combined(self, c: Sequence[Any]) -> dict[int, Fraction]:
        """Σ c·x, feature by feature."""
        more, total = bits(c), dict[int, int]()
        for one, row in zip(c, self.whole, strict=True):
            if one and (a := whole(one, more)):
                for j, x in row:
                    total[j] = total.get(j, 0) + a * x
        return {j: Fraction(v, 1 << (self.shift + more)) for j, v in total.items()}


def length2(v: Iterable[Any]) -> Fraction:
    """‖v‖²."""
    return sum((Fraction(x) ** 2 for x in v), ZERO)


# -- the run again, in floats ------------------------------------------------------------------------------------------


def products(row: Row, z: list[float], dense: bool) -> tuple[float, float]:
    """⟨z, x⟩ and ‖x‖², added up in the lanes of lanes-1: sixteen at a time, then four, two and one if dense."""
    n, d, s = len(row[1]), [0.0] * 16, [0.0] * 16
    far, near = (n - n % 16 if dense else 0), n - n % 4
    for i, (j, x) in enumerate(zip(*row, strict=True)):
        if i < near:
            lane = i % 16 if i < far else i % 4
        elif dense:
            lane = 4 + i - near if i < near + (n & 2) else 8
        else:
            lane = 0 if n < 4 else 4 - n % 4 + i - near
        d[lane] += x * z[j]
        s[lane] += x * x
    return lanes(d, dense), lanes(s, dense)


def lanes(p: list[float], dense: bool = True) -> float:
    q = p[:4]
    if dense:
        q = [(p[i] + p[i + 4]) + (p[i + 8] + p[i + 12]) for i in range(4)]
    return (q[0] + q[2]) + (q[1] + q[3])


def norm2(z: list[float]) -> float:
    """‖z‖², number i in lane i mod 16."""
    return lanes([_added(z[lane::16]) for lane in range(16)])


def _added(some: list[float]) -> float:
    found = 0.0
    for x in some:
        found += x * x
    return found


class Descent:
    """The perceptron and gradient descent: weights w = scale·z, every number as lanes-1 computes it."""

    def __init__(self, name: str, said: Mapping[str, Any]) -> None:
        self.perceptron, self.one = name != "ogd", float(bool(said.get("bias")))
        self.loss = Loss("zero-one" if self.perceptron else said["loss"])
        self.tie = {"mistake": 0.0, "+1": 1.0, "-1": -1.0}[said["tie"]]
        self.loss.p = self.tie if self.perceptron else self.loss.p
        self.radius, self.l2 = float(said.get("radius", INF)), float(said.get("l2", 0.0))
        self.horizon, self.bound, self.rate = 0, 0.0, "constant"
        self.eta = float(said["rate"]) if self.perceptron else self._step(said["rate"])
        self.start = [float(x) for x in said.get("start", ())]
        self.z, self.total = self.start.copy(), list[float]()
        self.bias = self.gradient2 = self.felt2 = 0.0
        self.norm2, self.large = norm2(self.z), len(self.z) > 64
        self.scale = self.eta if self.perceptron and "start" not in said else 1.0
        self.rounds = self.updates = self.period = 0

    def _step(self, text: str) -> float:
        """η, from what the rate says."""
        self.rate, *rest = text.split(":")
        if self.rate in ("auto", "late"):
            return math.sqrt(2.0) * self.radius
        if self.rate not in ("horizon", "doubling"):
            return float(rest[0])
        known = self.rate == "horizon"
        self.bound = float(rest[-1]) if len(rest) > known else self.loss.lipschitz
        self.horizon = int(float(rest[0])) if known else 0
        return self.radius / (self.bound * math.sqrt(float(self.horizon)) if known else self.bound)

    def grow(self, row: Row) -> None:
        width = max(row[0], default=-1) + 1
        self.z += [0.0] * (width - len(self.z))
        self.total += [0.0] * (0 if self.perceptron else len(self.z) - len(self.total))

    def predict(self, row: Row, dense: bool) -> float:
        """The score of a row that is not learned from: features that were never learned are left out."""
        kept = [(j, x) for j, x in zip(*row, strict=True) if j < len(self.z)]
        row = [j for j, _ in kept], [x for _, x in kept]
        return self.scale * (products(row, self.z, dense)[0] + self.one * self.bias)

    def play(self, row: Row, y: float, k: float, dense: bool, outstanding: float = 0.0) -> float:
        """One round of weight k; its score."""
        self.grow(row)
        inner, row2 = products(row, self.z, dense)
        row2 += self.one
        if self.rate == "doubling" and (self.rounds + 1) & self.rounds == 0:
            self.z[:] = [0.0] * len(self.z)
            self.bias = self.norm2 = inner = 0.0
            self.scale, self.period = 1.0, self.rounds + 1
        inner += self.one * self.bias
        score = self.scale * inner
        g = k * SLOPES[self.loss.name](score, y, self.loss.p)
        self.large |= len(row[1]) > 64 if dense else any(j >= 64 for j in row[0])
        if g != 0.0 or self.l2 > 0.0:
            c = self._descend(inner, row2, g, outstanding)
            for j, x in zip(*row, strict=True) if g != 0.0 else ():
                self.z[j] += c * x
                if not self.perceptron:
                    self.total[j] += g * x
            self.bias += self.one * c
            self.updates += g != 0.0
            self._settle(g != 0.0)
        self.rounds += 1
        return score

    def _descend(self, dot: float, row2: float, g: float, outstanding: float) -> float:
        """The c of z ← z + c·x, and the norm that z then has."""
        gradient2 = g * g * row2
        self.gradient2 += gradient2
        self.felt2 += gradient2 + 2.0 * math.sqrt(gradient2) * outstanding
        under = {"sqrt": float(self.rounds + 1), "doubling": float(self.period), "auto": self.gradient2}
        under2 = self.felt2 if self.rate == "late" else under.get(self.rate, 1.0)
        eta = self.eta / math.sqrt(under2) if under2 > 0.0 else 0.0
        c = -(1.0 if eta == self.scale else eta * (1.0 / self.scale)) * g if g != 0.0 else 0.0
        new2 = self.norm2 + c * (2.0 * dot + c * row2)
        if not math.isfinite(new2 + self.felt2):
            raise FailedError("the run: a number overflows")
        self.scale, self.norm2 = self.scale / (1.0 + eta * self.l2), max(new2, 0.0)
        return c

    def _settle(self, update: bool) -> None:
        """Take the norm from the weights at fixed updates, project on the ball, keep the scale from underflow."""
        n, ball = self.updates, self.radius < INF
        fixed_ = update and (n & (n - 1) == 0 or n % 65536 == 0 if self.large else n <= 64 or n % 64 == 0)
        if fixed_ and ball:
            self.norm2 = norm2(self.z) + self.bias * self.bias
        if ball:
            scale = min(self.scale, self.radius / math.sqrt(self.norm2) if self.norm2 else INF)
            if self.large or not fixed_ or scale == 1.0:
                self.scale = scale
            else:
                self._fold(scale)
        if (ball or self.l2 > 0.0) and self.scale < 1e-60:
            self._fold(self.scale)

    def _fold(self, factor: float) -> None:
        self.z[:], self.scale = [x * factor for x in self.z], 1.0
        self.bias *= factor
        self.norm2 *= factor * factor

    @property
    def weight_norm(self) -> float:
        return abs(self.scale) * math.sqrt(norm2(self.z) + self.bias * self.bias)


# -- claims ------------------------------------------------------------------------------------------------------------


class Claims:
    """How many stand, and which are not covered; the first that fails is an error."""

    def __init__(self) -> None:
        self.count, self.uncovered = 0, list[str]()

    def true(self, what: str, holds: bool, told: str = "this does not hold") -> None:
        if not holds:
            raise FailedError(f"{what}: {told}")
        self.count += 1

    def same(self, what: str, said: Any, found: Any) -> None:
        alike = type(said) is type(found) or (type(said) in (int, float) and type(found) in (int, float))
        self.true(what, alike and said == found, f"the receipt says {said}, it is {found}")

    def above(self, what: str, said: Any, found: Fraction) -> None:
        """A number that is claimed from above."""
        self.true(what, real(said) >= found, f"the receipt says {said}, it is {float(found):.17g}")

    def within(self, what: str, said: Any, found: Span) -> None:
        """An interval that contains what is found."""
        low, high = real(said["lower"]), real(said["upper"])
        told = f"the receipt says {said['lower']} to {said['upper']}, it is {float(found.lo):.17g}"
        self.true(what, low <= found.lo and found.hi <= high, told)

    def open(self, what: str) -> None:
        if what not in self.uncovered:
            self.uncovered.append(what)


def lacking(said: Mapping[str, Any], known: str) -> list[str]:
    return sorted(set(said) - set(known.split()))


class Facts:
    """What theorems are made of: the rounds with their scores, and the points that the receipt gives."""

    def __init__(self, rounds: Rounds, scores: list[float], me: Descent | None, loss: Loss, points: Any) -> None:
        self.rounds, self.scores, self.me, self.loss, self.points = rounds, scores, me, loss, points
        self.y, self.k, self.T = rounds.y, rounds.k, len(rounds.y)
        self.z = list(map(Fraction, scores))
        self.regret: Span | None = None
        self.U, self.u = Span(0), list[float]()  # of the comparators' ball, and its best point

    def first(self, count: int) -> Facts:
        return Facts(self.rounds.first(count), self.scores[:count], self.me, self.loss, self.points)

    @cached_property
    def own(self) -> Span:
        return self.loss.total(self.z, self.y, self.k)

    def risk(self, u: list[float]) -> Span:
        return self.loss.total(self.rounds.dots(u), self.y, self.k)

    def dual(self, alpha: list[float], radius: Fraction) -> Span:
        """−Σ k·ℓ*(α) − U‖Σ kαx‖, which no comparator falls below."""
        paid = self.loss.conjugates(alpha, self.y, self.k)
        taken = [Fraction(a) * Fraction(k) for a, k in zip(alpha, self.k, strict=True)]
        found = (paid + Span(length2(self.rounds.combined(taken).values())).root * radius) * -1
        return Span(max(found.lo, ZERO), max(found.hi, ZERO))

    # -- of the gradients g = k·s·x, s the slope of the loss at the score ----------------------------------------------

    @cached_property
    def slopes(self) -> list[Fraction]:
        of, p = SLOPES[self.loss.name], self.loss.p
        return [Fraction(k) * Fraction(of(z, y, p)) for z, y, k in zip(self.scores, self.y, self.k, strict=True)]

    @cached_property
    def gradients2(self) -> list[Fraction]:
        return [s * s * x2 for s, x2 in zip(self.slopes, self.rounds.squares, strict=True)]

    @cached_property
    def gradient(self) -> dict[str, Span]:
        """The figures of the gradients; what is divided is rounded to 2^−400 of itself."""
        roots = [Fraction(math.isqrt(t << 800), 1 << 400) for t in range(1, self.T + 1)]
        over = [_shared(g / r) for g, r in zip(self.gradients2, roots, strict=True)]
        by_t = [_shared(g / t) for t, g in enumerate(self.gradients2, 1)]
        off = 1 + Fraction(1, 1 << 300)
        return {
            "max_norm": Span(max(self.gradients2, default=ZERO)).root,
            "sum_norm2": Span(sum(self.gradients2, ZERO)),
            "sum_norm2_over_sqrt_t": Span(sum(over, ZERO) / off, sum(over, ZERO) * off),
            "sum_norm2_over_t": Span(sum(by_t, ZERO) / off, sum(by_t, ZERO) * off),
            "sum_dot_weights": Span(sum((s * z for s, z in zip(self.slopes, self.z, strict=True)), ZERO)),
            "norm_of_sum": Span(length2(self.rounds.combined(self.slopes).values())).root,
        }

    @cached_property
    def along(self) -> Span:
        """Σ⟨g, u⟩."""
        return Span(sum((s * d for s, d in zip(self.slopes, self.rounds.dots(self.u), strict=True)), ZERO))

    # -- of the mistakes of a perceptron, in units of its step --------------------------------------------------------

    @cached_property
    def wrong(self) -> list[int]:
        tie = 0.0 if self.me is None else self.me.tie
        return [t for t, (z, y) in enumerate(zip(self.scores, self.y, strict=True)) if _missed(z, y, tie)]

    @cached_property
    def start(self) -> dict[int, Fraction]:
        """w₁/η, as the rounds number their features."""
        given = [] if self.me is None else self.me.start
        eta = Fraction(self.me.eta) if self.me is not None and self.me.perceptron else Fraction(1)
        return {j: Fraction(x) / eta for j, x in enumerate(given, self.rounds.bias) if x}

    @cached_property
    def sum(self) -> tuple[Span, Span, Fraction]:
        """‖S‖, ‖w₁/η + S‖ and the largest y⟨w, x⟩ at which an update was made, S = Σ y·x over the mistakes."""
        one, chosen = 1 << self.rounds.shift, set(self.wrong)
        reached: dict[int, Any] = {j: x * one for j, x in self.start.items()}
        worst, largest = Fraction(-1), ZERO
        for t in self.wrong:
            y, row = int(self.y[t]), self.rounds.whole[t]
            largest = y * sum((reached.get(j, 0) * x for j, x in row), ZERO)
            worst = max(worst, largest)
            for j, x in row:
                reached[j] = reached.get(j, 0) + y * x
        signs = [self.y[t] if t in chosen else 0.0 for t in range(self.T)]
        end = length2(Fraction(x) / one for x in reached.values())
        return Span(length2(self.rounds.combined(signs).values())).root, Span(end).root, worst

    @cached_property
    def r2(self) -> Span:
        return Span(max(self.rounds.squares, default=ZERO))

    @cached_property
    def missed2(self) -> Span:
        return Span(sum((self.rounds.squares[t] for t in self.wrong), ZERO))

    @cached_property
    def start_norm(self) -> Span:
        return Span(length2(self.start.values())).root

    @cached_property
    def reach(self) -> Span:
        return (Span(length2(self.start.values())) + self.missed2).root

    def allowance(self) -> Fraction:
        """By how much a bound on exact steps is larger for the steps of floats."""
        width = self.rounds.width
        carried = min(self.T, 65536 if width > 64 else 64)
        return 1 + Fraction((self.T + 64) * (min(width, 4096) + 64 + carried), 1 << 50)


def _shared(x: Fraction) -> Fraction:
    """Nearly the same with a small denominator."""
    shift = 400 + x.denominator.bit_length() - x.numerator.bit_length()
    return Fraction((x.numerator << max(shift, 0)) // x.denominator, 1 << max(shift, 0))


def _missed(z: float, y: float, tie: float) -> bool:
    return tie != y if z == 0.0 else (z > 0.0) != (y > 0.0)


class Against:
    """A vector v that mistakes are compared with: ‖v‖, and Σh, Σh² and Σ log₂(1 + e^−m) over all rounds."""

    def __init__(self, facts: Facts, v: list[float]) -> None:
        margins = [Fraction(y) * z for y, z in zip(facts.y, facts.rounds.dots(v), strict=True)]
        self.norm, self.least = Span(length2(v)).root, min(margins, default=ZERO)
        gaps = [max(1 - m, ZERO) for m in margins]
        self.h, self.h2 = Span(sum(gaps, ZERO)), Span(sum((gap * gap for gap in gaps), ZERO))
        self.along = sum((x * Fraction(v[j]) for j, x in facts.start.items() if j < len(v)), ZERO)
        self.b, self.n0 = self.norm * facts.r2.root, self.norm * facts.start_norm
        self.penalty = self.norm * facts.reach - self.along
        self._facts, self._v = facts, v

    @cached_property
    def log2(self) -> Span:
        facts = self._facts
        return Loss("logistic").total(facts.rounds.dots(self._v), facts.y, [1.0] * facts.T) / NEAR_LN2


NEAR_LN2 = Span(LN2 - Fraction(1, 10**45), LN2 + Fraction(1, 10**45))
HALF_LOG2 = Span(Fraction(1, 2)) / NEAR_LN2  # the slope of log₂(1 + e^−m) at 0
NEARLY = 1 + Fraction(1, 1 << 40)
SMALL = Span(1, 1 + Fraction(1, 1 << 46))


def largest_root(k: Span, b: Span, n: Span) -> Span:
    """The largest M with M ≤ k + √(n² + b²M)."""
    under = b.square * (k + b.square * Fraction(1, 4)) + n.square
    return k + b.square * Fraction(1, 2) + under.root


def larger(a: Span, penalty: Span) -> Span:
    """The largest M with M ≤ a√M + penalty."""
    return (a * Fraction(1, 2) + (a.square * Fraction(1, 4) + penalty).root).square


def _radius(f: Facts, v: Against) -> Span:
    return v.h + v.norm * (f.start_norm.square + f.r2 * len(f.wrong)).root - v.along


def _novikoff(f: Facts, v: Against) -> Span:
    return largest_root(Span(-v.along), v.b, v.n0) if f.start else v.b.square


# name: needs, and the bound; of those below the line v is multiplied first
MISTAKES: dict[str, tuple[str, Callable[[Facts, Any], Span]]] = {
    "norm-lemma": ("UP", lambda f, v: f.reach * SMALL),
    "novikoff": ("UPS", _novikoff),
    "novikoff-mistakes": ("UPS", lambda f, v: v.penalty),
    "novikoff-sum": ("US", lambda f, v: v.norm * f.sum[0]),
    "hinge-sum": ("UC", lambda f, v: v.h + v.norm * f.sum[0]),
    "hinge-mistakes": ("UPC", lambda f, v: v.h + v.penalty),
    "hinge-radius": ("UPC", _radius),
    "hinge-explicit": ("UPZC", lambda f, v: v.h + v.b.square + v.b * v.h.root),
    "hinge-root": ("UPC", lambda f, v: largest_root(v.h - v.along, v.b, v.n0)),
    "hinge-squared-sum": ("UPZC", lambda f, v: (v.b + v.h.root).square),
    "order-free": ("UPZO", lambda f, v: largest_root(v.h, v.b, Span(0))),
    "l2-mistakes": ("UPC", lambda f, v: larger(v.h2.root, v.penalty)),
    "l2-radius": ("UPZC", lambda f, v: (v.h2.root + v.b).square),
    "l1-l2": ("UPZC", lambda f, v: (v.h2.root + v.b).square * SMALL),
    "logistic-mistakes": ("UPC", lambda f, v: v.log2 + v.penalty * HALF_LOG2),
    "logistic-root": ("UPZC", lambda f, v: largest_root(v.log2, v.b * HALF_LOG2, Span(0))),
    "squared-hinge-mistakes": ("UPC", lambda f, v: v.h2 + v.penalty * 2),
    "squared-hinge-radius": ("UPZC", lambda f, v: (v.b + (v.b.square + v.h2).root).square),
}


def _G(f: Facts) -> Span:
    bound, found = Fraction(f.me.bound if f.me else 0), f.gradient["max_norm"]
    return Span(max(bound, found.lo), max(bound, found.hi))


def _V(f: Facts) -> Fraction:
    """The radius of the learner's own ball."""
    return Fraction(f.me.radius) if f.me else ZERO


def _eta(f: Facts) -> Fraction:
    return Fraction(f.me.eta) if f.me else ZERO


def _ball(f: Facts) -> Span:
    moved = Span(4 * f.T).root - (0 if f.start else Fraction(3, 2))
    return moved * (_V(f) ** 2 / _eta(f)) + f.gradient["sum_norm2_over_sqrt_t"] * (_eta(f) / 2)


def _any_rate(f: Facts, G: Span) -> Span:
    return Span(f.T).root * (2 * _V(f) ** 2 / _eta(f)) + G.square * Span(f.T).root * _eta(f)


def _tuned(f: Facts) -> Span:
    return Span(f.T).root * (4 * _V(f) ** 2 / _eta(f))


def _of_rows(f: Facts) -> Span:
    X = f.r2.root
    return X * (X * _V(f) + max(abs(Fraction(y)) for y in f.y)) * 2


def _periods(f: Facts) -> Span:
    found = Span(0)
    for m in range(f.T.bit_length()):
        found += Span(2**m).root
    return _G(f) * found * _V(f)


def _closed(f: Facts) -> Span:
    return Span(2).root / (Span(2).root - 1) * Span(f.T).root * _V(f) * _G(f)


def _constant(f: Facts) -> Span:
    distance = f.start_norm + f.U
    return distance.square / (2 * _eta(f)) + f.gradient["sum_norm2"] * (_eta(f) / 2)


def _inverse(f: Facts) -> Span:
    return (f.U.square + f.gradient["max_norm"].square) * Span(f.T).root * Fraction(1, 2)


REGRETS: dict[str, tuple[str, bool, Callable[[Facts], Span]]] = {  # and whether float steps are allowed for
    "ogd-linearised": ("V", False, lambda f: f.gradient["sum_dot_weights"] + f.gradient["norm_of_sum"] * f.U),
    "ogd-linearised-at-hindsight": ("V", False, lambda f: f.gradient["sum_dot_weights"] - f.along),
    "ogd-adaptive": ("VBI", True, lambda f: Span(8).root * f.gradient["sum_norm2"].root * _V(f)),
    "ogd-constant": ("VI", True, _constant),
    "ogd-inverse-root": ("VIZR", True, _inverse),
    "ogd-horizon": ("VBIZHG", True, lambda f: Span(f.me.horizon if f.me else 0).root * _G(f) * _V(f)),
    "ogd-doubling": ("VBIG", True, _periods),
    "ogd-doubling-closed": ("VBIG", True, _closed),
    "ogd-ball": ("VBI", True, _ball),
    "ogd-any-rate": ("VBI", True, lambda f: _any_rate(f, f.gradient["max_norm"])),
    "ogd-tuned": ("VBIT", True, _tuned),
    "ogd-square-loss": ("UVBI", True, lambda f: _any_rate(f, _of_rows(f))),
}
BY_RATE = {"auto": "ogd-adaptive", "constant": "ogd-constant", "horizon": "ogd-constant ogd-horizon"}
BY_RATE |= {"sqrt": "ogd-ball ogd-any-rate ogd-tuned", "doubling": "ogd-doubling ogd-doubling-closed"}
NEEDS: dict[str, tuple[str, Callable[[Facts], bool | None]]] = {
    "U": ("every round weighs 1", lambda f: all(k == 1.0 for k in f.k)),
    "P": ("every update was made at y⟨w,x⟩ ≤ 0, in exact arithmetic", lambda f: f.sum[2] <= 0),
    "Z": ("the run starts at w₁ = 0", lambda f: not f.start),
    "C": ("a comparator v is given", lambda f: any(name.startswith("v_") for name in f.points)),
    "O": ("a comparator v for every order is given", lambda f: "v_root" in f.points),
    "S": ("a separator is known: y⟨u,x⟩ ≥ 1 on every round", lambda f: _separates(f)),
    "V": ("the loss is convex in the score", lambda f: True),
    "B": ("the weights are projected on a ball of radius U", lambda f: f.me is not None and f.me.radius < INF),
    "I": ("the comparators' ball lies in the learner's domain", lambda f: f.me is None or f.U.hi <= f.me.radius),
    "R": ("the step is η = 1/√T for the T rounds played", lambda f: abs(_eta(f) ** 2 * f.T - 1) < 2.0**-49),
    "H": ("no more rounds were played than the horizon", lambda f: f.me is not None and f.me.horizon >= f.T),
    "G": (
        "no gradient is longer than G",
        lambda f: f.gradient["max_norm"].hi <= Fraction(f.me.bound if f.me else 0) * NEARLY,
    ),
    "T": ("G = √2·U/η is at least max‖g_t‖, or line 4 is not above this bound", lambda f: _enough(f)),
}


def _separates(f: Facts) -> bool:
    return "separator" in f.points and Against(f, f.points["separator"]).least >= 1


def _enough(f: Facts) -> bool:
    G = Span(2).root * (_V(f) / _eta(f))
    return G.lo >= f.gradient["max_norm"].hi or _ball(f).hi <= _tuned(f).hi


def theorems(done: Claims, f: Facts, said: list[dict[str, Any]], learner: str) -> None:
    """Every theorem that a receipt names."""
    names = [one["theorem"] for one in said]
    done.true("the theorems", len(set(names)) == len(names), "one is named twice")
    if learner in PERCEPTRONS:
        done.true("the theorems", set(MISTAKES) <= set(names), "some that speak of the run are left out")
    elif learner == "ogd" and f.me is not None and f.regret is not None:
        wanted = "ogd-linearised ogd-linearised-at-hindsight " + BY_RATE.get(f.me.rate, "") * (not f.me.l2)
        done.true("the theorems", set(wanted.split()) <= set(names), "some that speak of the run are left out")
    for one in said:
        name = one["theorem"]
        if name in MISTAKES or (name in REGRETS and f.regret is not None):
            theorem(done, f, one)
        else:
            done.open(f"the theorem {name}")


def theorem(done: Claims, f: Facts, said: dict[str, Any]) -> None:
    """One that is covered."""
    name = said["theorem"]
    facts, held = dict[str, Any](), True
    for one in (MISTAKES[name] if name in MISTAKES else REGRETS[name])[0]:
        facts[NEEDS[one][0]] = found = NEEDS[one][1](f) if held else None  # what comes after a need that fails
        held = held and bool(found)
    needs = (MISTAKES[name] if name in MISTAKES else REGRETS[name])[0]
    stated = [one["statement"] for one in said["assumptions"]]
    done.same(f"{name}: its assumptions", stated, [NEEDS[one][0] for one in needs])
    of = _mistakes if name in MISTAKES else _regrets
    judged(done, said, facts, *(of(f, said) if held else (Span(0), Span(0), None, {})))


def judged(
    done: Claims,
    said: dict[str, Any],
    facts: Mapping[str, Any],
    bound: Span,
    observed: Span | None,
    ceiling: Span | None,
    values: Mapping[str, Span],
) -> None:
    """Its assumptions, its bound, what it is compared with, the values it was made from, and the verdict."""
    name, held = said["theorem"], True
    for one in said["assumptions"]:
        if held:
            done.same(f"{name}: {one['statement']}", [one["holds"], one["checked"]], [facts[one["statement"]], True])
        held = held and facts[one["statement"]]
    if not held:
        empty = [said[key] for key in ("verdict", "bound", "observed", "values", "points")]
        return done.same(f"{name}: nothing is claimed", empty, ["unmet", None, None, {}, []])
    done.above(f"{name}: the bound", said["bound"], bound.hi)
    if observed is None:
        done.same(f"{name}: the observed value", said["observed"], None)
    elif name in MISTAKES and name not in ("norm-lemma", "l1-l2"):
        done.same(f"{name}: the observed value", real(said["observed"]), observed.hi)
    else:
        done.above(f"{name}: the observed value", said["observed"], observed.hi)
    for key, claimed in said["values"].items():
        what = f"{name}: {key.replace('_', ' ')}"
        if key in ("rate", "radius", "scaled_by"):
            done.same(what, real(claimed), values[key].hi)
        elif key in ("no_comparator_below", "no_separator_below", "margin"):
            done.true(what, real(claimed) <= values[key].hi, f"the receipt says {claimed}")
        elif key in values:
            done.above(what, claimed, values[key].hi)
        else:
            done.open(f"{what}, a value of a theorem")
    verdict = "holds" if observed is None or real(said["observed"]) <= real(said["bound"]) else "open"
    vacuous = {real(said["bound"]) >= end for end in (ceiling.lo, ceiling.hi * SMALL.hi)} if ceiling else {False}
    done.true(f"{name}: the verdict", said["verdict"] in [("vacuous" if one else verdict) for one in vacuous])
    rounding = (
        abs(bound.hi) + (abs(observed.lo) if observed else 0) + (ceiling.hi if ceiling else 0)
    ) / 2**40  # of slopes
    done.true(f"{name}: it is not broken", observed is None or observed.lo <= bound.hi + rounding)
    return None


def _mistakes(f: Facts, said: dict[str, Any]) -> tuple[Span, Span, Span | None, dict[str, Span]]:
    """The bound at the point named, the mistakes, the rounds, and values."""
    name, count = said["theorem"], Span(len(f.wrong))
    if name == "norm-lemma":
        return MISTAKES[name][1](f, None), f.sum[1], None, {"sum_norm": f.sum[0]}
    v = f.points["separator" if "novikoff" in name else said["points"][0]]
    values = {"scaled_by": Span(real(said["values"].get("scaled_by", 1.0)))}
    by = float(values["scaled_by"].hi)
    if not by > 0.0:
        raise FailedError(f"{name}: scaled by {by}")
    at = Against(f, [x * by for x in v])
    values |= {"hinge": at.h, "norm": at.norm, "separator_norm": at.norm}
    if "novikoff" in name:
        values["margin"] = Span(1) / at.norm if at.norm.lo > 0 else Span(0)
        weights = [max(x, 0.0) for x in f.points.get("separator_weights", [0.0] * f.T)]
        shortest = _least_norm(f, weights)
        values["no_separator_below"] = f.r2 * shortest.square
    for beta in (one for one in said["points"][1:] if one.startswith("beta_")):
        values["no_comparator_below"] = _below(f, beta)
    if name != "l1-l2":
        return MISTAKES[name][1](f, at), count, Span(f.T), values
    each = [Against(f, one) for key, one in f.points.items() if key.startswith("v_")]
    best = min((largest_root(one.h, one.b, Span(0)) for one in each), key=lambda span: span.hi)
    printed = min(((one.b + one.h.root).square for one in each), key=lambda span: span.hi)
    least = min(best.lo, _below(f, "beta_root").lo if "beta_root" in f.points else ZERO)
    values |= {"l1": at.h, "l2_squared": at.h2, "l1_printed": printed, "l2_printed": (at.b + at.h2.root).square}
    return MISTAKES[name][1](f, at), Span(least, best.hi), None, values


def _least_norm(f: Facts, weights: list[float]) -> Span:
    """Σλ/‖Σ λy·x‖, for which no separator is shorter."""
    g = Span(length2(f.rounds.combined([w * y for w, y in zip(weights, f.y, strict=True)]).values())).root
    return Span(sum(map(Fraction, weights), ZERO)) / g if g.lo > 0 else Span(0)


def _below(f: Facts, name: str) -> Span:
    """What β proves that no comparator falls below."""
    beta = [min(max(x, 0.0), 1.0) for x in f.points[name]]
    m = Span(sum(map(Fraction, beta), ZERO))
    g = Span(length2(f.rounds.combined([b * y for b, y in zip(beta, f.y, strict=True)]).values())).root
    if g.hi == 0:
        return m
    if name == "beta_root":
        found = (f.r2.root * m / g).square
        return Span(min(m.lo, found.lo), min(m.hi, found.hi))
    rho = f.sum[0] if name == "beta_sum" else f.missed2.root
    share = rho / g
    return m * Span(min(share.lo, Fraction(1)), min(share.hi, Fraction(1)))


def _regrets(f: Facts, said: dict[str, Any]) -> tuple[Span, Span, Span | None, dict[str, Span]]:
    """The bound, the regret that it limits, the run's own loss, and values."""
    _, floats_, of = REGRETS[said["theorem"]]
    regret = f.own - f.risk(f.u) if "at-hindsight" in said["theorem"] else f.regret
    assert regret is not None
    values = {"dot_weights": f.gradient["sum_dot_weights"], "norm_of_sum": f.gradient["norm_of_sum"], "radius": f.U}
    values |= {"max_gradient": f.gradient["max_norm"], "rate": Span(_eta(f)), "gradient_bound": _G(f)}
    if said["theorem"] == "ogd-square-loss":
        values["a_priori_gradient"] = _of_rows(f)
    return of(f) * (f.allowance() if floats_ else 1), regret, f.own, values


def regret(done: Claims, f: Facts, said: dict[str, Any], where: str) -> None:
    """One comparator: it lies in the ball, and loss and dual value lie within what is claimed."""
    for key in lacking(said, "rounds loss domain sigma own comparator gap lower upper points bounds"):
        done.open(f"{key} of {where}")
    done.true(f"{where}: its loss", Loss(said["loss"]).__dict__ == f.loss.__dict__, "it is another")
    if said["sigma"] != 0.0 or "alpha" not in said["points"]:
        return done.open(f"{where}, with a regulariser or a loss of the user's own")
    radius, u, alpha = real(said["domain"]["radius"]), *(f.points[said["points"][key]] for key in ("u", "alpha"))
    done.true(f"{where}: its vectors", len(u) == f.rounds.width and len(alpha) == f.T, "their lengths are others")
    done.true(f"{where}: the comparator lies in the ball", 0 < radius < INF and length2(u) <= radius**2)
    best = Span(f.dual(alpha, radius).lo, f.risk(u).hi)
    done.within(f"{where}: the comparator's loss", said["comparator"], best)
    done.within(f"{where}: the run's own loss", said["own"], f.own)
    done.within(where, said, f.own - best)
    low, high = (float(said["comparator"][end]) for end in ("lower", "upper"))
    done.above(f"{where}: the gap", said["gap"], Fraction((high - low) / max(high, 1.0)))
    f.U, f.u, f.regret = Span(radius), u, f.own - best
    for name, bound in said.get("bounds", {}).items():
        if name in REGRETS:
            _, floats_, of = REGRETS[name]
            done.above(f"{where}: {name}", bound, (of(f) * (f.allowance() if floats_ else 1)).hi)
        else:
            done.open(f"the theorem {name}")


def figures(done: Claims, f: Facts, said: dict[str, Any], numbers: bool) -> None:
    """Counts, norms and sums of the run."""
    me = f.me
    if me is not None and me.perceptron:  # its own loss are its mistakes
        f = Facts(f.rounds, f.scores, me, me.loss, f.points)
    counts = {"rounds": f.T, "mistakes": None if numbers else len(f.wrong)}
    counts["features"] = f.rounds.features
    spans = {"max_norm2": f.r2, "mistake_norm2": Span(0) if numbers else f.missed2}
    spans["score_moment"] = Span(sum((t * z for t, z in enumerate(f.z, 1)), ZERO))
    if f.loss.name in VALUES or me is not None:
        spans["loss"] = f.own if f.loss.name in VALUES else Span(sum(Fraction(f.k[t]) for t in f.wrong))
        counts["updates"] = sum(slope != 0 for slope in f.slopes)
    if me is not None:
        spans["weight_norm"] = Span(me.weight_norm)
    for key, one in said.items():
        what = key.replace("_", " ")
        if key == "gradient":
            for name in one:
                done.within(f"{what}: {name.replace('_', ' ')}", one[name], f.gradient[name])
        elif key in counts:
            done.same(what, one, counts[key])
        elif key in spans:
            done.within(what, one, spans[key])
        else:
            done.open(f"the figure {what}")


PARTS = "kind version arithmetic learner reading segments replay figures regret curve certificates points checksum"
PERCEPTRONS = ("perceptron", "averaged", "voted")


def run(done: Claims, said: dict[str, Any], paths: Sequence[str]) -> None:
    """The receipt of a learner's run."""
    settings, points = said["learner"]["settings"], {key: unpacked(text) for key, text in said["points"].items()}
    loss = judge(said)
    rounds = played(done, said, paths, loss.name in NUMBERS, bool(settings.get("bias")))
    scores, me = replayed(done, said, rounds, points)
    own_run(done, said, Facts(rounds, scores, me, loss, points))


def judge(said: dict[str, Any]) -> Loss:
    """The loss that the learner is judged by."""
    name, settings = said["learner"]["name"], said["learner"]["settings"]
    judged = "hinge" if name in PERCEPTRONS else settings.get("loss", (said["regret"] or {}).get("loss"))
    if not isinstance(judged, str):
        raise UsageError(f"the loss of {name} is not known here")
    return Loss(judged)


def own_run(done: Claims, said: dict[str, Any], f: Facts) -> None:
    """All that is said of rounds whose scores are known."""
    for key in lacking(said, PARTS):
        done.open(f"the part {key}")
    figures(done, f, said["figures"], f.loss.name in NUMBERS)
    main, me = said["regret"], f.me
    for entry in [*said["curve"], *([] if main is None else [main])]:
        where = f"the regret after {entry['rounds']} rounds, radius {entry['domain']['radius']}"
        done.true(f"{where}: its rounds", 0 < entry["rounds"] <= f.T and (entry is not main or entry["rounds"] == f.T))
        if me is not None and me.radius < INF and (entry is main or "bounds" in entry):
            done.same(f"{where}: its radius", real(entry["domain"]["radius"]), Fraction(me.radius))
        regret(done, f if entry is main else f.first(entry["rounds"]), entry, where)
    theorems(done, f, said["certificates"], said["learner"]["name"])


def played(done: Claims, said: dict[str, Any], paths: Sequence[str], numbers: bool, bias: bool) -> Rounds:
    """The rows as they were played: the streams as they are, or prepared rows that were handed over."""
    segments, replay, given = said["segments"], said["replay"], list[tuple[list[Row], list[float], list[float]]]()
    same = len(paths) == len(segments) and not any(one["shuffle"] is not None for one in segments)
    for place, path in enumerate(paths):
        labels, rows, y, handed = svmlight(path, said["learner"]["labels"], numbers)
        same, one = same and handed is None, segments[place if same else 0]
        weight = {plain(key): float(w) for key, w in (one["class_weight"] or {}).items()} if same else {}
        k, times = handed or [weight.get(plain(label), 1.0) for label in labels], one["passes"] if same else 1
        most = one["rows"] if same and not one["ended"] else len(rows) * times
        rows, y, k = (rows * times)[:most], (y * times)[:most], (k * times)[:most]
        same = same and digest(rows, y, k) == one["digest"] and len(rows) == one["rows"]
        given.append((rows, y, k))
    kept = [(r, a, w) for rows, y, k in given for r, a, w in zip(rows, y, k, strict=True) if w]
    rows, y, k = [r for r, _, _ in kept], [a for _, a, _ in kept], [w for _, _, w in kept]
    if same:
        rows = prepared(rows, said["learner"]["settings"])
    how, missing = said["learner"]["settings"], said["reading"].get("missing", "error")
    more = how.get("scale") in ("standard", "log") or how.get("expand") or how.get("lags") or missing != "error"
    if digest(rows, y, k) != replay["rows"] and same and more:
        raise UsageError("the rows were prepared before they were played: hand over those of learn --rows-out")
    done.true("the digest of the rows", digest(rows, y, k) == replay["rows"], "these are not the rows of the receipt")
    if not same:
        done.open("the digest of the rows before they were prepared")
    return Rounds(rows, y, k, int(bias), replay["layout"] == "dense")


def learner(said: dict[str, Any]) -> Descent | None:
    """The learner before its first round, where it is played again here."""
    name, settings = said["learner"]["name"], said["learner"]["settings"]
    plain_ = name == "ogd" and settings["domain"] == "ball" and isinstance(settings["loss"], str)
    known = (name in PERCEPTRONS or plain_) and "l1" not in settings and "normalised" not in str(settings["rate"])
    return Descent(name, settings) if known and said["replay"]["layout"] != "mixed" else None


def replayed(done: Claims, said: dict[str, Any], rounds: Rounds, points: Any) -> tuple[list[float], Descent | None]:
    """Every score: played again where the learner is known, as logged otherwise."""
    me, name, logged = learner(said), said["learner"]["name"], points.pop("scores", None)
    if me is not None:
        scores = [me.play(r, y, k, rounds.dense) for r, y, k in zip(rounds.rows, rounds.y, rounds.k, strict=True)]
    elif logged is None:
        raise UsageError(f"{name} is not played again here, and the receipt holds no scores (certify --scores)")
    else:
        scores = logged
        done.open(f"the replay: that {name} gives these scores")
    same_replay(done, said, scores, me, logged)
    return scores, me


def same_replay(done: Claims, said: dict[str, Any], scores: list[float], me: Descent | None, logged: Any) -> None:
    """Scores and final state are those that the receipt has digests of."""
    replay = said["replay"]
    done.true("the scores that were logged", logged is None or floats(logged) == floats(scores))
    if "scores" in replay:
        done.same("the replay: scores", replay["scores"], of_arrays(scores=scores))
    more = said["learner"]["settings"].get("cover") or said["learner"]["settings"].get("calibrate")
    if me is None or more or said["learner"]["name"] not in ("perceptron", "ogd"):
        done.open("the replay: the learner after the last round")
    else:
        done.same("the replay: learner", replay["learner"], of_arrays(z=me.z, total=me.total))


# -- labels that come late ---------------------------------------------------------------------------------------------


class Book:
    """Rounds that wait for their labels, and what became of them; the digests of events and answers."""

    def __init__(self, me: Descent, dense: bool, rules: Mapping[str, Any], default: float | None) -> None:
        self.names = dict[str, int]()  # of features
        self.me, self.dense, self.rules, self.default = me, dense, rules, default
        self.waiting, self.known = dict[Any, dict[str, Any]](), dict[Any, dict[str, Any]]()
        names = (
            "predicted labelled expired defaulted after_expiry revised repeated unknown conflicting delay most_waiting"
        )
        self.counts = dict.fromkeys(names.split(), 0)
        self.chain = self.answers = bytes(32)
        self.rows, self.y, self.k = list[Row](), list[float](), list[float]()  # as they were learned
        self.fresh, self.sizes, self.plays = list[float](), list[float](), dict[int, dict[str, Any]]()

    def predict(self, key: Any, row: Row, k: float) -> None:
        if key in self.waiting or key in self.known:
            self.counts["repeated"] += 1
            return
        while self.rules["expire"] is not None and self.waiting:
            oldest = next(iter(self.waiting))
            if self.counts["predicted"] - self.waiting[oldest]["place"] <= self.rules["expire"]:
                break
            self.end(oldest)
        place, late = self.counts["predicted"], self.me.rate == "late"
        size = k * self.me.loss.lipschitz * math.sqrt(norm2(row[1]) + self.me.one) if late else 0.0
        one = {"place": place, "row": row, "k": k, "size": size}
        said = self.me.predict(row, self.dense)
        self.waiting[key] = {**one, "said": said, "version": self.me.rounds, "ended": ""}
        self.counts["predicted"] += 1
        self.waiting[key]["reach"] = len(self.names)
        self.chained(b"predict", place, k, row)
        self.answers = hashlib.sha256(self.answers + floats([said])).digest()
        if len(self.waiting) > self.rules["pending"]:
            self.end(next(iter(self.waiting)))
        self.counts["most_waiting"] = max(self.counts["most_waiting"], len(self.waiting))

    def label(self, key: Any, y: float) -> None:
        was = self.known.get(key)
        if key in self.waiting:
            self.learn(self.waiting.pop(key), key, y, "labelled")
        elif was is None:
            self.counts["unknown"] += 1
        elif was["ended"] == "expired":
            self.counts["after_expiry"] += 1
            now = {"said": self.me.predict(was["row"], self.dense), "version": self.me.rounds}
            self.learn({**was, **now}, key, y, "labelled")
        elif was["y"] == y:
            self.counts["repeated"] += 1
        elif was["ended"] == "defaulted":
            self.revise(key, y)
        else:
            self.counts["conflicting"] += 1

    def learn(self, one: dict[str, Any], key: Any, y: float, ended: str) -> None:
        self.counts["labelled"] += 1
        self.counts["delay"] += self.me.rounds - one["version"]
        self.plays[len(self.rows)] = {**one, "y": y}
        self.play(one, y, math.fsum(other["size"] for other in self.waiting.values()))
        self.chained(b"label", one["place"], y)
        self.remember(key, {**one, "y": y, "ended": ended, "at": len(self.rows) - 1})

    def play(self, one: dict[str, Any], y: float, outstanding: float = 0.0) -> None:
        self.me.grow(([one["reach"] - 1], [0.0]))  # names that were known when the row came
        self.fresh.append(self.me.play(one["row"], y, one["k"], self.dense, outstanding))
        self.rows.append(one["row"])
        self.y.append(y)
        self.k.append(one["k"])
        self.sizes.append(outstanding)

    def revise(self, key: Any, y: float) -> None:
        was = self.known.get(key)
        if key in self.waiting or was is None or was["ended"] == "expired":
            return self.label(key, y)
        if was["y"] == y:
            self.counts["repeated"] += 1
            return None
        self.play(was, y)
        self.plays[was["at"]]["y"] = y
        self.counts["revised"] += 1
        self.chained(b"revise", was["place"], y)
        self.known[key] = {**was, "y": y, "ended": "labelled"}
        return None

    def expire(self, key: Any) -> None:
        if key in self.waiting:
            self.end(key)
        else:
            self.counts["repeated" if key in self.known else "unknown"] += 1

    def end(self, key: Any) -> None:
        one = self.waiting.pop(key)
        if self.default is not None:
            self.learn(one, key, self.default, "defaulted")
            self.counts["defaulted"] += 1
            return
        self.counts["expired"] += 1
        self.chained(b"expire", one["place"], 0.0)
        self.remember(key, {**one, "ended": "expired"})

    def remember(self, key: Any, one: dict[str, Any]) -> None:
        self.known.pop(key, None)
        self.known[key] = one
        while len(self.known) > self.rules["remembered"]:
            del self.known[next(iter(self.known))]

    def chained(self, what: bytes, place: int, y: float, row: Row | None = None) -> None:
        text = what + struct.pack("<qd", place, y)
        if row is not None:
            kept = sorted((j, x) for j, x in zip(*row, strict=True) if x != 0.0)
            text += struct.pack(f"<q{len(kept)}I", len(kept), *(j for j, _ in kept)) + floats([x for _, x in kept])
        self.chain = hashlib.sha256(self.chain + text).digest()


def late(done: Claims, said: dict[str, Any], paths: Sequence[str]) -> None:
    """The receipt of labels that came late: the predictions, and the learner in the order of the labels."""
    known = "kind version arithmetic checksum how digest predictions figures regret certificates points run"
    for key in lacking(said, known):
        done.open(f"the part {key}")
    inner, how = said["run"], said["how"]
    settings, loss, me = inner["learner"]["settings"], judge(inner), learner(inner)
    prepared = [name for name in ("scale", "unit_norm", "expand", "lags") if settings.get(name)]
    if me is None or prepared or how["arrival"] is not None or how["most"] is not None or len(paths) != 1:
        raise UsageError("late labels are covered for perceptron and ogd, rows as they are, whole logs and --delay")
    numbers, two = loss.name in NUMBERS, inner["learner"]["labels"]
    default = None if how["default_label"] is None else codes([how["default_label"]], two, numbers)[0]
    book, log = Book(me, inner["replay"]["layout"] == "dense", how, default), bytes(32)
    if how["delay"] is None:
        log = events(book, paths[0], two, numbers)
    else:
        delayed(book, paths[0], two, numbers, how)
    done.same("the digest of the events", said["digest"], book.chain.hex())
    done.same("the digest of the predictions", said["predictions"], book.answers.hex())
    rounds = Rounds(book.rows, book.y, book.k, int(me.one), book.dense)
    done.same("the digest of the rows", inner["replay"]["rows"], digest(book.rows, book.y, book.k))
    rounds.features = len(book.names) or rounds.features
    rounds.width = max(rounds.width, len(me.z) + rounds.bias)
    points = {key: unpacked(text) for key, text in inner["points"].items()}
    same_replay(done, inner, book.fresh, me, points.pop("scores", None))
    f = Facts(rounds, book.fresh, me, loss, points)
    one = {"rows": f.T, "passes": 1, "shuffle": None, "class_weight": None, "ended": True, "digest": said["digest"]}
    done.same("the learner's own rounds", inner["segments"], [one])
    own_run(done, inner, f)
    kept = [(t, book.plays[t]) for t in sorted(book.plays)]
    part = Rounds(
        [one["row"] for _, one in kept],
        [one["y"] for _, one in kept],
        [one["k"] for _, one in kept],
        rounds.bias,
        rounds.dense,
    )
    part.width = rounds.width
    plays = Facts(part, [one["said"] for _, one in kept], me, loss, {k: unpacked(v) for k, v in said["points"].items()})
    _late_claims(done, said, f, plays, book, log)


def _late_claims(done: Claims, said: dict[str, Any], f: Facts, plays: Facts, book: Book, log: bytes) -> None:
    """Figures, regret and theorems of the predictions."""
    stale = plays.own - f.own
    mistakes = None if f.loss.name in NUMBERS else len(plays.wrong)
    counts = {**book.counts, "waiting": len(book.waiting), "mistakes": mistakes, "log": log.hex()}
    spans = {"loss": plays.own, "fresh_loss": f.own, "staleness": stale}
    if f.me is not None and f.me.perceptron:
        spans["loss"] = Span(sum(Fraction(plays.k[t]) for t in plays.wrong))
        spans["fresh_loss"] = Span(sum(Fraction(f.k[t]) for t in f.wrong if t in book.plays))
    for key, one in said["figures"].items():
        if key in counts:
            done.same(f"late: {key.replace('_', ' ')}", one, counts[key])
        elif key in spans:
            done.within(f"late: {key.replace('_', ' ')}", one, spans[key])
        else:
            done.open(f"late: the figure {key.replace('_', ' ')}")
    if said["regret"] is not None:
        done.same("late: the rounds of the regret", said["regret"]["rounds"], plays.T)
        regret(done, plays, said["regret"], "the regret of the predictions")
    fresh, U = f.gradient["sum_dot_weights"], Span(f.me.radius if f.me and f.me.radius < INF else 0)
    roots = [Span(one).root for one in f.gradients2] if f.me is not None and f.me.rate == "late" else []
    felt = Span(0)
    for one, two, size in zip(roots, f.gradients2, book.sizes, strict=False):
        felt = felt + two + one * Fraction(size) * 2
    learned = fresh + f.gradient["norm_of_sum"] * U
    found = {
        "late-plays": plays.gradient["sum_dot_weights"] + plays.gradient["norm_of_sum"] * U,
        "late-fresh": learned + stale,
        "late-rate": felt.root * Span(8).root * U * f.allowance(),
    }
    facts = {"no label was revised": book.counts["revised"] == 0, NEEDS["V"][0]: True, NEEDS["Z"][0]: not f.start}
    facts |= {"no label came after its round had expired": book.counts["after_expiry"] == 0}
    facts |= {"rows are played as they come, or at length 1": True}
    values = {"dot_weights": plays.gradient["sum_dot_weights"], "norm_of_sum": plays.gradient["norm_of_sum"]}
    values |= {"learner": learned, "staleness": stale, "sum_c": felt, "radius": U}
    for one in said["certificates"]:
        if one["theorem"] in found and plays.regret is not None:
            judged(done, one, facts, found[one["theorem"]], plays.regret, plays.own, values)
        else:
            done.open(f"the theorem {one['theorem']}")


def events(book: Book, path: str, two: Any, numbers: bool) -> bytes:
    """A log of events, one JSON object a line; the digest of the log as it is written."""
    log, names = bytes(32), book.names
    for place, line in enumerate(written(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except ValueError:
            raise other_format(path, place, line) from None
        if not isinstance(event, dict):
            raise other_format(path, place, line)
        x, y, key = event.get("x"), event.get("y"), event.get("id", f"\0{book.counts['predicted']}")
        code = None if y is None else codes([y], two, numbers)[0]
        if isinstance(x, dict):
            pairs = [(name, float(v)) if not isinstance(v, str) else (f"{name}={v}", 1.0) for name, v in x.items()]
            x = ([names.setdefault(name, len(names)) for name, _ in pairs], [v for _, v in pairs])
        elif x is not None:
            x = (list(range(len(x))), [float(v) for v in x])
        if x is not None:
            book.predict(key, x, float(event.get("w", 1.0)))
        if code is not None:
            (book.revise if event.get("revise") else book.label)(key, code)
            if "id" not in event:
                book.known.pop(key, None)
        if event.get("expire"):
            book.expire(key)
        log = hashlib.sha256(log + compact(event).encode()).digest()
    return log


def delayed(book: Book, path: str, two: Any, numbers: bool, how: Mapping[str, Any]) -> None:
    """A stream whose labels come after a number of further rows."""
    labels, rows, y, _ = svmlight(path, two, numbers)
    weight = {plain(key): float(w) for key, w in (how["class_weight"] or {}).items()}
    coming = list[int]()
    for t, row in enumerate(rows):
        if k := weight.get(plain(labels[t]), 1.0):
            while coming and coming[0] + how["delay"] < t:
                book.label(coming[0], y[coming[0]])
                book.known.pop(coming.pop(0), None)
            book.predict(t, row, k)
            coming.append(t)
    for t in coming:
        book.label(t, y[t])
        book.known.pop(t, None)


def separation(done: Claims, said: dict[str, Any], paths: Sequence[str]) -> None:
    """The proof that rows can be separated by a hyperplane, or that they cannot."""
    if len(paths) != 1:
        raise UsageError("the proof of a separation has one stream")
    how, two = said["preparation"], said["labels"]
    labels, rows, y, _ = svmlight(paths[0], two, False)
    done.same("the digest of the rows", said["digest"], digest(rows, y, [1.0] * len(y)))
    rounds = Rounds(prepared(rows, how), y, [1.0] * len(y), int(how["bias"]), False)
    done.same("rows and features", [said["rows"], said["features"]], [len(rows), rounds.width])
    known = {plain(label) for label in labels} <= {plain(label) for label in two}
    done.true("the two labels", len(two) == 2 and known)
    given = said["weights"]
    values = [int(w, 16) for w in given["whole"]] if "whole" in given else unpacked(given["floats"])
    weights = [Fraction(0)] * len(rows)
    for row, value in zip(given["rows"], values, strict=True):
        done.true("the weights", value >= 0 and 1 <= row <= len(rows) and not weights[row - 1], "one cannot be so")
        weights[row - 1] = Fraction(value)
    total, longest = sum(weights, ZERO), max(rounds.squares, default=ZERO)
    low, high = real(said["radius"]["lower"]), real(said["radius"]["upper"])
    done.true("the longest row", high >= 0 and max(low, ZERO) ** 2 <= longest <= high**2)
    parts = length2(rounds.combined([w * Fraction(a) for w, a in zip(weights, y, strict=True)]).values())
    low, high = real(said["margin"]["lower"]), real(said["margin"]["upper"])
    if said["answer"] == "inseparable":
        done.true("Σ λ·y·x = 0 exactly, for weights that are not all 0", total > 0 and parts == 0)
        done.same("the margin", [low, high, said["mistakes"], said["separator"]], [0, 0, None, None])
        return
    done.true("no margin is larger than the upper end", total > 0 and high >= 0 and parts <= high**2 * total**2)
    if said["answer"] != "separable":
        done.same("nothing is decided", [said["answer"], low, said["mistakes"]], ["undecided", 0, None])
        return
    u = unpacked(said["separator"])
    margin = min(Fraction(a) * z for a, z in zip(y, rounds.dots(u), strict=True))
    done.true("y⟨u,x⟩ > 0 on every row, exactly", margin > 0 and len(u) == rounds.width)
    done.true("the margin of the separator", low > 0 and low**2 * length2(u) <= margin**2)
    bound, most = longest * length2(u) / margin**2, said["mistakes"]["at_most"]
    done.true("mistakes at most ⌊R²/γ²⌋", most is None or math.floor(bound) <= real(most))
    done.true("no separator gives less", real(said["mistakes"]["no_separator_below"]) * parts <= longest * total**2)


def ledger(done: Claims, said: dict[str, Any], paths: Sequence[str]) -> None:
    """The sums of one or of several parts, and what they bound together."""
    loss, given, parts = Loss(said["loss"]), list(paths), said["parts"]
    for place, part in enumerate(parts, 1):
        own = len(part["how"].get("segments", " "))
        sums(done, said, part, loss, given[:own], f"part {place}")
        given = given[own:]
    if given:
        raise UsageError("more streams were given than the receipt speaks of")
    U, ends = real(said["radius"]), [(real(one["paid"]["upper"]), real(one["paid"]["lower"])) for one in parts]
    vectors, errors = [unpacked(one["G"]) for one in parts], [real(one["error"]) for one in parts]
    if not all(map(math.isfinite, [U, *errors, *(end for pair in ends for end in pair)])):
        return done.open("what sums prove that have no end")
    error, width = sum(errors), max(map(len, vectors))
    whole = [sum((Fraction(v[j]) for v in vectors if j < len(v)), ZERO) for j in range(width)]
    norm = Span(length2(whole)).root + error
    each = [Span(length2(v)).root + e for v, e in zip(vectors, errors, strict=True)]
    size = Span(sum(map(abs, whole), ZERO)) + Span(width).root * error
    largest = Span(max(map(abs, whole), default=ZERO) + error)
    P, least = sum(high for high, _ in ends), sum(low for _, low in ends)
    found = {
        "ledger-ball": (norm * U + P, {"norm_of_sum": norm}),
        "ledger-box": (size * U + P, {"norm1_of_sum": size}),
        "ledger-l1": (largest * U + P, {"largest_of_sum": largest}),
        "ledger-correction": (norm * U + max(abs(P), abs(least)), {"norm_of_sum": norm}),
        "ledger-parts": (sum((one * U for one in each), Span(0)) + P, {}),
    }
    facts = {NEEDS["V"][0]: True, "no slope is smaller than the smallest normal float": all(p["sound"] for p in parts)}
    own_loss = Span(sum(real(one["loss"]["upper"]) for one in parts))
    for one in said["certificates"]:
        if one["theorem"] in found:
            bound, values = found[one["theorem"]]
            ceiling = None if any(part["infinite"] for part in parts) else own_loss
            judged(done, one, facts, bound, None, ceiling, {**values, "paid": Span(P), "radius": Span(U)})
        else:
            done.open(f"the theorem {one['theorem']}")


def sums(
    done: Claims, said: dict[str, Any], part: dict[str, Any], loss: Loss, paths: Sequence[str], where: str
) -> None:
    """The six sums of a part, from its rows and scores: a learner's are played again."""
    how = part["how"]
    inner = {"learner": how.get("learner"), "replay": {"layout": "sparse"}}
    me = learner(inner) if how["from"] == "learner" and len(paths) == len(how["segments"]) else None
    alone = all(one["passes"] == 1 and one["shuffle"] is None for one in how.get("segments", ()))
    if me is None or not alone or any(said["prepared"].values()):
        return done.open(f"the sums of {where}, from its rows")
    rows, y, k = list[Row](), list[float](), list[float]()
    for path, segment in zip(paths, how["segments"], strict=True):
        labels, some, code, _ = svmlight(path, how["learner"]["labels"], loss.name in NUMBERS)
        weight, most = {plain(key): float(w) for key, w in (segment["class_weight"] or {}).items()}, segment["rows"]
        rows, y = rows + some[:most], y + code[:most]
        k += [weight.get(plain(label), 1.0) for label in labels[:most]]
    done.same(f"{where}: the digest of the rows", part["rows"], digest(rows, y, k))
    scores = [me.play(r, a, w, False) for r, a, w in zip(rows, y, k, strict=True)]
    done.same(f"{where}: the digest of the scores", part["scores"], hashlib.sha256(floats(scores)).hexdigest())
    f = Facts(Rounds(rows, y, k, int(me.one), False), scores, me, loss, {})
    done.same(f"{where}: rounds", [part["rounds"], part["infinite"], part["sound"]], [f.T, 0, True])
    done.within(f"{where}: the loss", part["loss"], f.own)
    done.within(f"{where}: Σk·s·z", part["paid"], f.gradient["sum_dot_weights"])
    done.above(f"{where}: Σ|k·s·z|", part["sizes"], sum((abs(s * z) for s, z in zip(f.slopes, f.z, strict=True)), ZERO))
    done.above(f"{where}: Σ|k·s|·‖x‖", part["norms"], sum((Span(one).root.hi for one in f.gradients2), ZERO))
    G = f.rounds.combined(f.slopes)
    off = [Fraction(x) - G.get(j, ZERO) for j, x in enumerate(unpacked(part["G"]))]
    done.true(
        f"{where}: G", len(off) == f.rounds.width and length2(off) <= real(part["error"]) ** 2, "it is off by more"
    )
    return None


def watched(done: Claims, said: dict[str, Any], paths: Sequence[str]) -> None:
    """The receipt of a run that was watched: of the run, and of what watched it."""
    run(done, said["run"], paths)
    for name in said["watched"]:
        done.open(f"what is claimed of {name}")


# -- the file ----------------------------------------------------------------------------------------------------------


def checksum(body: dict[str, Any]) -> str:
    """SHA-256 of the content: JSON without spaces, keys sorted."""
    return hashlib.sha256(compact({key: one for key, one in body.items() if key != "checksum"}).encode()).hexdigest()


def compact(said: Any) -> str:
    if isinstance(said, dict):
        return "{" + ",".join(f"{compact(key)}:{compact(said[key])}" for key in sorted(said)) + "}"
    if isinstance(said, list):
        return "[" + ",".join(map(compact, said)) + "]"
    return shortest(said) if isinstance(said, float) else json.dumps(said, ensure_ascii=False)


def shortest(x: float) -> str:
    """The fewest digits that give x again: plain from 10⁻⁵ to below 10¹⁶, else with an exponent."""
    sign, digits, exponent = Decimal(repr(x)).normalize().as_tuple()
    text, point = "".join(map(str, digits)), len(digits) + int(exponent)
    minus = "-" * sign
    if x == 0.0:
        return minus + "0.0"
    if 0 < point <= 16:
        return minus + (text[:point].ljust(point, "0") + "." + (text[point:] or "0"))
    if -5 < point <= 0:
        return minus + "0." + "0" * -point + text
    return minus + text[0] + ("." + text[1:] if len(text) > 1 else "") + f"e{point - 1}"


def check(receipt: str, paths: Sequence[str]) -> Claims:
    """Every claim of a receipt; the first that fails is an error."""
    done = Claims()
    try:
        said = json.loads(Path(receipt).read_text(encoding="utf-8"))
        kind = said["kind"]
    except OSError as error:
        raise UsageError(f"{receipt}: cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{receipt}: is not a receipt ({error})") from None
    if said.get("version") != VERSION or said.get("arithmetic") != ARITHMETIC:
        raise UsageError(f"{receipt}: this file reads version {VERSION} with the arithmetic {ARITHMETIC}")
    done.true("the checksum", said.get("checksum") == checksum(said), "the receipt was damaged or changed")
    if kind not in CHECKS:
        done.open(f"receipts of the kind {kind}")
        return done
    try:
        CHECKS[kind](done, said, paths)
    except (KeyError, ValueError, TypeError, IndexError, AttributeError, ArithmeticError, zlib.error) as error:
        raise FailedError(f"the receipt is damaged ({type(error).__name__}: {error})") from error
    return done


CHECKS: dict[str, Callable[[Claims, dict[str, Any], Sequence[str]], None]] = {
    "run": run,
    "late": late,
    "separation": separation,
    "ledger": ledger,
    "watched": watched,
}


def main(given: Sequence[str]) -> int:
    """The command."""
    paths = [one for one in given if not one.startswith("--")]
    if len(paths) < 2 or set(given) - set(paths) - {"--partial"}:
        print("usage: python noregret_verify.py receipt.json rows.svm [more.svm ...] [--partial]", file=sys.stderr)
        return 2
    try:
        done = check(paths[0], paths[1:])
    except FailedError as error:
        print(f"does not stand: {error}")
        return 1
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    for one in done.uncovered:
        print(f"not covered: {one}")
    print(f"{done.count} claims stand; signatures are not checked")
    return 4 if done.uncovered and "--partial" not in given else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
