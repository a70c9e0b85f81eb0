// Supports of the kernel (c + γ⟨x, z⟩)² folded into a matrix A, a vector b and a number a:
//
//     Σ_s α_s·(c + γ⟨x, z_s⟩)² = a + Σ_i γx_i·(b_i + Σ_j A_ij·x_j)
//     A = γ·Σ α_s·z_s·z_sᵀ,  b = 2c·Σ α_s·z_s,  a = c²·Σ α_s
//
// A is symmetric. Panel p holds the columns 8p … 8p + 7 as lanes, from feature 8p on: the square on the diagonal as it
// is, what lies below it twice. Every entry is a sum over the supports from the oldest to the newest, and a score is
// summed in the order of the features, so that its bits depend on the row and on the supports alone. `whole` is the
// width, made up to a multiple of eight.
#pragma once

#include "gram.hpp"
#include "vector.hpp"

namespace noregret {

// Where a panel begins: panel q has whole − 8q features of eight lanes.
inline Index panel_begins(Index panel, Index whole) { return panel * PANEL * whole - PANEL * PANEL * (panel * (panel - 1) / 2); }

// The supports of a group more in the panels first..last of A: columns(j, s) = z_s[j],
// once[(p·count + s)·8 + lane] = γ·α_s·z_s[8p + lane], and twice is twice that.
inline void fold_matrix(Line<const double> once, Line<const double> twice, Table<const double> columns, Index first, Index last, Line<double> A) {
    const Index whole = columns.rows, count = columns.columns;
    for (Index p = first; p < last; ++p) {
        const Index at = p * count * PANEL;
        double *to = A.data + panel_begins(p, whole);
        for (Index j = p * PANEL; j < whole; j += TILE_ROWS, to += TILE_ROWS * PANEL) {
            const bool diagonal = j < (p + 1) * PANEL;
            tile<DOT>((diagonal ? once.data : twice.data) + at, columns[j], columns.apart, to, PANEL, count);
        }
    }
}

// The supports `rows` more in b; the new a.
inline double fold_line(Table<const double> rows, Line<const double> alpha, double c, Line<double> b, double a) {
    for (Index s = 0; s < rows.rows; ++s) {
        add_scaled(2.0 * (c * alpha[s]), rows[s], rows.columns, b.data);
        a += c * (c * alpha[s]);
    }
    return a;
}

// Y(t, i) = b_i + Σ_j A_ij·x_j for the columns i of the panels first..last; a multiple of four rows.
inline void folded_sums(Line<const double> A, Line<const double> b, Table<const double> rows, Index first, Index last, Table<double> Y) {
    const Index whole = b.size, width = rows.columns;
    for (Index p = first; p < last; ++p) {
        const Index column = p * PANEL;
        for (Index t = 0; t < rows.rows; ++t) std::copy_n(b.data + column, PANEL, &Y(t, column));
        const double *panel = A.data + panel_begins(p, whole);
        for (Index j = column; j < width; j += PIECE) {
            const Index size = std::min(PIECE, width - j);
            for (Index t = 0; t < rows.rows; t += TILE_ROWS) {
                tile<DOT>(panel + (j - column) * PANEL, rows[t] + j, rows.apart, &Y(t, column), Y.apart, size);
            }
        }
    }
}

// a + Σ_i γx_i·Y_i of every row; four rows side by side, so that no addition waits for the one before it.
inline void folded_scores(double a, double gamma, Table<const double> rows, Table<const double> Y, Line<double> scores) {
    for (Index t = 0; t < scores.size; t += TILE_ROWS) {
        Four totals = everywhere(a);
        for (Index i = 0; i < rows.columns; ++i) {
            const Four x{rows(t, i), rows(t + 1, i), rows(t + 2, i), rows(t + 3, i)};
            totals += (gamma * x) * Four{Y(t, i), Y(t + 1, i), Y(t + 2, i), Y(t + 3, i)};
        }
        store(totals, &scores[t]);
    }
}

}  // namespace noregret
