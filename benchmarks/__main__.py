"""`python -m benchmarks [--quick]`: the tables, and the same as JSON under benchmarks/results/."""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np

from benchmarks.experts import experts
from benchmarks.finite import finite
from benchmarks.hindsight import hindsight
from benchmarks.kernel import kernel
from benchmarks.passes import own_loss, passes
from benchmarks.single import single
from benchmarks.start import start


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small streams and few turns")
    quick = parser.parse_args().quick
    turns = 3 if quick else 7
    facts = {"python": platform.python_version(), "numpy": np.__version__, "numba": numba.__version__}
    facts |= {
        "cpu": platform.processor() or platform.machine(),
        "cores": str(os.cpu_count()),
        "date": time.strftime("%F"),
    }
    print("  ".join(f"{key} {value}" for key, value in facts.items()), end="\n\n")
    found: list[dict[str, Any]] = []
    for rows in (
        passes(50_000 if quick else 300_000, 200_000 if quick else 1_000_000, turns),
        own_loss(200_000 if quick else 1_000_000, turns),
        kernel(3_000 if quick else 20_000, 784),
        single(3_000 if quick else 20_000, turns),
        start(turns),
        experts(100_000, 500, turns) if quick else experts(1_000_000, 2_000, turns),
        finite(turns, 10.0 if quick else 60.0),
        hindsight(2_000, 20_000, (10_000,)) if quick else hindsight(100_000, 1_000_000, (100_000, 400_000)),
    ):
        for row in rows:
            found.append(row)
            figures = "  ".join(f"{key} {value:.3g}" for key, value in row.items() if key != "job")
            print(f"{row['job']:46s} {figures}", flush=True)
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / "latest.json").write_text(json.dumps({"facts": facts, "rows": found}, indent=1))


if __name__ == "__main__":
    main()
