"""A run that asks for checked array bounds gets them: machine code kept from an unchecked run would not check."""

import numba
import numpy as np

from noregret._kernel.linear import score_rows


def test_a_read_past_the_end_is_caught_when_bounds_are_checked():
    buffer = np.zeros(8)
    short = buffer[:1]  # the cells beyond it are ours, so that an unchecked read harms nothing
    caught = False
    try:
        score_rows(np.ones((1, 2)), short, np.ones(2), np.zeros(1))
    except IndexError:
        caught = True
    assert caught == bool(numba.config.BOUNDSCHECK or numba.config.DISABLE_JIT)
