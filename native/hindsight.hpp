// The loops behind the best comparator in hindsight: scores, sums of rows, the curvature matrix, coordinate steps.
//
// A bent loss is a loss whose slope in z is clip(shrunk(z − kink, flat)/width, lo, hi); its conjugate is
// kink·α + flat·|α| + width·α²/2 on [lo, hi]. Every built-in loss but the logistic and the exponential one is of this
// form, width 0 being a kink. Nothing here is certified: what a solver finds is evaluated again in twice the precision.
#pragma once

#include <cmath>

#include "functions.hpp"
#include "rows.hpp"
#include "vector.hpp"

namespace noregret {

// The values of row t.
inline Line<const double> values_of(const Dense<double> &rows, Index t) { return {rows.row(t), rows.width}; }
inline Line<const double> values_of(const Sparse<double> &rows, Index t) { return {rows.values + rows.bounds[t], entries(rows, t)}; }

// Asks for the beginning of a row that does not follow the one before.
inline void ask_ahead(const Dense<double> &, Index) {}
inline void ask_ahead(const Sparse<double> &rows, Index t) {
    const Index start = rows.bounds[t], end = rows.bounds[t + 1], stop = end < start + NEAR ? end : start + NEAR;
    for (Index k = start; k < stop; k += 8) {
        __builtin_prefetch(rows.values + k);
        if (k % 16 < 8) __builtin_prefetch(rows.features + k);
    }
}

// out[t] = ⟨u, x_t⟩, NaN where u has no room for a feature of the row.
template <class Rows> void scores_of(const Rows &rows, Strided<const double> u, Line<double> out) {
    for (Index t = 0; t < rows.count; ++t) out[t] = dot(rows, t, u).dot;
}

// total ← total + Σ a_t·x_t; false where there was no room for a feature of a row.
template <class X> bool sum_rows(const Dense<X> &rows, Line<const double> a, Line<double> total) {
    if (rows.width > total.size) return false;
    for (Index t = 0; t < a.size; ++t) {
        if (a[t] != 0.0) add(rows, t, a[t], total);
    }
    return true;
}

template <class X> bool sum_rows(const Sparse<X> &rows, Line<const double> a, Line<double> total) {
    bool fits = true;
    for (Index t = 0; t < a.size; ++t) {
        const double c = a[t];
        if (c == 0.0) continue;
        each_entry(rows, t, [&](Index i, double x) {
            if (i < total.size) [[likely]] total[i] += c * x;
            else fits = false;
        });
    }
    return fits;
}

// H ← H + Σ w_t·(scale·x_t)(scale·x_t)ᵀ over the rows with w_t ≠ 0.
template <class X> void add_curvature(const Sparse<X> &rows, Line<const double> w, double scale, Table<double> H) {
    for (Index t = 0; t < w.size; ++t) {
        if (w[t] == 0.0) continue;
        each_entry(rows, t, [&](Index i, double x) {
            const double a = w[t] * (scale * x);
            double *line = H[i];
            each_entry(rows, t, [&](Index j, double other) { line[j] += a * (scale * other); });
        });
    }
}

// out[t] = ‖scale·x_t‖², in four parts by the place of an entry in its row.
template <class Rows> void square_norms(const Rows &rows, double scale, Line<double> out) {
    for (Index t = 0; t < rows.count; ++t) {
        const Line<const double> x = values_of(rows, t);
        out[t] = sum_in_fours(x.size, [&](Index i, auto one) __attribute__((always_inline)) {
            const auto some = scale * at<decltype(one)>(x, i);
            return some * some;
        });
    }
}

// Σ k·ℓ over the rounds for a bent loss: the lines have a number for each round.
struct Bent {
    Line<const double> kink, lo, hi;
    double width, flat;
    Line<const double> weights;

    // r brought nearer to 0 by the half width of what is flat.
    template <class N> [[gnu::always_inline]] N beyond(N r) const {
        const N none{};
        return lower(r + flat, none) + higher(r - flat, none);
    }

    // The slope where `beyond` is r; at a kink of width 0 any slope would do, and the one nearest 0 is taken.
    template <class N> [[gnu::always_inline]] N slope(Index t, N r) const {
        const N low = at<N>(lo, t), high = at<N>(hi, t);
        if (width > 0.0) return lower(higher(r / width, low), high);
        const N none{};
        return r < none ? low : r > none ? high : lower(higher(none, low), high);
    }

