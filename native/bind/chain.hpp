// Bound functions with all that they are given, read once, for arrays that stay where they are.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/loss.hpp"

namespace noregret::bind {

// A call that may be made again; it says how many rounds it played, where the function says so.
using Kept = std::function<Index()>;
// What makes one of the arguments of Python's; empty where they do not fit.
using Keeper = std::function<Kept(const nb::args &)>;

// Every function that can be kept, by its name; one with several overloads stands there several times.
inline std::vector<std::pair<std::string, Keeper>> &keepers() {
    static std::vector<std::pair<std::string, Keeper>> all;
    return all;
}

// An argument as it is kept: views and numbers by value, a loss where it lies.
template <class Given> struct Argument {
    std::decay_t<Given> value{};
    bool read(nb::handle given) { return nb::try_cast(given, value, false); }
    const std::decay_t<Given> &get() const { return value; }
};

template <> struct Argument<const BoundLoss &> {
    const BoundLoss *value = nullptr;
    bool read(nb::handle given) {
        if (nb::isinstance<BoundLoss>(given)) value = nb::inst_ptr<BoundLoss>(given);
        return value;
    }
    const BoundLoss &get() const { return *value; }
};

template <class Result, class... Given> Keeper keeper_of(std::function<Result(Given...)> function) {
    return [function](const nb::args &given) -> Kept {
        std::tuple<Argument<Given>...> read;
        std::size_t next = 0;
        if (given.size() != sizeof...(Given)) return {};
        if (!std::apply([&](auto &...one) { return (one.read(given[next++]) && ...); }, read)) return {};
        return [function, read, owner = nb::object(given)] {
            return std::apply([&](const auto &...one) -> Index {
                if constexpr (std::is_void_v<Result>) return function(one.get()...), 1;
                else return static_cast<Index>(function(one.get()...));
            }, read);
        };
    };
}

// Bind a function that blocks call without the interpreter's lock, and that can be kept.
template <class Function> void def_kept(nb::module_ &m, const char *name, Function function) {
    m.def(name, function, unlocked());
    keepers().emplace_back(name, keeper_of(std::function(function)));
}

}  // namespace noregret::bind
