"""Words for vectors of four numbers, for loops that are spelled as vector instructions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

I8, I32, I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
REAL = ir.DoubleType()
FOUR = ir.VectorType(REAL, 4)
LINE = 64  # bytes that come from memory together
_tuple: Any = types.UniTuple
pair = _tuple(types.float64, 2)
variable: Any = cgutils.alloca_once_value
function: Any = cgutils.get_or_insert_function


def load(builder: Any, pointer: Any, place: Any, kind: Any, count: int) -> Any:
    """So many neighbours from `place` on."""
    found = builder.load(builder.bitcast(builder.gep(pointer, [place]), ir.VectorType(kind, count).as_pointer()))
    found.align = 8 if kind == REAL else 4
    return found


def bytes_at(builder: Any, data: Any) -> Any:
    """The same place, counted in bytes."""
    return builder.bitcast(data, I8.as_pointer())


def wide(builder: Any, x: Any, kind: Any, wanted: Any = FOUR) -> Any:
    """As float64."""
    return x if kind == REAL else builder.fpext(x, wanted)


def picked(builder: Any, a: Any, b: Any, lanes: tuple[int, ...]) -> Any:
    """Some lanes of two vectors of the same length, those of the second counted on from the first's."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(I32, len(lanes)), list(lanes)))


def everywhere(builder: Any, one: Any, count: int = 4) -> Any:
    """A number so many times."""
    none = ir.Constant(ir.VectorType(one.type, count), ir.Undefined)
    return picked(builder, builder.insert_element(none, one, ir.Constant(I32, 0)), none, (0,) * count)


def summed(builder: Any, a: Any, b: Any) -> list[Any]:
    """(a₀ + a₂) + (a₁ + a₃), and the same of b."""
    low, high = (picked(builder, a, b, lanes) for lanes in ((0, 1, 4, 5), (2, 3, 6, 7)))
    halves = builder.fadd(low, high)
    both = builder.fadd(halves, picked(builder, halves, halves, (1, 0, 3, 2)))
    return [builder.extract_element(both, ir.Constant(I32, lane)) for lane in (0, 2)]


@contextmanager
def repeated(builder: Any, count: Any) -> Iterator[Any]:
    """A loop over 0..count that stays as it is spelled: the compiler would unroll it for rows longer than most are."""
    before, body, after = builder.block, builder.append_basic_block(), builder.append_basic_block()
    zero, one = ir.Constant(I64, 0), ir.Constant(I64, 1)
    builder.cbranch(builder.icmp_signed(">", count, zero), body, after)
    builder.position_at_end(body)
    index = builder.phi(I64)
    index.add_incoming(zero, before)
    yield index
    following = builder.add(index, one)
    index.add_incoming(following, builder.block)
    back = builder.cbranch(builder.icmp_signed("<", following, count), body, after)
    back.set_metadata("llvm.loop", _as_it_is(builder.module))
    builder.position_at_end(after)


def _as_it_is(module: Any) -> Any:
    """What a loop is marked with that is not to be unrolled: a node of its own, which names itself first."""
    wish = module.add_metadata([ir.MetaDataString(module, "llvm.loop.unroll.disable")])
    node = ir.MDValue(module, [wish], name=str(len(module.metadata)))
    node.operands = (node, wish)
    return node
