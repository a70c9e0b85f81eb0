"""The receipt of a blend, and a verifier that recomputes every number of it from the table.

The verifier is plain code of its own: it knows neither the learners of `experts` nor the theorems of this package. It
reads the table, replays every round from the definitions with losses summed to more figures than a float has, and
compares: forecasts, losses, the best expert, regret, the best sequence, bounds and verdicts. The first number that is
not what comes out again is named. Bounds are enclosed with outward rounding.
"""

from __future__ import annotations

from noregret.receipt.blend.check import verify_blend
from noregret.receipt.blend.file import BlendReceipt, load_blend

__all__ = ["BlendReceipt", "load_blend", "verify_blend"]
