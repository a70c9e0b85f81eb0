// Kernel values and sums of them in twice the precision, each with a bound on its own error (see exact.hpp).
//
// Rows are compressed, each in the order of its features. A polynomial of whole numbers is exact, error 0; e^x is known
// to within a few units in the last place.
#pragma once

#include "exact.hpp"
#include "gram.hpp"

namespace noregret {

using Exact = Twofold<double>;

constexpr double LOST_IN_ERRORS = 1.0 + 0x1p-40;  // what adding up the errors may itself have lost
constexpr double EXPONENTIAL_OFF = 0x1p-49;       // what `exponential` may be off by, relatively
constexpr double VANISHED = 1e-307;

// x·z, (x − z)² or |x − z| more.
template <Sum OP> [[gnu::always_inline]] inline void add_term(Exact &sum, double x, double z) {
    if constexpr (OP == DOT) return sum.add_product(x, z);
    const auto [gap, low] = two_sum(x, -z);
    if constexpr (OP == SQUARE) {
        sum.add_product(gap, gap);
        sum.add_product(2.0 * gap, low);
        sum.add_product(low, low);
    } else {
        const double sign = gap > 0.0 ? 1.0 : -1.0;
        sum.add(sign * gap);
        sum.add(sign * low);
    }
}

// The sum over the features of two rows.
template <Sum OP> Exact exact_sum(Entries a, Entries b) {
    Exact sum;
    Index i = a.begin, k = b.begin;
    while (i < a.end || k < b.end) {
        if (k >= b.end || (i < a.end && a.features[i] < b.features[k])) {
            if constexpr (OP != DOT) add_term<OP>(sum, a.values[i], 0.0);
            ++i;
        } else if (i >= a.end || b.features[k] < a.features[i]) {
            if constexpr (OP != DOT) add_term<OP>(sum, 0.0, b.values[k]);
            ++k;
        } else {
            add_term<OP>(sum, a.values[i++], b.values[k++]);
        }
    }
    return sum;
}

// An error multiplied by a number of this size, rounded up: what a product below all floats would lose is counted.
inline double magnified(double size, double error) { return size != 0.0 && error != 0.0 ? LOST_IN_ERRORS * (size * error) + LOST : 0.0; }

inline Exact times(const Exact &a, const Exact &b) {
    Exact product;
    product.add_product(a.s, b.s);
    product.add_product(a.s, b.c);
    product.add_product(a.c, b.s);
    product.add_product(a.c, b.c);
    const double size = std::fabs(a.s) + std::fabs(a.c), other = std::fabs(b.s) + std::fabs(b.c) + b.error;
    product.error += LOST_IN_ERRORS * (magnified(size, b.error) + magnified(other, a.error));
    return product;
}

// The kernel from its sum.
inline Exact exact_value(Index kind, const Exact &sum, const Numbers &of) {
    if (kind == LINEAR_KERNEL) return sum;
    if (kind == POLY_KERNEL) {
        Exact base = times(sum, {of.gamma, 0.0, 0.0});
        base.add(of.coef0);
        Exact power = base;
        for (Index k = 1; k < of.degree; ++k) power = times(power, base);
        return power;
    }
    if (sum.s == 0.0 && sum.c == 0.0 && sum.error == 0.0) return {1.0, 0.0, 0.0};
    const auto [x, low] = two_product(-of.gamma, sum.s);
    const double off = LOST_IN_ERRORS * (std::fabs(low) + of.gamma * (std::fabs(sum.c) + sum.error)) + 1e-300;
    if (!(off < 1.0)) return {0.0, 0.0, 1.0};
    const double found = exponential(x), vanished = x < SMALLEST_POWER + 8.0 ? VANISHED : 0.0;
    return {found, 0.0, LOST_IN_ERRORS * found * (2.0 * off + EXPONENTIAL_OFF) + vanished};
}

// Sums that are asked for: out(m, 3i…3i + 2) = (s, c, error) of Σ_k coefficients(m, k)·K(row which[k], row to[i]), of
// earlier rows only where `before` says so.
struct KernelSums {
    Line<const Index> to, which;
    Table<const double> coefficients;
    bool before;
    Table<double> out;
};

// value(k, i): K(row which[k], row to[i]) as an Exact.
template <class Value> [[gnu::always_inline]] inline void weighted_values(const KernelSums &asked, Value value) {
    const Index sums = asked.coefficients.rows;
    for (Index i = 0; i < asked.to.size; ++i) {
        for (Index m = 0; m < sums; ++m) put({}, &asked.out(m, 3 * i));
        for (Index k = 0; k < asked.which.size; ++k) {
            if (asked.before && asked.which[k] >= asked.to[i]) continue;
            const Exact found = value(k, i);
            for (Index m = 0; m < sums; ++m) {
                const double a = asked.coefficients(m, k);
                Exact total = triple(&asked.out(m, 3 * i));
                total.add_product(a, found.s);
                total.add_product(a, found.c);
                total.error += magnified(std::fabs(a), found.error);
                put(total, &asked.out(m, 3 * i));
            }
        }
    }
}

inline Entries entries_of(const Sparse<double> &rows, Index t) { return {rows.features, rows.values, rows.bounds[t], rows.bounds[t + 1]}; }

inline void kernel_sums(Index kind, Index op, const Numbers &of, const Sparse<double> &rows, const KernelSums &asked) {
    with_sum(op, [&](auto sum) {
        weighted_values(asked, [&](Index k, Index i) {
            return exact_value(kind, exact_sum<sum>(entries_of(rows, asked.to[i]), entries_of(rows, asked.which[k])), of);
        });
    });
}

// The same from kernel values that are what they are: G(i, k) = K(row which[k], row to[i]).
inline void given_sums(Table<const double> G, const KernelSums &asked) {
    weighted_values(asked, [&](Index k, Index i) { return Exact{G(i, k), 0.0, 0.0}; });
}

// out(t, 0…2) = (s, c, error) of K(row t, row t).
inline void kernel_squares(Index kind, Index op, const Numbers &of, const Sparse<double> &rows, Table<double> out) {
    with_sum(op, [&](auto sum) {
        for (Index t = 0; t < rows.count; ++t) {
            put(exact_value(kind, exact_sum<sum>(entries_of(rows, t), entries_of(rows, t)), of), out[t]);
        }
    });
}

}  // namespace noregret
