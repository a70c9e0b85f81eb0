// NumPy's arrays as the views of arrays.hpp, checked: type, dimensions, layout, and whether they may be written to.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define NPY_TARGET_VERSION NPY_1_25_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL noregret_numpy
#ifndef NOREGRET_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <tuple>
#include <type_traits>
#include <variant>

#include "../arrays.hpp"
#include "../rows.hpp"
#include "../state.hpp"

namespace nb = nanobind;
using namespace nanobind::literals;

namespace noregret::bind {

template <class T> constexpr char kind_of() {
    if constexpr (std::is_same_v<T, bool>) return 'b';
    if constexpr (std::is_floating_point_v<T>) return 'f';
    return std::is_signed_v<T> ? 'i' : 'u';
}

// The array behind an object if it holds numbers of type T in so many dimensions, aligned and in this machine's order.
template <class T> PyArrayObject *array_of(PyObject *object, int dimensions) {
    using Plain = std::remove_const_t<T>;
    if (!PyArray_Check(object)) return nullptr;
    auto *array = reinterpret_cast<PyArrayObject *>(object);
    const PyArray_Descr *type = PyArray_DESCR(array);
    if (PyArray_NDIM(array) != dimensions || type->kind != kind_of<Plain>()) return nullptr;
    if (PyArray_ITEMSIZE(array) != static_cast<npy_intp>(sizeof(Plain)) || !PyArray_ISALIGNED(array)) return nullptr;
    if (PyArray_ISBYTESWAPPED(array)) return nullptr;
    if (!std::is_const_v<T> && !PyArray_ISWRITEABLE(array)) return nullptr;
    return array;
}

template <class T> bool read(PyObject *object, Strided<T> &view) {
    PyArrayObject *array = array_of<T>(object, 1);
    if (!array) return false;
    const npy_intp size = PyArray_DIM(array, 0), stride = PyArray_STRIDE(array, 0);
    if (size > 1 && stride % static_cast<npy_intp>(sizeof(T))) return false;
    view = {static_cast<T *>(PyArray_DATA(array)), size, size > 1 ? stride / static_cast<npy_intp>(sizeof(T)) : 1};
    return true;
}

template <class T> bool read(PyObject *object, Line<T> &view) {
    Strided<T> found;
    if (!read(object, found) || found.step != 1) return false;
    view = {found.data, found.size};
    return true;
}

template <class T> bool read(PyObject *object, Table<T> &view) {
    PyArrayObject *array = array_of<T>(object, 2);
    if (!array) return false;
    const npy_intp rows = PyArray_DIM(array, 0), columns = PyArray_DIM(array, 1), width = sizeof(T);
    const npy_intp apart = PyArray_STRIDE(array, 0);
    if (rows > 0 && columns > 1 && PyArray_STRIDE(array, 1) != width) return false;
    if (rows > 1 && columns > 0 && apart % width) return false;
    view = {static_cast<T *>(PyArray_DATA(array)), rows, columns, rows > 1 ? apart / width : columns};
    return true;
}

template <class X> bool read(PyObject *object, Dense<X> &view) {
    Table<const X> table;
    Line<const X> line;
    if (read(object, table)) view = {table.data, table.rows, table.columns, table.apart};
    else if (read(object, line)) view = {line.data, 1, line.size, line.size};
    else return false;
    return true;
}

template <class X> bool read(PyObject *object, Sparse<X> &view) {
    if (!PyTuple_Check(object) || PyTuple_Size(object) != 3) return false;
    Line<const Index> bounds;
    Line<const std::uint32_t> features;
    Line<const X> values;
    if (!read(PyTuple_GetItem(object, 0), bounds) || bounds.size < 1) return false;
    if (!read(PyTuple_GetItem(object, 1), features) || !read(PyTuple_GetItem(object, 2), values)) return false;
    if (bounds[0] < 0 || bounds[bounds.size - 1] > features.size || features.size != values.size) return false;
    bool rising = true;
    for (Index t = 1; t < bounds.size; ++t) rising &= bounds[t - 1] <= bounds[t];
    view = {bounds.data, features.data, values.data, bounds.size - 1};
    return rising;
}

inline bool read(PyObject *object, Rows &rows) {
    Dense<double> dense;
    Dense<float> narrow;
    Sparse<double> sparse;
    Sparse<float> narrow_sparse;
    if (read(object, dense)) rows = dense;
    else if (read(object, sparse)) rows = sparse;
    else if (read(object, narrow)) rows = narrow;
    else if (read(object, narrow_sparse)) rows = narrow_sparse;
    else return false;
    return true;
}

inline bool read(PyObject *object, WideRows &rows) {
    Dense<double> dense;
    Sparse<double> sparse;
    if (read(object, dense)) rows = dense;
    else if (read(object, sparse)) rows = sparse;
    else return false;
    return true;
}

// One record of a structured array: the memory of the struct itself.
template <class S> bool read_record(PyObject *object, S *&found) {
    if (!PyArray_Check(object)) return false;
    auto *array = reinterpret_cast<PyArrayObject *>(object);
    if (PyArray_ITEMSIZE(array) != static_cast<npy_intp>(sizeof(S)) || PyArray_SIZE(array) != 1) return false;
    if ((!std::is_const_v<S> && !PyArray_ISWRITEABLE(array)) || !PyArray_ISALIGNED(array)) return false;
    found = static_cast<S *>(PyArray_DATA(array));
    return true;
}

}  // namespace noregret::bind

namespace nanobind::detail {

template <class View> struct noregret_view {
    NB_TYPE_CASTER(View, const_name("numpy.ndarray"))
    bool from_python(handle source, uint8_t, cleanup_list *) noexcept {
        return noregret::bind::read(source.ptr(), value);
    }
    static handle from_cpp(const View &, rv_policy, cleanup_list *) noexcept { return {}; }
};

template <class T> struct type_caster<noregret::Line<T>> : noregret_view<noregret::Line<T>> {};
template <class T> struct type_caster<noregret::Strided<T>> : noregret_view<noregret::Strided<T>> {};
template <class T> struct type_caster<noregret::Table<T>> : noregret_view<noregret::Table<T>> {};
template <class X> struct type_caster<noregret::Sparse<X>> : noregret_view<noregret::Sparse<X>> {};
template <> struct type_caster<noregret::WideRows> : noregret_view<noregret::WideRows> {};
template <> struct type_caster<noregret::Rows> : noregret_view<noregret::Rows> {};

template <class At> struct noregret_record {
    NB_TYPE_CASTER(At, const_name("numpy.ndarray"))
    bool from_python(handle source, uint8_t, cleanup_list *) noexcept {
        return noregret::bind::read_record(source.ptr(), value.record);
    }
    static handle from_cpp(const At &, rv_policy, cleanup_list *) noexcept { return {}; }
};

template <> struct type_caster<noregret::RecordAt> : noregret_record<noregret::RecordAt> {};
template <> struct type_caster<noregret::RecordSeen> : noregret_record<noregret::RecordSeen> {};

}  // namespace nanobind::detail

namespace noregret::bind {

// What the arrays of a call must have in common.
inline void require(bool holds, const char *what) {
    if (!holds) throw nb::value_error(what);
}

// Blocks give up the interpreter's lock.
using unlocked = nb::call_guard<nb::gil_scoped_release>;

}  // namespace noregret::bind
