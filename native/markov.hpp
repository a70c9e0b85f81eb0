// The label alone, after its predecessors: in each context, the last labels, a count of every label that followed.
//
// The next label is given the probability (n₁ + ½)/(n + 1) of Krichevsky and Trofimov. A context is a number that begins
// with a bit 1 and goes on with the last labels, the newest last: before so many labels were seen it is shorter, 1 for
// none, and so a context of its own. Of `order` labels there are fewer than 2^(order + 1).
#pragma once

#include "functions.hpp"
#include "rows.hpp"

namespace noregret {

// ln((n₁ + ½)/(n₀ + ½)) of the counts of a context.
inline double log_odds(const double *n) { return log_of((n[1] + 0.5) / (n[0] + 0.5)); }

struct Markov {
    Table<double> counts;  // a row a context, a column a label, −1 first
    Index *context;        // of the next round

    template <class R> double score(const R &, Index) const { return log_odds(counts[*context]); }
    template <class R> void learn(const R &, Index, double y, double k) {
        const Index label = y > 0.0, next = 2 * *context + label, oldest = counts.rows / 2;
        counts(*context, label) += k;
        *context = next < counts.rows ? next : oldest + next % oldest;
    }
};

}  // namespace noregret
