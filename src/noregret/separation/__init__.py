"""Separability: a separator of the largest margin, or the proof that there is none; either can be checked exactly."""

from noregret.separation.result import Separation
from noregret.separation.solve import separate

__all__ = ["Separation", "separate"]
