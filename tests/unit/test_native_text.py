"""What the core does to text and rows besides parsing: counts, hashed entries and preparation, against their twins.

Arrays that do not fit are refused before anything is read or written.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret import _native
from noregret.stream.hashing import by_row, merged
from oracle.preparation import scaled, unit

VALUES = st.floats(-1e9, 1e9) | st.sampled_from([0.0, -0.0, 1e-310, 1e300, -1e300])
ROWS = st.lists(
    st.dictionaries(st.integers(0, 9), VALUES, max_size=10).map(lambda row: sorted(row.items())), max_size=8
)
ENTRY = st.tuples(st.integers(0, 4), st.integers(0, 30), st.floats(-1e9, 1e9))


def compressed(rows):
    bounds = np.cumsum([0, *map(len, rows)])
    pairs = [pair for row in rows for pair in row]
    return bounds, np.array([i for i, _ in pairs], np.uint32), np.array([x for _, x in pairs], np.float64)


def dense(rows):
    X = np.zeros((len(rows), 10))
    for t, row in enumerate(rows):
        for i, x in row:
            X[t, i] = x
    return X


def everywhere(rows):
    return [[(i, x) for i, x in enumerate(row)] for row in dense(rows).tolist()]


def bits(array):
    return np.asarray(array, np.float64).reshape(-1).view(np.uint64).tolist()


def values(rows):
    return [x for row in rows for _, x in row]


@given(st.binary(max_size=700), st.sampled_from(b":\n ,x"), st.integers(0, 40), st.integers(0, 40))
def test_bytes_are_counted(text, other, start, less):
    start = min(start, len(text))
    part = text[start : max(start, len(text) - less)]
    found = _native.count_bytes(np.frombuffer(text, np.uint8), start, start + len(part), other)
    odd = sum(one == 0 or one > 127 for one in part)
    assert found == (part.count(b"\n"), part.count(bytes([other])), odd, sum(one <= 32 for one in part))


def test_bytes_are_counted_beyond_what_one_byte_can_count():
    text = np.full(100_003, 10, np.uint8)
    assert _native.count_bytes(text, 0, len(text), 10) == (100_003, 100_003, 0, 100_003)


@given(ROWS, ROWS)
def test_features_are_scaled_by_the_largest_so_far(before, rows):
    for arrays, entries in ((compressed, lambda rows: rows), (lambda rows: (dense(rows),), everywhere)):
        peak, expected = np.zeros(10), {}
        for some, learn in ((before, True), (rows, True), (before, False)):
            held = arrays(some)
            _native.scale_features(*held, peak, learn)
            assert bits(held[-1]) == bits(values(scaled(entries(some), expected, learn)))
        assert [expected.get(i, 0.0) for i in range(10)] == peak.tolist()


@given(ROWS)
def test_rows_become_of_unit_norm(rows):
    held, X = compressed(rows), dense(rows)
    _native.unit_rows(*held)
    _native.unit_rows(X)
    assert bits(held[-1]) == bits(values(unit(rows)))
    assert bits(X) == bits(values(unit(everywhere(rows))))


@given(st.lists(ENTRY, max_size=90), st.sampled_from(["f4", "f8"]))
def test_entries_become_rows_and_those_that_coincide_are_summed_as_they_came(entries, kind):
    expected = [{} for _ in range(5)]
    for row, index, value in entries:
        value = np.dtype(kind).type(value)
        expected[row][index] = expected[row][index] + value if index in expected[row] else value
    rows, indices = (np.array([entry[k] for entry in entries], np.int64) for k in (0, 1))
    held = np.array([value for _, _, value in entries]).astype(kind)
    found = merged(*by_row(rows, 5), indices, held)
    assert found.values.dtype == kind
    for t, (low, high) in enumerate(zip(found.indptr[:-1], found.indptr[1:], strict=True)):
        pairs = dict(zip(found.indices[low:high].tolist(), found.values[low:high], strict=True))
        assert list(pairs) == sorted(expected[t])
        assert all(bits(pairs[i]) == bits(expected[t][i]) for i in pairs)


INTS, TEXT = np.zeros(8, np.int64), np.zeros(64, np.uint8)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: _native.count_bytes(TEXT, 3, 65, 10), "a part that is not there"),
        (lambda: _native.records_end(TEXT, 65, 44), "a part that is not there"),
        (lambda: _native.read_numbers(TEXT, INTS, np.zeros(8), INTS), "the last line is not whole"),
        (lambda: _native.read_numbers(TEXT[:9], INTS, np.zeros(8), INTS), "the bytes behind the lines are missing"),
        (lambda: _native.hash_strings(TEXT, np.array([0, 65]), np.zeros(1, np.uint32)), "strings that are not there"),
        (
            lambda: _native.hash_cells(TEXT, TEXT, INTS - 1, INTS, INTS.copy(), np.zeros(8, np.uint32)),
            "cells that are not there",
        ),
        (lambda: _native.entries_by_row(INTS, np.zeros(1, np.int64), INTS.copy()), "rows that are not there"),
        (lambda: _native.unit_rows(INTS + 9, np.zeros(8, np.uint32), np.zeros(8)), "do not fit together"),
    ],
)
def test_what_does_not_fit_is_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
