// The module: what every subject binds, and the record that learners are kept in.
#define NOREGRET_IMPORTS_NUMPY
#include "bind/arrays.hpp"
#include "bind/subjects.hpp"

namespace noregret::bind {

namespace {

// (name, kind, offset, shape) of each field, from which Python makes the type of a structured array.
template <std::size_t N> nb::list described(const Field (&fields)[N]) {
    nb::list all;
    for (const Field &field : fields) {
        nb::list shape;
        for (Index side : field.shape) {
            if (side) shape.append(side);
        }
        all.append(nb::make_tuple(field.name, field.kind == 'f' ? "f8" : "i8", field.offset, nb::tuple(shape)));
    }
    return all;
}

void bind_state(nb::module_ &m) {
    m.attr("STATE_FIELDS") = described(STATE_FIELDS);
    m.attr("CONFIG_FIELDS") = described(CONFIG_FIELDS);
    m.attr("STATE_BYTES") = sizeof(State);
    m.attr("CONFIG_BYTES") = sizeof(Config);
    const std::pair<const char *, Index> numbers[] = {
        {"REFRESH", REFRESH}, {"SMALL_REFRESH", SMALL_REFRESH}, {"SMALL", SMALL}, {"WINDOW", WINDOW}, {"BINS", BINS},
        {"POINTS", POINTS}, {"ROWS", CURVE_ROWS},
        {"WHOLE", WHOLE}, {"BALL", BALL}, {"BOX", BOX}, {"CROSS", CROSS}, {"SIMPLEX", SIMPLEX},
        {"CONSTANT", CONSTANT}, {"SQRT", SQRT}, {"STRONG", STRONG}, {"ADAPTIVE", ADAPTIVE}, {"DELAYED", DELAYED}, {"DOUBLING", DOUBLING},
        {"PASSIVE", PASSIVE}, {"PASSIVE_CAPPED", PASSIVE_CAPPED}, {"PASSIVE_SOFT", PASSIVE_SOFT}, {"COIN", COIN},
        {"NORMALISED", NORMALISED}, {"GRADIENTS", GRADIENTS}, {"AVERAGE", AVERAGE},
    };
    for (const auto &[name, number] : numbers) m.attr(name) = number;
}

}  // namespace

}  // namespace noregret::bind

static void *import_numpy() {
    import_array();
    return nullptr;
}

NB_MODULE(NOREGRET_MODULE, m) {
    nb::set_leak_warnings(false);  // what lives until the interpreter ends is no leak
    import_numpy();
    if (PyErr_Occurred()) nb::raise_python_error();
    noregret::bind::bind_state(m);
    noregret::bind::bind_alarm(m);
    noregret::bind::bind_functions(m);
    noregret::bind::bind_cover(m);
    noregret::bind::bind_forecasts(m);
    noregret::bind::bind_gram(m);
    noregret::bind::bind_matrix(m);
    noregret::bind::bind_mixture(m);
    noregret::bind::bind_multiclass(m);
    noregret::bind::bind_rounds(m);
    noregret::bind::bind_scored(m);
    noregret::bind::bind_single(m);
    noregret::bind::bind_exact(m);
    noregret::bind::bind_experts(m);
    noregret::bind::bind_finite(m);
    noregret::bind::bind_hindsight(m);
    noregret::bind::bind_ledger(m);
    noregret::bind::bind_text(m);
    noregret::bind::bind_chain(m);
}
