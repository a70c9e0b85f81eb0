// MurmurHash3, the x86 32-bit variant with seed 0, over many byte strings, each in one piece or in two; and a checksum
// of 64-bit words at the speed of memory.
//
// A hash that is under way knows what the whole words so far made, and the up to three bytes behind them. So the bytes
// before all cells of a column are read once. Nothing outside of the strings is read.
#pragma once

#include "text.hpp"

namespace noregret {

struct Murmur {
    std::uint32_t state = 0;
    Word pending = 0;  // the bytes that make no whole word yet
    int held = 0;      // how many bits that are

    static std::uint32_t scrambled(std::uint32_t word) { return std::rotl(word * 0xCC9E2D51U, 15) * 0x1B873593U; }

    [[gnu::always_inline]] void mix(std::uint32_t word) {
        state = std::rotl(state ^ scrambled(word), 13) * 5 + 0xE6546B64U;
    }
    [[gnu::always_inline]] void add(Byte one) {
        pending |= static_cast<Word>(one) << held;
        held += 8;
        if (held == 32) {
            mix(static_cast<std::uint32_t>(pending));
            pending = 0;
            held = 0;
        }
    }
    [[gnu::always_inline]] void add(Text begin, Text end) {
        for (; end - begin >= 4; begin += 4) {
            pending |= static_cast<Word>(four_bytes(begin)) << held;
            mix(static_cast<std::uint32_t>(pending));
            pending >>= 32;
        }
        for (; begin < end; ++begin) add(*begin);
    }
    // The hash of `length` bytes that have all been added.
    [[gnu::always_inline]] std::uint32_t finished(Index length) const {
        std::uint32_t hash = state ^ scrambled(static_cast<std::uint32_t>(pending)) ^ static_cast<std::uint32_t>(length);
        hash = (hash ^ hash >> 16) * 0x85EBCA6BU;
        hash = (hash ^ hash >> 13) * 0xC2B2AE35U;
        return hash ^ hash >> 16;
    }
};

// Whether data[begin:end] is part of the data.
inline bool within(Line<const Byte> data, Index begin, Index end) {
    return 0 <= begin && begin <= end && end <= data.size;
}

// out[i] is the hash of data[offsets[i]:offsets[i+1]]; false where that is not part of the data.
inline bool murmur3(Line<const Byte> data, Line<const Index> offsets, Line<std::uint32_t> out) {
    for (Index i = 0; i < out.size; ++i) {
        if (!within(data, offsets[i], offsets[i + 1])) return false;
        Murmur hash;
        hash.add(data.data + offsets[i], data.data + offsets[i + 1]);
        out[i] = hash.finished(offsets[i + 1] - offsets[i]);
    }
    return true;
}

// How many bytes the white character at a place has; 0 when there is none: as Python's `str.isspace` has it, in UTF-8.
inline int white_at(Text at, Text end) {
    const Byte one = at[0];
    if (one == ' ' || (one >= 9 && one <= 13) || (one >= 28 && one <= 31)) return 1;
    if (one < 128 || end - at < 2) return 0;
    const Byte two = at[1];
    if (one == 0xC2) return two == 0x85 || two == 0xA0 ? 2 : 0;
    if (one < 0xE1 || one > 0xE3 || end - at < 3) return 0;
    const Byte three = at[2];
    if (one == 0xE1) return two == 0x9A && three == 0x80 ? 3 : 0;
    if (one == 0xE3) return two == 0x80 && three == 0x80 ? 3 : 0;
    if (two == 0x81) return three == 0x9F ? 3 : 0;
    const bool wide = (three >= 0x80 && three <= 0x8A) || three == 0xA8 || three == 0xA9 || three == 0xAF;
    return two == 0x80 && wide ? 3 : 0;
}

inline bool is_blank(Text at, Text end) {
    while (at < end) {
        const int size = white_at(at, end);
        if (size == 0) return false;
        at += size;
    }
    return true;
}

// Cells of a column in UTF-8, data[starts[i]:stops[i]], and the bytes that are hashed before each.
struct Cells {
    Line<const Byte> head, data;
    Line<const Index> starts, stops;
};

struct Hashed {
    Index count;   // of hashes; −1 where a cell is not part of the data
    Index others;  // cells left out
};

// The hash of head + cell for every cell that is not blank: the k-th is out[k], its cell rows[k]; there is room for one
// a cell.
inline Hashed hash_values(const Cells &cells, Line<Index> rows, Line<std::uint32_t> out) {
    Murmur first;
    first.add(cells.head.data, cells.head.data + cells.head.size);
    Index count = 0;
    for (Index i = 0; i < cells.starts.size; ++i) {
        if (!within(cells.data, cells.starts[i], cells.stops[i])) return {-1, 0};
        const Text begin = cells.data.data + cells.starts[i], end = cells.data.data + cells.stops[i];
        if (is_blank(begin, end)) continue;
        Murmur hash = first;
        hash.add(begin, end);
        out[count] = hash.finished(cells.head.size + (end - begin));
        rows[count++] = i;
    }
    return {count, 0};
}

// For each byte what it is in a lower-cased word; 0 where it is in none, or not ASCII.
constexpr std::array<Byte, 256> LETTERS = [] {
    std::array<Byte, 256> letters{};
    for (int one = '0'; one <= '9'; ++one) letters[one] = static_cast<Byte>(one);
    for (int one = 'a'; one <= 'z'; ++one) letters[one] = letters[one - 32] = static_cast<Byte>(one);
    letters['_'] = '_';
    return letters;
}();

// The same for every lower-cased word of a cell; cells that are not ASCII are left out and listed. A cell of n bytes
// needs room for (n + 1)/2 words.
inline Hashed hash_words(const Cells &cells, Line<Index> rows, Line<std::uint32_t> out, Line<Index> left) {
    Murmur first;
    first.add(cells.head.data, cells.head.data + cells.head.size);
    Index count = 0, others = 0;
    for (Index i = 0; i < cells.starts.size; ++i) {
        if (!within(cells.data, cells.starts[i], cells.stops[i])) return {-1, 0};
        const Text begin = cells.data.data + cells.starts[i], end = cells.data.data + cells.stops[i];
        const Index before = count;
        Index length = 0;
        Murmur hash = first;
        const auto finish = [&] {
            if (length == 0) return;
            out[count] = hash.finished(cells.head.size + length);
            rows[count++] = i;
            length = 0;
            hash = first;
        };
        Text at = begin;
        for (; at < end; ++at) {
            const Byte letter = LETTERS[*at];
            if (letter != 0) {
                ++length;
                hash.add(letter);
            } else if (*at >= 128) {
                break;
            } else {
                finish();
            }
        }
        if (at == end) {
            finish();
        } else {
            count = before;
            left[others++] = i;
        }
    }
    return {count, others};
}

// Of all words, their order and their number: four lanes, each a ← (a ⊕ word)·k modulo 2⁶⁴, k odd.
//
// Each step is one-to-one in the word and in the lane, so a change within a single word always shows; any other damage
// goes unnoticed with a probability of about 2⁻⁶⁴.
inline Word checksum(Line<const Word> words) {
    constexpr Word ODD = 0x9E3779B97F4A7C15;
    Word a = eight_times(0xA5), b = eight_times(0xB6), c = eight_times(0xC7), d = eight_times(0xD8);
    Index i = 0;
    for (; i + 4 <= words.size; i += 4) {
        a = (a ^ words[i]) * ODD;
        b = (b ^ words[i + 1]) * ODD;
        c = (c ^ words[i + 2]) * ODD;
        d = (d ^ words[i + 3]) * ODD;
    }
    for (; i < words.size; ++i) {
        a = (a ^ words[i]) * ODD;
        a ^= a >> 29;
    }
    for (const Word lane : {b, c, d}) {
        a = (a ^ lane) * ODD;
        a ^= a >> 32;
    }
    return a;
}

}  // namespace noregret
