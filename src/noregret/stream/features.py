"""What a feature index means: the recipe that turns names, columns and hashed values into one numbering.

Three kinds. `index`: the number that was written (svmlight, dicts with whole-number keys). `columns`: the
columns of an array, without names. `names`: numeric columns and keys get an index in the order in which they
are first seen; hashed columns share 2^bits slots that begin at `hash_start`, right behind the names known
when hashing was set up, and names that come later follow the slots. An index never changes its meaning once
given: w can only grow.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from noregret._native import note_slots
from noregret.errors import InputError, SettingError
from noregret.stream.block import MAX_INDEX, Block, Dense, Indices, Ints, Rows, Sparse
from noregret.stream.column import CATEGORY, NUMBER, TEXT, kinds_of
from noregret.stream.column import Kind as ColumnKind

Kind = Literal["index", "columns", "names"]
PAIRED = (["number", "number"], ["category", "number"], ["category", "category"])  # what interactions are of


@lru_cache(maxsize=1024)
def packer(count: int, kind: str = "d") -> Callable[..., None]:
    """Writes `count` numbers into an array of float64, or, kind "I", of uint32."""
    return struct.Struct(f"{count}{kind}").pack_into


@lru_cache(maxsize=1024)
def bounds(count: int) -> Ints:
    """Where a single row of `count` entries begins and ends; shared, so never to be written to."""
    return np.array([0, count], dtype=np.int64)


class Memo:
    """The keys of the last dict with their indices, so that the next dict of the same keys need not look them up."""

    __slots__ = ("indices", "keep", "keys", "pack", "places", "row", "unknown", "width")

    def __init__(self, keys: tuple[Any, ...], places: Indices, unknown: list[int], width: int) -> None:
        self.keys = keys
        self.places = places  # the index of each key, 0 for one that is not known
        self.unknown = unknown  # where those stand
        self.width = width  # of the recipe when this was written, which may learn the unknown ones
        self.indices = places
        self.keep: NDArray[np.bool_] | None = None  # which keys are known; None when all are
        if unknown:
            self.keep = np.ones(len(keys), dtype=np.bool_)
            self.keep[unknown] = False
            self.indices = places[self.keep]
        # One row as the kernels take it, its values written again for every dict.
        self.row = (bounds(len(keys)), places, np.empty(len(keys)))
        self.pack = packer(len(keys))


@dataclass(frozen=True, slots=True)
class Hints:
    """Slots, counted from 0, that were new when somebody looked, in the order of the rows, and what went to each."""

    slots: Indices
    texts: Callable[[Ints], Iterable[str]]  # of those at the places given


class Features:
    """The numbering of a stream's features; it grows while rows are read and is stored with the model.

    >>> features = Features.named(["price"])
    >>> features.add("size"), features.width, features.name_of(0)
    (1, 2, 'price')
    """

    __slots__ = (
        "_columns",
        "categorical",
        "hash_bits",
        "hash_start",
        "index",
        "interactions",
        "kind",
        "label",
        "memo",
        "names",
        "noted",
        "special",
        "table",
        "text",
        "values",
    )

    def __init__(self, kind: Kind = "names", columns: int = 0) -> None:
        self.kind: Kind = kind
        self._columns = columns
        self.names: list[str] = []
        self.index: dict[str, int] = {}
        self.hash_bits: int | None = None
        self.hash_start: int | None = None
        self.categorical: tuple[str, ...] = ()
        self.text: tuple[str, ...] = ()
        self.interactions: tuple[str, ...] = ()  # pairs of columns, `a:b`: see interactions.py
        self.special: dict[str, ColumnKind] = {}  # columns that are written amounts, dates, or left out
        self.label: str | None = None  # the column that held the label
        self.table = False  # whether the names are those of a table's columns, where text is read as numbers
        self.values: dict[int, str] = {}  # the value first seen in each hashed slot, for people to read
        self.noted: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)  # the slots among them, a bit each
        self.memo: Memo | None = None  # the last dict's keys with their indices: see rows.encode

    @classmethod
    def named(cls, names: list[str]) -> Features:
        features = cls("names")
        for name in names:
            features.add(name)
        return features

    def __reduce__(self) -> tuple[Any, ...]:
        return Features.from_dict, (self.to_dict(),)  # the memo stays behind

    @property
    def slots(self) -> int:
        """How many indices belong to hashed values."""
        return 0 if self.hash_bits is None else 1 << self.hash_bits

    @property
    def hashed(self) -> range:
        """The indices of hashed values."""
        return range(0) if self.hash_start is None else range(self.hash_start, self.hash_start + self.slots)

    @property
    def plain_names(self) -> bool:
        """Whether every key of a dict is a feature by its name, and its value a number."""
        return self.kind == "names" and not (self.categorical or self.text or self.special or self.interactions)

    @property
    def bare(self) -> bool:
        """Whether there are slots alone, and no columns: the recipe of Vowpal Wabbit's format."""
        return bool(self.slots) and not (self.names or self.categorical or self.text)

    @property
    def hashes(self) -> bool:
        """Whether there are columns whose values are hashed."""
        return bool(self.categorical or self.text)

    def knows(self, name: str) -> bool:
        """Whether a column of this name becomes features."""
        return name in self.index or name in self.categorical or name in self.text

    @property
    def width(self) -> int:
        """One more than the highest index that has a meaning so far."""
        return len(self.names) + self.slots if self.kind == "names" else self._columns

    @property
    def count(self) -> int:
        """What a report calls the number of features: the highest index, or the columns and slots."""
        return max(self._columns - 1, 0) if self.kind == "index" else self.width

    @property
    def columns(self) -> dict[str, ColumnKind]:
        """What becomes of each column of a table, but for the label."""
        made = {name for column, kind in self.special.items() if kind.dates for name in kind.names(column)}
        made |= set(self.interactions)
        found = {name: NUMBER for name in self.names if name not in made}
        found |= dict.fromkeys(self.categorical, CATEGORY) | dict.fromkeys(self.text, TEXT)
        return found | {name: kind for name, kind in self.special.items() if name != self.label}

    @property
    def reading(self) -> dict[str, Any]:
        """What `read` needs to read the same table, or a further part of it, in the same way."""
        told: dict[str, Any] = {} if self.hash_bits is None else {"hash_bits": self.hash_bits}
        if self.table:
            kinds = self.columns | self.special  # with the label, where that is a written amount
            told["columns"] = {name: str(kind) for name, kind in kinds.items() if not kind.plain}
        if self.interactions:
            told["interactions"] = list(self.interactions)
        return told if self.label is None else told | {"label": self.label}

    def set_up(self, column: str, kind: ColumnKind) -> None:
        """Add a column that becomes numbers under names of their own, or nothing."""
        for name in kind.names(column):
            if name in self.index:
                raise InputError(f"a column of dates becomes a feature {name!r}, which is a column too: rename one")
            self.add(name)
        if not kind.plain:
            self.special[column] = kind
        self.memo = None

    def cut(self, width: int) -> None:
        """Forget what was taken in since there was a meaning for the indices below `width` alone."""
        if self.kind == "names":
            late = self.names[max(width - self.slots, 0) :]
            del self.names[len(self.names) - len(late) :]
            for name in late:
                del self.index[name]
        else:
            self._columns = width
        self.memo = None

    def add(self, name: str) -> int:
        """The index of `name`, a new one when it was never seen."""
        known = self.index.get(name)
        if known is not None:
            return known
        place = self.width
        if place > MAX_INDEX:
            raise InputError(f"there can be at most {MAX_INDEX + 1} features, {name!r} is one too many")
        self.names.append(name)
        self.index[name] = place
        return place

    def set_up_hashing(self, bits: int) -> None:
        """Lay the 2^bits slots behind the names known now; a recipe that hashes already keeps its own."""
        if self.hash_start is None:
            self.hash_bits = bits
            self.hash_start = len(self.names)
            self.noted = _bits(self.slots, [])
            self.memo = None

    def declare(self, categorical: tuple[str, ...] = (), text: tuple[str, ...] = ()) -> None:
        """Add columns to those whose values are hashed."""
        for name in (*categorical, *text):
            if name in self.index or name in self.special:
                known = self.special.get(name, NUMBER).what.replace("number", "numeric")
                raise SettingError(f"column {name!r} is {known} in the model: it cannot be hashed now")
        for name in set(categorical) & set(self.text) | set(text) & set(self.categorical):
            raise SettingError(f"column {name!r} cannot be both categorical and text")
        self.categorical = tuple(dict.fromkeys((*self.categorical, *categorical)))
        self.text = tuple(dict.fromkeys((*self.text, *text)))
        self.memo = None

    def name_of(self, index: int) -> str:
        if self.kind != "names":
            return f"feature {index}"
        start = len(self.names) if self.hash_start is None else self.hash_start
        if index < start:
            return self.names[index]
        if index < start + self.slots:
            return self.values.get(index - start, f"hash {index - start}")
        place = index - self.slots
        return self.names[place] if place < len(self.names) else f"feature {index}"

    def note(self, hints: Hints) -> None:
        """Remember what was hashed to slots that nothing went to before.

        Only one thread may do so; others may look at `noted` meanwhile, which never forgets.
        """
        new = np.empty(len(hints.slots), dtype=np.int64)
        new = new[: note_slots(hints.slots, self.noted, new)]
        for slot, text in zip(hints.slots[new].tolist(), hints.texts(new), strict=True):
            self.values[slot] = text[:60]

    def remember(self, slot: int, text: str) -> None:
        """Take over what somebody else has noted of a slot, unless something is known."""
        self.values.setdefault(slot, text)
        self.noted[slot >> 3] |= np.uint8(1 << (slot & 7))

    def words_from(self, place: int) -> NDArray[np.uint8]:
        """Whether each name from this place on is a word and no amount: a key `column=value` of a dict."""
        named = self.names[place:] if self.kind == "names" and not self.table else []
        return np.array(["=" in name for name in named], np.uint8)

    def quoted(self, index: int) -> str:
        """The feature as an error sentence calls it."""
        name = self.name_of(index)
        return f"feature {name!r}" if name in self.index else name

    def admit(self, block: Block, frozen: bool) -> Block:
        """Take notice of a block's indices; a frozen recipe drops those that it does not know."""
        width = block.rows.width
        if self.kind == "names" or width <= self._columns:
            return block
        if frozen:
            return Block(_below(block.rows, self._columns), block.labels, block.lines, block.source, block.weights)
        if self.kind == "columns":
            raise InputError(f"feature {width - 1} is beyond the model's {self._columns} columns", block.source)
        self._columns = width
        return block

    def reach(self, width: int) -> None:
        """Let a recipe of whole-number indices extend to `width`."""
        self._columns = max(self._columns, width)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "columns": self._columns,
            "names": list(self.names),
            "hash_bits": self.hash_bits,
            "hash_start": self.hash_start,
            "categorical": list(self.categorical),
            "text": list(self.text),
            "interactions": list(self.interactions),
            "special": {name: str(kind) for name, kind in self.special.items()},
            "label": self.label,
            "table": self.table,
            "values": [list(self.values), list(self.values.values())],
        }

    def same_recipe(self, other: Features) -> bool:
        """Whether equal rows become equal vectors under both."""
        ours, theirs = self.to_dict(), other.to_dict()
        return all(ours[key] == theirs[key] for key in ours if key not in ("values", "label", "table"))

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Features:
        """The recipe that was kept; a ValueError for one that none can be."""
        _check(stored)
        features = cls(stored["kind"], stored["columns"])
        features.hash_bits, features.hash_start = stored["hash_bits"], stored["hash_start"]
        features.categorical, features.text = tuple(stored["categorical"]), tuple(stored["text"])
        features.interactions = tuple(stored.get("interactions", ()))
        features.names = list(stored["names"])
        features.values = dict(zip(*stored["values"], strict=True))
        features.noted = _bits(features.slots, list(features.values))
        start = len(features.names) if features.hash_start is None else features.hash_start
        features.index = {
            name: place if place < start else place + features.slots for place, name in enumerate(features.names)
        }
        features.special, features.label = kinds_of(stored["special"]), stored["label"]
        features.table = stored["table"] is True
        features._check_special()
        return features

    def _check_special(self) -> None:
        """A recipe from a file must hold together."""
        hashed = {*self.categorical, *self.text}
        for column, kind in self.special.items():
            there = all(name in self.index for name in kind.names(column)) or column == self.label
            if kind.hashed or kind.plain or column in hashed or not there:
                raise ValueError(f"the column {column!r} does not fit the other columns")
        kinds = self.columns
        for pair in self.interactions:
            what = [kinds[side].what for side in pair.split(":") if side in kinds]
            if sorted(what) not in PAIRED or (pair in self.index) != (what == ["number", "number"]):
                raise ValueError(f"the interaction {pair!r} does not fit the columns")
        if not (self.label is None or isinstance(self.label, str)):
            raise ValueError("the name of the label is not text")


