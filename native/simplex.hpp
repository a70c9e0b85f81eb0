// The domain ‖w‖₁ ≤ U and the solid simplex w ≥ 0, Σw ≤ U: Euclidean projections, in scaled weights w = scale·z.
//
// A step changes the features of its row and, in the simplex, cuts them at 0 from below: Θ(non-zeros). The running
// ‖z‖₁ tells when the constraint may be violated. Only then every feature is looked at: the nearest point is the soft
// threshold sgn(z)·max(|z| − θ, 0) with Σ max(|z_i| − θ, 0) = U/scale.
#pragma once

#include <cmath>

#include "rows.hpp"
#include "state.hpp"

namespace noregret {

constexpr double SLACK = 1e-9;  // how far a running norm is trusted where the exact one can be had

inline bool has_corners(const Config &cfg) { return cfg.domain == CROSS || cfg.domain == SIMPLEX; }

// sgn(v)·max(|v| − θ, 0).
inline double shrunk(double value, double theta) {
    if (value > theta) return value - theta;
    return value < -theta ? value + theta : 0.0;
}

// z ← z + c·x of row t with the bias, cut at 0 from below in the simplex; the two running norms follow.
template <class R> void corner_step(State &st, const Config &cfg, const R &rows, Index t, double c, Strided<double> z, double old2) {
    const double low = cfg.domain == SIMPLEX ? 0.0 : -INFINITE;
    const double bias = higher(st.bias + cfg.bias * c, low);
    double change1 = std::fabs(bias) - std::fabs(st.bias), change2 = bias * bias - st.bias * st.bias;
    st.bias = bias;
    each_entry(rows, t, [&](Index i, double x) {
        const double old = z[i], now = higher(old + c * x, low);
        change1 += std::fabs(now) - std::fabs(old);
        change2 += now * now - old * old;
        z[i] = now;
    });
    st.norm1 = higher(st.norm1 + change1, 0.0);
    st.norm2 = higher(old2 + change2, 0.0);
}

// sgn(z)·max(|z| − θ, 0) for every feature and the bias, and ‖z‖² of that.
inline void shrink_all(State &st, double theta, Strided<double> z) {
    st.bias = shrunk(st.bias, theta);
    double square = st.bias * st.bias;
    for (Index i = 0; i < z.size; ++i) {
        if (z[i] != 0.0) {
            z[i] = shrunk(z[i], theta);
            square += z[i] * z[i];
        }
    }
    st.norm2 = square;
}

// The nearest point with ‖z‖₁ ≤ limit, the signs kept: Θ(features) for each of a few looks. θ grows with each look,
// from the mean excess over all that is not 0 to that over all above θ, until nothing falls below it any more
// (Michelot 1986). Zeros, also those that are not there yet, count nowhere.
inline void project_corners(State &st, double limit, Strided<double> z) {
    double theta = 0.0;
    for (Index count = -1;;) {
        double size = 0.0;
        Index above = 0;
        if (std::fabs(st.bias) > theta) {
            size = std::fabs(st.bias);
            above = 1;
        }
        for (Index i = 0; i < z.size; ++i) {
            if (std::fabs(z[i]) > theta) {
                size += std::fabs(z[i]);
                ++above;
            }
        }
        if (count < 0) {
            st.norm1 = size;
            if (size <= limit) return;
        }
        if (above == count || above == 0) break;
        count = above;
        theta = higher((size - limit) / static_cast<double>(above), theta);
    }
    st.norm1 = limit;
    shrink_all(st, theta, z);
}

// Project where the constraint may be violated.
inline void settle_corners(State &st, const Config &cfg, Strided<double> z) {
    const double limit = cfg.radius / st.scale;
    if (st.norm1 > limit * (1.0 - SLACK)) project_corners(st, limit, z);
}

}  // namespace noregret
