// Following experts: weights from cumulative losses, the forecast, what it lost, the update.
//
// One loop serves plain costs and forecasts, one round and a million. Row t·n + i of `given` is what expert i of n says
// in round t: its cost, its forecast or its probabilities; NaN in its first number says that it sleeps. Cumulative
// losses are pairs, sums in the first row of a table and what they lost in rounding in the second, so that differences
// stay right after 10⁹ of accumulated loss; weights are taken from these differences to the leader, so that they neither
// under- nor overflow. Sums over the experts are taken in four parts by place.
#pragma once

#include <cmath>

#include "functions.hpp"
#include "rows.hpp"
#include "vector.hpp"

namespace noregret {

enum class ExpertRule : int { constant, anytime, doubling, adaptive, sharing, gradient };  // how weights are made from losses
enum class ExpertLoss : int { costs, squared, absolute, log, zero_one, brier };            // what a forecast loses

constexpr double WEIGHTLESS = 700.0;  // a weight of e to the minus this is none
constexpr double TIE = 1e-12;         // leaders are those behind by no more than this part of the least sum: decimals add up only nearly

// Sums that keep what they lose in rounding.
struct Pairs {
    double *sum, *rest;
    Index size;

    explicit Pairs(Table<double> table) : sum(table[0]), rest(table[1]), size(table.columns) {}

    // What a sum would be after adding x (Knuth); of an infinity nothing is kept.
    struct One {
        double sum, rest;
    };
    One plus(Index i, double x) const {
        const double a = sum[i], s = a + x, b = s - a;
        return {s, rest[i] + ((a - (s - b)) + (x - b))};
    }

    void add(Index i, double x) const {
        const One found = plus(i, x);
        sum[i] = found.sum;
        rest[i] = finite(found.sum) ? found.rest : 0.0;
    }

    // Every sum plus its x.
    void add_all(const double *x) const {
        Index i = 0;
        for (; i + 4 <= size; i += 4) {
            const Four a = load(sum + i), more = load(x + i), s = a + more, b = s - a;
            const Four kept = load(rest + i) + ((a - (s - b)) + (more - b));
            store(s, sum + i);
            store(s - s == Four{} ? kept : Four{}, rest + i);
        }
        for (; i < size; ++i) add(i, x[i]);
    }

    double apart(Index i, Index j) const { return (sum[i] - sum[j]) + (rest[i] - rest[j]); }

    // The same once both have borne their costs.
    double apart_after(const double *costs, Index i, Index j) const {
        const One one = plus(i, costs[i]), other = plus(j, costs[j]);
        return (one.sum - other.sum) + (one.rest - other.rest);
    }

    double value(Index i) const { return sum[i] + rest[i]; }
};

// Where experts stand between two rounds: `totals` are their losses (a sleeper suffers the blend's own), `since` those
// of this period of a doubling run, or the linearised ones of a gradient run, `shared` the weights of a sharing one;
// `clock` is (rounds, period); `sums` are the blend's loss and Δ.
struct Experts {
    Pairs totals, since;
    double *shared;
    Index *clock;
    Pairs sums;

    Index count() const { return totals.size; }
    double gap() const { return sums.value(1); }
};

// How weights are made: the rate in units of one over a cost, how much weight is shared, and what an adaptive rule
// takes for a rounding as long as it has gathered nothing.
struct Weighing {
    ExpertRule rule;
    double rate, share, least;

    bool adapts() const { return rule == ExpertRule::adaptive || rule == ExpertRule::gradient; }
    bool anew() const { return rule == ExpertRule::doubling || rule == ExpertRule::gradient; }  // whether weights are made from `since`

