// The path of projected gradient descent, replayed from its slopes: what a telescoped bound is made from.
#pragma once

#include <cmath>

#include "rows.hpp"
#include "vector.hpp"

namespace noregret {

// z ← factor·z.
inline void rescale(Line<double> z, double factor) {
    Index i = 0;
    for (; i + 4 <= z.size; i += 4) store(load(z.data + i) * factor, z.data + i);
    for (; i < z.size; ++i) z[i] *= factor;
}

// w ← Π(w − η_t·s_t·x_t) for every round, Π onto ‖w‖ ≤ radius, the weights themselves and no scale.
//
// After each round but the last, with c_t = growth[t]: drift ← drift + c_t·w, sizes ← sizes + (c_t‖w‖², c_t‖w‖).
template <class Rows>
void replay_path(const Rows &rows, Line<const double> slopes, Line<const double> etas, Line<const double> growth, double radius,
                 Line<double> w, Line<double> drift, Line<double> sizes) {
    for (Index t = 0; t < slopes.size; ++t) {
        if (slopes[t] != 0.0) {
            add(rows, t, -etas[t] * slopes[t], w);
            const double norm = std::sqrt(norm2(w));
            if (norm > radius) rescale(w, radius / norm);
        }
        if (t >= growth.size) continue;
        const double c = growth[t], square = norm2(w);
        sizes[0] += c * square;
        sizes[1] += c * std::sqrt(square);
        add(Dense<double>{w.data, 1, w.size, w.size}, 0, c, drift);
    }
}

}  // namespace noregret
