"""Four entries of a sparse row at a time, spelled as vector instructions: the compiler does not find them by itself.

The weights are read one by one where the indices say, so that the processor waits for many of them at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from noregret._kernel.lanes import (
    FOUR,
    I8,
    I32,
    I64,
    REAL,
    bytes_at,
    everywhere,
    function,
    load,
    pair,
    picked,
    summed,
    variable,
    wide,
)

# Sparse rows are asked for twice, so many entries ahead, for the processor itself stops at the end of a page: far ahead
# into the second cache, then into the first, which waits for few lines at a time and has the weights to bring.
FAR, NEAR = 640, 128


def _typed(typing: Any, indices: Any, values: Any, start: Any, stop: Any, z: Any) -> Any:
    """`dot_row` as a call of a function made for these types, which has all the registers to itself."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        features, entries, weights = (
            context.make_array(signature.args[i])(context, builder, arguments[i]) for i in (0, 1, 4)
        )
        dense = signature.args[4].layout == "C"
        made = _dot_function(context, builder.module, signature.args[1].dtype, dense)
        room, stride = (builder.extract_value(part, 0) for part in (weights.shape, weights.strides))
        shift = builder.cttz(stride, ir.Constant(ir.IntType(1), 1))
        fits = builder.icmp_signed("==", stride, builder.shl(ir.Constant(I64, 1), shift))
        room = builder.select(fits, room, ir.Constant(I64, 0))  # no feature has room where a shift would go astray
        row = [builder.gep(array.data, [arguments[2]]) for array in (features, entries)]
        given = [*row, builder.sub(arguments[3], arguments[2]), weights.data, room, shift]
        found = builder.call(made, given[: len(made.args)])
        parts = [builder.extract_value(found, i) for i in (0, 1)]
        return context.make_tuple(builder, signature.return_type, parts)

    return pair(indices, values, types.int64, types.int64, z), generate


def _dot_function(context: Any, module: Any, kind: Any, dense: bool) -> Any:
    """The function of `dot_row` in a module: (features, values, length, z, room[, shift]) → (dot, square)."""
    name = f"noregret.dot.{kind}.{'dense' if dense else 'strided'}"
    if name in module.globals:
        return module.globals[name]
    pointer, entry = I32.as_pointer(), context.get_value_type(kind)
    given = [pointer, entry.as_pointer(), I64, REAL.as_pointer(), I64, *([] if dense else [I64])]
    made = ir.Function(module, ir.FunctionType(ir.LiteralStructType([REAL, REAL]), given), name)
    made.linkage = "internal"
    made.attributes.add("noinline")
    builder = ir.IRBuilder(made.append_basic_block())
    features, entries, length, z, room = made.args[:5]
    shift = None if dense else made.args[5]
    dots, squares = (variable(builder, ir.Constant(FOUR, [0.0] * 4)) for _ in range(2))

    def feature(place: Any) -> Any:
        """The feature of an entry, which z has room for, or else the answer is NaN."""
        i = builder.zext(builder.load(builder.gep(features, [place])), I64)
        with builder.if_then(builder.icmp_signed(">=", i, room), likely=False):
            _answer(builder, [ir.Constant(REAL, math.nan)] * 2)
        return i

    def weight_of(i: Any) -> Any:
        return builder.load(_address(builder, z, shift, i))

    def add(place: Any, kept: Any = None) -> None:
        """Four entries from `place` on, or those of them that are kept."""
        picked = [feature(builder.add(place, ir.Constant(I64, lane))) for lane in range(4)]
        x = wide(builder, load(builder, entries, place, entry, 4), entry)
        if kept is not None:
            x = builder.select(kept, x, ir.Constant(FOUR, [0.0] * 4))
        w = ir.Constant(FOUR, ir.Undefined)
        for lane, i in enumerate(picked):
            w = builder.insert_element(w, weight_of(i), ir.Constant(I32, lane))
        for total, factor in ((dots, w), (squares, x)):
            builder.store(builder.fadd(builder.load(total), builder.fmul(x, factor)), total)

    with cgutils.for_range(builder, builder.ashr(length, ir.Constant(I64, 2)), intp=I64) as loop:
        place = builder.shl(loop.index, ir.Constant(I64, 2))
        for ahead, near in ((FAR, False), (NEAR, True)):
            for data in (features, entries):
                _fetch(builder, data, builder.add(place, ir.Constant(I64, ahead)), near)
        add(place)
    rest = builder.and_(length, ir.Constant(I64, 3))
    with builder.if_then(builder.and_(builder.icmp_signed(">", rest, ir.Constant(I64, 0)), _from(builder, length, 4))):
        add(builder.sub(length, ir.Constant(I64, 4)), _last_lanes(builder, rest))
    sums = [variable(builder, total) for total in summed(builder, builder.load(dots), builder.load(squares))]
    with (
        builder.if_then(builder.not_(_from(builder, length, 4)), likely=False),  # a row shorter than four
        cgutils.for_range(builder, length, intp=I64) as loop,
    ):
        i = feature(loop.index)
        x = wide(builder, builder.load(builder.gep(entries, [loop.index])), entry, REAL)
        for total, factor in zip(sums, (weight_of(i), x), strict=True):
            builder.store(builder.fadd(builder.load(total), builder.fmul(x, factor)), total)
    _answer(builder, [builder.load(total) for total in sums])
    return made


