"""`numba`, imported without the reader of its settings file where there is no such file: a part of every start."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

SETTINGS = ".numba_config.yaml"  # what numba looks for in the working folder
READER = "yaml"


def imported() -> Any:
    """The module. Another thread might ask for the reader in the meantime: with threads about, numba imports it."""
    alone = threading.active_count() == 1
    hidden = alone and READER not in sys.modules and not os.path.exists(SETTINGS)
    if hidden:
        sys.modules[READER] = None  # type: ignore[assignment]
    try:
        import numba
    finally:
        if hidden:
            del sys.modules[READER]
    return numba
