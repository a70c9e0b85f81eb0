// Sums in twice the precision: every result is a row (s, c, error) of a table of three columns.
#include "exact.hpp"
#include "bind/arrays.hpp"
#include "bind/subjects.hpp"

namespace noregret::bind {

namespace {

// Calls act(rows) once every feature is known to have a place among `width`.
template <class Act> void with_room(const WideRows &given, Index width, Act act) {
    std::visit(
        [&](const auto &rows) {
            require(all_within(rows, width), "a row holds a feature that there is no room for");
            act(rows);
        },
        given);
}

void require_triples(Table<double> table, Index rows) {
    require(table.columns == 3 && table.rows >= rows, "a table must have three columns and a row for each number");
}

Index count(const WideRows &given) {
    return std::visit([](const auto &rows) { return rows.count; }, given);
}

void dots(const WideRows &given, Line<const double> u, Table<double> out) {
    require_triples(out, count(given));
    with_room(given, u.size, [&](const auto &rows) { exact_dots(rows, u, out); });
}

void squares(const WideRows &given, Table<double> out) {
    require_triples(out, count(given));
    std::visit([&](const auto &rows) { exact_squares(rows, out); }, given);
}

void combination(const WideRows &given, Line<const double> alpha, Table<double> total) {
    require_triples(total, 0);
    require(alpha.size <= count(given), "there are more factors than rows");
    with_room(given, total.rows, [&](const auto &rows) { exact_combination(rows, alpha, total); });
}

void steps(const WideRows &given, Line<const double> step, Table<double> total, Table<double> out) {
    require_triples(total, 0);
    require_triples(out, step.size);
    require(step.size <= count(given), "there are more steps than rows");
    with_room(given, total.rows, [&](const auto &rows) { exact_steps(rows, step, total, out); });
}

void updates(const WideRows &given, Line<const double> y, Line<const Index> chosen, Table<double> total, Table<double> out) {
    require_triples(total, 0);
    require_triples(out, chosen.size);
    const Index rounds = count(given);
    require(y.size == rounds, "every row needs a label");
    for (Index i = 0; i < chosen.size; ++i) require(0 <= chosen[i] && chosen[i] < rounds, "there is no such round");
    with_room(given, total.rows, [&](const auto &rows) { exact_updates(rows, y, chosen, total, out); });
}

void class_updates(const WideRows &given, Table<const Index> moves, Index step, Index classes, Table<double> total, Table<double> out) {
    require_triples(total, 0);
    require_triples(out, 0);
    const Index width = classes > 0 ? total.rows / classes : 0;  // no class, no move: a run without a round
    require(total.rows == classes * width, "every class needs as many weights");
    require(moves.columns == 3 && step > 0 && moves.rows == step * out.rows, "every group of moves needs a row of the result");
    for (Index m = 0; m < moves.rows; ++m) {
        require(0 <= moves(m, 0) && moves(m, 0) < count(given), "there is no such round");
        require(0 <= moves(m, 1) && moves(m, 1) < classes, "there is no such class");
    }
    with_room(given, width, [&](const auto &rows) { exact_class_updates(rows, moves, step, width, total, out); });
}

}  // namespace

void bind_exact(nb::module_ &m) {
    m.def("exact_dots", &dots, unlocked());
    m.def("exact_squares", &squares, unlocked());
    m.def("exact_combination", &combination, unlocked());
    m.def("exact_steps", &steps, unlocked());
    m.def("exact_updates", &updates, unlocked());
    m.def("exact_class_updates", &class_updates, unlocked());
}

}  // namespace noregret::bind
