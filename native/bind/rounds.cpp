// Losses, rounds of linear learners, and sums over their weights.
#include <nanobind/stl/string_view.h>

#include "bind/chain.hpp"
#include "bind/subjects.hpp"
#include "coordinate.hpp"
#include "play.hpp"
#include "truncated.hpp"

namespace noregret::bind {

namespace {

// What a plain Python function of (z, y) gives; NaN, and what it raised kept, where it fails. No loop goes on from NaN.
double called(const nb::object &function, double z, double y) {
    nb::gil_scoped_acquire locked;
    if (BoundLoss::failure) return NOT_A_NUMBER;
    try {
        return nb::cast<double>(function(z, y));
    } catch (nb::python_error &error) {
        BoundLoss::failure.emplace(std::move(error));
    } catch (const std::exception &) {
        PyErr_SetString(PyExc_TypeError, "a loss of one's own must give numbers");
        BoundLoss::failure.emplace();
    }
    return NOT_A_NUMBER;
}

const BoundLoss &behind(const void *context) { return *static_cast<const BoundLoss *>(context); }

void make_named(BoundLoss *self, std::string_view name, double parameter) {
    Loss loss;
    if (!loss_named(name, parameter, loss)) throw nb::value_error("there is no loss of this name");
    new (self) BoundLoss{loss, {}, {}};
}

void make_own(BoundLoss *self, nb::callable value, nb::callable slope) {
    new (self) BoundLoss{Own{}, value, slope};
    self->loss = Own{
        [](const void *context, double z, double y) { return called(behind(context).value, z, y); },
        [](const void *context, double z, double y) { return called(behind(context).slope, z, y); }, self};
}

void make_compiled(BoundLoss *self, std::uintptr_t value, std::uintptr_t slope) {
    using Function = double (*)(double, double);
    new (self) BoundLoss{OwnCompiled{reinterpret_cast<Function>(value), reinterpret_cast<Function>(slope)}, {}, {}};
}

void check(bool holds, const char *what) {
    if (!holds) throw nb::value_error(what);
}

Batch batch_of(const Rows &rows, Line<const double> labels, Line<const double> weights, Line<double> scores) {
    check(labels.size <= count(rows) && labels.size == scores.size, "rows, labels and scores must be equally many");
    check(weights.size == 0 || weights.size == labels.size, "weights must be as many as labels, or none");
    return {labels.data, labels.size, weights.size ? weights.data : nullptr, scores.data};
}

Index linear(const BoundLoss &loss, const Rows &rows, Line<const double> labels, Line<const double> weights, Strided<double> z,
             Strided<double> total, RecordAt at, Line<double> scores) {
    const Batch batch = batch_of(rows, labels, weights, scores);
    check(!at.record->config.gather || total.size == z.size, "z and total must be equally long");
    return play_linear(loss.loss, rows, batch, z, total, *at.record);
}

template <Index (*COLUMNS)(const Config &), Index (*PLAY)(const Loss &, const Rows &, const Batch &, Table<double>, Record &)>
Index in_table(const BoundLoss &loss, const Rows &rows, Line<const double> labels, Line<const double> weights, Table<double> table,
               RecordAt at, Line<double> scores) {
    const Batch batch = batch_of(rows, labels, weights, scores);
    check(table.columns == COLUMNS(at.record->config) && table.apart == table.columns, "the table does not fit");
    return PLAY(loss.loss, rows, batch, table, *at.record);
}

// A function that plays by a loss, without the interpreter's lock; what a loss of the user's own raised goes on from here.
template <class... Given> void def_rounds(nb::module_ &m, const char *name, Index (*play)(const BoundLoss &, Given...)) {
    m.def(name, [play](const BoundLoss &loss, Given... given) {
        Index played;
        {
            nb::gil_scoped_release free;
            played = play(loss, given...);
        }
        loss.check();
        return played;
    });
    keepers().emplace_back(name, keeper_of(std::function(play)));
}

template <class Score> void each_score(const Rows &rows, Line<double> scores, Score score) {
    check(scores.size <= count(rows), "rows and scores must be equally many");
    std::visit([&](const auto &some) {
        for (Index t = 0; t < scores.size; ++t) scores[t] = score(some, t);
    }, rows);
}

template <bool SLOPES> void losses(const BoundLoss &loss, Line<const double> z, Line<const double> y, Line<double> out) {
    check(z.size == y.size && z.size == out.size, "scores, labels and losses must be equally many");
    {
        nb::gil_scoped_release free;
        const Any any{loss.loss};
        for (Index t = 0; t < z.size; ++t) {
            const Cost cost = any.both(z[t], y[t]);
            out[t] = SLOPES ? cost.slope : cost.value;
        }
    }
    loss.check();
}

}  // namespace

void bind_rounds(nb::module_ &m) {
    nb::class_<BoundLoss>(m, "Loss", "A loss as the loops take it.")
        .def("__init__", &make_named)
        .def("__init__", &make_own)
        .def("__init__", &make_compiled)
        .def("both", [](const BoundLoss &loss, double z, double y) {
            const Cost cost = Any{loss.loss}.both(z, y);
            loss.check();
            return nb::make_tuple(cost.value, cost.slope);
        });
    m.def("loss_values", &losses<false>);
    m.def("loss_slopes", &losses<true>);
    def_rounds(m, "play_linear", &linear);
    def_rounds(m, "play_coordinates", &in_table<&coordinate_columns, &play_coordinates>);
    def_rounds(m, "play_truncated", &in_table<&truncated_columns, &play_truncated>);
    def_kept(m, "score_linear", [](const Rows &rows, Strided<const double> z, RecordSeen at, Line<double> scores) {
        const State &st = at.record->state;
        each_score(rows, scores, [&](const auto &some, Index t) { return score_linear(st.scale, st.bias, some, t, z); });
    });
    def_kept(m, "score_linear", [](const Rows &rows, Strided<const double> z, double scale, double bias, Line<double> scores) {
        each_score(rows, scores, [&](const auto &some, Index t) { return score_linear(scale, bias, some, t, z); });
    });
    def_kept(m, "score_mean", [](const Rows &rows, Strided<const double> z, Strided<const double> late, RecordSeen at, Line<double> scores) {
        each_score(rows, scores, [&](const auto &some, Index t) { return score_mean(at.record->state, some, t, z, late); });
    });
    def_kept(m, "score_truncated", [](const Rows &rows, Table<const double> table, RecordSeen at, Line<double> scores) {
        each_score(rows, scores, [&](const auto &some, Index t) { return score_truncated(at.record->state, some, t, table); });
    });
    def_kept(m, "score_coordinates", [](const Rows &rows, Table<const double> table, RecordSeen at, Line<double> scores) {
        check(table.columns == coordinate_columns(at.record->config), "the table does not fit");
        each_score(rows, scores, [&](const auto &some, Index t) { return score_coordinates(*at.record, some, t, table); });
    });
    m.def("products", [](const Rows &rows, Strided<const double> z, Table<double> out) {
        check(out.rows <= count(rows) && out.columns == 2, "there must be two numbers to each row");
        std::visit([&](const auto &some) {
            for (Index t = 0; t < out.rows; ++t) {
                const Products found = dot(some, t, z);
                out(t, 0) = found.dot;
                out(t, 1) = found.square;
            }
        }, rows);
    });
    m.def("score_bin", &score_bin);
    m.def("foresee", [](RecordAt at, Index rounds) { expect(at.record->state, rounds); });
    m.def("norm2", &norm2, unlocked());
    m.def("norm1", &norm1, unlocked());
    m.def("largest", &largest, unlocked());
    m.def("lowest", &lowest, unlocked());
    nb::dict kinds;
    for (const CoordinateKind &kind : COORDINATE_KINDS) kinds[kind.name] = nb::make_tuple(kind.rate, kind.columns);
    m.attr("COORDINATE_KINDS") = kinds;
    m.attr("TRUNCATED_COLUMNS") = TRUNCATED_COLUMNS;
    m.attr("LOWEST") = LOWEST;
    m.attr("LARGEST_EXPONENT") = LARGEST_EXPONENT;
    m.def("two_values", [](Line<const double> y) {
        const Pair found = two_values(y);
        return nb::make_tuple(found.first, found.second, found.all);
    });
    m.def("narrowed", &narrowed<std::int64_t>);
    m.def("narrowed", &narrowed<std::int32_t>);
}

}  // namespace noregret::bind
