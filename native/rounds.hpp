// The rounds of a linear learner: predict, suffer, update, with every figure gathered on the way.
#pragma once

#include "loss.hpp"
#include "record.hpp"
#include "step.hpp"

namespace noregret {

constexpr double FAR_FROM_OVERFLOW = 0x1p900;  // as many numbers of this size as can be played have a finite sum
constexpr Index TRIALS = 3;  // so often in vain is a quick round looked for, between two that are traced

// What a loop is given: labels, weights of the rounds (none: all 1), and where the scores go.
struct Batch {
    const double *labels = nullptr;
    Index count = 0;
    const double *weights = nullptr;  // nullptr: every round has the weight 1
    double *scores = nullptr;
};

// z ← z + c·x with the bias, cut where the domain cuts; what is kept beside it takes in the round too.
template <class R>
void update(State &st, const Config &cfg, const R &rows, Index t, double c, Strided<double> z, double g, Strided<double> total, double old2) {
    bool done = true;
    if (cfg.domain == BOX) {
        const double limit = cfg.radius / st.scale, change = add_clipped(rows, t, c, limit, z);
        const double bias = clipped(st.bias + cfg.bias * c, limit);
        st.norm2 = higher(old2 + change + (bias * bias - st.bias * st.bias), 0.0);
        st.bias = bias;
        c = 0.0;
    } else if (has_corners(cfg)) {
        corner_step(st, cfg, rows, t, c, z, old2);
        c = 0.0;
    } else {
        done = false;
        st.bias += cfg.bias * c;
    }
    if (cfg.gather) {
        if (cfg.gather == AVERAGE) g = static_cast<double>(st.rounds) * c;
        if (done) add(rows, t, g, total);
        else gather(rows, t, c, z, g, total);
        st.bias_gradient += cfg.bias * g;
    } else if (!done) {
        add(rows, t, c, z);
    }
}

// ‖Σg‖ with the bias, in the norm that the domain asks for; 0 where it is not kept.
inline double gradient_norm(const State &st, const Config &cfg, Strided<const double> total) {
    if (cfg.gather != GRADIENTS) return 0.0;
    if (cfg.domain == BOX) return norm1(total) + std::fabs(st.bias_gradient);
    if (cfg.domain == CROSS) return higher(largest(total), std::fabs(st.bias_gradient));
    if (cfg.domain == SIMPLEX) return -lower(lower(lowest(total), st.bias_gradient), 0.0);
    return std::sqrt(norm2(total) + st.bias_gradient * st.bias_gradient);
}

struct Reached {
    Index t;            // the round that is next
    Products products;  // of its row, where they are known
    bool known;
};

// The rounds that are soon played: those that change no weight and, where the steps are η, η/√t or η/√Σ‖g‖², in the
// whole space or in a ball, with at most Σg kept beside the weights, all others too. `play_round` would do the same with
// them, number by number, in several times as many instructions, for it can do all else as well. BARE rounds have no
// bias and weights that are z itself, as a perceptron's: less has to be waited for.
template <bool BARE, class L, class R>
[[gnu::noinline]] Reached run_on(const L &loss_of, const R &rows, const Batch &batch, Strided<double> z, Strided<double> total, State &st,
                                 const Config &cfg, Index t, Index stop, bool simple) {
    const double tie = cfg.tie, extra = cfg.bias, eta = cfg.eta;
    double scale = st.scale;
    double bias = st.bias, norm2_of_z = st.norm2, loss = st.loss, largest_row2 = st.row_max2, mistake_row2 = st.mistake_row2;
    double gradient2 = st.gradient2, by_root = st.gradient2_sqrt, by_round = st.gradient2_inverse;
    double largest_gradient2 = st.gradient_max2, dots = st.gradient_dot_weights, bias_gradient = st.bias_gradient;
    Index played = st.rounds, updates = st.updates, wrong = 0, missed = 0;
    const Index first = t, rate = cfg.rate;
    const bool gathers = cfg.gather == GRADIENTS, ball = cfg.domain == BALL;
    const double largest_score = loss < FAR_FROM_OVERFLOW ? FAR_FROM_OVERFLOW : 0.0;
    double inverse = 1.0 / scale;
    Products found{0.0, 0.0};
    bool known = false, ahead = false;
    while (t < stop) {
        if (!ahead) found = dot(rows, t, z);
        ahead = false;
        const double y = batch.labels[t];
        double full = found.dot, size = found.square, score = found.dot;
        if constexpr (!BARE) {
            full += extra * bias;
            size += extra;
            score = scale * full;
        }
        double more = 0.0, g;
        if constexpr (is_late<L>) {
            g = loss_of.slope(score, y);
            known = !(std::fabs(score) < largest_score && found.square < INFINITE);
        } else {
            const Cost cost = loss_of.both(score, y);
            more = cost.value;
            g = cost.slope;
            known = !(std::fabs(score) + std::fabs(more) + found.square < INFINITE && (more == 0.0 || finite(loss + more)));
        }
        if (known) break;
        batch.scores[t] = score;
        const double row2 = size;
        if (g != 0.0) {
            const double n = static_cast<double>(played + 1), root = std::sqrt(n);
            const double squared = g * g * size, slope_dot = g * score, more2 = gradient2 + squared;
            double step_now = eta;
            if (rate == SQRT) step_now = eta / root;
            else if (rate == ADAPTIVE) step_now = more2 > 0.0 ? eta / std::sqrt(more2) : 0.0;
            if constexpr (!BARE) step_now = in_units(step_now, scale, inverse);
            const double c = -step_now * g, new2 = norm2_of_z + c * (2.0 * full + c * size);
            known = !(simple && finite(new2 + more2 + slope_dot));
            if (known) break;
            if (gathers) bias_gradient += extra * g;
            ahead = step(rows, t, stop, c, z, gathers, g, total, found);
            norm2_of_z = higher(new2, 0.0);
            if constexpr (!BARE) bias += extra * c;
            ++updates;
            dots += slope_dot;
            if (squared > 0.0) {
                gradient2 = more2;
                by_root += squared / root;
                by_round += squared / n;
                largest_gradient2 = higher(largest_gradient2, squared);
            }
            if (!BARE && ball) {
                const double inside = projected(scale, norm2_of_z, cfg.radius);
                if (is_fixed_update(updates, st.large) || inside < TINY) [[unlikely]] {
                    st.scale = scale;
                    st.bias = bias;
                    st.norm2 = norm2_of_z;
                    st.updates = updates;
                    ahead = !settle(st, cfg, z, true) && ahead;
                    scale = st.scale;
                    bias = st.bias;
                    norm2_of_z = st.norm2;
                } else {
                    scale = inside;
                }
                inverse = 1.0 / scale;
            }
        }
        if (more != 0.0) loss += more;
        largest_row2 = higher(largest_row2, row2);
        const double margin = score * y;  // `is_mistake` of a label ±1, asked as the zero-one loss asks
        if (!(margin > 0.0) && (margin < 0.0 || tie * y <= 0.0)) {
            ++wrong;
            missed += y > 0.0;
            mistake_row2 += row2;
        }
        ++played;
        ++t;
    }
    if constexpr (is_late<L>) loss = add_values(loss_of, batch.scores + first, batch.labels + first, t - first, loss);
    st.scale = scale;
    st.bias = bias;
    st.norm2 = norm2_of_z;
    st.rounds = played;
    st.updates = updates;
    st.loss = loss;
    st.row_max2 = largest_row2;
    st.mistake_row2 = mistake_row2;
    st.bias_gradient = bias_gradient;
    st.mistakes += wrong;
    st.confusion[1][0] += missed;
    st.confusion[0][1] += wrong - missed;
    st.gradient2 = gradient2;
    st.gradient2_sqrt = by_root;
    st.gradient2_inverse = by_round;
    st.gradient_max2 = largest_gradient2;
    st.gradient_dot_weights = dots;
    return {t, found, known};
}

// What two simple predictions would have lost: the mean of the labels so far, and the previous label.
struct Baselines {
    double constant = 0.0, last = 0.0;

