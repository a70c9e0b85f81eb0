"""How much work a benchmark is: the whole of it, two minutes of it, and as little as a test can bear."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """Turns of each contestant, and rows of each job."""

    turns: int
    short_turns: int  # of what takes a tenth of a second: others who use the same memory come and go in such times
    sparse: int  # rows of stream A in memory
    dense: int  # rows of stream B in memory
    single: int  # rounds played one at a time
    file: int  # rows of stream A in a text file
    csv: int
    slow_turns: int  # of peers that take minutes
    kernel: tuple[int, int]
    expert_rounds: tuple[int, int]  # ours, River's
    finite_seconds: float
    large_classes: bool
    hindsight: tuple[int, int, tuple[int, ...]]
    scaling: int  # entries of the largest stream of the scaling measurements


FULL = Size(
    turns=5,
    short_turns=15,
    sparse=500_000,
    dense=1_000_000,
    single=20_000,
    file=950_000,
    csv=1_000_000,
    slow_turns=1,
    kernel=(20_000, 784),
    expert_rounds=(1_000_000, 2_000),
    finite_seconds=60.0,
    large_classes=True,
    hindsight=(100_000, 1_000_000, (100_000, 400_000)),
    scaling=50_000_000,
)
QUICK = Size(
    turns=3,
    short_turns=3,
    sparse=50_000,
    dense=200_000,
    single=3_000,
    file=35_000,
    csv=60_000,
    slow_turns=1,
    kernel=(3_000, 784),
    expert_rounds=(100_000, 500),
    finite_seconds=1.0,
    large_classes=False,
    hindsight=(2_000, 20_000, (5_000,)),
    scaling=5_000_000,
)
TINY = Size(
    turns=1,
    short_turns=1,
    sparse=60,
    dense=80,
    single=20,
    file=40,
    csv=30,
    slow_turns=1,
    kernel=(40, 6),
    expert_rounds=(50, 20),
    finite_seconds=0.1,
    large_classes=False,
    hindsight=(60, 80, ()),
    scaling=10_000,
)
