"""What model files hold of columns and labels, as a file that anybody may have written must hold it.

Imported only where a model is read: most runs begin from nothing.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

import msgspec

from noregret.stream.block import MAX_INDEX
from noregret.stream.features import Kind

Held = TypeVar("Held", bound=msgspec.Struct)
Place = Annotated[int, msgspec.Meta(ge=0)]


class Columns(msgspec.Struct):
    """What `Features.to_dict` makes."""

    kind: Kind
    columns: Annotated[int, msgspec.Meta(ge=0, le=MAX_INDEX + 1)]
    names: list[str]
    hash_bits: Annotated[int, msgspec.Meta(ge=1, le=30)] | None
    hash_start: Place | None
    categorical: list[str]
    text: list[str]
    values: tuple[list[Place], list[str]]
    interactions: list[str] = []


class TwoLabels(msgspec.Struct):
    """What `Labels.to_dict` makes."""

    positive: float | bool | str | None
    codes: list[tuple[float | bool | str, float]]
    waiting: float | bool | str | None
    held: Place


class ManyLabels(msgspec.Struct):
    """What `Classes.to_dict` makes."""

    labels: list[float | bool | str]
    codes: list[tuple[float | bool | str, int]]
    declared: int


def as_stored(stored: dict[str, Any], kind: type[Held], what: str) -> Held:
    """The fields of a file as a structure; a ValueError where they are none."""
    try:
        return msgspec.convert(stored, kind)
    except msgspec.ValidationError as error:
        raise ValueError(f"{what}: {error}") from error
