// The rounds of learners whose score is no ⟨w, x⟩: log-odds z = ln(p/(1 − p)) of the label +1, or a number that is
// forecast, however they are found.
//
// The loss of log-odds is the logistic one, −ln of the probability that the label was given; that of numbers the squared
// one. A learner of this kind is a struct with `score(rows, t)` and `learn(rows, t, y, k)` for a round of weight k; the
// rounds are booked here, and Σg where asked for.
#pragma once

#include "loss.hpp"
#include "matrix.hpp"
#include "rounds.hpp"

namespace noregret {

template <class R> double square_of(const R &rows, Index t) {
    double found = 0.0;
    each_entry(rows, t, [&](Index, double x) { found += x * x; });
    return found;
}

// Play the rows in order; returns how many: fewer than there are only where the next one would overflow.
template <class R, class Learner>
Index play_scored(const R &rows, Line<const double> labels, Line<const double> weights, Learner &learner, Record &record, Line<double> total,
                  Line<double> scores) {
    State &st = record.state;
    const Config &cfg = record.config;
    const Strided<double> sum{total.data, total.size, 1};
    for (Index t = 0; t < labels.size; ++t) {
        const double k = weights.size ? weights[t] : 1.0, y = labels[t];
        if (k == 0.0) {
            scores[t] = NOT_A_NUMBER;
            continue;
        }
        if (cfg.gather && reaches(rows, t, total.size)) return t;
        const double row2 = square_of(rows, t) + cfg.bias, score = learner.score(rows, t);
        const auto [value, slope] = cfg.classify ? Logistic{}.both(score, y) : Squared{}.both(score, y);
        const Baselines baselines = baselines_of(Squared{}, st, cfg, y);
        const double loss = k * value, g = k * slope;
        if (!(finite(score) && finite(row2) && finite(st.loss + loss + st.gradient2 + g * g * row2))) return t;
        scores[t] = score;
        st.constant += k * baselines.constant;
        st.last += k * baselines.last;
        book(st, cfg, k, labels.data, scores.data, t, row2, loss);
        if (g != 0.0) book_matrix_gradient(st, g, score, row2);
        if (cfg.gather) {
            add(rows, t, g, sum);
            st.bias_gradient += cfg.bias * g;
        }
        learner.learn(rows, t, y, k);
        ++st.rounds;
        if (st.rounds == st.trace_next) record_trace(st, cfg.classify);
        if (st.rounds == st.curve_next) record_curve(st, gradient_norm(st, cfg, {total.data, total.size, 1}));
    }
    return labels.size;
}

}  // namespace noregret
