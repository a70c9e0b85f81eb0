// Entries (row, feature, value) in any order into compressed rows, and which hashed slots are new among them.
#pragma once

#include "text.hpp"

namespace noregret {

// The entries of row t are order[bounds[t]:bounds[t+1]], as they came; bounds are all zeros before. False for an entry
// of a row that is not there.
inline bool by_row(Line<const Index> rows, Line<Index> bounds, Line<Index> order) {
    const Index count = bounds.size - 1;
    for (Index e = 0; e < rows.size; ++e) {
        if (rows[e] < 0 || rows[e] >= count) return false;
        ++bounds[rows[e]];
    }
    Index total = 0;
    for (Index t = 0; t < count; ++t) {
        const Index size = bounds[t];
        bounds[t] = total;
        total += size;
    }
    for (Index e = 0; e < rows.size; ++e) order[bounds[rows[e]]++] = e;
    for (Index t = count; t > 0; --t) bounds[t] = bounds[t - 1];
    bounds[0] = 0;
    return true;
}

constexpr Index SHORT = 16;  // so many entries are sorted by inserting them one by one

inline void insert_each(Index *keys, Index count) {
    for (Index k = 1; k < count; ++k) {
        const Index key = keys[k];
        Index at = k;
        for (; at > 0 && keys[at - 1] > key; --at) keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

// Two sorted neighbours, keys[:middle] and keys[middle:count], into one.
inline void merge(Index *keys, Index middle, Index count, Index *room) {
    for (Index k = 0; k < middle; ++k) room[k] = keys[k];
    Index left = 0, right = middle, at = 0;
    while (left < middle && right < count) keys[at++] = keys[right] < room[left] ? keys[right++] : room[left++];
    while (left < middle) keys[at++] = room[left++];
}

inline void sort_keys(Index *keys, Index count, Index *room) {
    for (Index begin = 0; begin < count; begin += SHORT) insert_each(keys + begin, count - begin < SHORT ? count - begin : SHORT);
    for (Index width = SHORT; width < count; width *= 2) {
        for (Index begin = 0; begin < count - width; begin += 2 * width) {
            merge(keys + begin, width, count - begin < 2 * width ? count - begin : 2 * width, room);
        }
    }
}

struct Gathered {
    Line<const Index> bounds, order;  // as `by_row` makes them
    Line<const std::uint32_t> features;
};

// The entries of each row by feature, coinciding ones summed as they came; how many are left.
//
// A row is sorted by (feature, place in the row); keys and room have as many places as the longest row has entries.
template <class X>
Index merged(const Gathered &entries, Line<const X> values, Line<Index> keys, Line<Index> room, Line<Index> out_bounds,
             Line<std::uint32_t> out_features, Line<X> out_values) {
    Index total = 0;
    out_bounds[0] = 0;
    for (Index t = 0; t + 1 < entries.bounds.size; ++t) {
        const Index begin = total, count = entries.bounds[t + 1] - entries.bounds[t];
        const Index *order = entries.order.data + entries.bounds[t];
        for (Index k = 0; k < count; ++k) keys[k] = static_cast<Index>(entries.features[order[k]]) << 32 | k;
        sort_keys(keys.data, count, room.data);
        for (Index k = 0; k < count; ++k) {
            const auto feature = static_cast<std::uint32_t>(keys[k] >> 32);
            const X value = values[order[keys[k] & 0xFFFFFFFF]];
            if (total > begin && out_features[total - 1] == feature) {
                out_values[total - 1] += value;
            } else {
                out_features[total] = feature;
                out_values[total++] = value;
            }
        }
        out_bounds[t + 1] = total;
    }
    return total;
}

// The slots of cells that are given as numbers of distinct values, −1 for none: slots[order[bounds[c]:…]] of c.
inline void repeated(Line<const Index> codes, Line<const Index> bounds, Line<const Index> order,
                     Line<const std::uint32_t> slots, Line<Index> rows, Line<std::uint32_t> out) {
    Index total = 0;
    for (Index i = 0; i < codes.size; ++i) {
        if (codes[i] < 0) continue;
        for (Index k = bounds[codes[i]]; k < bounds[codes[i] + 1]; ++k) {
            rows[total] = i;
            out[total++] = slots[order[k]];
        }
    }
}

inline bool is_noted(Line<const Byte> noted, std::uint32_t slot) { return noted[slot >> 3] >> (slot & 7) & 1; }

// The entries e = order[k] − first ≥ 0 whose slot is not noted, repeats and all; how many they are.
inline Index maybe_new(Line<const Index> order, Index first, Line<const std::uint32_t> slots, Line<const Byte> noted,
                       Line<Index> out) {
    Index count = 0;
    for (Index k = 0; k < order.size; ++k) {
        const Index entry = order[k] - first;
        if (entry >= 0 && !is_noted(noted, slots[entry])) out[count++] = entry;
    }
    return count;
}

// Note every slot; out[:count] are the places of those that were not noted before.
inline Index newly(Line<const std::uint32_t> slots, Line<Byte> noted, Line<Index> out) {
    Index count = 0;
    for (Index k = 0; k < slots.size; ++k) {
        const std::uint32_t slot = slots[k];
        if (is_noted({noted.data, noted.size}, slot)) [[likely]] continue;
        noted[slot >> 3] |= static_cast<Byte>(1 << (slot & 7));
        out[count++] = k;
    }
    return count;
}

// out[k] = how many entries stand right before entries[k], from least[k] on, that are of the same row.
inline void ordinals(Line<const Index> rows, Line<const Index> entries, Line<const Index> least, Line<Index> out) {
    for (Index k = 0; k < entries.size; ++k) {
        Index begin = entries[k];
        while (begin > least[k] && rows[begin - 1] == rows[entries[k]]) --begin;
        out[k] = entries[k] - begin;
    }
}

}  // namespace noregret