    // η of a round.
    double eta(Index round, Index period, double gap) const {
        if (rule == ExpertRule::anytime) return rate / std::sqrt(double(round));
        if (rule == ExpertRule::doubling) return rate / std::sqrt(double(period));
        if (adapts()) return gap > 0.0 ? rate / gap : INFINITE;
        return rate;
    }
};

// What is needed for a round, `n` of each: who is awake, costs, weights.
struct RoundRoom {
    bool *awake;
    double *costs, *q;
};

// The first of those awake whose sum is least, −1 where all sleep; awake is null where all are.
inline Index leader(const Pairs &pairs, const bool *awake) {
    Index best = 0;
    while (awake && best < pairs.size && !awake[best]) ++best;
    if (best == pairs.size) return -1;
    double sum = pairs.sum[best], rest = pairs.rest[best];
    for (Index i = best + 1; i < pairs.size; ++i) {
        if ((pairs.sum[i] - sum) + (pairs.rest[i] - rest) < 0.0 && (!awake || awake[i])) {
            best = i, sum = pairs.sum[i], rest = pairs.rest[i];
        }
    }
    return best;
}

// q ← q/Σq over those awake, 0 elsewhere; all 0 where they weigh nothing.
inline void normalise(Index n, const bool *awake, double *q) {
    if (awake) {
        for (Index i = 0; i < n; ++i) q[i] = awake[i] ? q[i] : 0.0;
    }
    const double total = sum_in_fours(n, [line = Line<const double>{q, n}](Index i, auto one) { return at<decltype(one)>(line, i); });
    if (!(total > 0.0)) return;  // where all who are awake have lost an infinity
    Index i = 0;
    for (; i + 4 <= n; i += 4) store(load(q + i) / total, q + i);
    for (; i < n; ++i) q[i] /= total;
}

// q ∝ exp(−η·sum) over those awake; for an infinite η equal weights on the leaders.
inline void weigh(const Pairs &pairs, double eta, const bool *awake, double *q) {
    const Index n = pairs.size, best = leader(pairs, awake);
    if (best < 0) {
        for (Index i = 0; i < n; ++i) q[i] = 0.0;
        return;
    }
    if (std::isinf(eta)) {
        const double near = TIE * std::fabs(pairs.sum[best]);
        for (Index i = 0; i < n; ++i) q[i] = pairs.apart(i, best) <= near ? 1.0 : 0.0;
    } else {
        const double high = pairs.sum[best], low = pairs.rest[best];
        const auto weight = [&](auto sum, auto rest) __attribute__((always_inline)) {
            using N = decltype(sum);
            const N none{}, x = -eta * ((sum - high) + (rest - low));
            return x > none - WEIGHTLESS ? exp_of(lower(higher(x, none - WEIGHTLESS), none)) : none;  // NaN weighs nothing
        };
        Index i = 0;
        for (; i + 4 <= n; i += 4) store(weight(load(pairs.sum + i), load(pairs.rest + i)), q + i);
        for (; i < n; ++i) q[i] = weight(pairs.sum[i], pairs.rest[i]);
    }
    normalise(n, awake, q);
}

// 1/(k + 2)! for the terms of (eˣ − 1 − x)/x².
constexpr int SERIES = 18;
constexpr auto INVERSE_FACTORIALS = [] {
    struct {
        double of[SERIES];
    } found{};
    double factorial = 1.0;
    for (int k = 0; k < SERIES; ++k) found.of[k] = 1.0 / (factorial *= k + 2);
    return found;
}();

// eˣ − 1 − x, which is never negative, without cancellation.
template <class N> [[gnu::always_inline]] inline N series_beyond_linear(N x) {
    N sum = N{} + INVERSE_FACTORIALS.of[SERIES - 1];
    for (int k = SERIES - 2; k >= 0; --k) sum = sum * x + INVERSE_FACTORIALS.of[k];
    return sum * x * x;
}
inline double beyond_linear(double x) { return std::fabs(x) < 1.0 ? series_beyond_linear(x) : exp_of(x) - 1.0 - x; }
inline Four beyond_linear(Four x) {
    const auto near = (x < everywhere(1.0)) & (x > everywhere(-1.0));
    const Four series = series_beyond_linear(x);
    if (near[0] & near[1] & near[2] & near[3]) return series;
    return near ? series : exp_of(x) - 1.0 - x;
}

// Σ p·cost + ln(Σ p·exp(−η·cost))/η, p ∝ exp(−η·base): how far the exponential mean lies below the mean.
//
// Costs are taken from that of the leader, so that those that differ in their last figures alone still differ. Where eˣ
// would grow without bound, the second sum is taken from who leads after the round, whose weight before it may have been
// too small for a float. For an infinite η no more than `least` counts as nothing.
inline double mixability(const Pairs &base, const double *p, const double *costs, double eta, double least) {
    const Index n = base.size, best = leader(base, nullptr);
    Index ahead = best;
    Pairs::One leads = base.plus(best, costs[best]);
    double mean = 0.0, low = 0.0;
    for (Index i = 0; i < n; ++i) {
        const double more = costs[i] - costs[best];
        mean += p[i] * more;
        low = lower(low, more);
        const Pairs::One after = base.plus(i, costs[i]);
        if ((after.sum - leads.sum) + (after.rest - leads.rest) < 0.0) ahead = i, leads = after;
    }
    const double far = mean - base.apart_after(costs, ahead, best);
    if (std::isinf(eta)) return far > least ? far : 0.0;
    if (eta * (mean - low) > 30.0) {
        const double before = sum_by_place(n, [&](Index i) { return exp_of(-eta * base.apart(i, best)); });
        const double after = sum_by_place(n, [&](Index i) { return exp_of(-eta * base.apart_after(costs, i, ahead)); });
        return far + log_of(after / before) / eta;
    }
    const Line<const double> weights{p, n}, lost{costs, n};
    const double first = costs[best];
    const double total = sum_in_fours(n, [&](Index i, auto one) __attribute__((always_inline)) {
        using N = decltype(one);
        const N weight = at<N>(weights, i);
        return weight > N{} ? weight * beyond_linear(-eta * ((at<N>(lost, i) - first) - mean)) : N{};
    });
    return log1p_of(total) / eta;
}

// The probability that a forecast gives the outcome y; a single number is the probability of 1.
inline double probability(Line<const double> x, double y) {
    if (x.size == 1) return y == 1.0 ? x[0] : 1.0 - x[0];
    return y >= 0.0 && y < double(x.size) ? x[Index(y)] : 0.0;
}

// What a forecast loses where the outcome is y.
[[gnu::always_inline]] inline double lost(ExpertLoss loss, Line<const double> x, double y) {
    const double first = x[0];
    switch (loss) {
        case ExpertLoss::costs: return first;
        case ExpertLoss::zero_one: return double(first != y);
        case ExpertLoss::squared: return (first - y) * (first - y);
        case ExpertLoss::absolute: return std::fabs(first - y);
        case ExpertLoss::log: {
            const double chance = probability(x, y);
            return chance > 0.0 ? -log_of(chance) : INFINITE;
        }
        case ExpertLoss::brier: break;
    }
    if (x.size == 1) return 2.0 * (first - y) * (first - y);
    double total = 0.0;
    for (Index k = 0; k < x.size; ++k) {
        const double miss = x[k] - (double(k) == y ? 1.0 : 0.0);
        total += miss * miss;
    }
    return total;
}

// The label with most weight, of labels from 0 on; others have no vote.
inline double most_voted(const double *said, Index apart, Index n, const bool *awake, const double *q, Line<double> votes) {
    for (Index c = 0; c < votes.size; ++c) votes[c] = 0.0;
    for (Index i = 0; i < n; ++i) {
        const double label = said[i * apart];
        if (awake[i] && label >= 0.0 && label < double(votes.size)) votes[Index(label)] += q[i];
    }
    Index best = 0;
    for (Index c = 1; c < votes.size; ++c) {
        if (votes[c] > votes[best] + TIE) best = c;
    }
    return double(best);
}

// The blend of n experts who say what lies `apart` places from one to the next: the weighted mean of those awake, of
// labels the one with most weight.
inline void blend(ExpertLoss loss, const double *said, Index apart, Index n, const bool *awake, const double *q, Line<double> votes,
                  Line<double> out) {
    if (loss == ExpertLoss::zero_one) {
        out[0] = most_voted(said, apart, n, awake, q, votes);
        return;
    }
    for (Index k = 0; k < out.size; ++k) {
        out[k] = sum_by_place(n, [&](Index i) { return q[i] * (awake[i] ? said[i * apart + k] : 0.0); });
    }
}

// p ← (1 − α)·(p·e^{−η·cost}, normalised) + α/N.
inline void share_out(Index n, double *p, const double *costs, double eta, double share) {
    double least = INFINITE;
    for (Index i = 0; i < n; ++i) least = lower(least, costs[i]);
    for (Index i = 0; i < n; ++i) p[i] *= exp_of(-eta * (costs[i] - least));
    const double total = sum_by_place(n, [&](Index i) { return p[i]; });
    for (Index i = 0; i < n; ++i) p[i] = (1.0 - share) * (p[i] / total) + share / double(n);
}

// Whether the next round begins a period of a doubling run.
inline bool begins_period(const Weighing &how, const Experts &at) {
    return how.rule == ExpertRule::doubling && at.clock[0] + 1 == 2 * at.clock[1];
}

// Who is awake; whether all are.
inline bool wake(const double *said, Index apart, Index n, bool *awake) {
    bool all = true;
    for (Index i = 0; i < n; ++i) {
        awake[i] = said[i * apart] == said[i * apart];
        all &= awake[i];
    }
    return all;
}

// q: the weights of the next round over those awake (null: all); nothing else changes.
inline void weights_now(const Weighing &how, const Experts &at, const bool *awake, double *q) {
    if (how.rule == ExpertRule::sharing) {
        for (Index i = 0; i < at.count(); ++i) q[i] = at.shared[i];
        return normalise(at.count(), awake, q);
    }
    const double eta = begins_period(how, at) ? 0.0 : how.eta(at.clock[0] + 1, at.clock[1], at.gap());
    weigh(how.anew() ? at.since : at.totals, eta, awake, q);
}

// costs[i]: the slope of the loss at the blend's own forecast p, times x_i − p; 0 for a sleeper.
inline void linearise(ExpertLoss loss, const double *said, Index apart, double p, double y, Index n, const RoundRoom &room) {
    double slope = 2.0 * (p - y);
    if (loss == ExpertLoss::absolute) slope = p > y ? 1.0 : p < y ? -1.0 : 0.0;
    for (Index i = 0; i < n; ++i) room.costs[i] = room.awake[i] ? slope * (said[i * apart] - p) : 0.0;
}

// What some rounds gave: the weights in `kept` and Δ after each round in `gaps` (if they have rows), the blend's
// forecasts (unless there are only costs) and its losses.
struct Blended {
    Table<double> kept, forecasts;
    Line<double> losses, gaps;
};

// Play the rounds; how many were played: fewer than there are where a loss was not finite.
inline Index play_experts(const Weighing &how, ExpertLoss loss, const Experts &at, Table<const double> given, Line<const double> outcomes,
                          const RoundRoom &room, Line<double> votes, const Blended &out) {
    const Index n = at.count(), width = given.columns, apart = given.apart;
    const Pairs &base = how.anew() ? at.since : at.totals;
    const auto [awake, costs, q] = room;
    for (Index t = 0; t < outcomes.size; ++t) {
        if (begins_period(how, at)) {
            at.clock[1] *= 2;
            for (Index i = 0; i < n; ++i) at.since.sum[i] = at.since.rest[i] = 0.0;
        }
        const double *said = given[t * n], y = outcomes[t];
        const bool some_sleep = !wake(said, apart, n, awake);
        const bool *there = some_sleep ? awake : nullptr;
        weights_now(how, at, there, q);
        if (loss == ExpertLoss::costs) {
            for (Index i = 0; i < n; ++i) costs[i] = awake[i] ? said[i * apart] : 0.0;
        } else {
            for (Index i = 0; i < n; ++i) costs[i] = awake[i] ? lost(loss, {said + i * apart, width}, y) : 0.0;
        }

        double own = 0.0;
        if (loss != ExpertLoss::costs) blend(loss, said, apart, n, awake, q, votes, out.forecasts.row(t));
        // the expected cost of following an expert drawn by weight, or the loss of the mean
        if (loss == ExpertLoss::squared || loss == ExpertLoss::absolute || loss == ExpertLoss::brier) {
            own = lost(loss, {out.forecasts[t], width}, y);
        } else if (loss == ExpertLoss::log) {  // from the probabilities, not from the mean: 1 − mean may lose all figures
            const double chance = sum_by_place(n, [&](Index i) { return q[i] > 0.0 ? q[i] * probability({said + i * apart, width}, y) : 0.0; });
            own = chance > 0.0 ? -log_of(chance) : INFINITE;
        } else {
            own = sum_in_fours(n, [&](Index i, auto one) __attribute__((always_inline)) {
                using N = decltype(one);
                const N weight = noregret::at<N>({q, n}, i);
                return weight > N{} ? weight * noregret::at<N>({costs, n}, i) : N{};
            });
        }
        if (!finite(own)) return t;

        out.losses[t] = own;
        if (out.kept.rows) {
            for (Index i = 0; i < n; ++i) out.kept(t, i) = q[i];
        }
        if (some_sleep) {
            for (Index i = 0; i < n; ++i) costs[i] = awake[i] ? costs[i] : own;
        }
        if (how.anew()) at.totals.add_all(costs);
        if (how.rule == ExpertRule::gradient) linearise(loss, said, apart, out.forecasts(t, 0), y, n, room);
        if (how.adapts()) {
            const double eta = how.eta(0, 0, at.gap());
            if (some_sleep) weigh(base, eta, nullptr, q);
            const double gap = mixability(base, q, costs, eta, how.least);
            if (gap > 0.0) at.sums.add(1, gap);
        } else if (how.rule == ExpertRule::sharing) {
            share_out(n, at.shared, costs, how.rate, how.share);
        }
        base.add_all(costs);
        at.sums.add(0, own);
        at.clock[0] += 1;
        if (out.gaps.size) out.gaps[t] = at.gap();
    }
    return outcomes.size;
}

// The least loss of every sequence of experts, by how often it changes and where it ends. Each table has a row for each
// number of changes: (sum, rest) of sequences that end at i after at most k changes are now(k, 2i) and now(k, 2i + 1).
// Row t·changes + k of `moved` says of every i that the best one came to i in round t by a change, and came(t, k) from
// whom.
inline void best_path(Table<const double> costs, Table<double> now, Table<double> before, Table<Index> came, Table<std::uint8_t> moved) {
    const Index changes = now.rows, n = costs.columns;
    const auto apart = [](const double *a, const double *b) { return (a[0] - b[0]) + (a[1] - b[1]); };
    for (Index t = 0; t < costs.rows; ++t) {
        for (Index k = 0; k < changes; ++k) {
            Index best = 0;
            const double *here = now[k];
            for (Index i = 0; i < n; ++i) {
                if (apart(here + 2 * i, here + 2 * best) < 0.0) best = i;
            }
            std::memcpy(before[k], here, std::size_t(2 * n) * sizeof(double));
            came(t, k) = best;
        }
        for (Index k = 0; k < changes; ++k) {
            std::uint8_t *changed = moved[t * changes + k];
            const double *from = k && t ? before[k - 1] + 2 * came(t, k - 1) : nullptr;
            for (Index i = 0; i < n; ++i) {
                const double *old = before[k] + 2 * i;
                changed[i] = from && apart(from, old) < 0.0;
                if (changed[i]) old = from;
                const double a = old[0], x = costs(t, i), s = a + x, b = s - a;
                now(k, 2 * i) = s;
                now(k, 2 * i + 1) = old[1] + ((a - (s - b)) + (x - b));
            }
        }
    }
}

}  // namespace noregret
