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
LINE = 64  # bytes that come from memory together
AHEAD = 2048  # so many bytes ahead is a matrix asked for
# Sparse rows are asked for twice, so many entries ahead, for the processor itself stops at the end of a page: far ahead
# into the second cache, then into the first, which waits for few lines at a time and has the weights to bring.
FAR, NEAR = 640, 128
_tuple: Any = types.UniTuple
_variable: Any = cgutils.alloca_once_value
_function: Any = cgutils.get_or_insert_function


def _typed(typing: Any, indices: Any, values: Any, start: Any, stop: Any, z: Any) -> Any:
    """`dot_row` as a call of a function made for these types, which has all the registers to itself."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        features, entries, weights = (
            context.make_array(signature.args[i])(context, builder, arguments[i]) for i in (0, 1, 4)
        )
        dense = signature.args[4].layout == "C"
        function = _dot_function(context, builder.module, signature.args[1].dtype, dense)
        room, stride = (builder.extract_value(part, 0) for part in (weights.shape, weights.strides))
        shift = builder.cttz(stride, ir.Constant(ir.IntType(1), 1))
        fits = builder.icmp_signed("==", stride, builder.shl(ir.Constant(I64, 1), shift))
        room = builder.select(fits, room, ir.Constant(I64, 0))  # no feature has room where a shift would go astray
        row = [builder.gep(array.data, [arguments[2]]) for array in (features, entries)]
        given = [*row, builder.sub(arguments[3], arguments[2]), weights.data, room, shift]
        found = builder.call(function, given[: len(function.args)])
        parts = [builder.extract_value(found, i) for i in (0, 1)]
        return context.make_tuple(builder, signature.return_type, parts)

    return _tuple(types.float64, 2)(indices, values, types.int64, types.int64, z), generate


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
    dots, squares = (_variable(builder, ir.Constant(FOUR, [0.0] * 4)) for _ in range(2))

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
        x = _wide(builder, _load(builder, entries, place, entry, 4), entry)
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
    sums = [_variable(builder, total) for total in _sums(builder, builder.load(dots), builder.load(squares))]
    with (
        builder.if_then(builder.not_(_from(builder, length, 4)), likely=False),  # a row shorter than four
        cgutils.for_range(builder, length, intp=I64) as loop,
    ):
        i = feature(loop.index)
        x = _wide(builder, builder.load(builder.gep(entries, [loop.index])), entry, REAL)
        for total, factor in zip(sums, (weight_of(i), x), strict=True):
            builder.store(builder.fadd(builder.load(total), builder.fmul(x, factor)), total)
    _answer(builder, [builder.load(total) for total in sums])
    return made


def _answer(builder: Any, parts: list[Any]) -> None:
    """Return both."""
    pair = ir.Constant(ir.LiteralStructType([REAL, REAL]), ir.Undefined)
    for place, part in enumerate(parts):
        pair = builder.insert_value(pair, part, place)
    builder.ret(pair)


def _from(builder: Any, length: Any, least: int) -> Any:
    return builder.icmp_signed(">=", length, ir.Constant(I64, least))


def _load(builder: Any, pointer: Any, place: Any, kind: Any, count: int) -> Any:
    """So many neighbours from `place` on."""
    found = builder.load(builder.bitcast(builder.gep(pointer, [place]), ir.VectorType(kind, count).as_pointer()))
    found.align = 8 if kind == REAL else 4
    return found


def _wide(builder: Any, x: Any, kind: Any, wanted: Any = FOUR) -> Any:
    """As float64."""
    return x if kind == REAL else builder.fpext(x, wanted)


def _address(builder: Any, data: Any, shift: Any, i: Any) -> Any:
    """Where element i of an array lies whose elements are 2^shift bytes apart; without a shift they are neighbours."""
    if shift is None:
        return builder.gep(data, [i])
    moved = builder.gep(builder.bitcast(data, I8.as_pointer()), [builder.shl(i, shift)])
    return builder.bitcast(moved, data.type)


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """Four vectors of four, rows for columns."""

    even, odd = (0, 4, 2, 6), (1, 5, 3, 7)
    pairs = [_picked(builder, a, b, lanes) for a, b in (rows[:2], rows[2:]) for lanes in (even, odd)]
    low, high = (0, 1, 4, 5), (2, 3, 6, 7)
    return [_picked(builder, pairs[i], pairs[i + 2], lanes) for lanes in (low, high) for i in (0, 1)]


def _picked(builder: Any, a: Any, b: Any, lanes: tuple[int, ...]) -> Any:
    """Four lanes of two vectors, those of the second counted from 4."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(I32, 4), list(lanes)))


def _everywhere(builder: Any, one: Any, kind: Any = REAL) -> Any:
    """A number four times."""
    none = ir.Constant(ir.VectorType(kind, 4), ir.Undefined)
    first = builder.insert_element(none, one, ir.Constant(I32, 0))
    return builder.shuffle_vector(first, none, ir.Constant(ir.VectorType(I32, 4), [0] * 4))


def _sums(builder: Any, a: Any, b: Any) -> list[Any]:
    """(a₀ + a₂) + (a₁ + a₃), and the same of b."""
    low, high = (_picked(builder, a, b, lanes) for lanes in ((0, 1, 4, 5), (2, 3, 6, 7)))
    halves = builder.fadd(low, high)
    both = builder.fadd(halves, _picked(builder, halves, halves, (1, 0, 3, 2)))
    return [builder.extract_element(both, ir.Constant(I32, lane)) for lane in (0, 2)]


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


