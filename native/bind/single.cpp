// One example at a time, an array, a pair (indices, values) or a dict, read through Python's own interface.
//
// Only examples that need no closer look are taken here; of all others `score` and `play` say so, nothing having
// changed, and the Python side looks closely, refuses, or plays them the long way.
#include <cstring>
#include <utility>
#include <vector>

#include "bind/lock.hpp"
#include "bind/loss.hpp"
#include "bind/subjects.hpp"
#include "coordinate.hpp"
#include "play.hpp"
#include "truncated.hpp"

namespace noregret::bind {

namespace {

enum Kind { LINEAR, MEAN, COORDINATES, TRUNCATED };
enum Answer { OTHERWISE, PLAYED, ROOM_NEEDED };  // what `play` says

constexpr Index MOST_FEATURES = Index(1) << 31;

// The names of a recipe with their indices, and those of the last dict, which the next one mostly repeats.
struct Names {
    nb::object index, list;  // dict of name → index, list of names in order
    Index slots = 0;         // indices that belong to hashed values
    std::vector<nb::object> keys;
    std::vector<std::uint32_t> places;
    std::vector<nb::object> fresh;  // names that nobody knew

    Index width() const { return static_cast<Index>(PyList_Size(list.ptr())) + slots; }
};

// Whether a key is this name: the same object, or, for ASCII, the same text; a false no only costs a look-up.
bool is_same(PyObject *name, PyObject *key) {
    if (name == key) return true;
#if defined(Py_LIMITED_API)
    return false;
#else
    if (!PyUnicode_CheckExact(key) || !PyUnicode_CheckExact(name) || !PyUnicode_IS_COMPACT_ASCII(key) || !PyUnicode_IS_COMPACT_ASCII(name)) return false;
    const Py_ssize_t length = PyUnicode_GET_LENGTH(key);
    return length == PyUnicode_GET_LENGTH(name) && !std::memcmp(PyUnicode_DATA(key), PyUnicode_DATA(name), static_cast<std::size_t>(length));
#endif
}

// The number behind an object that is a float and nothing else.
double float_of(PyObject *value) {
#if defined(Py_LIMITED_API)
    return PyFloat_AsDouble(value);
#else
    return PyFloat_AS_DOUBLE(value);
#endif
}

// A whole number as a float, where it fits one.
bool whole(PyObject *value, double &number) {
    number = PyLong_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        return false;
    }
    return true;
}

// The values of a dict with these keys in this order, floats and whole numbers alone; false for any other dict. All
// values, which mostly lie far apart in memory, are asked for before the first is waited for.
bool read_values(nb::dict given, nb::tuple keys, Line<double> out) {
    const Index size = static_cast<Index>(keys.size());
    if (PyDict_Size(given.ptr()) != size || out.size != size) return false;
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(given.ptr(), &at, &key, &value)) __builtin_prefetch(value);
    at = 0;
    for (Index k = 0; k < size && PyDict_Next(given.ptr(), &at, &key, &value); ++k) {
        if (!is_same(PyTuple_GetItem(keys.ptr(), k), key)) return false;
        if (PyFloat_CheckExact(value)) out[k] = float_of(value);
        else if (!PyLong_CheckExact(value) || !whole(value, out[k])) return false;
    }
    return true;
}

class Single {
public:
    Single(Lock &lock, const BoundLoss &loss, int kind, nb::object z, nb::object total, nb::object record, nb::object extent, bool columns)
        : lock_(lock), loss_(loss), kind_(static_cast<Kind>(kind)), owned_{z, total, record, extent}, columns_(columns) {
        RecordAt at;
        Line<Index> reach;
        bool fits = read_record(record.ptr(), at.record) && read(z.ptr(), z_) && read(extent.ptr(), reach) && reach.size == 1;
        fits = fits && (kind_ == COORDINATES || kind_ == TRUNCATED ? read(total.ptr(), table_) : read(total.ptr(), total_));
        if (!fits) throw nb::value_error("the arrays of a learner do not fit");
        if (kind_ == COORDINATES && table_.columns != coordinate_columns(at.record->config)) throw nb::value_error("the table does not fit");
        record_ = at.record;
        extent_ = reach.data;
    }

    void name(nb::object index, nb::object list, Index slots) {
        names_.index = std::move(index);
        names_.list = std::move(list);
        names_.slots = slots;
    }