def _fetch(builder: Any, data: Any, place: Any, near: bool) -> Any:
    """Ask for the line of memory that holds an entry, which may lie beyond the array's end: nothing is read yet.

    It is brought into the first cache if it is to be `near`, else into the second.
    """
    given = [I8.as_pointer(), I32, I32, I32]
    asked = function(builder.module, ir.FunctionType(ir.VoidType(), given), "llvm.prefetch.p0")
    pointer = bytes_at(builder, builder.gep(data, [place]))
    choices = (0, 3 if near else 2, 1)  # to read, how soon, data
    builder.call(asked, [pointer, *(ir.Constant(I32, choice) for choice in choices)])


def _answer(builder: Any, parts: list[Any]) -> None:
    """Return both."""
    pair = ir.Constant(ir.LiteralStructType([REAL, REAL]), ir.Undefined)
    for place, part in enumerate(parts):
        pair = builder.insert_value(pair, part, place)
    builder.ret(pair)


def _from(builder: Any, length: Any, least: int) -> Any:
    return builder.icmp_signed(">=", length, ir.Constant(I64, least))


def _address(builder: Any, data: Any, shift: Any, i: Any) -> Any:
    """Where element i of an array lies whose elements are 2^shift bytes apart; without a shift they are neighbours."""
    if shift is None:
        return builder.gep(data, [i])
    moved = builder.gep(bytes_at(builder, data), [builder.shl(i, shift)])
    return builder.bitcast(moved, data.type)


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """Four vectors of four, rows for columns."""

    even, odd = (0, 4, 2, 6), (1, 5, 3, 7)
    pairs = [picked(builder, a, b, lanes) for a, b in (rows[:2], rows[2:]) for lanes in (even, odd)]
    low, high = (0, 1, 4, 5), (2, 3, 6, 7)
    return [picked(builder, pairs[i], pairs[i + 2], lanes) for lanes in (low, high) for i in (0, 1)]


def dot_row(indices: Any, values: Any, start: Any, stop: Any, z: Any) -> tuple[float, float]:
    """(⟨z, x⟩, ‖x‖²) for the entries start..stop of a sparse row; NaN both if z has no room for a feature.

    Each sum is taken in four parts, entry k in part k modulo 4; up to three that are left at the end go to the last
    parts. A row shorter than four is summed as it comes. The elements of z must lie 2ᵏ bytes apart; if they do not, z
    has no room for any feature.
    """
    row, x = indices[start:stop], [float(value) for value in values[start:stop]]
    room = z.shape[0] if z.strides[0].bit_count() == 1 else 0
    if any(i >= room for i in row):
        return math.nan, math.nan
    whole = len(x) // 4 * 4
    parts = list(range(len(x))) if whole == 0 else [k % 4 if k < whole else k + 4 - len(x) for k in range(len(x))]
    dots, squares = ([0.0] * 4 for _ in range(2))
    for k, part in enumerate(parts):
        place = part if whole else 0
        dots[place] += x[k] * float(z[row[k]])
        squares[place] += x[k] * x[k]
    return (dots[0] + dots[2]) + (dots[1] + dots[3]), (squares[0] + squares[2]) + (squares[1] + squares[3])


