"""Speed as ratios: noregret and every peer that is installed, side by side in one run, with what each reached."""

from noregret.bench.runner import JOBS, facts, run
from noregret.bench.size import FULL, QUICK, TINY, Size

__all__ = ["FULL", "JOBS", "QUICK", "TINY", "Size", "facts", "run"]
