// Kernel values between rows: the sums they are made of, in the order of the features, and what becomes of a sum.
//
// A value's bits depend on its two rows alone: not on the block they came in, the threads, the layout (zeros left out
// add nothing) or the machine, which is why even e^x is written out here.
//
// Dense rows lie in panels of eight, lane beside lane: panels[(panel·width + feature)·8 + lane]. A tile takes four rows
// against eight lanes; its 32 sums stay in registers. Each is taken feature after feature, multiplied, then added, just
// as a plain loop takes it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "lanes.hpp"
#include "rows.hpp"

namespace noregret {

enum KernelKind : Index { LINEAR_KERNEL, POLY_KERNEL, RBF_KERNEL, LAPLACE_KERNEL };  // in the order of Python's KERNELS
enum Sum : Index { DOT, SQUARE, ABSOLUTE };  // Σ x·z, Σ (x − z)², Σ |x − z|

constexpr Index PANEL = 8;      // rows side by side in a panel
constexpr Index TILE_ROWS = 4;  // rows that a tile takes at once
constexpr Index PIECE = 512;    // features of a panel that are gone through for all rows at once

// As many numbers side by side as a register of the processor holds: how many changes no bit.
#if defined(__AVX__)
constexpr int ABREAST = 4;
#else
constexpr int ABREAST = 2;
#endif
using Wide [[gnu::vector_size(8 * ABREAST)]] = double;
using WideBits [[gnu::vector_size(8 * ABREAST)]] = std::uint64_t;

[[gnu::always_inline]] inline Wide load_wide(const double *from) {
    Wide some;
    std::memcpy(&some, from, sizeof some);
    return some;
}

[[gnu::always_inline]] inline void store_wide(Wide some, double *to) { std::memcpy(to, &some, sizeof some); }

[[gnu::always_inline]] inline double absolute(double x) { return std::fabs(x); }
[[gnu::always_inline]] inline Wide absolute(Wide x) { return Wide(WideBits(x) << 1 >> 1); }

// One term of a sum, or several.
template <Sum OP, class T> [[gnu::always_inline]] inline T term(T x, T z) {
    if constexpr (OP == DOT) return x * z;
    const T gap = x - z;
    if constexpr (OP == SQUARE) return gap * gap;
    return absolute(gap);
}

// go(integral_constant<Sum, op>): the choice of a sum is made once, outside of its loop.
template <class Go> auto with_sum(Index op, Go go) {
    if (op == DOT) return go(std::integral_constant<Sum, DOT>{});
    if (op == SQUARE) return go(std::integral_constant<Sum, SQUARE>{});
    return go(std::integral_constant<Sum, ABSOLUTE>{});
}

// e^x for x ≤ 0, to within four units in the last place; 0 below e^−708. x = n·ln 2 + r with |r| ≤ ½ ln 2, e^r by
// Taylor's polynomial of degree 13 and 2^n from its bits.
constexpr double SMALLEST_POWER = -708.0;
constexpr double LOG2E = 1.4426950408889634, LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;
constexpr double TAYLOR[14] = {
    1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0,
    1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 1.0 / 2.0, 1.0, 1.0,
};

[[gnu::always_inline]] inline Wide exponential(Wide x) {
    constexpr double WHOLE_FROM = 6755399441055744.0;  // 2⁵² + 2⁵¹: a number added to it is rounded to a whole one
    constexpr double EXPONENT = 4503599627370496.0 + 1023.0;  // 2⁵² + 1023: the low bits of n more are those of 2^n
    const Wide half = x * LOG2E + 0.5, near = (half + WHOLE_FROM) - WHOLE_FROM;
    const Wide n = near > half ? near - 1.0 : near;  // the whole number below
    const Wide r = (x - n * LN2_HIGH) - n * LN2_LOW;
    Wide total{};
    for (const double c : TAYLOR) total = total * r + c;
    const Wide power = Wide(WideBits(n + EXPONENT) << 52);
    const Wide found = x < Wide{} + SMALLEST_POWER ? Wide{} : total * power;
    return x == x ? found : x;
}

inline double exponential(double x) { return exponential(x - Wide{})[0]; }

struct Numbers {  // of a kernel: (coef0 + γ·s)^degree, e^(−γ·s)
    double coef0, gamma;
    Index degree;
};

// The kernel from ⟨x, z⟩, ‖x − z‖² or ‖x − z‖₁, of several pairs of rows.
[[gnu::always_inline]] inline Wide value(Index kind, Wide total, const Numbers &of) {
    if (kind == LINEAR_KERNEL) return total;
    if (kind != POLY_KERNEL) return exponential(-of.gamma * total);
    const Wide base = of.coef0 + of.gamma * total;
    Wide power = base;
    for (Index k = 1; k < of.degree; ++k) power *= base;
    return power;
}

inline double value(Index kind, double total, const Numbers &of) { return value(kind, total - Wide{}, of)[0]; }

// K(x, z) of two rows.
inline double kernel_value(Index kind, Index op, const Numbers &of, Line<const double> x, Line<const double> z) {
    return with_sum(op, [&](auto sum) {
        double total = 0.0;
        for (Index j = 0; j < x.size; ++j) total += term<sum>(x[j], z[j]);
        return value(kind, total, of);
    });
}

// The sums in columns first..last become kernel values; with a bias ⟨x, z⟩ is one more.
inline void kernel_values(Index kind, Table<double> G, Index first, Index last, double bias, const Numbers &of) {
    for (Index t = 0; t < G.rows; ++t) {
        double *row = G[t];
        Index i = first;
        for (; i + ABREAST <= last; i += ABREAST) store_wide(value(kind, load_wide(row + i) + bias, of), row + i);
        for (; i < last; ++i) row[i] = value(kind, row[i] + bias, of);
    }
}

// each(integral_constant) for the numbers below N: arrays that are so indexed stay in registers.
template <int N, class Each> [[gnu::always_inline]] inline void unrolled(Each each) {
    [&]<int... I>(std::integer_sequence<int, I...>) { (each(std::integral_constant<int, I>{}), ...); }(std::make_integer_sequence<int, N>{});
}

// `count` features more of R rows against eight: R lines of eight sums go on from what they are. The rows lie `apart`
// from each other, the lines of sums `step`.
template <Sum OP, int R>
[[gnu::always_inline]] inline void lines_of_sums(const double *panel, const double *rows, Index apart, double *out, Index step, Index count) {
    constexpr int PARTS = PANEL / ABREAST;
    Wide sums[R * PARTS];
    unrolled<R * PARTS>([&](auto k) { sums[k] = load_wide(out + k / PARTS * step + k % PARTS * ABREAST); });
    for (Index j = 0; j < count; ++j) {
        Wide lanes[PARTS];
        unrolled<PARTS>([&](auto k) { lanes[k] = load_wide(panel + j * PANEL + k * ABREAST); });
        unrolled<R>([&](auto r) {
            const Wide x = rows[r * apart + j] - Wide{};
            unrolled<PARTS>([&](auto k) { sums[r * PARTS + k] += term<OP>(x, lanes[k]); });
        });
    }
    unrolled<R * PARTS>([&](auto k) { store_wide(sums[k], out + k / PARTS * step + k % PARTS * ABREAST); });
}

// Four rows against eight, as many rows at once as there are registers for.
template <Sum OP> void tile(const double *panel, const double *rows, Index apart, double *out, Index step, Index count) {
    for (Index r = 0; r < TILE_ROWS; r += ABREAST) lines_of_sums<OP, ABREAST>(panel, rows + r * apart, apart, out + r * step, step, count);
}

// The panels first..last against all rows, a multiple of four; their sums go into the columns of G from `to` on. A
// piece of a panel is used for all rows before the next, while it is near at hand.
template <Sum OP> void panel_sums(const double *panels, Index first, Index last, Table<const double> rows, Table<double> G, Index to) {
    const Index width = rows.columns;
    for (Index p = first; p < last; ++p) {
        const Index column = to + (p - first) * PANEL;
        for (Index t = 0; t < rows.rows; ++t) std::fill_n(&G(t, column), PANEL, 0.0);
        for (Index j = 0; j < width; j += PIECE) {
            const double *panel = panels + (p * width + j) * PANEL;
            const Index size = std::min(PIECE, width - j);
            for (Index t = 0; t < rows.rows; t += TILE_ROWS) tile<OP>(panel, rows[t] + j, rows.apart, &G(t, column), G.apart, size);
        }
    }
}

inline Index lane_of(Index slot, Index width) { return slot / PANEL * width * PANEL + slot % PANEL; }

// Put the rows `which` into lanes of the panels, those of `slots`.
inline void lay(Table<const double> rows, Line<const Index> which, Line<double> panels, Line<const Index> slots) {
    for (Index k = 0; k < which.size; ++k) {
        const double *row = rows[which[k]];
        double *lane = panels.data + lane_of(slots[k], rows.columns);
        for (Index j = 0; j < rows.columns; ++j) lane[j * PANEL] = row[j];
    }
}

// The rows of these slots, one after another.
inline void take(Line<const double> panels, Line<const Index> slots, Table<double> out) {
    for (Index i = 0; i < slots.size; ++i) {
        const double *lane = panels.data + lane_of(slots[i], out.columns);
        for (Index j = 0; j < out.columns; ++j) out(i, j) = lane[j * PANEL];
    }
}

// The entries begin..end of compressed rows, in the order of their features.
struct Entries {
    const std::uint32_t *features;
    const double *values;
    Index begin, end;
};

// Σ over the features of either row.
template <Sum OP> double merged(Entries a, Entries b) {
    double total = 0.0;
    Index i = a.begin, k = b.begin;
    while (i < a.end || k < b.end) {
        const bool only_a = k >= b.end || (i < a.end && a.features[i] < b.features[k]);
        const bool only_b = !only_a && (i >= a.end || b.features[k] < a.features[i]);
        total += term<OP>(only_b ? 0.0 : a.values[i], only_a ? 0.0 : b.values[k]);
        i += !only_b;
        k += !only_a;
    }
    return total;
}

// Compressed rows that are stored: row i holds the entries starts[i]..stops[i].
struct Stored {
    Line<const Index> starts, stops;
    Line<const std::uint32_t> features;
    Line<const double> values;
};

// Σ x·z in the order of z's features, x being spread out over all features.
inline double dot_spread(Line<const double> x, Entries z) {
    const auto room = static_cast<std::uint64_t>(x.size);
    double total = 0.0;
    for (Index k = z.begin; k < z.end; ++k) {
        if (z.features[k] >= room) [[unlikely]] return NOT_A_NUMBER;
        total += x[z.features[k]] * z.values[k];
    }
    return total;
}

// Stored rows against `rows`: G[t, to + i]. `spread` is as wide as the features, and 0.
inline void sparse_sums(Index op, const Stored &stored, const Sparse<double> &rows, Line<double> spread, Table<double> G, Index to) {
    const auto room = static_cast<std::uint64_t>(spread.size);
    for (Index t = 0; t < rows.count; ++t) {
        const Entries row{rows.features, rows.values, rows.bounds[t], rows.bounds[t + 1]};
        const auto against = [&](Index i) { return Entries{stored.features.data, stored.values.data, stored.starts[i], stored.stops[i]}; };
        if (op != DOT) {
            for (Index i = 0; i < stored.starts.size; ++i) {
                G(t, to + i) = op == SQUARE ? merged<SQUARE>(row, against(i)) : merged<ABSOLUTE>(row, against(i));
            }
            continue;
        }
        for (Index k = row.begin; k < row.end; ++k) {
            if (row.features[k] < room) spread[row.features[k]] = row.values[k];
        }
        for (Index i = 0; i < stored.starts.size; ++i) G(t, to + i) = dot_spread({spread.data, spread.size}, against(i));
        for (Index k = row.begin; k < row.end; ++k) {
            if (row.features[k] < room) spread[row.features[k]] = 0.0;
        }
    }
}

// A kernel of the user's own, k(z, x) of two rows of so many features; NaN where it has no value.
using OwnKernel = double (*)(const double *, const double *, Index);

// G[t, to + i] = k(stored row i, row t).
inline void own_values(OwnKernel kernel, Table<const double> stored, Table<const double> rows, Table<double> G, Index to) {
    for (Index t = 0; t < rows.rows; ++t) {
        for (Index i = 0; i < stored.rows; ++i) G(t, to + i) = kernel(stored[i], rows[t], rows.columns);
    }
}

}  // namespace noregret
