"""From a run to one predictor, the last, the average, a vote or that of least penalised risk, and what it risks."""

from noregret.selection.choosing import Selection, select

__all__ = ["Selection", "select"]
