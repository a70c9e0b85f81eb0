// What each file of this folder adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace noregret::bind {

void bind_alarm(nanobind::module_ &m);
void bind_chain(nanobind::module_ &m);  // the last: it looks at all others
void bind_cover(nanobind::module_ &m);
void bind_forecasts(nanobind::module_ &m);
void bind_functions(nanobind::module_ &m);
void bind_gram(nanobind::module_ &m);
void bind_matrix(nanobind::module_ &m);
void bind_mixture(nanobind::module_ &m);
void bind_multiclass(nanobind::module_ &m);
void bind_scored(nanobind::module_ &m);
void bind_rounds(nanobind::module_ &m);
void bind_single(nanobind::module_ &m);
void bind_exact(nanobind::module_ &m);
void bind_experts(nanobind::module_ &m);
void bind_finite(nanobind::module_ &m);
void bind_hindsight(nanobind::module_ &m);
void bind_ledger(nanobind::module_ &m);
void bind_text(nanobind::module_ &m);

}  // namespace noregret::bind
