"""Every error a user can cause, each one sentence: who, what must hold, what was given.

The command line prints `str(error)` on one line and exits with 2; nothing here is meant to be seen as a traceback. A
sentence that tells the reader to give a setting names it by `spelled`: a parameter in Python, an option on the command
line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager


class NoregretError(Exception):
    """The base of every error that a user's input, settings or files can cause."""


def placed(sentence: str, source: str | None, line: int | None) -> str:
    """A sentence behind the place that it speaks of, as far as that is known."""
    if source is not None and not source.isprintable():  # a file can be named by any characters
        source = repr(source)[1:-1]
    place = [str(part) for part in (source, line) if part is not None]
    return ": ".join([":".join(place), sentence]) if place else sentence


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
        return placed(self.sentence, self.source, self.line)


class EmptyError(InputError):
    """A source without any row."""


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

    def place(self, source: str, line: int) -> None:
        """Say which row it was."""
        self.args = (placed(str(self), source, line),)


_typed = False  # whether the user typed a command
_options: frozenset[str] | None = None  # those of that command, once it is known which one it is


@contextmanager
def on_command_line() -> Iterator[None]:
    """Sentences that are made meanwhile name options, for the user typed a command."""
    global _typed, _options
    before, _typed = (_typed, _options), True
    try:
        yield
    finally:
        _typed, _options = before


def command_has(options: Iterable[str]) -> None:
    """Tell which options the command that was typed has."""
    global _options
    _options = frozenset(options)


def offers(name: str) -> bool:
    """Whether the user could give this setting here: every one in Python, those of its command on the command line."""
    return _options is None or name in _options


def spelled(name: str, *values: str, columns: Collection[str] = (), python: str | None = None) -> str:
    """A setting as its user would give it: with one of these values, or with columns; `python` where Python differs.

    >>> spelled("missing"), spelled("missing", "zero", "skip"), spelled("text", columns=["note"])
    ('missing', "missing='zero' or 'skip'", "text=['note']")
    >>> with on_command_line():
    ...     spelled("missing"), spelled("missing", "zero", "skip"), spelled("text", columns=["my note"])
    ('--missing', '--missing zero or skip', "--text 'my note'")
    """
    if not _typed:
        given = f"{list(columns)!r}" if columns else _either(map(repr, values))
        return python or (f"{name}={given}" if given else name)
    from shlex import quote

    shown = [quote(one) if one.isprintable() else repr(one) for one in columns]
    return " ".join([f"--{name.replace('_', '-')}", ",".join(shown) or _either(values)]).rstrip()


def _either(values: Iterable[str]) -> str:
    *others, last = [*values] or [""]
    return f"{', '.join(others)} or {last}" if others else last


def nearest(name: str, known: Iterable[str], most: int = 1) -> str:
    """`; did you mean novikoff?` for a name that is nearly one of those known, or nothing; `most` names at the most.

    >>> nearest("novikof", ["novikoff", "hedge"]), nearest("newtn", ["newton", "newton-1", "labels"], 3)
    ('; did you mean novikoff?', '; did you mean newton or newton-1?')
    """
    from difflib import get_close_matches

    found = get_close_matches(name, list(known), n=most)
    return f"; did you mean {_either(found)}?" if found else ""


SHOWN = 20


def listed(names: Collection[str]) -> str:
    """The first names of a list, and how many more there are.

    >>> listed(["a", "b"]), listed(["line\\nbreak"]), listed([])
    ('a, b', "'line\\\\nbreak'", 'nothing')
    """
    shown = [name if name.isprintable() else repr(name) for name in list(names)[:SHOWN]]
    more = [f"and {len(names) - SHOWN} more"] if len(names) > SHOWN else []
    return ", ".join(shown + more) or "nothing"


def reason(error: BaseException) -> str:
    """The first line of what an error says, or its kind when it says nothing."""
    said = str(error).strip().partition("\n")[0].rstrip(". ")
    return "".join(c if c.isprintable() else "?" for c in said) or type(error).__name__
