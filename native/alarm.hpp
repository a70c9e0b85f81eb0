// An alarm: has the mean of losses in [0, 1] risen above a level m, at a time that nobody knows?
//
// Under "for every t the conditional mean of ℓ_t is at most m" the e-value E_t is a nonnegative supermartingale from 1:
//   A_t(λ) = (A_{t−1}(λ) + 1/(t(t + 1)))·(1 + λ(ℓ_t − m)),  E_t = Σ_j A_t(λ_j)/8 + 1/(t + 1),  λ_j = 2^−j/m for j = 1 … 8.
// So it ever reaches 1/δ with probability at most δ. The sum is taken in the order of j.
#pragma once

#include "arrays.hpp"
#include "lanes.hpp"

namespace noregret {

constexpr int STAKES = 8;

// What is kept between two rounds, in this order.
struct Alarm {
    double wealth[STAKES];  // A(λ_j)
    double rounds, now, largest, at;  // t, E_t, the largest E so far and its round
};

constexpr Index ALARM_NUMBERS = sizeof(Alarm) / sizeof(double);

// A is no further counted from here on: what follows is then too low, never too high.
constexpr double MOST_WEALTH = 0x1p900;

// E_t less what rounding may have added. A round multiplies each A by at most six factors 1 + ε: the sum with
// 1/(t(t + 1)), the bet, ℓ − m, their product and 1 + of it (these four are no larger beside 1 + λ(ℓ − m), which is at
// least about ½), the product. E adds eleven at the end; what is of second order is below the rest of the allowance.
inline double surely(double value, double rounds) { return value * (1.0 - (6.0 * rounds + 20.0) * 0x1p-53); }

// The place of the first loss at which E is surely at least the threshold, which is the last that is taken; or all.
inline Index watch(Line<const double> losses, double level, double threshold, Alarm &alarm) {
    double bets[STAKES], bet = 0.5 / level;
    for (double &each : bets) each = bet, bet *= 0.5;
    for (Index i = 0; i < losses.size; ++i) {
        const double t = alarm.rounds + 1.0, risen = losses[i] - level, moved = 1.0 / (t * (t + 1.0));
        double sum = 0.0;
        for (int j = 0; j < STAKES; ++j) {
            alarm.wealth[j] = lower((alarm.wealth[j] + moved) * (1.0 + bets[j] * risen), MOST_WEALTH);
            sum += alarm.wealth[j];
        }
        alarm.rounds = t;
        alarm.now = sum / STAKES + 1.0 / (t + 1.0);
        if (alarm.now > alarm.largest) alarm.largest = alarm.now, alarm.at = t;
        if (surely(alarm.now, t) >= threshold) return i;
    }
    return losses.size;
}

// Whether the class that was most frequent before each row is another than its own, the first to have come so often
// where several have; before any row it is. `counts` has a place for every class, `leader` is −1 at first.
inline void follow_most_frequent(Line<const Index> classes, Line<Index> counts, Index &leader, Line<double> wrong) {
    for (Index t = 0; t < classes.size; ++t) {
        const Index own = classes[t];
        wrong[t] = own == leader ? 0.0 : 1.0;
        ++counts[own];
        if (leader < 0 || counts[own] > counts[leader]) leader = own;
    }
}

// The mean of the labels before each row, `first` before any; Σ and their number are kept.
inline void follow_mean(Line<const double> labels, double first, double &sum, double &number, Line<double> means) {
    for (Index t = 0; t < labels.size; ++t) {
        means[t] = number > 0.0 ? sum / number : first;
        sum += labels[t];
        number += 1.0;
    }
}

}  // namespace noregret
