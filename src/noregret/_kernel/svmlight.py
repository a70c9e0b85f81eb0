"""svmlight text into compressed rows: the plain lines of a piece of text, in one go.

A line that is not plain (a malformed one, a `nan`, a label with a colon) is left to the simple reader: the kernel stops
in front of it and is called again behind it. Nothing here says what is wrong with a line.

Convention: data[:stop] is whole lines, each ended by a newline, with 32 bytes or more behind them.
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
    PLUS,
    POWERS,
    SIGNS,
    WHOLE_TENS,
    digits_ahead,
    eight_digits,
    long_fraction,
    number,
    unsigned,
    whole,
    whole_of_some,
)

NEWLINE, SPACE, COMMENT, POINT, COLON, Q = 10, 32, 35, 46, 58, 113
MAX_INDEX = np.int64(2**31 - 1)
OTHER, DECIMAL, LONG_DECIMAL, WHOLE = range(4)  # how a value is spelled
TRIALS = 3  # so often a line is taken to go on as it began
AT, LINE, ROWS, PAIRS, TOUGH = range(5)  # what `done` counts: bytes, lines, rows, entries, hard numbers


@inlined
def _blank(one: Any) -> Any:
    """Whether a byte is white but no newline."""
    return one == SPACE or (9 <= one <= 13 and one != NEWLINE)


@inlined
def _ends(one: Any) -> Any:
    """Whether a token ends in front of this byte."""
    return one in (SPACE, COMMENT) or 9 <= one <= 13


@inlined
def _past_blanks(data: Any, i: Any) -> Any:
    while _blank(byte(data, i)):
        i += 1
    return i


@inlined
def _token_end(data: Any, i: Any) -> Any:
    while not _ends(byte(data, i)):
        i += 1
    return i


@inlined
def _line_end(data: Any, i: Any) -> Any:
    while byte(data, i) != NEWLINE:
        i += 1
    return i


@inlined
def _label(data: Any, begin: Any, labelled: Any) -> Any:
    """The label at `begin`: its value (NaN for a word), where it ends, and whether the row is plain so far."""
    i = begin + (byte(data, begin) == MINUS or byte(data, begin) == PLUS)
    digit = byte(data, i) - 48
    if digit >= 0 and digit <= 9 and byte(data, i + 1) == SPACE:  # as most are, and one digit is soon read
        return digit * SIGNS[np.uint64(byte(data, begin) == MINUS)], i + 1, True
    value, i, status = number(data, begin)
    if status == FINE and _ends(byte(data, i)):
        return value, i, True
    i = begin
    while not _ends(byte(data, i)):
        if byte(data, i) == COLON:
            return np.nan, begin, not labelled
        i += 1
    return np.nan, i, True


@inlined
def _index(data: Any, i: Any) -> Any:
    """The whole number at i and the colon behind it; −1 when there is no such index."""
    word = eight_digits(data, i)
    ahead = digits_ahead(word)
    if ahead == 0:
        return np.int64(-1), i
    index = np.int64(whole(word, ahead))
    i += ahead
    if ahead == 8:
        more = digits_ahead(eight_digits(data, i))
        if more > 2:
            return np.int64(-1), i
        for _ in range(more):
            index = index * 10 + byte(data, i) - 48
            i += 1
        if index > MAX_INDEX:
            return np.int64(-1), i
    return (index if byte(data, i) == COLON else np.int64(-1)), i


@inlined
def _decimal(data: Any, i: Any) -> Any:
    """0.25 at i, with eight digits or fewer behind the point: its value, where it ends, whether it is such a number."""
    lead, behind = byte(data, i) - 48, eight_digits(data, i + 2)
    ahead = digits_ahead(behind)
    whole_number = lead * WHOLE_TENS[ahead] + np.int64(whole_of_some(behind, ahead))
    fine = byte(data, i + 1) == POINT and lead >= 0 and lead <= 9 and ahead > 0
    return np.float64(whole_number) / POWERS[ahead], i + 2 + ahead, fine


@inlined
def _long_decimal(data: Any, i: Any) -> Any:
    """As `_decimal`, with nine digits or more."""
    lead = byte(data, i) - 48
    value, end, status = long_fraction(data, i + 2, lead)
    return value, end, byte(data, i + 1) == POINT and lead >= 0 and lead <= 9 and status == FINE


@inlined
def _whole(data: Any, i: Any) -> Any:
    """As `_decimal`, for a whole number of eight digits or fewer."""
    digits = eight_digits(data, i)
    ahead = digits_ahead(digits)
    return np.float64(np.int64(whole_of_some(digits, ahead))), i + ahead, ahead > 0


def _alike(value_of: Any) -> Any:
    """The loop over pairs ` index:value` whose values are all spelled in one way."""

    @compiled
    def pairs(data: Any, i: Any, pair: Any, last: Any, indices: Any, values: Any) -> Any:
        """Append them from the blank at i on: where they end, the number of entries, the last index, whether all rose.

        The general routine would say the same of each, with three times the instructions.
        """
        apart()
        rising = True
        while byte(data, i) == SPACE:
            digits = eight_digits(data, i + 1)
            length = digits_ahead(digits)
            colon = i + 1 + length
            value, end, fine = value_of(data, colon + 1)
            closing = byte(data, end)
            if byte(data, colon) != COLON or length == 0 or not fine or (closing != SPACE and closing != NEWLINE):
                break
            index = np.int64(whole_of_some(digits, length))
            rising &= index > last
            last = index
            indices[np.uint64(pair)] = index
            values[np.uint64(pair)] = value
            pair += 1
            i = end
        return i, pair, last, rising

    return pairs


_decimals, _long_decimals, _wholes = map(_alike, (_decimal, _long_decimal, _whole))


@inlined
def _pairs_alike(spelling: Any, data: Any, i: Any, pair: Any, last: Any, indices: Any, values: Any) -> Any:
    """The loop for a spelling."""
    if spelling == DECIMAL:
        return _decimals(data, i, pair, last, indices, values)
    if spelling == LONG_DECIMAL:
        return _long_decimals(data, i, pair, last, indices, values)
    return _wholes(data, i, pair, last, indices, values)


@inlined
def _spelling(data: Any, i: Any, end: Any) -> Any:
    """How the value data[i:end] is spelled."""
    if byte(data, i) < 48:
        return OTHER
    if byte(data, i + 1) == POINT:
        return DECIMAL if end - i <= 10 else LONG_DECIMAL
    return WHOLE if digits_ahead(eight_digits(data, i)) == end - i else OTHER


@inlined
def _twice(indices: Any, start: Any, stop: Any, room: Any) -> Any:
    """Whether an index stands twice in indices[start:stop]; `room` is a table of at least 2·(stop − start) places."""
    size = 2
    while size < 2 * (stop - start):
        size *= 2
    for k in range(size):
        room[k] = -1
    for k in range(start, stop):
        index = np.int64(indices[k])
        slot = (index * 40503 >> 4) & (size - 1)
        while room[slot] != -1:
            if room[slot] == index:
                return True
            slot = (slot + 1) & (size - 1)
        room[slot] = index
    return False


@compiled
def counted(data: NDArray[np.uint8], start: int, stop: int, one: int) -> tuple[int, int, int]:
    """How many newlines data[start:stop] holds, how often another byte, and how many bytes are NUL or not ASCII.

    Counts of a byte each, for as many bytes as they can hold: the compiler then takes a whole vector of them at once.
    """
    lines = others = odds = 0
    line, other, end = np.uint8(NEWLINE), np.uint8(one), np.uint64(stop)
    for begin in range(np.uint64(start), end, np.uint64(128)):
        few, some, odd = np.uint8(0), np.uint8(0), np.uint8(0)
        for i in range(begin, min(begin + np.uint64(128), end)):
            few = np.uint8(few + (data[i] == line))
            some = np.uint8(some + (data[i] == other))
            odd = np.uint8(odd + ((data[i] == 0) | (data[i] > 127)))
        lines += int(few)
        others += int(some)
        odds += int(odd)
    return lines, others, odds


@compiled
def svmlight(
    data: NDArray[np.uint8],
    stop: int,
    labelled: bool,
    labels: NDArray[np.float64],
    tokens: NDArray[np.int64],
    lines: NDArray[np.int64],
    bounds: NDArray[np.int64],
    indices: NDArray[np.uint32],
    values: NDArray[np.float64],
    tough: NDArray[np.int64],
    room: NDArray[np.int64],
    done: NDArray[np.int64],
) -> bool:
    """Append the rows from data[done[AT]] on; false when it stopped in front of a line that is not plain.

    labels[t] is a number or NaN, and tokens[t] where it is written; tough[k] = (entry, begin, end) of a number that is
    to be read exactly, while there is room for it. For rows and entries there is room for all that so many bytes can
    hold. A row needs a label where `labelled`.
    """
    i, line, row, pair, hard = done[AT], done[LINE], done[ROWS], done[PAIRS], done[TOUGH]
    plain, spelling = True, OTHER
    while i < stop and plain:
        begin, first, hard_before = i, pair, hard
        i = _past_blanks(data, i)
        if byte(data, i) == COMMENT or byte(data, i) == NEWLINE:
            i = _line_end(data, i) + 1
            line += 1
            continue
        token = i
        label, i, plain = _label(data, i, labelled)
        token_end = i
        last, sorted_so_far, wasted = np.int64(-1), True, 0
        while plain:
            if spelling != OTHER and wasted < TRIALS:
                before = pair
                i, pair, last, rising = _pairs_alike(spelling, data, i, pair, last, indices, values)
                sorted_so_far &= rising
                wasted += pair == before
            i = _past_blanks(data, i)
            one = byte(data, i)
            if one in (NEWLINE, COMMENT):
                break
            if one == Q and byte(data, i + 1) == 105 and byte(data, i + 2) == 100 and byte(data, i + 3) == COLON:
                i = _token_end(data, i)
                continue
            index, i = _index(data, i)
            value, end, status = unsigned(data, i + 1)
            if index < 0 or status == NONE or not _ends(byte(data, end)) or (status == HARD and hard == tough.shape[0]):
                plain = False
                break
            if status == HARD:
                tough[hard, 0], tough[hard, 1], tough[hard, 2] = pair, i + 1, end
                hard += 1
            sorted_so_far &= index > last
            last = index
            indices[np.uint64(pair)] = index
            values[np.uint64(pair)] = value
            pair += 1
            spelling = _spelling(data, i + 1, end)
            i = end
        if plain and not sorted_so_far:
            plain = not _twice(indices, first, pair, room)
        if not plain:
            i, pair, hard = begin, first, hard_before
            break
        labels[row], lines[row], bounds[row + 1] = label, line, pair
        tokens[row, 0], tokens[row, 1] = token, token_end
        row += 1
        i = _line_end(data, i) + 1
        line += 1
    done[AT], done[LINE], done[ROWS], done[PAIRS], done[TOUGH] = i, line, row, pair, hard
    return plain
