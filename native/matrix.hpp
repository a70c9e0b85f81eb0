// The rounds of a learner that keeps a matrix A = aI + Σ k·x·xᵀ, its inverse B, b = Σ k·y·x and u = B·b.
//
// A row x of weight k is scored by ⟨b, (A + k·x·xᵀ)⁻¹x⟩ = ⟨u, x⟩/(1 + k·p) with p = ⟨x, Bx⟩ (Sherman and Morrison), and
// learned from by A ← A + k·x·xᵀ, B ← B − k·q·qᵀ/(1 + k·p), u ← u + k(y − ⟨u, x⟩)/(1 + k·p)·q, q = Bx. What rounding
// leaves in B and u is swept away by taking both afresh from A and b (`is_due`): after so many updates, and after a row
// with a large k·p, which cancels that many digits of B. As det A grows by the factor 1 + k·p, such rows are few.
//
// With a bias, place 0 of the matrix is the constant 1 and every feature stands one place higher. Places that no row has
// touched hold a on the diagonal of A and 1/a on that of B; every sum is taken in an order that such places do not
// change: over a row's entries one after another, over all places in four parts by place.
#pragma once

#include <algorithm>
#include <cmath>

#include "record.hpp"
#include "rows.hpp"
#include "vector.hpp"

namespace noregret {

constexpr Index FIRST_FRESH = 64, EVERY_FRESH = 4096;  // B is taken afresh after 64, 128, 256, … updates and each multiple of 4096
constexpr double LARGE_GROWTH = 65536.0;               // and after a row with a k·p of this or more

// n places of each are in use; q is room to work in.
struct Matrices {
    Table<double> A, B;
    double *b, *u, *q;
    Index n;
};

// What scores are made of, to be read only.
struct Inverse {
    Table<const double> B;
    const double *u;
    double *q;
    Index n;
    double scale;  // a row weighs 1/scale in B
};

// Whether the inverse is taken afresh after so many updates, the last of which had k·p = growth.
inline bool is_due(Index updates, double growth) {
    return growth >= LARGE_GROWTH || (updates >= FIRST_FRESH && ((updates & (updates - 1)) == 0 || updates % EVERY_FRESH == 0));
}

// ⟨z, x⟩ and ‖x‖² of row t, the bias first; ‖x‖² is NaN where a feature has no place below n.
template <class R> Products measured(const R &rows, Index t, Index shift, const double *z, Index n) {
    Products found{shift ? z[0] : 0.0, static_cast<double>(shift)};
    bool inside = true;
    each_entry(rows, t, [&](Index j, double x) {
        if (j + shift >= n) [[unlikely]] {
            inside = false;
            return;
        }
        found.dot += x * z[j + shift];
        found.square += x * x;
    });
    return {found.dot, inside ? found.square : NOT_A_NUMBER};
}

// ⟨z, x⟩ of row t, the bias first.
template <class R> double along(const R &rows, Index t, Index shift, const double *z) {
    double found = shift ? z[0] : 0.0;
    each_entry(rows, t, [&](Index j, double x) { found += x * z[j + shift]; });
    return found;
}

// out ← out + Σ c·row, of four rows at a time, each entry's sum in the order of the rows; a row adds from its own first
// place on, which is never before that of an earlier row. A row with c = 0 is left out.
struct Adding {
    double *out;
    Index n;
    double c[4];
    const double *rows[4];
    Index last = 0;  // the first place of the last row: up to there those that wait have been added
    int waiting = 0;

    Adding(double *out, Index n) : out(out), n(n) {}

    void add(double factor, const double *row, Index first = 0) {
        if (factor == 0.0) return;
        for (int k = 0; k < waiting && last < first; ++k) add_scaled(c[k], rows[k] + last, first - last, out + last);
        last = first;
        c[waiting] = factor;
        rows[waiting] = row;
        if (++waiting == 4) flush();
    }

