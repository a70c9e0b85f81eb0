"""Several threads for one large piece of arithmetic that releases the interpreter's lock."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

MANY = 4e6  # multiplications from which another thread is worth waking


def shared(task: Callable[[int], None], count: int, work: float) -> None:
    """task(0), …, task(count − 1), each once, in any order; by several threads where there is much work."""
    threads = min(_threads(), count) if work >= MANY else 1
    waiting = deque(range(count))

    def some() -> None:
        while True:
            try:
                number = waiting.popleft()
            except IndexError:
                return
            task(number)

    others = [_pool(os.getpid(), threads).submit(some) for _ in range(threads - 1)]
    try:
        some()
    finally:
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
