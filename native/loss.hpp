// What a round costs: ℓ(z, y) for a score z and a label y, and its slope in z. Labels are −1 and +1 for the
// classification losses; any number for the regression ones. A loss is a struct with `both`; a loop that is played
// often is a template over it, and all others take Any, which looks up the loss in every round.
#pragma once

#include <cmath>
#include <string_view>
#include <variant>

#include "functions.hpp"
#include "rows.hpp"

namespace noregret {

struct Cost {
    double value;
    double slope;
};

constexpr double LARGEST_EXPONENT = 709.0;  // e to more than this may be no float

// max(0, 1 − y·z); at the kink y·z = 1 the slope taken is 0.
struct Hinge {
    Cost both(double z, double y) const {
        const double m = y * z;
        return {higher(1.0 - m, 0.0), m < 1.0 ? -y : 0.0};
    }
};

// max(0, 1 − y·z/ρ), the hinge whose margin is ρ; slope 0 at the kink.
struct MarginHinge {
    double margin;
    Cost both(double z, double y) const { return {higher(1.0 - y * z / margin, 0.0), y * z < margin ? -y / margin : 0.0}; }
};

// max(0, 1 − y·z)².
struct SquaredHinge {
    Cost both(double z, double y) const {
        const double gap = higher(1.0 - y * z, 0.0);
        return {gap * gap, -2.0 * y * gap};
    }
};

// max(0, −y·z); at the kink z = 0 the slope taken is −y, so that learning can start from 0.
struct PerceptronLoss {
    Cost both(double z, double y) const { return {higher(-y * z, 0.0), y * z <= 0.0 ? -y : 0.0}; }
};

// ln(1 + e^(−y·z)). A loop whose next step waits for the slope takes the values later, four at a time, from the e^(−|y·z|)
// that the slopes left: the same bits. A sign that a processor cannot guess is computed, not branched on.
struct Logistic {
    static double small(double m) { return exp_of(-std::fabs(m)); }
    template <class N> [[gnu::always_inline]] static N value_of(N m, N e) { return higher(-m, N{}) + log1p_of(e); }
    static double slope_of(double m, double e, double y) { return -y * higher(e, static_cast<double>(!(m > 0.0))) / (1.0 + e); }
    Cost both(double z, double y) const {
        const double m = y * z, e = small(m);
        return {value_of(m, e), slope_of(m, e, y)};
    }
    double slope(double z, double y, double &left) const {
        left = small(y * z);
        return slope_of(y * z, left, y);
    }
    double slope(double z, double y) const { return slope_of(y * z, small(y * z), y); }
    template <class N> [[gnu::always_inline]] N value(N z, N y, N left) const { return value_of(y * z, left); }
};

// Whether the values of a loss can be taken later; each is then at most |z| + 1.
template <class L> constexpr bool is_late = requires(L loss, double x) { loss.slope(x, x, x); };

constexpr Index LATE = 256;  // so many values wait, at the most

// total + Σ ℓ(z_t, y_t), in the order of the rounds, from what their slopes left.
template <class L> double add_values(const L &loss, const double *z, const double *y, const double *left, Index count, double total) {
    Index t = 0;
    for (; t + 4 <= count; t += 4) {
        const Four some = loss.value(load(z + t), load(y + t), load(left + t));
        for (int lane = 0; lane < 4; ++lane) total += some[lane];
    }
    for (; t < count; ++t) total += loss.value(z[t], y[t], left[t]);
    return total;
}

// e^(−y·z); a margin of −709 counts as infinite.
struct Exponential {
    Cost both(double z, double y) const {
        const double m = -y * z, e = m < LARGEST_EXPONENT ? exp_of(m) : INFINITE;
        return {e, -y * e};
    }
};

// (z − y)².
struct Squared {
    Cost both(double z, double y) const { return {(z - y) * (z - y), 2.0 * (z - y)}; }
};

// |z − y|; at the kink z = y the slope taken is 0.
struct Absolute {
    Cost both(double z, double y) const { return {std::fabs(z - y), z > y ? 1.0 : z < y ? -1.0 : 0.0}; }
};

// r²/2 where |r| ≤ δ, else δ|r| − δ²/2, with r = z − y.
struct Huber {
    double delta;
    Cost both(double z, double y) const {
        const double r = std::fabs(z - y);
        return {r <= delta ? 0.5 * r * r : delta * r - 0.5 * delta * delta, clipped(z - y, delta)};
    }
};

// τ·(y − z) where z < y, else (1 − τ)·(z − y); slope 0 at z = y.
struct Pinball {
    double tau;
    Cost both(double z, double y) const {
        return {higher(tau * (y - z), (1.0 - tau) * (z - y)), z > y ? 1.0 - tau : z < y ? -tau : 0.0};
    }
};

// max(0, |z − y| − ε); at the kinks the slope taken is 0. The slope is that of the exact z − y: where its float is ±ε the
// part that was rounded off tells on which side of the kink it lies.
struct EpsilonInsensitive {
    double epsilon;
    Cost both(double z, double y) const {
        const double r = z - y, size = std::fabs(r), other = r - z, lost = (z - (r - other)) - (y + other);
        const bool beyond = size > epsilon || (size == epsilon && r * lost > 0.0);
        return {higher(size - epsilon, 0.0), !beyond ? 0.0 : r > 0.0 ? 1.0 : -1.0};
    }
};

// 1 where sgn(z) ≠ y, a score of 0 counting as `tie` says; its "slope" −y on a mistake is the perceptron's update. The
// margin's sign comes first and alone: one branch of the loop then tells loss, slope and mistake. A round of positive
// margin is at rest: it costs nothing, changes nothing and is no mistake.
struct ZeroOne {
    double tie;
    static bool rests(double margin) { return margin > 0.0; }
    Cost both(double z, double y) const {
        const double m = z * y;
        if (m > 0.0) return {0.0, 0.0};
        if (m < 0.0 || (m == 0.0 && tie * y <= 0.0)) return {1.0, -y};
        return {0.0, 0.0};
    }
};

// A loss of the user's own: two functions behind pointers. One that fails sets `failed` and gives NaN, which no loop
// goes on from.
struct Own {
    double (*value_of)(const void *context, double z, double y) = nullptr;
    double (*slope_of)(const void *context, double z, double y) = nullptr;
    const void *context = nullptr;
    Cost both(double z, double y) const { return {value_of(context, z, y), slope_of(context, z, y)}; }
};

// Machine code of the user's own loss, called as it is.
struct OwnCompiled {
    double (*value_of)(double z, double y) = nullptr;
    double (*slope_of)(double z, double y) = nullptr;
    Cost both(double z, double y) const { return {value_of(z, y), slope_of(z, y)}; }
};

using Loss = std::variant<Hinge, MarginHinge, SquaredHinge, PerceptronLoss, Logistic, Exponential, Squared, Absolute,
                          Huber, Pinball, EpsilonInsensitive, ZeroOne, Own, OwnCompiled>;

// Any loss, looked up in every round.
struct Any {
    const Loss &loss;
    [[gnu::always_inline]] Cost both(double z, double y) const {
        return std::visit([&](const auto &one) { return one.both(z, y); }, loss);
    }
};

// The loss of a name; false where there is none of it.
inline bool loss_named(std::string_view name, double parameter, Loss &loss) {
    if (name == "hinge") loss = Hinge{};
    else if (name == "margin-hinge") loss = MarginHinge{parameter};
    else if (name == "squared-hinge") loss = SquaredHinge{};
    else if (name == "perceptron") loss = PerceptronLoss{};
    else if (name == "logistic") loss = Logistic{};
    else if (name == "exponential") loss = Exponential{};
    else if (name == "squared") loss = Squared{};
    else if (name == "absolute") loss = Absolute{};
    else if (name == "huber") loss = Huber{parameter};
    else if (name == "pinball") loss = Pinball{parameter};
    else if (name == "epsilon-insensitive") loss = EpsilonInsensitive{parameter};
    else if (name == "zero-one") loss = ZeroOne{parameter};
    else return false;
    return true;
}

}  // namespace noregret
