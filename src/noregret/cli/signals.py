"""The signals that ask the program to end: each does as Ctrl-C does, so that files half written are taken away.

A signal that whoever started the program ignores, as a script does with Ctrl-C for its background jobs, stays ignored.
"""

from __future__ import annotations

import signal
import sys
from typing import Any

_came: list[int] = []
_late = False  # whether the first is to be asked for


def listen(late: bool = False) -> None:
    """Let a request to end, or a terminal that is closed, raise KeyboardInterrupt.

    `late`: the first only once `released` is called, by a command that will know what to do about rows that wait.
    """
    global _late
    _came.clear()
    _late = late
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _end)
    sys.unraisablehook = _tell_but_interrupts


def note(number: int) -> None:
    """Remember that a signal came."""
    _came.append(number)


def interrupted() -> bool:
    """Whether one came."""
    return bool(_came)


def stop_code() -> int:
    """The exit code of a program that was asked to end: 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP."""
    return 128 + (_came[0] if _came else signal.SIGINT)


def released() -> bool:
    """Whether a request came; from now on they are heard at once."""
    global _late
    _late = False
    return bool(_came)


def _end(number: int, frame: Any) -> None:
    note(number)
    if not _late or len(_came) > 1:
        raise KeyboardInterrupt


def _tell_but_interrupts(told: Any) -> None:
    """Report what went wrong where nothing can be raised, except a Ctrl-C, which soon ends the command anyway."""
    if not issubclass(told.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(told)