    // The score, or None where the example needs a closer look.
    nb::object score(nb::handle x) {
        Held held(lock_);
        Rows row;
        if (busy_ || !read_example(x.ptr(), false, row)) return nb::none();
        const State &st = record_->state;
        const double found = std::visit([&](const auto &some) {
            if (kind_ == MEAN) return score_mean(st, some, 0, z_, total_);
            if (kind_ == COORDINATES) return score_coordinates(*record_, some, 0, table());
            if (kind_ == TRUNCATED) return score_truncated(st, some, 0, table());
            return score_linear(st.scale, st.bias, some, 0, z_);
        }, row);
        if (!finite(found)) return nb::none();
        return nb::float_(found);
    }

    // One round of weight 1.
    int play(nb::handle x, double y) {
        Held held(lock_);
        Rows row;
        if (busy_ || !read_example(x.ptr(), true, row)) return OTHERWISE;
        const Index reach = *extent_ + static_cast<Index>(names_.fresh.size());
        if (reach > room()) return ROOM_NEEDED;
        double score = NOT_A_NUMBER;
        const Batch batch{&y, 1, nullptr, &score};
        const Loss &loss = loss_.loss;
        Index played;
        busy_ = true;
        if (kind_ == COORDINATES) played = play_coordinates(loss, row, batch, table_, *record_);
        else if (kind_ == TRUNCATED) played = play_truncated(loss, row, batch, table_, *record_);
        else played = play_linear(loss, row, batch, z_, total_, *record_);
        busy_ = false;
        loss_.check();
        if (!played) return OTHERWISE;
        take_in();
        return PLAYED;
    }

private:
    Table<const double> table() const { return {table_.data, table_.rows, table_.columns, table_.apart}; }
    Index room() const { return kind_ == COORDINATES || kind_ == TRUNCATED ? table_.rows : z_.size; }

    bool read_example(PyObject *x, bool learn, Rows &row) {
        names_.fresh.clear();
        if (PyArray_CheckExact(x)) return read_array(x, row);
        if (PyDict_CheckExact(x)) return names_.index.is_valid() && read_dict(x, learn, row);
        return PyTuple_CheckExact(x) && PyTuple_Size(x) == 2 && columns_ && read_pair(x, row);
    }

    bool read_array(PyObject *x, Rows &row) const {
        Line<const double> line;
        if (!read(x, line) || line.size != *extent_ || line.size > z_.size || line.size == 0 || !columns_) return false;
        row = Dense<double>{line.data, 1, line.size, line.size};
        return true;
    }

    template <class I> bool rising(Line<const I> given) {
        const Index width = *extent_;
        Index reach = 0;
        places_.resize(static_cast<std::size_t>(given.size));
        for (Index k = 0; k < given.size; ++k) {
            const Index i = given[k];
            if (i < reach || i >= width) return false;
            places_[static_cast<std::size_t>(k)] = static_cast<std::uint32_t>(i);
            reach = i + 1;
        }
        return true;
    }

    bool read_pair(PyObject *x, Rows &row) {
        PyObject *indices = PyTuple_GetItem(x, 0);
        Line<const double> given;
        Line<const std::int64_t> wide;
        Line<const std::int32_t> narrow;
        if (!read(PyTuple_GetItem(x, 1), given)) return false;
        if (read(indices, wide)) {
            if (wide.size != given.size || !rising(wide)) return false;
        } else if (!read(indices, narrow) || narrow.size != given.size || !rising(narrow)) {
            return false;
        }
        bounds_[1] = given.size;
        row = Sparse<double>{bounds_, places_.data(), given.data, 1};
        return true;
    }

    bool read_dict(PyObject *x, bool learn, Rows &row) {
        const Index known = names_.width();
        if (known != *extent_) return false;  // names that no row has brought yet: they are taken in the long way
        list_items(x);
        const std::size_t size = items_.size();
        places_.resize(size);
        values_.resize(size);
        std::size_t count = 0;
        for (std::size_t k = 0; k < size; ++k) {
            const auto [key, value] = items_[k];
            double number;
            if (PyFloat_CheckExact(value)) number = float_of(value);
            else if (!PyLong_CheckExact(value) || !whole(value, number)) return false;
            Index place = -1;
            if (k < names_.keys.size() && is_same(names_.keys[k].ptr(), key)) {
                place = names_.places[k];
            } else if (!look_up(key, k, place)) {
                return false;
            }
            if (place < 0) {
                if (!learn) continue;
                place = known + static_cast<Index>(names_.fresh.size());
                if (place >= MOST_FEATURES) return false;
                names_.fresh.push_back(nb::borrow(key));
            }
            places_[count] = static_cast<std::uint32_t>(place);
            values_[count++] = number;
        }
        if (count == 0) return false;
        bounds_[1] = static_cast<Index>(count);
        row = Sparse<double>{bounds_, places_.data(), values_.data(), 1};
        return true;
    }

