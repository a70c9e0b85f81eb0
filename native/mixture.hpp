// The mixture of a pool of members, each of which gives a probability to every class; the one that comes true is
// lost as −ln p.
//
// A member's p counts as p' = (1 − ε)p + ε/K with ε = 1/(t + 2)² in round t = 1, 2, … and K classes: no loss is
// infinite, and −Σ ln(1 − ε) < ln(3/2) is all that this can ever cost a member. Five experts on the members ("tops") are
// mixed by Bayes' rule:
//   Bayes:   v_i ∝ π_i·e^(−L_i), L_i what member i has lost; −ln Σ π_i·e^(−L_i) is exactly what it loses itself.
//   Sharing: v_i ← v_i·p'_i(y), made to sum to 1, then (1 − α)v_i + α/(n − 1)·(1 − v_i) (Herbster & Warmuth 1998), with
//            α = 1/(t + 1), which needs no tuning, and with a constant α.
//   Logit:   p(k) ∝ exp Σ w_i ln p'_i(k), w by gradient descent on −ln p(y), at two rates.
// A member that sleeps (its first number is NaN) says what each top says without it: its L and its weights go on with
// that, and what is promised of it is promised of the rounds in which it is awake.
#pragma once

#include <algorithm>
#include <cmath>

#include "forecasts.hpp"
#include "history.hpp"
#include "rounds.hpp"

