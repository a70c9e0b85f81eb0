"""A sentence of the library names Python parameters; at the command line the same sentence names options."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from noregret.errors import InputError, SettingError

OPTIONS = {
    "missing='skip'": "--missing skip",
    "keep=": "--keep",
    "range=(lo, hi)": "--range LO,HI",
    "one of score, probability and prediction": "one of --score, --probability and --prediction",
    "segments and segment_by": "--segments and --segment-by",
    "task and positive": "--task and --positive",
}


@contextmanager
def naming_options() -> Iterator[None]:
    """Errors that name a parameter come out with the option instead."""
    try:
        yield
    except InputError as error:
        error.sentence = _with_options(error.sentence)
        raise
    except SettingError as error:
        error.args = (_with_options(str(error)),)
        raise


def _with_options(sentence: str) -> str:
    for parameter, option in OPTIONS.items():
        sentence = sentence.replace(parameter, option)
    return sentence
