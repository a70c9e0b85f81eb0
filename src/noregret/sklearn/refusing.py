"""An example that is refused leaves nothing behind: neither its label nor the names in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from noregret._native import norm2
from noregret.errors import InputError
from noregret.example import NOT_FINITE, raw_row
from noregret.learner.core import Core
from noregret.stream.features import Features

LABELS_OWN = ("_codes", "_pair", "_held", "_recipe", "_spelled", "classes_")  # what is known of labels beside the core


@contextmanager
def same_labels_if_refused(estimator: Any) -> Iterator[None]:
    """Around what takes in a label: where it raises, labels and the examples held are as they were."""
    labels = estimator.core.labels  # members of a pool may share it
    before = deepcopy(vars(labels))
    own = {name: vars(estimator)[name] for name in LABELS_OWN if name in vars(estimator)}
    try:
        yield
    except BaseException:
        vars(labels).clear()
        vars(labels).update(before)
        for name in LABELS_OWN:
            vars(estimator).pop(name, None)
        vars(estimator).update(own)
        raise


def try_out(core: Core, x: Any, features: Features | None) -> tuple[Features | None, float]:
    """Raise for an example that could not be learned from by these features, or else by copies of the learner's own.

    They take in what is new in it, and are given back with its ‖x‖²; the learner is left as it was.
    """
    features = deepcopy(core.features) if features is None else features
    trial, known = Trial(features), 0 if features is None else features.width
    try:
        row = raw_row(cast(Core, trial), x, True)
        if not np.isfinite(row.values).all():
            raise InputError(NOT_FINITE)
    except InputError:
        if features is not None:
            features.cut(known)
        raise
    return trial.features, norm2(np.asarray(row.values, np.float64))


@dataclass
class Trial:
    """What is looked at in a learner where an example becomes a row."""

    features: Features | None
