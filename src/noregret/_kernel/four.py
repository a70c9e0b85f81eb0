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

I8, I32, I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
REAL = ir.DoubleType()
FOUR = ir.VectorType(REAL, 4)
_tuple: Any = types.UniTuple
_variable: Any = cgutils.alloca_once_value
_function: Any = cgutils.get_or_insert_function


def _typed(typing: Any, indices: Any, values: Any, first: Any, fours: Any, z: Any) -> Any:
    """The loop of `dot_fours`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        given = [context.make_array(signature.args[i])(context, builder, arguments[i]) for i in (0, 1, 4)]
        features, entries, weights = given
        room = builder.extract_value(weights.shape, 0)
        dots, squares = (_variable(builder, ir.Constant(FOUR, [0.0] * 4)) for _ in range(2))
        outside = _variable(builder, ir.Constant(REAL, 0.0))
        with cgutils.for_range(builder, arguments[3], intp=I64) as loop:
            start = builder.add(arguments[2], builder.shl(loop.index, ir.Constant(I64, 2)))
            places = [builder.add(start, ir.Constant(I64, i)) for i in range(4)]
            picked = [builder.zext(builder.load(builder.gep(features.data, [place])), I64) for place in places]
            for i in picked:
                with builder.if_then(builder.icmp_unsigned(">=", i, room), likely=False):
                    builder.store(ir.Constant(REAL, math.nan), outside)
                    loop.do_break()
            x = _values(context, builder, signature, entries, start)
            w = ir.Constant(FOUR, ir.Undefined)
            for lane, i in enumerate(picked):
                weight = builder.load(_address(builder, weights, signature.args[4].layout, i))
                w = builder.insert_element(w, weight, ir.Constant(I32, lane))
            for total, factor in ((dots, w), (squares, x)):
                builder.store(builder.fadd(builder.load(total), builder.fmul(x, factor)), total)
        found = [builder.fadd(_sum(builder, builder.load(total)), builder.load(outside)) for total in (dots, squares)]
        return context.make_tuple(builder, signature.return_type, found)

    return _tuple(types.float64, 2)(indices, values, first, fours, z), generate


def _address(builder: Any, array: Any, layout: str, i: Any) -> Any:
    """Where element i of an array of one dimension lies."""
    if layout == "C":
        return builder.gep(array.data, [i])
    offset = builder.mul(i, builder.extract_value(array.strides, 0))
    return builder.bitcast(builder.gep(builder.bitcast(array.data, I8.as_pointer()), [offset]), array.data.type)


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """Four vectors of four, rows for columns."""

    def picked(a: Any, b: Any, lanes: tuple[int, ...]) -> Any:
        return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(I32, 4), list(lanes)))

    even, odd = (0, 4, 2, 6), (1, 5, 3, 7)
    pairs = [picked(a, b, lanes) for a, b in (rows[:2], rows[2:]) for lanes in (even, odd)]
    low, high = (0, 1, 4, 5), (2, 3, 6, 7)
    return [picked(pairs[i], pairs[i + 2], lanes) for lanes in (low, high) for i in (0, 1)]


def _everywhere(builder: Any, real: Any) -> Any:
    """A number four times."""
    one = builder.insert_element(ir.Constant(FOUR, ir.Undefined), real, ir.Constant(I32, 0))
    return builder.shuffle_vector(one, ir.Constant(FOUR, ir.Undefined), ir.Constant(ir.VectorType(I32, 4), [0] * 4))


def _values(context: Any, builder: Any, signature: Any, entries: Any, start: Any) -> Any:
    """Four values of a row from `start` on, as float64."""
    given_type = context.get_value_type(signature.args[1].dtype)
    pointer = builder.bitcast(builder.gep(entries.data, [start]), ir.VectorType(given_type, 4).as_pointer())
    x = builder.load(pointer)
    x.align = context.get_abi_sizeof(given_type)
    return x if given_type == REAL else builder.fpext(x, FOUR)


def _sum(builder: Any, four: Any) -> Any:
    """(a₀ + a₂) + (a₁ + a₃)."""
    a = [builder.extract_element(four, ir.Constant(I32, lane)) for lane in range(4)]
    return builder.fadd(builder.fadd(a[0], a[2]), builder.fadd(a[1], a[3]))


def dot_fours(indices: Any, values: Any, first: Any, fours: Any, z: Any) -> tuple[float, float]:
    """(⟨z, x⟩, ‖x‖²) over 4·fours entries from `first` on, each sum in four parts; NaN if z has no room for one."""
    dots, squares = [0.0] * 4, [0.0] * 4
    for k in range(int(first), int(first) + 4 * int(fours)):
        if indices[k] >= z.shape[0]:
            return math.nan, math.nan
        lane = (k - int(first)) % 4
        dots[lane] += float(values[k]) * z[indices[k]]
        squares[lane] += float(values[k]) * float(values[k])
    return (dots[0] + dots[2]) + (dots[1] + dots[3]), (squares[0] + squares[2]) + (squares[1] + squares[3])


_dot_fours: Any = intrinsic(_typed)


@overload(dot_fours, strict=False, inline="always")
def _overloaded(indices: Any, values: Any, first: Any, fours: Any, z: Any) -> Callable[..., Any]:
    return lambda indices, values, first, fours, z: _dot_fours(indices, values, first, fours, z)


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
        slope, rate, limit = (_everywhere(builder, argument) for argument in arguments[5:])
        lowest, zero = builder.fneg(limit), ir.Constant(FOUR, [0.0] * 4)
        root_of = _function(builder.module, ir.FunctionType(FOUR, [FOUR]), "llvm.sqrt.v4f64")
        with cgutils.for_range(builder, arguments[3], intp=I64) as loop:
            start = builder.add(arguments[2], builder.shl(loop.index, ir.Constant(I64, 2)))
            pointers = []
            for lane in range(4):
                place = builder.gep(features.data, [builder.add(start, ir.Constant(I64, lane))])
                offset = builder.shl(builder.zext(builder.load(place), I64), ir.Constant(I64, 2))
                pointers.append(builder.bitcast(builder.gep(rows.data, [offset]), FOUR.as_pointer()))
            w, squares, total, other = _transposed(builder, [builder.load(p, align=8) for p in pointers])
            part = builder.fmul(slope, _values(context, builder, signature, entries, start))
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
