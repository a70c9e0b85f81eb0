"""Where the process of a command begins: what is to be set before anything large is imported."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Import the commands and run the one that is named."""
    gc.disable()  # what is imported stays: looking through it for garbage is time lost
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # threads without work sleep at once and do not spin
    try:
        from noregret.cli.main import main as command
    except KeyboardInterrupt:
        sys.exit(130)
    command()
