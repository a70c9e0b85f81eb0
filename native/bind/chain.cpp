// Calls made one after another: the rounds of a pool's members, one example at a time.
#include "bind/chain.hpp"

#include "bind/subjects.hpp"

namespace noregret::bind {

namespace {

// Every function that can be kept, with its name: the object that Python holds tells which one is meant.
std::vector<std::pair<PyObject *, std::string>> &functions() {
    static std::vector<std::pair<PyObject *, std::string>> all;
    return all;
}

// What takes the place of a call to a bound function; empty for any other function, or for arguments that do not fit.
Kept kept(nb::handle function, const nb::args &given) {
    for (const auto &[object, name] : functions()) {
        if (object != function.ptr()) continue;
        for (const auto &[own, keeper] : keepers()) {
            if (own != name) continue;
            if (Kept found = keeper(given)) return found;
        }
        break;
    }
    return {};
}

class Chain {
public:
    // A step is (function, its arguments, where a member writes what it says, or None).
    explicit Chain(nb::list steps) {
        for (nb::handle one : steps) {
            const auto step = nb::cast<nb::tuple>(one);
            require(step.size() == 3, "a step is a function, its arguments, and what it writes to");
            const nb::args given = nb::borrow<nb::args>(nb::cast<nb::tuple>(step[1]));
            Line<double> said;
            require(step[2].is_none() || (read(step[2].ptr(), said) && said.size == 1), "a member says one number");
            steps_.push_back({kept(step[0], given), nb::borrow(step[0]), given, nb::borrow(step[2]), said.data});
        }
    }

    // All steps in turn. Of a member that could not play its round, NaN is what it says; None, or which steps those were.
    nb::object play() {
        nb::object failed = nb::none();
        for (std::size_t k = 0; k < steps_.size(); ++k) {
            const Step &step = steps_[k];
            const bool played = step.kept ? step.kept() != 0 : step.function(*step.given).ptr() != Py_False;
            if (played || !step.said) continue;
            *step.said = NOT_A_NUMBER;
            if (failed.is_none()) failed = nb::list();
            nb::cast<nb::list>(failed).append(k);
        }
        BoundLoss::check();
        return failed;
    }

    // How many steps are calls that were read once.
    std::size_t direct() const {
        std::size_t count = 0;
        for (const Step &step : steps_) count += static_cast<bool>(step.kept);
        return count;
    }

private:
    struct Step {
        Kept kept;
        nb::object function;
        nb::args given;
        nb::object owner;
        double *said;
    };

    std::vector<Step> steps_;
};

}  // namespace

void bind_chain(nb::module_ &m) {
    nb::class_<Chain>(m, "Chain", "Calls made one after another, their arguments read once.")
        .def(nb::init<nb::list>())
        .def("play", &Chain::play)
        .def_prop_ro("direct", &Chain::direct);
    for (const auto &[name, keeper] : keepers()) functions().emplace_back(nb::object(m.attr(name.c_str())).release().ptr(), name);
}

}  // namespace noregret::bind