namespace noregret {

enum Top : int { BAYES, SHARE_ANYTIME, SHARE_CONSTANT, LOGIT_SLOW, LOGIT_FAST, TOPS };

constexpr Index SWITCHES = 8;        // of the best sequence of members, at the most
constexpr Index MEMBER_COLUMNS = 6 + SWITCHES + 1, TOP_COLUMNS = 2;

// What is kept of a member: ln π, L, its weight in each of the four other tops, and what the best sequence of members
// that ends with this one has lost, by its number of switches.
struct Member {
    double log_prior, loss, shared[2], mixed[2], sequence[SWITCHES + 1];
};

struct TopState {
    double log_prior, loss;
};

// A step of the sharing tops and of the logit tops, and what ε is multiplied by.
struct Mixing {
    double share, slow, fast, caution;
};

// Room for one round: what the members say, class after class, its logarithms, Bayes' weights, what the tops say.
struct Pool {
    Member *members;
    TopState *tops;
    Index n;
    Mixing mixing;
};

struct MixRoom {
    double *p, *logs, *weights, *said, *mixed;  // K·n, K·n, n, TOPS·K, K
    double shares[TOPS];                        // of the tops
    static Index size(Index n, Index classes) { return 2 * n * classes + n + TOPS * classes + classes; }
    static MixRoom in(double *room, Index n, Index classes) {
        double *logs = room + n * classes, *weights = logs + n * classes, *said = weights + n;
        return {room, logs, weights, said, said + TOPS * classes, {}};
    }
};

inline double doubt(const Pool &pool, Index round) {
    const double t = static_cast<double>(round) + 2.0;
    return pool.mixing.caution / (t * t);
}

inline bool awake(const MixRoom &room, Index i) { return room.p[i] == room.p[i]; }

// A logistic score as two probabilities, each to its own last digits; NaN stays.
inline void halves(double z, double &minus, double &plus) {
    const double e = exp_of(z < 0.0 ? z : -z), large = 1.0 / (1.0 + e), small = e * large;
    minus = z < 0.0 ? large : small;
    plus = z < 0.0 ? small : large;
    if (z != z) minus = plus = NOT_A_NUMBER;
}

// p ← p', and their logarithms; a sleeper's are 0, so that it adds nothing.
inline void temper(const Pool &pool, MixRoom &room, Index classes, Index round) {
    const Index n = pool.n;
    const double e = doubt(pool, round), rest = e / static_cast<double>(classes);
    for (Index j = 0; j < n * classes; ++j) {
        if (room.p[j] != room.p[j]) {
            room.logs[j] = 0.0;
            continue;
        }
        room.p[j] = (1.0 - e) * room.p[j] + rest;
        room.logs[j] = log_of(room.p[j]);
    }
}

// Bayes' weights of those awake, the heaviest 1 before they are made to sum to 1.
inline void bayes_weights(const Pool &pool, const MixRoom &room) {
    double top = -INFINITE, sum = 0.0;
    for (Index i = 0; i < pool.n; ++i) {
        if (awake(room, i)) top = higher(top, pool.members[i].log_prior - pool.members[i].loss);
    }
    for (Index i = 0; i < pool.n; ++i) {
        const double found = awake(room, i) ? exp_of(pool.members[i].log_prior - pool.members[i].loss - top) : 0.0;
        room.weights[i] = found;
        sum += found;
    }
    for (Index i = 0; i < pool.n; ++i) room.weights[i] /= sum;
}

// said ← Σ weight·p over those awake, for every class; divided by their sum.
template <class Weight> void average(const MixRoom &room, Index n, Index classes, double *said, Weight weight) {
    double sum = 0.0;
    for (Index k = 0; k < classes; ++k) {
        double total = 0.0;
        for (Index i = 0; i < n; ++i) total += awake(room, i) ? weight(i) * room.p[k * n + i] : 0.0;
        said[k] = total;
        sum += total;
    }
    for (Index k = 0; k < classes; ++k) said[k] /= sum;
}

// said ← softmax of Σ w·ln p, no class below what a member may say at least.
inline void combine(const Pool &pool, const MixRoom &room, Index classes, int which, double least, double *said) {
    double top = -INFINITE, sum = 0.0;
    for (Index k = 0; k < classes; ++k) {
        double total = 0.0;
        for (Index i = 0; i < pool.n; ++i) total += pool.members[i].mixed[which] * room.logs[k * pool.n + i];
        said[k] = total;
        top = higher(top, total);
    }
    for (Index k = 0; k < classes; ++k) sum += said[k] = exp_of(said[k] - top);
    for (Index k = 0; k < classes; ++k) said[k] = said[k] / sum * (1.0 - least) + least / static_cast<double>(classes);
}

// Every top's probabilities, and the mixture's, from what the members say of a round; nothing is learned.
inline void forecast(const Pool &pool, MixRoom &room, Index classes, Index round) {
    temper(pool, room, classes, round);
    bayes_weights(pool, room);
    const double least = doubt(pool, round);
    average(room, pool.n, classes, room.said, [&](Index i) { return room.weights[i]; });
    for (int which = 0; which < 2; ++which) {
        average(room, pool.n, classes, room.said + (SHARE_ANYTIME + which) * classes, [&](Index i) { return pool.members[i].shared[which]; });
        combine(pool, room, classes, which, least, room.said + (LOGIT_SLOW + which) * classes);
    }
    double best = -INFINITE, sum = 0.0;
    for (int top = 0; top < TOPS; ++top) best = higher(best, pool.tops[top].log_prior - pool.tops[top].loss);
    for (int top = 0; top < TOPS; ++top) sum += room.shares[top] = exp_of(pool.tops[top].log_prior - pool.tops[top].loss - best);
    for (int top = 0; top < TOPS; ++top) room.shares[top] /= sum;
    for (Index k = 0; k < classes; ++k) {
        double total = 0.0;
        for (int top = 0; top < TOPS; ++top) total += room.shares[top] * room.said[top * classes + k];
        room.mixed[k] = total;
    }
}

// v ← what sharing makes of it once class y came true in a round of weight k.
inline void share(const Pool &pool, const MixRoom &room, Index classes, Index y, double k, int which, double alpha) {
    const double asleep = room.said[(SHARE_ANYTIME + which) * classes + y];
    const auto said = [&](Index i) { return awake(room, i) ? room.p[y * pool.n + i] : asleep; };
    double sum = 0.0, top = 0.0;
    for (Index i = 0; i < pool.n; ++i) top = higher(top, said(i));
    for (Index i = 0; i < pool.n; ++i) {
        double &v = pool.members[i].shared[which];
        v *= k == 1.0 ? said(i) : exp_of(k * (log_of(said(i)) - log_of(top)));  // of heavy rounds not all may vanish
        sum += v;
    }
    if (pool.n == 1) alpha = 0.0;
    const double spread = alpha / static_cast<double>(pool.n > 1 ? pool.n - 1 : 1);
    for (Index i = 0; i < pool.n; ++i) {
        double &v = pool.members[i].shared[which];
        v /= sum;
        v = (1.0 - alpha) * v + spread * (1.0 - v);
    }
}

// w ← w − rate·k·Σ_c (p(c) − 1[c = y])·ln p'_i(c).
inline void descend(const Pool &pool, const MixRoom &room, Index classes, Index y, double k, int which, double rate) {
    const double *said = room.said + (LOGIT_SLOW + which) * classes;
    for (Index i = 0; i < pool.n; ++i) {
        double slope = -room.logs[y * pool.n + i];
        for (Index c = 0; c < classes; ++c) slope += said[c] * room.logs[c * pool.n + i];
        pool.members[i].mixed[which] -= rate * k * slope;
    }
}

// The best sequence of members that ends with each, by its number of switches, after a round of these losses.
inline void lengthen(const Pool &pool, const double *losses) {
    for (Index j = SWITCHES; j >= 0; --j) {
        double least = INFINITE;
        for (Index i = 0; j > 0 && i < pool.n; ++i) least = lower(least, pool.members[i].sequence[j - 1]);
        for (Index i = 0; i < pool.n; ++i) pool.members[i].sequence[j] = lower(pool.members[i].sequence[j], least) + losses[i];
    }
}

// Class y came true in round `round` of weight k: every weight learns it.
inline void absorb(const Pool &pool, MixRoom &room, Index classes, Index y, double k, Index round) {
    const double asleep = log_of(room.said[y]);
    share(pool, room, classes, y, k, 0, 1.0 / static_cast<double>(round + 1));
    share(pool, room, classes, y, k, 1, pool.mixing.share);
    descend(pool, room, classes, y, k, 0, pool.mixing.slow);
    descend(pool, room, classes, y, k, 1, pool.mixing.fast);
    for (Index i = 0; i < pool.n; ++i) {
        const double lost = -k * (awake(room, i) ? room.logs[y * pool.n + i] : asleep);
        pool.members[i].loss += lost;
        room.weights[i] = awake(room, i) ? lost : INFINITE;  // no sequence goes through a sleeper
    }
    lengthen(pool, room.weights);
    for (int top = 0; top < TOPS; ++top) pool.tops[top].loss -= k * log_of(room.said[top * classes + y]);
}

// The share of every member in the mixture: that of each top times its weight there, among those awake.
inline void shares_of(const Pool &pool, const MixRoom &room, double *out) {
    double shared[2] = {}, mixed[2] = {};
    for (Index i = 0; i < pool.n; ++i) {
        for (int which = 0; awake(room, i) && which < 2; ++which) {
            shared[which] += pool.members[i].shared[which];
            mixed[which] += higher(pool.members[i].mixed[which], 0.0);
        }
    }
    for (Index i = 0; i < pool.n; ++i) {
        double total = room.shares[BAYES] * room.weights[i];
        for (int which = 0; awake(room, i) && which < 2; ++which) {
            total += room.shares[SHARE_ANYTIME + which] * (pool.members[i].shared[which] / shared[which]);
            if (mixed[which] > 0.0) total += room.shares[LOGIT_SLOW + which] * (higher(pool.members[i].mixed[which], 0.0) / mixed[which]);
        }
        out[i] = total;
    }
}

// Rounds of two classes. Column t of `said` is what the members score; rows are the raw ones, on which the mixture's own
// slopes are summed: its regret against any linear model.
template <class R>
Index play_mixture(const R &rows, const Batch &batch, Table<const double> said, const Pool &pool, const History &history, double *space,
                   Strided<double> total, Record &record) {
    State &st = record.state;
    const Config &cfg = record.config;
    const Logistic loss_of;
    MixRoom room = MixRoom::in(space, pool.n, 2);
    for (Index t = 0; t < batch.count; ++t) {
        const double k = batch.weights ? batch.weights[t] : 1.0, y = batch.labels[t];
        if (k == 0.0) {
            batch.scores[t] = NOT_A_NUMBER;
            continue;
        }
        const double row2 = dot(rows, t, total).square + cfg.bias;
        if (!finite(row2)) return t;
        for (Index i = 0; i < pool.n; ++i) halves(said(i, t), room.p[i], room.p[pool.n + i]);
        forecast(pool, room, 2, st.rounds + 1);
        const double score = log_of(room.mixed[1]) - log_of(room.mixed[0]);
        const auto [value, slope] = loss_of.both(score, y);
        const double loss = k * value, g = k * slope, total2 = st.gradient2 + g * g * row2;
        if (!(finite(score) && finite(st.loss + loss) && finite(total2))) return t;
        batch.scores[t] = score;
        book(st, cfg, k, batch.labels, batch.scores, t, row2, loss);
        ++st.rounds;
        st.updates += g != 0.0;
        book_gradient(st, st.rounds, std::sqrt(static_cast<double>(st.rounds)), g * g * row2, total2, g * score);
        add(rows, t, g, total);
        st.bias_gradient += cfg.bias * g;
        keep_shares(history, st.rounds, [&](double *out) { shares_of(pool, room, out); });
        absorb(pool, room, 2, y > 0.0, k, st.rounds);
        if (st.rounds == st.trace_next) record_trace(st, cfg.classify);
        if (st.rounds == st.curve_next) record_curve(st, std::sqrt(norm2(reading(total)) + st.bias_gradient * st.bias_gradient));
    }
    return batch.count;
}

// What every member says of a round of many classes: a row a class, logarithms up to a constant; NaN if it sleeps.
struct Says {
    const double *numbers;
    Index rounds, classes;

