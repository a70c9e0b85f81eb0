// The rounds of learners that forecast a probability for every class, and are judged by −ln p of the class that comes.
//
// A learner gives a score s_k to every class known, the others share one escape: p(new) = (n + ½)/(r + 1), the estimate
// of Krichevsky and Trofimov that the class is one never seen, from the r rounds played since some class was known, n of
// which had a new class; p(k) = (1 − p(new))·e^(s_k)/Σe^s. Before any class is known p(new) = 1. So no loss is infinite.
// `clock` holds how many classes are known, r and n.
#pragma once

#include "functions.hpp"
#include "implicit.hpp"
#include "matrix.hpp"
#include "multiclass.hpp"

namespace noregret {

// p ← e^s/Σe^s over the known classes, zeros up to a multiple of four where there is room; the answer is ln Σe^s.
inline double softmax(const double *s, Index known, double *p, Index room) {
    double top = s[0], sum = 0.0;
    for (Index k = 1; k < known; ++k) top = higher(top, s[k]);
    Index k = 0;
    for (; k + 4 <= known; k += 4) store(exp_of(load(s + k) - everywhere(top)), p + k);
    for (; k < known; ++k) p[k] = exp_of(s[k] - top);
    for (k = 0; k < known; ++k) sum += p[k];
    for (k = 0; k < known; ++k) p[k] /= sum;
    for (; k < room && k % 4; ++k) p[k] = 0.0;
    return top + log_of(sum);
}

// s ← ln p of every class, scores of `known` classes given; the answer is ln p(new).
inline double forecast(double *s, double *p, Line<const Index> clock) {
    const Index known = clock[0];
    if (!known) return 0.0;
    const double rounds = static_cast<double>(clock[1]) + 1.0, fresh = static_cast<double>(clock[2]) + 0.5;
    const double less = log_of((rounds - fresh) / rounds) - softmax(s, known, p, known);
    for (Index k = 0; k < known; ++k) s[k] += less;
    return log_of(fresh / rounds);
}

// What a round says: (ln p_y − max_{r≠y} ln p_r, the class predicted, −1 where several are likeliest, its ln p, ln p_y);
// whether it was a mistake.
inline bool tell_forecast(const double *logs, double fresh, Index known, Index y, double *said) {
    const Index predicted = best_but(logs, known, -1), rival = best_but(logs, known, y);
    const Index second = best_but(logs, known, predicted);
    const double own = y < known ? logs[y] : fresh;
    said[0] = rival >= 0 ? own - logs[rival] : INFINITE;
    said[1] = second >= 0 && logs[second] == logs[predicted] ? -1.0 : static_cast<double>(predicted);
    said[2] = predicted >= 0 ? logs[predicted] : 0.0;
    said[3] = own;
    return y >= known || said[0] <= 0.0;
}

struct ForecastRoom {
    double *scores, *logs;  // room for every class
    Index size;
};

// Play the rows in order; returns how many, fewer than there are only where the next one would overflow.
//
// scores[t] is what `tell_forecast` says. all(t, k) = ln p_t(k), if there is room: a class that was not known in round t
// has ln p_t(new), so that all(t, y_t) is always what was paid.
template <class R, class L>
Index play_forecasts(const R &rows, Line<const double> labels, Line<const double> weights, L &learner, Record &record, Line<Index> clock,
                     const ClassTables &tables, const ForecastRoom &room, Table<double> scores, Table<double> all) {
    State &st = record.state;
    for (Index t = 0; t < labels.size; ++t) {
        const double k = weights.size ? weights[t] : 1.0;
        if (k == 0.0) {
            std::fill_n(scores[t], scores.columns, NOT_A_NUMBER);
            if (all.rows) std::fill_n(all[t], all.columns, NOT_A_NUMBER);
            continue;
        }
        const Index y = static_cast<Index>(labels[t]), known = clock[0];
        const double row2 = learner.measure(rows, t, known, room.scores);
        if (!finite(row2) || !all_finite(room.scores, known)) return t;
        std::copy_n(room.scores, known, room.logs);
        double *said = scores[t];
        const double fresh = forecast(room.logs, learner.p, {clock.data, clock.size});
        const bool miss = tell_forecast(room.logs, fresh, known, y, said);
        const double loss = -k * said[3];
        if (!finite(st.loss + loss)) return t;
        if (all.rows) {
            std::copy_n(room.logs, known, all[t]);
            std::fill(all[t] + known, all[t] + all.columns, fresh);
        }
        if (known) {
            ++clock[1];
            clock[2] += y >= known;
        }
        if (y >= known) {
            std::fill(room.scores + known, room.scores + y + 1, 0.0);
            clock[0] = y + 1;
        }
        learner.learn(rows, t, k, y, clock[0], room);
        book_class(st, y, miss ? best_but(room.logs, known, y) : y, miss, loss, k, row2, tables);
        ++st.updates;
        ++st.rounds;
        if (st.rounds == st.trace_next) record_trace(st, 0);
    }
    return labels.size;
}

// Softmax regression with a step for every weight: w_k,i ← w_k,i − η·g/√Σg² with g = c·(p_k − [k = y])·x_i.
struct Softmax {
    ClassWeights<double> w;
    Table<double> squares;  // Σg², as the weights
    Line<double> bias_squares;
    double eta;
    double *p;  // room for every class

