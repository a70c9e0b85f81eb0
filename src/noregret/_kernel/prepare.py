"""Rows made ready before they are played, in place, row after row: missing values filled in, features scaled."""

from __future__ import annotations

import math
from typing import Any

from noregret._kernel import compiled


@compiled
def fill_sparse(indptr: Any, indices: Any, values: Any, sums: Any, gaps: Any, rows: Any, learn: bool) -> None:
    """A missing x_i ← the mean of feature i over the rows before: sums[i] / (rows[0] − gaps[i]), 0 where there is none.

    While learning, the row's own values enter the means behind it. A feature that a row does not name was 0 in it.
    """
    for t in range(indptr.shape[0] - 1):
        for j in range(indptr[t], indptr[t + 1]):
            i = indices[j]
            if math.isnan(values[j]):
                known = rows[0] - gaps[i] if i < sums.shape[0] else 0
                values[j] = sums[i] / known if known > 0 else 0.0
                if learn:
                    gaps[i] += 1
            elif learn:
                sums[i] += values[j]
        if learn:
            rows[0] += 1


@compiled
def fill_dense(X: Any, sums: Any, gaps: Any, rows: Any, learn: bool) -> None:
    """The same for the rows of a matrix."""
    for t in range(X.shape[0]):
        for i in range(X.shape[1]):
            if math.isnan(X[t, i]):
                known = rows[0] - gaps[i] if i < sums.shape[0] else 0
                X[t, i] = sums[i] / known if known > 0 else 0.0
                if learn:
                    gaps[i] += 1
            elif learn:
                sums[i] += X[t, i]
        if learn:
            rows[0] += 1


@compiled
def scale_sparse(indptr: Any, indices: Any, values: Any, peak: Any, learn: bool) -> None:
    """x_i ← x_i / max |x_i| so far, the row itself included while learning; a feature never seen counts as 0."""
    for j in range(indptr[0], indptr[-1]):
        i = indices[j]
        top = peak[i] if i < peak.shape[0] else 0.0
        if learn and abs(values[j]) > top:
            top = abs(values[j])
            peak[i] = top
        values[j] = values[j] / top if top > 0.0 else 0.0


@compiled
def scale_dense(X: Any, peak: Any, learn: bool) -> None:
    """The same for the rows of a matrix."""
    for t in range(X.shape[0]):
        for i in range(X.shape[1]):
            top = peak[i] if i < peak.shape[0] else 0.0
            if learn and abs(X[t, i]) > top:
                top = abs(X[t, i])
                peak[i] = top
            X[t, i] = X[t, i] / top if top > 0.0 else 0.0


@compiled
def unit_sparse(indptr: Any, values: Any) -> None:
    """x ← x/‖x‖ for every row that is not zero; the row's largest entry is divided out first against overflow."""
    for t in range(indptr.shape[0] - 1):
        top = 0.0
        for j in range(indptr[t], indptr[t + 1]):
            top = max(top, abs(values[j]))
        if top > 0.0:
            total = 0.0
            for j in range(indptr[t], indptr[t + 1]):
                total += (values[j] / top) * (values[j] / top)
            norm = math.sqrt(total)
            for j in range(indptr[t], indptr[t + 1]):
                values[j] = values[j] / top / norm


@compiled
def unit_dense(X: Any) -> None:
    """The same for the rows of a matrix."""
    for t in range(X.shape[0]):
        top = 0.0
        for i in range(X.shape[1]):
            top = max(top, abs(X[t, i]))
        if top > 0.0:
            total = 0.0
            for i in range(X.shape[1]):
                total += (X[t, i] / top) * (X[t, i] / top)
            norm = math.sqrt(total)
            for i in range(X.shape[1]):
                X[t, i] = X[t, i] / top / norm
