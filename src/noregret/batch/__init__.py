"""The batch perceptron: all rows at once, again and again, until none is misclassified."""

from noregret.batch.perceptron import UPDATES, BatchRun, Outcome, run

__all__ = ["UPDATES", "BatchRun", "Outcome", "run"]
