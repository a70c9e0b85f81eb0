"""How long a process takes that only says what it can do."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any


def start(turns: int) -> Iterator[dict[str, Any]]:
    """`noregret --help` against `import numpy`, in wall time."""
    commands = {
        "numpy": [sys.executable, "-c", "import numpy"],
        "help": [sys.executable, "-m", "noregret", "--help"],
    }
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(turns + 1):
        for name, command in commands.items():
            began = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            best[name] = min(best[name], time.perf_counter() - began)
    yield {"job": "noregret --help", "seconds": best["help"], "of import numpy": best["help"] / best["numpy"]}
