// Intervals and sets of labels whose coverage is tracked: a set holds every label y whose score a(y) is at most q, and q
// rises by η(1 − α) after a label that was not in its set, and falls by ηα after one that was.
//
// q is computed from counts, q = q₁ + η(misses − α·rounds): the same bits for any split of the stream, and no drift. It is
// never clipped: below 0 the set is empty. The first `WARM` scores are kept and give no set: η is a twentieth of their
// median, q₁ their quantile of rank ⌈(1 − α)·WARM⌉. Where more than half of them are 0 the median is of those above 0; where
// all are, the last one makes room for the next score until one is above 0.
#pragma once

#include <algorithm>
#include <cfloat>

#include "loss.hpp"
#include "record.hpp"

namespace noregret {

constexpr Index WARM = 50;                // labels before the first set
constexpr Index SIZES = BINS / 2 + 1;     // widths in bins as `score_bin` has them, from 0 on; or numbers of labels
constexpr double STEP = 0.05;             // η, as a share of the median of the first scores

struct Cover {
    double target, alpha;  // 1 − α and α
    double first, step;    // q₁ and η, 0 before there are any
    double largest;        // score of a round that had a set
    double total;          // Σ of the widths, or of the numbers of labels
};

struct CoverCounts {
    Index unset;            // labels that came without a set
    Index rounds, misses;   // with one, and not in it
    Index empty, full;      // sets without any label, and with all
    Index between;          // most labels learned between a prediction and its own
    Index early;            // labels of rows that were predicted before any was learned, and that came behind others
};

constexpr Index COVER_NUMBERS = sizeof(Cover) / sizeof(double), COVER_COUNTS = sizeof(CoverCounts) / sizeof(Index);

// What is kept of a run, in its four arrays.
struct Tracker {
    Cover &now;
    CoverCounts &counts;
    double *first;  // `WARM` scores
    Index *sizes;   // `SIZES` counts
};

// A set as it was shown: its size or width, and where that is counted.
struct Set {
    double size;
    Index place;
    bool empty, full;
};

inline double threshold(const Cover &now, const CoverCounts &counts) {
    if (now.step == 0.0) return NOT_A_NUMBER;
    return now.first + now.step * (static_cast<double>(counts.misses) - now.alpha * static_cast<double>(counts.rounds));
}

inline double middle(const double *sorted, Index count) { return 0.5 * sorted[(count - 1) / 2] + 0.5 * sorted[count / 2]; }

// A score before there was a set; once there are enough, q₁ and η.
inline void warm(Tracker &at, double score) {
    at.first[std::min(at.counts.unset, WARM - 1)] = score;
    if (at.counts.unset + 1 < WARM) return;
    double sorted[WARM];
    std::copy_n(at.first, WARM, sorted);
    std::sort(sorted, sorted + WARM);
    const Index zeros = std::upper_bound(sorted, sorted + WARM, 0.0) - sorted;
    if (zeros == WARM) return;
    double typical = middle(sorted, WARM);
    if (typical == 0.0) typical = middle(sorted + zeros, WARM - zeros);
    at.now.step = higher(STEP * typical, DBL_MIN);
    const Index rank = static_cast<Index>(-std::floor(-at.now.target * static_cast<double>(WARM)));
    at.now.first = sorted[std::min(std::max(rank, Index(1)), WARM) - 1];
}

// The label of a round has come: `q` is what its set was made with, before `since` labels fewer than now were learned.
inline void cover(Tracker &at, double score, double q, Index since, const Set &set) {
    score = lower(score, DBL_MAX);
    if (q != q) {
        if (at.now.step == 0.0) warm(at, score);
        ++at.counts.unset;
        return;
    }
    at.counts.between = std::max(at.counts.between, at.counts.rounds - since);
    ++at.counts.rounds;
    at.counts.misses += score > q;
    at.counts.empty += set.empty;
    at.counts.full += set.full;
    at.now.largest = higher(at.now.largest, score);
    at.now.total += set.size;
    ++at.sizes[set.place];
}

// Of numbers: the interval of all within q of the one predicted.
struct Distance {
    static double score(double z, double y) { return std::fabs(y - z); }
    static Set set(double, double q) {
        const double width = 2.0 * higher(q, 0.0);
        return {width, score_bin(width) - BINS / 2, q < 0.0, false};
    }
};

// 1/(1 + e^(−z)), as Python's `probability`.
inline double chance(double z) {
    const double e = exp_of(-std::fabs(z));
    return (z >= 0.0 ? 1.0 : e) / (1.0 + e);
}

// Of two classes with log-odds z: 1 − p(y), which is p of the other.
struct TwoClasses {
    static double score(double z, double y) { return chance(-y * z); }
    static Set set(double z, double q) {
        const Index size = (chance(z) <= q) + (chance(-z) <= q);
        return {static_cast<double>(size), size, size == 0, size == 2};
    }
};

// A row of 1 − p for every class that was known.
inline Set set_of(Line<const double> others, double q) {
    const Index size = std::count_if(others.data, others.data + others.size, [q](double a) { return a <= q; });
    return {static_cast<double>(size), std::min(size, SIZES - 1), size == 0, size > 0 && size == others.size};
}

// Each round with the q before it, which is written down; a round of weight 0, or a score that is no number, is none.
template <class Kind>
void cover_all(Line<const double> z, Line<const double> labels, Line<const double> weights, Tracker at, Line<double> out) {
    for (Index t = 0; t < z.size; ++t) {
        out[t] = NOT_A_NUMBER;
        if ((weights.size && weights[t] == 0.0) || z[t] != z[t]) continue;
        out[t] = threshold(at.now, at.counts);
        cover(at, Kind::score(z[t], labels[t]), out[t], at.counts.rounds, Kind::set(z[t], out[t]));
    }
}

// Log-odds as they were said, judged by their labels: Σ of the logistic loss, and a count in its bin.
inline void judge(Line<const double> z, Line<const double> labels, Line<double> loss, Table<Index> bins) {
    for (Index t = 0; t < z.size; ++t) {
        if (z[t] != z[t]) continue;
        loss[0] += Logistic{}.both(z[t], labels[t]).value;
        ++bins[labels[t] > 0.0][score_bin(z[t])];
    }
}

}  // namespace noregret
