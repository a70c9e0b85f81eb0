"""A line of the answer: who did which job in what time, how often ours goes into it, and what was reached."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

Row = dict[str, Any]
OURS = "noregret"
PEERS = {  # as people call them, and as they are installed
    "scikit-learn": "scikit-learn",
    "River": "river",
    "Vowpal Wabbit": "vowpalwabbit",
    "polars": "polars",
    "pyarrow": "pyarrow",
    "cvxpy": "cvxpy",
}


def installed(peer: str) -> str | None:
    """The version of a peer; None where it is not installed."""
    try:
        return version(PEERS[peer])
    except PackageNotFoundError:
        return None


def row(job: str, who: str, seconds: float, ours: float, **figures: float | None) -> Row:
    """`ours` is our own time for the same job; figures that nobody has are left out."""
    kept = {key.replace("_", " "): _plain(value) for key, value in figures.items() if value is not None}
    return {"job": job, "who": who, "seconds": seconds, "times ours": seconds / ours, **kept}


def _plain(figure: Any) -> Any:
    """A number of Python's own, as files of JSON take it: peers may answer in numbers of numpy's."""
    return figure.item() if isinstance(figure, np.generic) else figure


def missing(job: str, who: str) -> Row:
    """A peer that is not installed is named, never passed over in silence."""
    return {"job": job, "who": who, "missing": True}
