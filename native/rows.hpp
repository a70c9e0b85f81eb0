// Rows of numbers in both layouts, a matrix or compressed rows, and what is done with one row: an inner product with
// the weights, and updates of the weights.
//
// The order of a sum depends on the row alone. Dense: entry i in part i mod 16 while there are sixteen more, then in
// part i mod 4 while there are four; a pair that is left goes to the parts 4 and 5, the last one to part 8. Sparse:
// entry k in part k mod 4; up to three that are left at the end go to the last parts, and a row shorter than four is
// summed as it comes. A product is rounded before it is added.
#pragma once

#include <limits>
#include <type_traits>
#include <variant>

#include "lanes.hpp"

namespace noregret {

template <class X> struct Dense {
    using Value = X;
    static constexpr bool sparse = false;
    const X *data = nullptr;
    Index count = 0;
    Index width = 0;
    Index apart = 0;

    const X *row(Index t) const { return data + t * apart; }
};

template <class X> struct Sparse {
    using Value = X;
    static constexpr bool sparse = true;
    const Index *bounds = nullptr;
    const std::uint32_t *features = nullptr;
    const X *values = nullptr;
    Index count = 0;
};

using Rows = std::variant<Dense<double>, Dense<float>, Sparse<double>, Sparse<float>>;

using WideRows = std::variant<Dense<double>, Sparse<double>>;  // what is kept of a run, to look back at

inline Index count(const Rows &rows) {
    return std::visit([](const auto &some) { return some.count; }, rows);
}

struct Products {
    double dot;     // ⟨z, x⟩
    double square;  // ‖x‖²
};

// Both at once: each as `summed` of one vector takes it.
[[gnu::always_inline]] inline Products summed(Four dots, Four squares) {
    const Four halves = __builtin_shufflevector(dots, squares, 0, 1, 4, 5) + __builtin_shufflevector(dots, squares, 2, 3, 6, 7);
    return {halves[0] + halves[1], halves[2] + halves[3]};
}

constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();
constexpr double INFINITE = std::numeric_limits<double>::infinity();

// Sparse rows are asked for twice, so many entries ahead: far ahead into the second cache, then into the first, which
// waits for few lines at a time and has the weights to bring.
constexpr Index FAR = 640, NEAR = 128;

// Dense rows are asked for so many bytes ahead, into the second cache. That there are none behind the last does no harm.
constexpr Index FAR_BYTES = 16384;

// How many numbers ahead that is, in whole rows.
template <class X> Index far_ahead(const Dense<X> &rows) {
    return rows.apart > 0 ? (1 + FAR_BYTES / (rows.apart * Index(sizeof(X)))) * rows.apart : 0;
}

template <class X> [[gnu::always_inline]] inline void ask(const X *x, Index length) {
    const char *from = reinterpret_cast<const char *>(x), *stop = from + length * Index(sizeof(X));
    for (; from < stop; from += 64) __builtin_prefetch(from, 0, 2);
}

// each(place, four): all entries of a dense row in pieces of four, two and one.
template <class Each> [[gnu::always_inline]] inline void in_pieces(Index length, Each each) {
    Index i = 0;
    for (; i + 16 <= length; i += 16) {
        each(i, std::integral_constant<int, 4>{}, std::integral_constant<int, 0>{});
        each(i + 4, std::integral_constant<int, 4>{}, std::integral_constant<int, 1>{});
        each(i + 8, std::integral_constant<int, 4>{}, std::integral_constant<int, 2>{});
        each(i + 12, std::integral_constant<int, 4>{}, std::integral_constant<int, 3>{});
    }
    for (; i + 4 <= length; i += 4) each(i, std::integral_constant<int, 4>{}, std::integral_constant<int, 0>{});
    if (length & 2) {
        each(i, std::integral_constant<int, 2>{}, std::integral_constant<int, 1>{});
        i += 2;
    }
    if (length & 1) each(i, std::integral_constant<int, 1>{}, std::integral_constant<int, 2>{});
}

// Up to four numbers from a place on, the rest zeros. What is left of a row is read in the pieces it was written in.
template <int N, class X> [[gnu::always_inline]] inline Four piece(const X *x, Index step) {
    if constexpr (N == 4) {
        if (step == 1) return load(x);
        return Four{double(x[0]), double(x[step]), double(x[2 * step]), double(x[3 * step])};
    }
    if constexpr (N == 2) {
        Two two{double(x[0]), double(x[step])};
        if constexpr (std::is_same_v<X, double>) {
            if (step == 1) std::memcpy(&two, x, sizeof two);
        }
        return Four{two[0], two[1], 0.0, 0.0};
    }
    return Four{double(x[0]), 0.0, 0.0, 0.0};
}

// They are written so.
template <int N> [[gnu::always_inline]] inline void put(Four some, double *to) {
    if constexpr (N == 4) {
        store(some, to);
    } else if constexpr (N == 2) {
        const Two two = __builtin_shufflevector(some, some, 0, 1);
        std::memcpy(to, &two, sizeof two);
    } else {
        to[0] = some[0];
    }
}

template <bool FLAT, class X> [[gnu::always_inline]] inline Products products_of(const X *x, Index length, const double *z, Index apart) {
    const Index step = FLAT ? 1 : apart;
    Four dots[4] = {}, squares[4] = {};
    in_pieces(length, [&](Index i, auto size, auto part) {
        const Four some = piece<size>(x + i, 1), weights = piece<size>(z + i * step, step);
        dots[part] += some * weights;
        squares[part] += some * some;
    });
    return summed((dots[0] + dots[1]) + (dots[2] + dots[3]), (squares[0] + squares[1]) + (squares[2] + squares[3]));
}

template <bool FLAT, class X> [[gnu::noinline]] Products dot_line(const X *x, Index length, const double *z, Index apart) {
    return products_of<FLAT>(x, length, z, apart);
}

// Of weights that lie STEP numbers apart, or `apart` where STEP is 0.
template <Index STEP, class X>
[[gnu::noinline]] Products dot_entries(const std::uint32_t *features, const X *values, Index length, const double *z, Index size, Index apart) {
    const Index step = STEP ? STEP : apart;
    const auto room = static_cast<std::uint64_t>(size);
    constexpr Products outside{NOT_A_NUMBER, NOT_A_NUMBER};
    if (length < 4) {
        Products found{0.0, 0.0};
        for (Index k = 0; k < length; ++k) {
            const std::uint64_t i = features[k];
            if (i >= room) [[unlikely]] return outside;
            const double x = values[k];
            found.dot += x * z[i * step];
            found.square += x * x;
        }
        return found;
    }
    Four dots{}, squares{};
    Index k = 0;
    for (; k + 4 <= length; k += 4) {
        __builtin_prefetch(features + k + FAR, 0, 2);
        __builtin_prefetch(values + k + FAR, 0, 2);
        __builtin_prefetch(features + k + NEAR, 0, 3);
        __builtin_prefetch(values + k + NEAR, 0, 3);
        const std::uint64_t a = features[k], b = features[k + 1], c = features[k + 2], d = features[k + 3];
        if (a >= room || b >= room || c >= room || d >= room) [[unlikely]] return outside;
        const Four x = load(values + k);
        dots += x * Four{z[a * step], z[b * step], z[c * step], z[d * step]};
        squares += x * x;
    }
    if (const Index rest = length & 3) {
        k = length - 4;
        const std::uint64_t a = features[k], b = features[k + 1], c = features[k + 2], d = features[k + 3];
        if (b >= room || c >= room || d >= room) [[unlikely]] return outside;
        const Four x = last_of(load(values + k), rest);
        dots += x * Four{z[a * step], z[b * step], z[c * step], z[d * step]};
        squares += x * x;
    }
    return summed(dots, squares);
}

// (⟨z, x⟩, ‖x‖²) of row t; NaN both where z has no room for a feature of the row. The loops behind it are functions of
// their own, which have all registers to themselves, and take what they need in registers too.
template <class X> [[gnu::always_inline]] inline Products dot(const Dense<X> &rows, Index t, Strided<const double> z) {
    if (rows.width > z.size) [[unlikely]] return {NOT_A_NUMBER, NOT_A_NUMBER};
    if (z.step == 1) return dot_line<true>(rows.row(t), rows.width, z.data, 1);
    return dot_line<false>(rows.row(t), rows.width, z.data, z.step);
}

template <class X> [[gnu::always_inline]] inline Products dot(const Sparse<X> &rows, Index t, Strided<const double> z) {
    const Index start = rows.bounds[t], length = rows.bounds[t + 1] - start;
    if (z.step == 1) return dot_entries<1>(rows.features + start, rows.values + start, length, z.data, z.size, 1);
    if (z.step == 2) return dot_entries<2>(rows.features + start, rows.values + start, length, z.data, z.size, 2);
    return dot_entries<0>(rows.features + start, rows.values + start, length, z.data, z.size, z.step);
}

// each(feature, value) for the entries of row t in their order.
template <class X, class Each> [[gnu::always_inline]] inline void each_entry(const Dense<X> &rows, Index t, Each each) {
    const X *x = rows.row(t);
    for (Index i = 0; i < rows.width; ++i) each(i, double(x[i]));
}

template <class X, class Each> [[gnu::always_inline]] inline void each_entry(const Sparse<X> &rows, Index t, Each each) {
    const std::uint32_t *features = rows.features;
    const X *values = rows.values;
#pragma GCC unroll 4
    for (Index k = rows.bounds[t], stop = rows.bounds[t + 1]; k < stop; ++k) each(Index(features[k]), double(values[k]));
}

// How many entries row t has.
template <class X> Index entries(const Dense<X> &rows, Index) { return rows.width; }
template <class X> Index entries(const Sparse<X> &rows, Index t) { return rows.bounds[t + 1] - rows.bounds[t]; }

// Whether row t can hold a feature from `limit` on.
template <class X> bool reaches(const Dense<X> &rows, Index, Index limit) { return rows.width > limit; }
template <class X> bool reaches(const Sparse<X> &rows, Index t, Index limit) {
    for (Index k = rows.bounds[t]; k < rows.bounds[t + 1]; ++k) {
        if (rows.features[k] >= limit) return true;
    }
    return false;
}

// The first of the rows t..stop that can hold a feature from `limit` on, or `stop`.
template <class R> Index until_reach(const R &rows, Index t, Index stop, Index limit) {
    while (t < stop && !reaches(rows, t, limit)) ++t;
    return t;
}

// Whether no row can hold a feature from `limit` on.
template <class R> bool all_within(const R &rows, Index limit) { return until_reach(rows, 0, rows.count, limit) == rows.count; }

// z ← z + c·x.
template <class X> [[gnu::always_inline]] inline void add(const Dense<X> &rows, Index t, double c, Strided<double> z) {
    const X *x = rows.row(t);
    if (z.step != 1) return each_entry(rows, t, [&](Index i, double value) { z[i] += c * value; });
    in_pieces(rows.width, [&](Index i, auto size, auto) {
        double *w = z.data + i;
        if constexpr (size == 4) {
            store(load(w) + everywhere(c) * load(x + i), w);
        } else {
            for (int lane = 0; lane < size; ++lane) w[lane] += c * double(x[i + lane]);
        }
    });
}

template <class X> [[gnu::always_inline]] inline void add(const Sparse<X> &rows, Index t, double c, Strided<double> z) {
    if (z.step == 1) each_entry(rows, t, [&](Index i, double x) { z.data[i] += c * x; });
    else each_entry(rows, t, [&](Index i, double x) { z[i] += c * x; });
}

// z ← z + c·x and total ← total + g·x.
template <class X>
[[gnu::always_inline]] inline void gather(const Dense<X> &rows, Index t, double c, Strided<double> z, double g, Strided<double> total) {
    if (z.step != 1 || total.step != 1) {
        add(rows, t, c, z);
        add(rows, t, g, total);
        return;
    }
    const X *x = rows.row(t);
    in_pieces(rows.width, [&](Index i, auto size, auto) {
        double *w = z.data + i, *sum = total.data + i;
        if constexpr (size == 4) {
            const Four some = load(x + i);
            store(load(w) + everywhere(c) * some, w);
            store(load(sum) + everywhere(g) * some, sum);
        } else {
            for (int lane = 0; lane < size; ++lane) {
                w[lane] += c * double(x[i + lane]);
                sum[lane] += g * double(x[i + lane]);
            }
        }
    });
}

template <class X>
[[gnu::always_inline]] inline void gather(const Sparse<X> &rows, Index t, double c, Strided<double> z, double g, Strided<double> total) {
    if (z.step == 2 && total.step == 2 && total.data == z.data + 1) {  // side by side: one access brings both
        each_entry(rows, t, [&](Index i, double x) {
            Two both;
            std::memcpy(&both, z.data + 2 * i, sizeof both);
            both += Two{c, g} * Two{x, x};
            std::memcpy(z.data + 2 * i, &both, sizeof both);
        });
        return;
    }
    each_entry(rows, t, [&](Index i, double x) {
        z[i] += c * x;
        total[i] += g * x;
    });
}

template <bool GATHERS, class X>
[[gnu::noinline]] Products step_line(const X *x, const X *next, Index length, double c, double *z, double g, double *total) {
    Four dots[4] = {}, squares[4] = {};
    in_pieces(length, [&](Index i, auto size, auto part) {
        const Four some = piece<size>(x + i, 1), ahead = piece<size>(next + i, 1);
        const Four weights = piece<size>(z + i, 1) + everywhere(c) * some;
        put<size>(weights, z + i);
        dots[part] += ahead * weights;
        squares[part] += ahead * ahead;
    });
    if constexpr (GATHERS) {
        in_pieces(length, [&](Index i, auto size, auto) {
            put<size>(piece<size>(total + i, 1) + everywhere(g) * piece<size>(x + i, 1), total + i);
        });
    }
    return summed((dots[0] + dots[1]) + (dots[2] + dots[3]), (squares[0] + squares[1]) + (squares[2] + squares[3]));
}

// `add`, or `gather` where there is a total, and the products of the next row with the new weights, where they can be
// had on the way: nothing then waits until the weights are written. Whether they were.
template <class X>
[[gnu::always_inline]] inline bool step(const Dense<X> &rows, Index t, Index stop, double c, Strided<double> z, bool gathers, double g,
                                        Strided<double> total, Products &next) {
    if (t + 1 < stop && z.step == 1 && (!gathers || total.step == 1)) {
        const X *x = rows.row(t), *ahead = rows.row(t + 1);
        next = gathers ? step_line<true>(x, ahead, rows.width, c, z.data, g, total.data)
                       : step_line<false>(x, ahead, rows.width, c, z.data, 0.0, nullptr);
        return true;
    }
    if (gathers) gather(rows, t, c, z, g, total);
    else add(rows, t, c, z);
    return false;
}

template <class X>
[[gnu::always_inline]] inline bool step(const Sparse<X> &rows, Index t, Index, double c, Strided<double> z, bool gathers, double g,
                                        Strided<double> total, Products &) {
    if (gathers) gather(rows, t, c, z, g, total);
    else add(rows, t, c, z);
    return false;
}

// z ← clip(z + c·x, ±limit) where x is not 0 (dense) or named (sparse); the change of ‖z‖².
template <class R> double add_clipped(const R &rows, Index t, double c, double limit, Strided<double> z) {
    double change = 0.0;
    each_entry(rows, t, [&](Index i, double x) {
        if (!R::sparse && x == 0.0) return;
        const double old = z[i], now = clipped(old + c * x, limit);
        z[i] = now;
        change += now * now - old * old;
    });
    return change;
}

}  // namespace noregret
