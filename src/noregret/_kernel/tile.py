"""Four rows against eight others at once: Σ x·z, Σ (x − z)² or Σ |x − z|, every sum in the order of the features.

The eight lie lane beside lane in memory, so that one vector instruction serves four of them; the 32 sums stay in
registers. Each is taken feature after feature, multiplied, then added, just as a plain loop takes it: a sum's bits
depend on its two rows alone, not on what is computed beside it, nor on the machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

LANES = 8  # rows side by side in a panel
ROWS = 4  # rows that a tile takes at once
DOT, SQUARE, ABSOLUTE = 0, 1, 2

I32 = ir.IntType(32)
FOUR = ir.VectorType(ir.DoubleType(), 4)


def _dot(builder: Any, x: Any, z: Any) -> Any:
    return builder.fmul(x, z)


def _square(builder: Any, x: Any, z: Any) -> Any:
    gap = builder.fsub(x, z)
    return builder.fmul(gap, gap)


def _absolute(builder: Any, x: Any, z: Any) -> Any:
    name = "llvm.fabs.v4f64"
    function = builder.module.globals.get(name) or ir.Function(builder.module, ir.FunctionType(FOUR, [FOUR]), name)
    return builder.call(function, [builder.fsub(x, z)])


def _tile(term: Callable[..., Any]) -> Any:
    """The compiled tile whose sums have this term."""

    def typed(
        typing: Any, panels: Any, at: Any, rows: Any, row: Any, apart: Any, out: Any, to: Any, step: Any, count: Any
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            z, x, c = (context.make_array(signature.args[k])(context, builder, arguments[k]).data for k in (0, 2, 5))
            at, row, apart, to, step, count = (arguments[k] for k in (1, 3, 4, 6, 7, 8))
            size = at.type
            lines = [builder.gep(x, [builder.add(row, builder.mul(apart, size(r)))]) for r in range(ROWS)]
            starts = [builder.add(to, builder.mul(step, size(r))) for r in range(ROWS)]
            places = [builder.gep(c, [builder.add(start, size(half))]) for start in starts for half in (0, 4)]
            sums = _sums(builder, term, builder.gep(z, [at]), lines, places, count)
            for place, total in zip(places, sums, strict=True):
                _store(builder, total, place)
            return context.get_dummy_value()

        return types.void(panels, at, rows, row, apart, out, to, step, count), generate

    return intrinsic(typed)


def _sums(builder: Any, term: Callable[..., Any], panel: Any, lines: list[Any], places: list[Any], count: Any) -> Any:
    """The loop over the features, at least one; two vectors of sums a row go on from what they are."""
    size = count.type
    begun = [_load(builder, place) for place in places]
    before, body = builder.block, builder.append_basic_block("features")
    after = builder.append_basic_block("summed")
    builder.branch(body)
    builder.position_at_end(body)
    j = builder.phi(size)
    sums = [builder.phi(FOUR) for _ in begun]
    lane = builder.mul(j, size(LANES))
    lanes = [_load(builder, builder.gep(panel, [builder.add(lane, size(half))])) for half in (0, 4)]
    grown = []
    for r in range(ROWS):
        x = _everywhere(builder, builder.load(builder.gep(lines[r], [j])))
        grown += [builder.fadd(sums[2 * r + half], term(builder, x, lanes[half])) for half in range(2)]
    later = builder.add(j, size(1))
    for phi, first, then in [(j, size(0), later), *zip(sums, begun, grown, strict=True)]:
        phi.add_incoming(first, before)
        phi.add_incoming(then, body)
    builder.cbranch(builder.icmp_signed("<", later, count), body, after)
    builder.position_at_end(after)
    return grown


def _load(builder: Any, pointer: Any) -> Any:
    loaded = builder.load(builder.bitcast(pointer, FOUR.as_pointer()))
    loaded.align = 8
    return loaded


def _store(builder: Any, vector: Any, pointer: Any) -> None:
    builder.store(vector, builder.bitcast(pointer, FOUR.as_pointer())).align = 8


def _everywhere(builder: Any, x: Any) -> Any:
    """One number in all four places."""
    first = builder.insert_element(ir.Constant(FOUR, ir.Undefined), x, I32(0))
    return builder.shuffle_vector(first, ir.Constant(FOUR, ir.Undefined), ir.Constant(ir.VectorType(I32, 4), [0] * 4))


def tile(
    op: int, panels: Any, at: int, rows: Any, row: int, apart: int, out: Any, to: int, step: int, count: int
) -> None:
    """`count` features more of four rows against eight: four lines of eight sums go on from what they are.

    All three arrays are flat. The rows begin at place `row` and lie `apart` from each other, the panel begins at `at`,
    the lines of sums at `to`, lying `step` from each other.
    """
    for r in range(ROWS):
        for i in range(LANES):
            total = out[to + r * step + i]
            for j in range(count):
                total += single(op, rows[row + r * apart + j], panels[at + j * LANES + i])
            out[to + r * step + i] = total


def single(op: int, x: float, z: float) -> float:
    """One term of a sum."""
    if op == DOT:
        return x * z
    gap = x - z
    return gap * gap if op == SQUARE else abs(gap)


_dots, _squares, _absolutes = _tile(_dot), _tile(_square), _tile(_absolute)


@overload(tile, strict=False)
def _overloaded(
    op: Any, panels: Any, at: Any, rows: Any, row: Any, apart: Any, out: Any, to: Any, step: Any, count: Any
) -> Callable[..., Any]:
    def compiled(
        op: Any, panels: Any, at: Any, rows: Any, row: Any, apart: Any, out: Any, to: Any, step: Any, count: Any
    ) -> None:
        if op == DOT:
            _dots(panels, at, rows, row, apart, out, to, step, count)
        elif op == SQUARE:
            _squares(panels, at, rows, row, apart, out, to, step, count)
        else:
            _absolutes(panels, at, rows, row, apart, out, to, step, count)

    return compiled
