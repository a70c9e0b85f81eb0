// Searches in finite classes, as objects that are asked for a slice of work at a time.
#include "finite.hpp"

#include <nanobind/stl/vector.h>

#include "bind/arrays.hpp"
#include "bind/subjects.hpp"

namespace noregret::bind {

namespace {

constexpr Index DEEPEST = 40;  // a tree or a set beyond this has more parts than there is memory

bool fits(Table<const Word> words, Index size) {
    if (size < 0 || words.columns != std::max((size + 63) / 64, Index(1))) return false;
    for (Index j = 0; j < words.rows; ++j) {
        if (words(j, words.columns - 1) & ~last_bits(size)) return false;
    }
    return true;
}

}  // namespace

void bind_finite(nb::module_ &m) {
    m.def("sauer", [](Index columns, Index d) { return columns < 0 ? 0 : sauer(columns, d); });
    m.def("tree_at_once", [](Index size, Index columns, Index d) {
        return size >= 0 && columns >= 0 && d >= 0 && at_once(size, columns, d) == Verdict::yes;
    });

    nb::class_<TreeMemory>(m, "TreeMemory").def("__init__", [](TreeMemory *self, Index spaces, Index words) {
        require(0 < spaces && spaces < Index(1) << 32 && words > 0, "the memory needs room");
        new (self) TreeMemory(spaces, words);
    });

    nb::class_<TreeSearch>(m, "TreeSearch")
        .def("__init__", [](TreeSearch *self, Table<const Word> words, Index size) {
            require(fits(words, size), "every column needs a bit for each row, and none beyond");
            new (self) TreeSearch(words, size);
        })
        .def("turn_to", [](TreeSearch &self, TreeMemory &memory, Line<const Word> rows) {
            require(self.fits(rows), "a version space is a bit for each row, and none beyond");
            const std::lock_guard alone(memory.busy);
            self.turn_to(rows.data);
        }, unlocked())
        .def("advance", [](TreeSearch &self, TreeMemory &memory, Index d, Index work) {
            require(0 <= d && d <= DEEPEST && work >= 0, "there is no such depth");
            const std::lock_guard alone(memory.busy);
            return int(self.advance(memory, d, work));
        }, unlocked())
        .def("grow", [](TreeSearch &self, TreeMemory &memory, Index depth, Line<Index> tree) {
            require(0 < depth && depth <= DEEPEST && tree.size == Index(1) << depth, "there is no such depth");
            const std::lock_guard alone(memory.busy);
            return self.grow(memory, depth, tree);
        }, unlocked())
        .def_prop_ro("nodes", &TreeSearch::nodes)
        .def_prop_ro("size", &TreeSearch::size)
        .def_prop_ro("columns", &TreeSearch::columns);
    m.attr("TREE_NO") = int(Verdict::no);
    m.attr("TREE_YES") = int(Verdict::yes);
    m.attr("TREE_OPEN") = int(Verdict::open);

    nb::class_<SetSearch>(m, "SetSearch")
        .def("__init__", [](SetSearch *self, Table<const Word> bits, Index columns, Index least, Index most) {
            require(fits(bits, columns), "every row needs a bit for each column, and none beyond");
            require(0 <= least && 0 <= most && most <= DEEPEST && (Index(1) << most) <= bits.rows, "there are too few rows");
            new (self) SetSearch(bits, columns, least, most);
        })
        .def("advance", [](SetSearch &self, Index work) {
            require(work >= 0, "there is no such work");
            const std::lock_guard alone(self.busy);
            return self.advance(work);
        }, unlocked())
        .def("at_most", &SetSearch::at_most)
        .def_prop_ro("best", &SetSearch::best)
        .def_prop_ro("nodes", &SetSearch::nodes);
}

}  // namespace noregret::bind
