// The rounds of learners with a step for every coordinate: AdaGrad and FTRL-Proximal, Θ(non-zeros) a round.
//
// The table has a row for each feature: its weight w, Σg² and Σg over the rounds, and the dual θ of FTRL-Proximal. In a
// round with gradient g_i = g·x_i, with n = Σg_i² up to and including it:
//
// AdaGrad (Duchi, Hazan & Singer 2011): w_i ← w_i − η·g_i/√n.
// FTRL-Proximal (McMahan et al. 2013): θ_i ← θ_i + g_i − (√n − √(n − g_i²))/α·w_i, and w_i minimises
// θ_i·w + λ₁|w| + ((β + √n)/α + λ₂)·w²/2.
//
// Both then cut w_i to ±U. A coordinate that has seen no gradient keeps its weight.
#pragma once

#include "rounds.hpp"

namespace noregret {

constexpr Index COORDINATE_COLUMNS = 4;

struct Coordinates {
    double weight, squares, total, dual;
};

// w of one coordinate of AdaGrad after a gradient g, `squares` including its square, which may vanish.
inline double descended(double w, double squares, double g, double eta, double radius) {
    const double root = std::sqrt(squares);
    if (root > 0.0) w -= eta * g / root;
    return clipped(w, radius);
}

// One coordinate of FTRL-Proximal after a gradient g, `squares` including its square.
inline void follow(const Config &cfg, double squares, double g, double &w, double &dual) {
    const double root = std::sqrt(squares);
    if (root == 0.0) return;  // the square of a gradient may vanish
    dual += g - (root - std::sqrt(higher(squares - g * g, 0.0))) / cfg.eta * w;
    const double size = std::fabs(dual) - cfg.l1;
    w = 0.0;
    if (size > 0.0) {
        w = size / ((cfg.beta + root) / cfg.eta + cfg.l2);
        if (dual > 0.0) w = -w;
    }
    w = clipped(w, cfg.radius);
}

[[gnu::always_inline]] inline void step_adagrad(Coordinates &one, double part, double eta, double radius) {
    one.squares += part * part;
    one.total += part;
    one.weight = descended(one.weight, one.squares, part, eta, radius);
}

// Rows for columns.
[[gnu::always_inline]] inline void transpose(Four (&rows)[4]) {
    const Four a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 2, 6), b = __builtin_shufflevector(rows[0], rows[1], 1, 5, 3, 7);
    const Four c = __builtin_shufflevector(rows[2], rows[3], 0, 4, 2, 6), d = __builtin_shufflevector(rows[2], rows[3], 1, 5, 3, 7);
    rows[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    rows[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    rows[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    rows[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

// Four different coordinates of AdaGrad at once: their roots and quotients are taken side by side.
[[gnu::always_inline]] inline void step_adagrad(Coordinates *const (&at)[4], Four part, double eta, double radius) {
    Four rows[4];
    for (int lane = 0; lane < 4; ++lane) rows[lane] = load(&at[lane]->weight);
    transpose(rows);  // weights, squares, totals, duals
    rows[1] += part * part;
    rows[2] += part;
    const Four zero{}, root = sqrt_of(rows[1]), step = everywhere(eta) * part / root;
    rows[0] -= root > zero ? step : zero;
    rows[0] = rows[0] < everywhere(-radius) ? everywhere(-radius) : rows[0];
    rows[0] = rows[0] > everywhere(radius) ? everywhere(radius) : rows[0];
    transpose(rows);
    for (int lane = 0; lane < 4; ++lane) store(rows[lane], &at[lane]->weight);
}

template <class X> void step_adagrad(const Sparse<X> &rows, Index t, double g, double eta, double radius, Coordinates *table) {
    Index k = rows.bounds[t];
    const Index stop = rows.bounds[t + 1];
    for (; k + 4 <= stop; k += 4) {
        const std::uint32_t *i = rows.features + k;
        step_adagrad({table + i[0], table + i[1], table + i[2], table + i[3]}, everywhere(g) * load(rows.values + k), eta, radius);
    }
    for (; k < stop; ++k) step_adagrad(table[rows.features[k]], g * double(rows.values[k]), eta, radius);
}

template <class X> void step_adagrad(const Dense<X> &rows, Index t, double g, double eta, double radius, Coordinates *table) {
    const X *x = rows.row(t);
    Index i = 0;
    for (; i + 4 <= rows.width; i += 4) {
        Coordinates *at = table + i;
        step_adagrad({at, at + 1, at + 2, at + 3}, everywhere(g) * load(x + i), eta, radius);
    }
    for (; i < rows.width; ++i) step_adagrad(table[i], g * double(x[i]), eta, radius);
}

// Every coordinate of row t, and the bias.
template <class R> void update_coordinates(State &st, const Config &cfg, const R &rows, Index t, double g, Coordinates *table) {
    if (cfg.rate == PROXIMAL) {
        each_entry(rows, t, [&](Index i, double x) {
            const double part = g * x;
            if (part == 0.0) return;
            Coordinates &one = table[i];
            one.squares += part * part;
            one.total += part;
            follow(cfg, one.squares, part, one.weight, one.dual);
        });
    } else {
        step_adagrad(rows, t, g, cfg.eta, cfg.radius, table);
    }
    if (cfg.bias == 0.0) return;
    st.bias_squares += g * g;
    st.bias_gradient += g;
    if (cfg.rate == PROXIMAL) follow(cfg, st.bias_squares, g, st.bias, st.bias_dual);
    else st.bias = descended(st.bias, st.bias_squares, g, cfg.eta, cfg.radius);
}

// As `play_linear`, for a table whose rows are Coordinates.
template <class L, class R> Index play_coordinates(const L &loss_of, const R &rows, const Told &told, Table<double> table, Record &record) {
    State &st = record.state;
    const Config &cfg = record.config;
    const bool weighted = told.weights != nullptr;
    const Strided<double> w = table.column(0), total = table.column(2);
    auto *all = reinterpret_cast<Coordinates *>(table.data);
    Index booked = 0, played = told.count;
    if (told.count > 1 && !weighted) expect(st, told.count);
    for (Index t = 0; t < told.count; ++t) {
        const double k = weighted ? told.weights[t] : 1.0;
        if (k == 0.0) {
            told.scores[t] = NOT_A_NUMBER;
            continue;
        }
        const double y = told.labels[t];
        auto [inner, row2] = dot(rows, t, w);
        const double score = inner + cfg.bias * st.bias;
        row2 += cfg.bias;
        const auto [value, slope] = loss_of.both(score, y);
        const double loss = k * value, g = k * slope, total2 = st.gradient2 + g * g * row2;
        if (!(finite(row2) && finite(score) && finite(total2) && finite(st.loss + loss) && finite(g * score))) {
            played = t;
            break;
        }
        const Baselines baselines = baselines_of(loss_of, st, cfg, y);
        if (!baselines.known()) {
            played = t;
            break;
        }
        told.scores[t] = score;
        st.constant += k * baselines.constant;
        st.last += k * baselines.last;
        book_sums(st, cfg, k, y, score, row2, loss);
        ++st.rounds;
        if (g != 0.0) {
            ++st.updates;
            book_gradient(st, st.rounds, std::sqrt(static_cast<double>(st.rounds)), g * g * row2, total2, g * score);
            update_coordinates(st, cfg, rows, t, g, all);
        }
        if (st.rounds == st.trace_next) booked = trace_late(st, cfg, told.labels, told.scores, booked, t + 1, weighted);
        if (st.rounds == st.curve_next) record_curve(st, norm1(reading(total)) + std::fabs(st.bias_gradient));
    }
    book_rest(st, cfg, told.labels, told.scores, booked, played, weighted);
    return played;
}

}  // namespace noregret