    bool known() const { return constant == constant && last == last; }  // a loss of the user's own may have failed
};

template <class L> Baselines baselines_of(const L &loss_of, const State &st, const Config &cfg, double y) {
    if (cfg.classify) return {};
    return {loss_of.both(mean_label(st), y).value, loss_of.both(st.last_label, y).value};
}

// One round of weight k, whatever the learner; false, and nothing changed, where it would overflow.
template <class L, class R>
bool play_round(const L &loss_of, const R &rows, Index t, double y, double k, const Products *known, Strided<double> z,
                Strided<double> total, State &st, const Config &cfg, double &score) {
    auto [inner, row2] = known ? *known : dot(rows, t, z);
    if (!finite(row2)) return false;
    row2 += cfg.bias;
    if (restarts(st, cfg)) {
        const auto [value, slope] = loss_of.both(0.0, y);
        if (!finite(st.loss + k * value + first_step(st, cfg, k * slope, row2))) return false;
        restart(st, z);
        inner = 0.0;
    }
    inner += cfg.bias * st.bias;
    score = st.scale * inner;
    const auto [value, slope] = loss_of.both(score, y);
    double loss = k * value;
    const double g = k * slope;
    if (cfg.sigma > 0.0) loss += 0.5 * cfg.sigma * st.scale * st.scale * st.norm2;
    if (!(finite(score) && finite(st.loss + loss))) return false;
    const Baselines baselines = baselines_of(loss_of, st, cfg, y);
    if (!baselines.known()) return false;
    const bool moves = g != 0.0 || cfg.sigma > 0.0 || cfg.l2 > 0.0;
    const double old2 = st.norm2;
    double c = 0.0;
    if (moves && cfg.rate == COIN) c = bet(st, cfg, inner, row2, score, g);
    else if (moves) c = descend(st, cfg, z, inner, row2, score, g, loss);
    if (c != c) return false;
    if (!st.large && reaches(rows, t, SMALL)) st.large = 1;
    st.constant += k * baselines.constant;
    st.last += k * baselines.last;
    book_sums(st, cfg, k, y, score, row2, loss);
    if (g != 0.0) {
        ++st.updates;
        update(st, cfg, rows, t, c, z, g, total, old2);
    }
    if (moves) settle(st, cfg, z, g != 0.0);
    ++st.rounds;
    return true;
}

// Play the rows in order, write the score of each round; how many were played: fewer than there are only when the next
// one would have made a weight or a sum overflow. A row of weight 0 is no round and has the score NaN.
template <class L, class R>
Index play_linear(const L &loss_of, const R &rows, const Batch &batch, Strided<double> z, Strided<double> total, Record &record) {
    State &st = record.state;
    const Config &cfg = record.config;
    const bool weighted = batch.weights != nullptr;
    const bool still = cfg.classify && !weighted && cfg.sigma == 0.0 && cfg.l2 == 0.0 && cfg.rate != DOUBLING;
    const bool simple = (cfg.rate == CONSTANT || cfg.rate == SQRT || cfg.rate == ADAPTIVE) && (cfg.domain == WHOLE || cfg.domain == BALL) && cfg.gather != AVERAGE;
    Index t = 0, booked = 0, vain = 0, played = batch.count;
    if (batch.count > 1 && !weighted) expect(st, batch.count);
    while (t < batch.count) {
        const Index begin = t;
        Index stop = t;
        Reached reached{t, {0.0, 0.0}, false};
        if (still && vain < TRIALS) {
            stop = std::min(t + std::min(st.trace_next, st.curve_next) - st.rounds, batch.count);
            if (!st.large) stop = until_reach(rows, t, stop, SMALL);  // the first row that makes it 1 is a general one
        }
        if (stop > t) {
            reached = cfg.bias == 0.0 && st.scale == 1.0 && cfg.domain != BALL ? run_on<true>(loss_of, rows, batch, z, total, st, cfg, t, stop, simple)
                                                         : run_on<false>(loss_of, rows, batch, z, total, st, cfg, t, stop, simple);
            t = reached.t;
            vain = t == begin ? vain + 1 : 0;
        }
        if (reached.known || stop == begin) {
            const double k = weighted ? batch.weights[t] : 1.0;
            if (k == 0.0) {
                batch.scores[t++] = NOT_A_NUMBER;
                continue;
            }
            double score = NOT_A_NUMBER;
            if (!play_round(loss_of, rows, t, batch.labels[t], k, reached.known ? &reached.products : nullptr, z, total, st, cfg, score)) {
                played = t;
                break;
            }
            batch.scores[t++] = score;
        }
        if (st.rounds == st.trace_next) {
            booked = trace_late(st, cfg, batch.labels, batch.scores, booked, t, weighted);
            vain = 0;
        }
        if (st.rounds == st.curve_next) record_curve(st, gradient_norm(st, cfg, reading(total)));
    }
    book_rest(st, cfg, batch.labels, batch.scores, booked, played, weighted);
    return played;
}

// The score of row t; nothing changes.
template <class R> double score_linear(double scale, double bias, const R &rows, Index t, Strided<const double> z) {
    return scale * (dot(rows, t, z).dot + bias);
}

// The score of row t with the average of the weights after each round: scale·(z − late/T).
template <class R> double score_mean(const State &st, const R &rows, Index t, Strided<const double> z, Strided<const double> late) {
    const double inner = dot(rows, t, z).dot, behind = dot(rows, t, late).dot + st.bias_gradient;
    return st.scale * (inner + st.bias - (st.rounds > 0 ? behind / static_cast<double>(st.rounds) : 0.0));
}

}  // namespace noregret
