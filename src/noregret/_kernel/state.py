"""The named state of a learner and of its run: one record, saved and compared bit for bit.

The weights are w = scale·z (and the bias weight scale·bias), so that shrinking and projecting cost Θ(1) a round.
`norm2` is ‖z‖² with the bias; it is updated round by round and taken afresh from z at fixed round numbers: every power
of two and every multiple of REFRESH. `norm1` tells where ‖w‖₁ may be too large: it is then taken from z. While every
feature played is below SMALL, a projection on a ball is made on z itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

REFRESH = 65536  # at the most so many rounds between two exact recomputations of the running norms
WINDOW = 1000  # rounds of the windowed error
BINS = 8193  # score bins a class, for the AUC: 64 binary orders × 64 steps a sign, and one for zero
SMALL = 64  # with fewer features than this a projection is taken on the weights themselves
TINY = 1e-60  # a smaller scale is folded into z before it can underflow
ROWS = 256  # of the regret curve: four to each doubling, enough for 2⁶³ rounds
ROOM = 256  # numbers that a kernel may put down for a while
POINTS = 2048  # rows of the trace; when it is full every second one goes and the spacing doubles

TRACE = ("rounds", "mistakes", "loss", "constant", "last", "gradient2", "gradient_dot_weights")
CURVE = ("rounds", "loss", "gradient_dot_weights", "gradient_sum_norm")

STATE = np.dtype(
    [
        # the weights' scalars and the step clock
        ("scale", "f8"),
        ("bias", "f8"),
        ("norm2", "f8"),
        ("bias_gradient", "f8"),
        ("threshold", "f8"),  # Σηλ₁/scale so far: what a penalty λ₁‖w‖₁ has taken from every |z_i|
        ("norm1", "f8"),  # ‖z‖₁ with the bias, where the domain asks for it
        ("large", "i8"),  # whether a feature from SMALL on was played
        ("period", "i8"),  # first round of the current doubling period
        ("wealth", "f8"),  # of coin betting
        ("refused", "f8"),  # ‖g‖² of a gradient longer than coin betting may take
        ("bias_squares", "f8"),  # Σg² of the bias, where every coordinate has its own step
        ("bias_dual", "f8"),  # what FTRL-Proximal keeps of the bias in place of its weight
        # what the theorems need
        ("rounds", "i8"),
        ("updates", "i8"),
        ("mistakes", "i8"),
        ("loss", "f8"),
        ("row_max2", "f8"),  # max ‖x‖²
        ("mistake_row2", "f8"),  # Σ‖x‖² over mistakes
        ("gradient_max2", "f8"),
        ("gradient2", "f8"),  # Σ‖g‖²
        ("gradient2_sqrt", "f8"),  # Σ‖g‖²/√t
        ("gradient2_inverse", "f8"),  # Σ‖g‖²/t
        ("gradient_dot_weights", "f8"),  # Σ g·w
        ("label_max", "f8"),  # max |y|
        ("fractional_weights", "i8"),  # rounds whose sample weight was neither 0 nor 1
        # progressive figures and baselines
        ("absolute", "f8"),
        ("squared", "f8"),
        ("positives", "i8"),
        ("last_label", "f8"),
        ("last", "f8"),  # mistakes, or loss, of "the label that came last"
        ("label_sum", "f8"),
        ("constant", "f8"),  # loss of the running mean (regression)
        ("confusion", "i8", (2, 2)),  # [true label][predicted label], −1 first
        ("window", "f8", (WINDOW,)),
        ("bins", "i8", (2, BINS)),
        ("trace", "f8", (POINTS, len(TRACE))),
        ("window_at", "i8"),  # the slot of the window that is written next
        ("trace_rows", "i8"),
        ("trace_step", "i8"),
        ("trace_next", "i8"),  # the round that the trace records next
        ("curve", "f8", (ROWS, len(CURVE))),
        ("curve_rows", "i8"),
        ("curve_next", "i8"),
    ]
)

# Codes of the settings that the kernels read at run time.
WHOLE, BALL, BOX, CROSS, SIMPLEX = 0, 1, 2, 3, 4
CONSTANT, SQRT, STRONG, ADAPTIVE, DOUBLING = 0, 1, 2, 3, 4
PASSIVE, PASSIVE_CAPPED, PASSIVE_SOFT, COIN = 5, 6, 7, 8
COORDINATE, PROXIMAL = 9, 10
GRADIENTS, AVERAGE = 1, 2  # what `total` holds: Σg, or Σ(t − 1)·c·x, which the average is made from

CONFIG = np.dtype(
    [
        ("rate", "i8"),
        ("eta", "f8"),
        ("sigma", "f8"),
        ("domain", "i8"),
        ("radius", "f8"),
        ("bias", "f8"),  # 1 with a bias, else 0
        ("tie", "f8"),  # what a score of 0 counts as: +1, −1, or 0 for "a mistake either way"
        ("parameter", "f8"),  # the loss's own: ρ, δ, τ
        ("classify", "i8"),
        ("gather", "i8"),  # what is kept beside the weights: nothing, GRADIENTS or AVERAGE
        ("beta", "f8"),
        ("l1", "f8"),
        ("l2", "f8"),
        ("cut", "i8"),  # whether coin betting cuts a gradient that is too long, and does not refuse it
    ]
)


# One argument to the kernels instead of two: handing over a structured array takes longer than a round.
RECORD = np.dtype([("state", STATE), ("config", CONFIG), ("room", "i8", (ROOM,))])


def new_state() -> NDArray[Any]:
    """The state before the first round."""
    state = np.zeros(1, STATE)
    begin(state)
    return state


def begin(state: NDArray[Any]) -> None:
    """Make a state of zeros the one before the first round."""
    state["scale"] = 1.0
    state["trace_step"] = 1
    state["trace_next"] = 1
    state["curve_next"] = 1
