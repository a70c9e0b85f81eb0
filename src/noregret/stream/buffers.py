"""Memory that is used again once nobody refers to it: new pages cost the machine more than the rows written on them."""

from __future__ import annotations

import sys
from collections import deque
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

MOST = 16  # pieces of memory that are looked after
LEAST = 2**16  # bytes: new ones are as quick if they are smaller


def _references(kept: deque[Any], i: int) -> int:
    return sys.getrefcount(kept[i])


_NONE = _references(deque([bytearray()]), 0)  # how often what nobody refers to counts as referred to


class Buffers:
    """Text and arrays for the pieces of a stream; several threads may ask at once.

    Every slice of an array refers to the memory that it is cut from, so that rows which somebody keeps stay as they
    are: their memory is not taken again, and forgotten here when others are asked for.
    """

    def __init__(self) -> None:
        self._kept: deque[Any] = deque(maxlen=MOST)
        self._lock = Lock()

    def text(self, size: int) -> bytearray:
        """`size` bytes, whatever they held before."""
        with self._lock:
            found = self._free(bytearray, size, size)
            if found is None:
                found = bytearray(size)
                self._kept.append(found)
            assert isinstance(found, bytearray)
            return found

    def array(self, count: int, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """An array of `count` elements, whatever they held before."""
        size = count * np.dtype(dtype).itemsize
        if size < LEAST:
            return np.empty(count, dtype)
        with self._lock:
            found = self._free(np.ndarray, size, 2 * size)
            if found is None:
                found = np.empty(size + size // 8, np.uint8)
                self._kept.append(found)
            return found[:size].view(dtype)  # type: ignore[no-any-return]

    def clear(self) -> None:
        """Forget all of it; what is in use stays."""
        with self._lock:
            self._kept.clear()

    def _free(self, kind: type, least: int, most: int) -> Any:
        """One of the kind that nobody uses, of a fitting size."""
        for i in range(len(self._kept)):
            fits = type(self._kept[i]) is kind and least <= len(self._kept[i]) <= most
            if fits and _references(self._kept, i) == _NONE:
                return self._kept[i]
        return None
