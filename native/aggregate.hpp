// The mixture of a pool of members that forecast numbers: the aggregating algorithm for squared loss (Vovk 1990), whose
// range [a, b] of labels need not be known. With ℓ = b − a and η = 2/ℓ²
//   g(y) = −(1/η) ln Σ v_i·e^(−η(y − c_i)²), v_i ∝ π_i·e^(−ηΛ_i), and the forecast is (a + b)/2 + (g(a) − g(b))/(2ℓ),
// where c_i is member i's forecast cut to [a, b] and Λ_i what it lost in the rounds whose label lay in the range. A label
// outside of the range doubles it after the round. Three more members, which know how the others did, make up for the
// caution of a rate that has to be safe: means of the others by how likely Gaussian errors make them, over all rounds and
// over the last hundred or so, and by how likely Laplacian errors make them.
#pragma once

#include <algorithm>
#include <cmath>

#include "history.hpp"
#include "rounds.hpp"

namespace noregret {

enum Means : int { GAUSSIAN, RECENT, LAPLACIAN, MEANS };

constexpr double FADES = 0.99;  // what a square counts for one round later, for the mean over recent rounds

// ln π, Λ, Σ(y − x)², Σ|y − x|, and the squares as they fade.
struct NumberMember {
    double log_prior, clipped, squares, sizes, faded;
};

constexpr Index NUMBER_COLUMNS = 5, RANGE_NUMBERS = 4;

// The n members first, then the means; `range` is (a, b, what the rounds outside of it cost, Σ of what fades).
struct NumberPool {
    NumberMember *members;
    double *range;
    Index n;

    Index all() const { return n + MEANS; }
    bool known() const { return range[3] > 0.0; }
};

inline double within(const NumberPool &pool, double x) { return lower(higher(x, pool.range[0]), pool.range[1]); }

// Weights ∝ π·(least/error)^power of those awake: how likely each one's errors are beside the most likely ones.
template <class Error, class Take> void each_likely(const NumberPool &pool, const double *said, double power, Error error, Take take) {
    double least = INFINITE;
    for (Index i = 0; i < pool.n; ++i) {
        if (said[i] == said[i]) least = lower(least, error(pool.members[i]));
    }
    for (Index i = 0; i < pool.n; ++i) {
        if (said[i] != said[i]) continue;
        const double behind = error(pool.members[i]);
        const double ratio = behind > 0.0 ? power * log_of(higher(least / behind, 1e-300)) : 0.0;
        take(i, exp_of(pool.members[i].log_prior + ratio));
    }
}

template <class Error> double likely_mean(const NumberPool &pool, const double *said, double power, Error error) {
    double sum = 0.0, mean = 0.0;
    each_likely(pool, said, power, error, [&](Index i, double weight) {
        sum += weight;
        mean += weight * said[i];
    });
    return mean / sum;
}

// The share of every member in the mean by Gaussian errors; 0 of those that sleep.
inline void shares_of(const NumberPool &pool, const double *said, Index rounds, double *out) {
    double sum = 0.0;
    std::fill_n(out, pool.n, 0.0);
    each_likely(pool, said, 0.5 * static_cast<double>(rounds), [](const NumberMember &m) { return m.squares; },
                [&](Index i, double weight) { sum += out[i] = weight; });
    for (Index i = 0; sum > 0.0 && i < pool.n; ++i) out[i] /= sum;
}

// What the three means say, behind what the members do.
inline void add_means(const NumberPool &pool, double *said, Index rounds) {
    const double t = static_cast<double>(rounds), recent = pool.range[3];
    said[pool.n + GAUSSIAN] = likely_mean(pool, said, 0.5 * t, [](const NumberMember &m) { return m.squares; });
    said[pool.n + RECENT] = likely_mean(pool, said, 0.5 * recent, [](const NumberMember &m) { return m.faded; });
    said[pool.n + LAPLACIAN] = likely_mean(pool, said, t, [](const NumberMember &m) { return m.sizes; });
}

// −η·g(y), η = 2/ℓ², of what is cut to the range.
inline double mix_loss(const NumberPool &pool, const double *cut, double eta, double y) {
    const auto at = [&](Index i) {
        const double off = y - cut[i];
        return pool.members[i].log_prior - eta * (pool.members[i].clipped + off * off);
    };
    double top = -INFINITE, sum = 0.0;
    for (Index i = 0; i < pool.all(); ++i) {
        if (cut[i] == cut[i]) top = higher(top, at(i));
    }
    for (Index i = 0; i < pool.all(); ++i) {
        if (cut[i] == cut[i]) sum += exp_of(at(i) - top);
    }
    return top + log_of(sum);
}

// The forecast from what the members say; `cut` is what of it lies in the range. Before there is one it is theirs.
inline double aggregate(const NumberPool &pool, double *said, double *cut, Index rounds) {
    add_means(pool, said, rounds);
    double low = pool.range[0], high = pool.range[1];
    if (!rounds) {
        low = INFINITE, high = -INFINITE;
        for (Index i = 0; i < pool.all(); ++i) {
            if (said[i] == said[i]) low = lower(low, said[i]), high = higher(high, said[i]);
        }
    }
    for (Index i = 0; i < pool.all(); ++i) cut[i] = said[i] == said[i] ? lower(higher(said[i], low), high) : said[i];
    const double length = high - low;
    if (!(length > 0.0)) return low;
    const double eta = 2.0 / (length * length);
    if (!finite(eta) || eta == 0.0) return cut[pool.n + GAUSSIAN];
    const double apart = (mix_loss(pool, cut, eta, high) - mix_loss(pool, cut, eta, low)) / eta;  // g(a) − g(b)
    return lower(higher(low + length / 2.0 + apart / (2.0 * length), low), high);
}

// A label came, of weight k: losses, and the range where it lay outside.
inline void absorb(const NumberPool &pool, const double *said, const double *cut, double forecast, double y, double k, Index rounds) {
    double *range = pool.range;
    if (!rounds) {
        range[0] = INFINITE, range[1] = -INFINITE;
        for (Index i = 0; i < pool.all(); ++i) {
            if (said[i] == said[i]) range[0] = lower(range[0], said[i]), range[1] = higher(range[1], said[i]);
        }
    }
    const bool inside = y >= range[0] && y <= range[1];
    for (Index i = 0; i < pool.all(); ++i) {
        NumberMember &one = pool.members[i];
        const bool awake = said[i] == said[i];
        const double off = y - (awake ? said[i] : forecast), near = y - (awake ? cut[i] : forecast);
        one.squares += k * (off * off);
        one.sizes += k * std::fabs(off);
        one.faded = FADES * one.faded + k * (off * off);
        if (inside) one.clipped += k * (near * near);
    }
    range[3] = FADES * range[3] + k;
    if (inside) return;
    range[2] += k * ((y - forecast) * (y - forecast));
    if (y > range[1]) range[1] = range[0] + 2.0 * (y - range[0]);
    else range[0] = range[1] - 2.0 * (range[1] - y);
}

// Labels as members see them that know no units: by how much they differ from the mean so far, in units of the mean of
// such differences.
struct Level {
    double weight, mean, spread;