    void flush() {
        Index i = last;
        if (waiting == 4) {
            for (; i + 4 <= n; i += 4) {
                Four sum = load(out + i);
                sum += everywhere(c[0]) * load(rows[0] + i);
                sum += everywhere(c[1]) * load(rows[1] + i);
                sum += everywhere(c[2]) * load(rows[2] + i);
                sum += everywhere(c[3]) * load(rows[3] + i);
                store(sum, out + i);
            }
        }
        for (int k = 0; k < waiting; ++k) add_scaled(c[k], rows[k] + i, n - i, out + i);
        waiting = 0;
    }
};

// q ← Bx, Θ(n) for each non-zero of the row.
template <class R, class Kept> void multiply(const R &rows, Index t, Index shift, const Kept &M) {
    if (shift) std::copy_n(M.B[0], M.n, M.q);
    else std::fill_n(M.q, M.n, 0.0);
    Adding q(M.q, M.n);
    each_entry(rows, t, [&](Index j, double x) { q.add(x, M.B[j + shift]); });
    q.flush();
}

// One place of Bx from its row of B: the same sum, in the same order, as `multiply` takes.
template <class R> double entry_of_product(const R &rows, Index t, Index shift, const double *row) {
    double found = shift ? row[0] : 0.0;
    each_entry(rows, t, [&](Index j, double x) {
        if (x != 0.0) found += x * row[j + shift];
    });
    return found;
}

// ⟨x, Bx⟩ in Θ(non-zeros²), to the bit what `multiply` and `along` give.
template <class R, class Kept> double quadratic(const R &rows, Index t, Index shift, const Kept &M) {
    double found = shift ? entry_of_product(rows, t, shift, M.B[0]) : 0.0;
    each_entry(rows, t, [&](Index j, double x) {
        if (x != 0.0) found += x * entry_of_product(rows, t, shift, M.B[j + shift]);
    });
    return found;
}

// Whether a row has so few entries that ⟨x, Bx⟩ is had for less than Bx.
template <class R> bool is_thin(const R &rows, Index t, Index n) { return 4 * entries(rows, t) < n; }

// ⟨x, Bx⟩ by the shorter way, q ← Bx if the row is not thin; never below 0, as the exact one is not.
template <class R, class Kept> double form(const R &rows, Index t, Index shift, const Kept &M) {
    if (is_thin(rows, t, M.n)) return higher(quadratic(rows, t, shift, M), 0.0);
    multiply(rows, t, shift, M);
    return higher(along(rows, t, shift, M.q), 0.0);
}

// row ← row + k·(x·x_t), the places of row t.
template <class X> void add_products(const Dense<X> &rows, Index t, Index shift, double k, double x, double *row) {
    const X *other = rows.row(t);
    row += shift;
    Index j = 0;
    for (; j + 4 <= rows.width; j += 4) store(load(row + j) + everywhere(k) * (everywhere(x) * load(other + j)), row + j);
    for (; j < rows.width; ++j) row[j] += k * (x * double(other[j]));
}

template <class X> void add_products(const Sparse<X> &rows, Index t, Index shift, double k, double x, double *row) {
    each_entry(rows, t, [&](Index j, double other) { row[j + shift] += k * (x * other); });
}

// A ← A + k·x·xᵀ, symmetric to the bit.
template <class R> void add_outer(const R &rows, Index t, Index shift, double k, Table<double> A) {
    if (shift) A(0, 0) += k;
    each_entry(rows, t, [&](Index i, double x) {
        if (x == 0.0) return;
        double *row = A[i + shift];
        if (shift) {
            row[0] += k * x;
            A(0, i + shift) += k * x;
        }
        add_products(rows, t, shift, k, x, row);
    });
}

// B ← B − c·q·qᵀ, symmetric to the bit.
inline void subtract_outer(double c, const double *q, Index n, Table<double> B) {
    for (Index i = 0; i < n; ++i) {
        const double at = q[i];
        if (at == 0.0) continue;
        double *row = B[i];
        Index j = 0;
        for (; j + 4 <= n; j += 4) store(load(row + j) - everywhere(c) * (everywhere(at) * load(q + j)), row + j);
        for (; j < n; ++j) row[j] -= c * (at * q[j]);
    }
}

// z ← z + c·x.
template <class R> void add_row(const R &rows, Index t, Index shift, double c, double *z) {
    if (shift) z[0] += c;
    each_entry(rows, t, [&](Index j, double x) { z[j + shift] += c * x; });
}

// Σ x·y over n numbers, in four parts by place: zeros at the end change no bit. R sums with the same y, side by side.
template <int R> [[gnu::always_inline]] inline void dots(const double *const (&x)[R], const double *y, Index n, double (&out)[R]) {
    Four sums[R] = {};
    Index i = 0;
    for (; i + 4 <= n; i += 4) {
        const Four some = load(y + i);
        sums[0] += load(x[0] + i) * some;
        if constexpr (R == 4) {
            sums[1] += load(x[1] + i) * some;
            sums[2] += load(x[2] + i) * some;
            sums[3] += load(x[3] + i) * some;
        }
    }
    for (int r = 0; r < R; ++r) {
        for (Index lane = 0; i + lane < n; ++lane) sums[r][lane] += x[r][i + lane] * y[i + lane];
        out[r] = summed(sums[r]);
    }
}

inline double dot_places(const double *x, const double *y, Index n) {
    double found[1];
    dots<1>({x}, y, n, found);
    return found[0];
}

// B ← A⁻¹ by Cholesky's A = VᵀV with V upper triangular, all in the room of B and of one row. A ⪰ aI, so no pivot is
// below a: one that comes out smaller is rounding's, and a is taken for it.
inline void invert(Table<double> A, Index n, double a, Table<double> B, double *row) {
    for (Index m = 0; m < n; ++m) {
        std::copy_n(A[m], n, B[m]);
        Adding rest(B[m] + m, n - m);
        for (Index i = 0; i < m; ++i) rest.add(-B(i, m), B[i] + m);
        rest.flush();
        const double pivot = std::sqrt(higher(B(m, m), a));
        B(m, m) = pivot;
        for (Index j = m + 1; j < n; ++j) B(m, j) /= pivot;
    }
    for (Index i = n - 1; i >= 0; --i) {  // V ← V⁻¹, from the last row up
        const double by = 1.0 / B(i, i);
        std::copy(B[i] + i + 1, B[i] + n, row + i + 1);
        std::fill(B[i] + i + 1, B[i] + n, 0.0);
        B(i, i) = by;
        Adding rest(B[i], n);
        for (Index m = i + 1; m < n; ++m) rest.add(-by * row[m], B[m], m);
        rest.flush();
    }
    for (Index j = 0; j < n; ++j) {  // B ← V⁻¹V⁻ᵀ: column j is written when only later columns are still to be read
        Index i = 0;
        double found[4];
        for (; i + 4 <= j; i += 4) {
            dots<4>({B[i] + j, B[i + 1] + j, B[i + 2] + j, B[i + 3] + j}, B[j] + j, n - j, found);
            for (int r = 0; r < 4; ++r) B(i + r, j) = found[r];
        }
        for (; i <= j; ++i) B(i, j) = dot_places(B[i] + j, B[j] + j, n - j);
    }
    for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < i; ++j) B(i, j) = B(j, i);
    }
}

