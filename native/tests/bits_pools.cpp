// Bits of the mixtures of a pool: of two classes, of many classes, of numbers; and of alarms.
#include <memory>

#include "aggregate.hpp"
#include "alarm.hpp"
#include "cover.hpp"
#include "mixture.hpp"
#include "tests/played.hpp"

namespace noregret::bits {

namespace {

constexpr Index MEMBERS[] = {1, 2, 7, 30};

// What n members say: numbers up to `size`, and NaN where one sleeps; the first never does.
Numbers said_by(Index n, Index each, double size) {
    Stream stream{static_cast<std::uint64_t>(n)};
    Numbers said = line(stream, n * each);
    for (std::size_t j = 0; j < said.size(); ++j) said[j] = j >= static_cast<std::size_t>(each) && stream.below(6) == 0 ? NOT_A_NUMBER : size * said[j];
    return said;
}

// What is said by the members, and by the tops where there are more voices: these all speak, or the first is silent.
Numbers said_by(Index members, Index voices, Index each, double size) {
    Numbers said = said_by(voices, each, size);
    for (std::size_t j = static_cast<std::size_t>((members + 1) * each); j < said.size(); ++j) said[j] = finite(said[j]) ? said[j] : 0.5;
    return said;
}

// A mixture before its first round.
struct Fresh {
    Numbers members, tops, history;
    Places beats{0, 1, 1};
    Pool pool;