_dot_row: Any = intrinsic(_typed)


@overload(dot_row, strict=False, inline="always")
def _overloaded(indices: Any, values: Any, start: Any, stop: Any, z: Any) -> Callable[..., Any]:
    if indices.layout != "C" or values.layout != "C":  # entries that are no neighbours: a row that cannot be played
        return lambda indices, values, start, stop, z: (math.nan, math.nan)
    return lambda indices, values, start, stop, z: _dot_row(indices, values, start, stop, z)


def _last_lanes(builder: Any, count: Any) -> Any:
    """Which of four lanes are the last `count`."""
    lanes = ir.Constant(ir.VectorType(I64, 4), [0, 1, 2, 3])
    return builder.icmp_signed(">=", lanes, everywhere(builder, builder.sub(ir.Constant(I64, 4), count)))


def adagrad_fours(
    indices: Any, values: Any, first: Any, fours: Any, table: Any, g: float, eta: float, radius: float
) -> None:
    """AdaGrad's step of 4·fours coordinates from `first` on, all of them different; table[i] = (w, Σg², Σg, other)."""
    for k in range(int(first), int(first) + 4 * int(fours)):
        row, part = table[indices[k]], g * float(values[k])
        row[1] += part * part
        row[2] += part
        root = math.sqrt(row[1])
        w = row[0] - (eta * part / root if root > 0.0 else 0.0)
        row[0] = min(max(w, -radius), radius)


def _adagrad(
    typing: Any, indices: Any, values: Any, first: Any, fours: Any, table: Any, g: Any, eta: Any, radius: Any
) -> Any:
    """The loop of `adagrad_fours`: roots and quotients of four coordinates at once."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        features, entries, rows = (
            context.make_array(signature.args[i])(context, builder, arguments[i]) for i in (0, 1, 4)
        )
        kind = context.get_value_type(signature.args[1].dtype)
        slope, rate, limit = (everywhere(builder, argument) for argument in arguments[5:])
        lowest, zero = builder.fneg(limit), ir.Constant(FOUR, [0.0] * 4)
        root_of = function(builder.module, ir.FunctionType(FOUR, [FOUR]), "llvm.sqrt.v4f64")
        with cgutils.for_range(builder, arguments[3], intp=I64) as loop:
            start = builder.add(arguments[2], builder.shl(loop.index, ir.Constant(I64, 2)))
            pointers = []
            for lane in range(4):
                place = builder.gep(features.data, [builder.add(start, ir.Constant(I64, lane))])
                offset = builder.shl(builder.zext(builder.load(place), I64), ir.Constant(I64, 2))
                pointers.append(builder.bitcast(builder.gep(rows.data, [offset]), FOUR.as_pointer()))
            w, squares, total, other = _transposed(builder, [builder.load(p, align=8) for p in pointers])
            x = wide(builder, load(builder, entries.data, start, kind, 4), kind)
            part = builder.fmul(slope, x)
            squares = builder.fadd(squares, builder.fmul(part, part))
            total = builder.fadd(total, part)
            root = builder.call(root_of, [squares])
            step = builder.fdiv(builder.fmul(rate, part), root)
            step = builder.select(builder.fcmp_ordered(">", root, zero), step, zero)
            w = builder.fsub(w, step)
            w = builder.select(builder.fcmp_ordered("<", w, lowest), lowest, w)
            w = builder.select(builder.fcmp_ordered(">", w, limit), limit, w)
            for pointer, row in zip(pointers, _transposed(builder, [w, squares, total, other]), strict=True):
                builder.store(row, pointer, align=8)
        return context.get_dummy_value()

    return types.none(indices, values, first, fours, table, g, eta, radius), generate


_adagrad_fours: Any = intrinsic(_adagrad)


@overload(adagrad_fours, strict=False, inline="always")
def _overloaded_adagrad(
    indices: Any, values: Any, first: Any, fours: Any, table: Any, g: Any, eta: Any, radius: Any
) -> Callable[..., Any]:
    return lambda indices, values, first, fours, table, g, eta, radius: _adagrad_fours(
        indices, values, first, fours, table, g, eta, radius
    )
