// The shares of the members of a pool over time, in a table of bounded size.
#pragma once

#include <algorithm>

#include "arrays.hpp"

namespace noregret {

constexpr Index HISTORY_ROWS = 512;  // when they are full, every second one goes

// Row after row (round, share of each member); `clock` is (rows, step, next round).
struct History {
    Table<double> rows;
    Index *clock;
};

// As the trace does: a full table drops every second row, and the spacing doubles. `fill` writes the shares of a round.
template <class Fill> void keep_shares(const History &history, Index round, Fill fill) {
    auto &[rows, clock] = history;
    if (round < clock[2]) return;
    double *row = rows[clock[0]++];
    row[0] = static_cast<double>(round);
    fill(row + 1);
    if (clock[0] == HISTORY_ROWS) {
        for (Index k = 0; k < HISTORY_ROWS / 2; ++k) std::copy_n(rows[2 * k + 1], rows.columns, rows[k]);
        clock[0] = HISTORY_ROWS / 2;
        clock[1] *= 2;
    }
    clock[2] = (round / clock[1] + 1) * clock[1];
}

}  // namespace noregret
