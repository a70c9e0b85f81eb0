"""From a run to one predictor: the last, the average, a vote, or the one of least penalised risk, with what it risks."""

from noregret.selection.choosing import Selection, select

__all__ = ["Selection", "select"]
