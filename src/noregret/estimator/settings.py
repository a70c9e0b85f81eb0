"""The settings that estimators share, each declared once; those of a learner alone stand with its estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

C = TypeVar("C")


@dataclass_transform(kw_only_default=True, eq_default=False)
def settings(cls: type[C]) -> type[C]:
    """A constructor from the annotated settings, by name only, as scikit-learn wants it: nothing but assignments."""
    make: Callable[[type[C]], type[C]] = dataclass(kw_only=True, eq=False, repr=False)
    return make(cls)


@settings
class Common:
    """What every learner can be told."""

    bias: bool = False
    unit_norm: bool = False
    scale: str | None = None
    passes: int = 5
    shuffle: int | None = 0


@settings
class Classifying(Common):
    """What a learner of two classes can be told."""

    tie: str = "mistake"
    class_weight: dict[Any, float] | str | None = None
