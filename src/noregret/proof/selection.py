"""A selection in a receipt, checked: candidates, errors and the choice once more, and the same theorems on them."""

from __future__ import annotations

from typing import Any

from noregret.learner.core import Core
from noregret.proof.claims import check_certificates
from noregret.proof.facts.selection import WAYS, drawn
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
}


def check_selection(done: Verification, said: dict[str, Any], core: Core, played: Replayed) -> None:
    """Every number of the selection; the first that does not stand is named."""
    how, confidence, candidates = said["how"], said["confidence"], said["candidates"]
    done.true("the selection: what is said of it", set(said) == {*SAID, "certificates"})
    done.true("the selection: how", how in WAYS)
    done.true("the selection: the confidence", type(confidence) is float and 0.0 < confidence < 1.0)
    known = type(candidates) is int and 1 <= candidates <= len(played.rounds)
    done.true("the selection: the number of candidates", known)
    _, sampled = drawn(core, played.rounds, how, confidence, candidates)
    for name, value in sampled.to_dict().items():
        done.same(f"the selection: {SAID[name]}", said[name], value)
    check_certificates(done, said["certificates"], spoken(sampled), sampled)
