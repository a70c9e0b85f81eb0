// Alarms, and the baselines that they are held against.
#include "alarm.hpp"

#include <algorithm>

#include "bind/chain.hpp"
#include "bind/subjects.hpp"

namespace noregret::bind {

namespace {

Index watch_losses(Line<const double> losses, double level, double threshold, Line<double> alarm) {
    require(alarm.size == ALARM_NUMBERS, "not the numbers of an alarm");
    require(level > 0.0 && level < 1.0, "the level lies between 0 and 1");
    return watch(losses, level, threshold, *reinterpret_cast<Alarm *>(alarm.data));
}

void most_frequent(Line<const Index> classes, Line<Index> counts, Line<Index> leader, Line<double> wrong) {
    require(wrong.size == classes.size, "a place for each row");
    require(leader.size == 1 && leader[0] >= -1 && leader[0] < counts.size, "the leader is no class");
    require(std::all_of(classes.data, classes.data + classes.size, [&](Index k) { return k >= 0 && k < counts.size; }), "a class has no place");
    follow_most_frequent(classes, counts, leader[0], wrong);
}

void mean_so_far(Line<const double> labels, double first, Line<double> kept, Line<double> means) {
    require(means.size == labels.size && kept.size == 2, "a place for each row, a sum and a number");
    follow_mean(labels, first, kept[0], kept[1], means);
}

}  // namespace

void bind_alarm(nb::module_ &m) {
    m.def("watch", &watch_losses);
    m.def("follow_most_frequent", &most_frequent);
    m.def("follow_mean", &mean_so_far);
    m.attr("ALARM_NUMBERS") = ALARM_NUMBERS;
}

}  // namespace noregret::bind
