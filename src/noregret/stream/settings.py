"""How a source is to be read: one immutable bundle that every reader takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from noregret.errors import SettingError
from noregret.stream.features import Features, Kind

MISSING_RULES = ("error", "zero", "mean", "skip")
DECLARING = ("categorical", "text", "numeric", "date")  # what says what a column is
TEXT_ROWS = 4096
TABLE_ROWS = 16384
ARRAY_ROWS = 65536
BLOCK_VALUES = 2**19  # 4 MB of float64


@dataclass(frozen=True, slots=True)
class Settings:
    """What `read` was asked for, checked."""

    label: str | None = None
    text: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    hash_bits: int = 18
    missing: str = "error"
    features: Features | None = None
    frozen: bool = False
    labels: bool = True
    block_rows: int | None = None
    ignore: tuple[str, ...] = ()
    threads: int = 1
    numeric: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    columns: Mapping[str, str] | None = None
    recognise: bool = True

    def __post_init__(self) -> None:
        if self.missing not in MISSING_RULES:
            raise SettingError(f"missing must be one of {', '.join(MISSING_RULES)}, got {self.missing!r}")
        if isinstance(self.hash_bits, bool) or not (isinstance(self.hash_bits, int) and 1 <= self.hash_bits <= 30):
            raise SettingError(f"hash_bits must be a whole number from 1 to 30, got {self.hash_bits!r}")
        if self.block_rows is not None and self.block_rows < 1:
            raise SettingError(f"block_rows must be at least 1, got {self.block_rows!r}")
        if isinstance(self.threads, bool) or not (isinstance(self.threads, int) and self.threads >= 1):
            raise SettingError(f"threads must be a whole number from 1 on, got {self.threads!r}")
        if self.frozen and self.features is None:
            raise SettingError("frozen needs the features of a model")
        self._check_columns()

    def _check_columns(self) -> None:
        """Every column is said to be one thing."""
        said: dict[str, str] = {}
        for option in DECLARING:
            for name in getattr(self, option):
                if said.setdefault(name, option) != option:
                    raise SettingError(f"column {name!r} cannot be both {said[name]} and {option}")
        if self.frozen and said:
            *others, last = DECLARING
            raise SettingError(f"{', '.join(others)} and {last} cannot be given: the model's recipe is frozen")
        for name in set(self.ignore) & {*said, *self.keep, self.label}:
            raise SettingError(f"column {name!r} cannot be ignored and used too")
        if self.label in (*said, *self.keep):
            raise SettingError(f"column {self.label!r} is the label: it cannot be a feature too")
        if self.columns is not None and (said or self.keep or self.features is not None):
            raise SettingError("columns says what every column is: nothing else can say it too")

    def rows_per_block(self, usual: int, width: int = 1) -> int:
        """`block_rows` when given; else the usual number, fewer when rows are wide."""
        return self.block_rows or max(1, min(usual, BLOCK_VALUES // max(width, 1)))

    def refuse_columns(self, who: str) -> None:
        """Say that what names a column means nothing where there are no columns with names."""
        for option in ("label", *DECLARING, "keep", "ignore", "columns"):
            if getattr(self, option):
                raise SettingError(f"{option} names a column, but {who} has no named columns")

    def numbered(self, kind: Kind, columns: int, source: str) -> Features:
        """The features of a source without names: the model's own when they are without names too."""
        if self.features is None:
            return Features(kind, columns)
        if self.features.kind == "names" and self.features.width:
            raise SettingError(f"the model's features have names, those of {source} have none")
        if self.features.kind == "names":
            self.features.kind = kind
            self.features.reach(columns)
        return self.features
