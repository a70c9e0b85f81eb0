"""A sentence of the library names Python parameters; at the command line the same sentence names options."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from noregret.errors import InputError

OPTIONS = {"missing='skip'": "--missing skip", "keep=": "--keep", "range=(lo, hi)": "--range LO,HI"}


@contextmanager
def naming_options() -> Iterator[None]:
    """Errors that name a parameter come out with the option instead."""
    try:
        yield
    except InputError as error:
        for parameter, option in OPTIONS.items():
            error.sentence = error.sentence.replace(parameter, option)
        raise
