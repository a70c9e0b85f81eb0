// What rows become before they are played, where their columns alone are too little: random Fourier features, bins,
// crosses of bins, products. All that is random comes from the numbers of a feature and of a cosine, so that a column
// that comes later changes nothing of those before.
#pragma once

#include "functions.hpp"
#include "prepare.hpp"

namespace noregret {

// splitmix64 (G. L. Steele, D. Lea and C. H. Flood 2014), from its state.
inline std::uint64_t mixed(std::uint64_t state) {
    state += 0x9E3779B97F4A7C15U;
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9U;
    state = (state ^ state >> 27) * 0x94D049BB133111EBU;
    return state ^ state >> 31;
}

// ω_ij for all j of a feature i: standard normal deviates, two from each draw.
inline void frequencies(Index feature, Line<double> out) {
    for (Index j = 0; j < out.size; j += 2) {
        const auto key = static_cast<std::uint64_t>(feature) << 32 | static_cast<std::uint64_t>(j);
        const functions::Pair two = normal_deviates(mixed(mixed(key)), mixed(mixed(key + 1)));
        out[j] = two.high;
        if (j + 1 < out.size) out[j + 1] = two.low;
    }
}

// b_j, in turns.
inline double offset(Index j) { return static_cast<double>(mixed(mixed(~static_cast<std::uint64_t>(j))) >> 11) * 0x1p-53; }

// cos 2πp within 2⁻⁵⁰: p without its whole turns is f, and cos 2πf = sin 2π(¼ − |f|), a series up to the power 21.
template <class N> [[gnu::always_inline]] inline N cosine_of_turns(N p) {
    const N none{}, whole = (p + 0x1.8p52) - 0x1.8p52;
    const auto near = (p < none + 0x1p50) & (p > none - 0x1p50);
    const N f = near ? p - whole : none;
    const N a = (0.25 - (f < none ? none - f : f)) * 6.283185307179586, s = a * a;
    N sum = none + 1.0 / 51090942171709440000.0;
    for (const double factorial : {-121645100408832000.0, 355687428096000.0, -1307674368000.0, 6227020800.0, -39916800.0, 362880.0, -5040.0, 120.0, -6.0}) {
        sum = sum * s + 1.0 / factorial;
    }
    return (a + a * s * sum) + (p - p);
}

struct Fourier {
    Table<const double> table;  // ω of the first features; of the others it is computed when it is needed
    Line<const double> offsets;
    double bandwidth;
    Line<std::uint8_t> seen;    // which features were not 0 in some row that was learned
    Index &count;               // how many those are
};

// out_j = √(2/D)·cos(b_j + (γ/√n)·Σ x_i·ω_ij), n features that were not 0 so far; the sum in the order of the row.
template <bool LEARN, class R> void fourier(const R &given, Fourier kept, Line<double> room, Table<double> out) {
    const Index D = out.columns;
    const double height = std::sqrt(2.0 / static_cast<double>(D));
    for (Index t = 0; t < given.count(); ++t) {
        const Line<double> values = given.values(t), sums = out.row(t);
        for (Index j = 0; j < D; ++j) sums[j] = 0.0;
        for (Index k = 0; k < values.size; ++k) {
            const double x = values[k];
            const Index i = given.feature(t, k);
            if (x == 0.0) continue;
            if (LEARN && i < kept.seen.size && !kept.seen[i]) {
                kept.seen[i] = 1;
                ++kept.count;
            }
            const bool tabled = i < kept.table.rows;
            if (!tabled) frequencies(i, room);
            const double *omega = tabled ? kept.table[i] : room.data;
            Index j = 0;
            for (; j + 4 <= D; j += 4) store(load(sums.data + j) + load(omega + j) * x, sums.data + j);
            for (; j < D; ++j) sums[j] += omega[j] * x;
        }
        const double share = kept.bandwidth / std::sqrt(static_cast<double>(kept.count > 1 ? kept.count : 1)) * (1.0 / 6.283185307179586);
        Index j = 0;
        for (; j + 4 <= D; j += 4) {
            store(cosine_of_turns(load(kept.offsets.data + j) + load(sums.data + j) * share) * height, sums.data + j);
        }
        for (; j < D; ++j) sums[j] = cosine_of_turns(kept.offsets[j] + sums[j] * share) * height;
    }
}

// The bin of each value: how many of its column's edges it reaches; 0 if it is no number.
inline void bins(Table<const double> X, Table<const double> edges, Table<Index> out) {
    for (Index t = 0; t < X.rows; ++t) {
        for (Index i = 0; i < X.columns; ++i) {
            const double x = X(t, i);
            Index bin = 0;
            for (Index k = 0; k < edges.columns; ++k) bin += x >= edges(i, k);
            out(t, i) = bin;
        }
    }
}

constexpr Index CROSS_SLOTS = 1 << 16;

// For each row the entries of its bins, none where the bin is −1, and with CROSS those of every pair of columns in slots
// before them: slot hash(i, bin_i, j, bin_j); pairs that share a slot add up. `place` is as long as there are slots and 0.
template <bool CROSS>
Index one_hot(Table<const Index> given, Index K, Line<Index> place, Line<Index> bounds, Line<std::uint32_t> features, Line<double> values) {
    constexpr Index BEFORE = CROSS ? CROSS_SLOTS : 0;
    Index count = 0;
    bounds[0] = 0;
    for (Index t = 0; t < given.rows; ++t) {
        const Index columns = given.columns, first = count;
        for (Index i = 0; CROSS && i < columns; ++i) {
            for (Index j = i + 1; given(t, i) >= 0 && j < columns; ++j) {
                if (given(t, j) < 0) continue;
                const auto one = static_cast<std::uint64_t>(i * K + given(t, i)), other = static_cast<std::uint64_t>(j * K + given(t, j));
                const Index slot = static_cast<Index>(mixed(one << 32 | other) % CROSS_SLOTS);
                if (place[slot]) {
                    values[place[slot] - 1] += 1.0;
                    continue;
                }
                features[count] = static_cast<std::uint32_t>(slot);
                values[count++] = 1.0;
                place[slot] = count;
            }
        }
        for (Index k = first; k < count; ++k) place[features[k]] = 0;
        for (Index i = 0; i < columns; ++i) {
            if (given(t, i) < 0) continue;
            features[count] = static_cast<std::uint32_t>(BEFORE + i * K + given(t, i));
            values[count++] = 1.0;
        }
        bounds[t + 1] = count;
    }
    return count;
}

// For j = 0, 1, …: x_j, then x_i·x_j for i ≤ j. Columns that come later move no place.
inline void quadratic(Table<const double> X, Table<double> out) {
    for (Index t = 0; t < X.rows; ++t) {
        Index k = 0;
        for (Index j = 0; j < X.columns; ++j) {
            out(t, k++) = X(t, j);
            for (Index i = 0; i <= j; ++i) out(t, k++) = X(t, i) * X(t, j);
        }
    }
}

}  // namespace noregret
