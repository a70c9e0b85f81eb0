// The ledger of rounds that were played: sums over k·ℓ(z), k·s·z and k·s·x, s the slope of the loss at the score z.
//
// Every sum is taken one round after another, but of a column, which is taken in four parts by position: a bound on what
// the additions lose depends only on how many there were. What that bound is made of, Σ|k·s·z| and Σ|k·s|·‖x‖, is summed
// beside them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "loss.hpp"
#include "vector.hpp"

namespace noregret {

// In this order, each a sum over the rounds.
struct Ledger {
    double loss, sizes_of_loss;  // k·ℓ and its size
    double paid, sizes;          // k·s·z and its size
    double slopes, norms;        // |k·s| and |k·s|·‖x‖
    double bias;                 // k·s, which is G of the constant 1
    double infinite;             // rounds of infinite loss: a score without bounds on the wrong side
    double flawed;               // rounds whose slope was so small that digits were lost
};

constexpr Index LEDGER_NUMBERS = sizeof(Ledger) / sizeof(double);

// Loss and slope of every round, k·s to `taken`. A score that is not a number, or a weight of 0, is no round.
template <class L>
void enter_scores(const L &loss, Line<const double> z, Line<const double> y, Line<const double> weights, Ledger &sums, Line<double> taken) {
    constexpr double smallest = std::numeric_limits<double>::min();
    for (Index t = 0; t < z.size; ++t) {
        const double k = weights.size ? weights[t] : 1.0;
        taken[t] = 0.0;
        if (k == 0.0 || z[t] != z[t]) continue;
        const Cost cost = loss.both(z[t], y[t]);
        if (!finite(z[t])) {  // on the right side it costs nothing, anywhere else everything
            sums.infinite += !(cost.value == 0.0 && cost.slope == 0.0);
            continue;
        }
        const double lost = k * cost.value, slope = k * cost.slope, paid = slope * z[t];
        sums.loss += lost;
        sums.sizes_of_loss += std::fabs(lost);
        sums.paid += paid;
        sums.sizes += std::fabs(paid);
        sums.slopes += std::fabs(slope);
        sums.bias += slope;
        sums.flawed += cost.slope != 0.0 && (std::fabs(slope) < smallest || std::fabs(cost.slope) < smallest);
        taken[t] = slope;
    }
}

// G ← G + Σ taken[t]·x_t, and Σ|taken|·‖x‖, a constant 1 in the row if it has a bias.
template <class Rows> void enter_rows(const Rows &rows, Line<const double> taken, bool bias, Ledger &sums, Line<double> G) {
    for (Index t = 0; t < taken.size; ++t) {
        const double slope = taken[t];
        if (slope == 0.0) continue;
        const double square = dot(rows, t, Strided<const double>(G)).square;
        sums.norms += std::fabs(slope) * std::sqrt(bias ? square + 1.0 : square);
        add(rows, t, slope, G);
    }
}

// The same of up to FEW columns: what each adds to G, and x² to the squares of the rows.
constexpr Index FEW = 4;

template <int COUNT> [[gnu::always_inline]] inline void enter_few(const double *const *x, const double *taken, double *squares, Index size, double *G) {
    Four sums[COUNT] = {};
    Index t = 0;
    for (; t + 4 <= size; t += 4) {
        const Four slope = load(taken + t);
        Four square = load(squares + t);
        for (int j = 0; j < COUNT; ++j) {
            const Four some = load(x[j] + t);
            sums[j] += slope * some;
            square += some * some;
        }
        store(square, squares + t);
    }
    for (int j = 0; j < COUNT; ++j) {
        double rest = 0.0;
        for (Index u = t; u < size; ++u) rest += taken[u] * x[j][u];
        G[j] += summed(sums[j]) + rest;
    }
    for (; t < size; ++t) {
        for (int j = 0; j < COUNT; ++j) squares[t] += x[j][t] * x[j][t];
    }
}

inline void enter_columns(const std::vector<Line<const double>> &columns, Line<const double> taken, Line<double> squares, Line<double> G) {
    const double *x[FEW];
    for (Index first = 0; first < G.size; first += FEW) {
        const Index count = std::min(FEW, G.size - first);
        for (Index j = 0; j < count; ++j) x[j] = columns[static_cast<std::size_t>(first + j)].data;
        double *to = G.data + first;
        switch (count) {
            case 4: enter_few<4>(x, taken.data, squares.data, taken.size, to); break;
            case 3: enter_few<3>(x, taken.data, squares.data, taken.size, to); break;
            case 2: enter_few<2>(x, taken.data, squares.data, taken.size, to); break;
            default: enter_few<1>(x, taken.data, squares.data, taken.size, to);
        }
    }
}

// Σ|taken|·‖x‖ once the squares of the rows are there; false where one of them is no number.
inline bool enter_norms(Line<const double> taken, Line<const double> squares, Ledger &sums) {
    bool sound = true;
    for (Index t = 0; t < taken.size; ++t) {
        sound &= finite(squares[t]);
        sums.norms += std::fabs(taken[t]) * std::sqrt(squares[t]);
    }
    return sound;
}

}  // namespace noregret
