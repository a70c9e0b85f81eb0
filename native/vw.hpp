// Vowpal Wabbit's text into compressed rows of hashed features: the plain lines of a piece of text, in one go.
//
// A feature is MurmurHash3 of namespace^name, modulo the slots. A line that is not plain (a malformed one, a negative
// importance) is left to the simple reader: the parser stops in front of it and is called again behind it.
//
// Convention: that of text.hpp.
#pragma once

#include "decimal.hpp"
#include "hashing.hpp"
#include "rows.hpp"

namespace noregret::vw {

struct Progress {
    Index at, line, rows, entries;
    Index hints;     // slots that may be new
    Index weighted;  // rows with an importance
};

// Where rows go. There must be room for as many rows as there are newlines, one token and bound more, and as many
// entries and hints as there are other white bytes; `table` has four places an entry, and two more. Where a slot is not
// noted, hints[k] = (slot, where its namespace begins, where its name begins and ends).
struct Found {
    Line<double> labels;
    Table<Index> tokens;
    Line<double> weights;
    Line<Index> lines, bounds;
    Line<std::uint32_t> features;
    Line<double> values;
    Table<Index> hints;
    Line<Index> table;
};

// The slots begin at `start`; their number is a power of two. A bit is set for each that is noted.
struct Slots {
    Index start, count;
    Line<const Byte> noted;
};

constexpr Byte PART_OF_NAME = 1, PART_OF_TOKEN = 2;
constexpr std::array<Byte, 256> KINDS = [] {
    std::array<Byte, 256> kinds{};
    kinds.fill(PART_OF_NAME | PART_OF_TOKEN);
    for (const char one : {'\t', '\n', '\r', ' ', '|'}) kinds[static_cast<Byte>(one)] = 0;
    kinds[':'] = PART_OF_TOKEN;
    return kinds;
}();

inline Text past_blanks(Text at) {
    while (*at == ' ' || *at == '\t' || *at == '\r') ++at;
    return at;
}

// Where a token that begins at a place ends.
inline Text token_end(Text at) {
    while (KINDS[*at] & PART_OF_TOKEN) ++at;
    return at;
}

// Where a name ends: eight bytes at a time, up to a colon, a bar or a byte that is no more than a blank.
[[gnu::always_inline]] inline Text name_end(Text at) {
    for (;;) {
        const Word word = eight_bytes(at);
        const Word low = (word - eight_times('!')) & ~word & eight_times(128);
        const Word stops = low | zero_bytes(word ^ eight_times(':')) | zero_bytes(word ^ eight_times('|'));
        if (stops == 0) {
            at += 8;
            continue;
        }
        at += std::countr_zero(stops) >> 3;
        if (!(KINDS[*at] & PART_OF_NAME)) [[likely]] return at;
        ++at;  // another control character is part of a name
    }
}

struct Scale {
    double value;
    Text end;
    bool plain;
};

// The number behind a colon, 1 where there is none.
[[gnu::always_inline]] inline Scale scale_at(Text at) {
    if (*at != ':') return {1.0, at, true};
    const Number found = number(at + 1);
    return {found.value, found.end, found.end && KINDS[*found.end] == 0};
}

struct Head {
    double label = NOT_A_NUMBER;
    double weight = -1.0;  // for none
    Text end = nullptr;    // the bar, where it is plain
    bool plain = false;
};

// What stands before the first bar. A token that touches the bar, or begins with a quote, is a tag.
inline Head before_bar(Text at, Text data, Index *token) {
    Head head;
    token[0] = token[1] = at - data;
    for (int fields = 0;; ++fields) {
        const Text begin = past_blanks(at);
        at = token_end(begin);
        head.end = at;
        head.plain = *at == '|';
        if (head.plain) return head;
        if (*begin == '\'') {
            head.end = past_blanks(at);
            head.plain = *head.end == '|';
            return head;
        }
        if (at == begin || fields == 2) return head;  // no bar at all, or an initial value
        const Number found = number(begin);
        const bool is_number = found.end == at;
        if (fields == 1) {
            if (!is_number || !(found.value >= 0.0)) return head;
            head.weight = found.value;
            continue;
        }
        token[0] = begin - data;
        token[1] = at - data;
        if (is_number) head.label = found.value;
        else if (std::memchr(begin, ':', static_cast<std::size_t>(at - begin))) return head;
    }
}

// Sum the entries of a row whose features coincide, into the first of them; how many are left.
//
// The table holds (feature, place) pairs, a feature as near as possible behind its last bits.
inline Index summed(std::uint32_t *features, double *values, Index count, Line<Index> table) {
    Index size = 2;
    while (size < 2 * count) size *= 2;
    for (Index k = 0; k < size; ++k) table[k] = -1;
    Index end = 0;
    for (Index k = 0; k < count; ++k) {
        const Index feature = features[k];
        Index slot = feature & (size - 1);
        while (table[slot] >= 0 && table[slot] >> 32 != feature) slot = (slot + 1) & (size - 1);
        if (table[slot] >= 0) {
            values[table[slot] & 0xFFFFFFFF] += values[k];
        } else {
            table[slot] = feature << 32 | end;
            features[end] = static_cast<std::uint32_t>(feature);
            values[end++] = values[k];
        }
    }
    return end;
}

// Append the rows of data[done.at:stop]; false when it stopped in front of a line that is not plain.
inline bool parse(Text data, Index stop, const Slots &slots, const Found &found, Progress &done) {
    const Text end = data + stop;
    const auto mask = static_cast<std::uint32_t>(slots.count - 1);
    for (Text at = data + done.at; at < end; ++done.line, done.at = at - data) {
        at = past_blanks(at);
        if (*at == '\n') {
            ++at;
            continue;
        }
        const Head head = before_bar(at, data, found.tokens[done.rows]);
        if (!head.plain) return false;
        Index entry = done.entries, hints = done.hints;
        for (at = head.end; *at == '|';) {
            const Text space = at + 1, space_end = name_end(space);
            const Scale scale = scale_at(space_end);
            if (!scale.plain || (space_end == space && scale.end != space_end)) return false;
            Murmur prefix;
            prefix.add(space, space_end);
            prefix.add('^');
            for (at = past_blanks(scale.end); KINDS[*at] != 0; at = past_blanks(at)) {
                const Text name = at, behind = name_end(name);
                const Scale value = scale_at(behind);
                if (!value.plain || behind == name) return false;
                Murmur hash = prefix;
                hash.add(name, behind);
                const std::uint32_t slot = hash.finished((space_end - space) + 1 + (behind - name)) & mask;
                found.features[entry] = static_cast<std::uint32_t>(slots.start) + slot;
                found.values[entry++] = scale.value * value.value;
                if (!(slots.noted[slot >> 3] >> (slot & 7) & 1)) {
                    Index *hint = found.hints[hints++];
                    hint[0] = slot;
                    hint[1] = space - data;
                    hint[2] = name - data;
                    hint[3] = behind - data;
                }
                at = value.end;
            }
        }
        const Index first = done.entries;
        done.entries += summed(found.features.data + first, found.values.data + first, entry - first, found.table);
        found.labels[done.rows] = head.label;
        found.weights[done.rows] = head.weight < 0.0 ? 1.0 : head.weight;
        found.lines[done.rows] = done.line;
        found.bounds[++done.rows] = done.entries;
        done.hints = hints;
        done.weighted += head.weight >= 0.0;
        ++at;  // the newline: nothing else is left here that is part of no name
    }
    return true;
}

}  // namespace noregret::vw
