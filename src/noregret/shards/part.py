"""Where the rows of a shard come from: one file of several, or a contiguous part of a stream's rows.

A part is small enough to be sent to another machine: a file is a name and how to read it, rows are the rows themselves.
What the labels are and how the features are numbered is agreed on by all shards before anything is learned: each looks
at its own rows first (`Survey`), then all read by one `Agreement`.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from noregret.errors import InputError, SettingError, spelled
from noregret.learner.core import Core
from noregret.stream import read
from noregret.stream.base import Stream
from noregret.stream.block import Block
from noregret.stream.features import Features
from noregret.stream.files import files_of
from noregret.stream.labels import Labels, plain_label

ALONE = 3  # labels of one shard that are handed on: a third is an error of two classes
READING = ("label", "missing", "ignore", "hash_bits")  # what a file is read by beside the features that are known


class Part(Protocol):
    """The rows of one shard, as they come."""

    @property
    def name(self) -> str: ...

    def stream(self, features: Features) -> Stream | Held: ...


@dataclass(frozen=True)
class FilePart:
    """One file, read by the recipe of the first."""

    path: str
    how: dict[str, Any]

    @property
    def name(self) -> str:
        return self.path

    def stream(self, features: Features) -> Stream:
        return read(self.path, features=features, threads=1, **self.how)


@dataclass(frozen=True)
class Held:
    """Rows that were read already."""

    name: str
    held: list[Block]
    features: Features

    @property
    def source(self) -> str:
        return self.name

    def blocks(self) -> list[Block]:
        return self.held

    def stream(self, features: Features) -> Held:
        return self


@dataclass(frozen=True)
class Survey:
    """What a shard saw in its rows: their number, their features, their labels with the line of each."""

    rows: int
    features: Features
    labels: list[tuple[Any, str, int]]
    sparse: bool


@dataclass(frozen=True)
class Agreement:
    """What all shards go by: the learner's settings, the features with their number, the labels."""

    name: str
    settings: dict[str, Any]
    features: Features
    labels: Labels | None
    width: int
    sparse: bool


def refuse_gaps(stream: Stream) -> None:
    """Means are of all rows so far, and a shard knows its own alone."""
    if stream.gapped:
        raise SettingError(f"shards: missing values cannot become means: use {spelled('missing', 'zero', 'skip')}")


def surveyed(part: Part, known: Features, labelled: bool) -> tuple[Survey, list[Block]]:
    """The rows of a part, and what they show."""
    stream = part.stream(deepcopy(known))
    blocks = list(stream.blocks())
    found: dict[Any, tuple[str, int]] = {}
    for block in blocks if labelled else ():
        labels, first = np.unique(block.labels, return_index=True)
        for place in np.argsort(first).tolist():
            row = int(first[place])
            found.setdefault(plain_label(labels[place]), (block.source, int(block.lines[row])))
    width = max((block.rows.width for block in blocks), default=0)
    features = deepcopy(stream.features)
    if features.kind != "names":
        features.reach(width)
    some = [(label, *place) for label, place in found.items()][:ALONE]
    sparse = any(not hasattr(block.rows, "X") for block in blocks)
    return Survey(sum(map(len, blocks)), features, some, sparse), blocks


def agreed(
    name: str, settings: dict[str, Any], known: Features, labels: Labels | None, surveys: Sequence[Survey]
) -> Agreement:
    """One meaning of labels and features for all shards, in the order of the shards."""
    features = deepcopy(known)
    for survey in surveys:
        _extend(features, survey.features)
    labels = deepcopy(labels)
    if labels is not None:
        for survey in surveys:
            for label, source, line in survey.labels:
                labels.one(label, source, line)
        labels.decide()
    return Agreement(name, settings, features, labels, features.width, any(one.sparse for one in surveys))


def _extend(features: Features, seen: Features) -> None:
    """Take in what a shard saw beyond what was known."""
    if seen.hash_bits is not None and features.hash_bits is None:
        raise SettingError(
            "shards: a later part has words where the first has none: say which columns hold them"
            f" ({spelled('categorical')} or {spelled('text')})"
        )
    for name in seen.names:
        features.add(name)
    for slot, text in seen.values.items():
        features.remember(slot, text)
    if features.kind != "names":
        features.reach(seen.width)


def how_read(core: Core) -> dict[str, Any]:
    """How a file is read by the recipe of the first: what the learner keeps of that."""
    return {key: core.options[key] for key in READING if core.options.get(key) is not None}


def parts_of(source: Any, stream: Stream, shards: int | None, how: dict[str, Any]) -> tuple[list[Part], str]:
    """The shards of a stream in order, and what they are: files, or contiguous parts of the rows.

    Without a number every file is a shard; one file is then one shard.
    """
    paths = files_of(source) if isinstance(source, str) else None
    if paths is not None and shards is None:
        return [FilePart(path, {key: how[key] for key in READING if key in how}) for path in paths], "files"
    count = 1 if shards is None else shards
    blocks = list(stream.blocks())
    rows = sum(map(len, blocks))
    if count > rows:
        raise InputError(f"holds {rows} rows, too few for {count} shards", stream.source)
    bounds = [place * rows // count for place in range(count + 1)]
    names = [f"{stream.source}, rows {a + 1:,} to {b:,}" for a, b in pairwise(bounds)]
    return [Held(name, part, stream.features) for name, part in zip(names, _cut(blocks, bounds), strict=True)], "rows"


def _cut(blocks: list[Block], bounds: list[int]) -> list[list[Block]]:
    """The rows from each bound to the next."""
    found: list[list[Block]] = [[] for _ in bounds[1:]]
    begin, place = 0, 0
    for block in blocks:
        end = begin + len(block)
        while begin < end:
            while bounds[place + 1] <= begin:
                place += 1
            stop = min(end, bounds[place + 1])
            low = end - len(block)
            found[place].append(block.slice(begin - low, stop - low))
            begin = stop
    return found
