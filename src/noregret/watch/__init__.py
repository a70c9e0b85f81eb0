"""What watches a run while it goes on: each part is a function of the plays alone, so that a replay finds the same."""
