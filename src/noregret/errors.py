"""Every error a user can cause, each one sentence: who, what must hold, what was given.

The command line prints `str(error)` on one line and exits with 2; nothing here is meant to be seen as a traceback.
"""

from __future__ import annotations

from collections.abc import Iterable


class NoregretError(Exception):
    """The base of every error that a user's input, settings or files can cause."""


class SettingError(NoregretError, ValueError):
    """An invalid setting, for example a negative radius."""


class InputError(NoregretError, ValueError):
    """Bad data: the place it was found (`source:line`) and one sentence.

    >>> print(InputError("expected INDEX:VALUE, got '3;4'", "spam.svm", 7))
    spam.svm:7: expected INDEX:VALUE, got '3;4'
    """

    def __init__(self, sentence: str, source: str | None = None, line: int | None = None) -> None:
        super().__init__(sentence, source, line)
        self.sentence = sentence
        self.source = source
        self.line = line

    def __str__(self) -> str:
        source = self.source
        if source is not None and not source.isprintable():  # a file can be named by any characters
            source = repr(source)[1:-1]
        place = [str(part) for part in (source, self.line) if part is not None]
        return ": ".join([":".join(place), self.sentence]) if place else self.sentence


class OrderWarning(UserWarning):
    """The rows given to `fit` are sorted by label, and it learns from them in that order."""


class PlainPythonWarning(UserWarning):
    """Your own loss or kernel runs as plain Python because Numba is not installed."""


class ModelFileError(InputError):
    """A model file that is damaged, of an unknown version, or not a model file at all."""


class ReceiptError(InputError):
    """A receipt that cannot be read or, with `failed`, one that could not be verified."""

    def __init__(
        self, sentence: str, source: str | None = None, line: int | None = None, *, failed: bool = False
    ) -> None:
        super().__init__(sentence, source, line)
        self.failed = failed


class MemoryShortError(SettingError, MemoryError):
    """Not enough memory: what needs it, how much, and how much is available."""


class CacheWarning(UserWarning):
    """A cache that could not be kept; nothing else is different."""


class DivergedError(NoregretError, ArithmeticError):
    """The weights are no longer finite; the run was stopped before it could report nonsense."""


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean novikoff?` for a name that is nearly one of those known, or nothing.

    >>> nearest("novikof", ["novikoff", "hedge"])
    '; did you mean novikoff?'
    """
    from difflib import get_close_matches

    found = get_close_matches(name, list(known), n=1)
    return f"; did you mean {found[0]}?" if found else ""
