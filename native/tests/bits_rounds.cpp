// Bits of every loop that learns: linear, by coordinate, with a penalty, with a matrix, of many classes, of experts.
#include <memory>

#include "coordinate.hpp"
#include "experts.hpp"
#include "matrix.hpp"
#include "multiclass.hpp"
#include "play.hpp"
#include "tests/bits.hpp"
#include "truncated.hpp"

namespace noregret::bits {

namespace {

constexpr const char *LOSSES[] = {"hinge",  "margin-hinge", "squared-hinge", "perceptron", "logistic", "exponential",
                                  "squared", "absolute",    "huber",         "pinball",    "zero-one"};

Loss loss_of(std::string_view name) {
    Loss loss;
    loss_named(name, name == "zero-one" ? 0.0 : 0.7, loss);
    return loss;
}

bool is_regression(std::string_view name) { return name == "squared" || name == "absolute" || name == "huber" || name == "pinball"; }

// Every field of the state, by its name's own kind.
void hash_state(Hash &hash, const State &st) {
    const auto *bytes = reinterpret_cast<const char *>(&st);
    for (const Field &field : STATE_FIELDS) {
        Index size = field.shape[0] ? field.shape[0] : 1;
        if (field.shape[1]) size *= field.shape[1];
        for (Index k = 0; k < size; ++k) {
            std::uint64_t word;
            std::memcpy(&word, bytes + field.offset + static_cast<std::size_t>(k) * 8, 8);
            if (field.kind == 'f') hash(std::bit_cast<double>(word));
            else hash(word);
        }
    }
}

void begin(Record &record, const Config &config) {
    std::memset(static_cast<void *>(&record), 0, sizeof record);
    record.config = config;
    record.state.scale = record.state.wealth = 1.0;
    record.state.trace_step = record.state.trace_next = record.state.curve_next = 1;
}

// The layouts of two tables of rows, the second of narrow numbers, from a row on.
struct Layouts {
    Made<double> wide;
    Made<float> narrow;

    Layouts(Index count, Index width) : wide(static_cast<std::uint64_t>(width), count, width), narrow(static_cast<std::uint64_t>(width), count, width) {}

