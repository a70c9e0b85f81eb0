"""Words of 64 bits as the processor has them: eight bytes at once, zeros at an end, products of 128 bits.

Each is a plain function and, for compiled code, the instruction that does the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, extending, types
from numba.extending import overload

intrinsic: Callable[[Any], Any] = extending.intrinsic  # which takes the compiler's context out of the signature
PAIR: Any = types.UniTuple
WORD = ir.IntType(64)
CHECKED = bool(getattr(config, "BOUNDSCHECK", None))


def eight_bytes(data: Any, i: int) -> Any:
    """data[i:i+8] as one word, the first byte lowest."""
    return np.uint64(int.from_bytes(data[i : i + 8].tobytes(), "little"))


def four_bytes(data: Any, i: int) -> int:
    """data[i:i+4] as a whole number, the first byte lowest."""
    return int.from_bytes(data[i : i + 4].tobytes(), "little")


def byte(data: Any, i: int) -> int:
    """data[i] as a whole number, i not negative; compiled code may leave out to look whether it is."""
    return int(data[i])


def trailing_zeros(word: Any) -> int:
    """How many zero bits stand below the lowest set one; 64 for 0."""
    return (int(word) & -int(word)).bit_length() - 1 if word else 64


def leading_zeros(word: Any) -> int:
    """How many zero bits stand above the highest set one; 64 for 0."""
    return 64 - int(word).bit_length()


def product(a: Any, b: Any) -> tuple[Any, Any]:
    """The (high, low) words of a·b."""
    whole = int(a) * int(b)
    return np.uint64(whole >> 64), np.uint64(whole & 0xFFFFFFFFFFFFFFFF)


def wrapped_product(a: Any, b: Any) -> Any:
    """a·b modulo 2⁶⁴."""
    return np.uint64(int(a) * int(b) & 0xFFFFFFFFFFFFFFFF)


def wrapped_sum(a: Any, b: Any) -> Any:
    """a + b modulo 2⁶⁴."""
    return np.uint64(int(a) + int(b) & 0xFFFFFFFFFFFFFFFF)


def apart() -> None:
    """Said first in a function that is to stay a function of its own, with all the registers to itself."""


@intrinsic
def _apart(context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        if "alwaysinline" not in builder.function.attributes:
            builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), generate


@intrinsic
def _eight_bytes(context: Any, data: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, given[0])
        place = builder.gep(array.data, [given[1]])
        return builder.load(builder.bitcast(place, WORD.as_pointer()), align=1)

    return types.uint64(data, types.intp), generate


@intrinsic
def _four_bytes(context: Any, data: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, given[0])
        place = builder.bitcast(builder.gep(array.data, [given[1]]), ir.IntType(32).as_pointer())
        return builder.zext(builder.load(place, align=1), WORD)

    return types.int64(data, types.intp), generate


@intrinsic
def _byte(context: Any, data: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, given[0])
        return builder.zext(builder.load(builder.gep(array.data, [given[1]])), WORD)

    return types.int64(data, types.intp), generate


@intrinsic
def _trailing_zeros(context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.cttz(given[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def _leading_zeros(context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.ctlz(given[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def _product(context: Any, a: Any, b: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        wide = ir.IntType(128)
        whole = builder.mul(builder.zext(given[0], wide), builder.zext(given[1], wide))
        high = builder.trunc(builder.lshr(whole, ir.Constant(wide, 64)), WORD)
        return context.make_tuple(builder, signature.return_type, [high, builder.trunc(whole, WORD)])

    return PAIR(types.uint64, 2)(types.uint64, types.uint64), generate


@overload(eight_bytes, strict=False, inline="always")
def _eight_bytes_of(data: Any, i: Any) -> Callable[..., Any]:
    return lambda data, i: _eight_bytes(data, i)


@overload(four_bytes, strict=False, inline="always")
def _four_bytes_of(data: Any, i: Any) -> Callable[..., Any]:
    return lambda data, i: _four_bytes(data, i)


@overload(byte, strict=False, inline="always")
def _byte_of(data: Any, i: Any) -> Callable[..., Any]:
    if CHECKED:
        return lambda data, i: np.int64(data[i])
    return lambda data, i: _byte(data, i)


@overload(trailing_zeros, strict=False, inline="always")
def _trailing_zeros_of(word: Any) -> Callable[..., Any]:
    return lambda word: _trailing_zeros(word)


@overload(leading_zeros, strict=False, inline="always")
def _leading_zeros_of(word: Any) -> Callable[..., Any]:
    return lambda word: _leading_zeros(word)


@overload(product, strict=False, inline="always")
def _product_of(a: Any, b: Any) -> Callable[..., Any]:
    return lambda a, b: _product(a, b)


@overload(wrapped_product, strict=False, inline="always")
def _wrapped_product_of(a: Any, b: Any) -> Callable[..., Any]:
    return lambda a, b: a * b


@overload(wrapped_sum, strict=False, inline="always")
def _wrapped_sum_of(a: Any, b: Any) -> Callable[..., Any]:
    return lambda a, b: a + b


@overload(apart, strict=False, inline="always")
def _apart_of() -> Callable[..., Any]:
    return lambda: _apart()