// B and u afresh from A and b.
inline void refresh(const Matrices &M, double a) {
    invert(M.A, M.n, a, M.B, M.q);
    std::fill_n(M.u, M.n, 0.0);
    Adding u(M.u, M.n);
    for (Index i = 0; i < M.n; ++i) u.add(M.b[i], M.B[i]);
    u.flush();
}

// Take the row in; q holds Bx.
template <class R> void learn(const R &rows, Index t, Index shift, double k, double y, double inner, double p, const Matrices &M) {
    const double share = k / (1.0 + k * p);
    add_outer(rows, t, shift, k, M.A);
    add_row(rows, t, shift, k * y, M.b);
    add_scaled(share * (y - inner), M.q, M.n, M.u);
    subtract_outer(share, M.q, M.n, M.B);
}

// The figures of the gradient g·x.
inline void book_matrix_gradient(State &st, double g, double score, double row2) {
    const double t = static_cast<double>(st.rounds + 1), gradient2 = g * g * row2;
    ++st.updates;
    st.gradient2 += gradient2;
    st.gradient2_sqrt += gradient2 / std::sqrt(t);
    st.gradient2_inverse += gradient2 / t;
    st.gradient_max2 = higher(st.gradient_max2, gradient2);
    st.gradient_dot_weights += g * score;
}

constexpr Index EVERY_FORGOTTEN = 64;  // rounds after which what was forgotten is taken out of A

// A ← aI + σ(A − aI) and b ← σb: past rounds count σ times, the ridge as much as before.
inline void forget(const Matrices &M, double a, double sigma) {
    for (Index i = 0; i < M.n; ++i) {
        const double diagonal = M.A(i, i);
        for (Index j = 0; j < M.n; ++j) M.A(i, j) *= sigma;
        M.A(i, i) = a + sigma * (diagonal - a);
        M.b[i] *= sigma;
    }
}

