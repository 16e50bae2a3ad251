// What the loops rely on, checked once before they run.

#pragma once

#include "heed/kernels/reference/reference.h"

namespace heed::kernels::reference {

template <typename Real>
void check_problem(const Problem<Real>& problem, int64_t score_width);

}  // namespace heed::kernels::reference
