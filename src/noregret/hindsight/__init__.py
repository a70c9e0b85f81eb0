"""The best comparator in hindsight, as an interval with its proof."""

from noregret.hindsight.comparator import best, curve, prefixes
from noregret.hindsight.perceptron import best_expert, least_l2, penalised, root, separator
from noregret.hindsight.proof import linearised
from noregret.hindsight.result import Hindsight, Penalised, Root, Separator

__all__ = [
    "Hindsight",
    "Penalised",
    "Root",
    "Separator",
    "best",
    "best_expert",
    "curve",
    "least_l2",
    "linearised",
    "penalised",
    "prefixes",
    "root",
    "separator",
]