    Rows rows(Index layout, Index from = 0) const {
        switch (layout) {
            case 0: return wide.matrix(from);
            case 1: return narrow.matrix(from);
            case 2: return wide.sparse(from);
            default: return narrow.sparse(from);
        }
    }
    const Numbers &labels(bool real) const { return real ? wide.reals : wide.labels; }
};

Told told(const Layouts &given, bool real, bool weighted, Index from, Index stop, Numbers &scores) {
    return {given.labels(real).data() + from, stop - from, weighted ? given.wide.weights.data() + from : nullptr, scores.data() + from};
}

const Layouts FEW[] = {{60, 5}, {60, 16}, {60, 23}};
const Layouts MANY(5000, 9);

// One run of a linear learner, in two blocks, weights and sums apart or side by side.
void run_linear(Hash &hash, const Loss &loss, const Layouts &given, Index layout, bool paired, bool real, bool weighted, Record &record) {
    const Index count = given.wide.count, width = given.wide.width, cut = count / 3;
    Numbers room = zeros(2 * width), scores = zeros(count);
    const Strided<double> z = paired ? Strided<double>{room.data(), width, 2} : Strided<double>{room.data(), width, 1};
    const Strided<double> total = paired ? Strided<double>{room.data() + 1, width, 2} : Strided<double>{room.data() + width, width, 1};
    Index played = play_linear(loss, given.rows(layout), told(given, real, weighted, 0, cut, scores), z, total, record);
    if (played == cut) played += play_linear(loss, given.rows(layout, cut), told(given, real, weighted, cut, count, scores), z, total, record);
    hash(played);
    hash(room);
    hash(scores);
    hash_state(hash, record.state);
    std::visit([&](const auto &some) {
        const State &st = record.state;
        for (Index t = 0; t < 4; ++t) hash(score_linear(st.scale, st.bias, some, t, z)), hash(score_mean(st, some, t, z, total));
    }, given.rows(layout));
}

void linear(Hash &hash, std::string_view name) {
    const Loss loss = loss_of(name);
    const bool real = is_regression(name);
    const auto record = std::make_unique<Record>();
    Index turn = 0;
    const auto play = [&](Index rate, Index domain, const Layouts &given, Index layout, bool paired, bool bias, bool weighted) {
        ++turn;
        const double eta = rate == COIN ? 1.0 : rate >= PASSIVE && turn % 2 ? 0.0 : 0.3, radius = domain == WHOLE ? INFINITE : 0.8;
        const double l2 = rate <= ADAPTIVE && rate != STRONG && turn % 7 == 0 ? 0.1 : 0.0;
        begin(*record, {rate, eta, rate == STRONG ? 0.2 : 0.0, domain, radius, double(bias), turn % 2 ? 1.0 : 0.0, 0.7, !real, turn % 3,
                        0.0, 0.0, l2, turn % 5 != 0});
        run_linear(hash, loss, given, layout, paired, real, weighted, *record);
    };
    for (Index rate = CONSTANT; rate <= COIN; ++rate) {
        for (Index domain = WHOLE; domain <= SIMPLEX; ++domain) {
            for (Index layout = 0; layout < 4; ++layout) {
                for (int other = 0; other < 8; ++other) play(rate, domain, FEW[turn % 3], layout, other & 1, other & 2, other & 4);
            }
            play(rate, domain, MANY, turn % 4, turn % 2, turn % 3, turn % 5 == 0);
        }
    }
}

using Player = Index (*)(const Loss &, const Rows &, const Told &, Table<double>, Record &);

// Loops whose weights stand in a table with the figures of each feature.
void in_table(Hash &hash, Player play, Index columns, std::initializer_list<Index> rates) {
    const auto record = std::make_unique<Record>();
    Index turn = 0;
    for (const char *name : LOSSES) {
        const Loss loss = loss_of(name);
        const bool real = is_regression(name);
        for (const Index rate : rates) {
            for (int other = 0; other < 32; ++other) {
                ++turn;
                const Layouts &given = other ? FEW[turn % 3] : MANY;
                const bool box = other & 4, weighted = other & 16;
                const Index layout = other & 3, count = given.wide.count;
                Numbers room = zeros(columns * given.wide.width), scores = zeros(count);
                begin(*record, {rate, 0.4, 0.0, box ? BOX : WHOLE, box ? 0.5 : INFINITE, other & 8 ? 1.0 : 0.0, 1.0, 0.7, !real, GRADIENTS,
                                1.0, turn % 3 * 0.01, turn % 5 * 0.02, 0});
                hash(play(loss, given.rows(layout), told(given, real, weighted, 0, count, scores), table(room, columns), *record));
                hash(room);
                hash(scores);
                hash_state(hash, record->state);
                if (columns != TRUNCATED_COLUMNS) continue;
                std::visit([&](const auto &some) {
                    for (Index t = 0; t < 4; ++t) hash(score_truncated(record->state, some, t, table_seen(room, columns)));
                }, given.rows(layout));
            }
        }
    }
}

void matrices(Hash &hash, bool classify) {
    const auto record = std::make_unique<Record>();
    const Layouts given(200, 13), wide(40, 80);
    for (int other = 0; other < 16; ++other) {
        const Layouts &rows = other == 6 || other == 11 ? wide : given;
        const Index layout = other & 3, shift = other >> 2 & 1, n = rows.wide.width + shift, count = rows.wide.count;
        const double a = other & 8 ? 1e-7 : 0.5;
        Numbers A = zeros(n * n), B = zeros(n * n), b = zeros(n), u = zeros(n), q = zeros(n), scores = zeros(count), later = zeros(count);
        for (Index i = 0; i < n; ++i) A[static_cast<std::size_t>(i * (n + 1))] = a, B[static_cast<std::size_t>(i * (n + 1))] = 1.0 / a;
        const Matrices M{table(A, n), table(B, n), b.data(), u.data(), q.data(), n};
        begin(*record, {CONSTANT, a, 0.0, WHOLE, INFINITE, double(shift), 0.0, 0.0, classify, NOTHING, 0.0, 0.0, 0.0, 0});
        const Line<const double> weights = other & 1 ? seen(rows.wide.weights) : Line<const double>{};
        std::visit([&](const auto &some) {
            hash(play_matrix(some, seen(rows.labels(!classify)), weights, M, *record, view(scores)));
            score_matrix(some, shift, {table_seen(B, n), u.data(), q.data(), n}, view(later));
        }, rows.rows(layout));
        for (const Numbers *some : {&A, &B, &b, &u, &scores, &later}) hash(*some);
        hash_state(hash, record->state);
    }
}

void followed_matrix(Hash &hash) {
    const Layouts given(150, 13);
    const Index n = 13;
    Places chosen;
    for (Index t = 0; t < 150; t += 1 + t % 2) chosen.push_back(t);
    for (Index layout = 0; layout < 4; ++layout) {
        Numbers A = zeros(n * n), B = zeros(n * n), b = zeros(n), u = zeros(n), q = zeros(n), out = zeros(5 * Index(chosen.size()));
        for (Index i = 0; i < n; ++i) A[static_cast<std::size_t>(i * (n + 1))] = 0.1, B[static_cast<std::size_t>(i * (n + 1))] = 10.0;
        const Matrices M{table(A, n), table(B, n), b.data(), u.data(), q.data(), n};
        const Line<const double> weights = layout % 2 ? Line<const double>{} : seen(given.wide.weights);
        std::visit([&](const auto &some) { follow_matrix(some, seen(given.wide.labels), weights, seen(chosen), 0.1, M, table(out, 5)); },
                   given.rows(layout));
        hash(out);
        hash(B);
    }
}

void classes(Hash &hash, bool one_vs_rest) {
    const auto record = std::make_unique<Record>();
    for (const Index most : {1, 2, 5, 19}) {
        for (int other = 0; other < 16; ++other) {
            const Layouts &given = other ? FEW[other % 3] : MANY;
            const Index count = given.wide.count, width = given.wide.width, room = most + other % 3;
            Numbers labels, z = zeros(width * room), biases = zeros(room), s = zeros(room), scores = zeros(3 * count), later = zeros(count * room);
            for (Index t = 0; t < count; ++t) labels.push_back(std::floor(std::fabs(given.wide.reals[static_cast<std::size_t>(t)]) * 3.0));
            for (double &label : labels) label = lower(label, double(most - 1));
            Places clock(2), counts(static_cast<std::size_t>(room)), moved = counts, confusion(static_cast<std::size_t>(most * most));
            std::vector<std::int8_t> moves(other & 8 ? static_cast<std::size_t>(count * room) : 0);
            begin(*record, {CONSTANT, 1.0, 0.0, WHOLE, INFINITE, other & 4 ? 1.0 : 0.0, 0.0, 0.0, 0, NOTHING, 0.0, 0.0, 0.0, 0});
            const ClassWeights<double> w{table(z, room), view(biases), record->config.bias};
            const Line<const double> weights = other & 2 ? seen(given.wide.weights) : Line<const double>{};
            std::visit([&](const auto &some) {
                hash(play_classes(some, seen(labels), weights, one_vs_rest, w, *record, view(clock), {view(counts), view(moved), table(confusion, most)},
                                  view(s), table(scores, 3), table(moves, room)));
                score_classes(some, {table_seen(z, room), seen(biases), w.bias}, clock[0], table(later, room));
            }, given.rows(other & 3));
            for (const Numbers *some : {&z, &biases, &scores, &later}) hash(*some);
            for (const Places *some : {&clock, &counts, &moved, &confusion}) hash(*some);
            hash(moves);
            hash_state(hash, record->state);
        }
    }
}

void experts(Hash &hash, ExpertRule rule) {
    for (int code = int(ExpertLoss::costs); code <= int(ExpertLoss::brier); ++code) {
        const auto loss = ExpertLoss(code);
        const bool blends = loss != ExpertLoss::costs;
        if (rule == ExpertRule::gradient && !blends) continue;
        for (const Index n : {1, 3, 4, 9, 30}) {
            for (const Index width : {1, 3}) {
                if (width > 1 && (rule == ExpertRule::gradient || (loss != ExpertLoss::log && loss != ExpertLoss::brier))) continue;
                Stream stream{static_cast<std::uint64_t>(n)};
                const Index count = 120;
                Numbers given = zeros(count * n * width), outcomes;
                for (double &x : given) x = loss == ExpertLoss::zero_one ? double(stream.below(3)) : stream.uniform() * (width > 1 ? 0.3 : 1.0);
                for (Index k = 0; k < count * n; ++k) {
                    if (n > 1 && stream.below(6) == 0) given[static_cast<std::size_t>(k * width)] = NOT_A_NUMBER;
                }
                for (Index t = 0; t < count; ++t) outcomes.push_back(double(stream.below(width > 1 ? 3 : 2)));
                Numbers totals = zeros(2 * n), since = totals, shared(static_cast<std::size_t>(n), 1.0 / double(n)), sums = zeros(4);
                Numbers costs = zeros(n), q = zeros(n), votes = zeros(3), kept = zeros(count * n), said = zeros(count * width), losses = zeros(count), gaps = losses;
                Places clock{0, 1};
                const auto awake = std::make_unique<bool[]>(static_cast<std::size_t>(n));
                const Weighing how{rule, 1.3, 0.05, 1e-12};
                const Experts at{Pairs(table(totals, n)), Pairs(table(since, n)), shared.data(), clock.data(), Pairs(table(sums, 2))};
                hash(play_experts(how, loss, at, table_seen(given, width), seen(outcomes), {awake.get(), costs.data(), q.data()}, view(votes),
                                  {table(kept, n), blends ? table(said, width) : Table<double>{}, view(losses), view(gaps)}));
                weights_now(how, at, nullptr, q.data());
                for (const Numbers *some : {&totals, &since, &shared, &sums, &kept, &said, &losses, &gaps, &q}) hash(*some);
                hash(clock);
            }
        }
    }
}

void best_sequence(Hash &hash) {
    Stream stream{5};
    const Index n = 7, count = 300, changes = 6;
    const Numbers costs = line(stream, n * count);
    Numbers now = zeros(2 * n * changes), before = now;
    Places came(static_cast<std::size_t>(count * changes));
    std::vector<std::uint8_t> moved(static_cast<std::size_t>(count * changes * n));
    best_path(table_seen(costs, n), table(now, 2 * n), table(before, 2 * n), table(came, changes), table(moved, n));
    hash(now);
    hash(came);
    hash(moved);
}

}  // namespace

void rounds() {
    for (const char *name : LOSSES) {
        char title[40];
        std::snprintf(title, sizeof title, "linear, %s loss", name);
        subject(title, [&](Hash &hash) { linear(hash, name); });
    }
    subject("AdaGrad", [](Hash &hash) { in_table(hash, play_coordinates, COORDINATE_COLUMNS, {COORDINATE}); });
    subject("FTRL-Proximal", [](Hash &hash) { in_table(hash, play_coordinates, COORDINATE_COLUMNS, {PROXIMAL}); });
    subject("truncated", [](Hash &hash) { in_table(hash, play_truncated, TRUNCATED_COLUMNS, {CONSTANT, SQRT, ADAPTIVE}); });
    subject("second-order perceptron", [](Hash &hash) { matrices(hash, true); });
    subject("ridge forecaster", [](Hash &hash) { matrices(hash, false); });
    subject("matrix, followed", followed_matrix);
    subject("many classes", [](Hash &hash) { classes(hash, false); });
    subject("many classes, one against rest", [](Hash &hash) { classes(hash, true); });
    constexpr const char *RULES[] = {"constant", "anytime", "doubling", "adaptive", "sharing", "gradient"};
    for (int rule = 0; rule < 6; ++rule) {
        char title[40];
        std::snprintf(title, sizeof title, "experts, %s", RULES[rule]);
        subject(title, [&](Hash &hash) { experts(hash, ExpertRule(rule)); });
    }
    subject("best sequence of experts", best_sequence);
}

}  // namespace noregret::bits