class _Stored(msgspec.Struct):
    """What `to_dict` makes, as a file that anybody may have written must hold it."""

    kind: Kind
    columns: Annotated[int, msgspec.Meta(ge=0, le=MAX_INDEX + 1)]
    names: list[str]
    hash_bits: Annotated[int, msgspec.Meta(ge=1, le=30)] | None
    hash_start: Annotated[int, msgspec.Meta(ge=0)] | None
    categorical: list[str]
    text: list[str]
    values: tuple[list[Annotated[int, msgspec.Meta(ge=0)]], list[str]]
    interactions: list[str] = []


def _check(stored: dict[str, Any]) -> None:
    try:
        found = msgspec.convert(stored, _Stored)
    except msgspec.ValidationError as error:
        raise ValueError(f"features: {error}") from error
    slots, start = 0 if found.hash_bits is None else 1 << found.hash_bits, found.hash_start
    fits = (found.hash_bits is None) == (start is None) and (start or 0) <= len(found.names)
    fits = fits and len(set(found.names)) == len(found.names) and len(found.names) + slots <= MAX_INDEX + 1
    fits = fits and len(found.values[0]) == len(found.values[1]) and max(found.values[0], default=-1) < slots
    if not fits:
        raise ValueError("features that do not fit together")


def _bits(slots: int, noted: list[int]) -> NDArray[np.uint8]:
    """A bit for each slot, set for those given."""
    bits = np.zeros((slots + 7) // 8, dtype=np.uint8)
    places = np.array(noted, dtype=np.int64)
    np.bitwise_or.at(bits, places >> 3, (1 << (places & 7)).astype(np.uint8))
    return bits


def _below(rows: Rows, width: int) -> Rows:
    """The rows without the features from `width` on."""
    if isinstance(rows, Dense):
        return Dense(np.ascontiguousarray(rows.X[:, :width]))
    keep = rows.indices < width
    kept = np.concatenate([[0], np.cumsum(keep)])
    return Sparse(kept[rows.indptr].astype(np.int64), rows.indices[keep], rows.values[keep])
