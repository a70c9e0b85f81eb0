// The rounds of learners with a step for every coordinate: AdaGrad, FTRL-Proximal and diagonal Newton, Θ(non-zeros) a round.
//
// The table has a row for each feature: its weight w, Σg² and Σg over the rounds, and the dual θ of FTRL-Proximal. In a
// round with gradient g_i = g·x_i, with n = Σg_i² up to and including it:
//
// AdaGrad (Duchi, Hazan & Singer 2011): w_i ← w_i − η·g_i/√n.
// FTRL-Proximal (McMahan et al. 2013): θ_i ← θ_i + g_i − (√n − √(n − g_i²))/α·w_i, and w_i minimises
// θ_i·w + λ₁|w| + ((β + √n)/α + λ₂)·w²/2.
//
// Both then cut w_i to ±U. Diagonal Newton on the logistic loss keeps n = Σ k·h·x_i² in place of Σg_i², h the curvature at
// the score, and moves w to the minimum of the round's loss and ½Σ(a + n)(w_i − w_{t,i})², n before the round.
// A coordinate that has seen no gradient keeps its weight.
//
// Scale-free (ScInOL2 of Kempka, Kotłowski & Warmuth 2019, with another share) has a table of its own, of Bettors. A
// coordinate has a wealth E, which begins at Λε, Λ the bound of the loss's slope, and a reach M = Λ·max k|x_i|, which no
// gradient exceeds. It bets w_i = c·clip(−Σg/Q, ±1)·E/Q with Q = √(Σg² + M²), this round's row in M already, and the
// wealth then loses g_i·w_i. A row of weight k is the row k·x with weight 1 to it.
#pragma once

#include "implicit.hpp"
#include "rounds.hpp"

