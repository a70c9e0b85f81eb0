"""The best comparator in hindsight, as an interval with its proof."""

from noregret.proof.solve.comparator import best, curve, prefixes
from noregret.proof.solve.perceptron import best_expert, least_l2, penalised, root, separator
from noregret.proof.solve.result import Penalised, Root, Separator

__all__ = [
    "Penalised",
    "Root",
    "Separator",
    "best",
    "best_expert",
    "curve",
    "least_l2",
    "penalised",
    "prefixes",
    "root",
    "separator",
]