    const double *of(Index member, Index t) const { return numbers + (member * rounds + t) * classes; }
};

// The members' probabilities of the classes known.
inline void read_classes(const Says &said, const Pool &pool, Index t, Index known, MixRoom &room) {
    for (Index i = 0; i < pool.n; ++i) {
        const double *logs = said.of(i, t);
        double *p = room.p + i, sum = 0.0, top = logs[0];
        for (Index k = 1; k < known; ++k) top = higher(top, logs[k]);
        for (Index k = 0; k < known; ++k) sum += p[k * pool.n] = logs[0] == logs[0] ? exp_of(logs[k] - top) : NOT_A_NUMBER;
        for (Index k = 0; k < known; ++k) p[k * pool.n] /= sum;
    }
}

// The mixture as a forecaster of many classes: the members share its escape, and nothing is learned from a new class.
struct MixedClasses {
    const Says &said;
    const Pool &pool;
    const History &history;
    double *space;
    const State &state;
    double *p = nullptr;
    Index known = 0;

    MixRoom room() const { return MixRoom::in(space, pool.n, known); }

    template <class R> double measure(const R &rows, Index t, Index classes, double *s) {
        double row2 = 0.0;
        each_entry(rows, t, [&](Index, double x) { row2 += x * x; });
        known = classes;
        if (!known) return row2;
        MixRoom here = room();
        read_classes(said, pool, t, known, here);
        forecast(pool, here, known, state.rounds + 1);
        keep_shares(history, state.rounds + 1, [&](double *out) { shares_of(pool, here, out); });
        for (Index k = 0; k < known; ++k) s[k] = log_of(here.mixed[k]);
        std::copy_n(here.shares, TOPS, shares);
        return row2;
    }

