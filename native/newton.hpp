// The rounds of a learner that takes Newton steps on the logistic loss: B = (aI + Σ k·h·x·xᵀ)⁻¹ and weights θ.
//
// Kept is a root S of B = S·Sᵀ, so that rounding cannot make B indefinite, whatever the rows (Potter 1963). With f = Sᵀx,
// Q = ⟨x, Bx⟩ = ⟨f, f⟩ and z0 = ⟨θ, x⟩ a row is scored by z0, or by the z of z = z0 − Q·tanh(z/2), which takes in the row
// with either label (Jézéquel, Gaillard & Rudi 2020). A round of weight k then moves θ to the minimum of
// k·ln(1 + e^(−y⟨θ,x⟩)) + ½(θ − θ_t)ᵀB⁻¹(θ − θ_t), one number to be solved for, and B takes in k·h·x·xᵀ, h the curvature
// of the loss at the score, but never less than LEAST_CURVATURE:
//
// q = Sf, S ← S − γ·q·fᵀ, γ = c/(1 + 1/√(1 + khQ)), c = kh/(1 + khQ).
//
// Weights that walk: B grows by the factor 1/(1 − walk) after each round, in no place beyond 1/a, where it began.
//
// With a bias, place 0 is the constant 1 and every feature stands one place higher. Places that no row has touched hold
// √(1/a) on the diagonal of S; every sum is taken in an order that such places do not change.
#pragma once

#include "implicit.hpp"
#include "matrix.hpp"

namespace noregret {

struct NewtonRules {
    double ridge, walk;
    bool two_label;
};

// n places of each are in use; f is room to work in.
struct Newton {
    Table<double> S;
    double *theta, *total, *f;
    Index n;
};

// What scores are made of, to be read only.
struct Root {
    Table<const double> B;  // S, by the name that `multiply` reads
    const double *theta;
    double *q;  // Sᵀx
    Index n;
};

// tanh(z/2) of z ≥ 0, by its series where 1 − e^(−z) would lose digits.
inline double tanh_of_half(double z) {
    if (z < 0x1p-8) {
        const double h = 0.5 * z, h2 = h * h;
        return h * (1.0 - h2 * (1.0 / 3.0 - h2 * (2.0 / 15.0 - h2 * (17.0 / 315.0))));
    }
    const double e = exp_of(-z);
    return (1.0 - e) / (1.0 + e);
}

// The z of z = z0 − Q·tanh(z/2). For |z| the left side less the right is concave and rises: Newton's steps from below
// never pass the root, and end where they move it no more.
inline double between_labels(double z0, double Q) {
    const double goal = std::fabs(z0);
    double z = higher(goal / (1.0 + 0.5 * Q), goal - Q);
    for (int step = 0; step < MOST_STEPS; ++step) {
        const double tanh = tanh_of_half(z);
        const double change = (goal - z - Q * tanh) / (1.0 + 0.5 * Q * (1.0 - tanh * tanh));
        if (!(change > 0.0)) break;
        z += change;
        if (change < SETTLED * z) break;
    }
    return z0 < 0.0 ? -z : z;
}

// Σ x² of each of R rows of n numbers, in four parts by place.
template <int R> [[gnu::always_inline]] inline void sizes_of(const double *const (&x)[R], Index n, double (&out)[R]) {
    Four sums[R] = {};
    Index i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int r = 0; r < R; ++r) sums[r] += load(x[r] + i) * load(x[r] + i);
    }
    for (int r = 0; r < R; ++r) {
        for (Index lane = 0; i + lane < n; ++lane) sums[r][lane] += x[r][i + lane] * x[r][i + lane];
        out[r] = summed(sums[r]);
    }
}

