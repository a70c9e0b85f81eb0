// Kernel values, folded supports and the rounds of the kernel perceptron.
#include "exact_gram.hpp"
#include "fold.hpp"
#include "supports.hpp"

#include "bind/arrays.hpp"
#include "bind/subjects.hpp"

namespace noregret::bind {

namespace {

bool all_below(Line<const Index> places, Index limit) {
    return std::all_of(places.data, places.data + places.size, [&](Index place) { return 0 <= place && place < limit; });
}

void check_columns(Table<double> G, Index rows, Index first, Index last) {
    require(rows <= G.rows && 0 <= first && first <= last && last <= G.columns, "G has no room for the kernel values");
}

double checked_kernel_value(Index kind, Index op, double coef0, double gamma, Index degree, Line<const double> x, Line<const double> z) {
    require(x.size == z.size, "two rows must be as long as each other");
    return kernel_value(kind, op, {coef0, gamma, degree}, x, z);
}

void checked_kernel_values(Index kind, Table<double> G, Index first, Index last, double bias, double coef0, double gamma, Index degree) {
    check_columns(G, 0, first, last);
    kernel_values(kind, G, first, last, bias, {coef0, gamma, degree});
}

void checked_panel_sums(Index op, Line<const double> panels, Index first, Index last, Table<const double> rows, Table<double> G, Index to) {
    require(0 <= first && first <= last && last * rows.columns * PANEL <= panels.size, "there are not so many panels");
    require(rows.rows % TILE_ROWS == 0, "the number of rows must be a multiple of four");
    check_columns(G, rows.rows, to, to + (last - first) * PANEL);
    with_sum(op, [&](auto sum) { panel_sums<sum>(panels.data, first, last, rows, G, to); });
}

void check_lanes(Line<const Index> slots, Index width, Index size) {
    require(all_below(slots, width ? size / (width * PANEL) * PANEL : INT64_MAX), "a slot lies outside the panels");
}

void checked_lay(Table<const double> rows, Line<const Index> which, Line<double> panels, Line<const Index> slots) {
    require(which.size == slots.size && all_below(which, rows.rows), "a row to be kept is not there");
    check_lanes(slots, rows.columns, panels.size);
    lay(rows, which, panels, slots);
}

void checked_take(Line<const double> panels, Line<const Index> slots, Table<double> out) {
    require(slots.size == out.rows, "a row for each slot");
    check_lanes(slots, out.columns, panels.size);
    take(panels, slots, out);
}

void checked_sparse_sums(Index op, Line<const Index> starts, Line<const Index> stops, Line<const std::uint32_t> features,
                         Line<const double> values, Sparse<double> rows, Line<double> spread, Table<double> G, Index to) {
    require(starts.size == stops.size && features.size == values.size, "the stored rows do not fit together");
    for (Index i = 0; i < starts.size; ++i) require(0 <= starts[i] && stops[i] <= features.size, "a stored row ends beyond its entries");
    check_columns(G, rows.count, to, to + starts.size);
    sparse_sums(op, {starts, stops, features, values}, rows, spread, G, to);
}

void checked_own_values(std::uintptr_t kernel, Table<const double> stored, Table<const double> rows, Table<double> G, Index to) {
    require(stored.columns == rows.columns, "two rows must be as long as each other");
    check_columns(G, rows.rows, to, to + stored.rows);
    own_values(reinterpret_cast<OwnKernel>(kernel), stored, rows, G, to);
}

Index panel_count(Index whole, Index first, Index last) {
    require(whole % PANEL == 0 && 0 <= first && first <= last && last * PANEL <= whole, "there are not so many panels");
    return whole / PANEL;
}

void checked_fold_matrix(Line<const double> once, Line<const double> twice, Table<const double> columns, Index first, Index last, Line<double> A) {
    const Index panels = panel_count(columns.rows, first, last), entries = columns.rows * columns.columns;
    require(once.size >= entries && twice.size >= entries && A.size >= panel_begins(panels, columns.rows), "the fold has no room");
    fold_matrix(once, twice, columns, first, last, A);
}

double checked_fold_line(Table<const double> rows, Line<const double> alpha, double c, Line<double> b, double a) {
    require(alpha.size == rows.rows && b.size >= rows.columns, "the fold has no room");
    return fold_line(rows, alpha, c, b, a);
}

void checked_folded_sums(Line<const double> A, Line<const double> b, Table<const double> rows, Index first, Index last, Table<double> Y) {
    const Index panels = panel_count(b.size, first, last);
    require(rows.columns <= b.size && A.size >= panel_begins(panels, b.size), "the rows are wider than the fold");
    require(rows.rows % TILE_ROWS == 0, "the number of rows must be a multiple of four");
    require(Y.rows >= rows.rows && Y.columns >= b.size, "no room for the sums");
    folded_sums(A, b, rows, first, last, Y);
}

void checked_folded_scores(double a, double gamma, Table<const double> rows, Table<const double> Y, Line<double> scores) {
    require(scores.size % TILE_ROWS == 0 && scores.size <= rows.rows && scores.size <= Y.rows && rows.columns <= Y.columns, "no sum for a row");
    folded_scores(a, gamma, rows, Y, scores);
}

template <class Slot, class Real> void check_supports(const Supports<Slot, Real> &s, Index count) {
    require(0 <= s.folded && s.folded <= count && count <= s.order.size && count <= s.alpha.size, "there are not so many supports");
    for (Index i = s.folded; i < count; ++i) {
        require(s.folded <= s.order[i] && s.order[i] - s.folded < s.G.columns, "a support lies outside the kernel values");
    }
}

void checked_score_all(Line<const double> base, Index folded, Table<const double> G, Line<const Index> order, Line<const double> alpha, Index count, Line<double> scores) {
    const Supports<const Index, const double> s{folded, G, order, alpha};
    check_supports(s, count);
    require(scores.size <= base.size && scores.size <= G.rows, "no kernel values for a row");
    score_all(base, s, count, scores);
}

Index checked_play_supports(Line<const double> base, Index folded, Index until, Table<const double> G, Index block, Line<const double> labels,
                            Line<const double> weights, Line<Index> order, Line<double> alpha, Line<Index> counts, Index limit, Index forget,
                            Line<const double> draws, RecordAt at, Line<double> scores) {
    const Supports<Index, double> s{folded, G, order, alpha};
    const Index rounds = labels.size;
    require(counts.size == 2 && limit >= 0, "counts are two numbers");
    check_supports(s, counts[0]);
    require(rounds == scores.size && rounds <= base.size && rounds <= G.rows && (weights.size == 0 || weights.size == rounds), "no kernel values for a row");
    require(folded <= block && block - folded + rounds <= G.columns, "no kernel values between the rows");
    const Index most = limit ? std::min(limit, counts[0] + rounds) : counts[0] + rounds;
    require((!limit || counts[0] <= limit) && most <= order.size && most <= alpha.size, "no room for the supports");
    require(!limit || (counts[1] == 0 && rounds <= draws.size), "a draw for each round");
    return play_supports(base, until, block, s, labels, weights, counts, {limit, forget, draws}, *at.record, scores);
}

KernelSums checked_sums(Line<const Index> to, Line<const Index> which, Table<const double> coefficients, bool before, Table<double> out) {
    require(coefficients.columns == which.size && out.rows == coefficients.rows && out.columns == 3 * to.size, "no room for the sums");
    return {to, which, coefficients, before, out};
}

void checked_kernel_sums(Index kind, Index op, double coef0, double gamma, Index degree, Sparse<double> rows, Line<const Index> to,
                         Line<const Index> which, Table<const double> coefficients, bool before, Table<double> out) {
    require(all_below(to, rows.count) && all_below(which, rows.count), "a row is not there");
    kernel_sums(kind, op, {coef0, gamma, degree}, rows, checked_sums(to, which, coefficients, before, out));
}

void checked_given_sums(Table<const double> G, Line<const Index> to, Line<const Index> which, Table<const double> coefficients, bool before, Table<double> out) {
    require(G.rows >= to.size && G.columns >= which.size, "a kernel value is not there");
    given_sums(G, checked_sums(to, which, coefficients, before, out));
}

void checked_kernel_squares(Index kind, Index op, double coef0, double gamma, Index degree, Sparse<double> rows, Table<double> out) {
    require(out.rows == rows.count && out.columns == 3, "three numbers for each row");
    kernel_squares(kind, op, {coef0, gamma, degree}, rows, out);
}

}  // namespace

void bind_gram(nb::module_ &m) {
    const std::pair<const char *, Index> numbers[] = {
        {"DOT", DOT}, {"SQUARE", SQUARE}, {"ABSOLUTE", ABSOLUTE},
        {"PANEL", PANEL}, {"TILE_ROWS", TILE_ROWS}, {"OLDEST", OLDEST}, {"RANDOM", RANDOM},
    };
    for (const auto &[name, number] : numbers) m.attr(name) = number;
    m.def("exponential", [](double x) { return exponential(x); });
    m.def("kernel_value", &checked_kernel_value);
    m.def("kernel_values", &checked_kernel_values, unlocked());
    m.def("panel_sums", &checked_panel_sums, unlocked());
    m.def("lay", &checked_lay, unlocked());
    m.def("take", &checked_take, unlocked());
    m.def("sparse_sums", &checked_sparse_sums, unlocked());
    m.def("own_values", &checked_own_values, unlocked());
    m.def("fold_matrix", &checked_fold_matrix, unlocked());
    m.def("fold_line", &checked_fold_line, unlocked());
    m.def("folded_sums", &checked_folded_sums, unlocked());
    m.def("folded_scores", &checked_folded_scores, unlocked());
    m.def("score_supports", &checked_score_all, unlocked());
    m.def("play_supports", &checked_play_supports, unlocked());
    m.def("kernel_sums", &checked_kernel_sums, unlocked());
    m.def("given_sums", &checked_given_sums, unlocked());
    m.def("kernel_squares", &checked_kernel_squares, unlocked());
}

}  // namespace noregret::bind
