"""Numbered lines of text: split at the newline alone, the byte-order mark removed, binary files refused."""

from __future__ import annotations

from collections.abc import Iterator

from noregret.errors import InputError
from noregret.stream.opening import Opened

_MARK = b"\xef\xbb\xbf"


def binary(source: str, line: int) -> InputError:
    """What is wrong with a line that holds a NUL byte."""
    return InputError("holds a NUL byte: this is a binary file, expected text", source, line)


def byte_lines(opened: Opened) -> Iterator[bytes]:
    """Every line without its newline; the n-th that comes is line n of the file."""
    rest, done = b"", 0
    while piece := opened.read(line=done + 1):
        if b"\0" in piece:
            at = done + 1 + piece[: piece.index(b"\0")].count(b"\n")
            raise binary(opened.name, at)
        lines = piece.split(b"\n")
        if len(lines) == 1:
            rest += piece
            continue
        lines[0] = rest + lines[0]
        rest = lines.pop()
        if not done:
            lines[0] = lines[0].removeprefix(_MARK)
        done += len(lines)
        yield from lines
    if rest:
        yield rest if done else rest.removeprefix(_MARK)


def decoded(line: bytes, source: str, number: int) -> str:
    """The line as UTF-8 text."""
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        byte = line[error.start]
        raise InputError(f"is not UTF-8 text: byte 0x{byte:02x} has no meaning there", source, number) from error


def text_lines(opened: Opened) -> Iterator[str]:
    """Every line with its newline, decoded."""
    for number, line in enumerate(byte_lines(opened), 1):
        yield decoded(line, opened.name, number) + "\n"
