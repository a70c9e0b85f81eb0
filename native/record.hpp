// The bookkeeping of rounds: what theorems, tables and pictures are made from.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "lanes.hpp"
#include "state.hpp"

namespace noregret {

constexpr Index SELDOM = 16384;                    // rounds, at the most, before their scores are put into bins
constexpr Index ROOM = 256;                        // bins that are found before any is counted
constexpr Index LOWEST = Index(1023 - 32) << 6;    // the pattern of 2⁻³², without its low bits

// 1 for a number below 0, 0 for one above: read off its sign, for a processor cannot guess which it will be.
inline Index below(double real) { return static_cast<Index>(std::bit_cast<std::uint64_t>(real) >> 63); }

// A bin that never decreases with the score: 64 steps to each power of two from 2⁻³² to 2³², read off the number's own
// pattern: the sign, the exponent and the first six bits of the mantissa.
inline Index score_bin(double score) {
    const auto pattern = std::bit_cast<std::uint64_t>(score);
    const Index size = static_cast<Index>((pattern & 0x7FFFFFFFFFFFFFFFu) >> 46) - LOWEST;
    Index step = size < 0 ? 0 : size > BINS / 2 - 1 ? BINS / 2 - 1 : size;
    step += score != 0.0;
    return BINS / 2 + (pattern >> 63 ? -step : step);
}

// Whether sgn(score) ≠ y, a score of 0 counting as `tie` says.
inline bool is_mistake(double score, double y, double tie) {
    if (score == 0.0) return tie != y;
    return (score > 0.0) != (y > 0.0);
}

inline void keep_in_window(State &st, double error) {
    st.window[st.window_at] = error;
    st.window_at = st.window_at + 1 < WINDOW ? st.window_at + 1 : 0;
}

// The label of one round, and the baseline "previous label".
inline void count_label(State &st, double y) {
    st.positives += y > 0.0;
    st.last += st.last_label != y;
    st.last_label = y;
}

// `count_label` of the rounds start..stop, at least one.
inline void count_labels(State &st, const double *labels, Index start, Index stop) {
    Index negatives = 0, changes = 0;
    for (Index t = start + 1; t < stop; ++t) {
        negatives += below(labels[t]);
        changes += below(labels[t] * labels[t - 1]);
    }
    count_label(st, labels[start]);
    st.positives += stop - start - 1 - negatives;
    st.last += static_cast<double>(changes);
    st.last_label = labels[stop - 1];
}

inline void place(State &st, double y, double score) { ++st.bins[y > 0.0][score_bin(score)]; }

// What row i of the trace says of the two baselines, of a run whose labels are counted up to its round.
inline void tell(State &st, Index i) {
    const double positives = static_cast<double>(st.positives);
    st.trace[i][3] = lower(positives, st.trace[i][0] - positives);
    st.trace[i][4] = st.last;
}

// What `count_label` counts, of the rounds start..stop up to now, and what the trace says of it. No later round needs
// these counts, so that they are taken for many rounds at once. With gaps, a row without a score was no round, and the
// last row of the trace is all there can be. What was said rightly is what is left of the labels.
inline void tally(State &st, const double *labels, const double *scores, Index start, Index stop, bool gaps) {
    const Index rows = st.trace_rows;
    if (gaps) {
        for (Index t = start; t < stop; ++t) {
            if (scores[t] == scores[t]) count_label(st, labels[t]);
        }
        if (rows > 0 && st.trace[rows - 1][0] == static_cast<double>(st.rounds)) tell(st, rows - 1);
    } else {
        Index before = st.rounds - (stop - start), i = rows;
        while (i > 0 && st.trace[i - 1][0] > static_cast<double>(before)) --i;
        for (; start < stop; ++i) {
            Index end = stop;
            if (i < rows) end = std::min(start + static_cast<Index>(st.trace[i][0]) - before, stop);
            count_labels(st, labels, start, end);
            before += end - start;
            start = end;
            if (i < rows) tell(st, i);
        }
    }
    st.confusion[1][1] = st.positives - st.confusion[1][0];
    st.confusion[0][0] = st.rounds - st.positives - st.confusion[0][1];
}

// What `place` does, for the rounds start..stop: seldom, for the bins would drive the weights out of the cache.
inline void place_all(State &st, const double *labels, const double *scores, Index start, Index stop, bool gaps) {
    if (gaps) {
        for (Index t = start; t < stop; ++t) {
            if (scores[t] == scores[t]) place(st, labels[t], scores[t]);
        }
        return;
    }
    Index *bins = &st.bins[0][0];
    Index room[ROOM];
    for (Index begin = start; begin < stop; begin += ROOM) {
        const Index some = std::min(stop - begin, ROOM);
        for (Index i = 0; i < some; ++i) room[i] = BINS * (1 - below(labels[begin + i])) + score_bin(scores[begin + i]);
        for (Index i = 0; i < some; ++i) ++bins[room[i]];
    }
}

// `keep_in_window` of the rounds 0..stop: of more than the window holds, the last.
inline void keep_last(State &st, double tie, const double *labels, const double *scores, Index stop, bool gaps) {
    if (gaps) {
        for (Index t = 0; t < stop; ++t) {
            if (scores[t] == scores[t]) keep_in_window(st, is_mistake(scores[t], labels[t], tie));
        }
        return;
    }
    const Index first = stop > WINDOW ? stop - WINDOW : 0;
    st.window_at = (st.window_at + first) % WINDOW;
    for (Index t = first; t < stop; ++t) keep_in_window(st, is_mistake(scores[t], labels[t], tie));
}

// The mean of the labels so far, 0 before the first.
inline double mean_label(const State &st) { return st.rounds > 0 ? st.label_sum / static_cast<double>(st.rounds) : 0.0; }

// Absolute and squared error, windowed absolute error.
inline void record_real(State &st, double score, double y) {
    const double error = std::fabs(score - y);
    st.absolute += error;
    st.squared += error * error;
    st.label_sum += y;
    st.label_max = higher(st.label_max, std::fabs(y));
    st.last_label = y;
    keep_in_window(st, error);
}

// All that is booked of a round of weight k, once it is sure to be played, but what is booked in batches.
inline void book_sums(State &st, const Config &cfg, double k, double y, double score, double row2, double loss) {
    st.loss += loss;
    st.row_max2 = higher(st.row_max2, row2);
    if (!cfg.classify) {
        record_real(st, score, y);
    } else if (is_mistake(score, y, cfg.tie)) {
        const int truth = y > 0.0;
        ++st.mistakes;
        st.mistake_row2 += row2;
        ++st.confusion[truth][1 - truth];
    }
    st.fractional_weights += k != 1.0;
}

// All that is booked of round t.
inline void book(State &st, const Config &cfg, double k, const double *labels, const double *scores, Index t, double row2, double loss) {
    const double y = labels[t], score = scores[t];
    book_sums(st, cfg, k, y, score, row2, loss);
    if (!cfg.classify) return;
    const int truth = y > 0.0;
    const bool wrong = is_mistake(score, y, cfg.tie);
    st.confusion[truth][truth] += !wrong;
    count_label(st, y);
    place(st, y, score);
    keep_in_window(st, wrong);
}

// Drop every second row of the trace, so that the spacing doubles.
inline void thin(State &st) {
    const Index rows = st.trace_rows, step = 2 * st.trace_step;
    for (Index k = 0; k < rows; ++k) {
        for (Index j = 0; j < TRACE_COLUMNS; ++j) st.trace[k][j] = k < rows / 2 ? st.trace[2 * k + 1][j] : 0.0;
    }
    st.trace_rows = rows / 2;
    st.trace_step = step;
    st.trace_next = (st.rounds / step + 1) * step;
}

// One row of the trace, at round `trace_next`.
inline void add_to_trace(State &st, Index classify) {
    const Index i = st.trace_rows;
    double *row = st.trace[i];
    row[0] = static_cast<double>(st.rounds);
    row[1] = static_cast<double>(st.mistakes);
    row[2] = st.loss;
    row[5] = st.gradient2;
    row[6] = st.gradient_dot_weights;
    st.trace_rows = i + 1;
    st.trace_next += st.trace_step;
    if (classify) {
        tell(st, i);
    } else {
        row[3] = st.constant;
        row[4] = st.last;
    }
}

// One row of the trace; a full table then drops every second row.
inline void record_trace(State &st, Index classify) {
    add_to_trace(st, classify);
    if (st.trace_rows == POINTS) thin(st);
}

// What is booked in batches.
inline void book_late(State &st, const Config &cfg, const double *labels, const double *scores, Index start, Index stop, bool gaps) {
    if (!cfg.classify) return;
    tally(st, labels, scores, start, stop, gaps);
    place_all(st, labels, scores, start, stop, gaps);
}

// As `record_trace` before round t, where rounds are booked in batches; up to where they now are.
inline Index trace_late(State &st, const Config &cfg, const double *labels, const double *scores, Index booked, Index t, bool gaps) {
    add_to_trace(st, cfg.classify);
    const bool full = st.trace_rows == POINTS;
    if (full || gaps || t - booked >= SELDOM) {
        book_late(st, cfg, labels, scores, booked, t, gaps);
        booked = t;
    }
    if (full) thin(st);
    return booked;
}

// What is booked at the end of a play.
inline void book_rest(State &st, const Config &cfg, const double *labels, const double *scores, Index booked, Index played, bool gaps) {
    book_late(st, cfg, labels, scores, booked, played, gaps);
    if (cfg.classify) keep_last(st, cfg.tie, labels, scores, played, gaps);
}

// Drop what the trace will have dropped anyway when so many more rounds are over: they need not write it first. Where
// fewer follow, because one of them is refused, the trace is thinner than it need be.
inline void expect(State &st, Index rounds) {
    while ((st.rounds + rounds) / st.trace_step >= POINTS) thin(st);
}

// One row of the regret curve, four to each doubling of the rounds: ‖Σg‖ costs a look at every feature.
inline void record_curve(State &st, double gradient_norm) {
    const Index t = st.rounds;
    double *row = st.curve[st.curve_rows++];
    row[0] = static_cast<double>(t);
    row[1] = st.loss;
    row[2] = st.gradient_dot_weights;
    row[3] = gradient_norm;
    Index step = 1;
    while (8 * step <= t) step *= 2;
    st.curve_next = t + step;
}

}  // namespace noregret
