// svmlight text into compressed rows: the plain lines of a piece of text, in one go.
//
// A line that is not plain (a malformed one, a `nan`, a label with a colon) is left to the simple reader: the parser
// stops in front of it and is called again behind it. Nothing here says what is wrong with a line.
//
// Convention: that of text.hpp.
#pragma once

#include "decimal.hpp"
#include "lanes.hpp"
#include "rows.hpp"

namespace noregret::svmlight {

struct Progress {
    Index at, line, rows, entries;
    Index infinite;  // how many values are beyond all floats
};

// Where rows go. labels[t] is a number or NaN, tokens[t] where it is written, lines[t] counts from 0. There must be
// room for as many rows as there are newlines, one bound more, and as many entries as there are colons; `room` has
// four places an entry, and two more.
struct Found {
    Line<double> labels;
    Table<Index> tokens;
    Line<Index> lines, bounds;
    Line<std::uint32_t> features;
    Line<double> values;
    Line<Index> room;
};

constexpr Index MOST_FEATURE = 0x7FFFFFFF;
constexpr int TRIALS = 3;  // so often a line is taken to go on as it began

enum Spelling { OTHER, DECIMAL, LONG_DECIMAL, WHOLE };  // of a value

inline bool blank(Byte one) { return one == ' ' || (one >= 9 && one <= 13 && one != '\n'); }

// Whether a token ends in front of this byte.
inline bool ends(Byte one) { return one == ' ' || one == '#' || (one >= 9 && one <= 13); }

inline Text past_blanks(Text at) {
    while (blank(*at)) ++at;
    return at;
}

inline Text token_end(Text at) {
    while (!ends(*at)) ++at;
    return at;
}

inline Text line_end(Text at, Text stop) {
    return *at == '\n' ? at : static_cast<Text>(std::memchr(at, '\n', static_cast<std::size_t>(stop - at)));
}

struct Label {
    double value;  // NaN for a word
    Text end;
    bool plain;  // whether the row is so far
};

inline Label label_at(Text begin, bool labelled) {
    const Text at = begin + (*begin == '-' || *begin == '+');
    const Word digit = static_cast<Word>(*at) - '0';
    if (digit <= 9 && at[1] == ' ') return {signed_as(static_cast<double>(digit), *begin == '-'), at + 1, true};
    const Number found = number(begin);
    if (found.end && ends(*found.end)) return {found.value, found.end, true};
    Text end = begin;
    for (; !ends(*end); ++end) {
        if (*end == ':') return {NOT_A_NUMBER, begin, !labelled};
    }
    return {NOT_A_NUMBER, end, true};
}

struct Feature {
    Index number;  // −1 when there is no such index
    Text colon;    // behind it
};

inline Feature feature_at(Text at) {
    const Word word = eight_digits(at);
    const Word ahead = digits_ahead(word);
    if (ahead == 0) return {-1, at};
    auto number = static_cast<Index>(whole(word, ahead));
    at += ahead;
    if (ahead == 8) {
        const Word more = digits_ahead(eight_digits(at));
        if (more > 2) return {-1, at};
        for (Word k = 0; k < more; ++k) number = 10 * number + (*at++ - '0');
        if (number > MOST_FEATURE) return {-1, at};
    }
    return {*at == ':' ? number : -1, at};
}

// 0.25, with eight digits or fewer behind the point.
struct Decimal {
    static constexpr bool IS_SHORT = true;
    [[gnu::always_inline]] static Number read(Text at) {
        const Word lead = digit_and_point(at), behind = eight_digits(at + 2), bits = digit_bits(behind);
        const auto w = static_cast<std::int64_t>(lead * TENS[bits >> 3] + whole_of_some(behind, bits));
        if (lead > 9 || bits == 0) return NO_NUMBER;
        return {static_cast<double>(w) / FLOAT_TENS[bits >> 3], at + 2 + (bits >> 3)};
    }
};

// The same with nine digits or more.
struct LongDecimal {
    static constexpr bool IS_SHORT = false;
    [[gnu::always_inline]] static Number read(Text at) {
        const Word lead = digit_and_point(at);
        return lead > 9 ? NO_NUMBER : long_fraction(at + 2, lead);
    }
};

// A whole number of eight digits or fewer.
struct Whole {
    static constexpr bool IS_SHORT = true;
    [[gnu::always_inline]] static Number read(Text at) {
        const Word digits = eight_digits(at), bits = digit_bits(digits);
        const auto w = static_cast<std::int64_t>(whole_of_some(digits, bits));
        if (bits == 0) return NO_NUMBER;
        return {static_cast<double>(w), at + (bits >> 3)};
    }
};

struct Pairs {
    Text at;
    Index entry, last;  // the next entry, the last feature
    bool rising;        // whether every feature was larger than the one before
};

// Append pairs ` index:value`, their values all spelled in one way, from the blank at a place on. The general routine
// would say the same of each, with three times the instructions; apart, with all the registers to itself.
template <class Value> [[gnu::noinline]] Pairs alike(Pairs pairs, std::uint32_t *features, double *values) {
    auto [at, entry, last, rising] = pairs;
    for (Byte next = *at; next == ' ';) {
        const Word digits = eight_digits(at + 1), bits = digit_bits(digits);
        const Text colon = at + 1 + (bits >> 3);
        if (*colon != ':' || bits == 0) break;
        const Number value = Value::read(colon + 1);
        if (!value.end) break;
        const Text end = Value::IS_SHORT ? blank_behind(at + 1, value.end) : value.end;
        next = *end;
        if (end != value.end || (next != ' ' && next != '\n')) break;
        const auto feature = static_cast<Index>(whole_of_some(digits, bits));
        rising &= feature > last;
        last = feature;
        features[entry] = static_cast<std::uint32_t>(feature);
        values[entry] = value.value;
        ++entry;
        at = end;
    }
    return {at, entry, last, rising};
}

inline Spelling spelling_of(Text at, Text end) {
    if (*at < '0') return OTHER;
    if (at[1] == '.') return end - at <= 10 ? DECIMAL : LONG_DECIMAL;
    return at + digits_ahead(eight_digits(at)) == end ? WHOLE : OTHER;
}

// Whether a feature stands twice; `room` has at least four places a feature, and two more.
inline bool twice(Line<const std::uint32_t> features, Line<Index> room) {
    Index size = 2;
    while (size < 2 * features.size) size *= 2;
    for (Index k = 0; k < size; ++k) room[k] = -1;
    for (Index k = 0; k < features.size; ++k) {
        const Index feature = features[k];
        Index slot = (feature * 40503 >> 4) & (size - 1);
        for (; room[slot] != -1; slot = (slot + 1) & (size - 1)) {
            if (room[slot] == feature) return true;
        }
        room[slot] = feature;
    }
    return false;
}

// Append the rows of data[done.at:stop]; false when it stopped in front of a line that is not plain. A row needs a
// label where `labelled`.
inline bool parse(Text data, Index stop, bool labelled, const Found &found, Progress &done) {
    const Text end = data + stop;
    Spelling spelling = OTHER;
    for (Text at = data + done.at; at < end; ++done.line, done.at = at - data) {
        at = past_blanks(at);
        if (*at == '#' || *at == '\n') {
            at = line_end(at, end) + 1;
            continue;
        }
        const Text token = at;
        Label label = label_at(at, labelled);
        Pairs pairs{label.end, done.entries, -1, true};
        Index infinite = done.infinite;
        int wasted = 0;
        while (label.plain) {
            if (spelling != OTHER && wasted < TRIALS) {
                const Index before = pairs.entry;
                const auto loop = spelling == DECIMAL ? alike<Decimal> : spelling == WHOLE ? alike<Whole> : alike<LongDecimal>;
                pairs = loop(pairs, found.features.data, found.values.data);
                wasted += pairs.entry == before;
            }
            at = past_blanks(pairs.at);
            if (*at == '\n' || *at == '#') break;
            if (at[0] == 'q' && at[1] == 'i' && at[2] == 'd' && at[3] == ':') {
                pairs.at = token_end(at);
                continue;
            }
            const auto [feature, colon] = feature_at(at);
            if (feature < 0) return false;
            const Number value = likely_unsigned(colon + 1);
            if (!value.end || !ends(*value.end)) return false;
            infinite += !finite(value.value);
            pairs.rising &= feature > pairs.last;
            pairs.last = feature;
            found.features[pairs.entry] = static_cast<std::uint32_t>(feature);
            found.values[pairs.entry] = value.value;
            ++pairs.entry;
            spelling = spelling_of(colon + 1, value.end);
            pairs.at = value.end;
        }
        const Line<const std::uint32_t> features{found.features.data + done.entries, pairs.entry - done.entries};
        if (!label.plain || (!pairs.rising && twice(features, found.room))) return false;
        found.labels[done.rows] = label.value;
        found.tokens(done.rows, 0) = token - data;
        found.tokens(done.rows, 1) = label.end - data;
        found.lines[done.rows] = done.line;
        found.bounds[++done.rows] = pairs.entry;
        done.entries = pairs.entry;
        done.infinite = infinite;
        at = line_end(at, end) + 1;
    }
    return true;
}

}  // namespace noregret::svmlight
