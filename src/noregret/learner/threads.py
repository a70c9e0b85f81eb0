"""Several threads for one large piece of arithmetic that releases the interpreter's lock."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

MANY = 4e6  # multiplications from which another thread is worth waking
PIECE = 32  # what a thread takes at once: a multiple of a panel's lanes


def in_chunks(task: Callable[[int, int], None], count: int, each: int) -> None:
    """task(begin, end) for the pieces of 0..count, in any order; by several threads where there is much to multiply."""
    threads = min(_threads(), -(-count // PIECE)) if count * each >= MANY else 1
    waiting = deque(range(0, count, PIECE))

    def some() -> None:
        while True:
            try:
                begin = waiting.popleft()
            except IndexError:
                return
            task(begin, min(begin + PIECE, count))

    others = [_pool(os.getpid(), threads).submit(some) for _ in range(threads - 1)]
    try:
        some()
    finally:
        for other in others:
            if not other.cancel():  # one that has not begun has nothing left to do
                other.result()


def side_by_side(task: Callable[[int], None], places: Sequence[int], *, alone: bool) -> None:
    """task(place) for every place, each on its own; by several threads unless `alone`."""
    if alone or len(places) < 2 or _threads() < 2:
        for place in places:
            task(place)
        return
    waiting = deque(places)

    def some() -> None:
        while True:
            try:
                place = waiting.popleft()
            except IndexError:
                return
            task(place)

    threads = min(_threads(), len(places))
    others = [_pool(os.getpid(), threads).submit(some) for _ in range(threads - 1)]
    some()
    for other in others:
        other.result()


@cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """The threads that wait for work; a process that was forked has its own."""
    return ThreadPoolExecutor(threads - 1)


def _threads() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # a system without such a thing
        return os.cpu_count() or 1
