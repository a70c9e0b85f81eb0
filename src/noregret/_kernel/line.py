"""A row of a matrix against the weights, spelled as vector instructions: sixteen entries at a time, then fewer.

Left to itself the compiler would choose the order of a sum, and another one in each loop that it stands in.

What is left of a row after its fours is taken as a pair and as one, in the sums as in the updates: what the processor
has just written it can read again at once only in the same pieces.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from noregret._kernel.lanes import (
    FOUR,
    I32,
    I64,
    REAL,
    bytes_at,
    everywhere,
    function,
    load,
    pair,
    picked,
    repeated,
    summed,
    variable,
    wide,
)

ZEROS = ir.Constant(FOUR, [0.0] * 4)
Each = Callable[[Any, int, int], None]  # from which place on, how many entries, in which part of the sum


def dot_line(x: Any, t: Any, z: Any) -> tuple[float, float]:
    """(⟨z, x⟩, ‖x‖²) for row t of a matrix, or for an array of one dimension.

    Each sum is taken in sixteen parts: entry i in part i modulo 16 while there are sixteen more, then in part i modulo
    4 while there are four; a pair that is left goes to the parts 4 and 5, the last one to part 8. A product is not
    rounded before it is added. Neither row nor weights need lie in one piece.
    """
    line = [float(entry) for entry in (x if x.ndim == 1 else x[t])]
    length = len(line)
    sixteens, fours, pairs = length // 16 * 16, length // 4 * 4, length // 2 * 2
    dots, squares = ([0.0] * 16 for _ in range(2))
    for i in range(length):
        part = i % 16 if i < sixteens else i % 4 if i < fours else 4 + i % 2 if i < pairs else 8
        dots[part] = fused(line[i], float(z[i]), dots[part])
        squares[part] = fused(line[i], line[i], squares[part])
    return _together(dots), _together(squares)


def fused(a: float, b: float, c: float) -> float:
    """a·b + c, rounded once."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    (p, q), (r, s), (u, v) = (number.as_integer_ratio() for number in (a, b, c))
    above, below = p * r * v + u * q * s, q * s * v  # whole numbers, whose quotient Python rounds once
    try:
        return above / below
    except OverflowError:
        return math.inf if above > 0 else -math.inf


def _together(parts: list[float]) -> float:
    a, b, c, d = ((parts[i] + parts[i + 4]) + (parts[i + 8] + parts[i + 12]) for i in range(4))
    return (a + c) + (b + d)


def add_line(x: Any, t: Any, c: float, z: Any) -> None:
    """z ← z + c·x for row t of a matrix."""
    for i in range(x.shape[1]):
        z[i] += c * float(x[t, i])


def gather_line(x: Any, t: Any, c: float, z: Any, g: float, total: Any) -> None:
    """z ← z + c·x and total ← total + g·x for row t of a matrix."""
    add_line(x, t, c, z)
    add_line(x, t, g, total)


@dataclass(frozen=True)
class Entries:
    """Numbers of one type, so many bytes apart; None: neighbours."""

    data: Any
    kind: Any
    apart: Any

    def load(self, builder: Any, place: Any, count: int) -> Any:
        """So many from `place` on, as float64."""
        if self.apart is None:
            found = load(builder, self.data, place, self.kind, count)
        else:
            found = ir.Constant(ir.VectorType(self.kind, count), ir.Undefined)
            for lane in range(count):
                offset = builder.mul(builder.add(place, _number(lane)), self.apart)
                where = builder.bitcast(builder.gep(bytes_at(builder, self.data), [offset]), self.data.type)
                found = builder.insert_element(found, builder.load(where, align=1), ir.Constant(I32, lane))
        return wide(builder, found, self.kind, ir.VectorType(REAL, count))


def _row(context: Any, builder: Any, kind: Any, array: Any, t: Any = None) -> tuple[Entries, Any]:
    """Row t of a matrix, or an array of one dimension, and how many entries it has."""
    made = context.make_array(kind)(context, builder, array)
    length, stride = (builder.extract_value(part, kind.ndim - 1) for part in (made.shape, made.strides))
    row = made.data
    if kind.ndim == 2:
        offset = builder.mul(t, builder.extract_value(made.strides, 0))
        row = builder.bitcast(builder.gep(bytes_at(builder, row), [offset]), row.type)
    return Entries(row, context.get_value_type(kind.dtype), None if kind.layout == "C" else stride), length


def _number(count: int) -> Any:
    return ir.Constant(I64, count)


