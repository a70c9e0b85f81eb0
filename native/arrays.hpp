// Views of arrays that somebody else owns: a line of numbers, a strided one, a table.
#pragma once

#include <cstdint>
#include <type_traits>

namespace noregret {

using Index = std::int64_t;

// Numbers `step` places apart.
template <class T> struct Strided {
    T *data = nullptr;
    Index size = 0;
    Index step = 1;

    T &operator[](Index i) const { return data[i * step]; }
    Strided first(Index count) const { return {data, count < size ? count : size, step}; }
    operator Strided<const T>() const requires(!std::is_const_v<T>) { return {data, size, step}; }
};

// Numbers that lie one after another.
template <class T> struct Line {
    T *data = nullptr;
    Index size = 0;

    T &operator[](Index i) const { return data[i]; }
    operator Strided<T>() const { return {data, size, 1}; }
    operator Strided<const T>() const requires(!std::is_const_v<T>) { return {data, size, 1}; }
};

// Rows of numbers, `apart` places from one to the next; the numbers of a row lie one after another.
template <class T> struct Table {
    T *data = nullptr;
    Index rows = 0;
    Index columns = 0;
    Index apart = 0;

    T *operator[](Index row) const { return data + row * apart; }
    T &operator()(Index row, Index column) const { return data[row * apart + column]; }
    Line<T> row(Index row) const { return {data + row * apart, columns}; }
    Strided<T> column(Index column) const { return {data + column, rows, apart}; }
};

}  // namespace noregret
