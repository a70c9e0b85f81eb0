// A piece of text as the stream hands it to a parser, and arrays of exactly the size that they get there, so that
// AddressSanitizer sees whatever is read or written beside them.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "text.hpp"

namespace noregret::fuzz {

inline void require(bool holds, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
}

// An array without a byte to spare, whatever it holds.
template <class T> struct Room {
    std::unique_ptr<T[]> held;
    Index size;

    explicit Room(Index count) : held(new T[static_cast<std::size_t>(count)]), size(count) {
        std::memset(static_cast<void *>(held.get()), 0xA5, static_cast<std::size_t>(count) * sizeof(T));
    }
    Line<T> line() const { return {held.get(), size}; }
    Table<T> table(Index columns) const { return {held.get(), columns ? size / columns : 0, columns, columns}; }
};

// Whole lines, a newline added to the last, and the slack behind them: newlines, or, where the text goes on behind a
// part that is not to be read, other bytes.
struct Piece {
    Room<Byte> bytes;
    Index stop;

    Piece(const Byte *given, Index size, Byte behind)
        : bytes(size + (size > 0 && given[size - 1] != '\n') + SLACK), stop(bytes.size - SLACK) {
        std::memset(bytes.held.get(), behind, static_cast<std::size_t>(bytes.size));
        if (size > 0) std::memcpy(bytes.held.get(), given, static_cast<std::size_t>(size));
        if (stop > 0) bytes.held[static_cast<std::size_t>(stop - 1)] = '\n';
    }
    Text data() const { return bytes.held.get(); }
    Counts counts(Byte other) const { return counted({data(), stop}, other); }
    // Behind the line that begins at a place.
    Index behind_line(Index at) const {
        while (data()[at] != '\n') ++at;
        return at + 1;
    }
};

}  // namespace noregret::fuzz
