// How sure a prediction is: sets whose coverage is tracked, and probabilities judged by their labels.
#include "../cover.hpp"

#include "bind/arrays.hpp"
#include "bind/subjects.hpp"

namespace noregret::bind {

namespace {

Tracker tracker(Line<double> numbers, Line<Index> counts, Line<double> first, Line<Index> sizes) {
    require(numbers.size == COVER_NUMBERS && counts.size == COVER_COUNTS, "not the numbers that are kept");
    require(first.size == WARM && sizes.size == SIZES, "not the scores and the sizes that are kept");
    return {*reinterpret_cast<Cover *>(numbers.data), *reinterpret_cast<CoverCounts *>(counts.data), first.data, sizes.data};
}

void check(Line<const double> z, Line<const double> labels, Line<const double> weights) {
    require(labels.size == z.size && (!weights.size || weights.size == z.size), "a label for each score");
}

template <class Kind>
void cover_rounds(Line<const double> z, Line<const double> labels, Line<const double> weights, Line<double> numbers, Line<Index> counts,
                  Line<double> first, Line<Index> sizes, Line<double> out) {
    check(z, labels, weights);
    require(out.size == z.size, "a place for each score");
    cover_all<Kind>(z, labels, weights, tracker(numbers, counts, first, sizes), out);
}

template <class Kind>
void cover_late(double z, double y, Line<double> numbers, Line<Index> counts, Line<double> first, Line<Index> sizes, double q, Index since) {
    Tracker at = tracker(numbers, counts, first, sizes);
    cover(at, Kind::score(z, y), q, since, Kind::set(z, q));
}

void cover_classes(Line<const double> others, Index y, Line<double> numbers, Line<Index> counts, Line<double> first, Line<Index> sizes, double q,
                   Index since) {
    Tracker at = tracker(numbers, counts, first, sizes);
    require(y >= 0, "a class has a number");
    cover(at, y < others.size ? others[y] : 1.0, q, since, set_of(others, q));
}

double threshold_now(Line<double> numbers, Line<Index> counts) {
    require(numbers.size == COVER_NUMBERS && counts.size == COVER_COUNTS, "not the numbers that are kept");
    return threshold(*reinterpret_cast<Cover *>(numbers.data), *reinterpret_cast<CoverCounts *>(counts.data));
}

void judge_odds(Line<const double> z, Line<const double> labels, Line<double> loss, Table<Index> bins) {
    check(z, labels, {});
    require(loss.size == 1 && bins.rows == 2 && bins.columns == BINS, "a sum, and a line of bins for each label");
    judge(z, labels, loss, bins);
}

}  // namespace

void bind_cover(nb::module_ &m) {
    m.def("cover_numbers", &cover_rounds<Distance>);
    m.def("cover_two", &cover_rounds<TwoClasses>);
    m.def("cover_late_number", &cover_late<Distance>);
    m.def("cover_late_two", &cover_late<TwoClasses>);
    m.def("cover_classes", &cover_classes);
    m.def("threshold", &threshold_now);
    m.def("judge_odds", &judge_odds);
    m.attr("WARM") = WARM;
    m.attr("SIZES") = SIZES;
    m.attr("COVER_NUMBERS") = COVER_NUMBERS;
    m.attr("COVER_COUNTS") = COVER_COUNTS;
}

}  // namespace noregret::bind