// Play the rows in order; returns how many: fewer than there are only where the next one would overflow. A classifier
// learns from its mistakes, with the loss 0 or 1; a regressor from every round, with (score − y)². The ridge a stands
// where others have the η of their rate, what is forgotten a round where others have β: in place of A and b, A/σ and
// b/σ are kept, σ the share that is left of a round 64 or fewer rounds ago, so that a new one weighs k/σ.
template <class R>
Index play_matrix(const R &rows, Line<const double> labels, Line<const double> weights, const Matrices &M, Record &record, Line<double> scores) {
    State &st = record.state;
    const Config &cfg = record.config;
    const Index shift = cfg.bias != 0.0;
    const double a = cfg.eta;
    for (Index t = 0; t < labels.size; ++t) {
        const double k = weights.size ? weights[t] : 1.0, y = labels[t];
        if (k == 0.0) {
            scores[t] = NOT_A_NUMBER;
            continue;
        }
        const auto [inner, row2] = measured(rows, t, shift, M.u, M.n);
        const double more = k / st.scale;
        if (!finite(more * row2 / a / a + more * row2 + st.norm2)) return t;
        const double p = form(rows, t, shift, M), score = inner / (1.0 + more * p);
        scores[t] = score;
        const bool learns = !cfg.classify || is_mistake(score, y, cfg.tie);
        const double loss = !cfg.classify ? k * (score - y) * (score - y) : learns ? k : 0.0;
        const double g = !cfg.classify ? 2.0 * k * (score - y) : learns ? -k * y : 0.0;
        if (!(finite(more * p) && finite(st.loss + loss + st.gradient2 + g * g * row2))) return t;
        if (!cfg.classify) {
            const double mean = mean_label(st);
            st.constant += k * (mean - y) * (mean - y);
            st.last += k * (st.last_label - y) * (st.last_label - y);
        }
        book(st, cfg, k, labels.data, scores.data, t, row2, loss);
        if (g != 0.0) book_matrix_gradient(st, g, score, row2);
        if (learns) {
            if (is_thin(rows, t, M.n)) multiply(rows, t, shift, M);
            learn(rows, t, shift, more, y, inner, p, M);
            st.norm2 += k * row2;
        }
        ++st.rounds;
        st.scale *= 1.0 - cfg.beta;
        if (cfg.beta > 0.0 && st.rounds % EVERY_FORGOTTEN == 0) {
            forget(M, a, st.scale);
            st.scale = 1.0;
            refresh(M, a);
        } else if (learns && is_due(cfg.classify ? st.updates : st.rounds, more * p)) {
            refresh(M, a);
        }
        if (st.rounds == st.trace_next) record_trace(st, cfg.classify);
        if (st.rounds == st.curve_next) record_curve(st, 0.0);
    }
    return labels.size;
}

// The score ⟨u, x⟩/(1 + ⟨x, Bx⟩/σ) of every row; NaN where a feature has no place.
template <class R> void score_matrix(const R &rows, Index shift, const Inverse &M, Line<double> scores) {
    const double more = 1.0 / M.scale;
    for (Index t = 0; t < scores.size; ++t) {
        if (reaches(rows, t, M.n - shift)) scores[t] = NOT_A_NUMBER;
        else scores[t] = along(rows, t, shift, M.u) / (1.0 + more * form(rows, t, shift, M));
    }
}

// out ← x − Aq.
template <class R> void residual(const R &rows, Index t, const Matrices &M, double *out) {
    std::fill_n(out, M.n, 0.0);
    add_row(rows, t, 0, 1.0, out);
    Adding rest(out, M.n);
    for (Index j = 0; j < M.n; ++j) rest.add(-M.q[j], M.A[j]);
    rest.flush();
}

// Go through the chosen rounds once more and measure how well A⁻¹x was known before each was taken in: for round t with
// A its matrix, the row itself included, and b before it, out[i] = (⟨b, q⟩, ⟨x, q⟩, ‖x − Aq‖, Σ√A_jj·|q_j|, tr A), q
// being near to A⁻¹x. Rows hold the bias already, and no feature beyond the matrices; u is room to work in.
template <class R>
void follow_matrix(const R &rows, Line<const double> y, Line<const double> weights, Line<const Index> chosen, double a, const Matrices &M, Table<double> out) {
    for (Index i = 0; i < chosen.size; ++i) {
        const Index t = chosen[i];
        const double k = weights.size ? weights[t] : 1.0;
        multiply(rows, t, 0, M);
        const double p = higher(along(rows, t, 0, M.q), 0.0);
        add_outer(rows, t, 0, k, M.A);
        subtract_outer(k / (1.0 + k * p), M.q, M.n, M.B);
        if (is_due(i + 1, k * p)) {
            invert(M.A, M.n, a, M.B, M.u);
            multiply(rows, t, 0, M);
        } else {
            for (Index j = 0; j < M.n; ++j) M.q[j] /= 1.0 + k * p;
        }
        residual(rows, t, M, M.u);
        double size = 0.0, trace = 0.0, rest = 0.0;
        for (Index j = 0; j < M.n; ++j) {
            trace += M.A(j, j);
            size += std::sqrt(M.A(j, j)) * std::fabs(M.q[j]);
            rest += M.u[j] * M.u[j];
        }
        double *found = out[i];
        found[0] = dot_places(M.b, M.q, M.n);
        found[1] = along(rows, t, 0, M.q);
        found[2] = std::sqrt(rest);
        found[3] = size;
        found[4] = trace;
        add_row(rows, t, 0, k * y[t], M.b);
    }
}

}  // namespace noregret
