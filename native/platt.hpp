// Platt scaling, learned online: any score z becomes the log-odds a·u + b, u = z/mean|z|, whatever the scale of z.
//
// The mean is over the scores so far, the one in hand among them. a and b begin at 1 and 0 and are moved by one step of
// Newton's method a round, on the logistic loss: H ← H + k·q·(u,1)(u,1)ᵀ from H = I, (a,b) ← (a,b) − H⁻¹·k·g·(u,1) with the
// slope g. The curvature q is p(1 − p), or g² where that is more: a score that is far off then moves little, not far.
#pragma once

#include "loss.hpp"

namespace noregret {

// What has been learned, in this order.
struct Platt {
    double a, b;
    double uu, u1, one;  // H
    double weight, mean;  // of the scores so far: Σk and the mean of |z|
};

constexpr Index PLATT_NUMBERS = sizeof(Platt) / sizeof(double);

// z by the mean of |z|, to which it is added with weight 1; 0 where all were 0.
inline double by_mean(const Platt &now, double z) {
    const double mean = now.mean + (std::fabs(z) - now.mean) / (now.weight + 1.0);
    return mean > 0.0 ? z / mean : 0.0;
}

inline double scaled(const Platt &now, double z) { return now.a * by_mean(now, z) + now.b; }

// The label y of a score z, in a round of weight k.
inline void learn(Platt &now, double z, double y, double k) {
    const double u = by_mean(now, z), g = Logistic{}.slope(now.a * u + now.b, y), size = std::fabs(g);
    const double q = k * higher(size * (1.0 - size), size * size);
    now.uu += q * u * u;
    now.u1 += q * u;
    now.one += q;
    const double by = k * g / (now.uu * now.one - now.u1 * now.u1);
    now.a -= by * (now.one * u - now.u1);
    now.b -= by * (now.uu - now.u1 * u);
    now.weight += k;
    now.mean += k / now.weight * (std::fabs(z) - now.mean);
}

// For scores that are log-odds already, but too small or too large: a·z, with a from 1 by one step of Newton's method a
// round, h ← h + k·p(1 − p)z² from h = 1, kept between 1/5 and 10.
struct Temperature {
    double a, h;
};

constexpr Index TEMPERATURE_NUMBERS = sizeof(Temperature) / sizeof(double);

inline double scaled(const Temperature &now, double z) { return now.a * z; }

inline void learn(Temperature &now, double z, double y, double k) {
    const double g = Logistic{}.slope(now.a * z, y), size = std::fabs(g);
    const double h = now.h + k * (size * (1.0 - size) * z * z);
    if (!finite(h)) return;
    now.h = h;
    now.a = lower(higher(now.a - k * g * z / h, 0.2), 10.0);
}

// Each score with what was learned before it, then its label; a round of weight 0, or a score that is no number, is none.
template <class C> void calibrate(Line<const double> z, Line<const double> labels, Line<const double> weights, C &now, Line<double> out) {
    for (Index t = 0; t < z.size; ++t) {
        const double k = weights.size ? weights[t] : 1.0;
        out[t] = NOT_A_NUMBER;
        if (k == 0.0 || !finite(z[t])) continue;
        out[t] = scaled(now, z[t]);
        learn(now, z[t], labels[t], k);
    }
}

}  // namespace noregret
