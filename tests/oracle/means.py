"""Missing values as means, from the definition: one row after another, one column after another."""

import math


def filled(rows):
    """Every NaN as the mean of what its column held in the rows before, 0 where that is nothing."""
    before, out = [[] for _ in rows[0]], []
    for row in rows:
        out.append([_mean(seen) if math.isnan(x) else x for x, seen in zip(row, before, strict=True)])
        for x, seen in zip(row, before, strict=True):
            if not math.isnan(x):
                seen.append(x)
    return out


def _mean(seen):
    total = 0.0
    for x in seen:
        total += x
    return total / len(seen) if seen else 0.0
