// Dot products, sums of rows and squared norms in twice the precision, each with a bound on its own error.
//
// A number is carried as s + c; what even that cannot hold goes into `error`, which is therefore exactly 0 whenever
// nothing was lost, as with whole numbers. Every sum adds in the order of the rows and of their entries, one after
// another. A product is taken apart by Veltkamp's splitting (Dekker 1971), not by a fused multiply-add: that would be
// a slow call where the processor has none, and would give other bits where a tail underflows. Numbers beyond 2⁹⁹⁶
// cannot be split: s, c or error is then not finite, which tells the caller to bring them into reach first.
#pragma once

#include <cmath>

#include "rows.hpp"

namespace noregret {

constexpr double SPLIT = 134217729.0;  // 2²⁷ + 1: cuts a float64 into two halves
constexpr double LEAST = 1e-290;       // a smaller product may have lost its tail below the smallest float64
constexpr double LOST = 1e-320;        // more than such a product can have lost: a few of the smallest float64

// As many rows side by side as the processor has room for, each in a lane of its own: how many changes no bit.
#if defined(__AVX__)
using Lanes [[gnu::vector_size(32)]] = double;
using LaneBits [[gnu::vector_size(32)]] = long long;
[[gnu::always_inline]] inline Lanes lanes(const double *x, Index apart) { return Lanes{x[0], x[apart], x[2 * apart], x[3 * apart]}; }
#else
using Lanes [[gnu::vector_size(16)]] = double;
using LaneBits [[gnu::vector_size(16)]] = long long;
[[gnu::always_inline]] inline Lanes lanes(const double *x, Index apart) { return Lanes{x[0], x[apart]}; }
#endif
constexpr int LANES = sizeof(Lanes) / sizeof(double);

[[gnu::always_inline]] inline double size_of(double x) { return std::fabs(x); }
[[gnu::always_inline]] inline Lanes size_of(Lanes x) { return (Lanes)((LaneBits)x & ~((~LaneBits{}) << 63)); }

// error ← error + what a product p of a and b may have lost.
[[gnu::always_inline]] inline void count_tail(double p, double a, double b, double &error) {
    if (size_of(p) < LEAST && a != 0.0 && b != 0.0) [[unlikely]] error += LOST;
}
[[gnu::always_inline]] inline void count_tail(Lanes p, Lanes a, Lanes b, Lanes &error) {
    const LaneBits small = (size_of(p) < Lanes{} + LEAST) & (a != Lanes{}) & (b != Lanes{});
    error += (Lanes)(small & (LaneBits)(Lanes{} + LOST));
}

// A result as it is rounded, and what the rounding dropped. N is one number, or several side by side.
template <class N> struct WithRest {
    N value, rest;
};

template <class N> [[gnu::always_inline]] inline WithRest<N> two_sum(N a, N b) {
    const N s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}

template <class N> [[gnu::always_inline]] inline WithRest<N> two_product(N a, N b) {
    const N p = a * b, ta = SPLIT * a, tb = SPLIT * b;
    const N a1 = ta - (ta - a), a2 = a - a1, b1 = tb - (tb - b), b2 = b - b1;
    return {p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
}

// s + c ± error.
template <class N> struct Twofold {
    N s{}, c{}, error{};

    [[gnu::always_inline]] void add(N a) {
        const auto [sum, low] = two_sum(s, a);
        const auto [rest, lost] = two_sum(c, low);
        s = sum, c = rest;
        error += size_of(lost);
    }

    // Plus a·b, given as its rounded value p and what that dropped.
    [[gnu::always_inline]] void add_product(N a, N b, N p, N dropped) {
        count_tail(p, a, b, error);
        const auto [sum, low] = two_sum(s, p);
        const auto [some, lost] = two_sum(c, low);
        const auto [rest, more] = two_sum(some, dropped);
        s = sum, c = rest;
        error += size_of(lost) + size_of(more);
    }

    [[gnu::always_inline]] void add_product(N a, N b) {
        const auto [p, dropped] = two_product(a, b);
        add_product(a, b, p, dropped);
    }
};

// A table's rows of three: s, c and error.
inline Twofold<double> triple(const double *at) { return {at[0], at[1], at[2]}; }
inline void put(const Twofold<double> &found, double *at) { at[0] = found.s, at[1] = found.c, at[2] = found.error; }

// out[t] = Σ each(entry) over the entries of every row.
template <class Rows, class Each> [[gnu::always_inline]] inline void sums_of_rows(const Rows &rows, Table<double> out, Each each) {
    Index t = 0;
    if constexpr (!Rows::sparse) {
        for (; t + LANES <= rows.count; t += LANES) {
            const double *first = rows.row(t);
            Twofold<Lanes> found;
            for (Index i = 0; i < rows.width; ++i) each(found, i, lanes(first + i, rows.apart));
            for (int k = 0; k < LANES; ++k) put({found.s[k], found.c[k], found.error[k]}, out[t + k]);
        }
    }
    for (; t < rows.count; ++t) {
        Twofold<double> found;
        each_entry(rows, t, [&](Index i, double x) __attribute__((always_inline)) { each(found, i, x); });
        put(found, out[t]);
    }
}

// out[t] = ⟨u, x_t⟩ for every row.
template <class Rows> void exact_dots(const Rows &rows, Line<const double> u, Table<double> out) {
    sums_of_rows(rows, out, [&](auto &found, Index i, auto x) __attribute__((always_inline)) {
        found.add_product(decltype(x){} + u[i], x);
    });
}

// out[t] = ‖x_t‖² for every row.
template <class Rows> void exact_squares(const Rows &rows, Table<double> out) {
    sums_of_rows(rows, out, [](auto &found, Index, auto x) __attribute__((always_inline)) { found.add_product(x, x); });
}

// total ← total + a·x_t, a number s + c ± error for each feature.
template <class Rows> void add_exactly(const Rows &rows, Index t, double a, Table<double> total) {
    each_entry(rows, t, [&](Index i, double x) __attribute__((always_inline)) {
        Twofold<double> sum = triple(total[i]);
        sum.add_product(a, x);
        put(sum, total[i]);
    });
}

// found ← found + sign·⟨total, x_t⟩.
template <class Rows> void add_dot(const Rows &rows, Index t, double sign, Table<double> total, Twofold<double> &found) {
    using Two [[gnu::vector_size(16)]] = double;
    Twofold<double> sum = found;
    each_entry(rows, t, [&](Index i, double x) __attribute__((always_inline)) {
        const Twofold<double> w = triple(total[i]);
        const Two both{sign * w.s, sign * w.c};
        const auto [p, dropped] = two_product(both, Two{x, x});
        sum.add_product(both[0], x, p[0], dropped[0]);
        sum.add_product(both[1], x, p[1], dropped[1]);
        sum.error += w.error * std::fabs(x);
    });
    found = sum;
}

// total ← total + Σ α_t·x_t over the rows with α_t ≠ 0.
template <class Rows> void exact_combination(const Rows &rows, Line<const double> alpha, Table<double> total) {
    for (Index t = 0; t < alpha.size; ++t) {
        if (alpha[t] != 0.0) add_exactly(rows, t, alpha[t], total);
    }
}

// Replay w ← w + step_t·x_t: out[t] = ⟨w, x_t⟩ before it, in the rounds that have a step.
template <class Rows> void exact_steps(const Rows &rows, Line<const double> step, Table<double> total, Table<double> out) {
    for (Index t = 0; t < step.size; ++t) {
        if (step[t] == 0.0) continue;
        Twofold<double> found;
        add_dot(rows, t, 1.0, total, found);
        put(found, out[t]);
        add_exactly(rows, t, step[t], total);
    }
}

// Replay Σ y·x over the chosen rounds: out[i] = y⟨Σ so far, x⟩ just before the i-th of them. Every y is −1 or 1.
template <class Rows>
void exact_updates(const Rows &rows, Line<const double> y, Line<const Index> chosen, Table<double> total, Table<double> out) {
    for (Index i = 0; i < chosen.size; ++i) {
        const Index t = chosen[i];
        Twofold<double> found;
        add_dot(rows, t, 1.0, total, found);
        put({y[t] * found.s, y[t] * found.c, found.error}, out[i]);
        add_exactly(rows, t, y[t], total);
    }
}

// Replay the weights of many classes over moves (round, class, ±1), `step` of them at a time: out[i] = Σ ±⟨w_class, x⟩
// over the i-th group just before it. The weights of class k are rows k·width … of total.
template <class Rows>
void exact_class_updates(const Rows &rows, Table<const Index> moves, Index step, Index width, Table<double> total, Table<double> out) {
    const auto weights = [&](Index k) { return Table<double>{total[k * width], width, 3, total.apart}; };
    for (Index i = 0; i < out.rows; ++i) {
        Twofold<double> found;
        for (Index m = i * step; m < (i + 1) * step; ++m) {
            add_dot(rows, moves(m, 0), double(moves(m, 2)), weights(moves(m, 1)), found);
        }
        put(found, out[i]);
        for (Index m = i * step; m < (i + 1) * step; ++m) {
            add_exactly(rows, moves(m, 0), double(moves(m, 2)), weights(moves(m, 1)));
        }
    }
}

}  // namespace noregret
