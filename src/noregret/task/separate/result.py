"""What is handed back: a separator with its margin, or the weights that prove that there is none."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.interval import Interval
from noregret.proof.receipt import head, packed, write
from noregret.proof.separation import verify_separation
from noregret.proof.verify import Verification
from noregret.rounds import Vector

SENTENCES = {
    "separable": "a hyperplane separates the two classes",
    "inseparable": "no hyperplane separates the two classes",
    "undecided": "not decided within the given time and precision",
}


@dataclass(frozen=True)
class Separation:
    """The answer whether some u has y⟨u, x⟩ > 0 on every row, with the proof.

    `margin` encloses the largest min y⟨u, x⟩/‖u‖ over all u: its lower end is that of `separator`, its upper end is
    ‖Σ λ·y·x‖ for the convex weights λ, and 0 if there is no separator. `rows` are the rows with a weight, counted from
    0. If they prove that no separator exists, the weights are `exact` whole numbers, divided by their sum.
    """

    answer: str  # separable, inseparable, undecided
    margin: Interval
    radius: Interval  # max‖x‖, the bias included
    separator: Vector | None  # u; with a bias, its weight first
    rows: NDArray[np.int64]
    weights: Vector
    exact: tuple[int, ...] | None
    finished: bool  # whether the gap asked for was reached
    count: int
    features: int  # without the bias
    classes: tuple[Any, Any]
    source: str
    seconds: float
    digest: str = ""
    reading: dict[str, Any] = field(default_factory=dict)
    preparation: dict[str, Any] = field(default_factory=dict)
    width: int = 0

    @property
    def sentence(self) -> str:
        """The answer, for people."""
        return SENTENCES[self.answer]

    @property
    def coefficients(self) -> Vector | None:
        """The separator without its bias."""
        return self.separator[1:] if self.separator is not None and self.preparation["bias"] else self.separator

    @property
    def bias(self) -> float:
        """The separator's bias."""
        return float(self.separator[0]) if self.separator is not None and self.preparation["bias"] else 0.0

    @property
    def mistake_bound(self) -> int | None:
        """⌊R²/γ²⌋: the most mistakes of a perceptron that starts at 0, in any order of the rows and over any passes."""
        if self.answer != "separable":
            return None
        bound = (self.radius / Interval.of(self.margin.lo)).square()
        return bound.floor() if math.isfinite(bound.hi) else None

    @property
    def no_separator_below(self) -> float | None:
        """A lower bound on R²/γ² for every separator."""
        if self.answer != "separable":
            return None
        return max((Interval.of(self.radius.lo) / Interval.of(self.margin.hi)).square().lo, 0.0)

    def check(self, stream: Any) -> Verification:
        """Check the proof against its rows in whole numbers, with code that is independent of the solvers."""
        return verify_separation(self.proof(), stream)

    def proof(self) -> dict[str, Any]:
        """The proof as JSON-compatible data."""
        weights: dict[str, Any] = {"rows": (self.rows + 1).tolist()}
        weights |= (
            {"floats": packed(self.weights)} if self.exact is None else {"whole": [hex(one) for one in self.exact]}
        )
        bounds = {"at_most": self.mistake_bound, "no_separator_below": self.no_separator_below}
        return {
            **head("separation"),
            "reading": self.reading,
            "preparation": self.preparation,
            "labels": list(self.classes),
            "rows": self.count,
            "features": self.width,
            "digest": self.digest,
            "answer": self.answer,
            "margin": {"lower": self.margin.lo, "upper": self.margin.hi},
            "radius": {"lower": self.radius.lo, "upper": self.radius.hi},
            "mistakes": bounds if self.answer == "separable" else None,
            "separator": None if self.separator is None else packed(self.separator),
            "weights": weights,
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the proof; the file appears whole or not at all."""
        write(path, self.proof())

    def to_dict(self) -> dict[str, Any]:
        """The figures, without the vectors."""
        return {
            "answer": self.answer,
            "sentence": self.sentence,
            "rows": self.count,
            "features": self.features,
            "labels": list(self.classes),
            "bias": self.preparation["bias"],
            "margin": {"lower": self.margin.lo, "upper": self.margin.hi},
            "radius": {"lower": self.radius.lo, "upper": self.radius.hi},
            "mistakes_at_most": self.mistake_bound,
            "no_separator_below": self.no_separator_below,
            "weighted_rows": len(self.rows),
            "exact": self.exact is not None,
            "finished": self.finished,
            "seconds": self.seconds,
            "digest": self.digest,
        }
