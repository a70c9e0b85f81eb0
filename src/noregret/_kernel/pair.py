"""Two numbers side by side in memory, updated by one vector instruction each way.

A sparse learner that keeps Σg lays w_i and Σg_i next to each other; its arrays then have a stride, and a strided array
means just that here. The compiler would take the two updates one by one; this spells them as one of width two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

I32, I64 = ir.IntType(32), ir.IntType(64)
PAIR = ir.VectorType(ir.DoubleType(), 2)


def _typed(typing: Any, z: Any, i: Any, x: Any, c: Any, g: Any) -> Any:
    """(z[i], its neighbour) += (c·x, g·x)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, index, value, first, second = arguments
        data = context.make_array(signature.args[0])(context, builder, array).data
        place = builder.shl(builder.zext(index, I64), ir.Constant(I64, 1))
        pointer = builder.bitcast(builder.gep(data, [place]), PAIR.as_pointer())
        step = builder.fmul(_two(builder, first, second), _two(builder, value, value))
        old = builder.load(pointer)
        old.align = 8
        builder.store(builder.fadd(old, step), pointer).align = 8
        return context.get_dummy_value()

    return types.void(z, i, x, c, g), generate


def _two(builder: Any, first: Any, second: Any) -> Any:
    vector = ir.Constant(PAIR, ir.Undefined)
    for place, part in enumerate((first, second)):
        vector = builder.insert_element(vector, part, ir.Constant(I32, place))
    return vector


def add_pair(z: Any, total: Any, i: int, x: float, c: float, g: float) -> None:
    """z[i] += c·x and total[i] += g·x, the two lying side by side."""
    z[i] += c * x
    total[i] += g * x


_add_pair: Any = intrinsic(_typed)


@overload(add_pair, strict=False, inline="always")
def _overloaded(z: Any, total: Any, i: Any, x: Any, c: Any, g: Any) -> Callable[..., Any]:
    return lambda z, total, i, x, c, g: _add_pair(z, i, x, c, g)
