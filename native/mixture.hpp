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
//
// Where labels come late, `said` is what the members said when the row came, and five rows behind those of the members
// hold what the tops said then (NaN: nothing): by that the tops are judged, and mixed, while each learns from its fresh
// forecast.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "forecasts.hpp"
#include "history.hpp"
#include "rounds.hpp"

namespace noregret {

enum Top : int { BAYES, SHARE_ANYTIME, SHARE_CONSTANT, LOGIT_SLOW, LOGIT_FAST, TOPS };

constexpr Index SWITCHES = 8;        // of the best sequence of members, at the most
constexpr Index MEMBER_COLUMNS = 6 + SWITCHES + 1, TOP_COLUMNS = 3;

// What is kept of a member: ln π, L, its weight in each of the four other tops, and what the best sequence of members
// that ends with this one has lost, by its number of switches.
struct Member {
    double log_prior, loss, shared[2], mixed[2], sequence[SWITCHES + 1];
};

struct TopState {
    double log_prior, loss;
    double lag;  // what it lost more because it had to speak before the labels in between came
};

// A step of the sharing tops and of the logit tops, and what ε is multiplied by.
struct Mixing {
    double share, slow, fast, caution;
};

struct Pool {
    Member *members;
    TopState *tops;
    Index n;
    Mixing mixing;
};

inline Index whole_fours(Index n) { return (n + 3) / 4 * 4; }

// A pool as its rounds work on it: a line for every number that is kept of a member, four members at a time. Those awake
// come first; lines are filled up to whole fours, and of what is not awake p is 0, and so is its weight in every sum.
class Bench {
public:
    const Pool &pool;
    const Index lanes;
    Index classes;
    double *p, *logs;  // what the members say, class after class, and its logarithms
    double *weights;   // Bayes' weights; once a label has come, what each has lost by it
    double *log_prior, *loss, *shared[2], *mixed[2], *sequence[SWITCHES + 1];
    double *said, *forecast;  // by the tops, class after class, and by the mixture
    double *early;            // by the tops when the row came, if `foretold`
    bool foretold = false;
    double shares[TOPS] = {};
    Index awake = 0;

    Bench(const Pool &given, Index most)
        : pool(given), lanes(whole_fours(given.n)), classes(most), space_(static_cast<std::size_t>(lanes * (2 * most + 16) + (2 * TOPS + 1) * most)),
          who_(static_cast<std::size_t>(given.n)) {
        double *next = space_.data();
        const auto take = [&](Index size) { return std::exchange(next, next + size); };
        p = take(lanes * most), logs = take(lanes * most), weights = take(lanes), log_prior = take(lanes), loss = take(lanes);
        for (int which = 0; which < 2; ++which) shared[which] = take(lanes), mixed[which] = take(lanes);
        for (double *&line : sequence) line = take(lanes);
        said = take(TOPS * most), forecast = take(most), early = take(TOPS * most);
    }

    // The members are awake whose numbers are any: they come first, in their own order. `numbers(i)` is a number of each.
    template <class Numbers> void wake(Numbers numbers) {
        Index count = 0;
        bool same = loaded_;
        for (Index i = 0; i < pool.n; ++i) {
            if (numbers(i) != numbers(i)) continue;
            same = same && count < awake && who_[static_cast<std::size_t>(count)] == i;
            ++count;
        }
        if (same && count == awake) return;
        give_back();
        awake = count;
        Index first = 0, last = count;
        for (Index i = 0; i < pool.n; ++i) who_[static_cast<std::size_t>(numbers(i) == numbers(i) ? first++ : last++)] = i;
        load();
    }

    // The probabilities of the tops that count: those of when the row came, or their own of now.
    const double *judged() const { return foretold ? early : said; }

    Index member(Index lane) const { return who_[static_cast<std::size_t>(lane)]; }
    Index working() const { return whole_fours(awake); }  // lanes in which somebody is awake

