// Rounds of the learners that forecast a probability for every class.
#include "forecasts.hpp"

#include "bind/arrays.hpp"
#include "bind/subjects.hpp"
#include "bind/window.hpp"

namespace noregret::bind {

namespace {

// What every forecaster counts, and where it writes what it says.
struct Counted {
    Line<Index> clock, counts;
    Table<Index> confusion;
    Table<double> buffers;
    Table<double> scores, all;
};

// `room` is how many classes the learner's own arrays have room for.
void check(const Rows &rows, Line<const double> labels, Line<const double> weights, const Counted &to, Index room) {
    const Index rounds = labels.size;
    room = std::min({room, to.counts.size, to.buffers.columns, to.all.rows ? to.all.columns : INT64_MAX});
    require(rounds <= count(rows) && (!weights.size || weights.size == rounds), "a row is not there");
    require(to.scores.rows == rounds && to.scores.columns == 4 && to.confusion.rows == to.confusion.columns, "four numbers for each row");
    require((!to.all.rows || to.all.rows == rounds) && to.buffers.rows == 3, "forecasts of each row, or none");
    require(to.clock.size == 3 && 0 <= to.clock[0] && to.clock[0] <= room, "there are not so many classes");
    for (Index t = 0; t < rounds; ++t) {
        require(0.0 <= labels[t] && labels[t] < static_cast<double>(room), "a label is no number of a class");
    }
}

template <class L> Index play(const Rows &rows, Line<const double> labels, Line<const double> weights, L &learner, RecordAt at, const Counted &to) {
    learner.p = to.buffers[2];
    const ClassTables tables{to.counts, {}, to.confusion};
    const ForecastRoom room{to.buffers[0], to.buffers[1], to.buffers.columns};
    return std::visit([&](const auto &some) { return play_forecasts(some, labels, weights, learner, *at.record, to.clock, tables, room, to.scores, to.all); },
                      rows);
}

Index softmax_rounds(const Rows &rows, Line<const double> labels, Line<const double> weights, Table<double> z, Line<double> biases, Table<double> squares,
                     Line<double> bias_squares, double eta, RecordAt at, Line<Index> clock, Line<Index> counts, Table<Index> confusion,
                     Table<double> buffers, Table<double> scores, Table<double> all) {
    const Counted to{clock, counts, confusion, buffers, scores, all};
    const Index room = std::min({z.columns, biases.size, squares.columns, bias_squares.size});
    check(rows, labels, weights, to, room);
    require(room % 4 == 0 && buffers.columns <= room && squares.rows == z.rows, "room for a multiple of four classes");
    Softmax learner{{z, biases, at.record->config.bias}, squares, bias_squares, eta, nullptr};
    return play(rows, labels, weights, learner, at, to);
}

Index newton_rounds(const Rows &rows, Line<const double> labels, Line<const double> weights, Table<double> z, Line<double> biases, Table<double> A,
                    Table<double> B, Line<double> q, Index n, double ridge, Line<double> raw, Line<double> heat, Line<Index> updates, RecordAt at,
                    Line<Index> clock, Line<Index> counts, Table<Index> confusion, Table<double> buffers, Table<double> scores, Table<double> all) {
    const Counted to{clock, counts, confusion, buffers, scores, all};
    const double bias = at.record->config.bias;
    const Index room = std::min({z.columns, biases.size, raw.size}), shift = bias != 0.0;
    check(rows, labels, weights, to, room);
    require(room % 4 == 0 && buffers.columns <= room && heat.size == 2 && updates.size == 1, "room for a multiple of four classes");
    require(shift <= n && n <= std::min({A.rows, A.columns, B.rows, B.columns, q.size}) && n - shift <= z.rows, "no room for so many features");
    z.rows = n - shift;
    SoftmaxNewton learner{{z, biases, bias}, {A, B, nullptr, nullptr, q.data, n}, ridge, raw.data, heat.data, updates.data, nullptr};
    return play(rows, labels, weights, learner, at, to);
}

Index succession_rounds(const Rows &rows, Line<const double> labels, Line<const double> weights, Table<double> seen, Line<Index> last, bool follows,
                        RecordAt at, Line<Index> clock, Line<Index> counts, Table<Index> confusion, Table<double> buffers, Table<double> scores,
                        Table<double> all) {
    const Counted to{clock, counts, confusion, buffers, scores, all};
    check(rows, labels, weights, to, seen.columns);
    require(last.size == 1 && 0 <= last[0] && last[0] < seen.rows && (!follows || seen.rows > seen.columns), "a row for every class");
    Succession learner{seen, last.data, follows, at.record->config.bias, nullptr};
    return play(rows, labels, weights, learner, at, to);
}

// The class of each kept row must be one of those known.
void check_classes(const WindowSeen &window, Line<const double> classes, Index votes, Index known) {
    require(classes.size == votes, "a class for each vote");
    for (Index slot = 0; slot < window.slots; ++slot) {
        require(0.0 <= classes[slot] && classes[slot] < static_cast<double>(known), "a kept row has no class");
    }
}

Index nearest_rounds(const Rows &rows, Line<const double> labels, Line<const double> weights, Line<double> tiles, Line<double> classes,
                     Line<double> votes, Line<Index> learned, Line<double> row, Line<double> near, Index neighbours, double smoothing, RecordAt at,
                     Line<Index> clock, Line<Index> counts, Table<Index> confusion, Table<double> buffers, Table<double> scores, Table<double> all) {
    const Counted to{clock, counts, confusion, buffers, scores, all};
    check(rows, labels, weights, to, INT64_MAX);
    const Window window = window_of(tiles, votes.size, learned, row, near, neighbours);
    check_classes(window.seen(), {classes.data, classes.size}, votes.size, clock[0]);
    NearestClasses learner{window, classes.data, votes.data, smoothing, at.record->config.bias, nullptr};
    return play(rows, labels, weights, learner, at, to);
}

void nearest_scores(const Rows &rows, Line<const double> tiles, Line<const double> classes, Line<const double> votes, Line<const Index> learned,
                    Line<double> row, Line<double> near, Index neighbours, double smoothing, Table<double> out) {
    const WindowSeen window = window_seen(tiles, votes.size, learned, row, near, neighbours);
    require(out.rows <= count(rows), "a row is not there");
    check_classes(window, classes, votes.size, out.columns);
    const NearestClassesSeen learner{window, classes.data, votes.data, smoothing};
    std::visit([&](const auto &some) { for (Index t = 0; t < out.rows; ++t) learner.scores(some, t, out.columns, out[t]); }, rows);
}

}  // namespace

void bind_forecasts(nb::module_ &m) {
    m.def("play_softmax", &softmax_rounds, unlocked());
    m.def("play_softmax_newton", &newton_rounds, unlocked());
    m.def("play_succession", &succession_rounds, unlocked());
    m.def("play_nearest_classes", &nearest_rounds, unlocked());
    m.def("score_nearest_classes", &nearest_scores, unlocked());
}

}  // namespace noregret::bind
