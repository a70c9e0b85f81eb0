// The vote of every predictor that a perceptron went through, told from its mistakes alone.
//
// The k-th predictor is w_k = Σ_{j≤k} a_j·x_j, so that one walk along the stored rows gives ⟨w_k, x⟩ for every k as
// running sums.
#pragma once

#include "rows.hpp"

namespace noregret {

// −1 or +1; at a score of 0 what `tie` says, 0 for no vote.
inline double side_of(double score, double tie) {
    return score == 0.0 ? tie : 2.0 * double(score > 0.0) - 1.0;  // a sign that a processor could not guess
}

// Σ_k survived[k]·sgn⟨w_k, x⟩ for one row x.
template <class Log>
double vote_on(const Log &log, Strided<const double> x, Line<const double> steps, Line<const double> survived, double bias, double tie) {
    double score = 0.0, vote = survived[0] * side_of(0.0, tie);
    for (Index k = 0; k < steps.size; ++k) {
        score += steps[k] * (dot(log, k, x).dot + bias);
        vote += survived[k + 1] * side_of(score, tie);
    }
    return vote;
}

// out[t] = the vote on row t; `line` is room for one row, all 0 before and after: features beyond it count nothing.
inline void votes_on(const Rows &rows, const Rows &log, Line<const double> steps, Line<const double> survived, double bias, double tie,
                     Line<double> line, Line<double> out) {
    const auto spread = [&](Index t, bool in) {
        std::visit(
            [&](const auto &some) {
                each_entry(some, t, [&](Index i, double x) {
                    if (i < line.size) line[i] = in ? x : 0.0;
                });
            },
            rows);
    };
    for (Index t = 0; t < out.size; ++t) {
        spread(t, true);
        out[t] = std::visit([&](const auto &some) { return vote_on(some, line, steps, survived, bias, tie); }, log);
        spread(t, false);
    }
}

}  // namespace noregret
