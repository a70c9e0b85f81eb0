// The functions of one number, alone and for whole arrays, and sums in their stated order.
#include "bind/arrays.hpp"
#include "bind/subjects.hpp"
#include "functions.hpp"
#include "vector.hpp"

namespace noregret::bind {

namespace {

void same_size(Index a, Index b) {
    if (a != b) throw nb::value_error("both arrays must be equally long");
}

template <double (*FUNCTION)(double)> void each(Strided<const double> x, Strided<double> out) {
    same_size(x.size, out.size);
    for (Index i = 0; i < x.size; ++i) out[i] = FUNCTION(x[i]);
}

template <double (*FUNCTION)(double)> void bind_function(nb::module_ &m, const char *name, const char *name_of_all) {
    m.def(name, FUNCTION);
    m.def(name_of_all, &each<FUNCTION>, unlocked());
}

}  // namespace

void bind_functions(nb::module_ &m) {
    bind_function<&exp_of>(m, "exp", "exp_all");
    bind_function<&expm1_of>(m, "expm1", "expm1_all");
    bind_function<&log_of>(m, "log", "log_all");
    bind_function<&log1p_of>(m, "log1p", "log1p_all");
    bind_function<&tanh_of>(m, "tanh", "tanh_all");
    bind_function<&cos_of>(m, "cos", "cos_all");
    bind_function<&sin_of>(m, "sin", "sin_all");
    bind_function<&log_gamma_of>(m, "log_gamma", "log_gamma_all");
    m.def("normal_all", [](Strided<const std::uint64_t> whole, Strided<double> out) {
        same_size(whole.size, out.size);
        for (Index i = 0; i + 1 < whole.size; i += 2) {
            const functions::Pair two = normal_deviates(whole[i], whole[i + 1]);
            out[i] = two.high;
            out[i + 1] = two.low;
        }
        if (whole.size % 2) out[whole.size - 1] = normal_deviates(whole[whole.size - 1], 0).high;
    }, unlocked());
    m.def("total", &total, unlocked());
    m.def("inner", [](Strided<const double> x, Strided<const double> z) {
        same_size(x.size, z.size);
        return inner(x, z);
    }, unlocked());
}

}  // namespace noregret::bind
