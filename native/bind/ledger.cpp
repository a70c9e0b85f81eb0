// Ledgers of rounds, in a line of numbers that Python keeps.
#include "ledger.hpp"

#include <nanobind/stl/vector.h>

#include "bind/loss.hpp"
#include "bind/subjects.hpp"

namespace noregret::bind {

namespace {

Ledger &ledger_of(Line<double> numbers) {
    require(numbers.size == LEDGER_NUMBERS, "not the numbers of a ledger");
    return *reinterpret_cast<Ledger *>(numbers.data);
}

void scores(const BoundLoss &loss, Line<const double> z, Line<const double> y, Line<const double> weights, Line<double> sums, Line<double> taken) {
    require(z.size == y.size && z.size == taken.size && (!weights.size || weights.size == z.size), "every score needs a label and room");
    Ledger &ledger = ledger_of(sums);
    {
        nb::gil_scoped_release free;
        std::visit([&](const auto &one) { enter_scores(one, z, y, weights, ledger, taken); }, loss.loss);
    }
    loss.check();
}

void rows(const Rows &given, Line<const double> taken, bool bias, Line<double> sums, Line<double> G) {
    Ledger &ledger = ledger_of(sums);
    std::visit([&](const auto &some) {
        require(taken.size <= some.count, "there are more slopes than rows");
        require(all_within(some, G.size), "a row holds a feature that there is no room for");
        enter_rows(some, taken, bias, ledger, G);
    }, given);
}

void columns(const std::vector<Line<const double>> &given, Line<const double> taken, Line<double> squares, Line<double> G) {
    require(static_cast<Index>(given.size()) == G.size && squares.size == taken.size, "columns and sums must be equally many");
    for (const auto &column : given) require(column.size == taken.size, "columns must be equally long");
    enter_columns(given, taken, squares, G);
}

bool norms(Line<const double> taken, Line<const double> squares, Line<double> sums) {
    require(squares.size == taken.size, "every slope needs the square of its row");
    return enter_norms(taken, squares, ledger_of(sums));
}

}  // namespace

void bind_ledger(nb::module_ &m) {
    m.attr("LEDGER_NUMBERS") = LEDGER_NUMBERS;
    m.def("enter_scores", &scores);
    m.def("enter_rows", &rows, unlocked());
    m.def("enter_columns", &columns, unlocked());
    m.def("enter_norms", &norms, unlocked());
}

}  // namespace noregret::bind
