// Steps on the logistic loss that are solved for: the slope is taken at the score that the step leads to.
#pragma once

#include "loss.hpp"

namespace noregret {

constexpr double LEAST_CURVATURE = 1e-3;
constexpr double SETTLED = 0x1p-50;    // a step shorter than this share ends the search for a number
constexpr int MOST_STEPS = 1024;    // a step of one moves e^m by one power of e, and doubles have some 1400

// 1/(1 + e^m) and how fast it falls.
inline Cost falling(double m) {
    const double e = exp_of(m < 0.0 ? m : -m), share = 1.0 / (1.0 + e);
    return {m < 0.0 ? share : e * share, e * share * share};
}

// The margin m of m = start + a/(1 + e^m). The left side less the right is convex below 0 and concave above: on the
// root's side of 0 Newton's steps come to it from the one side.
inline double settled_margin(double start, double a) {
    const bool above = start + 0.5 * a >= 0.0;
    double m = above ? higher(start, 0.0) : lower(start + a, 0.0);
    for (int step = 0; step < MOST_STEPS; ++step) {
        const Cost part = falling(m);
        const double change = (start - m + a * part.value) / (1.0 + a * part.slope);
        if (!(above ? change > 0.0 : change < 0.0)) break;
        m += change;
        if (std::fabs(change) < SETTLED * (1.0 + std::fabs(m))) break;
    }
    return m;
}

}  // namespace noregret
