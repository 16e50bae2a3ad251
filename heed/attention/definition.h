// Internal: runs a validated call on the reference implementation (heed/kernels/reference).

#pragma once

#include "heed/attention/checked.h"
#include "heed/kernels/reference/reference.h"

namespace heed {

kernels::reference::Problem<double> problem_of(const Checked& checked, const Mechanism& mechanism);

/// The reference path. Outputs have all axes.
Attended run_definition(const Checked& checked, const Mechanism& mechanism);

}  // namespace heed