    template <class R> void learn(const R &, Index, double c, Index y, Index, const ForecastRoom &) {
        if (y >= known) return;
        MixRoom here = room();
        std::copy_n(shares, TOPS, here.shares);
        absorb(pool, here, known, y, c, state.rounds + 1);
    }

    double shares[TOPS] = {};
};

// ln p of every class for every row, from what the members say of it; nothing is learned.
inline void score_classes(const Says &said, const Pool &pool, Index rounds, double *space, Table<double> scores) {
    MixRoom room = MixRoom::in(space, pool.n, scores.columns);
    for (Index t = 0; t < scores.rows; ++t) {
        read_classes(said, pool, t, scores.columns, room);
        forecast(pool, room, scores.columns, rounds + 1);
        for (Index k = 0; k < scores.columns; ++k) scores(t, k) = log_of(room.mixed[k]);
    }
}

// The score of every row, from what the members say of it; nothing is learned.
inline void score_mixture(Table<const double> said, const Pool &pool, Index rounds, double *space, Line<double> scores) {
    MixRoom room = MixRoom::in(space, pool.n, 2);
    for (Index t = 0; t < scores.size; ++t) {
        for (Index i = 0; i < pool.n; ++i) halves(said(i, t), room.p[i], room.p[pool.n + i]);
        forecast(pool, room, 2, rounds + 1);
        scores[t] = log_of(room.mixed[1]) - log_of(room.mixed[0]);
    }
}

}  // namespace noregret
