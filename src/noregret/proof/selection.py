"""A selection in a receipt, checked: candidates, errors and the choice once more, and the same theorems on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noregret.learner.core import Core
from noregret.proof.claims import check_certificates
from noregret.proof.facts.selection import WAYS, drawn
from noregret.proof.receipt import Vector
from noregret.proof.replay import Replayed
from noregret.proof.theorems.risk import spoken
from noregret.proof.verification import Verification

SAID = {
    "how": "how",
    "confidence": "the confidence",
    "rounds": "the rounds",
    "candidates": "the number of candidates",
    "every_round": "every round is a candidate",
    "round": "the chosen round",
    "tail": "the rounds not seen",
    "errors": "errors on the rounds not seen",
    "empirical": "the error on the rounds not seen",
    "mistakes": "mistakes of the run",
    "held_out": "the rounds held out",
    "distinct": "the predictors before the rounds held out",
    "draw": "the seed of the draw",
}


def check_selection(
    done: Verification, said: dict[str, Any], core: Core, played: Replayed, points: Mapping[str, Vector]
) -> None:
    """Every number of the selection; the first that does not stand is named."""
    how, confidence, candidates, holdout = (said[key] for key in ("how", "confidence", "candidates", "held_out"))
    draw = said["draw"]
    done.true("the selection: what is said of it", set(said) == {*SAID, "certificates"})
    done.true("the selection: how", how in WAYS)
    done.true("the selection: the confidence", type(confidence) is float and 0.0 < confidence < 1.0)
    known = type(candidates) is int and 1 <= candidates <= len(played.rounds)
    done.true("the selection: the number of candidates", known)
    held = (type(holdout) is int and holdout >= 1) if how == "holdout" else holdout is None
    done.true("the selection: the rounds held out", held)
    known = (type(draw) is int and draw >= 0) if how == "gibbs" else draw is None
    done.true("the selection: the seed of the draw", known)
    points = dict(points)
    _, sampled = drawn(core, played.rounds, how, confidence, candidates, holdout=holdout, points=points, draw=draw)
    for name, value in sampled.to_dict().items():
        done.same(f"the selection: {SAID[name]}", said[name], value)
    check_certificates(done, said["certificates"], spoken(sampled), sampled)