    // What was learned goes back to the members.
    void give_back() {
        for (Index s = 0; loaded_ && s < pool.n; ++s) {
            Member &one = pool.members[member(s)];
            one.loss = loss[s];
            for (int which = 0; which < 2; ++which) one.shared[which] = shared[which][s], one.mixed[which] = mixed[which][s];
            for (Index j = 0; j <= SWITCHES; ++j) one.sequence[j] = sequence[j][s];
        }
    }

private:
    void load() {
        loaded_ = true;
        for (Index s = 0; s < lanes; ++s) {
            const Member one = s < pool.n ? pool.members[member(s)] : Member{};
            log_prior[s] = one.log_prior, loss[s] = one.loss;
            for (int which = 0; which < 2; ++which) shared[which][s] = one.shared[which], mixed[which][s] = one.mixed[which];
            for (Index j = 0; j <= SWITCHES; ++j) sequence[j][s] = s < pool.n ? one.sequence[j] : INFINITE;
        }
    }

    std::vector<double> space_;
    std::vector<Index> who_;
    bool loaded_ = false;
};

inline double doubt(const Pool &pool, Index round) {
    const double t = static_cast<double>(round) + 2.0;
    return pool.mixing.caution / (t * t);
}

// A logistic score as two probabilities, each to its own last digits.
[[gnu::always_inline]] inline void halves(Four z, double *minus, double *plus) {
    const Four zero{}, e = exp_of(z < zero ? z : -z), large = 1.0 / (1.0 + e), small = e * large;
    store(z < zero ? large : small, minus);
    store(z < zero ? small : large, plus);
}

// Σ a·b over whole fours.
inline double product(const double *a, const double *b, Index size) {
    Four sum{};
    for (Index s = 0; s < size; s += 4) sum += load(a + s) * load(b + s);
    return summed(sum);
}

// p ← p', and their logarithms; 0 where nobody is awake.
inline void temper(Bench &on, Index classes, Index round) {
    const double e = doubt(on.pool, round), rest = e / static_cast<double>(classes);
    for (Index k = 0; k < classes; ++k) {
        double *p = on.p + k * on.lanes, *logs = on.logs + k * on.lanes;
        for (Index s = 0; s < on.working(); s += 4) store((1.0 - e) * load(p + s) + rest, p + s);
        for (Index s = 0; s < on.awake; ++s) logs[s] = log_of(p[s]);
        for (Index s = on.awake; s < on.working(); ++s) p[s] = logs[s] = 0.0;
    }
}

// Bayes' weights of those awake, the heaviest 1 before they are made to sum to 1.
inline void bayes_weights(Bench &on) {
    const Index working = on.working();
    double top = -INFINITE;
    for (Index s = 0; s < on.awake; ++s) top = higher(top, on.log_prior[s] - on.loss[s]);
    for (Index s = 0; s < working; s += 4) store(exp_of(load(on.log_prior + s) - load(on.loss + s) - top), on.weights + s);
    for (Index s = on.awake; s < working; ++s) on.weights[s] = 0.0;
    Four sum{};
    for (Index s = 0; s < working; s += 4) sum += load(on.weights + s);
    const double all = summed(sum);
    for (Index s = 0; s < working; s += 4) store(load(on.weights + s) / all, on.weights + s);
}

// said ← Σ weight·p for every class, divided by their sum.
inline void average(const Bench &on, Index classes, const double *weights, double *said) {
    double sum = 0.0;
    for (Index k = 0; k < classes; ++k) sum += said[k] = product(weights, on.p + k * on.lanes, on.working());
    for (Index k = 0; k < classes; ++k) said[k] /= sum;
}

// said ← softmax of Σ w·ln p, no class below what a member may say at least.
inline void combine(const Bench &on, Index classes, const double *w, double least, double *said) {
    double top = -INFINITE, sum = 0.0;
    for (Index k = 0; k < classes; ++k) top = higher(top, said[k] = product(w, on.logs + k * on.lanes, on.working()));
    for (Index k = 0; k < classes; ++k) sum += said[k] = exp_of(said[k] - top);
    for (Index k = 0; k < classes; ++k) said[k] = said[k] / sum * (1.0 - least) + least / static_cast<double>(classes);
}

// Every top's probabilities, and the mixture's, from what the members say of a round; nothing is learned.
inline void forecast(Bench &on, Index classes, Index round) {
    temper(on, classes, round);
    bayes_weights(on);
    on.classes = classes;
    const double least = doubt(on.pool, round);
    average(on, classes, on.weights, on.said);
    for (int which = 0; which < 2; ++which) {
        average(on, classes, on.shared[which], on.said + (SHARE_ANYTIME + which) * classes);
        combine(on, classes, on.mixed[which], least, on.said + (LOGIT_SLOW + which) * classes);
    }
    const TopState *tops = on.pool.tops;
    double best = -INFINITE, sum = 0.0;
    for (int top = 0; top < TOPS; ++top) best = higher(best, tops[top].log_prior - tops[top].loss);
    for (int top = 0; top < TOPS; ++top) sum += on.shares[top] = exp_of(tops[top].log_prior - tops[top].loss - best);
    for (int top = 0; top < TOPS; ++top) on.shares[top] /= sum;
    for (Index k = 0; k < classes; ++k) {
        double total = 0.0;
        for (int top = 0; top < TOPS; ++top) total += on.shares[top] * on.judged()[top * classes + k];
        on.forecast[k] = total;
    }
}

// v ← what sharing makes of it once class y came true in a round of weight k.
inline void share(Bench &on, Index y, double k, int which, double alpha) {
    const double asleep = on.said[(SHARE_ANYTIME + which) * on.classes + y];
    const double *p = on.p + y * on.lanes;
    double *v = on.shared[which], top = on.awake < on.pool.n ? asleep : 0.0;
    for (Index s = 0; s < on.awake; ++s) top = higher(top, p[s]);
    const auto factor = [&](double heard) { return k == 1.0 ? heard : exp_of(k * (log_of(heard) - log_of(top))); };  // of heavy rounds not all vanish
    for (Index s = 0; s < on.awake; ++s) v[s] *= factor(p[s]);
    const double rest = factor(asleep);
    for (Index s = on.awake; s < on.pool.n; ++s) v[s] *= rest;
    Four whole{};
    for (Index s = 0; s < on.lanes; s += 4) whole += load(v + s);
    const double sum = summed(whole), n = static_cast<double>(on.pool.n);
    if (on.pool.n == 1) alpha = 0.0;
    const double spread = alpha / (n > 1.0 ? n - 1.0 : 1.0);
    for (Index s = 0; s < on.lanes; s += 4) {
        const Four share = load(v + s) / sum;
        store((1.0 - alpha) * share + spread * (1.0 - share), v + s);
    }
    for (Index s = on.pool.n; s < on.lanes; ++s) v[s] = 0.0;
}

// w ← w − rate·k·Σ_c (p(c) − 1[c = y])·ln p'_i(c).
inline void descend(Bench &on, Index y, double k, int which, double rate) {
    const double *said = on.said + (LOGIT_SLOW + which) * on.classes;
    for (Index s = 0; s < on.working(); s += 4) {
        Four slope = -load(on.logs + y * on.lanes + s);
        for (Index c = 0; c < on.classes; ++c) slope += said[c] * load(on.logs + c * on.lanes + s);
        store(load(on.mixed[which] + s) - rate * k * slope, on.mixed[which] + s);
    }
}

// The best sequence of members that ends with each, by its number of switches, after a round of these losses.
inline void lengthen(Bench &on, const double *losses) {
    for (Index j = SWITCHES; j >= 0; --j) {
        Four best = everywhere(INFINITE);
        for (Index s = 0; j > 0 && s < on.lanes; s += 4) best = lower(best, load(on.sequence[j - 1] + s));
        const Four least = everywhere(lower(lower(best[0], best[1]), lower(best[2], best[3])));
        for (Index s = 0; s < on.working(); s += 4) {
            store(lower(load(on.sequence[j] + s), least) + load(losses + s), on.sequence[j] + s);
        }
        std::fill(on.sequence[j] + on.awake, on.sequence[j] + on.lanes, INFINITE);  // no sequence goes through a sleeper
    }
}

// Class y came true in round `round` of weight k: every weight learns it.
inline void absorb(Bench &on, Index y, double k, Index round) {
    const double *logs = on.logs + y * on.lanes, asleep = k * log_of(on.said[y]);
    share(on, y, k, 0, 1.0 / static_cast<double>(round + 1));
    share(on, y, k, 1, on.pool.mixing.share);
    descend(on, y, k, 0, on.pool.mixing.slow);
    descend(on, y, k, 1, on.pool.mixing.fast);
    for (Index s = 0; s < on.awake; ++s) on.loss[s] += on.weights[s] = -k * logs[s];
    for (Index s = on.awake; s < on.pool.n; ++s) on.loss[s] -= asleep;
    lengthen(on, on.weights);
    for (int top = 0; top < TOPS; ++top) {
        const double fresh = log_of(on.said[top * on.classes + y]);
        const double judged = on.foretold ? log_of(on.early[top * on.classes + y]) : fresh;
        on.pool.tops[top].loss -= k * judged;
        on.pool.tops[top].lag += k * (fresh - judged);
    }
}

// The share of every member in the mixture: that of each top times its weight there, among those awake.
inline void shares_of(const Bench &on, double *out) {
    double shared[2] = {}, mixed[2] = {};
    for (Index s = 0; s < on.awake; ++s) {
        for (int which = 0; which < 2; ++which) shared[which] += on.shared[which][s], mixed[which] += higher(on.mixed[which][s], 0.0);
    }
    std::fill_n(out, on.pool.n, 0.0);
    for (Index s = 0; s < on.awake; ++s) {
        double total = on.shares[BAYES] * on.weights[s];
        for (int which = 0; which < 2; ++which) {
            total += on.shares[SHARE_ANYTIME + which] * (on.shared[which][s] / shared[which]);
            if (mixed[which] > 0.0) total += on.shares[LOGIT_SLOW + which] * (higher(on.mixed[which][s], 0.0) / mixed[which]);
        }
        out[on.member(s)] = total;
    }
}

// What the members, and the tops where they are there, say of a round of two classes, a score each.
inline void read_scores(Bench &on, Table<const double> said, Index t) {
    on.foretold = said.rows > on.pool.n && said(on.pool.n, t) == said(on.pool.n, t);
    for (Index top = 0; on.foretold && top < TOPS; ++top) {
        double minus[4], plus[4];
        halves(everywhere(said(on.pool.n + top, t)), minus, plus);
        on.early[2 * top] = minus[0], on.early[2 * top + 1] = plus[0];
    }
    on.wake([&](Index i) { return said(i, t); });
    for (Index s = 0; s < on.working(); s += 4) {
        const auto at = [&](Index lane) { return lane < on.awake ? said(on.member(lane), t) : 0.0; };
        halves(Four{at(s), at(s + 1), at(s + 2), at(s + 3)}, on.p + s, on.p + on.lanes + s);
    }
}

// Rounds of two classes. Column t of `said` is what the members score; rows are the raw ones, on which the mixture's own
// slopes are summed: its regret against any linear model.
template <class R>
Index play_mixture(const R &rows, const Batch &batch, Table<const double> said, const Pool &pool, const History &history, Strided<double> total,
                   Record &record) {
    State &st = record.state;
    const Config &cfg = record.config;
    const Logistic loss_of;
    Bench on(pool, 2);
    const auto stopped = [&](Index t) { return on.give_back(), t; };
    for (Index t = 0; t < batch.count; ++t) {
        const double k = batch.weights ? batch.weights[t] : 1.0, y = batch.labels[t];
        if (k == 0.0) {
            batch.scores[t] = NOT_A_NUMBER;
            continue;
        }
        const double row2 = dot(rows, t, total).square + cfg.bias;
        if (!finite(row2)) return stopped(t);
        read_scores(on, said, t);
        forecast(on, 2, st.rounds + 1);
        const double score = log_of(on.forecast[1]) - log_of(on.forecast[0]);
        const auto [value, slope] = loss_of.both(score, y);
        const double loss = k * value, g = k * slope, total2 = st.gradient2 + g * g * row2;
        if (!(finite(score) && finite(st.loss + loss) && finite(total2))) return stopped(t);
        batch.scores[t] = score;
        book(st, cfg, k, batch.labels, batch.scores, t, row2, loss);
        ++st.rounds;
        st.updates += g != 0.0;
        book_gradient(st, st.rounds, std::sqrt(static_cast<double>(st.rounds)), g * g * row2, total2, g * score);
        add(rows, t, g, total);
        st.bias_gradient += cfg.bias * g;
        keep_shares(history, st.rounds, [&](double *out) { shares_of(on, out); });
        absorb(on, y > 0.0, k, st.rounds);
        if (st.rounds == st.trace_next) record_trace(st, cfg.classify);
        if (st.rounds == st.curve_next) record_curve(st, std::sqrt(norm2(reading(total)) + st.bias_gradient * st.bias_gradient));
    }
    return stopped(batch.count);
}

// What every member says of a round of many classes: a row a class, logarithms up to a constant; NaN if it sleeps.
struct Says {
    const double *numbers;
    Index rounds, classes, voices;  // voices: members, or members and tops

