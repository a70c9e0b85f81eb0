// Rows made ready before they are played, in place, row after row: missing values filled in, features scaled, rows of
// unit norm. A matrix and compressed rows are treated alike: a feature that a row does not name was 0 in it, and the
// squares of a row are added one after another, so that zeros written out change nothing.
#pragma once

#include <cmath>

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
