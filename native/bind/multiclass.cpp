// Rounds of the perceptron of many classes.
#include "multiclass.hpp"

#include "bind/arrays.hpp"
#include "bind/subjects.hpp"

namespace noregret::bind {

namespace {

Index play(const Rows &rows, Line<const double> labels, Line<const double> weights, bool one_vs_rest, Table<double> z, Line<double> biases, RecordAt at,
           Line<Index> clock, Line<Index> counts, Line<Index> moved, Table<Index> confusion, Line<double> s, Table<double> scores, Table<std::int8_t> moves) {
    const Index rounds = labels.size, room = std::min({z.columns, biases.size, counts.size, moved.size, s.size, moves.rows ? moves.columns : INT64_MAX});
    require(rounds <= count(rows) && (!weights.size || weights.size == rounds), "a row is not there");
    require(scores.rows == rounds && scores.columns == 3 && confusion.rows == confusion.columns, "three numbers for each row");
    require(!moves.rows || moves.rows == rounds, "moves of each row, or none");
    require(clock.size == 2 && 0 <= clock[0] && clock[0] <= room, "there are not so many classes");
    for (Index t = 0; t < rounds; ++t) {
        require(0.0 <= labels[t] && labels[t] < static_cast<double>(room), "a label is no number of a class");
    }
    const ClassWeights<double> w{z, biases, at.record->config.bias};
    const ClassTables tables{counts, moved, confusion};
    return std::visit(
        [&](const auto &some) { return play_classes(some, labels, weights, one_vs_rest, w, *at.record, clock, tables, s, scores, moves); }, rows);
}

void score(const Rows &rows, Table<const double> z, Line<const double> biases, double bias, Index known, Table<double> out) {
    const Index room = std::min({z.columns, biases.size, out.columns});
    require(out.rows <= count(rows) && 0 <= known && known <= room, "there are not so many rows or classes");
    std::visit([&](const auto &some) { score_classes(some, {z, biases, bias}, known, out); }, rows);
}

}  // namespace

void bind_multiclass(nb::module_ &m) {
    m.def("play_classes", &play, unlocked());
    m.def("score_classes", &score, unlocked());
}

}  // namespace noregret::bind
