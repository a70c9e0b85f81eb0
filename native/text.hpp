// Text as parsers take it: eight bytes at once, and how often some bytes occur in a piece of it.
//
// Convention: a parser is given whole lines, the last byte a newline, with SLACK bytes or more behind them, so that it
// may look a few words ahead without asking where the text ends. Every run of digits, letters or blanks ends at that
// newline at the latest.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "arrays.hpp"

namespace noregret {

using Byte = std::uint8_t;
using Text = const Byte *;  // a place in a text
using Word = std::uint64_t;

constexpr Index SLACK = 32;

// The eight bytes from a place on, the first byte lowest.
[[gnu::always_inline]] inline Word eight_bytes(Text at) {
    Word word;
    std::memcpy(&word, at, sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    return word;
}

[[gnu::always_inline]] inline std::uint32_t four_bytes(Text at) {
    std::uint32_t word;
    std::memcpy(&word, at, sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap32(word);
    return word;
}

// A word whose eight bytes are all this one.
constexpr Word eight_times(Byte one) { return Word{0x0101010101010101} * one; }

// The highest bit of every byte that is zero, and perhaps of some above the lowest of them.
[[gnu::always_inline]] inline Word zero_bytes(Word word) { return (word - eight_times(1)) & ~word & eight_times(128); }

// Where a token ends that is read from a place on: at `end`, which its digits tell, but the processor need not wait for
// them where it can look for a blank in 32 bytes at once. Another place than `end` for a token that does not end there.
[[gnu::always_inline]] inline Text blank_behind([[maybe_unused]] Text at, [[maybe_unused]] Text end) {
#if defined(__AVX2__)
    const __m256i some = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(at));
    return at + _tzcnt_u32(static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpgt_epi8(_mm256_set1_epi8('!'), some))));
#elif defined(__SSE2__)
    const auto low = [](Text from) {
        const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
        return static_cast<Word>(_mm_movemask_epi8(_mm_cmplt_epi8(some, _mm_set1_epi8('!'))));
    };
    return at + __builtin_ctzll(low(at) | low(at + 16) << 16 | Word{1} << 32);
#else
    return end;
#endif
}

struct Counts {
    Index lines = 0;   // newlines
    Index others = 0;  // another byte
    Index odd = 0;     // bytes that are NUL or not ASCII
    Index white = 0;   // bytes up to the blank
};

// Counts of a byte each, a vector of them side by side, for as many steps as a byte can count.
inline Counts counted(Line<const Byte> text, Byte other) {
#if defined(__AVX2__)
    constexpr Index WIDE = 32, STEPS = 255;
#else
    constexpr Index WIDE = 16, STEPS = 255;
#endif
    using Bytes [[gnu::vector_size(WIDE)]] = Byte;
    using Signed [[gnu::vector_size(WIDE)]] = signed char;
    const auto total = [](Bytes counts) {
        Index sum = 0;
        for (Index k = 0; k < WIDE; ++k) sum += counts[k];
        return sum;
    };
    Counts all;
    Index i = 0;
    while (i + WIDE <= text.size) {
        Bytes lines{}, others{}, odd{}, white{};
        for (Index step = 0; step < STEPS && i + WIDE <= text.size; ++step, i += WIDE) {
            Bytes some;
            std::memcpy(&some, text.data + i, sizeof some);
            const Signed ascii = (Signed)some;  // what is not ASCII is negative
            lines -= (Bytes)(some == '\n');
            others -= (Bytes)(some == other);
            odd -= (Bytes)(ascii <= 0);
            white -= (Bytes)(ascii <= ' ') - (Bytes)(ascii < 0);
        }
        all.lines += total(lines);
        all.others += total(others);
        all.odd += total(odd);
        all.white += total(white);
    }
    for (; i < text.size; ++i) {
        const Byte one = text[i];
        all.lines += one == '\n';
        all.others += one == other;
        all.odd += one == 0 || one > 127;
        all.white += one <= ' ';
    }
    return all;
}

}  // namespace noregret
