"""A checksum of 64-bit words at the speed of memory: four lanes, each a ← (a ⊕ word)·k modulo 2⁶⁴, k odd.

Each step is one-to-one in the word and in the lane, so a change within a single word always shows; any other damage
goes unnoticed with a probability of about 2⁻⁶⁴.

Convention: whole numbers masked to 64 bits, every constant beyond 2⁶³, so that the compiled run has unsigned words
throughout and agrees with the plain one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noregret._kernel import compiled

_ODD = 0x9E3779B97F4A7C15
_MASK = 0xFFFFFFFFFFFFFFFF
_A, _B, _C, _D = 0xA5A5A5A5A5A5A5A5, 0xB6B6B6B6B6B6B6B6, 0xC7C7C7C7C7C7C7C7, 0xD8D8D8D8D8D8D8D8


@compiled
def checksum(words: NDArray[np.uint64]) -> int:
    """Of all words, their order and their number."""
    a, b, c, d = _A, _B, _C, _D
    whole = words.shape[0] // 4
    for i in range(whole):
        a = ((a ^ int(words[4 * i])) * _ODD) & _MASK
        b = ((b ^ int(words[4 * i + 1])) * _ODD) & _MASK
        c = ((c ^ int(words[4 * i + 2])) * _ODD) & _MASK
        d = ((d ^ int(words[4 * i + 3])) * _ODD) & _MASK
    for i in range(4 * whole, words.shape[0]):
        a = ((a ^ int(words[i])) * _ODD) & _MASK
        a ^= a >> 29
    for lane in (b, c, d):
        a = ((a ^ lane) * _ODD) & _MASK
        a ^= a >> 32
    return a
