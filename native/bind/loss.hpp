// A loss as Python holds it: one of the core's own, or two functions of the user's.
#pragma once

#include <optional>

#include "bind/arrays.hpp"
#include "../loss.hpp"

namespace noregret::bind {

struct BoundLoss {
    Loss loss;
    nb::object value, slope;  // plain Python functions, where nothing compiled them
    static inline thread_local std::optional<nb::python_error> failure;  // what one raised in this thread's loop

    // Raise what a function of the user's own raised in a loop.
    static void check() {
        if (!failure) return;
        nb::python_error raised = *std::move(failure);
        failure.reset();
        throw raised;
    }
};

}  // namespace noregret::bind