    const double *of(Index member, Index t) const { return numbers + (member * rounds + t) * classes; }
};

// p ← e^logs, made to sum to 1; one of them every `apart` places.
inline void as_probabilities(const double *logs, Index known, double *p, Index apart) {
    double sum = 0.0, top = logs[0];
    for (Index k = 1; k < known; ++k) top = higher(top, logs[k]);
    for (Index k = 0; k < known; ++k) sum += p[k * apart] = exp_of(logs[k] - top);
    for (Index k = 0; k < known; ++k) p[k * apart] /= sum;
}

// The members' probabilities of the classes known, and those of the tops where they are there.
inline void read_classes(const Says &said, Index t, Index known, Bench &on) {
    on.wake([&](Index i) { return *said.of(i, t); });
    for (Index s = 0; s < on.awake; ++s) as_probabilities(said.of(on.member(s), t), known, on.p + s, on.lanes);
    on.foretold = said.voices > on.pool.n && *said.of(on.pool.n, t) == *said.of(on.pool.n, t);
    for (Index top = 0; on.foretold && top < TOPS; ++top) as_probabilities(said.of(on.pool.n + top, t), known, on.early + top * known, 1);
}

// The mixture as a forecaster of many classes: the members share its escape, and nothing is learned from a new class.
struct MixedClasses {
    const Says &said;
    Bench &on;
    const History &history;
    const State &state;
    double *p = nullptr;
    Index known = 0;

