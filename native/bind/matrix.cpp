// Rounds of the learners that keep a matrix.
#include "matrix.hpp"
#include "newton.hpp"

#include "bind/chain.hpp"
#include "bind/subjects.hpp"

namespace noregret::bind {

namespace {

struct Given {
    Table<double> A, B;
    Line<double> b, u, q;
};

Matrices checked(const Given &given, Index n) {
    const auto &[A, B, b, u, q] = given;
    const Index room = std::min({A.rows, A.columns, B.rows, B.columns, b.size, u.size, q.size});
    require(0 <= n && n <= room, "the matrices have no room for so many features");
    return {A, B, b.data, u.data, q.data, n};
}

void check_rounds(const Rows &rows, Index rounds, Index weights) {
    require(rounds <= count(rows) && (!weights || weights == rounds), "a row is not there");
}

Index play(const Rows &rows, Line<const double> labels, Line<const double> weights, Table<double> A, Table<double> B, Line<double> b, Line<double> u,
           Line<double> q, Index n, RecordAt at, Line<double> scores) {
    const Matrices M = checked({A, B, b, u, q}, n);
    check_rounds(rows, labels.size, weights.size);
    require(scores.size == labels.size && (n || at.record->config.bias == 0.0), "no room for the scores, or for the bias");
    return std::visit([&](const auto &some) { return play_matrix(some, labels, weights, M, *at.record, scores); }, rows);
}

void score(const Rows &rows, bool shift, Table<const double> B, Line<const double> u, Index n, RecordSeen at, Line<double> q, Line<double> scores) {
    require(0 <= n && n <= std::min({B.rows, B.columns, u.size, q.size}), "the matrices have no room for so many features");
    const Inverse M{B, u.data, q.data, n, at.record->state.scale};
    check_rounds(rows, scores.size, 0);
    require(n || !shift, "no room for the bias");
    std::visit([&](const auto &some) { score_matrix(some, shift, M, scores); }, rows);
}

void follow(const Rows &rows, Line<const double> y, Line<const double> weights, Line<const Index> chosen, double a, Table<double> A, Table<double> B,
            Line<double> b, Line<double> u, Line<double> q, Index n, Table<double> out) {
    const Matrices M = checked({A, B, b, u, q}, n);
    check_rounds(rows, y.size, weights.size);
    require(out.rows == chosen.size && out.columns == 5, "five numbers for each round");
    std::visit(
        [&](const auto &some) {
            for (Index i = 0; i < chosen.size; ++i) {
                const Index t = chosen[i];
                require(0 <= t && t < y.size && !reaches(some, t, n), "a row is not there, or wider than the matrices");
            }
            follow_matrix(some, y, weights, chosen, a, M, out);
        },
        rows);
}

Index newton(const Rows &rows, Line<const double> labels, Line<const double> weights, Table<double> S, Line<double> theta, Line<double> total,
             Line<double> f, Index n, double ridge, double walk, bool two_label, RecordAt at, Line<double> scores) {
    require(0 <= n && n <= std::min({S.rows, S.columns, theta.size, total.size, f.size}), "the matrix has no room for so many features");
    check_rounds(rows, labels.size, weights.size);
    require(scores.size == labels.size && (n || at.record->config.bias == 0.0), "no room for the scores, or for the bias");
    require(ridge > 0.0 && 0.0 <= walk && walk < 1.0, "the ridge must be positive, and the walk below 1");
    const Newton N{S, theta.data, total.data, f.data, n};
    return std::visit([&](const auto &some) { return play_newton(some, labels, weights, N, {ridge, walk, two_label}, *at.record, scores); }, rows);
}

void scores_newton(const Rows &rows, bool shift, Table<const double> S, Line<const double> theta, Index n, bool two_label, Line<double> f,
                   Line<double> scores) {
    require(0 <= n && n <= std::min({S.rows, S.columns, theta.size, f.size}), "the matrix has no room for so many features");
    check_rounds(rows, scores.size, 0);
    require(n || !shift, "no room for the bias");
    const Root from{S, theta.data, f.data, n};
    std::visit([&](const auto &some) { score_newton(some, shift, from, two_label, scores); }, rows);
}

}  // namespace

void bind_matrix(nb::module_ &m) {
    def_kept(m, "play_matrix", &play);
    def_kept(m, "score_matrix", &score);
    m.def("follow_matrix", &follow, unlocked());
    def_kept(m, "play_newton", &newton);
    def_kept(m, "score_newton", &scores_newton);
    m.attr("LEAST_CURVATURE") = LEAST_CURVATURE;
}

}  // namespace noregret::bind
