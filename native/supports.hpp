// The rounds of a kernel perceptron on a block of rows whose kernel values are known.
//
// The score of a row is Σ α·K(support, row) over the supports from the oldest to the newest, added one after another.
// `order` lists the slot of each support; those of the block's own rows begin at `block`. The first `folded` supports,
// in the slots below, have been summed: a row's score begins with base[t], and G has the columns of the slots from
// there on.
#pragma once

#include "record.hpp"
#include "step.hpp"

namespace noregret {

enum Forget : Index { OLDEST, RANDOM };

template <class Slot, class Real> struct Supports {  // of Index and double, or to be read only, of const ones
    Index folded;
    Table<const double> G;
    Line<Slot> order;
    Line<Real> alpha;
};

// total + Σ α·K(support, row t) over the supports first..last.
template <class Slot, class Real> double weighted_sum(double total, const Supports<Slot, Real> &s, Index t, Index first, Index last) {
    const double *row = s.G[t];
    for (Index i = first; i < last; ++i) total += s.alpha[i] * row[s.order[i] - s.folded];
    return total;
}

// The score of every row of a block; four rows side by side, so that no addition waits for the one before it.
template <class Slot, class Real> void score_all(Line<const double> base, const Supports<Slot, Real> &s, Index count, Line<double> scores) {
    Index t = 0;
    for (; t + 4 <= scores.size; t += 4) {
        const double *a = s.G[t], *b = s.G[t + 1], *c = s.G[t + 2], *d = s.G[t + 3];
        Four totals = load(&base[t]);
        for (Index i = s.folded; i < count; ++i) {
            const Index k = s.order[i] - s.folded;
            totals += everywhere(s.alpha[i]) * Four{a[k], b[k], c[k], d[k]};
        }
        store(totals, &scores[t]);
    }
    for (; t < scores.size; ++t) scores[t] = weighted_sum(base[t], s, t, s.folded, count);
}

struct Budget {
    Index limit;  // of supports; 0 for none
    Index forget;
    Line<const double> draws;  // from [0, 1)
};

// Which of the supports goes: the oldest, or the one that a draw from [0, 1) names.
inline Index forgotten(Index forget, Index count, double draw) {
    return forget == OLDEST ? 0 : std::min(static_cast<Index>(draw * static_cast<double>(count)), count - 1);
}

// Play the rows in order; counts = (supports, draws used). Returns how many were played, before one overflows. It ends
// early, too, when there are `until` supports. No more than G's rows, and room for a support each.
inline Index play_supports(Line<const double> base, Index until, Index block, const Supports<Index, double> &s, Line<const double> labels,
                           Line<const double> weights, Line<Index> counts, const Budget &budget, Record &record, Line<double> scores) {
    State &st = record.state;
    const Config &cfg = record.config;
    Index count = counts[0], summed = s.folded;
    if (!budget.limit) {  // none of these will go: their sums are taken for all rows at once
        score_all(base, s, count, scores);
        base = {scores.data, scores.size};
        summed = count;
    }
    for (Index t = 0; t < labels.size; ++t) {
        const double k = weights.size ? weights[t] : 1.0, y = labels[t];
        if (k == 0.0) {
            scores[t] = NOT_A_NUMBER;
            continue;
        }
        const double row2 = s.G(t, block - s.folded + t), score = weighted_sum(base[t], s, t, summed, count);
        scores[t] = score;
        if (!(finite(row2) && finite(score))) return t;
        const bool miss = is_mistake(score, y, cfg.tie);
        double c = 0.0;
        if (miss) {
            c = descend(st, cfg, {}, score, row2, score, -k * y, k);
            if (c != c) return t;
        }
        book(st, cfg, k, labels.data, scores.data, t, row2, miss ? k : 0.0);
        if (miss) {
            ++st.updates;
            if (budget.limit > 0 && count == budget.limit) {
                const Index gone = forgotten(budget.forget, count, budget.draws[counts[1]++]);
                for (Index i = gone; i + 1 < count; ++i) {
                    s.order[i] = s.order[i + 1];
                    s.alpha[i] = s.alpha[i + 1];
                }
                --count;
            }
            s.order[count] = block + t;
            s.alpha[count] = c;
            counts[0] = ++count;
        }
        ++st.rounds;
        if (st.rounds == st.trace_next) record_trace(st, cfg.classify);
        if (st.rounds == st.curve_next) record_curve(st, 0.0);
        if (miss && count == until) return t + 1;
    }
    return labels.size;
}

}  // namespace noregret