    // The items of a dict, in their order: no Python code runs while they are looked at. Names and values mostly lie far
    // apart in memory, so that all are asked for before the first is waited for.
    void list_items(PyObject *x) {
        items_.resize(static_cast<std::size_t>(PyDict_Size(x)));
        std::size_t found = 0;
        PyObject *key, *value;
        Py_ssize_t at = 0;
        while (found < items_.size() && PyDict_Next(x, &at, &key, &value)) {
            __builtin_prefetch(key);
            __builtin_prefetch(value);
            items_[found++] = {key, value};
        }
        items_.resize(found);
    }

    // The index of a name by its value, −1 for one that nobody knows; false for a key that is no text.
    bool look_up(PyObject *key, std::size_t k, Index &place) {
        if (!PyUnicode_CheckExact(key)) return false;
        PyObject *found = PyDict_GetItemWithError(names_.index.ptr(), key);
        if (!found) return !PyErr_Occurred();
        place = PyLong_AsLongLong(found);
        if (k < names_.keys.size()) {
            names_.keys[k] = nb::borrow(key);
            names_.places[k] = static_cast<std::uint32_t>(place);
        } else if (k == names_.keys.size() && k < REMEMBERED) {
            names_.keys.push_back(nb::borrow(key));
            names_.places.push_back(static_cast<std::uint32_t>(place));
        }
        return true;
    }

    // The round was played: its new names are known from now on.
    void take_in() {
        for (const nb::object &name : names_.fresh) {
            const nb::int_ place(*extent_);
            if (PyDict_SetItem(names_.index.ptr(), name.ptr(), place.ptr()) || PyList_Append(names_.list.ptr(), name.ptr())) {
                nb::raise_python_error();
            }
            ++*extent_;
        }
        names_.fresh.clear();
    }

    static constexpr std::size_t REMEMBERED = 4096;

    Lock &lock_;
    const BoundLoss &loss_;
    Kind kind_;
    nb::object owned_[4];  // the arrays that the views below look at
    Strided<double> z_, total_;
    Table<double> table_;
    Record *record_ = nullptr;
    Index *extent_ = nullptr;  // how many features the learner knows: its own number, which grows with new names
    bool columns_;       // whether arrays and pairs fit the recipe of the features
    bool busy_ = false;  // whether a round is being played: a loss of the user's own may call the model
    Names names_;
    std::vector<std::pair<PyObject *, PyObject *>> items_;
    std::vector<std::uint32_t> places_;
    std::vector<double> values_;
    Index bounds_[2] = {0, 0};
};

}  // namespace

void bind_single(nb::module_ &m) {
    nb::class_<Lock>(m, "Lock", "A lock that whoever holds it may take again.")
        .def(nb::init<>())
        .def("__enter__", &Lock::acquire)
        .def("__exit__", [](Lock &lock, nb::args) { lock.release(); });
    nb::class_<Single>(m, "Single", "One example at a time, for a learner whose arrays stay where they are.")
        .def(nb::init<Lock &, const BoundLoss &, int, nb::object, nb::object, nb::object, nb::object, bool>(),
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg())
        .def("name", &Single::name)
        .def("score", &Single::score)
        .def("play", &Single::play);
    const std::pair<const char *, int> numbers[] = {{"LINEAR", LINEAR}, {"MEAN", MEAN}, {"COORDINATES", COORDINATES},
                                                    {"TRUNCATED", TRUNCATED}, {"OTHERWISE", OTHERWISE}, {"PLAYED", PLAYED}, {"ROOM_NEEDED", ROOM_NEEDED}};
    for (const auto &[name, number] : numbers) m.attr(name) = number;
    m.def("read_values", &read_values);
}

}  // namespace noregret::bind
