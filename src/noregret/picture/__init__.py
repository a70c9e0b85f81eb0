"""Pictures of runs (extra `[plot]`: matplotlib)."""
