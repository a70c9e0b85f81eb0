"""Separability: a separator of the largest margin, or the proof that there is none; either can be checked exactly."""

from noregret.task.separate.result import Separation
from noregret.task.separate.solve import separate

__all__ = ["Separation", "separate"]
