// Rounds of the learners whose score is no ⟨w, x⟩.
#include "scored.hpp"

#include <bit>

#include "bind/chain.hpp"
#include "bind/subjects.hpp"
#include "bind/window.hpp"
#include "markov.hpp"
#include "persistence.hpp"
#include "words.hpp"

namespace noregret::bind {

namespace {

template <class Learner>
Index play(const Rows &rows, Line<const double> labels, Line<const double> weights, Learner learner, RecordAt at, Line<double> total, Line<double> scores) {
    const Index rounds = labels.size;
    require(rounds <= count(rows) && (!weights.size || weights.size == rounds), "a row is not there");
    require(scores.size == rounds, "no room for the scores");
    return std::visit([&](const auto &some) { return play_scored(some, labels, weights, learner, *at.record, total, scores); }, rows);
}

void check_markov(Index rows, Index columns, Line<const Index> context) {
    require(context.size == 1 && columns == 2, "a context, and a count of two labels in each");
    require(rows >= 2 && std::has_single_bit(static_cast<std::uint64_t>(rows)), "the contexts are no power of two");
    require(1 <= context[0] && context[0] < rows, "the context is not there");
}

Index play_markov(const Rows &rows, Line<const double> labels, Line<const double> weights, Table<double> counts, Line<Index> context, RecordAt at,
                  Line<double> scores) {
    require(at.record->config.gather == NOTHING, "Σg is not kept");
    check_markov(counts.rows, counts.columns, {context.data, context.size});
    return play(rows, labels, weights, Markov{counts, context.data}, at, {}, scores);
}

void score_markov(Table<const double> counts, Line<const Index> context, Line<double> scores) {
    check_markov(counts.rows, counts.columns, context);
    std::fill_n(scores.data, scores.size, log_odds(counts[context[0]]));
}

template <class S, class Number> S *numbers_of(Line<Number> line) {
    require(line.size == static_cast<Index>(sizeof(S) / sizeof(double)), "not the numbers that are kept");
    return reinterpret_cast<S *>(line.data);
}

Index play_words(const Rows &rows, Line<const double> labels, Line<const double> weights, Table<double> counts, Line<double> all, Line<double> platt,
                 double smoothing, bool tempered, RecordAt at, Line<double> total, Line<double> scores) {
    require(counts.columns == 2 && counts.rows >= total.size, "no room for the counts");
    require(at.record->config.gather == GRADIENTS, "Σg is kept");
    const Words learner{counts, numbers_of<Counted>(all), numbers_of<Platt>(platt), smoothing, tempered};
    return play(rows, labels, weights, learner, at, total, scores);
}

template <class Learner> void score(const Rows &rows, const Learner &learner, Line<double> scores) {
    require(scores.size <= count(rows), "a row is not there");
    std::visit([&](const auto &some) { for (Index t = 0; t < scores.size; ++t) scores[t] = learner.score(some, t); }, rows);
}

void score_words(const Rows &rows, Table<const double> counts, Line<const double> all, Line<const double> platt, double smoothing, bool tempered,
                 Line<double> scores) {
    require(counts.columns == 2, "two classes");
    score(rows, WordsSeen{counts, numbers_of<const Counted>(all), numbers_of<const Platt>(platt), smoothing, tempered}, scores);
}

Index play_nearest(const Rows &rows, Line<const double> labels, Line<const double> weights, Line<double> tiles, Line<double> votes, Line<Index> learned,
                   Line<double> row, Line<double> near, Index neighbours, RecordAt at, Line<double> total, Line<double> scores) {
    const Window window = window_of(tiles, votes.size, learned, row, near, neighbours);
    return play(rows, labels, weights, Nearest{window, votes.data}, at, total, scores);
}

void score_nearest(const Rows &rows, Line<const double> tiles, Line<const double> votes, Line<const Index> learned, Line<double> row, Line<double> near,
                   Index neighbours, Line<double> scores) {
    score(rows, NearestSeen{window_seen(tiles, votes.size, learned, row, near, neighbours), votes.data}, scores);
}

Index play_nearest_numbers(const Rows &rows, Line<const double> labels, Line<const double> weights, Line<double> tiles, Line<double> numbers,
                           Line<double> votes, Line<Index> learned, Line<double> row, Line<double> near, Index neighbours, RecordAt at,
                           Line<double> total, Line<double> scores) {
    require(numbers.size == votes.size, "a label for each vote");
    const Window window = window_of(tiles, votes.size, learned, row, near, neighbours);
    return play(rows, labels, weights, NearestNumbers{window, numbers.data, votes.data}, at, total, scores);
}

void score_nearest_numbers(const Rows &rows, Line<const double> tiles, Line<const double> numbers, Line<const double> votes, Line<const Index> learned,
                           Line<double> row, Line<double> near, Index neighbours, Line<double> scores) {
    require(numbers.size == votes.size, "a label for each vote");
    score(rows, NearestNumbersSeen{window_seen(tiles, votes.size, learned, row, near, neighbours), numbers.data, votes.data}, scores);
}

Index play_persistence(Index rule, const Rows &rows, Line<const double> labels, Line<const double> weights, Line<double> memory, RecordAt at,
                       Line<double> scores) {
    require(at.record->config.gather == NOTHING, "Σg is not kept");
    return play(rows, labels, weights, Persistence{rule, numbers_of<Labels>(memory)}, at, {}, scores);
}

template <class C>
void calibrate_scores(Line<const double> z, Line<const double> labels, Line<const double> weights, Line<double> learned, Line<double> out) {
    require(labels.size == z.size && out.size == z.size && (!weights.size || weights.size == z.size), "a label and a place for each score");
    calibrate(z, labels, weights, *numbers_of<C>(learned), out);
}

template <class C> void scale_scores(Line<const double> z, Line<const double> learned, Line<double> out) {
    require(out.size == z.size, "a place for each score");
    const C &now = *numbers_of<const C>(learned);
    for (Index t = 0; t < z.size; ++t) out[t] = scaled(now, z[t]);
}

}  // namespace

void bind_scored(nb::module_ &m) {
    def_kept(m, "play_markov", &play_markov);
    def_kept(m, "score_markov", &score_markov);
    def_kept(m, "play_words", &play_words);
    def_kept(m, "score_words", &score_words);
    def_kept(m, "play_nearest", &play_nearest);
    def_kept(m, "score_nearest", &score_nearest);
    def_kept(m, "play_nearest_numbers", &play_nearest_numbers);
    def_kept(m, "score_nearest_numbers", &score_nearest_numbers);
    def_kept(m, "play_persistence", &play_persistence);
    def_kept(m, "calibrate", &calibrate_scores<Platt>);
    def_kept(m, "apply_platt", &scale_scores<Platt>);
    def_kept(m, "calibrate_temperature", &calibrate_scores<Temperature>);
    def_kept(m, "apply_temperature", &scale_scores<Temperature>);
    m.attr("TEMPERATURE_NUMBERS") = TEMPERATURE_NUMBERS;
    m.attr("COUNTED_NUMBERS") = COUNTED_NUMBERS;
    m.attr("PLATT_NUMBERS") = PLATT_NUMBERS;
    m.attr("TILE") = TILE;
}

}  // namespace noregret::bind
