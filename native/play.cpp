#include "play.hpp"

#include "coordinate.hpp"
#include "truncated.hpp"

namespace noregret {

template <class Each> Index with_loss(const Loss &loss, Each each) {
    if (const auto *one = std::get_if<ZeroOne>(&loss)) return each(*one);
    if (const auto *one = std::get_if<Hinge>(&loss)) return each(*one);
    if (const auto *one = std::get_if<Logistic>(&loss)) return each(*one);
    return each(Any{loss});
}

Index play_linear(const Loss &loss, const Rows &rows, const Batch &batch, Strided<double> z, Strided<double> total, Record &record) {
    return std::visit([&](const auto &some) {
        if constexpr (std::is_same_v<std::decay_t<decltype(some)>, Sparse<float>>) {  // seldom played: less to compile
            return play_linear(Any{loss}, some, batch, z, total, record);
        } else {
            return with_loss(loss, [&](const auto &one) { return play_linear(one, some, batch, z, total, record); });
        }
    }, rows);
}

Index play_coordinates(const Loss &loss, const Rows &rows, const Batch &batch, Table<double> table, Record &record) {
    return std::visit([&](const auto &some) { return play_coordinates(Any{loss}, some, batch, table, record); }, rows);
}

Index play_truncated(const Loss &loss, const Rows &rows, const Batch &batch, Table<double> table, Record &record) {
    return std::visit([&](const auto &some) { return play_truncated(Any{loss}, some, batch, table, record); }, rows);
}

}  // namespace noregret
