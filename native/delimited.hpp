// Delimited text into columns: the plain records of a piece of text, in one go.
//
// A record that is not plain (a number that is none, a quote within a cell, too many cells) is left to the simple
// reader: the parser stops in front of it and is called again behind it. Nothing here says what is wrong with a record.
//
// Convention: that of text.hpp.
#pragma once

#include "decimal.hpp"
#include "rows.hpp"

namespace noregret::delimited {

struct Progress {
    Index at, line, rows;
};

enum Kind : Index { IGNORED, NUMBER, HASHED, LABEL };  // of a column
enum Spelling { OTHER, DECIMAL, LONG_DECIMAL };        // of a number

constexpr int TRIALS = 3;  // so often a record is taken to go on as it began

// What the columns are and where their cells go, for as many records as there are newlines: numbers to
// X[row][place], the beginning and end of a cell to be hashed to cells[row][2·place], labels[row] is a number or NaN and
// tokens[row] where it is written; lines[row] counts from 0.
struct Columns {
    Line<const Index> kinds, places;
    Table<double> X;
    Table<Index> cells;
    Line<double> labels;
    Table<Index> tokens;
    Line<Index> lines;
};

struct Cut {
    Index end;     // of the last whole record
    Index opened;  // where a quoted cell without end begins; the size of the text if there is none
};

inline Cut records_end(Line<const Byte> text, Byte delimiter) {
    Cut cut{0, text.size};
    bool starts = true;  // a cell
    for (Index i = 0; i < text.size;) {
        const Byte one = text[i++];
        if (one == '"' && starts) {
            cut.opened = i;
            while (i < text.size && (text[i] != '"' || (i + 1 < text.size && text[i + 1] == '"'))) i += text[i] == '"' ? 2 : 1;
            if (i < text.size) cut.opened = text.size;
            ++i;
        }
        if (one == '\n') cut.end = i;
        starts = one == '\n' || one == delimiter;
    }
    return cut;
}

inline Text past_spaces(Text at, Byte delimiter) {
    while (*at == ' ' || (*at == '\t' && delimiter != '\t')) ++at;
    return at;
}

// Where a word that says that there is no number ends: na, n/a, nan, null, none in any case, or a question mark. The
// place itself when there is none.
inline Text past_missing(Text at) {
    constexpr std::uint32_t WORDS[] = {0x616E, 0x612F6E, 0x6E616E, 0x6C6C756E, 0x656E6F6E};  // the first letter lowest
    if (*at == '?') return at + 1;
    std::uint32_t word = 0;
    int length = 0;
    for (; length < 4; ++length) {
        const Byte one = at[length], lower = one == '/' ? one : one | 32;
        if (one != '/' && (lower < 'a' || lower > 'z')) break;
        word |= static_cast<std::uint32_t>(lower) << 8 * length;
    }
    for (const std::uint32_t known : WORDS) {
        if (word == known) return at + length;
    }
    return at;
}

struct Cell {
    Text begin, end;  // of its text
    Text behind;      // where the cell itself ends; null when only the simple reader can tell
    Index lines;      // how many newlines it holds
};

inline Cell cell_at(Text at, Text stop, Byte delimiter) {
    if (*at != '"') {
        Text end = at;
        while (*end != delimiter && *end != '\n' && *end != '\r' && *end != '"') ++end;
        return {at, end, *end == '"' ? nullptr : end, 0};
    }
    Index lines = 0;
    Text end = at + 1;
    for (; end < stop && *end != '"'; ++end) lines += *end == '\n';
    return {at + 1, end, end == stop || end[1] == '"' ? nullptr : end + 1, lines};
}

struct NumberCell {
    double value;
    Text begin, end;  // of the number
    Text behind;      // the cell
    bool fine;
};

// A number in quotes or with spaces around it, or a missing one.
inline NumberCell unusual(Text at, Byte delimiter) {
    const bool quoted = *at == '"';
    at = past_spaces(at + quoted, delimiter);
    Number found = number(at);
    if (!found.end) found = {NOT_A_NUMBER, past_missing(at)};
    const Text behind = past_spaces(found.end, delimiter);
    return {found.value, at, found.end, behind + quoted, !quoted || *behind == '"'};
}

// 0.25 or -0.25, with eight digits or fewer behind the point.
//
// Where it ends is told from the digits behind the third byte, which a sign does not move: so the next number need not
// wait until this one's sign is known.
struct Decimal {
    [[gnu::always_inline]] static Number read(Text at) {
        const Text end = at + 3 + digits_ahead(eight_digits(at + 3));
        const bool negative = *at == '-';
        at += negative;
        const Word lead = digit_and_point(at), behind = eight_digits(at + 2), bits = digit_bits(behind);
        const auto w = static_cast<std::int64_t>(lead * TENS[bits >> 3] + whole_of_some(behind, bits));
        if (lead > 9 || bits == 0 || at + 2 + (bits >> 3) != end) return NO_NUMBER;
        return {signed_as(static_cast<double>(w), negative) / FLOAT_TENS[bits >> 3], end};
    }
};

// The same with nine digits or more.
struct LongDecimal {
    [[gnu::always_inline]] static Number read(Text at) {
        const bool negative = *at == '-';
        at += negative;
        const Word lead = digit_and_point(at);
        if (lead > 9) return NO_NUMBER;
        const Number found = long_fraction(at + 2, lead);
        return {signed_as(found.value, negative), found.end};
    }
};

struct Place {
    Text at;
    Index column;
};

// Read cells with numbers spelled in one way from a column on, the last one of the record left out: where the next cell
// begins, and which it is. The general routine would say the same of each, with three times the instructions; apart,
// with all the registers to itself.
template <class Value>
[[gnu::noinline]] Place alike(Place place, Byte delimiter, Line<const Index> kinds, const Index *places, double *x) {
    auto [at, column] = place;
    while (column < kinds.size - 1 && kinds[column] == NUMBER) {
        const Number found = Value::read(at);
        if (!found.end || *found.end != delimiter) break;
        x[places[column++]] = found.value;
        at = found.end + 1;
    }
    return {at, column};
}

inline Spelling spelling_of(Text at, Text end) {
    at += *at == '-';
    if (at[1] != '.') return OTHER;
    return end - at <= 10 ? DECIMAL : LONG_DECIMAL;
}

// Append the records of data[done.at:stop]; false when it stopped in front of one that is not plain.
inline bool parse(Text data, Index stop, Byte delimiter, const Columns &columns, Progress &done) {
    const Text end = data + stop;
    const Index last = columns.kinds.size - 1;
    Spelling spelling = OTHER;
    for (Text at = data + done.at; at < end; done.at = at - data) {
        if (*at == '\n' || (*at == '\r' && at[1] == '\n')) {
            at += *at == '\n' ? 1 : 2;
            ++done.line;
            continue;
        }
        const Index row = done.rows;
        Index line = done.line;
        int wasted = 0;
        for (Index column = 0; column <= last; ++column) {
            if (spelling != OTHER && columns.kinds[column] == NUMBER && wasted < TRIALS) {
                const Index before = column;
                const auto loop = spelling == DECIMAL ? alike<Decimal> : alike<LongDecimal>;
                const Place reached = loop({at, column}, delimiter, columns.kinds, columns.places.data, columns.X[row]);
                at = reached.at;
                column = reached.column;
                wasted += column == before;
            }
            const Index kind = columns.kinds[column], place = columns.places[column];
            if (kind == NUMBER) {
                const Number found = number(at);
                NumberCell cell{found.value, at, found.end, found.end, true};
                if (!found.end || (*cell.behind != delimiter && *cell.behind != '\n')) cell = unusual(at, delimiter);
                if (!cell.fine) return false;
                columns.X(row, place) = cell.value;
                spelling = spelling_of(cell.begin, cell.end);
                at = cell.behind;
            } else {
                const Cell cell = cell_at(at, end, delimiter);
                if (!cell.behind) return false;
                line += cell.lines;
                at = cell.behind;
                if (kind == HASHED) {
                    columns.cells(row, 2 * place) = cell.begin - data;
                    columns.cells(row, 2 * place + 1) = cell.end - data;
                } else if (kind == LABEL) {
                    const Number found = number(cell.begin);
                    columns.labels[row] = found.end == cell.end ? found.value : NOT_A_NUMBER;
                    columns.tokens(row, 0) = cell.begin - data;
                    columns.tokens(row, 1) = cell.end - data;
                }
            }
            if (column == last) at += *at == '\r';
            if (*at != (column == last ? '\n' : delimiter)) return false;
            ++at;
        }
        columns.lines[row] = done.line;
        done.line = line + 1;
        ++done.rows;
    }
    return true;
}

}  // namespace noregret::delimited
