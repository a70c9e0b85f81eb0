// The mixture of a pool of members.
#include <vector>

#include "aggregate.hpp"
#include "mixture.hpp"

#include "bind/chain.hpp"
#include "bind/subjects.hpp"

namespace noregret::bind {

namespace {

Pool pool_of(Table<double> members, Table<double> tops, Line<const double> mixing) {
    require(members.rows > 0 && members.columns == MEMBER_COLUMNS && members.apart == MEMBER_COLUMNS, "the table of members does not fit");
    require(tops.rows == TOPS && tops.columns == TOP_COLUMNS && tops.apart == TOP_COLUMNS, "the table of the tops does not fit");
    require(mixing.size == 4, "three steps, and the caution");
    return {reinterpret_cast<Member *>(members.data), reinterpret_cast<TopState *>(tops.data), members.rows, {mixing[0], mixing[1], mixing[2], mixing[3]}};
}

History history_of(Table<double> rows, Line<Index> clock, Index members) {
    require(rows.rows == HISTORY_ROWS && rows.columns == members + 1 && clock.size == 3, "the history does not fit");
    require(clock[0] >= 0 && clock[0] < HISTORY_ROWS && clock[1] > 0, "the clock of the history is wrong");
    return {rows, clock.data};
}

Index play(const Rows &rows, Line<const double> labels, Line<const double> weights, Table<const double> said, Table<double> members, Table<double> tops,
           Line<const double> mixing, Table<double> history, Line<Index> clock, Strided<double> total, RecordAt at, Line<double> scores) {
    const Pool pool = pool_of(members, tops, mixing);
    const History kept = history_of(history, clock, pool.n);
    require(labels.size <= count(rows) && labels.size == scores.size, "rows, labels and scores must be equally many");
    require(weights.size == 0 || weights.size == labels.size, "weights must be as many as labels, or none");
    require((said.rows == pool.n || said.rows == pool.n + TOPS) && said.columns == labels.size, "a score of every member for every round");
    const Batch batch{labels.data, labels.size, weights.size ? weights.data : nullptr, scores.data};
    return std::visit([&](const auto &some) { return play_mixture(some, batch, said, pool, kept, total, *at.record); }, rows);
}

void score(Table<const double> said, Table<double> members, Table<double> tops, Line<const double> mixing, RecordSeen at, Line<double> scores) {
    const Pool pool = pool_of(members, tops, mixing);
    require(said.rows == pool.n && said.columns == scores.size, "a score of every member for every row");
    score_mixture(said, pool, at.record->state.rounds, scores, nullptr);
}

// The same of one row, and what the tops say of it.
void foretell(Table<const double> said, Table<double> members, Table<double> tops, Line<const double> mixing, RecordSeen at, Line<double> scores,
              Line<double> voices) {
    const Pool pool = pool_of(members, tops, mixing);
    require(said.rows == pool.n && said.columns == 1 && scores.size == 1 && voices.size == TOPS, "a score of every member for the row");
    score_mixture(said, pool, at.record->state.rounds, scores, voices.data);
}

Index play_many(const Rows &rows, Line<const double> labels, Line<const double> weights, Table<const double> said, Table<double> members,
                Table<double> tops, Line<const double> mixing, Table<double> history, Line<Index> beats, RecordAt at, Line<Index> clock, Line<Index> counts,
                Table<Index> confusion, Table<double> buffers, Table<double> scores) {
    const Pool pool = pool_of(members, tops, mixing);
    const Index rounds = labels.size, room = std::min({said.columns, counts.size, buffers.columns});
    require(rounds <= count(rows) && scores.rows == rounds && scores.columns == 4, "rows, labels and scores must be equally many");
    require(weights.size == 0 || weights.size == rounds, "weights must be as many as labels, or none");
    const Index voices = rounds && said.rows == (pool.n + TOPS) * rounds ? pool.n + TOPS : pool.n;
    require(said.rows == voices * rounds && said.apart == said.columns, "what every member says of every round");
    require(clock.size == 3 && 0 <= clock[0] && clock[0] <= room && buffers.rows == 3, "there are not so many classes");
    require(confusion.rows == confusion.columns, "the table of classes is square");
    for (Index t = 0; t < rounds; ++t) require(0.0 <= labels[t] && labels[t] < static_cast<double>(room), "a label is no number of a class");
    const Says says{said.data, rounds, said.columns, voices};
    const History kept = history_of(history, beats, pool.n);
    Bench on(pool, room);
    MixedClasses mixed{says, on, kept, at.record->state, buffers[2]};
    const ForecastRoom here{buffers[0], buffers[1], buffers.columns};
    const ClassTables tables{counts, {}, confusion};
    const Index played =
        std::visit([&](const auto &some) { return play_forecasts(some, labels, weights, mixed, *at.record, clock, tables, here, scores, {}); }, rows);
    on.give_back();
    return played;
}

void score_many(Table<const double> said, Table<double> members, Table<double> tops, Line<const double> mixing, Index rounds, Table<double> scores) {
    const Pool pool = pool_of(members, tops, mixing);
    require(said.rows == pool.n * scores.rows && said.columns == scores.columns && said.apart == said.columns, "what every member says of every row");
    score_classes({said.data, scores.rows, said.columns, pool.n}, pool, rounds, scores, nullptr);
}

void foretell_many(Table<const double> said, Table<double> members, Table<double> tops, Line<const double> mixing, Index rounds, Table<double> scores,
                   Table<double> voices) {
    const Pool pool = pool_of(members, tops, mixing);
    const bool fits = said.rows == pool.n && said.columns == scores.columns && said.apart == said.columns && scores.rows == 1;
    require(fits && voices.rows == TOPS && voices.columns == said.columns && voices.apart == said.columns, "what every member says of the row");
    score_classes({said.data, 1, said.columns, pool.n}, pool, rounds, scores, voices.data);
}

// The share of every member, of the next round that all are awake in.
void shares(Table<double> members, Table<double> tops, Line<const double> mixing, Line<const bool> asleep, Line<double> out) {
    const Pool pool = pool_of(members, tops, mixing);
    require(out.size == pool.n && asleep.size == pool.n, "a share for every member");
    Bench on(pool, 2);
    on.wake([&](Index i) { return asleep[i] ? NOT_A_NUMBER : 0.0; });
    std::fill_n(on.p, 2 * on.lanes, 0.5);
    forecast(on, 2, 1);
    shares_of(on, out.data);
}

NumberPool pool_of(Table<double> members, Line<double> range) {
    require(members.rows > MEANS && members.columns == NUMBER_COLUMNS && members.apart == NUMBER_COLUMNS, "the table of members does not fit");
    require(range.size == RANGE_NUMBERS, "the range does not fit");
    return {reinterpret_cast<NumberMember *>(members.data), range.data, members.rows - MEANS};
}

Index play_numbers(const Rows &rows, Line<const double> labels, Line<const double> weights, Table<const double> said, Table<double> members,
                   Line<double> range, Table<double> history, Line<Index> clock, Strided<double> total, RecordAt at, Line<double> scores) {
    const NumberPool pool = pool_of(members, range);
    const History kept = history_of(history, clock, pool.n);
    require(labels.size <= count(rows) && labels.size == scores.size, "rows, labels and scores must be equally many");
    require(weights.size == 0 || weights.size == labels.size, "weights must be as many as labels, or none");
    require(said.rows == pool.n && said.columns == labels.size, "a forecast of every member for every round");
    std::vector<double> space(2 * pool.all());
    const Batch batch{labels.data, labels.size, weights.size ? weights.data : nullptr, scores.data};
    return std::visit([&](const auto &some) { return play_aggregate(some, batch, said, pool, kept, space.data(), total, *at.record); }, rows);
}

// The share of every member, of the next round in which those play that do not sleep.
void shares_numbers(Table<double> members, Line<double> range, Line<const bool> asleep, Index rounds, Line<double> out) {
    const NumberPool pool = pool_of(members, range);
    require(out.size == pool.n && asleep.size == pool.n, "a share for every member");
    std::vector<double> said(pool.n);
    for (Index i = 0; i < pool.n; ++i) said[i] = asleep[i] ? NOT_A_NUMBER : 0.0;
    shares_of(pool, said.data(), rounds, out.data);
}

void score_numbers(Table<const double> said, Table<double> members, Line<double> range, Index rounds, Line<double> scores) {
    const NumberPool pool = pool_of(members, range);
    require(said.rows == pool.n && said.columns == scores.size, "a forecast of every member for every row");
    std::vector<double> space(2 * pool.all());
    score_aggregate(said, pool, rounds, space.data(), scores);
}

}  // namespace

void bind_mixture(nb::module_ &m) {
    def_kept(m, "play_mixture", &play);
    def_kept(m, "score_mixture", &score);
    m.def("play_mixture_classes", &play_many, unlocked());
    m.def("score_mixture_classes", &score_many, unlocked());
    m.def("foretell_mixture", &foretell, unlocked());
    m.def("foretell_mixture_classes", &foretell_many, unlocked());
    m.def("mixture_shares", &shares);
    m.def("relate", [](Line<double> level, Line<const double> labels, Line<const double> weights, Line<double> means, Line<double> sizes, Line<double> out) {
        require(level.size == LEVEL_NUMBERS && (!weights.size || weights.size == labels.size), "the level does not fit");
        require(means.size == labels.size && sizes.size == labels.size && out.size == labels.size, "a place for each label");
        relate(*reinterpret_cast<Level *>(level.data), labels, weights, means, sizes, out);
    }, unlocked());
    m.attr("LEVEL_NUMBERS") = LEVEL_NUMBERS;
    m.def("play_aggregate", &play_numbers, unlocked());
    m.def("aggregate_shares", &shares_numbers);
    m.def("score_aggregate", &score_numbers, unlocked());
    m.attr("NUMBER_COLUMNS") = NUMBER_COLUMNS;
    m.attr("RANGE_NUMBERS") = RANGE_NUMBERS;
    m.attr("MEANS") = Index(MEANS);
    m.attr("SWITCHES") = SWITCHES;
    m.attr("HISTORY_ROWS") = HISTORY_ROWS;
    m.attr("MEMBER_COLUMNS") = MEMBER_COLUMNS;
    m.attr("TOPS") = Index(TOPS);
}

}  // namespace noregret::bind
