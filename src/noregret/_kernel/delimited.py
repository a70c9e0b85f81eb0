"""Delimited text into columns: the plain records of a piece of text, in one go.

A record that is not plain (a number that is none, a quote within a cell, too many cells) is left to the simple reader:
the kernel stops in front of it and is called again behind it. Nothing here says what is wrong with a record.

Convention: data[:stop] is whole records, the last byte a newline, with 32 bytes or more behind them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._kernel import compiled, inlined
from noregret._kernel.bits import apart, byte
from noregret._kernel.decimal import (
    FINE,
    HARD,
    MINUS,
    NONE,
    POINT,
    POWERS,
    SIGNS,
    WHOLE_TENS,
    digits_ahead,
    eight_digits,
    long_fraction,
    number,
    whole_of_some,
)

TAB, NEWLINE, RETURN, SPACE, QUOTE, SLASH, QUESTION = 9, 10, 13, 32, 34, 47, 63
IGNORED, NUMBER, HASHED, LABEL = range(4)  # what a column is
OTHER, DECIMAL, LONG_DECIMAL = range(3)  # how a number is spelled
TRIALS = 3  # so often a record is taken to go on as it began
AT, LINE, ROWS, TOUGH = range(4)  # what `done` counts: bytes, lines, rows, hard numbers

# The words for a missing number, lower-cased, the first letter lowest: na, n/a, nan, null, none.
NA, N_A, NAN = 0x616E, 0x612F6E, 0x6E616E
NULL, NO = 0x6C6C756E, 0x656E6F6E


@compiled
def records_end(data: NDArray[np.uint8], stop: int, delimiter: int) -> tuple[int, int]:
    """Where the last whole record of data[:stop] ends, and where a quoted cell without end begins, if not at `stop`."""
    end = i = 0
    opened = stop
    starts = True  # a cell
    while i < stop:
        one = byte(data, i)
        i += 1
        if one == QUOTE and starts:
            opened = i
            while i < stop and (byte(data, i) != QUOTE or (i + 1 < stop and byte(data, i + 1) == QUOTE)):
                i += 2 if byte(data, i) == QUOTE else 1
            if i < stop:
                opened = stop
            i += 1
        if one == NEWLINE:
            end = i
        starts = one in (NEWLINE, delimiter)
    return end, opened


@inlined
def _past_spaces(data: Any, i: Any, delimiter: Any) -> Any:
    while byte(data, i) == SPACE or (byte(data, i) == TAB and delimiter != TAB):
        i += 1
    return i


@inlined
def _missing(data: Any, i: Any) -> Any:
    """Where a word that says that there is no number ends; i itself when there is none."""
    length, word = 0, 0
    one = byte(data, i)
    if one == QUESTION:
        return i + 1
    while length < 4 and (97 <= one | 32 <= 122 or one == SLASH):
        word |= (one if one == SLASH else one | 32) << 8 * length
        length += 1
        one = byte(data, i + length)
    return i + length if word in (NA, N_A, NAN, NULL, NO) else i


@inlined
def _cell(data: Any, i: Any, stop: Any, delimiter: Any) -> Any:
    """Where the text of the cell at i begins and ends, where the cell ends, and how many newlines it holds.

    It ends at −1 when only the simple reader can tell.
    """
    lines = 0
    if byte(data, i) != QUOTE:
        end = i
        one = byte(data, end)
        while one not in (delimiter, NEWLINE, RETURN, QUOTE):
            end += 1
            one = byte(data, end)
        return i, end, (-1 if one == QUOTE else end), lines
    end = i + 1
    while end < stop and byte(data, end) != QUOTE:
        lines += byte(data, end) == NEWLINE
        end += 1
    return i + 1, end, (-1 if end == stop or byte(data, end + 1) == QUOTE else end + 1), lines


@inlined
def _unusual(data: Any, i: Any, delimiter: Any) -> Any:
    """A number in quotes or with spaces around it, or a missing one: its value, where it and its cell end, a status."""
    quoted = byte(data, i) == QUOTE
    i = _past_spaces(data, i + quoted, delimiter)
    value, end, status = number(data, i)
    if status == NONE:
        end = _missing(data, i)
        value, status = np.nan, 0
    stop = _past_spaces(data, end, delimiter)
    if quoted:
        if byte(data, stop) != QUOTE:
            return value, i, end, stop, NONE
        stop += 1
    return value, i, end, stop, status


@inlined
def _decimal(data: Any, i: Any) -> Any:
    """0.25 or -0.25 at i, with eight digits or fewer behind the point: its value, where it ends, whether it is such.

    Where it ends is told from the digits behind the third byte, which a sign does not move: so the next number need not
    wait until this one's sign is known.
    """
    end = i + 3 + digits_ahead(eight_digits(data, i + 3))
    negative = byte(data, i) == MINUS
    i += negative
    lead, behind, ahead = byte(data, i) - 48, eight_digits(data, i + 2), end - i - 2
    whole_number = lead * WHOLE_TENS[ahead] + np.int64(whole_of_some(behind, ahead))
    fine = byte(data, i + 1) == POINT and lead >= 0 and lead <= 9 and ahead > 0 and digits_ahead(behind) == ahead
    return np.float64(whole_number) * SIGNS[np.uint64(negative)] / POWERS[ahead], end, fine


@inlined
def _long_decimal(data: Any, i: Any) -> Any:
    """As `_decimal`, with nine digits or more."""
    negative = byte(data, i) == MINUS
    i += negative
    lead = byte(data, i) - 48
    value, end, status = long_fraction(data, i + 2, lead)
    fine = byte(data, i + 1) == POINT and lead >= 0 and lead <= 9 and status == FINE
    return value * SIGNS[np.uint64(negative)], end, fine


def _alike(value_of: Any) -> Any:
    """The loop over the cells of a record that hold numbers spelled in one way."""

    @compiled
    def cells(data: Any, i: Any, delimiter: Any, column: Any, kinds: Any, places: Any, row: Any, X: Any) -> Any:
        """Read them from `column` on, the last one of the record left out: where the next cell begins, and which it is.

        The general routine would say the same of each, with three times the instructions.
        """
        apart()
        while column < kinds.shape[0] - 1 and kinds[np.uint64(column)] == NUMBER:
            value, end, fine = value_of(data, i)
            if not fine or byte(data, end) != delimiter:
                break
            X[np.uint64(row), np.uint64(places[np.uint64(column)])] = value
            column += 1
            i = end + 1
        return i, column

    return cells


_decimals, _long_decimals = map(_alike, (_decimal, _long_decimal))


@inlined
def _spelling(data: Any, i: Any, end: Any) -> Any:
    """How the number data[i:end] is spelled."""
    i += byte(data, i) == MINUS
    if byte(data, i + 1) != POINT:
        return OTHER
    return DECIMAL if end - i <= 10 else LONG_DECIMAL


@compiled
def delimited(
    data: NDArray[np.uint8],
    stop: int,
    delimiter: int,
    kinds: NDArray[np.int64],
    places: NDArray[np.int64],
    X: NDArray[np.float64],
    cells: NDArray[np.int64],
    labels: NDArray[np.float64],
    tokens: NDArray[np.int64],
    lines: NDArray[np.int64],
    tough: NDArray[np.int64],
    done: NDArray[np.int64],
) -> bool:
    """Append the records from data[done[AT]] on; false when it stopped in front of one that is not plain.

    kinds and places say what a column is and where it goes: numbers to X[row, place], the beginning and end of a cell
    to be hashed to cells[row, place], labels[row] is a number or NaN and tokens[row] where it is written. tough[k] =
    (entry of X, begin, end) of a number that is to be read exactly, while there is room for it; for rows there is room
    for all that so many bytes can hold.
    """
    i, line, row, hard = done[AT], done[LINE], done[ROWS], done[TOUGH]
    last = kinds.shape[0] - 1
    plain: Any = True
    spelling = OTHER
    while i < stop and plain:
        one = byte(data, i)
        if one == NEWLINE or (one == RETURN and byte(data, i + 1) == NEWLINE):
            i += 1 if one == NEWLINE else 2
            line += 1
            continue
        begin, line_before, hard_before = i, line, hard
        column, wasted = 0, 0
        while column <= last:
            if spelling != OTHER and kinds[column] == NUMBER and wasted < TRIALS:
                before = column
                if spelling == DECIMAL:
                    i, column = _decimals(data, i, delimiter, column, kinds, places, row, X)
                else:
                    i, column = _long_decimals(data, i, delimiter, column, kinds, places, row, X)
                wasted += column == before
            kind, place = kinds[column], places[column]
            if kind == NUMBER:
                at = i
                value, end, status = number(data, i)
                i = end
                one = byte(data, i)
                if status == NONE or (one not in (delimiter, NEWLINE)):
                    value, at, end, i, status = _unusual(data, at, delimiter)
                    one = byte(data, i)
                X[np.uint64(row), np.uint64(place)] = value
                spelling = _spelling(data, at, end)
                if status == HARD and hard < tough.shape[0]:
                    tough[hard, 0], tough[hard, 1], tough[hard, 2] = row * X.shape[1] + place, at, end
                    hard += 1
                else:
                    plain = status == 0
            else:
                start, end, i, inside = _cell(data, i, stop, delimiter)
                line += inside
                plain = i >= 0
                one = byte(data, max(i, 0))
                if kind == HASHED:
                    cells[row, place, 0], cells[row, place, 1] = start, end
                elif kind == LABEL:
                    value, at, status = number(data, start)
                    labels[row] = value if at == end and status == 0 else np.nan
                    tokens[row, 0], tokens[row, 1] = start, end
            if column == last:
                i += one == RETURN
                plain = plain and byte(data, max(i, 0)) == NEWLINE
            else:
                plain = plain and one == delimiter
            if not plain:
                break
            i += 1
            column += 1
        if not plain:
            i, line, hard = begin, line_before, hard_before
            break
        lines[row] = line_before
        row += 1
        line += 1
    done[AT], done[LINE], done[ROWS], done[TOUGH] = i, line, row, hard
    return bool(plain)
