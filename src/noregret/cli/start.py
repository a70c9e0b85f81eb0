"""Where the process of a command begins: what is to be set before anything large is imported."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from contextlib import suppress


def main() -> None:
    """Import the commands and run the one that is named."""
    gc.disable()  # what is imported stays: looking through it for garbage is time lost
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # threads without work sleep at once and do not spin
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by who started us
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 (to the end)
    code: object = 130
    try:
        from noregret.cli.main import main as command

        gc.freeze()  # only here: a program that calls the commands itself would never get back what they leave
        gc.set_threshold(200_000, 20, 20)
        gc.enable()
        command()
    except KeyboardInterrupt:
        pass
    except SystemExit as left:
        code = left.code
    _leave(code)


def _leave(code: object) -> None:
    """End the process; all that was imported goes with it, and need not be taken apart piece by piece first."""
    if sys.gettrace() is not None or sys.getprofile() is not None or not isinstance(code, int):
        sys.exit(code)  # type: ignore[arg-type]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
