"""What a receipt says of each stream of its run, field by field."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from noregret.errors import ReceiptError


def _count(said: Any) -> bool:
    return type(said) is int and said >= 1


def _seed(said: Any) -> bool:
    return said is None or (type(said) is int and said >= 0)


def _weights(said: Any) -> bool:
    """None, or a weight for every label that has one other than 1."""
    if not isinstance(said, dict):
        return said is None
    return all(isinstance(key, str) for key in said) and all(
        type(weight) in (int, float) and math.isfinite(weight) and weight >= 0.0 for weight in said.values()
    )


def _digest(said: Any) -> bool:
    return isinstance(said, str) and re.fullmatch("[0-9a-f]{64}", said) is not None


# each field, whether what is said of it can be so, and what it has to be
FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "rows": (_count, "a whole number of at least 1"),
    "passes": (_count, "a whole number of at least 1"),
    "shuffle": (_seed, "null, or a whole number of at least 0"),
    "class_weight": (_weights, "null, or a number of at least 0 for each label"),
    "ended": (lambda said: isinstance(said, bool), "true or false"),
    "digest": (_digest, "64 hexadecimal digits"),
}


def segment_of(said: Any, place: int) -> dict[str, Any]:
    """What a replay needs of a stream: rows, passes, seed and class weights; a field of another kind is an error."""
    if not isinstance(said, dict) or set(said) != set(FIELDS):
        raise ReceiptError(f"what is said of stream {place} must be {', '.join(FIELDS)}", failed=True)
    for name, (right, sentence) in FIELDS.items():
        if not right(said[name]):
            raise ReceiptError(f"{name} of stream {place} must be {sentence}, got {said[name]!r}", failed=True)
    return {key: said[key] for key in ("rows", "passes", "shuffle", "class_weight")}
