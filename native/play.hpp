// The loops for whatever loss and layout a run has: those that are played often are compiled for each, all others look
// up the loss in every round.
#pragma once

#include "rounds.hpp"

namespace noregret {

Index play_linear(const Loss &loss, const Rows &rows, const Batch &batch, Strided<double> z, Strided<double> total, Record &record);
Index play_coordinates(const Loss &loss, const Rows &rows, const Batch &batch, Table<double> table, Record &record);
Index play_truncated(const Loss &loss, const Rows &rows, const Batch &batch, Table<double> table, Record &record);

}  // namespace noregret