    double size() const { return spread > 0.0 ? spread : 1.0; }
};

constexpr Index LEVEL_NUMBERS = sizeof(Level) / sizeof(double);

// For each round the mean and the size before it, and the label in these units, its own difference in the size already.
inline void relate(Level &now, Line<const double> labels, Line<const double> weights, Line<double> means, Line<double> sizes, Line<double> out) {
    for (Index t = 0; t < labels.size; ++t) {
        const double k = weights.size ? weights[t] : 1.0, y = labels[t], off = now.weight > 0.0 ? y - now.mean : 0.0;
        means[t] = now.mean;
        sizes[t] = now.size();
        now.weight += k;
        now.spread += k / now.weight * (std::fabs(off) - now.spread);
        now.mean += k / now.weight * (y - now.mean);
        out[t] = off / now.size();
    }
}

// Rounds of numbers. Column t of `said` is what the members forecast; the mixture's own slopes are summed over the rows.
template <class R>
Index play_aggregate(const R &rows, const Batch &batch, Table<const double> said, const NumberPool &pool, const History &history, double *space,
                     Strided<double> total, Record &record) {
    State &st = record.state;
    const Config &cfg = record.config;
    const Squared loss_of;
    double *row = space, *cut = space + pool.all();
    for (Index t = 0; t < batch.count; ++t) {
        const double k = batch.weights ? batch.weights[t] : 1.0, y = batch.labels[t];
        if (k == 0.0) {
            batch.scores[t] = NOT_A_NUMBER;
            continue;
        }
        const double row2 = dot(rows, t, total).square + cfg.bias;
        for (Index i = 0; i < pool.n; ++i) row[i] = said(i, t);
        const double score = aggregate(pool, row, cut, st.rounds);
        const auto [value, slope] = loss_of.both(score, y);
        const double loss = k * value, g = k * slope, total2 = st.gradient2 + g * g * row2;
        const Baselines baselines = baselines_of(loss_of, st, cfg, y);
        if (!(finite(row2) && finite(score) && finite(st.loss + loss) && finite(total2) && finite(g * score))) return t;
        batch.scores[t] = score;
        st.constant += k * baselines.constant;
        st.last += k * baselines.last;
        book(st, cfg, k, batch.labels, batch.scores, t, row2, loss);
        keep_shares(history, st.rounds + 1, [&](double *out) { shares_of(pool, row, st.rounds, out); });
        absorb(pool, row, cut, score, y, k, st.rounds);
        ++st.rounds;
        st.updates += g != 0.0;
        book_gradient(st, st.rounds, std::sqrt(static_cast<double>(st.rounds)), g * g * row2, total2, g * score);
        add(rows, t, g, total);
        st.bias_gradient += cfg.bias * g;
        if (st.rounds == st.trace_next) record_trace(st, cfg.classify);
        if (st.rounds == st.curve_next) record_curve(st, std::sqrt(norm2(reading(total)) + st.bias_gradient * st.bias_gradient));
    }
    return batch.count;
}

// The forecast for every row, from what the members say of it; nothing is learned.
inline void score_aggregate(Table<const double> said, const NumberPool &pool, Index rounds, double *space, Line<double> scores) {
    for (Index t = 0; t < scores.size; ++t) {
        for (Index i = 0; i < pool.n; ++i) space[i] = said(i, t);
        scores[t] = aggregate(pool, space, space + pool.all(), rounds);
    }
}

}  // namespace noregret
