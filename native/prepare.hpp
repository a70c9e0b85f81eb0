// Rows made ready before they are played, in place, row after row: missing values filled in, features scaled, rows of
// unit norm. A matrix and compressed rows are treated alike: a feature that a row does not name was 0 in it, and the
// squares of a row are added one after another, so that zeros written out change nothing.
#pragma once

#include <cmath>

#include "functions.hpp"
#include "lanes.hpp"

namespace noregret {

// Rows whose values may be written to.
struct Matrix {
    static constexpr bool SPARSE = false;
    Table<double> X;

    Index count() const { return X.rows; }
    Line<double> values(Index t) const { return X.row(t); }
    static Index feature(Index, Index place) { return place; }
};

struct Compressed {
    static constexpr bool SPARSE = true;
    Line<const Index> bounds;
    Line<const std::uint32_t> features;
    Line<double> all;

    Index count() const { return bounds.size - 1; }
    Line<double> values(Index t) const { return {all.data + bounds[t], bounds[t + 1] - bounds[t]}; }
    Index feature(Index t, Index place) const { return features[bounds[t] + place]; }
};

// A missing x_i ← the mean of feature i over the rows before: sums[i] / (rows − gaps[i]), 0 where there is none.
//
// While learning, the row's own values enter the means behind it; there is room for every column of a matrix then.
template <bool LEARN, class R> void fill_missing(const R &given, Line<double> sums, Line<Index> gaps, Index &rows) {
    for (Index t = 0; t < given.count(); ++t) {
        const Line<double> values = given.values(t);
        for (Index k = 0; k < values.size; ++k) {
            const Index i = given.feature(t, k);
            const double x = values[k];
            const bool has_room = (LEARN && !R::SPARSE) || i < sums.size;
            if (x != x) [[unlikely]] {
                const Index known = has_room ? rows - gaps[i] : 0;
                values[k] = known > 0 ? sums[i] / static_cast<double>(known) : 0.0;
                if (LEARN && has_room) ++gaps[i];
            } else if (LEARN && has_room) {
                sums[i] += x;
            }
        }
        rows += LEARN;
    }
}

// x_i ← x_i / max |x_i| so far, the row itself included while learning; a feature never seen counts as 0.
template <bool LEARN> void scale_features(const Compressed &given, Line<double> peak) {
    for (Index k = given.bounds[0]; k < given.bounds[given.count()]; ++k) {
        const Index i = given.features[k];
        double &x = given.all[k];
        if (i >= peak.size) [[unlikely]] {
            x = 0.0;
            continue;
        }
        double top = peak[i];
        if (LEARN && std::fabs(x) > top) peak[i] = top = std::fabs(x);
        x = top > 0.0 ? x / top : 0.0;
    }
}

// Two features at a time, and there is room for every column while learning.
template <bool LEARN> void scale_features(const Matrix &given, Line<double> peak) {
    using Two [[gnu::vector_size(16)]] = double;
    const Index known = given.X.columns < peak.size ? given.X.columns : peak.size;
    const auto scale = [](auto x, auto &top) {
        if constexpr (LEARN) top = x > top ? x : -x > top ? -x : top;
        return top > 0.0 ? x / top : decltype(x){};
    };
    for (Index t = 0; t < given.X.rows; ++t) {
        double *x = given.X[t];
        Index i = 0;
        for (; i + 2 <= known; i += 2) {
            Two some, top;
            std::memcpy(&some, x + i, sizeof some);
            std::memcpy(&top, peak.data + i, sizeof top);
            some = scale(some, top);
            std::memcpy(x + i, &some, sizeof some);
            if constexpr (LEARN) std::memcpy(peak.data + i, &top, sizeof top);
        }
        for (; i < known; ++i) x[i] = scale(x[i], peak[i]);
        for (; i < given.X.columns; ++i) x[i] = 0.0;
    }
}

constexpr double LARGEST_SEEN = 1e140;  // so that no sum of squares overflows
constexpr double FARTHEST = 5.0;        // from the mean, in standard deviations

// n rows so far, the mean and Σ(x − mean)² of each column: x ← (x − mean)/sd, clipped, and 0 where sd is 0.
//
// While learning, d = x − mean, mean ← mean + d/n, squares ← squares + d·(x − mean), before the score is taken
// (B. P. Welford 1962). What is not finite becomes NaN, and leaves mean and squares as they are.
template <bool LEARN, class N> [[gnu::always_inline]] inline N standard_score(N x, N &mean, N &squares, double share) {
    const N none{}, seen = lower(higher(x, none - LARGEST_SEEN), none + LARGEST_SEEN);
    N d = seen - mean;
    if constexpr (LEARN) {
        const N new_mean = mean + d * share, new_squares = squares + d * (seen - new_mean);
        const auto whole = x - x == none;
        mean = whole ? new_mean : mean;
        squares = whole ? new_squares : squares;
        d = seen - mean;
    }
    const N variance = squares * share;
    N root;
    if constexpr (std::is_same_v<N, Four>) root = sqrt_of(variance);
    else root = std::sqrt(variance);
    const N score = lower(higher(d / root, none - FARTHEST), none + FARTHEST);
    return (variance > none ? score : none) + (x - x);
}

struct Moments {
    Line<double> mean, squares;
    Index &rows;

