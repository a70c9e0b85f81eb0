"""How many threads linear algebra may use: products of tall, narrow blocks are quicker with one.

Threads that wait for each other after every small product spin; on a machine with other work that made a solve of one
second take eight.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

NARROW = 256  # features: from here on a product is worth several threads
SMALL = 1e6  # multiplications: below, looking for the library takes longer than the product


@contextmanager
def calm(rounds: int, width: int) -> Iterator[None]:
    """One thread while the products are narrow."""
    if width >= NARROW or rounds * width * width < SMALL:
        yield
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
