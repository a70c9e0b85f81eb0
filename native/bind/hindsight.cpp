// Looking back at a run: solvers for the best comparator, the path of the weights, the votes of all predictors.
#include "hindsight.hpp"
#include "bind/arrays.hpp"
#include "bind/subjects.hpp"
#include "path.hpp"
#include "vote.hpp"

namespace noregret::bind {

namespace {

constexpr const char *NO_ROOM = "a row holds a feature that there is no room for";
constexpr const char *UNLIKE = "the arrays must have a number for each row";

Index count(const WideRows &given) {
    return std::visit([](const auto &rows) { return rows.count; }, given);
}

void require_length(Index length, std::initializer_list<Index> sizes) {
    for (Index size : sizes) require(size == length, UNLIKE);
}

Bent bent(Index length, Line<const double> kink, Line<const double> lo, Line<const double> hi, double width, double flat, Line<const double> weights) {
    require_length(length, {kink.size, lo.size, hi.size, weights.size});
    return {kink, lo, hi, width, flat, weights};
}

template <class Loss>
double epoch(const WideRows &given, Line<const Index> order, Line<const double> norms, const Loss &loss, double ridge, Line<double> alpha,
             Line<double> w) {
    const Index rounds = count(given);
    require_length(rounds, {norms.size, alpha.size});
    for (Index i = 0; i < order.size; ++i) require(0 <= order[i] && order[i] < rounds, "there is no such round");
    return std::visit([&](const auto &rows) { return dual_epoch(rows, order, norms, loss, ridge, alpha, w); }, given);
}

}  // namespace

void bind_hindsight(nb::module_ &m) {
    using Numbers = Line<const double>;
    m.def("scores_of", [](const WideRows &given, Numbers u, Line<double> out) {
        require_length(count(given), {out.size});
        std::visit([&](const auto &rows) { scores_of(rows, u, out); }, given);
    }, unlocked());
    m.def("sum_rows", [](const WideRows &given, Numbers a, Line<double> total) {
        require_length(count(given), {a.size});
        require(std::visit([&](const auto &rows) { return sum_rows(rows, a, total); }, given), NO_ROOM);
    }, unlocked());
    m.def("add_curvature", [](const Sparse<double> &rows, Numbers w, double scale, Table<double> H) {
        require_length(rows.count, {w.size});
        require(all_within(rows, H.rows < H.columns ? H.rows : H.columns), NO_ROOM);
        add_curvature(rows, w, scale, H);
    }, unlocked());
    m.def("square_norms", [](const WideRows &given, double scale, Line<double> out) {
        require_length(count(given), {out.size});
        std::visit([&](const auto &rows) { square_norms(rows, scale, out); }, given);
    }, unlocked());
    m.def("bent_slopes", [](Numbers z, Numbers kink, Numbers lo, Numbers hi, double width, double flat, Line<double> alpha) {
        require_length(z.size, {alpha.size});
        bent(z.size, kink, lo, hi, width, flat, kink).slopes(z, alpha);
    }, unlocked());
    m.def("bent_total", [](Numbers z, Numbers kink, Numbers lo, Numbers hi, double width, double flat, Numbers weights) {
        return bent(z.size, kink, lo, hi, width, flat, weights).total(z);
    }, unlocked());
    m.def("bent_along", [](Numbers z, Numbers step, double tau, Numbers kink, Numbers lo, Numbers hi, double width, double flat, Numbers weights) {
        require_length(z.size, {step.size});
        return bent(z.size, kink, lo, hi, width, flat, weights).along(z, step, tau);
    }, unlocked());
    m.def("bent_epoch", [](const WideRows &given, Line<const Index> order, Numbers norms, Numbers kink, Numbers lo, Numbers hi, double width, double flat,
                           Numbers weights, double ridge, Line<double> alpha, Line<double> w) {
        return epoch(given, order, norms, bent(count(given), kink, lo, hi, width, flat, weights), ridge, alpha, w);
    }, unlocked());
    m.def("logistic_epoch", [](const WideRows &given, Line<const Index> order, Numbers norms, Numbers y, Numbers weights, double ridge,
                               Line<double> alpha, Line<double> w) {
        require_length(count(given), {y.size, weights.size});
        return epoch(given, order, norms, LogisticDual{y, weights}, ridge, alpha, w);
    }, unlocked());
    m.def("replay_path", [](const WideRows &given, Numbers slopes, Numbers etas, Numbers growth, double radius, Line<double> w,
                            Line<double> drift, Line<double> sizes) {
        require_length(count(given), {slopes.size, etas.size});
        require(growth.size <= slopes.size && drift.size == w.size && sizes.size == 2, UNLIKE);
        std::visit([&](const auto &rows) {
            require(all_within(rows, w.size), NO_ROOM);
            replay_path(rows, slopes, etas, growth, radius, w, drift, sizes);
        }, given);
    }, unlocked());
    m.def("votes_on", [](const Rows &rows, const Rows &log, Numbers steps, Numbers survived, double bias, double tie, Line<double> line,
                         Line<double> out) {
        require_length(noregret::count(rows), {out.size});
        require(steps.size <= noregret::count(log) && survived.size == steps.size + 1, "every update needs its row and its votes");
        votes_on(rows, log, steps, survived, bias, tie, line, out);
    }, unlocked());
}

}  // namespace noregret::bind
