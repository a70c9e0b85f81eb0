// The window of the last rows, as Python keeps it.
#pragma once

#include "bind/arrays.hpp"
#include "nearest.hpp"

namespace noregret::bind {

// What a window of `size` rows must have room for.
inline WindowSeen window_seen(Line<const double> tiles, Index size, Line<const Index> learned, Line<double> row, Line<double> near, Index neighbours) {
    require(size >= 1 && learned.size == 1 && learned[0] >= 0, "a window of at least one row");
    require((size + TILE - 1) / TILE * TILE * row.size == tiles.size, "no room for the rows of the window");
    require(1 <= neighbours && neighbours <= near.size / 2, "no room for the nearest");
    static_assert(sizeof(Near) == 2 * sizeof(double));
    return {tiles.data, std::min(learned[0], size), row.size, row.data, reinterpret_cast<Near *>(near.data), neighbours};
}

inline Window window_of(Line<double> tiles, Index size, Line<Index> learned, Line<double> row, Line<double> near, Index neighbours) {
    const WindowSeen seen = window_seen({tiles.data, tiles.size}, size, {learned.data, learned.size}, row, near, neighbours);
    return {tiles, size, learned.data, seen.width, seen.row, seen.near, neighbours};
}

}  // namespace noregret::bind
