// Bits of every loop that learns: linear, by coordinate, with a penalty, with a matrix, of many classes, of experts.
#include <memory>

#include "coordinate.hpp"
#include "experts.hpp"
#include "forecasts.hpp"
#include "markov.hpp"
#include "matrix.hpp"
#include "multiclass.hpp"
#include "newton.hpp"
#include "persistence.hpp"
#include "nearest.hpp"
#include "play.hpp"
#include "scored.hpp"
#include "tests/played.hpp"
#include "truncated.hpp"
#include "words.hpp"

namespace noregret::bits {

namespace {

constexpr const char *LOSSES[] = {"hinge",  "margin-hinge", "squared-hinge", "perceptron", "logistic", "exponential",
                                  "squared", "absolute",    "huber",         "pinball", "epsilon-insensitive",    "zero-one"};

Loss loss_of(std::string_view name) {
    Loss loss;
    loss_named(name, name == "zero-one" ? 0.0 : 0.7, loss);
    return loss;
}

bool is_regression(std::string_view name) { return name == "squared" || name == "absolute" || name == "huber" || name == "pinball" || name == "epsilon-insensitive"; }

// One run of a linear learner, in two blocks, weights and sums apart or side by side.
void run_linear(Hash &hash, const Loss &loss, const Layouts &given, Index layout, bool paired, bool real, bool weighted, Record &record) {
    const Index count = given.wide.count, width = given.wide.width, cut = count / 3;
    Numbers room = zeros(2 * width), scores = zeros(count);
    const Strided<double> z = paired ? Strided<double>{room.data(), width, 2} : Strided<double>{room.data(), width, 1};
    const Strided<double> total = paired ? Strided<double>{room.data() + 1, width, 2} : Strided<double>{room.data() + width, width, 1};
    Index played = play_linear(loss, given.rows(layout), batch_of(given, real, weighted, 0, cut, scores), z, total, record);
    if (played == cut) played += play_linear(loss, given.rows(layout, cut), batch_of(given, real, weighted, cut, count, scores), z, total, record);
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
    for (Index rate = CONSTANT; rate <= NORMALISED; ++rate) {
        if (rate == COORDINATE || rate == PROXIMAL) continue;
        for (Index domain = WHOLE; domain <= SIMPLEX; ++domain) {
            for (Index layout = 0; layout < 4; ++layout) {
                for (int other = 0; other < 8; ++other) play(rate, domain, FEW[turn % 3], layout, other & 1, other & 2, other & 4);
            }
            play(rate, domain, MANY, turn % 4, turn % 2, turn % 3, turn % 5 == 0);
        }
    }
}

using Player = Index (*)(const Loss &, const Rows &, const Batch &, Table<double>, Record &);

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
                hash(play(loss, given.rows(layout), batch_of(given, real, weighted, 0, count, scores), table(room, columns), *record));
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

void matrices(Hash &hash, bool classify, double forgotten) {
    const auto record = std::make_unique<Record>();
    const Layouts given(200, 13), wide(40, 80);
    for (int other = 0; other < 16; ++other) {
        const Layouts &rows = other == 6 || other == 11 ? wide : given;
        const Index layout = other & 3, shift = other >> 2 & 1, n = rows.wide.width + shift, count = rows.wide.count;
        const double a = other & 8 ? 1e-7 : 0.5;
        Numbers A = zeros(n * n), B = zeros(n * n), b = zeros(n), u = zeros(n), q = zeros(n), scores = zeros(count), later = zeros(count);
        for (Index i = 0; i < n; ++i) A[static_cast<std::size_t>(i * (n + 1))] = a, B[static_cast<std::size_t>(i * (n + 1))] = 1.0 / a;
        const Matrices M{table(A, n), table(B, n), b.data(), u.data(), q.data(), n};
        begin(*record, {CONSTANT, a, 0.0, WHOLE, INFINITE, double(shift), 0.0, 0.0, classify, NOTHING, forgotten, 0.0, 0.0, 0});
        const Line<const double> weights = other & 1 ? seen(rows.wide.weights) : Line<const double>{};
        std::visit([&](const auto &some) {
            hash(play_matrix(some, seen(rows.labels(!classify)), weights, M, *record, view(scores)));
            score_matrix(some, shift, {table_seen(B, n), u.data(), q.data(), n, record->state.scale}, view(later));
        }, rows.rows(layout));
        for (const Numbers *some : {&A, &B, &b, &u, &scores, &later}) hash(*some);
        hash_state(hash, record->state);
    }
}

// Scored rounds: `make` gives a learner for a table of rows and a block of figures that is hashed after them.
template <class Make> void scored(Hash &hash, Make make, bool numbers = false) {
    const auto record = std::make_unique<Record>();
    const Layouts rows(200, 13);
    for (Index other = 0; other < 8; ++other) {
        Numbers kept = zeros(8192), total = zeros(13), scores = zeros(200);
        Places places(8192);
        auto learner = make(other, kept, places);
        begin(*record, {CONSTANT, 1.0, 0.0, WHOLE, INFINITE, double(other & 1), 0.0, 0.0, !numbers, GRADIENTS, 0.0, 0.0, 0.0, 0});
        const Line<const double> weights = other & 1 ? seen(rows.wide.weights) : Line<const double>{};
        std::visit([&](const auto &some) { hash(play_scored(some, seen(rows.labels(numbers)), weights, learner, *record, view(total), view(scores))); },
                   rows.rows(other & 3));
        for (const Numbers *some : {&kept, &total, &scores}) hash(*some);
        hash_state(hash, record->state);
    }
}

void newton_steps(Hash &hash) {
    const auto record = std::make_unique<Record>();
    const Layouts given(200, 13), wide(40, 80);
    for (int other = 0; other < 32; ++other) {
        const Layouts &rows = other == 6 || other == 11 ? wide : given;
        const Index layout = other & 3, shift = other >> 2 & 1, n = rows.wide.width + shift, count = rows.wide.count;
        const NewtonRules rules{other & 8 ? 1e-7 : 0.5, other & 16 ? 0.02 : 0.0, other % 3 != 0};
        Numbers S = zeros(n * n), theta = zeros(n), total = zeros(n), f = zeros(n), scores = zeros(count), later = zeros(count);
        for (Index i = 0; i < n; ++i) S[static_cast<std::size_t>(i * (n + 1))] = std::sqrt(1.0 / rules.ridge);
        begin(*record, {CONSTANT, rules.ridge, 0.0, WHOLE, INFINITE, double(shift), 0.0, 0.0, true, GRADIENTS, 0.0, 0.0, 0.0, 0});
        const Line<const double> weights = other & 1 ? seen(rows.wide.weights) : Line<const double>{};
        std::visit([&](const auto &some) {
            hash(play_newton(some, seen(rows.labels(false)), weights, {table(S, n), theta.data(), total.data(), f.data(), n}, rules, *record, view(scores)));
            score_newton(some, shift, {table_seen(S, n), theta.data(), f.data(), n}, rules.two_label, view(later));
        }, rows.rows(layout));
        for (const Numbers *some : {&S, &theta, &total, &scores, &later}) hash(*some);
        hash_state(hash, record->state);
    }
}

Markov markov(Index other, Numbers &kept, Places &places) {
    places[0] = 1;
    return {{kept.data(), Index(2) << other, 2, 2}, places.data()};
}

void persisting_labels(Hash &hash) {
    const auto record = std::make_unique<Record>();
    for (const Index rule : {MEAN, LAST, DRIFT}) {
        for (Index layout = 0; layout < 4; ++layout) {
            const Layouts &given = FEW[layout % 3];
            Numbers scores = zeros(given.wide.count);
            Labels labels{};
            Persistence learner{rule, &labels};
            begin(*record, {CONSTANT, 1.0, 0.0, WHOLE, INFINITE, 0.0, 0.0, 0.0, 0, NOTHING, 0.0, 0.0, 0.0, 0});
            const Line<const double> weights = layout & 1 ? seen(given.wide.weights) : Line<const double>{};
            std::visit([&](const auto &some) { hash(play_scored(some, seen(given.labels(true)), weights, learner, *record, {}, view(scores))); },
                       given.rows(layout));
            hash(scores);
            hash_state(hash, record->state);
        }
    }
}

Words words(Index other, Numbers &kept, Places &) {
    kept[26 + COUNTED_NUMBERS] = kept[28 + COUNTED_NUMBERS] = kept[30 + COUNTED_NUMBERS] = 1.0;
    return {{kept.data(), 13, 2, 2}, reinterpret_cast<Counted *>(&kept[26]), reinterpret_cast<Platt *>(&kept[26 + COUNTED_NUMBERS]), 0.5, other % 4 < 3};
}

Window window(Index other, Numbers &kept, Places &places) {
    auto *near = reinterpret_cast<Near *>(&kept[7000]);
    return {{kept.data(), 13 * 64}, 50, places.data(), 13, &kept[6900], near, 3 + other};
}

Nearest nearest(Index other, Numbers &kept, Places &places) { return {window(other, kept, places), &kept[6000]}; }

NearestNumbers nearest_numbers(Index other, Numbers &kept, Places &places) { return {window(other, kept, places), &kept[6000], &kept[6100]}; }

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

// A learner of classes and the arrays that it is made from, for up to `room` classes and places of so many features.
template <class L> struct MadeLearner {
    Numbers z, biases, more, sums, inverse, raw, q, heat;
    Places last, updates;
    L learner;
};

template <class L> void make(MadeLearner<L> &made, Index width, Index room, double bias) {
    const Index n = width + (bias != 0.0);
    made.z = zeros(width * room), made.biases = zeros(room);
    const ClassWeights<double> w{table(made.z, room), view(made.biases), bias};
    if constexpr (std::is_same_v<L, Softmax>) {
        made.more = made.z, made.sums = made.biases;
        made.learner = {w, table(made.more, room), view(made.sums), 0.3, nullptr};
    } else if constexpr (std::is_same_v<L, SoftmaxNewton>) {
        made.more = made.inverse = zeros(n * n), made.raw = zeros(room), made.q = zeros(n), made.heat = zeros(2), made.updates = Places(1);
        for (Index i = 0; i < n; ++i) made.more[static_cast<std::size_t>(i * n + i)] = 2.0, made.inverse[static_cast<std::size_t>(i * n + i)] = 0.5;
        const Matrices M{table(made.more, n), table(made.inverse, n), nullptr, nullptr, made.q.data(), n};
        made.learner = {w, M, 2.0, made.raw.data(), made.heat.data(), made.updates.data(), nullptr};
    } else if constexpr (std::is_same_v<L, NearestClasses>) {
        made.more = zeros(width * 64), made.sums = zeros(50), made.inverse = zeros(50), made.raw = zeros(width), made.q = zeros(10), made.last = Places(1);
        const Window window{view(made.more), 50, made.last.data(), width, made.raw.data(), reinterpret_cast<Near *>(made.q.data()), 5};
        made.learner = {window, made.sums.data(), made.inverse.data(), 0.01, bias, nullptr};
    } else {
        made.more = zeros((room + 1) * room), made.last = Places(1);
        made.learner = {table(made.more, room), made.last.data(), true, bias, nullptr};
    }
}

template <class L> void forecasters(Hash &hash) {
    const auto record = std::make_unique<Record>();
    for (const Index most : {1, 2, 5, 19}) {
        for (int other = 0; other < 16; ++other) {
            const Layouts &given = FEW[other % 3];
            const Index count = given.wide.count, room = 4 * ((most + 3) / 4);
            Numbers labels, scores = zeros(4 * count), all = zeros(other & 8 ? count * room : 0), s = zeros(room), logs = s, p = s;
            for (Index t = 0; t < count; ++t) labels.push_back(std::floor(std::fabs(given.wide.reals[static_cast<std::size_t>(t)]) * 3.0));
            for (double &label : labels) label = lower(label, double(most - 1));
            Places clock(3), counts(static_cast<std::size_t>(room)), confusion(static_cast<std::size_t>(most * most));
            begin(*record, {CONSTANT, 1.0, 0.0, WHOLE, INFINITE, other & 4 ? 1.0 : 0.0, 0.0, 0.0, 0, NOTHING, 0.0, 0.0, 0.0, 0});
            MadeLearner<L> made;
            make(made, given.wide.width, room, record->config.bias);
            made.learner.p = p.data();
            const Line<const double> weights = other & 2 ? seen(given.wide.weights) : Line<const double>{};
            std::visit([&](const auto &some) {
                hash(play_forecasts(some, seen(labels), weights, made.learner, *record, view(clock), {view(counts), {}, table(confusion, most)},
                                    {s.data(), logs.data(), room}, table(scores, 4), table(all, room)));
            }, given.rows(other & 3));
            for (const Numbers *some : {&made.z, &made.biases, &made.more, &made.sums, &made.inverse, &made.heat, &scores, &all}) hash(*some);
            for (const Places *some : {&clock, &counts, &confusion, &made.last}) hash(*some);
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
    subject("AdaGrad", [](Hash &hash) { in_table(hash, play_coordinates, 4, {COORDINATE}); });
    subject("FTRL-Proximal", [](Hash &hash) { in_table(hash, play_coordinates, 4, {PROXIMAL}); });
    subject("scale-free", [](Hash &hash) { in_table(hash, play_coordinates, 7, {BETS}); });
    subject("diagonal Newton", [](Hash &hash) { in_table(hash, play_coordinates, 4, {DIAGONAL}); });
    subject("truncated", [](Hash &hash) { in_table(hash, play_truncated, TRUNCATED_COLUMNS, {CONSTANT, SQRT, ADAPTIVE}); });
    subject("second-order perceptron", [](Hash &hash) { matrices(hash, true, 0.0); });
    subject("ridge forecaster", [](Hash &hash) { matrices(hash, false, 0.0); });
    subject("ridge that forgets", [](Hash &hash) { matrices(hash, false, 0.03); });
    subject("past labels", persisting_labels);
    subject("labels by their predecessors", [](Hash &hash) { scored(hash, markov); });
    subject("naive Bayes", [](Hash &hash) { scored(hash, words); });
    subject("nearest neighbours", [](Hash &hash) { scored(hash, nearest); });
    subject("nearest neighbours of numbers", [](Hash &hash) { scored(hash, nearest_numbers, true); });
    subject("matrix, followed", followed_matrix);
    subject("Newton steps", newton_steps);
    subject("many classes", [](Hash &hash) { classes(hash, false); });
    subject("many classes, one against rest", [](Hash &hash) { classes(hash, true); });
    subject("softmax", forecasters<Softmax>);
    subject("softmax by Newton steps", forecasters<SoftmaxNewton>);
    subject("labels of many classes", forecasters<Succession>);
    subject("nearest neighbours of many classes", forecasters<NearestClasses>);
    constexpr const char *RULES[] = {"constant", "anytime", "doubling", "adaptive", "sharing", "gradient"};
    for (int rule = 0; rule < 6; ++rule) {
        char title[40];
        std::snprintf(title, sizeof title, "experts, %s", RULES[rule]);
        subject(title, [&](Hash &hash) { experts(hash, ExpertRule(rule)); });
    }
    subject("best sequence of experts", best_sequence);
}

}  // namespace noregret::bits