def dot_line(x: Any, t: Any, z: Any) -> tuple[float, float]:
    """(⟨z, x⟩, ‖x‖²) for row t of a matrix, or for an array of one dimension.

    Each sum is taken in sixteen parts: entry i in part i modulo 16 while there are sixteen more, then in part i modulo
    4; up to three that are left at the end go to the last of the second four. A row shorter than four is summed as it
    comes. A product is not rounded before it is added.
    """
    line = [float(entry) for entry in (x if x.ndim == 1 else x[t])]
    length = len(line)
    sixteens, fours = length // 16 * 16, length // 4 * 4
    parts = [i % 16 if i < sixteens else i % 4 if i < fours else i + 8 - length for i in range(length)]
    dots, squares = ([0.0] * 16 for _ in range(2))
    for i, part in enumerate(parts):
        place = part if fours else 0
        dots[place] = fused(line[i], float(z[i]), dots[place])
        squares[place] = fused(line[i], line[i], squares[place])
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


def _line(typing: Any, x: Any, t: Any, z: Any) -> Any:
    """`dot_line`: sixteen entries at a time, then four, then the rest, in the last lanes of the last four."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        matrix, weights = (context.make_array(signature.args[i])(context, builder, arguments[i]) for i in (0, 2))
        kind = context.get_value_type(signature.args[0].dtype)
        size = context.get_abi_sizeof(kind)
        length = builder.extract_value(matrix.shape, signature.args[0].ndim - 1)
        row = matrix.data
        if signature.args[0].ndim == 2:
            row = builder.gep(row, [builder.mul(arguments[1], length)])
        zeros = ir.Constant(FOUR, [0.0] * 4)
        dots, squares = ([_variable(builder, zeros) for _ in range(4)] for _ in range(2))

        def add(place: Any, part: int, kept: Any = None) -> None:
            found = _wide(builder, _load(builder, row, place, kind, 4), kind)
            if kept is not None:
                found = builder.select(kept, found, zeros)
            w = _load(builder, weights.data, place, REAL, 4)
            for totals, factor in ((dots, w), (squares, found)):
                builder.store(_fused(builder, found, factor, builder.load(totals[part])), totals[part])

        sixteens = builder.lshr(length, ir.Constant(I64, 4))
        with cgutils.for_range(builder, sixteens, intp=I64) as loop:
            start = builder.shl(loop.index, ir.Constant(I64, 4))
            for line in range(0, 16, LINE // size):
                _fetch(builder, row, builder.add(start, ir.Constant(I64, AHEAD // size + line)))
            for part in range(4):
                add(builder.add(start, ir.Constant(I64, 4 * part)), part)
        fours = builder.and_(builder.lshr(length, ir.Constant(I64, 2)), ir.Constant(I64, 3))
        with cgutils.for_range(builder, fours, intp=I64) as loop:
            before = builder.shl(sixteens, ir.Constant(I64, 4))
            add(builder.add(before, builder.shl(loop.index, ir.Constant(I64, 2))), 0)
        rest = builder.and_(length, ir.Constant(I64, 3))
        some = builder.icmp_signed(">", rest, ir.Constant(I64, 0))
        with builder.if_then(builder.and_(some, _from(builder, length, 4))):
            add(builder.sub(length, ir.Constant(I64, 4)), 1, _last_lanes(builder, rest))
        fours_of = (_four_sums(builder, totals) for totals in (dots, squares))
        sums = [_variable(builder, total) for total in _sums(builder, *fours_of)]
        with (
            builder.if_then(builder.not_(_from(builder, length, 4)), likely=False),
            cgutils.for_range(builder, length, intp=I64) as loop,
        ):
            found = _wide(builder, builder.load(builder.gep(row, [loop.index])), kind, REAL)
            for total, factor in zip(sums, (builder.load(builder.gep(weights.data, [loop.index])), found), strict=True):
                builder.store(_fused(builder, found, factor, builder.load(total)), total)
        return context.make_tuple(builder, signature.return_type, [builder.load(total) for total in sums])

    return _tuple(types.float64, 2)(x, types.int64, z), generate


def _fetch(builder: Any, data: Any, place: Any, near: bool = True) -> Any:
    """Ask for the line of memory that holds an entry, which may lie beyond the array's end: nothing is read yet.

    It is brought into the first cache if it is to be `near`, else into the second.
    """
    name, given = "llvm.prefetch.p0", [I8.as_pointer(), I32, I32, I32]
    function = _function(builder.module, ir.FunctionType(ir.VoidType(), given), name)
    pointer = builder.bitcast(builder.gep(data, [place]), I8.as_pointer())
    choices = (0, 3 if near else 2, 1)  # to read, how soon, data
    builder.call(function, [pointer, *(ir.Constant(I32, choice) for choice in choices)])


def _fused(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """a·b + c, rounded once."""
    name = "llvm.fma.f64" if a.type == REAL else "llvm.fma.v4f64"
    return builder.call(_function(builder.module, ir.FunctionType(a.type, [a.type] * 3), name), [a, b, c])


def _four_sums(builder: Any, totals: list[Any]) -> Any:
    a, b, c, d = (builder.load(total) for total in totals)
    return builder.fadd(builder.fadd(a, b), builder.fadd(c, d))


def _last_lanes(builder: Any, count: Any) -> Any:
    """Which of four lanes are the last `count`."""
    lanes = ir.Constant(ir.VectorType(I64, 4), [0, 1, 2, 3])
    return builder.icmp_signed(">=", lanes, _everywhere(builder, builder.sub(ir.Constant(I64, 4), count), I64))


_dot_line: Any = intrinsic(_line)


@overload(dot_line, strict=False, inline="always")
def _overloaded_line(x: Any, t: Any, z: Any) -> Callable[..., Any]:
    return lambda x, t, z: _dot_line(x, t, z)


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
            x = _wide(builder, _load(builder, entries.data, start, kind, 4), kind)
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