    explicit Fresh(Index n)
        : members(zeros(n * MEMBER_COLUMNS)), tops(zeros(TOPS * TOP_COLUMNS)), history(zeros(HISTORY_ROWS * (n + 1))),
          pool{reinterpret_cast<Member *>(members.data()), reinterpret_cast<TopState *>(tops.data()), n, {0.01, 0.005, 0.02, 1.0}} {
        const double share = 1.0 / double(n);
        for (Index i = 0; i < n; ++i) pool.members[i] = {log_of(share), 0.0, {share, share}, {share, share}, {}};
        for (int top = 0; top < TOPS; ++top) pool.tops[top].log_prior = log_of(top ? 0.125 : 0.5);
    }
    History kept() { return {table(history, pool.n + 1), beats.data()}; }
    void into(Hash &hash) const {
        for (const Numbers *some : {&members, &tops, &history}) hash(*some);
        hash(beats);
    }
};

void two_classes(Hash &hash) {
    const auto record = std::make_unique<Record>();
    for (Index other = 0; other < 17; ++other) {
        const Layouts &given = other < 16 ? FEW[other % 3] : MANY;  // so many that the history is thinned
        const Index n = MEMBERS[other / 4 % 4], count = given.wide.count;
        Fresh fresh(n);
        const Index voices = other % 5 == 1 ? n + TOPS : n;  // labels that come late
        const Numbers said = said_by(n, voices, count, other % 3 ? 5.0 : 800.0);
        Numbers scores = zeros(count), later = zeros(count), total = zeros(given.wide.width);
        begin(*record, {CONSTANT, 1.0, 0.0, WHOLE, INFINITE, double(other & 1), 0.0, 0.0, true, GRADIENTS, 0.0, 0.0, 0.0, 0});
        std::visit([&](const auto &some) {
            hash(play_mixture(some, batch_of(given, false, other % 5 == 0, 0, count, scores), table_seen(said, count), fresh.pool, fresh.kept(),
                              {total.data(), given.wide.width, 1}, *record));
        }, given.rows(other % 4));
        score_mixture(table_seen(said, count), fresh.pool, record->state.rounds, view(later), nullptr);
        for (const Numbers *some : {&scores, &later, &total}) hash(*some);
        fresh.into(hash);
        hash_state(hash, record->state);
    }
}

void many_classes(Hash &hash) {
    const auto record = std::make_unique<Record>();
    for (const Index most : {1, 2, 5, 19}) {
        for (Index other = 0; other < 16; ++other) {
            const Layouts &given = FEW[other % 3];
            const Index n = MEMBERS[other / 4], count = given.wide.count, room = 4 * ((most + 3) / 4);
            Fresh fresh(n);
            const Index voices = other % 5 == 1 ? n + TOPS : n;
            const Numbers said = said_by(n, voices, count * room, 5.0);
            Numbers labels, scores = zeros(4 * count), s = zeros(room), logs = s, p = s, later = zeros(count * most);
            for (Index t = 0; t < count; ++t) labels.push_back(std::floor(std::fabs(given.wide.reals[static_cast<std::size_t>(t)]) * 3.0));
            for (double &label : labels) label = lower(label, double(most - 1));
            Places clock(3), counts(static_cast<std::size_t>(room)), confusion(static_cast<std::size_t>(most * most));
            begin(*record, {CONSTANT, 1.0, 0.0, WHOLE, INFINITE, 0.0, 0.0, 0.0, 0, NOTHING, 0.0, 0.0, 0.0, 0});
            const Says says{said.data(), count, room, voices};
            const History kept = fresh.kept();
            Bench on(fresh.pool, room);
            MixedClasses mixed{says, on, kept, record->state, p.data()};
            const Line<const double> weights = other & 2 ? seen(given.wide.weights) : Line<const double>{};
            std::visit([&](const auto &some) {
                hash(play_forecasts(some, seen(labels), weights, mixed, *record, view(clock), {view(counts), {}, table(confusion, most)},
                                    {s.data(), logs.data(), room}, table(scores, 4), {}));
            }, given.rows(other & 3));
            on.give_back();
            score_classes(says, fresh.pool, record->state.rounds, table(later, most), nullptr);
            for (const Numbers *some : {&scores, &later}) hash(*some);
            for (const Places *some : {&clock, &counts, &confusion}) hash(*some);
            fresh.into(hash);
            hash_state(hash, record->state);
        }
    }
}

void numbers(Hash &hash) {
    const auto record = std::make_unique<Record>();
    for (Index other = 0; other < 17; ++other) {
        const Layouts &given = other < 16 ? FEW[other % 3] : MANY;
        const Index n = MEMBERS[other / 4 % 4], count = given.wide.count;
        Numbers members = zeros((n + MEANS) * NUMBER_COLUMNS), range = zeros(RANGE_NUMBERS), space = zeros(2 * (n + MEANS));
        Numbers scores = zeros(count), later = zeros(count), total = zeros(given.wide.width), history = zeros(HISTORY_ROWS * (n + 1));
        std::array<Index, 3> beats{0, 1, 1};
        const NumberPool pool{reinterpret_cast<NumberMember *>(members.data()), range.data(), n};
        for (Index i = 0; i < pool.all(); ++i) pool.members[i].log_prior = i < n ? -log_of(double(n)) : -INFINITE;
        const Numbers said = said_by(n, count, other % 3 ? 2.0 : 1e-6);
        begin(*record, {CONSTANT, 1.0, 0.0, WHOLE, INFINITE, double(other & 1), 0.0, 0.0, 0, GRADIENTS, 0.0, 0.0, 0.0, 0});
        std::visit([&](const auto &some) {
            hash(play_aggregate(some, batch_of(given, true, other % 5 == 0, 0, count, scores), table_seen(said, count), pool,
                                {table(history, n + 1), beats.data()}, space.data(), {total.data(), given.wide.width, 1}, *record));
        }, given.rows(other % 4));
        score_aggregate(table_seen(said, count), pool, record->state.rounds, space.data(), view(later));
        for (const Numbers *some : {&members, &range, &scores, &later, &total, &history}) hash(*some);
        hash_state(hash, record->state);
    }
}

// Sets of a run in two blocks, with labels that came late behind them, and log-odds judged by their labels.
template <class Kind> void covered(Hash &hash) {
    for (const double target : {0.5, 0.9, 0.99}) {
        Stream stream{17};
        constexpr Index COUNT = 500;
        const Numbers said = line(stream, COUNT), noise = line(stream, COUNT), weights = line(stream, COUNT);
        Numbers labels = zeros(COUNT), kept = zeros(COVER_NUMBERS), first = zeros(WARM), out = zeros(COUNT), loss = zeros(1);
        for (std::size_t t = 0; t < labels.size(); ++t) {
            const double real = 3.0 * said[t] + noise[t];
            labels[t] = std::is_same_v<Kind, Distance> ? real : real > 0.0 ? 1.0 : -1.0;
        }
        Places counts(static_cast<std::size_t>(COVER_COUNTS)), sizes(static_cast<std::size_t>(SIZES)), bins(static_cast<std::size_t>(2 * BINS));
        kept[0] = target, kept[1] = 1.0 - target;
        Tracker at{*reinterpret_cast<Cover *>(kept.data()), *reinterpret_cast<CoverCounts *>(counts.data()), first.data(), sizes.data()};
        cover_all<Kind>({said.data(), 200}, {labels.data(), 200}, {}, at, {out.data(), 200});
        cover_all<Kind>({said.data() + 200, 300}, {labels.data() + 200, 300}, {weights.data() + 200, 300}, at, {out.data() + 200, 300});
        const double q = threshold(at.now, at.counts);
        for (Index t = 0; t < 20; ++t) cover(at, Kind::score(said[std::size_t(t)], labels[std::size_t(t)]), q, 400, Kind::set(said[std::size_t(t)], q));
        const Numbers others{0.2, 0.9, 0.5, 0.4};
        cover(at, 0.9, q, at.counts.rounds, set_of(seen(others), q));
        judge(seen(said), seen(labels), view(loss), table(bins, BINS));
        hash(kept), hash(first), hash(out), hash(loss), hash(q);
        for (const Index count : counts) hash(count);
        for (const Index count : sizes) hash(count);
        for (const Index count : bins) hash(count);
    }
}

// Losses of three kinds, watched at several levels until an alarm has overflowed; what it is held against.
void alarms(Hash &hash) {
    Stream stream{11};
    for (const double level : {0.01, 0.1, 0.5, 0.9}) {
        for (const double share : {0.0, 0.5, 1.0}) {
            Numbers losses = line(stream, 4'000), means = zeros(4'000), wrong = means;
            for (double &one : losses) one = std::fabs(one - std::floor(one)) < share ? 1.0 : std::fabs(one - std::floor(one));
            Alarm alarm{};
            for (Index from = 0; from < 4'000; ++from) {
                hash(from += watch({losses.data() + from, 4'000 - from}, level, from < 2'000 ? 20.0 : 1e300, alarm));
            }
            for (const double wealth : alarm.wealth) hash(wealth);
            hash(alarm.now), hash(alarm.largest), hash(alarm.at);
            double sum = 0.0, number = 0.0;
            follow_mean({losses.data(), 4'000}, 0.5, sum, number, view(means));
            Places classes(4'000), counts(7);
            for (Index &one : classes) one = static_cast<Index>(stream.below(7));
            Index leader = -1;
            follow_most_frequent({classes.data(), 4'000}, {counts.data(), 7}, leader, view(wrong));
            hash(means), hash(wrong), hash(leader);
        }
    }
}

}  // namespace

void pools() {
    subject("intervals", covered<Distance>);
    subject("sets of two labels", covered<TwoClasses>);
    subject("mixture", two_classes);
    subject("mixture of many classes", many_classes);
    subject("mixture of numbers", numbers);
    subject("alarms", alarms);
}

}  // namespace noregret::bits
