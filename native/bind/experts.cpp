// Experts: rounds, the weights of the next round, and the best sequence in hindsight.
#include "experts.hpp"

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <memory>

#include "bind/arrays.hpp"
#include "bind/subjects.hpp"

namespace noregret::bind {

namespace {

// (totals, since, shared, clock, sums), as Python keeps them.
using Held = std::tuple<Table<double>, Table<double>, Line<double>, Line<Index>, Table<double>>;

Experts experts_of(const Held &held) {
    const auto &[totals, since, shared, clock, sums] = held;
    const Index n = totals.columns;
    require(n > 0 && totals.rows == 2 && since.rows == 2 && since.columns == n && shared.size == n, "every expert needs two sums");
    require(clock.size == 2 && sums.rows == 2 && sums.columns == 2, "the clock and the sums are two numbers and two pairs");
    return {Pairs(totals), Pairs(since), shared.data, clock.data, Pairs(sums)};
}

Weighing weighing_of(int rule, double rate, double share, double least) {
    require(0 <= rule && rule <= int(ExpertRule::gradient), "there is no such rule");
    return {ExpertRule(rule), rate, share, least};
}

Index play(int rule, double rate, double share, double least, int loss, Index classes, const Held &held, Table<const double> given,
           Line<const double> outcomes, Table<double> kept, Table<double> forecasts, Line<double> losses, Line<double> gaps) {
    const Weighing how = weighing_of(rule, rate, share, least);
    require(0 <= loss && loss <= int(ExpertLoss::brier), "there is no such loss");
    const Experts at = experts_of(held);
    const Index rounds = outcomes.size, n = at.count();
    require(given.rows == rounds * n && given.columns > 0 && classes > 0, "every expert must say something in every round");
    require(losses.size == rounds && (gaps.size == 0 || gaps.size == rounds), "every round has a loss and a gap");
    require(kept.rows == 0 || (kept.rows == rounds && kept.columns == n), "every round has its weights");
    const bool blends = ExpertLoss(loss) != ExpertLoss::costs;
    require(!blends || (forecasts.rows == rounds && forecasts.columns == given.columns), "every round has a forecast");
    require(blends || how.rule != ExpertRule::gradient, "costs have no slope");
    const auto numbers = std::make_unique<double[]>(std::size_t(2 * n + classes));
    const auto awake = std::make_unique<bool[]>(std::size_t(n));
    const RoundRoom room{awake.get(), numbers.get(), numbers.get() + n};
    return play_experts(how, ExpertLoss(loss), at, given, outcomes, room, {numbers.get() + 2 * n, classes}, {kept, forecasts, losses, gaps});
}

void weights(int rule, double rate, const Held &held, Line<const bool> awake, Line<double> q) {
    const Experts at = experts_of(held);
    require(awake.size == at.count() && q.size == at.count(), "every expert has a weight");
    const bool all = std::all_of(awake.data, awake.data + awake.size, [](bool there) { return there; });
    weights_now(weighing_of(rule, rate, 0.0, 0.0), at, all ? nullptr : awake.data, q.data);
}

// The blend's forecast of the next round, of which every expert has said a row.
void forecast(int rule, double rate, int loss, Index classes, const Held &held, Table<const double> given, Line<double> out) {
    const Weighing how = weighing_of(rule, rate, 0.0, 0.0);
    const Experts at = experts_of(held);
    const Index n = at.count();
    require(0 <= loss && loss <= int(ExpertLoss::brier) && classes > 0, "there is no such loss");
    require(given.rows == n && given.columns > 0 && out.size == given.columns, "every expert must say something");
    const auto numbers = std::make_unique<double[]>(std::size_t(n + classes));
    const auto awake = std::make_unique<bool[]>(std::size_t(n));
    weights_now(how, at, wake(given.data, given.apart, n, awake.get()) ? nullptr : awake.get(), numbers.get());
    blend(ExpertLoss(loss), given.data, given.apart, n, awake.get(), numbers.get(), {numbers.get() + n, classes}, out);
}

void path(Table<const double> costs, Table<double> now, Table<double> before, Table<Index> came, Table<std::uint8_t> moved) {
    const Index n = costs.columns;
    require(now.columns == 2 * n && before.columns == 2 * n && before.rows == now.rows, "every expert needs a pair");
    require(came.rows == costs.rows && came.columns == now.rows, "every round has a way back");
    require(moved.rows == costs.rows * now.rows && moved.columns == n, "every round says who changed");
    if (n > 0) best_path(costs, now, before, came, moved);
}

}  // namespace

void bind_experts(nb::module_ &m) {
    m.def("play_experts", &play, unlocked());
    m.def("expert_weights", &weights);
    m.def("expert_forecast", &forecast);
    m.def("best_path", &path, unlocked());
    const std::pair<const char *, ExpertRule> rules[] = {
        {"RULE_CONSTANT", ExpertRule::constant}, {"RULE_ANYTIME", ExpertRule::anytime},   {"RULE_DOUBLING", ExpertRule::doubling},
        {"RULE_ADAPTIVE", ExpertRule::adaptive}, {"RULE_SHARING", ExpertRule::sharing}, {"RULE_GRADIENT", ExpertRule::gradient},
    };
    for (const auto &[name, rule] : rules) m.attr(name) = int(rule);
    nb::dict losses;
    const std::pair<const char *, ExpertLoss> codes[] = {
        {"costs", ExpertLoss::costs}, {"squared", ExpertLoss::squared},   {"absolute", ExpertLoss::absolute},
        {"log", ExpertLoss::log},     {"zero-one", ExpertLoss::zero_one}, {"brier", ExpertLoss::brier},
    };
    for (const auto &[name, loss] : codes) losses[name] = int(loss);
    m.attr("EXPERT_LOSSES") = losses;
}

}  // namespace noregret::bind
