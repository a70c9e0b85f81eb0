"""Names and other libraries' errors as parts of a sentence: on one line, and not without end."""

from __future__ import annotations

from collections.abc import Collection

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
