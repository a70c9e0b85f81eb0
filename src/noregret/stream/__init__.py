"""Streams: rows and labels from files, tables, arrays and iterables, in blocks, every row with its place."""

from noregret.stream.base import Stream
from noregret.stream.block import Block, Dense, Sparse
from noregret.stream.features import Features
from noregret.stream.formats.dicts import encode
from noregret.stream.labels import Labels
from noregret.stream.reading import read
from noregret.stream.rowfile import RowFile, rereadable, shuffled

__all__ = [
    "Block",
    "Dense",
    "Features",
    "Labels",
    "RowFile",
    "Sparse",
    "Stream",
    "encode",
    "read",
    "rereadable",
    "shuffled",
]
