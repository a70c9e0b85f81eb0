"""NumPy archives: `X` and `y`, or the `data`, `indices`, `indptr` and `shape` of a CSR matrix and `y`.

The members of the archive are read side by side a block at a time, so that memory does not grow with the file
(an array stored column by column is the exception: it has to be loaded whole). Nothing is ever unpickled.
"""

from __future__ import annotations

import math
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError, listed, reason
from noregret.stream.base import Stream
from noregret.stream.block import MAX_INDEX, TABLE_ROWS, Block, Dense, Rows
from noregret.stream.formats.arrays import floats
from noregret.stream.hashing import summed
from noregret.stream.opening import Input
from noregret.stream.reading import Settings
from noregret.stream.task import label_array, no_labels

_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    OSError,
    EOFError,
    ValueError,
    TypeError,
    SyntaxError,
    OverflowError,
    MemoryError,
    NotImplementedError,
    RuntimeError,
    KeyError,
)


class _Member:
    """One array of the archive, read from its beginning towards its end."""

    def __init__(self, archive: zipfile.ZipFile, key: str) -> None:
        self.key = key
        self._file: IO[bytes] = archive.open(key + ".npy")
        self.shape, self.by_column, self.dtype = _array_header(self._file)
        if self.dtype.hasobject:
            raise ValueError(f"{key} holds Python objects, which are never loaded")
        if any(size < 0 for size in self.shape):
            raise ValueError(f"{key} has a negative size")
        self._whole: NDArray[Any] | None = None
        self._done = 0

    def next(self, rows: int) -> NDArray[Any]:
        """The next `rows` entries along the first axis."""
        if self.by_column and len(self.shape) == 2:
            return self._from_whole(rows)
        return self._from_file((rows, *self.shape[1:]))

    def _from_whole(self, rows: int) -> NDArray[Any]:
        if self._whole is None:
            self._whole = self._from_file(self.shape[::-1]).T
        self._done += rows
        return self._whole[self._done - rows : self._done]

    def _from_file(self, shape: tuple[int, ...]) -> NDArray[Any]:
        size = math.prod(shape) * self.dtype.itemsize
        held = self._file.read(size)
        if len(held) < size:
            raise EOFError(f"{self.key} is cut short")
        return np.frombuffer(bytearray(held), dtype=self.dtype).reshape(shape)

    def finish(self) -> None:
        """Read to the end, where the archive's checksum is compared."""
        if self._file.read(1):
            raise ValueError(f"{self.key} is longer than its shape")


def _array_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shape, by_column, dtype = read(file)
    return shape, by_column, dtype


