"""Scaling and unit norm from the definition, on rows that are lists of (feature, value), one after another."""

import math


def scaled(rows, peak, learn):
    """x_i ← x_i / max |x_i| so far, the row itself included while learning; 0 for a feature never seen."""
    out = []
    for row in rows:
        for i, x in row:
            if learn:
                peak[i] = max(peak.get(i, 0.0), abs(x))
        out.append([(i, x / peak[i] if peak.get(i, 0.0) > 0.0 else 0.0) for i, x in row])
    return out


def unit(rows):
    """x ← x/‖x‖ with the largest |x_i| divided out first and squares added in order; zero rows stay."""
    out = []
    for row in rows:
        top = max((abs(x) for _, x in row), default=0.0)
        if top > 0.0:
            total = 0.0
            for _, x in row:
                total += (x / top) * (x / top)
            row = [(i, x / top / math.sqrt(total)) for i, x in row]
        out.append(row)
    return out