def _pieces(builder: Any, length: Any, each: Each) -> None:
    """All entries of a row in pieces of four, two and one."""
    sixteens = builder.lshr(length, _number(4))
    with repeated(builder, sixteens) as index:
        start = builder.shl(index, _number(4))
        for part in range(4):
            each(builder.add(start, _number(4 * part)), 4, part)
    fours = builder.and_(builder.lshr(length, _number(2)), _number(3))
    with repeated(builder, fours) as index:
        before = builder.shl(sixteens, _number(4))
        each(builder.add(before, builder.shl(index, _number(2))), 4, 0)
    for count, part in ((2, 1), (1, 2)):
        left = builder.and_(length, _number(count))
        with builder.if_then(builder.icmp_signed("!=", left, _number(0))):
            each(builder.and_(length, _number(-2 * count)), count, part)


def _four(builder: Any, some: Any, count: int) -> Any:
    """A vector of four that begins with some numbers and goes on with zeros."""
    if count == 4:
        return some
    return picked(builder, some, ir.Constant(some.type, [0.0] * count), (*range(count), *[count] * (4 - count)))


def _dot(typing: Any, x: Any, t: Any, z: Any) -> Any:
    """`dot_line`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row, length = _row(context, builder, signature.args[0], *arguments[:2])
        weights, _ = _row(context, builder, signature.args[2], arguments[2])
        dots, squares = ([variable(builder, ZEROS) for _ in range(4)] for _ in range(2))

        def add(place: Any, count: int, part: int) -> None:
            found, w = (_four(builder, given.load(builder, place, count), count) for given in (row, weights))
            for totals, factor in ((dots, w), (squares, found)):
                builder.store(_fused(builder, found, factor, builder.load(totals[part])), totals[part])

        _pieces(builder, length, add)
        sums = summed(builder, *(_four_sums(builder, totals) for totals in (dots, squares)))
        return context.make_tuple(builder, signature.return_type, sums)

    return pair(x, types.int64, z), generate


def _fused(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """a·b + c, rounded once."""
    return builder.call(function(builder.module, ir.FunctionType(FOUR, [FOUR] * 3), "llvm.fma.v4f64"), [a, b, c])


def _four_sums(builder: Any, totals: list[Any]) -> Any:
    a, b, c, d = (builder.load(total) for total in totals)
    return builder.fadd(builder.fadd(a, b), builder.fadd(c, d))


def _added(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """The arguments after x and t are factors, each followed by the array that so many times x is added to."""
    row, length = _row(context, builder, signature.args[0], *arguments[:2])
    factors = arguments[2::2]
    sums = [
        context.make_array(of)(context, builder, array).data
        for of, array in zip(signature.args[3::2], arguments[3::2], strict=True)
    ]

    def add(place: Any, count: int, part: int) -> None:
        found = row.load(builder, place, count)
        for factor, data in zip(factors, sums, strict=True):
            old = load(builder, data, place, REAL, count)
            new = builder.fadd(old, builder.fmul(everywhere(builder, factor, count), found))
            builder.store(new, builder.bitcast(builder.gep(data, [place]), new.type.as_pointer()), align=8)

    _pieces(builder, length, add)
    return context.get_dummy_value()


def _add(typing: Any, x: Any, t: Any, c: Any, z: Any) -> Any:
    """`add_line`."""
    return types.none(x, types.int64, types.float64, z), _added


def _gather(typing: Any, x: Any, t: Any, c: Any, z: Any, g: Any, total: Any) -> Any:
    """`gather_line`."""
    return types.none(x, types.int64, types.float64, z, types.float64, total), _added


_dot_line: Any = intrinsic(_dot)
_add_line: Any = intrinsic(_add)
_gather_line: Any = intrinsic(_gather)


@overload(dot_line, strict=False, inline="always")
def _overloaded_dot(x: Any, t: Any, z: Any) -> Callable[..., Any]:
    return lambda x, t, z: _dot_line(x, t, z)


@overload(add_line, strict=False, inline="always")
def _overloaded_add(x: Any, t: Any, c: Any, z: Any) -> Callable[..., Any]:
    return lambda x, t, c, z: _add_line(x, t, c, z)


@overload(gather_line, strict=False, inline="always")
def _overloaded_gather(x: Any, t: Any, c: Any, z: Any, g: Any, total: Any) -> Callable[..., Any]:
    return lambda x, t, c, z, g, total: _gather_line(x, t, c, z, g, total)
