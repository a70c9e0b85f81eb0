"""What a replay must give again to the last bit: every score of the run, and the learner after the last round.

The core adds in a stated order and has its own exp and log, so a run gives the same bits on every machine. A loss or a
kernel written in Python by the user is outside that promise: its last digits may differ on another machine. The receipt
says so, and its claims are then wider by what that may change.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from noregret.kernel import Kernel
from noregret.learner.core import Core
from noregret.receipt.replay import Replayed

SAME = "every score and the final state of the learner are the same to the last bit on every machine"
OWN = "the {what} is the user's own Python code: its last digits may differ on another machine, so the claims are wider"


def own_code(core: Core) -> str | None:
    """What the user wrote in Python: the loss or the kernel; None where all of the run is the core's arithmetic."""
    if core.loss.custom:
        return "loss"
    kernel = core.settings.get("kernel")
    return "kernel" if isinstance(kernel, Kernel) and kernel.function is not None else None


def promised(played: Replayed) -> dict[str, Any]:
    """The field `replay` of a receipt."""
    core = played.run.learner
    own = own_code(core)
    if own is not None:
        return {"same_bits": False, "sentence": OWN.format(what=own)}
    return {"same_bits": True, "sentence": SAME, "scores": _of_scores(played), "learner": _of_learner(core)}


def _of_scores(played: Replayed) -> str:
    assert played.rounds.scores is not None
    return _digest({"scores": played.rounds.scores})


def _of_learner(core: Core) -> str:
    """Everything that a model file would keep of it."""
    return _digest(core.arrays())


def _digest(arrays: dict[str, Any]) -> str:
    """SHA-256 over names, shapes and bits; every NaN counts the same."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        if array.dtype.kind == "f":
            array = np.where(np.isnan(array), np.nan, array)
        array = array.astype(array.dtype.newbyteorder("<"))
        found.update(f"{name} {array.shape} {array.dtype.str}\n".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()
