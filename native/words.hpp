// Naive Bayes for counts: in each class every feature has a share of all that was counted, smoothed by α for each feature.
//
// A row says Σ|x|·ln(share in +1 / share in −1) and the log-odds of the label itself; with `tempered` that is made a
// probability by Platt scaling, since words that come together are counted as if each were news.
#pragma once

#include "platt.hpp"

namespace noregret {

// What was counted of all rows together.
struct Counted {
    double words[2];  // Σ|x| by class, −1 first
    double rows[2];
    double vocabulary;  // features that were met
};

constexpr Index COUNTED_NUMBERS = sizeof(Counted) / sizeof(double);

struct WordsSeen {
    Table<const double> counts;  // a row a feature, a column a class
    const Counted *all;
    const Platt *platt;
    double smoothing;
    bool tempered;

    // A feature that was never met says nothing of its own; it counts in the length of the row.
    template <class R> double plain(const R &rows, Index t) const {
        const double rest = smoothing * (all->vocabulary + 1.0);
        double length = 0.0, found = 0.0;
        each_entry(rows, t, [&](Index j, double x) {
            if (x == 0.0) return;
            const double size = std::fabs(x);
            length += size;
            if (j >= counts.rows) return;
            const double *n = counts[j];
            found += size * log_of((n[1] + smoothing) / (n[0] + smoothing));
        });
        return found - length * log_of((all->words[1] + rest) / (all->words[0] + rest)) + log_of((all->rows[1] + 0.5) / (all->rows[0] + 0.5));
    }

    template <class R> double score(const R &rows, Index t) const {
        const double z = plain(rows, t);
        return tempered ? scaled(*platt, z) : z;
    }
};

struct Words {
    Table<double> counts;
    Counted *all;
    Platt *platt;
    double smoothing;
    bool tempered;

    WordsSeen seen() const { return {{counts.data, counts.rows, counts.columns, counts.apart}, all, platt, smoothing, tempered}; }
    template <class R> double score(const R &rows, Index t) const { return seen().score(rows, t); }
    template <class R> void learn(const R &rows, Index t, double y, double k) {
        const Index label = y > 0.0;
        if (tempered) noregret::learn(*platt, seen().plain(rows, t), y, k);
        each_entry(rows, t, [&](Index j, double x) {
            if (x == 0.0) return;
            double *n = counts[j];
            all->vocabulary += n[0] + n[1] == 0.0;
            n[label] += k * std::fabs(x);
            all->words[label] += k * std::fabs(x);
        });
        all->rows[label] += k;
    }
};

}  // namespace noregret
