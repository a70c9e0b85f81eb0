// The rounds of gradient descent with a penalty λ₁‖w‖₁ + (λ₂/2)‖w‖², Θ(non-zeros) a round.
//
// Every round takes w to sgn(v)·max(|v| − ηλ₁, 0)/(1 + ηλ₂) with v = w − η·g·x (Duchi & Singer 2009), and cuts it to
// the box where there is one. In scaled weights w = scale·z this takes ηλ₁/scale from every |z_i|. Soft thresholds add
// up, so that a feature pays what it owes when a row brings it again (Langford, Li & Zhang 2009): the table has for
// each feature its z, the threshold up to which it has paid, and Σg.
#pragma once

#include "rounds.hpp"

namespace noregret {

constexpr Index TRUNCATED_COLUMNS = 3;

inline Index truncated_columns(const Config &) { return TRUNCATED_COLUMNS; }

struct Debtor {
    double weight, paid, total;
};

// (⟨z, x⟩, ‖x‖²) of row t, whose features pay what they owe; NaN where the table has no room for one.
template <class R> Products pay(const State &st, const R &rows, Index t, Debtor *table, Index room) {
    Products found{0.0, 0.0};
    each_entry(rows, t, [&](Index i, double x) {
        if (i >= room) found = {NOT_A_NUMBER, NOT_A_NUMBER};
        if (x == 0.0 || i >= room) return;
        Debtor &one = table[i];
        one.weight = shrunk(one.weight, st.threshold - one.paid);
        one.paid = st.threshold;
        found.dot += x * one.weight;
        found.square += x * x;
    });
    return found;
}

// z ← the soft threshold of z + c·x, within the box where there is one, for row t; the scale is the new one.
template <class R> void update_debtors(State &st, const Config &cfg, const R &rows, Index t, double c, double shrink, double g, Debtor *table) {
    const double limit = cfg.domain == BOX ? cfg.radius / st.scale : INFINITE;
    if (g != 0.0) {
        each_entry(rows, t, [&](Index i, double x) {
            if (x == 0.0) return;
            Debtor &one = table[i];
            one.weight = clipped(shrunk(one.weight + c * x, shrink), limit);
            one.paid = st.threshold;
            one.total += g * x;
        });
    }
    if (cfg.bias != 0.0) {
        st.bias = clipped(shrunk(st.bias + c, shrink), limit);
        st.bias_gradient += g;
    }
}

// z and what is owed times the scale, with scale 1.
inline void fold_debts(State &st, Table<double> table) {
    for (Index i = 0; i < table.rows; ++i) {
        table(i, 0) *= st.scale;
        table(i, 1) *= st.scale;
    }
    st.bias *= st.scale;
    st.threshold *= st.scale;
    st.scale = 1.0;
}

// As `play_linear`, for a table whose rows are Debtors.
template <class L, class R> Index play_truncated(const L &loss_of, const R &rows, const Batch &batch, Table<double> table, Record &record) {
    State &st = record.state;
    const Config &cfg = record.config;
    const bool weighted = batch.weights != nullptr;
    auto *all = reinterpret_cast<Debtor *>(table.data);
    for (Index t = 0; t < batch.count; ++t) {
        const double k = weighted ? batch.weights[t] : 1.0;
        if (k == 0.0) {
            batch.scores[t] = NOT_A_NUMBER;
            continue;
        }
        const double y = batch.labels[t];
        auto [inner, row2] = pay(st, rows, t, all, table.rows);
        const double score = st.scale * (inner + cfg.bias * st.bias);
        row2 += cfg.bias;
        batch.scores[t] = score;
        const auto [value, slope] = loss_of.both(score, y);
        const double loss = k * value, g = k * slope;
        const Index n = st.rounds + 1;
        const double root = std::sqrt(static_cast<double>(n)), total2 = st.gradient2 + g * g * row2;
        if (!(finite(score) && finite(st.loss + loss) && finite(total2))) return t;
        const double eta = step_size(st, cfg, n, root, total2, std::fabs(g), loss, row2);
        const double c = -eta * g / st.scale, shrink = eta * cfg.l1 / st.scale;
        if (!(finite(c * c * row2) && finite(shrink) && finite(g * score))) return t;
        const Baselines baselines = baselines_of(loss_of, st, cfg, y);
        if (!baselines.known()) return t;
        st.constant += k * baselines.constant;
        st.last += k * baselines.last;
        book(st, cfg, k, batch.labels, batch.scores, t, row2, loss);
        book_gradient(st, n, root, g * g * row2, total2, g * score);
        st.rounds = n;
        st.threshold += shrink;
        st.scale /= 1.0 + eta * cfg.l2;
        st.updates += g != 0.0;
        update_debtors(st, cfg, rows, t, c, shrink, g, all);
        if (st.scale < TINY) fold_debts(st, table);
        if (st.rounds == st.trace_next) record_trace(st, cfg.classify);
        if (st.rounds == st.curve_next) record_curve(st, gradient_norm(st, cfg, reading(table.column(2))));
    }
    return batch.count;
}

// The score of row t with the weights as they are when all is paid. Nothing changes.
template <class R> double score_truncated(const State &st, const R &rows, Index t, Table<const double> table) {
    double inner = 0.0;
    each_entry(rows, t, [&](Index i, double x) {
        if (x != 0.0 && i < table.rows) inner += x * shrunk(table(i, 0), st.threshold - table(i, 1));
    });
    return st.scale * (inner + st.bias);
}

}  // namespace noregret
