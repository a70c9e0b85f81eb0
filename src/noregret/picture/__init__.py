"""Pictures of runs (extra `[plot]`: matplotlib)."""

from noregret.picture.canvas import Picture
from noregret.picture.plotting import pictures_of, plot

__all__ = ["Picture", "pictures_of", "plot"]