class Npz(Stream):
    """The rows of a NumPy archive."""

    def __init__(self, file: Input, settings: Settings) -> None:
        self._file = file
        self._needed = settings.labels
        self.source = file.name
        with ExitStack() as stack:
            self._sparse, members, (rows, columns) = self._open(stack)
            self._has_labels = "y" in members
        super().__init__(file.name, settings.numbered("columns", columns, file.name), settings, length=rows)
        self._block_rows = settings.rows_per_block(TABLE_ROWS, 1 if self._sparse else columns)

    def _open(self, stack: ExitStack) -> tuple[bool, dict[str, _Member], tuple[int, int]]:
        """The members, whether they are a sparse matrix, and the matrix's shape."""
        with self._well_formed():
            handle = stack.enter_context(self._file.seekable())
            archive = stack.enter_context(zipfile.ZipFile(handle))
            keys = {name.removesuffix(".npy") for name in archive.namelist()}
            members = {key: _Member(archive, key) for key in self._wanted(keys)}
            return "data" in members, members, self._shape(members, archive)

    @contextmanager
    def _well_formed(self) -> Iterator[None]:
        """What is wrong with an archive, as one sentence."""
        try:
            yield
        except InputError:
            raise
        except _DAMAGE as error:
            raise InputError(f"is not a well-formed .npz archive ({reason(error)})", self.source) from error

    def _wanted(self, keys: set[str]) -> list[str]:
        sparse = {"data", "indices", "indptr", "shape"}
        found = ["X"] if "X" in keys else ["data", "indices", "indptr"] if sparse <= keys else []
        if not found:
            wanted = "expected X, or data, indices, indptr and shape"
            raise InputError(f"{wanted}; the archive holds {listed(sorted(keys))}", self.source)
        if "y" not in keys and self._needed:
            raise InputError(f"expected labels under y; the archive holds {listed(sorted(keys))}", self.source)
        return [*found, "y"] if "y" in keys else found

    def _shape(self, members: dict[str, _Member], archive: zipfile.ZipFile) -> tuple[int, int]:
        """Rows and columns, every member's own shape checked against them."""
        if "X" in members:
            shape = members["X"].shape
            if len(shape) not in (1, 2):
                raise InputError(f"X must have one or two dimensions, got {len(shape)}", self.source)
            rows, columns = shape[0], shape[1] if len(shape) == 2 else 1
        else:
            self._refuse_other_layouts(archive)
            kept = _Member(archive, "shape")
            rows, columns = (int(size) for size in kept.next(*kept.shape))
            if members["indptr"].shape != (rows + 1,) or members["data"].shape != members["indices"].shape:
                raise InputError("data, indices, indptr and shape do not belong together", self.source)
            if not 0 <= columns <= MAX_INDEX + 1:
                raise InputError(f"there can be at most {MAX_INDEX + 1} columns, got {columns}", self.source)
        for key in ("X", "data", "indices", "indptr"):
            if key in members and members[key].dtype.kind not in ("iu" if key.startswith("ind") else "fiub"):
                raise InputError(f"{key} must hold numbers, it holds type {members[key].dtype}", self.source)
        if "y" in members and members["y"].shape != (rows,):
            raise InputError(f"there are {rows} rows but y has the shape {members['y'].shape}", self.source)
        return rows, columns

    def _refuse_other_layouts(self, archive: zipfile.ZipFile) -> None:
        if "format.npy" in archive.namelist():
            stored = _Member(archive, "format")
            layout = stored.next(1) if stored.shape else stored._from_file(())
            name = layout.item()
            name = name.decode("ascii", "replace") if isinstance(name, bytes) else str(name)
            if name != "csr":
                raise InputError(f"the sparse matrix must be stored as csr, it is stored as {name}", self.source)

    def _read(self) -> Iterator[Block]:
        with ExitStack() as stack:
            _, members, (rows, columns) = self._open(stack)
            previous = np.zeros(1, dtype=np.int64)
            with self._well_formed():
                if self._sparse:
                    previous = members["indptr"].next(1).astype(np.int64)
            for start in range(0, rows, self._block_rows):
                count = min(self._block_rows, rows - start)
                with self._well_formed():
                    block, previous = self._block(members, start, count, columns, previous)
                yield block
            with self._well_formed():
                for member in members.values():
                    member.finish()

    def _block(
        self, members: dict[str, _Member], start: int, count: int, columns: int, previous: NDArray[np.int64]
    ) -> tuple[Block, NDArray[np.int64]]:
        if self._sparse:
            bounds = np.concatenate([previous, members["indptr"].next(count).astype(np.int64)])
            rows: Rows = self._compressed(members, bounds, columns)
            previous = bounds[-1:]
        else:
            rows = Dense(np.ascontiguousarray(floats(members["X"].next(count)).reshape(count, columns)))
        labels = label_array(members["y"].next(count), self.source) if self._has_labels else no_labels(count)
        lines = np.arange(start + 1, start + count + 1, dtype=np.int64)
        return Block(rows, labels, lines, self.source), previous

    def _compressed(self, members: dict[str, _Member], bounds: NDArray[np.int64], columns: int) -> Rows:
        lengths = np.diff(bounds)
        if (lengths < 0).any():
            raise ValueError("indptr goes down")
        size = int(bounds[-1] - bounds[0])
        indices = members["indices"].next(size).astype(np.int64)
        if size and (indices.min() < 0 or indices.max() >= columns):
            raise ValueError("an index is outside the shape")
        at_row = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
        return summed(at_row, indices, floats(members["data"].next(size)), len(lengths))
