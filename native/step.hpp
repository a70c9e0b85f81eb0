// One gradient step in scaled weights w = scale·z: Θ(1) scalar work, whatever the domain and the rate.
//
// w ← (1 − ησ)·w − η·g·x becomes "shrink the scale, add c·x to z"; the projection on a ball only changes the scale.
// So does a penalty (λ₂/2)‖w‖², which is met exactly (Duchi & Singer 2009): w ← (w − η·g·x)/(1 + ηλ₂).
#pragma once

#include <algorithm>

#include "simplex.hpp"
#include "vector.hpp"

namespace noregret {

inline bool is_power_of_two(Index t) { return (t & (t - 1)) == 0; }

inline Strided<const double> reading(Strided<double> z) { return {z.data, z.size, z.step}; }

// The doubling trick: at rounds 1, 2, 4, 8, … the learner starts anew for a period as long as all before.
inline bool restarts(const State &st, const Config &cfg) { return cfg.rate == DOUBLING && is_power_of_two(st.rounds + 1); }

// What is finite if and only if a restart's first round with slope g can be played: it must not forget in vain.
inline double first_step(const State &st, const Config &cfg, double g, double row2) {
    const double c = cfg.eta / std::sqrt(static_cast<double>(st.rounds + 1)) * g;
    return c * (c * row2) + st.gradient2 + g * g * row2;
}

inline void clear(Strided<double> z) {
    for (Index i = 0; i < z.size; ++i) z[i] = 0.0;
}

// Forget the weights: a period begins.
inline void restart(State &st, Strided<double> z) {
    clear(z);
    st.bias = st.norm2 = st.norm1 = 0.0;
    st.scale = 1.0;
    st.period = st.rounds + 1;
}

// τ/k for a round of weight k: τ = ℓ/‖x‖², at most kC, or ℓ/(‖x‖² + 1/(2kC)); 0 where x = 0. Where no C is given it
// is 1/max‖x‖² over the rows so far, this one included.
inline double passive_step(const State &st, const Config &cfg, double k, double loss, double row2) {
    if (row2 == 0.0) return 0.0;
    const double bound = cfg.eta > 0.0 ? cfg.eta : 1.0 / higher(st.row_max2, row2);
    if (cfg.rate == PASSIVE_SOFT) row2 += 0.5 / (k * bound);
    double tau = loss / k / row2;
    if (cfg.rate == PASSIVE_CAPPED) tau = lower(tau, k * bound);
    return tau / k;
}

// η/‖x‖², but at most ℓ/(s²‖x‖²) for the slope s: the tangent of the loss at the score is 0 there, the loss not below.
inline double normalised_step(double eta, double size, double loss, double row2) {
    if (row2 == 0.0) return 0.0;
    return (size > 0.0 ? lower(eta, loss / size / size) : eta) / row2;
}

// η_t, from the round number t, its √t, Σ‖g‖² (late labels: `delayed2`) up to and including it, the round's weight, loss and ‖x‖².
inline double step_size(const State &st, const Config &cfg, Index t, double root, double gradient2, double size, double loss, double row2) {
    switch (cfg.rate) {
        case PASSIVE:
        case PASSIVE_CAPPED:
        case PASSIVE_SOFT: return passive_step(st, cfg, size, loss, row2);  // the slope of its loss is 1: |g| is the weight
        case CONSTANT: return cfg.eta;
        case NORMALISED: return normalised_step(cfg.eta, size, loss, row2);
        case SQRT: return cfg.eta / root;
        case STRONG: return 1.0 / (cfg.sigma * static_cast<double>(t));
        case DOUBLING: return cfg.eta / std::sqrt(static_cast<double>(st.period));
        default: return gradient2 > 0.0 ? cfg.eta / std::sqrt(gradient2) : 0.0;
    }
}

// The sums over gradients that theorems are made from, for one gradient with ‖g‖² and ⟨g, w⟩.
inline void book_gradient(State &st, Index t, double root, double gradient2, double total2, double slope_dot) {
    if (gradient2 > 0.0) {
        st.gradient2 = total2;
        st.gradient2_sqrt += gradient2 / root;
        st.gradient2_inverse += gradient2 / static_cast<double>(t);
        st.gradient_max2 = higher(st.gradient_max2, gradient2);
    }
    st.gradient_dot_weights += slope_dot;
}

// η/scale, exactly 1 where they are the same: a perceptron's weights are then whole multiples of its step.
[[gnu::always_inline]] inline double in_units(double eta, double scale, double inverse) { return eta == scale ? 1.0 : eta * inverse; }

// Book the gradient g·x + σ·w, shrink, and return the c of z ← z + c·x; NaN (nothing changed) on overflow.
inline double descend(State &st, const Config &cfg, Strided<double> z, double dot, double row2, double score, double g, double loss) {
    const Index t = st.rounds + 1;
    const double sigma = cfg.sigma;
    double gradient2 = g * g * row2, slope_dot = g * score, scale = st.scale, old2 = st.norm2;
    if (sigma > 0.0) {
        const double weights2 = scale * scale * old2;
        gradient2 = higher(gradient2 + sigma * (2.0 * slope_dot + sigma * weights2), 0.0);
        slope_dot += sigma * weights2;
        scale *= static_cast<double>(t - 1) / static_cast<double>(t);
        if (scale == 0.0) dot = old2 = 0.0;  // the first step of the rate 1/(σt) forgets the start
    }
    const double total2 = st.gradient2 + gradient2, root = std::sqrt(static_cast<double>(t));
    double c = 0.0, eta = 0.0;
    const double felt2 = cfg.rate == DELAYED ? st.delayed2 + (gradient2 + 2.0 * std::sqrt(gradient2) * st.outstanding) : total2;
    if (g != 0.0 || cfg.l2 > 0.0) eta = step_size(st, cfg, t, root, felt2, std::fabs(g), loss, row2);
    if (g != 0.0) c = -(scale != 0.0 ? in_units(eta, scale, 1.0 / scale) : eta) * g;  // the slope is the last to be known, so it comes last
    const double new2 = old2 + c * (2.0 * dot + c * row2);
    if (!(finite(new2) && finite(total2) && finite(felt2) && finite(slope_dot))) return NOT_A_NUMBER;
    if (cfg.rate == DELAYED) st.delayed2 = felt2;
    if (scale == 0.0) {
        clear(z);
        st.bias = 0.0;
        scale = 1.0;
    }
    st.scale = scale / (1.0 + eta * cfg.l2);
    st.norm2 = higher(new2, 0.0);
    book_gradient(st, t, root, gradient2, total2, slope_dot);
    return c;
}

// Coin betting: z = −Σg/G, w = (wealth/n)·z in the n-th round with a gradient; NaN where the gradient is refused. The
// wealth is multiplied by 1 − ⟨g, w⟩/(G·wealth) = 1 + c⟨z, x⟩/n, which is positive while no gradient exceeds G.
inline double bet(State &st, const Config &cfg, double dot, double row2, double score, double g) {
    const Index t = st.rounds + 1;
    const double gradient2 = g * g * row2, bound = cfg.eta;
    double c = -g / bound;
    if (!(gradient2 <= bound * bound)) {
        if (!cfg.cut) {
            st.refused = gradient2;
            return NOT_A_NUMBER;
        }
        c *= bound / std::sqrt(gradient2);
    }
    const double wealth = st.wealth * (1.0 + c * dot / static_cast<double>(st.updates + 1));
    const double scale = wealth / static_cast<double>(st.updates + 2), new2 = st.norm2 + c * (2.0 * dot + c * row2);
    if (!(finite(wealth) && finite(new2) && scale > 0.0)) return NOT_A_NUMBER;
    st.wealth = wealth;
    st.scale = scale;
    st.norm2 = higher(new2, 0.0);
    book_gradient(st, t, std::sqrt(static_cast<double>(t)), gradient2, st.gradient2 + gradient2, g * score);
    return c;
}

// z ← factor·z with scale 1.
inline void fold(State &st, double factor, Strided<double> z) {
    rescale(factor, z);
    st.bias *= factor;
    st.norm2 *= factor * factor;
    st.norm1 *= factor;
    st.scale = 1.0;
}

// The scale that brings w = scale·z into the ball: no branch, for a processor cannot guess which it will be.
[[gnu::always_inline]] inline double projected(double scale, double norm2, double radius) {
    return lower(scale, radius / std::sqrt(norm2));
}

// An update after which the norm is taken from the weights.
[[gnu::always_inline]] inline bool is_fixed_update(Index n, Index large) {
    if (large) return is_power_of_two(n) || n % REFRESH == 0;
    return n <= SMALL_REFRESH || n % SMALL_REFRESH == 0;
}

// On the ball: by the scale alone, or, for few features at fixed updates, on the weights themselves. Whether z changed.
[[gnu::always_inline]] inline bool project(State &st, double radius, Strided<double> z, bool fixed) {
    const double scale = projected(st.scale, st.norm2, radius);
    if (st.large || !fixed || scale == 1.0) {
        st.scale = scale;
        return false;
    }
    fold(st, scale, z.first(SMALL));
    return true;
}

// After the round, which is an `update` where z changed: take the norm afresh at fixed updates, project, keep a scale
// that shrinks from underflow. Whether z changed here.
[[gnu::always_inline]] inline bool settle(State &st, const Config &cfg, Strided<double> z, bool update) {
    const bool fixed = update && is_fixed_update(st.updates, st.large);
    if (fixed && (cfg.domain == BALL || cfg.sigma > 0.0)) st.norm2 = norm2(reading(z)) + st.bias * st.bias;
    bool changed = false;
    if (cfg.domain == BALL) {
        changed = project(st, cfg.radius, z, fixed);
    } else if (has_corners(cfg)) {
        settle_corners(st, cfg, z);
        changed = true;
    }
    const bool shrinks = cfg.domain == BALL || cfg.sigma > 0.0 || cfg.l2 > 0.0;
    if (!(shrinks && st.scale < TINY && cfg.rate != COIN)) return changed;
    fold(st, st.scale, z);
    return true;
}

}  // namespace noregret
