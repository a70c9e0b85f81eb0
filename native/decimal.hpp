// Decimal numbers as text, to the nearest float64: eight digits at a time, correct to the last bit.
//
// A number is w·10^q with at most 19 significant digits in the whole number w. Where w and 10^|q| are floats themselves,
// one product or quotient rounds correctly. Otherwise w is multiplied by the leading 128 bits of 5^q, rounded down: the
// leading bits of the answer are known unless those below them are all ones, and a tie needs an exact power. What stays
// open, and what has more digits, is divided out bit by bit (`exact`).
#pragma once

#include <algorithm>

#include "text.hpp"

namespace noregret {

struct Number {
    double value;
    Text end;  // behind its last byte; null where there is no such number
};

constexpr Number NO_NUMBER{0.0, nullptr};

struct Rounded {
    double value;
    bool sure;
};

constexpr int MOST_DIGITS = 19;                  // 10^19 < 2^64
constexpr int LEAST_TEN = -342, MOST_TEN = 308;  // below and above these powers of ten a float64 is 0 or infinite

constexpr std::array<Word, 20> TENS = [] {
    std::array<Word, 20> tens{1};
    for (int k = 1; k < 20; ++k) tens[k] = 10 * tens[k - 1];
    return tens;
}();

// What k more digits may follow: 10^(19 − k), and nothing when there are eight.
constexpr std::array<Word, 9> ROOM_FOR = [] {
    std::array<Word, 9> room{};
    for (int k = 0; k < 8; ++k) room[k] = TENS[MOST_DIGITS - k];
    return room;
}();

// The powers of ten that are floats.
constexpr std::array<double, 23> FLOAT_TENS{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                            1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// A whole number of any size that is met here, its lowest word first; words from `size` on are zero.
struct Large {
    static constexpr int WORDS = 48;
    std::array<Word, WORDS> words{};
    int size = 0;

    constexpr void multiply(Word factor, Word more) {
        for (int k = 0; k < size; ++k) {
            const unsigned __int128 product = static_cast<unsigned __int128>(words[k]) * factor + more;
            words[k] = static_cast<Word>(product);
            more = static_cast<Word>(product >> 64);
        }
        if (more) words[size++] = more;
    }
    constexpr void divide(Word divisor) {
        Word rest = 0;
        for (int k = size - 1; k >= 0; --k) {
            const unsigned __int128 dividend = static_cast<unsigned __int128>(rest) << 64 | words[k];
            words[k] = static_cast<Word>(dividend / divisor);
            rest = static_cast<Word>(dividend % divisor);
        }
        trim();
    }
    constexpr int bits() const { return size ? 64 * size - std::countl_zero(words[size - 1]) : 0; }
    constexpr void shift(int by) {
        const int whole = by / 64, part = by % 64;
        for (int k = WORDS - 1; k >= 0; --k) {
            const Word low = k >= whole + 1 && part ? words[k - whole - 1] >> (64 - part) : 0;
            words[k] = (k >= whole ? words[k - whole] << part : 0) | low;
        }
        size += whole + 1;
        if (size > WORDS) size = WORDS;
        trim();
    }
    // 64 bits from a place on; those below place 0 are zeros.
    constexpr Word from(int place) const {
        Word found = 0;
        for (int bit = 0; bit < 64; ++bit) {
            const int at = place + bit;
            if (at >= 0 && at < 64 * size) found |= (words[at / 64] >> (at % 64) & 1) << bit;
        }
        return found;
    }
    constexpr int compare(const Large &other) const {
        if (size != other.size) return size < other.size ? -1 : 1;
        for (int k = size - 1; k >= 0; --k) {
            if (words[k] != other.words[k]) return words[k] < other.words[k] ? -1 : 1;
        }
        return 0;
    }
    constexpr void subtract(const Large &other) {  // which is not larger
        Word borrow = 0;
        for (int k = 0; k < size; ++k) {
            const Word taken = other.words[k] + borrow;
            borrow = (taken < borrow) | (words[k] < taken);
            words[k] -= taken;
        }
        trim();
    }
    constexpr void trim() {
        while (size > 0 && words[size - 1] == 0) --size;
    }
};

// 5^q for every q: its leading 128 bits rounded down, in two words, and ⌊log₂ 5^q⌋.
struct Fives {
    static constexpr int COUNT = MOST_TEN - LEAST_TEN + 1;
    std::array<Word, COUNT> high{}, low{};
    std::array<short, COUNT> log{};

    constexpr Fives() {
        Large power;
        power.words[0] = power.size = 1;
        for (int q = 0; q <= MOST_TEN; ++q, power.multiply(5, 0)) put(q, power, power.bits() - 1);
        // ⌊⌊2^K/5^n⌋/5⌋ = ⌊2^K/5^(n+1)⌋, and what is cut off below the leading bits is cut off as from the whole.
        constexpr int K = 64 * 16;
        Large quotient;
        quotient.words[16] = 1;
        quotient.size = 17;
        for (int q = -1; q >= LEAST_TEN; --q) {
            quotient.divide(5);
            put(q, quotient, quotient.bits() - 1 - K);
        }
    }
    constexpr void put(int q, const Large &number, int power) {
        high[q - LEAST_TEN] = number.from(number.bits() - 64);
        low[q - LEAST_TEN] = number.from(number.bits() - 128);
        log[q - LEAST_TEN] = static_cast<short>(power);
    }
};

inline constexpr Fives FIVES;

// The eight bytes from a place on, the digits among them as numbers and every other byte as more than nine.
[[gnu::always_inline]] inline Word eight_digits(Text at) { return eight_bytes(at) ^ eight_times('0'); }

// Eight times how many of eight digits, from the first on, are digits indeed: 0x76 lifts 10, and no digit, to the
// highest bit of its byte.
[[gnu::always_inline]] inline Word digit_bits(Word word) {
    const Word others = ((word + eight_times(0x76)) | word) & eight_times(128);
#if defined(__x86_64__) && !defined(__BMI__)
    // Where no instruction knows of zero, to ask for it would be a branch that a processor cannot guess.
    return static_cast<unsigned>(__builtin_ctzll(others >> 7 | Word{1} << 63) + 1) & 0x78;
#else
    return static_cast<unsigned>(std::countr_zero(others)) & 0x78;
#endif
}

[[gnu::always_inline]] inline Word digits_ahead(Word word) { return digit_bits(word) >> 3; }

// The number that eight digits write: pairs of neighbours become one number, three times.
[[gnu::always_inline]] inline Word joined(Word word) {
    word = (word * (10 << 8 | 1)) >> 8 & 0x00FF00FF00FF00FF;
    word = (word * (100 << 16 | 1)) >> 16 & 0x0000FFFF0000FFFF;
    return (word * (Word{10000} << 32 | 1)) >> 32;
}

// The number that the first bits/8 of eight digits write, at least one.
[[gnu::always_inline]] inline Word whole_of_some(Word word, Word bits) { return joined(word << (-bits & 63)); }

// The same for `count` digits, perhaps none, which write 0.
[[gnu::always_inline]] inline Word whole(Word word, Word count) {
    const Word half = 32 - 4 * count;
    return joined(word << half << half);  // in two steps: a shift by 64 has no meaning
}

// x or −x, without a branch: a processor cannot guess which of two ways a sign goes.
[[gnu::always_inline]] inline double signed_as(double x, bool negative) {
    return std::bit_cast<double>(std::bit_cast<Word>(x) ^ static_cast<Word>(negative) << 63);
}

[[gnu::always_inline]] inline double to_float(Word w, int q) {
    const auto x = static_cast<double>(static_cast<std::int64_t>(w));
    return q >= 0 ? x * FLOAT_TENS[q] : x / FLOAT_TENS[-q];
}

// w·10^q for a number that may be a float itself once the zeros behind it are gone, as 0.5000 is.
[[gnu::noinline]] inline Rounded without_zeros(Word w, Index q) {
    for (; w % 10 == 0; ++q) w /= 10;
    if (w > Word{1} << 53 || q < -22 || q > 22) return {0.0, false};
    return {to_float(w, static_cast<int>(q)), true};
}

// w·10^q rounded to the nearest float64, if that is easy.
[[gnu::always_inline]] inline Rounded nearest(Word w, Index q) {
    if (w < TENS[15] && -22 <= q && q <= 22) return {to_float(w, static_cast<int>(q)), true};
    if (w == 0) return {0.0, true};
    if (q < LEAST_TEN || q > MOST_TEN) return {0.0, false};
    constexpr Word BELOW = 0x1FF;
    const int zeros = std::countl_zero(w);
    const Word scaled = w << zeros;
    const auto product = static_cast<unsigned __int128>(scaled) * FIVES.high[q - LEAST_TEN];
    auto high = static_cast<Word>(product >> 64), low = static_cast<Word>(product);
    if ((high & BELOW) == BELOW) [[unlikely]] {
        const auto more = static_cast<Word>(static_cast<unsigned __int128>(scaled) * FIVES.low[q - LEAST_TEN] >> 64);
        low += more;
        high += low < more;  // it ends in ones, but is below the product's largest value: this cannot overflow
        if ((high & BELOW) == BELOW && low >= ~Word{1}) return without_zeros(w, q);
    }
    const int drop = 9 + static_cast<int>(high >> 63);
    Word mantissa = high >> drop;
    if (low == 0 && 0 <= q && q <= 27 && mantissa << drop == high) {
        mantissa -= mantissa & ~(mantissa >> 1) & 1;  // a tie goes to the even one
    }
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    const Index power = drop + 2 - zeros + FIVES.log[q - LEAST_TEN] + q;
    if (power < -1074 || power >= 971) return {0.0, false};
    return {std::bit_cast<double>((static_cast<Word>(power + 1074) << 52) + mantissa), true};
}

// digits·10^scale, whatever it is, to the nearest float64: the bits of the quotient one by one.
inline double exact(Large above, Index scale) {
    Large below;
    below.words[0] = below.size = 1;
    Large &multiplied = scale < 0 ? below : above;
    for (Index k = scale < 0 ? -scale : scale; k > 0; --k) multiplied.multiply(5, 0);
    int power = above.bits() - below.bits();
    if (power > 0) below.shift(power);
    else above.shift(-power);
    if (above.compare(below) < 0) {
        above.shift(1);
        --power;
    }
    power += static_cast<int>(scale);  // now the number is above/below·2^power, the quotient from 1 up to 2
    if (power > 1023) return std::bit_cast<double>(Word{0x7FF} << 52);
    const int bits = power >= -1022 ? 53 : 53 - (-1022 - power);
    if (bits < 0) return 0.0;
    Word mantissa = 0;
    for (int k = 0; k < bits; ++k) {
        const bool one = above.compare(below) >= 0;
        mantissa = mantissa << 1 | one;
        if (one) above.subtract(below);
        above.shift(1);
    }
    const int rest = above.compare(below);  // with half a unit of the last place
    mantissa += rest > 0 || (rest == 0 && (mantissa & 1));
    return std::bit_cast<double>(bits == 53 ? (static_cast<Word>(power + 1022) << 52) + mantissa : mantissa);
}

// The number of the digits and the point in begin..end, times 10^power.
//
// A float64, or what lies halfway between two, has at most 768 digits: beyond them only whether anything follows counts.
[[gnu::noinline]] inline double any_digits(Text begin, Text end, Index power) {
    constexpr int KEPT = 800;
    Large number;
    Word leading = 0;  // the first digits
    Index count = 0, scale = power;
    bool behind_point = false, more = false;
    for (Text at = begin; at < end; ++at) {
        if (*at == '.') {
            behind_point = true;
            continue;
        }
        const Word digit = *at - '0';
        if (count == 0 && digit == 0) {
            scale -= behind_point;
            continue;
        }
        if (count == KEPT) {
            more |= digit != 0;
            scale += !behind_point;
            continue;
        }
        number.multiply(10, digit);
        scale -= behind_point;
        if (++count <= MOST_DIGITS) leading = 10 * leading + digit;
    }
    if (count == 0 || count + scale < -330) return 0.0;
    if (count + scale > 310) return std::bit_cast<double>(Word{0x7FF} << 52);
    if (count > MOST_DIGITS) {  // it lies between these two
        const Index q = count + scale - MOST_DIGITS;
        const Rounded least = nearest(leading, q), most = nearest(leading + 1, q);
        if (least.sure && most.sure && least.value == most.value) return least.value;
    }
    if (more) {
        number.multiply(10, 1);
        --scale;
    }
    return exact(number, scale);
}

struct Digits {
    Word w;
    int count;  // how many significant digits it has; beyond 19 they are counted no further, and w is of no use
    Text end;
};

// Go on with w at the digits from a place on.
[[gnu::always_inline]] inline Digits more_digits(Text at, Word w, int count) {
    for (;;) {
        const Word word = eight_digits(at);
        const Word ahead = digits_ahead(word);
        if (ahead == 0) return {w, count, at};
        auto more = static_cast<int>(ahead);
        if (w == 0) more -= std::min(more, std::countr_zero(word) >> 3);
        if (count + more > MOST_DIGITS) {
            Word left = ahead;
            while (left == 8) {
                at += 8;
                left = digits_ahead(eight_digits(at));
            }
            return {w, MOST_DIGITS + 1, at + left};
        }
        w = w * TENS[ahead] + whole(word, ahead);
        count += more;
        at += ahead;
        if (ahead < 8) return {w, count, at};
    }
}

// Any number without a sign.
[[gnu::noinline]] inline Number any_number(Text begin) {
    Digits digits = more_digits(begin, 0, 0);
    Index seen = digits.end - begin, q = 0;
    if (*digits.end == '.') {
        const Text behind = digits.end + 1;
        digits = more_digits(behind, digits.w, digits.count);
        q = behind - digits.end;
        seen -= q;
    }
    if (seen == 0) return NO_NUMBER;
    Text at = digits.end;
    Index power = 0;
    if ((*at | 32) == 'e') {
        const Byte sign = at[1];
        at += 1 + (sign == '-' || sign == '+');
        const Word word = eight_digits(at);
        const Word ahead = digits_ahead(word);
        if (ahead == 0 || ahead == 8) return NO_NUMBER;
        power = static_cast<Index>(whole(word, ahead));
        if (sign == '-') power = -power;
        at += ahead;
    }
    if (digits.count <= MOST_DIGITS) {
        const Rounded found = nearest(digits.w, q + power);
        if (found.sure) return {found.value, at};
    }
    return {any_digits(begin, digits.end, power), at};
}

// The digit before a point at a place; more than nine when there are no such two bytes.
[[gnu::always_inline]] inline Word digit_and_point(Text at) {
    return static_cast<Word>(at[0] | at[1] << 8) ^ ('.' << 8 | '0');
}

// One digit, a point, and from `behind` on 8 to 23 digits, as long as all fit; no other.
[[gnu::always_inline]] inline Number long_fraction(Text behind, Word lead) {
    const Word first = eight_digits(behind), second = eight_digits(behind + 8), third = eight_digits(behind + 16);
    const Word ahead = digits_ahead(second), further = ahead == 8 ? digits_ahead(third) : 0;
    Word w = lead * TENS[8] + joined(first);
    w = w * TENS[ahead] + whole(second, ahead);
    const Text end = behind + 8 + ahead + further;
    if (w >= ROOM_FOR[further] || (*end | 32) == 'e' || digits_ahead(first) < 8) return NO_NUMBER;
    const Rounded found = nearest(w * TENS[further] + whole(third, further), -static_cast<Index>(8 + ahead + further));
    if (!found.sure) return NO_NUMBER;
    return {found.value, end};
}

// Most numbers: one digit, a point, and at most 23 digits, which begin at `behind`; no other.
//
// Beyond eight digits nothing depends on how many there are but where to look next: their number varies from one to the
// next, and a processor that guesses wrong loses more time than the digits take.
[[gnu::always_inline]] inline Number fraction(Text behind, Word lead) {
    const Word word = eight_digits(behind);
    const Word ahead = digits_ahead(word);
    if (ahead == 8) return long_fraction(behind, lead);
    const Text end = behind + ahead;
    const auto w = static_cast<std::int64_t>(lead * TENS[ahead] + whole(word, ahead));
    if ((*end | 32) == 'e') return NO_NUMBER;
    return {static_cast<double>(w) / FLOAT_TENS[ahead], end};
}

[[gnu::always_inline]] inline Number unsigned_number(Text at) {
    const Word lead = digit_and_point(at);
    if (lead <= 9) {
        const Number found = fraction(at + 2, lead);
        if (found.end) return found;
    }
    return any_number(at);
}

// The number that begins at a place.
[[gnu::always_inline]] inline Number number(Text at) {
    const bool negative = *at == '-';
    Number found = unsigned_number(at + (negative || *at == '+'));
    found.value = signed_as(found.value, negative);
    return found;
}

// The same, quicker where there is no sign: where to look next then does not wait for the first byte.
[[gnu::always_inline]] inline Number likely_unsigned(Text at) {
    if (static_cast<Word>(*at) - '0' <= 9) return unsigned_number(at);
    return number(at);
}

}  // namespace noregret
