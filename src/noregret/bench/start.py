"""How long a process takes that has next to nothing to do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from noregret.bench.row import OURS, Row, row
from noregret.bench.size import Size
from noregret.bench.timing import best_process


def start(size: Size, folder: Path) -> Iterator[Row]:
    """`noregret --help` and `learn` on ten rows, beside the imports that nobody can do without."""
    ten = folder / "ten.svm"
    ten.write_text("".join(f"{'1' if t % 2 else '-1'} 1:0.5 {t + 2}:1\n" for t in range(10)))
    ours = (sys.executable, "-m", "noregret")
    commands = {
        "import numpy": (sys.executable, "-c", "import numpy"),
        f"{OURS} --help": (*ours, "--help"),
        f"{OURS} learn, ten rows": (*ours, "learn", str(ten)),
        f"{OURS} learn --learner adagrad, ten rows": (*ours, "learn", str(ten), "--learner", "adagrad"),
    }
    found = best_process(commands, dict.fromkeys(commands, size.turns), str(folder / "report.json"))
    base = found[f"{OURS} learn, ten rows"].seconds
    for name, done in found.items():
        yield row("start-up, whole process", name, done.seconds, base, CPU_seconds=done.cpu, megabytes=done.megabytes)