    template <class R> double measure(const R &rows, Index t, Index classes, double *s) {
        double row2 = 0.0;
        each_entry(rows, t, [&](Index, double x) { row2 += x * x; });
        known = classes;
        if (!known) return row2;
        read_classes(said, t, known, on);
        noregret::forecast(on, known, state.rounds + 1);
        keep_shares(history, state.rounds + 1, [&](double *out) { shares_of(on, out); });
        for (Index k = 0; k < known; ++k) s[k] = log_of(on.forecast[k]);
        return row2;
    }

    template <class R> void learn(const R &, Index, double c, Index y, Index, const ForecastRoom &) {
        if (y < known) absorb(on, y, c, state.rounds + 1);
    }
};

// ln p of every class for every row, from what the members say of it; nothing is learned. `tops` gets what the tops say.
inline void score_classes(const Says &said, const Pool &pool, Index rounds, Table<double> scores, double *tops) {
    Bench on(pool, scores.columns);
    for (Index t = 0; t < scores.rows; ++t) {
        read_classes(said, t, scores.columns, on);
        forecast(on, scores.columns, rounds + 1);
        for (Index k = 0; k < scores.columns; ++k) scores(t, k) = log_of(on.forecast[k]);
        for (Index i = 0; tops && i < TOPS * scores.columns; ++i) tops[i] = log_of(on.said[i]);
    }
}

// The score of every row, from what the members say of it; nothing is learned. `tops` gets what the tops say.
inline void score_mixture(Table<const double> said, const Pool &pool, Index rounds, Line<double> scores, double *tops) {
    Bench on(pool, 2);
    for (Index t = 0; t < scores.size; ++t) {
        read_scores(on, said, t);
        forecast(on, 2, rounds + 1);
        scores[t] = log_of(on.forecast[1]) - log_of(on.forecast[0]);
        for (Index top = 0; tops && top < TOPS; ++top) tops[top] = log_of(on.said[2 * top + 1]) - log_of(on.said[2 * top]);
    }
}

}  // namespace noregret
