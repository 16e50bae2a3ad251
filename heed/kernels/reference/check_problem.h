// Checks the shapes and ranges that the loops rely on, once before they run.

#pragma once

#include "heed/kernels/reference/reference.h"

namespace heed::kernels::reference {

/// Throws heed::Error if the problem is inconsistent. score_width: W, scores per pair.
template <typename Real>
void check_problem(const Problem<Real>& problem, int64_t score_width);

}  // namespace heed::kernels::reference
