// Sums over many numbers, in parts by position, so that zeros appended change no bit of them. Four parts p: number i in
// part i mod 4, and (p[0] + p[2]) + (p[1] + p[3]) in the end. Norms, which a loop waits for, take sixteen: number i in
// part i mod 16, and q[k] = (p[k] + p[k+4]) + (p[k+8] + p[k+12]) are the four.
#pragma once

#include <cmath>

#include "lanes.hpp"

namespace noregret {

// A sum of terms in four parts, term i in part i mod 4.
template <class Term> [[gnu::always_inline]] inline double sum_by_place(Index n, Term term) {
    double parts[4] = {};
    Index i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int lane = 0; lane < 4; ++lane) parts[lane] += term(i + lane);
    }
    for (int lane = 0; i < n; ++i, ++lane) parts[lane] += term(i);
    return (parts[0] + parts[2]) + (parts[1] + parts[3]);
}

// One number of a line, or four.
template <class N> [[gnu::always_inline]] inline N at(Line<const double> z, Index i) {
    if constexpr (std::is_same_v<N, Four>) return load(z.data + i);
    else return z[i];
}

// The same sum where the terms lie in lines: term(i, N{}) gives the terms from i on as an N, four of them or one.
template <class Term> [[gnu::always_inline]] inline double sum_in_fours(Index n, Term term) {
    Four parts{};
    Index i = 0;
    for (; i + 4 <= n; i += 4) parts += term(i, Four{});
    for (int lane = 0; i < n; ++i, ++lane) parts[lane] += term(i, 0.0);
    return summed(parts);
}

// Σ z_i.
inline double total(Strided<const double> z) {
    if (z.step == 1) return sum_by_place(z.size, [&](Index i) { return z.data[i]; });
    return sum_by_place(z.size, [&](Index i) { return z[i]; });
}

// Σ x_i·z_i over as many as both have.
inline double inner(Strided<const double> x, Strided<const double> z) {
    const Index n = x.size < z.size ? x.size : z.size;
    if (x.step == 1 && z.step == 1) return sum_by_place(n, [&](Index i) { return x.data[i] * z.data[i]; });
    return sum_by_place(n, [&](Index i) { return x[i] * z[i]; });
}

// A sum over the numbers of z, a function of them, in sixteen parts.
template <bool FLAT, class Term> [[gnu::always_inline]] inline double sum_in_sixteen(Strided<const double> z, Term term) {
    const Index n = z.size, step = FLAT ? 1 : z.step;
    const auto four = [&](Index i) {  // from place i on, zeros behind the last
        const double *at = z.data + i * step;
        if (i + 4 <= n) return FLAT ? load(at) : Four{at[0], at[step], at[2 * step], at[3 * step]};
        return Four{at[0], i + 1 < n ? at[step] : 0.0, i + 2 < n ? at[2 * step] : 0.0, 0.0};
    };
    Four a{}, b{}, c{}, d{};
    Index i = 0;
    for (; i + 16 <= n; i += 16) {
        a += term(four(i));
        b += term(four(i + 4));
        c += term(four(i + 8));
        d += term(four(i + 12));
    }
    if (i < n) a += term(four(i));
    if (i + 4 < n) b += term(four(i + 4));
    if (i + 8 < n) c += term(four(i + 8));
    if (i + 12 < n) d += term(four(i + 12));
    return summed((a + b) + (c + d));
}

// ‖z‖².
inline double norm2(Strided<const double> z) {
    const auto square = [](Four some) { return some * some; };
    return z.step == 1 ? sum_in_sixteen<true>(z, square) : sum_in_sixteen<false>(z, square);
}

// ‖z‖₁.
inline double norm1(Strided<const double> z) {
    const auto size = [](Four some) { return some < Four{} ? -some : some; };
    return z.step == 1 ? sum_in_sixteen<true>(z, size) : sum_in_sixteen<false>(z, size);
}

// z ← factor·z.
inline void rescale(double factor, Strided<double> z) {
    Index i = 0;
    if (z.step == 1) {
        for (; i + 4 <= z.size; i += 4) store(load(z.data + i) * everywhere(factor), z.data + i);
    }
    for (; i < z.size; ++i) z[i] *= factor;
}

// out ← out + c·row, n numbers each.
[[gnu::always_inline]] inline void add_scaled(double c, const double *row, Index n, double *out) {
    Index i = 0;
    for (; i + 4 <= n; i += 4) store(load(out + i) + everywhere(c) * load(row + i), out + i);
    for (; i < n; ++i) out[i] += c * row[i];
}

// max |z_i|, 0 of none.
inline double largest(Strided<const double> z) {
    double found = 0.0;
    for (Index i = 0; i < z.size; ++i) {
        if (const double size = std::fabs(z[i]); size > found) found = size;
    }
    return found;
}

// min(z_i, 0) over all.
inline double lowest(Strided<const double> z) {
    double found = 0.0;
    for (Index i = 0; i < z.size; ++i) {
        if (z[i] < found) found = z[i];
    }
    return found;
}

// Two whole numbers that a line holds, one of them perhaps for both, and whether it holds no other.
struct Pair {
    double first, second;
    bool all;
};

inline Pair two_values(Line<const double> y) {
    if (y.size == 0) return {0.0, 0.0, false};
    const double first = y[0];
    double second = first;
    for (Index t = 0; t < y.size && second == first; ++t) {
        if (y[t] != first) second = y[t];
    }
    if (!(finite(first) && finite(second)) || first != std::floor(first) || second != std::floor(second)) return {first, second, false};
    Index others = 0;
    for (Index t = 0; t < y.size; ++t) others += (y[t] - first) * (y[t] - second) != 0.0;  // no branch to be guessed
    return {first, second, others == 0};
}

// Rising indices from 0 to `highest`, written as those of sparse rows: one more than the last, or −1 for others.
template <class I> Index narrowed(Line<const I> indices, Index highest, Line<std::uint32_t> out) {
    if (indices.size != out.size) return -1;
    Index reach = 0;
    for (Index k = 0; k < indices.size; ++k) {
        const Index i = indices[k];
        if (i < reach || i > highest) return -1;
        out[k] = static_cast<std::uint32_t>(i);
        reach = i + 1;
    }
    return reach;
}

}  // namespace noregret
