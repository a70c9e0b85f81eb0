"""MurmurHash3, the x86 32-bit variant with seed 0, over many byte strings laid end to end.

Convention: plain whole numbers masked to 32 bits, so that the compiled and the plain run agree without a
warning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._kernel import compiled


@compiled
def _scramble(word: Any) -> Any:
    word = (word * 0xCC9E2D51) & 0xFFFFFFFF
    word = ((word << 15) | (word >> 17)) & 0xFFFFFFFF
    return (word * 0x1B873593) & 0xFFFFFFFF


@compiled
def murmur3(data: NDArray[np.uint8], offsets: NDArray[np.int64], out: NDArray[np.uint32]) -> None:
    """out[i] = MurmurHash3_x86_32(data[offsets[i]:offsets[i+1]], seed 0)."""
    for i in range(out.shape[0]):
        start = offsets[i]
        length = int(offsets[i + 1]) - int(start)
        whole = length // 4
        state = 0
        for w in range(whole):
            at = start + 4 * w
            word = int(data[at]) | int(data[at + 1]) << 8 | int(data[at + 2]) << 16 | int(data[at + 3]) << 24
            state ^= _scramble(word)
            state = ((state << 13) | (state >> 19)) & 0xFFFFFFFF
            state = (state * 5 + 0xE6546B64) & 0xFFFFFFFF
        tail = 0
        for b in range(length - 4 * whole):
            tail |= int(data[start + 4 * whole + b]) << (8 * b)
        state ^= _scramble(tail) ^ length
        state ^= state >> 16
        state = (state * 0x85EBCA6B) & 0xFFFFFFFF
        state ^= state >> 13
        state = (state * 0xC2B2AE35) & 0xFFFFFFFF
        state ^= state >> 16
        out[i] = state
