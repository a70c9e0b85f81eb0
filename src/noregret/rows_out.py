"""The rows of a run as they were played, as text: who checks a receipt needs neither the recipe nor the preparation.

The first line says what the file is. Then svmlight, a row a round: the label as the loop had it, −1 or +1, a class or a
number; every entry that the loop added up, zeros of a dense row too; behind it the weight, where it is not 1. Numbers
are written with the fewest digits that give the same float.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator

import numpy as np

from noregret.atomic import whole_file
from noregret.rounds import PIECE, Rounds
from noregret.stream.block import Dense, Rows

HEAD = "# rows as they were played"


def write_rows(path: str | os.PathLike[str], rounds: Rounds) -> None:
    """Write them; the file appears whole or not at all."""
    with whole_file(path) as file:
        file.write(f"{HEAD}\n".encode())
        for start in range(0, len(rounds), PIECE):
            part = rounds.part(start, min(start + PIECE, len(rounds)))
            weights = np.ones(len(part)) if part.weights is None else part.weights
            for y, row, weight in zip(part.y.tolist(), _texts(part.bare), weights.tolist(), strict=True):
                label = int(y) if y == int(y) else y
                file.write(f"{label}{row}{'' if weight == 1.0 else f' # weight {weight!r}'}\n".encode())


def _texts(rows: Rows) -> Iterator[str]:
    """The entries of each row, a blank before each."""
    if isinstance(rows, Dense):
        for values in rows.X.tolist():
            yield "".join(f" {place}:{x!r}" for place, x in enumerate(values))
        return
    bounds, features, values = rows.indptr.tolist(), rows.indices.tolist(), rows.values.tolist()
    for start, stop in itertools.pairwise(bounds):
        yield "".join(f" {features[i]}:{values[i]!r}" for i in range(start, stop))
