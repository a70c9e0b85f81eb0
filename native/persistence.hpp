// Forecasts of numbers from past labels alone: their mean, the last of them, or the last and the mean step to it.
#pragma once

#include "arrays.hpp"

namespace noregret {

enum Persisting : Index { MEAN, LAST, DRIFT };

// Of the labels so far: how many rounds, Σk, the mean, the first and the last.
struct Labels {
    double rounds, weight, mean, first, last;
};

inline double persisting(Index rule, const Labels &seen) {
    if (rule == MEAN) return seen.mean;
    if (rule == LAST || seen.rounds < 2.0) return seen.last;
    return seen.last + (seen.last - seen.first) / (seen.rounds - 1.0);
}

struct Persistence {
    Index rule;
    Labels *seen;

    template <class R> double score(const R &, Index) const { return persisting(rule, *seen); }
    template <class R> void learn(const R &, Index, double y, double k) const {
        seen->first = seen->rounds > 0.0 ? seen->first : y;
        seen->weight += k;
        seen->mean += k / seen->weight * (y - seen->mean);
        seen->last = y;
        seen->rounds += 1.0;
    }
};

}  // namespace noregret