    // The next row's 1/n.
    template <bool LEARN> double share() {
        rows += LEARN;
        return rows > 0 ? 1.0 / static_cast<double>(rows) : 0.0;
    }
};

// There is room for every column while learning; otherwise what lies beyond becomes 0.
template <bool LEARN> void standardise(const Matrix &given, Moments so_far) {
    const Index known = given.X.columns < so_far.mean.size ? given.X.columns : so_far.mean.size;
    double *mean = so_far.mean.data, *squares = so_far.squares.data;
    for (Index t = 0; t < given.X.rows; ++t) {
        double *x = given.X[t];
        const double share = so_far.share<LEARN>();
        Index i = 0;
        for (; i + 4 <= known; i += 4) {
            Four m = load(mean + i), s = load(squares + i);
            store(standard_score<LEARN>(load(x + i), m, s, share), x + i);
            if constexpr (LEARN) store(m, mean + i), store(s, squares + i);
        }
        for (; i < known; ++i) x[i] = standard_score<LEARN>(x[i], mean[i], squares[i], share);
        for (; i < given.X.columns; ++i) x[i] = 0.0;
    }
}

// Where among the features the columns stand that can be standardised: all but `slots` from `start` on.
struct Numbering {
    Index start, slots;

    Index column(Index feature) const { return feature < start ? feature : feature < start + slots ? -1 : feature - slots; }
    Index feature(Index column) const { return column < start ? column : column + slots; }
};

// The rows with `columns` standardised: entries of other features as they came, then the columns in the order given,
// without those that are 0. A column that a row does not name is 0 in it. `room` holds a row and is 0 throughout.
template <bool LEARN>
Index standardise_entries(const Compressed &given, Moments so_far, Numbering numbering, Line<const Index> columns, Line<double> room,
                  Line<const std::uint8_t> alone, Line<Index> bounds, Line<std::uint32_t> features, Line<double> values) {
    Index count = 0;
    bounds[0] = 0;
    for (Index t = 0; t < given.count(); ++t) {
        for (Index k = given.bounds[t]; k < given.bounds[t + 1]; ++k) {
            const Index column = numbering.column(given.features[k]);
            if (column < 0 || (column < alone.size && alone[column])) {
                features[count] = given.features[k];
                values[count++] = given.all[k];
            } else if (column < room.size) {
                room[column] = given.all[k];
            }
        }
        const double share = so_far.share<LEARN>();
        for (Index place = 0; place < columns.size; ++place) {
            const Index i = columns[place];
            const double z = standard_score<LEARN>(room[i], so_far.mean[i], so_far.squares[i], share);
            room[i] = 0.0;
            features[count] = static_cast<std::uint32_t>(numbering.feature(i));
            values[count] = z;
            count += z != 0.0;
        }
        bounds[t + 1] = count;
    }
    return count;
}

// The labels of the last rounds, the newest first, before the values of a row. Each is a number; of classes, a row of
// `past` has a 1 in the place of its class.
inline void put_labels(Table<const double> past, double *out) {
    for (Index k = 0; k < past.rows; ++k) out = std::copy_n(past[k], past.columns, out);
}

// The label of a round that was played is the newest from now on.
inline void learn_label(Table<double> past, double y) {
    for (Index k = past.rows - 1; k > 0; --k) std::copy_n(past[k - 1], past.columns, past[k]);
    for (Index c = 0; c < past.columns; ++c) past(0, c) = past.columns == 1 ? y : static_cast<double>(y == static_cast<double>(c));
}

// x_i ← sign(x_i)·ln(1 + |x_i|).
template <class R> void take_logs(const R &given) {
    for (Index t = 0; t < given.count(); ++t) {
        const Line<double> values = given.values(t);
        for (Index k = 0; k < values.size; ++k) values[k] = std::copysign(log1p_of(std::fabs(values[k])), values[k]);
    }
}

// max |x_i|, 0 for none; what is not a number is passed over.
inline double largest_size(Line<double> values) {
    double tops[4] = {};
    const auto enter = [](double x, double &top) { top = std::fabs(x) > top ? std::fabs(x) : top; };
    Index k = 0;
    for (; k + 4 <= values.size; k += 4) {
        for (int lane = 0; lane < 4; ++lane) enter(values[k + lane], tops[lane]);
    }
    for (; k < values.size; ++k) enter(values[k], tops[0]);
    for (int lane = 1; lane < 4; ++lane) enter(tops[lane], tops[0]);
    return tops[0];
}

inline void divide(Line<double> values, double divisor) {
    Index k = 0;
    for (; k + 4 <= values.size; k += 4) store(load(values.data + k) / everywhere(divisor), values.data + k);
    for (; k < values.size; ++k) values[k] /= divisor;
}

// x ← x/‖x‖ for every row that is not zero; the row's largest entry is divided out first against overflow.
template <class R> void unit_rows(const R &given) {
    for (Index t = 0; t < given.count(); ++t) {
        const Line<double> values = given.values(t);
        const double top = largest_size(values);
        if (!(top > 0.0)) continue;
        divide(values, top);
        double total = 0.0;
        for (Index k = 0; k < values.size; ++k) total += values[k] * values[k];
        divide(values, std::sqrt(total));
    }
}

}  // namespace noregret