    template <class R> double measure(const R &rows, Index t, Index known, double *s) const {
        const double row2 = class_square(rows, t, w);
        if (finite(row2)) class_scores(rows, t, w, known, {s, bias_squares.size});
        return row2;
    }

    void step(double x, Index classes, double *weights, double *sums) const {
        const Four by = everywhere(x), rate = everywhere(eta);
        for (Index k = 0; k < classes; k += 4) {
            const Four g = by * load(p + k), sum = load(sums + k) + g * g, root = sqrt_of(sum);
            store(sum, sums + k);
            store(load(weights + k) - (root > Four{} ? rate * g / root : Four{}), weights + k);
        }
    }

    template <class R> void learn(const R &rows, Index t, double c, Index y, Index known, const ForecastRoom &room) const {
        softmax(room.scores, known, p, room.size);
        p[y] -= 1.0;
        for (Index k = 0; k < known; ++k) p[k] *= c;
        each_entry(rows, t, [&](Index i, double x) {
            if (x != 0.0) step(x, known, w.z[i], squares[i]);
        });
        if (w.bias != 0.0) step(w.bias, known, w.biases.data, bias_squares.data);
    }
};

// Softmax regression by Newton steps with one matrix for all classes: H = aI + Σ c·h·x·xᵀ, h the mean over the classes of
// p_k(1 − p_k), at least LEAST_CURVATURE; w_k ← w_k − H⁻¹x·c·(p_k − [k = y]), the row being in H. Θ(d² + d·classes).
//
// What it forecasts with are not the scores z but e^θ·z: the temperature e^−θ steps by its own gradient.
constexpr double TEMPERATURE_STEP = 0.1, LARGEST_TEMPERATURE = 3.0;

struct SoftmaxNewton {
    ClassWeights<double> w;  // rows for all features of the matrix
    Matrices M;
    double ridge;
    double *raw;  // room for every class: z of the round
    double *heat;  // θ and the sum of its squared gradients
    Index *updates;
    double *p;

    Index shift() const { return w.bias != 0.0; }

    template <class R> double measure(const R &rows, Index t, Index known, double *s) const {
        const double row2 = class_square(rows, t, w), by = exp_of(heat[0]);
        if (!finite(row2 / ridge / ridge + row2)) return NOT_A_NUMBER;
        class_scores(rows, t, w, known, {raw, w.biases.size});
        std::fill(raw + known, raw + w.biases.size, 0.0);  // a class that may be new
        for (Index k = 0; k < known; ++k) s[k] = by * raw[k];
        return row2;
    }

    void warm(const double *s, Index y, Index known) const {
        double slope = -s[y];
        for (Index k = 0; k < known; ++k) slope += p[k] * s[k];
        if (!finite(slope * slope)) return;
        heat[1] += slope * slope;
        if (heat[1] > 0.0) heat[0] = clipped(heat[0] - TEMPERATURE_STEP * slope / std::sqrt(heat[1]), LARGEST_TEMPERATURE);
    }

    static void step(double x, Index classes, const double *slopes, double *weights) {
        const Four by = everywhere(x);
        for (Index k = 0; k < classes; k += 4) store(load(weights + k) - by * load(slopes + k), weights + k);
    }

    template <class R> void learn(const R &rows, Index t, double c, Index y, Index known, const ForecastRoom &room) const {
        softmax(room.scores, known, p, room.size);
        warm(room.scores, y, known);
        softmax(raw, known, p, room.size);
        double spread = 0.0;
        for (Index k = 0; k < known; ++k) spread += p[k] * (1.0 - p[k]);
        const double h = c * higher(spread / static_cast<double>(known), LEAST_CURVATURE);
        multiply(rows, t, shift(), M);
        const double inner = higher(along(rows, t, shift(), M.q), 0.0), share = 1.0 / (1.0 + h * inner);
        p[y] -= 1.0;
        for (Index k = 0; k < known; ++k) p[k] *= c * share;
        for (Index i = shift(); i < M.n; ++i) step(M.q[i], known, p, w.z[i - shift()]);
        if (shift()) step(M.q[0], known, p, w.biases.data);
        add_outer(rows, t, shift(), h, M.A);
        subtract_outer(h * share, M.q, M.n, M.B);
        if (is_due(++*updates, h * inner)) invert(M.A, M.n, ridge, M.B, M.q);
    }
};

// The labels alone: p(k) = (n_k + ½)/(n + K/2) for the K classes known, from the n labels so far, of order 1 from those
// that came after the same label. A row of weight c counts c times.
struct Succession {
    Table<double> counts;  // of order 1 a row for the start and one for every class; a column a class
    Index *last;           // the row of `counts` that is looked at next
    bool follows;          // order 1
    double bias;
    double *p;

    template <class R> double measure(const R &rows, Index t, Index known, double *s) const {
        double row2 = bias;
        each_entry(rows, t, [&](Index, double x) { row2 += x * x; });
        for (Index k = 0; k < known; ++k) s[k] = log_of(counts(*last, k) + 0.5);
        return row2;
    }

    template <class R> void learn(const R &, Index, double c, Index y, Index, const ForecastRoom &) const {
        counts(*last, y) += c;
        if (follows) *last = y + 1;
    }
};

}  // namespace noregret
