"""A stream as one dense matrix with its labels: the plainest form in which two streams can be compared."""

import numpy as np

from noregret.stream import Dense, Stream


def matrix(stream: Stream) -> tuple[np.ndarray, list]:
    """All rows of one pass, as wide as the stream's features, and the labels as a list."""
    blocks = list(stream.blocks())
    X = np.zeros((sum(map(len, blocks)), stream.features.width))
    labels: list = []
    for block in blocks:
        for t in range(len(block)):
            row = X[len(labels)]
            if isinstance(block.rows, Dense):
                row[:] = block.rows.X[t]
            else:
                low, high = block.rows.indptr[t : t + 2]
                row[block.rows.indices[low:high]] = block.rows.values[low:high]
            labels.append(block.labels[t])
    return X, labels
