"""Work on the pieces of a stream by several threads, the answers in the order of the pieces.

One thread fetches pieces, others work on them, and whoever takes the answers does so at the same time; what is on its
way is bounded. The number of threads never changes an answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import TypeVar

Piece = TypeVar("Piece")
Answer = TypeVar("Answer")

MOST = 8
PATIENCE = 0.5  # seconds for the thread that fetches to end: one that waits for a silent source is left behind


def available() -> int:
    """How many threads are of use here, at most eight."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST)


def in_order(pieces: Iterator[Piece], work: Callable[[Piece], Answer], threads: int) -> Generator[Answer]:
    """work(piece) for every piece; an error of either comes where its piece would have come.

    >>> list(in_order(iter("abc"), str.upper, 2))
    ['A', 'B', 'C']
    """
    if threads == 1:
        yield from map(work, pieces)
        return
    room = Semaphore(threads + 1)  # pieces on their way
    answers: SimpleQueue[Future[Answer] | BaseException | None] = SimpleQueue()
    left = False

    def fetch() -> None:
        try:
            for piece in pieces:
                answers.put(pool.submit(work, piece))
                room.acquire()
                if left:
                    return
            answers.put(None)
        except BaseException as error:  # it is raised where it is waited for
            answers.put(error)

    with ThreadPoolExecutor(threads, "parse") as pool:
        fetching = Thread(target=fetch, name="fetch", daemon=True)
        fetching.start()
        try:
            while (answer := answers.get()) is not None:
                if isinstance(answer, BaseException):
                    raise answer
                yield answer.result()
                room.release()
        finally:
            left = True
            room.release(threads + 2)
            fetching.join(PATIENCE)
