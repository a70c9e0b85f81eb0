// The rounds of a perceptron of many classes: a column of weights a class, those of one feature side by side.
//
// Classes are numbered in the order in which they appear; `clock[0]` is how many were known before the round, `clock[1]`
// how many rounds had a new label and taught nothing. Each score is summed in the order of the row's entries, so that
// classes and features that come later change no bit of it, and dense rows give what sparse ones do.
#pragma once

#include "record.hpp"
#include "rows.hpp"

namespace noregret {

template <class T> struct ClassWeights {  // of double, or to be read only, of const double
    Table<T> z;  // a row a feature, a column a class
    Line<T> biases;
    double bias;  // 1 with a bias, else 0
};

struct ClassTables {
    Line<Index> counts, moved;  // rounds of each class, and how often its weights moved
    Table<Index> confusion;
};

// ‖x‖² with the bias; NaN where a feature has no weights.
template <class R, class T> double class_square(const R &rows, Index t, const ClassWeights<T> &w) {
    double found = w.bias;
    bool inside = true;
    each_entry(rows, t, [&](Index j, double x) {
        inside &= j < w.z.rows;
        found += x * x;
    });
    return inside ? found : NOT_A_NUMBER;
}

// s[k] = ⟨w_k, x⟩ for N classes from `first` on, N a multiple of four or 1.
template <int N, class R, class T> void scores_of(const R &rows, Index t, const ClassWeights<T> &w, Index first, double *s) {
    constexpr int FOURS = N / 4;
    const double *z = w.z.data + first;
    if constexpr (N == 1) {
        double sum = w.bias * w.biases[first];
        each_entry(rows, t, [&](Index j, double x) {
            if (x != 0.0) sum += x * z[j * w.z.apart];
        });
        s[first] = sum;
    } else {
        Four sums[FOURS];
        for (int k = 0; k < FOURS; ++k) sums[k] = everywhere(w.bias) * load(&w.biases[first + 4 * k]);
        each_entry(rows, t, [&](Index j, double x) {
            if (x == 0.0) return;
            const double *at = z + j * w.z.apart;
            sums[0] += everywhere(x) * load(at);
            if constexpr (FOURS == 4) {
                sums[1] += everywhere(x) * load(at + 4);
                sums[2] += everywhere(x) * load(at + 8);
                sums[3] += everywhere(x) * load(at + 12);
            }
        });
        for (int k = 0; k < FOURS; ++k) store(sums[k], s + first + 4 * k);
    }
}

// s[k] = ⟨w_k, x⟩ for the classes below `known`, and perhaps for some more that there is room for.
template <class R, class T> void class_scores(const R &rows, Index t, const ClassWeights<T> &w, Index known, Line<double> s) {
    const Index room = std::min({w.z.columns, w.biases.size, s.size});
    Index k = 0;
    for (; k + 8 < known && k + 16 <= room; k += 16) scores_of<16>(rows, t, w, k, s.data);
    for (; k < known && k + 4 <= room; k += 4) scores_of<4>(rows, t, w, k, s.data);
    for (; k < known; ++k) scores_of<1>(rows, t, w, k, s.data);
}

// w_k ← w_k + c·x.
template <class R> void add_to_class(const R &rows, Index t, double c, Index k, const ClassWeights<double> &w) {
    each_entry(rows, t, [&](Index j, double x) { w.z(j, k) += c * x; });
    w.biases[k] += w.bias * c;
}

// The first class of the highest score among those below `known` other than y; −1 where there is none.
inline Index best_but(const double *s, Index known, Index y) {
    Index best = -1;
    for (Index k = 0; k < known; ++k) {
        if (k != y && (best < 0 || s[k] > s[best])) best = k;
    }
    return best;
}

inline bool all_finite(const double *s, Index known) {
    for (Index k = 0; k < known; ++k) {
        if (!finite(s[k])) return false;
    }
    return true;
}

// Mistakes, confusion table, windowed error and the two baselines of a round of weight k.
inline void book_class(State &st, Index y, Index said, bool miss, double loss, double k, double row2, const ClassTables &tables) {
    st.positives = std::max(st.positives, ++tables.counts[y]);  // of the most frequent class
    st.constant = static_cast<double>(st.rounds + 1 - st.positives);
    st.mistakes += miss;
    st.loss += loss;
    st.row_max2 = higher(st.row_max2, row2);
    if (miss) st.mistake_row2 += row2;
    if (said >= 0 && y < tables.confusion.rows && said < tables.confusion.rows) ++tables.confusion(y, said);
    st.last += st.rounds == 0 || st.last_label != static_cast<double>(y);
    st.last_label = static_cast<double>(y);
    keep_in_window(st, miss);
    st.fractional_weights += k != 1.0;
}

// Play the rows in order; returns how many, fewer than there are only where the next one would overflow.
//
// scores[t] = (s_y − max_{r≠y} s_r, the class predicted before the label, its score); −1 is none, where several score
// highest. moves(t, k) = ±1 where w_k ± x, if there is room. `s` has room for every class.
template <class R>
Index play_classes(const R &rows, Line<const double> labels, Line<const double> weights, bool one_vs_rest, const ClassWeights<double> &w, Record &record,
                   Line<Index> clock, const ClassTables &tables, Line<double> s, Table<double> scores, Table<std::int8_t> moves) {
    State &st = record.state;
    const bool kept = moves.rows > 0;
    for (Index t = 0; t < labels.size; ++t) {
        const double k = weights.size ? weights[t] : 1.0;
        double *said = scores[t];
        if (k == 0.0) {
            said[0] = said[1] = said[2] = NOT_A_NUMBER;
            continue;
        }
        const Index y = static_cast<Index>(labels[t]), known = clock[0];
        const double row2 = class_square(rows, t, w);
        if (!finite(row2)) return t;
        class_scores(rows, t, w, known, s);
        if (!all_finite(s.data, known)) return t;
        const Index predicted = best_but(s.data, known, -1);
        const bool is_new = y >= known;
        if (is_new) {
            for (Index other = known; other <= y; ++other) s[other] = 0.0;
            clock[0] = y + 1;
        }
        const Index rival = best_but(s.data, known, y);
        const double margin = rival >= 0 ? s[y] - s[rival] : INFINITE;
        const bool miss = is_new || margin <= 0.0;
        said[0] = margin;
        const Index second = best_but(s.data, known, predicted);
        said[1] = second >= 0 && s[second] == s[predicted] ? -1.0 : static_cast<double>(predicted);
        said[2] = predicted >= 0 ? s[predicted] : 0.0;
        bool changed = false;
        const auto move = [&](Index c, double sign) {
            changed = true;
            ++tables.moved[c];
            add_to_class(rows, t, k * sign, c, w);
            if (kept) moves(t, c) = static_cast<std::int8_t>(sign);
        };
        if (one_vs_rest) {
            for (Index c = 0; c < std::max(known, y + 1); ++c) {
                const double sign = c == y ? 1.0 : -1.0;
                if (sign * s[c] <= 0.0) move(c, sign);
            }
        } else if (margin <= 0.0) {
            move(y, 1.0);
            move(rival, -1.0);
        } else if (is_new) {
            ++clock[1];
        }
        book_class(st, y, miss ? rival : y, miss, miss ? k : 0.0, k, row2, tables);
        st.updates += changed;
        ++st.rounds;
        if (st.rounds == st.trace_next) record_trace(st, 0);
    }
    return labels.size;
}

// out(t, k) = ⟨w_k, x_t⟩ for the classes below `known`; NaN where a feature has no weights.
template <class R> void score_classes(const R &rows, const ClassWeights<const double> &w, Index known, Table<double> out) {
    for (Index t = 0; t < out.rows; ++t) {
        if (reaches(rows, t, w.z.rows)) std::fill_n(out[t], known, NOT_A_NUMBER);
        else class_scores(rows, t, w, known, out.row(t));
    }
}

}  // namespace noregret