// R rows of S from row i on: θ moves by step·q, and S by −γ·q·fᵀ; with a walk both then grow. Rows go side by side, for
// the sum of a single one waits for itself.
template <int R> [[gnu::always_inline]] inline void take_rows(Index i, double step, double gamma, const NewtonRules &rules, const Newton &N) {
    const double *seen[R];
    double q[R], sizes[R];
    for (int r = 0; r < R; ++r) seen[r] = N.S[i + r];
    dots<R>(seen, N.f, N.n, q);
    for (int r = 0; r < R; ++r) {
        N.theta[i + r] += step * q[r];
        if (q[r] != 0.0) add_scaled(-gamma * q[r], N.f, N.n, N.S[i + r]);
    }
    if (rules.walk == 0.0) return;
    const double root = std::sqrt(1.0 / rules.ridge), most = root * root, growth = 1.0 / (1.0 - rules.walk);
    sizes_of<R>(seen, N.n, sizes);
    for (int r = 0; r < R; ++r) {
        const double by = sizes[r] * growth < most ? growth : most / sizes[r];
        if (by != 1.0) rescale(std::sqrt(by), {N.S[i + r], N.n, 1});
    }
}

// Take in the row of which f is Sᵀx.
inline void take_in(double step, double gamma, const NewtonRules &rules, const Newton &N) {
    Index i = 0;
    for (; i + 4 <= N.n; i += 4) take_rows<4>(i, step, gamma, rules, N);
    for (; i < N.n; ++i) take_rows<1>(i, step, gamma, rules, N);
}

// ⟨θ, x⟩ and Q, from which the score is made; f ← Sᵀx.
template <class R> double newton_score(const R &rows, Index t, Index shift, const Root &from, double inner, bool two_label, double &Q) {
    multiply(rows, t, shift, from);
    Q = dot_places(from.q, from.q, from.n);
    return two_label && finite(Q) ? between_labels(inner, Q) : inner;
}

// Play the rows in order; returns how many: fewer than there are only where the next one would overflow.
template <class R>
Index play_newton(const R &rows, Line<const double> labels, Line<const double> weights, const Newton &N, const NewtonRules &rules, Record &record,
                  Line<double> scores) {
    State &st = record.state;
    const Config &cfg = record.config;
    const Index shift = cfg.bias != 0.0;
    const Root from{{N.S.data, N.S.rows, N.S.columns, N.S.apart}, N.theta, N.f, N.n};
    const Logistic loss_of;
    for (Index t = 0; t < labels.size; ++t) {
        const double k = weights.size ? weights[t] : 1.0, y = labels[t];
        if (k == 0.0) {
            scores[t] = NOT_A_NUMBER;
            continue;
        }
        const auto [inner, row2] = measured(rows, t, shift, N.theta, N.n);
        const double reach = k + k * row2;  // at the most so much, over the ridge, a round moves θ
        if (!finite((st.norm2 + reach) / rules.ridge + row2 / rules.ridge + inner)) return t;
        double Q;
        const double score = newton_score(rows, t, shift, from, inner, rules.two_label, Q);
        const auto [value, slope] = loss_of.both(score, y);
        const double loss = k * value, g = k * slope;
        if (!finite(k * Q + st.loss + loss + st.gradient2 + g * g * row2 + g * score)) return t;
        scores[t] = score;
        book(st, cfg, k, labels.data, scores.data, t, row2, loss);
        if (g != 0.0) book_matrix_gradient(st, g, score, row2);
        add_row(rows, t, shift, g, N.total);
        const double h = k * higher(falling(score).slope, LEAST_CURVATURE), grown = 1.0 + h * Q;
        const double step = k * y * falling(settled_margin(y * inner, k * Q)).value;
        take_in(step, h / grown / (1.0 + 1.0 / std::sqrt(grown)), rules, N);
        st.norm2 += reach;
        ++st.rounds;
        if (st.rounds == st.trace_next) record_trace(st, cfg.classify);
        if (st.rounds == st.curve_next) record_curve(st, std::sqrt(norm2({N.total, N.n, 1})));
    }
    return labels.size;
}

// The score of every row; NaN where a feature has no place.
template <class R> void score_newton(const R &rows, Index shift, const Root &from, bool two_label, Line<double> scores) {
    for (Index t = 0; t < scores.size; ++t) {
        double Q;
        if (reaches(rows, t, from.n - shift)) scores[t] = NOT_A_NUMBER;
        else scores[t] = newton_score(rows, t, shift, from, measured(rows, t, shift, from.theta, from.n).dot, two_label, Q);
    }
}

}  // namespace noregret