namespace noregret {

// What a learner of this file is called, its rate, and how many numbers its table has for each feature.
struct CoordinateKind {
    const char *name;
    Index rate, columns;
};

constexpr CoordinateKind COORDINATE_KINDS[] = {{"adagrad", COORDINATE, 4}, {"proximal", PROXIMAL, 4}, {"diagonal", DIAGONAL, 4}, {"bets", BETS, 7}};

inline Index coordinate_columns(const Config &cfg) {
    for (const CoordinateKind &kind : COORDINATE_KINDS) {
        if (kind.rate == cfg.rate) return kind.columns;
    }
    return 0;
}

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

constexpr double SHARE = 0.75, START = 0.5;  // c and ε of scale-free

struct Bettor {
    double weight;  // the bet on a row that reaches no further
    double squares, total, wealth, reach;
    double pull, mean;  // Σg as it was bet on, and the mean so far: with means taken off, not that of the row as it came
};

// w with a reach that this round's row is in already.
inline double bet_of(const Bettor &one, double reach) {
    const double root = std::sqrt(one.squares + reach * reach);
    if (!(root > 0.0)) return 0.0;  // the square of what is tiny vanishes
    return SHARE * clipped(-one.pull / root, 1.0) * (one.wealth / root);
}

// The mean with x among n values.
inline double mean_with(double mean, double x, double n) { return mean + (x - mean) / n; }

// What a row bets: Σ w_i·x_i of the values that are played, ‖x‖² of those that came, and the largest wealth at stake.
struct Stake {
    double dot, square, most;
};

// What entry x of weight k bets: `n` values make its mean, none where means are not taken off.
inline double staked(const Bettor &one, double x, double k, double eta, double n, Stake &stake) {
    stake.square += x * x;
    if (n > 0.0) x -= mean_with(one.mean, x, n);
    const double reach = eta * k * std::fabs(x), w = reach > one.reach ? bet_of(one, reach) : one.weight;
    stake.dot += w * x;
    stake.most = higher(stake.most, one.wealth);
    return w;
}

// The values that a mean of this round has; 0 where means are not taken off.
inline double values_of(const State &st, const Config &cfg) { return cfg.cut ? static_cast<double>(st.rounds + 1) : 0.0; }

// The bias as a coordinate of ones.
inline Bettor bias_of(const State &st) {
    return {st.bias, st.bias_squares, st.bias_gradient, st.wealth, st.bias_dual, st.bias_gradient, 0.0};
}

template <class R> Stake stake_all(const State &st, const Config &cfg, const R &rows, Index t, double k, Table<const double> table) {
    const auto *all = reinterpret_cast<const Bettor *>(table.data);
    const double n = values_of(st, cfg);
    Stake stake{0.0, 0.0, 0.0};
    each_entry(rows, t, [&](Index i, double x) {
        if (i < table.rows) staked(all[i], x, k, cfg.eta, n, stake);
        else stake.square += x * x;
    });
    if (cfg.bias != 0.0) staked(bias_of(st), 1.0, k, cfg.eta, 0.0, stake);
    return stake;
}

// The round is over: the wealth pays for its bet, and reach, sums and mean take the row in. `felt` is the slope that is
// bet on: k·Λ at the most, whatever a loss of the user's own has promised.
inline void pay_bet(Bettor &one, double x, double k, double eta, double n, double g, double felt) {
    one.total += g * x;
    if (n > 0.0) x -= one.mean = mean_with(one.mean, x, n);
    if (x == 0.0) return;
    if (one.wealth == 0.0) one.wealth = START * eta;
    const double reach = higher(one.reach, eta * k * std::fabs(x));
    if (reach == one.reach && felt == 0.0) return;
    const double part = felt * x;
    one.wealth -= part * (reach > one.reach ? bet_of(one, reach) : one.weight);
    one.reach = reach;
    one.pull += part;
    one.squares += part * part;
    one.weight = bet_of(one, reach);
}

// Every coordinate of row t, and the bias, whether or not there is a gradient.
template <class R> void pay_bets(State &st, const Config &cfg, const R &rows, Index t, double k, double g, Table<double> table) {
    auto *all = reinterpret_cast<Bettor *>(table.data);
    const double n = values_of(st, cfg), felt = clipped(g, k * cfg.eta);
    each_entry(rows, t, [&](Index i, double x) { pay_bet(all[i], x, k, cfg.eta, n, g, felt); });
    if (cfg.bias == 0.0) return;
    Bettor one = bias_of(st);
    pay_bet(one, 1.0, k, cfg.eta, 0.0, g, felt);
    st.bias = one.weight;
    st.bias_squares = one.squares;
    st.bias_gradient = one.total;
    st.wealth = one.wealth;
    st.bias_dual = one.reach;
}

// A round of diagonal Newton of weight k.
template <class R> void step_diagonal(State &st, const Config &cfg, const R &rows, Index t, double k, double y, double score, double g, Coordinates *table) {
    double Q = cfg.bias / (cfg.eta + st.bias_squares);
    each_entry(rows, t, [&](Index i, double x) { Q += x * (x / (cfg.eta + table[i].squares)); });
    const double step = k * y * falling(settled_margin(y * score, k * Q)).value, h = k * higher(falling(score).slope, LEAST_CURVATURE);
    each_entry(rows, t, [&](Index i, double x) {
        Coordinates &one = table[i];
        one.weight += step * (x / (cfg.eta + one.squares));
        one.squares += h * (x * x);
        one.total += g * x;
    });
    st.bias += step * (cfg.bias / (cfg.eta + st.bias_squares));
    st.bias_squares += h * cfg.bias;
    st.bias_gradient += g * cfg.bias;
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

inline Table<const double> reading(Table<double> table) { return {table.data, table.rows, table.columns, table.apart}; }

// As `play_linear`, for a table whose rows are Coordinates or Bettors.
template <bool BETTING, class L, class R>
Index play_in_table(const L &loss_of, const R &rows, const Batch &batch, Table<double> table, Record &record) {
    State &st = record.state;
    const Config &cfg = record.config;
    const bool weighted = batch.weights != nullptr;
    const Strided<double> w = table.column(0), total = table.column(2);
    Index booked = 0, played = batch.count;
    if (batch.count > 1 && !weighted) expect(st, batch.count);
    for (Index t = 0; t < batch.count; ++t) {
        const double k = weighted ? batch.weights[t] : 1.0;
        if (k == 0.0) {
            batch.scores[t] = NOT_A_NUMBER;
            continue;
        }
        const double y = batch.labels[t];
        double score, row2, most = 0.0;
        if constexpr (BETTING) {
            const Stake stake = stake_all(st, cfg, rows, t, k, reading(table));
            score = stake.dot, row2 = stake.square, most = 4.0 * stake.most;
        } else {
            const Products found = dot(rows, t, w);
            score = found.dot + cfg.bias * st.bias, row2 = found.square + cfg.bias;
        }
        const auto [value, slope] = loss_of.both(score, y);
        const double loss = k * value, g = k * slope, total2 = st.gradient2 + g * g * row2;
        const double reach = cfg.rate == DIAGONAL ? k + k * row2 : 0.0;  // over a, the furthest that a weight can move
        const bool fits = reach == 0.0 || finite((st.norm2 + reach) / cfg.eta);
        if (!(fits && finite(row2) && finite(score) && finite(total2) && finite(st.loss + loss) && finite(g * score) && finite(most))) {
            played = t;
            break;
        }
        const Baselines baselines = baselines_of(loss_of, st, cfg, y);
        if (!baselines.known()) {
            played = t;
            break;
        }
        batch.scores[t] = score;
        st.constant += k * baselines.constant;
        st.last += k * baselines.last;
        book_sums(st, cfg, k, y, score, row2, loss);
        if constexpr (BETTING) pay_bets(st, cfg, rows, t, k, g, table);
        ++st.rounds;
        if (g != 0.0) {
            ++st.updates;
            book_gradient(st, st.rounds, std::sqrt(static_cast<double>(st.rounds)), g * g * row2, total2, g * score);
            if constexpr (!BETTING) {
                auto *all = reinterpret_cast<Coordinates *>(table.data);
                if (cfg.rate == DIAGONAL) step_diagonal(st, cfg, rows, t, k, y, score, g, all);
                else update_coordinates(st, cfg, rows, t, g, all);
                st.norm2 += reach;
            }
        }
        if (st.rounds == st.trace_next) booked = trace_late(st, cfg, batch.labels, batch.scores, booked, t + 1, weighted);
        if (st.rounds == st.curve_next) {
            const double size = norm1(reading(total)) + std::fabs(st.bias_gradient);
            record_curve(st, BETTING || cfg.rate == DIAGONAL ? gradient_norm(st, cfg, reading(total)) : size);
        }
    }
    book_rest(st, cfg, batch.labels, batch.scores, booked, played, weighted);
    return played;
}

template <class L, class R> Index play_coordinates(const L &loss_of, const R &rows, const Batch &batch, Table<double> table, Record &record) {
    if (record.config.rate == BETS) return play_in_table<true>(loss_of, rows, batch, table, record);
    return play_in_table<false>(loss_of, rows, batch, table, record);
}

// The score of row t; nothing changes.
template <class R> double score_coordinates(const Record &record, const R &rows, Index t, Table<const double> table) {
    if (record.config.rate == BETS) return stake_all(record.state, record.config, rows, t, 1.0, table).dot;
    return score_linear(1.0, record.state.bias, rows, t, table.column(0));
}

}  // namespace noregret
