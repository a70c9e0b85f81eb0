// What the bits of loops that learn have in common: the figures of a run, and rows in all layouts.
#pragma once

#include <cstring>

#include "play.hpp"
#include "rounds.hpp"
#include "tests/bits.hpp"

namespace noregret::bits {

// Every field of the state, by its name's own kind.
inline void hash_state(Hash &hash, const State &st) {
    const auto *bytes = reinterpret_cast<const char *>(&st);
    for (const Field &field : STATE_FIELDS) {
        Index size = field.shape[0] ? field.shape[0] : 1;
        if (field.shape[1]) size *= field.shape[1];
        for (Index k = 0; k < size; ++k) {
            std::uint64_t word;
            std::memcpy(&word, bytes + field.offset + static_cast<std::size_t>(k) * 8, 8);
            if (field.kind == 'f') hash(std::bit_cast<double>(word));
            else hash(word);
        }
    }
}

inline void begin(Record &record, const Config &config) {
    std::memset(static_cast<void *>(&record), 0, sizeof record);
    record.config = config;
    record.state.scale = record.state.wealth = 1.0;
    record.state.trace_step = record.state.trace_next = record.state.curve_next = 1;
}

// The layouts of two tables of rows, the second of narrow numbers, from a row on.
struct Layouts {
    Made<double> wide;
    Made<float> narrow;

    Layouts(Index count, Index width) : wide(static_cast<std::uint64_t>(width), count, width), narrow(static_cast<std::uint64_t>(width), count, width) {}

    Rows rows(Index layout, Index from = 0) const {
        switch (layout) {
            case 0: return wide.matrix(from);
            case 1: return narrow.matrix(from);
            case 2: return wide.sparse(from);
            default: return narrow.sparse(from);
        }
    }
    const Numbers &labels(bool real) const { return real ? wide.reals : wide.labels; }
};

inline Batch batch_of(const Layouts &given, bool real, bool weighted, Index from, Index stop, Numbers &scores) {
    return {given.labels(real).data() + from, stop - from, weighted ? given.wide.weights.data() + from : nullptr, scores.data() + from};
}

inline const Layouts FEW[] = {{60, 5}, {60, 16}, {60, 23}};
inline const Layouts MANY(5000, 9);

}  // namespace noregret::bits
