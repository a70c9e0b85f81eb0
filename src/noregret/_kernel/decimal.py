"""Decimal numbers as text, to the nearest float64: eight digits at a time, correct to the last bit.

A number is w·10^q with at most 19 significant digits in the whole number w. Where w and 10^|q| are floats themselves,
one product or quotient rounds correctly. Otherwise w is multiplied by the leading 128 bits of 5^q, rounded down: the
leading bits of the answer are known unless those below them are all ones, and a tie needs an exact power. What stays
open is called HARD, for Python's `float` to read.

Convention: data is a byte array with 32 bytes after the text, the first of them a newline.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._kernel import compiled, inlined
from noregret._kernel.bits import (
    byte,
    eight_bytes,
    leading_zeros,
    product,
    trailing_zeros,
    wrapped_product,
    wrapped_sum,
)

FINE, HARD, NONE = 0, 1, 2  # a number; one for the exact routine; no number at all

PLUS, MINUS, POINT, ZERO, SMALL_E = 43, 45, 46, 48, 101
MOST_DIGITS = 19  # 10^19 < 2^64
LEAST, MOST = -342, 308  # below and above these powers of ten a float64 is 0 or infinite

_ZEROS = np.uint64(0x3030303030303030)
_BEYOND_NINE = np.uint64(0x7676767676767676)  # what lifts 10, and no digit, to the highest bit of its byte
_HIGHEST = np.uint64(0x8080808080808080)
_PAIRS = np.uint64(0x00FF00FF00FF00FF)
_FOURS = np.uint64(0x0000FFFF0000FFFF)
_TENS, _HUNDREDS, _TEN_THOUSANDS = np.uint64(10 << 8 | 1), np.uint64(100 << 16 | 1), np.uint64(10_000 << 32 | 1)
_TEN = np.uint64(10)
_S8, _S16, _S32 = np.uint64(8), np.uint64(16), np.uint64(32)
_ONE, _NIL = np.uint64(1), np.uint64(0)
_ALL_BUT_ONE = np.uint64(0xFFFFFFFFFFFFFFFE)
_BELOW = np.uint64(0x1FF)
_TOP = np.uint64(63)
_FLOATS = np.uint64(2**53)
_SIXTEEN = np.uint64(10**15)  # the least number of sixteen digits: those below are floats

TENS = np.array([10**k for k in range(20)], dtype=np.uint64)
ROOM = np.array([10 ** (MOST_DIGITS - k) for k in range(8)] + [0], dtype=np.uint64)  # what k digits may go behind
WHOLE_TENS = TENS[:19].astype(np.int64)
POWERS = np.array([10.0**k for k in range(23)])  # the powers of ten that are floats
SIGNS = np.array([1.0, -1.0])  # looked up, for a processor cannot guess which of two ways a sign goes


def _fives() -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]]:
    """5^q for every q: its leading 128 bits rounded down, in two words, and ⌊log₂ 5^q⌋."""
    powers = [1]
    for _ in range(max(-LEAST, MOST)):
        powers.append(5 * powers[-1])
    high, low, log = [], [], []
    for q in range(LEAST, MOST + 1):
        power = powers[abs(q)]
        if q >= 0:
            size = power.bit_length()
            bits = power << 128 >> size
        else:
            size = 1 - power.bit_length()  # 5^q is no power of 2, so ⌊log₂⌋ = −⌈log₂ 5^−q⌉
            bits = (1 << 128 - size) // power
        high.append(bits >> 64)
        low.append(bits & 0xFFFFFFFFFFFFFFFF)
        log.append(size - 1)
    return np.array(high, dtype=np.uint64), np.array(low, dtype=np.uint64), np.array(log, dtype=np.int64)


FIVES, FIVES_BELOW, FIVES_LOG = _fives()
LEAST_TWO, MOST_TWO = -1074, 971
TWOS = np.ldexp(1.0, np.arange(LEAST_TWO, MOST_TWO + 1))


@inlined
def eight_digits(data: Any, i: Any) -> Any:
    """The eight bytes from i on, the digits among them as numbers and every other byte as more than nine."""
    return eight_bytes(data, i) ^ _ZEROS


@inlined
def digits_ahead(word: Any) -> Any:
    """How many of eight digits, from the first on, are digits indeed."""
    return trailing_zeros((wrapped_sum(word, _BEYOND_NINE) | word) & _HIGHEST) >> 3


@inlined
def whole(word: Any, count: Any) -> Any:
    """The number that the first `count` of eight digits write; 0 for none."""
    half = np.uint64(32 - 4 * count)
    return _joined((word << half) << half)  # in two steps: a shift by 64 has no meaning


@inlined
def whole_of_some(word: Any, count: Any) -> Any:
    """As `whole`, quicker, for one digit or more."""
    return _joined(word << np.uint64(-8 * count & 63))


@inlined
def _joined(word: Any) -> Any:
    """The number that eight digits write: pairs of neighbours become one number, three times."""
    word = (wrapped_product(word, _TENS) >> _S8) & _PAIRS
    word = (wrapped_product(word, _HUNDREDS) >> _S16) & _FOURS
    return wrapped_product(word, _TEN_THOUSANDS) >> _S32


@inlined
def _digits(data: Any, i: Any, w: Any, count: Any) -> Any:
    """Go on with w at the digits from i: the new w, how many significant digits it has, and where they end.

    More than 19 of them are counted no further, and w is of no use then.
    """
    word = eight_digits(data, i)
    ahead = digits_ahead(word)
    while ahead > 0:
        more = ahead - min(ahead, trailing_zeros(word) >> 3) if w == _NIL else ahead
        if count + more > MOST_DIGITS:
            while ahead == 8:
                i += 8
                ahead = digits_ahead(eight_digits(data, i))
            return w, MOST_DIGITS + 1, i + ahead
        w = w * TENS[ahead] + whole(word, ahead)
        count += more
        i += ahead
        if ahead < 8:
            return w, count, i
        word = eight_digits(data, i)
        ahead = digits_ahead(word)
    return w, count, i


@inlined
def nearest(w: Any, q: Any) -> Any:
    """(w·10^q rounded to the nearest float64, FINE), or (0, HARD)."""
    if w < _SIXTEEN and -22 <= q <= 22:
        return (np.float64(np.int64(w)) * POWERS[q] if q >= 0 else np.float64(np.int64(w)) / POWERS[-q]), FINE
    if w == _NIL:
        return 0.0, FINE
    if q < LEAST or q > MOST:
        return 0.0, HARD
    zeros = leading_zeros(w)
    scaled = w << np.uint64(zeros)
    high, low = product(scaled, FIVES[q - LEAST])
    if high & _BELOW == _BELOW:
        more, _ = product(scaled, FIVES_BELOW[q - LEAST])
        room = ~low
        low = low + more if more <= room else more - room - _ONE
        if more > room:
            high += _ONE  # it ends in ones, but is below the product's largest value, so that this cannot overflow
        if high & _BELOW == _BELOW and low >= _ALL_BUT_ONE:
            return _without_zeros(w, q)
    upper = high >> _TOP
    drop = np.uint64(9) + upper
    mantissa = high >> drop
    if 0 <= q <= 27 and low == _NIL and (mantissa << drop) == high:
        mantissa -= mantissa & ~(mantissa >> _ONE) & _ONE  # a tie goes to the even one
    mantissa = (mantissa + (mantissa & _ONE)) >> _ONE
    power = np.int64(drop) + 2 - zeros + FIVES_LOG[q - LEAST] + q
    if power < LEAST_TWO or power >= MOST_TWO:
        return 0.0, HARD
    return np.float64(np.int64(mantissa)) * TWOS[power - LEAST_TWO], FINE


@compiled
def _without_zeros(w: Any, q: Any) -> Any:
    """As `nearest`, for a number that may be a float itself once the zeros behind it are gone, as 0.5000 is."""
    while w % _TEN == _NIL:
        w //= _TEN
        q += 1
    if w > _FLOATS or q < -22 or q > 22:
        return 0.0, HARD
    return (np.float64(np.int64(w)) * POWERS[q] if q >= 0 else np.float64(np.int64(w)) / POWERS[-q]), FINE


@inlined
def number(data: Any, i: Any) -> Any:
    """The number that begins at i: its value, where it ends, and FINE, HARD or NONE."""
    first = byte(data, i)
    negative = first == MINUS
    i += negative | (first == PLUS)
    lead = byte(data, i) - ZERO
    value, end, status = 0.0, i, NONE
    if 0 <= lead <= 9 and byte(data, i + 1) == POINT:
        value, end, status = fraction(data, i + 2, lead)
    if status == NONE:
        value, end, status = _any_number(data, i)
    return value * SIGNS[np.uint64(negative)], end, status


@inlined
def unsigned(data: Any, i: Any) -> Any:
    """As `number`, quicker where there is no sign: where to look next then does not wait for the first byte."""
    lead = byte(data, i) - ZERO
    if 0 <= lead <= 9 and byte(data, i + 1) == POINT:
        value, end, status = fraction(data, i + 2, lead)
        if status != NONE:
            return value, end, status
    return number(data, i)


@inlined
def fraction(data: Any, i: Any, lead: Any) -> Any:
    """Most numbers: one digit, a point, and at most 23 digits, which begin at i; NONE for the others.

    Beyond eight digits nothing depends on how many there are but where to look next: their number varies from one to
    the next, and a processor that guesses wrong loses more time than the digits take.
    """
    word = eight_digits(data, i)
    ahead = digits_ahead(word)
    if ahead < 8:
        end = i + ahead
        if byte(data, end) | 32 == SMALL_E:
            return 0.0, end, NONE
        return np.float64(lead * WHOLE_TENS[ahead] + np.int64(whole(word, ahead))) / POWERS[ahead], end, FINE
    return long_fraction(data, i, lead)


@inlined
def long_fraction(data: Any, i: Any, lead: Any) -> Any:
    """As `fraction`, for eight digits or more; NONE for fewer."""
    first = eight_digits(data, i)
    w = np.uint64(lead) * TENS[8] + whole_of_some(first, 8)
    word = eight_digits(data, i + 8)
    ahead = digits_ahead(word)
    last = eight_digits(data, i + 16)
    further = digits_ahead(last) * (ahead == 8)
    w = w * TENS[ahead] + whole(word, ahead)
    end = i + 8 + ahead + further
    if w >= ROOM[further] or byte(data, end) | 32 == SMALL_E or digits_ahead(first) < 8:
        return 0.0, end, NONE
    value, status = nearest(w * TENS[further] + whole(last, further), -(8 + ahead + further))
    return value, end, status


@compiled
def _any_number(data: Any, i: Any) -> Any:
    """As `number`, without a sign."""
    begin = i
    w, count, i = _digits(data, i, _NIL, 0)
    seen = i - begin
    q: Any = 0
    if byte(data, i) == POINT:
        begin = i + 1
        w, count, i = _digits(data, begin, w, count)
        seen += i - begin
        q = begin - i
    if seen == 0:
        return 0.0, i, NONE
    if byte(data, i) | 32 == SMALL_E:
        sign = byte(data, i + 1)
        i += 1 + ((sign == MINUS) | (sign == PLUS))
        word = eight_digits(data, i)
        ahead = digits_ahead(word)
        if ahead == 0 or ahead == 8:
            return 0.0, i, NONE
        power = np.int64(whole(word, ahead))
        q = q - power if sign == MINUS else q + power
        i += ahead
    if count > MOST_DIGITS:
        return 0.0, i, HARD
    value, status = nearest(w, q)
    return value, i, status