    // alpha[t] = the slope at z_t.
    void slopes(Line<const double> z, Line<double> alpha) const {
        Index t = 0;
        for (; t + 4 <= z.size; t += 4) store(slope(t, beyond(load(z.data + t) - load(kink.data + t))), alpha.data + t);
        for (; t < z.size; ++t) alpha[t] = slope(t, beyond(z[t] - kink[t]));
    }

    // Σ k·ℓ(z), in four parts by place.
    double total(Line<const double> z) const {
        return sum_in_fours(z.size, [&](Index t, auto one) __attribute__((always_inline)) {
            using N = decltype(one);
            const N r = beyond(at<N>(z, t) - at<N>(kink, t)), a = slope(t, r);
            return at<N>(weights, t) * (a * r - 0.5 * width * a * a);
        });
    }

    // The derivative of Σ k·ℓ(z + τ·step) in τ, in four parts by place.
    double along(Line<const double> z, Line<const double> step, double tau) const {
        return sum_in_fours(z.size, [&](Index t, auto one) __attribute__((always_inline)) {
            using N = decltype(one);
            const N move = at<N>(step, t);
            return at<N>(weights, t) * move * slope(t, beyond(at<N>(z, t) + tau * move - at<N>(kink, t)));
        });
    }

    // The α that minimises k·ℓ*(α) + ‖w‖²/(2·ridge) where q = k‖x‖²/ridge and `old` gave the score z.
    double step(Index t, double z, double q, double old) const {
        if (width + q > 0.0) return lower(higher(beyond(z - kink[t] + q * old) / (width + q), lo[t]), hi[t]);
        return slope(t, beyond(z - kink[t]));
    }
};

constexpr int NEWTON_STEPS = 50;  // Newton's method in one dimension needs five, and now and then some halvings before

// 1/(1 + e^(−a)).
inline double chance_of(double a) {
    const double e = exp_of(-std::fabs(a));
    return (a > 0.0 ? 1.0 : e) / (1.0 + e);
}

// Σ k·ln(1 + e^(−y·z)) over the rounds.
struct LogisticDual {
    Line<const double> y, weights;

    // The β in (0, 1) with ln(β/(1 − β)) + y·z + q·(β − b) = 0, by Newton's method in the log-odds, or by halving the
    // interval that holds the root where that leads out of it; α = −y·β.
    double step(Index t, double z, double q, double old) const {
        const double yz = y[t] * z, b = -y[t] * old;
        double low = -yz - q * (1.0 - b), high = -yz + q * b, a = -yz;
        for (int round = 0; round < NEWTON_STEPS; ++round) {
            const double beta = chance_of(a), left = a + yz + q * (beta - b);
            (left > 0.0 ? high : low) = a;
            double next = a - left / (1.0 + q * beta * (1.0 - beta));
            if (!(next >= low && next <= high)) next = 0.5 * (low + high);
            const double change = std::fabs(next - a);
            a = next;
            if (change <= 1e-10 * (1.0 + std::fabs(a))) break;
        }
        return -y[t] * chance_of(a);
    }
};

// Exact minimisation of Σ k·ℓ*(α) + ‖w‖²/(2·ridge), w = Σ k·α·x, over one α_t at a time, in the given order. Returns
// the sum of |change|·k, which is 0 at the minimum; NaN, and no more is moved, where a score is not a number.
template <class Rows, class Loss>
double dual_epoch(const Rows &rows, Line<const Index> order, Line<const double> norms, const Loss &loss, double ridge, Line<double> alpha,
                  Strided<double> w) {
    double moved = 0.0;
    for (Index i = 0; i < order.size; ++i) {
        const Index t = order[i];
        if (i + 1 < order.size) ask_ahead(rows, order[i + 1]);
        const double inner = dot(rows, t, w).dot;
        if (inner != inner) return NOT_A_NUMBER;  // as where w has no room for the row
        const double k = loss.weights[t], old = alpha[t];
        const double now = loss.step(t, -inner / ridge, k * norms[t] / ridge, old);
        if (now == old) continue;
        alpha[t] = now;
        add(rows, t, k * (now - old), w);
        moved += k * std::fabs(now - old);
    }
    return moved;
}

}  // namespace noregret
