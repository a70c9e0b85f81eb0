"""Lines of text: binary files and other encodings are refused."""

from __future__ import annotations

from noregret.errors import InputError


def binary(source: str, line: int) -> InputError:
    """What is wrong with a line that holds a NUL byte."""
    return InputError("holds a NUL byte: this is a binary file, expected text", source, line)


def decoded(line: bytes, source: str, number: int) -> str:
    """The line as UTF-8 text."""
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        byte = line[error.start]
        raise InputError(f"is not UTF-8 text: byte 0x{byte:02x} has no meaning there", source, number) from error
