"""The receipt of a blend, and a verifier that recomputes every number of it from the table.

The verifier reads the table and plays every round again with the library's own loop, as that of a run does: forecasts,
losses and weights must be the same to the last bit. The best expert, regret, the best sequence, bounds and verdicts are
then recomputed by formulas of its own, which know nothing of the theorems of this package; bounds are enclosed with
outward rounding. The first number that is not what comes out again is named.
"""

from __future__ import annotations

from noregret.proof.blend.check import verify_blend
from noregret.proof.blend.file import BlendReceipt, load_blend

__all__ = ["BlendReceipt", "load_blend", "verify_blend"]
