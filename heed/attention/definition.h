// Inside: a checked call as a problem of the definition, and its answer as a call's.

#pragma once

#include "heed/attention/checked.h"
#include "heed/kernels/reference/reference.h"

namespace heed {

kernels::reference::Problem<double> problem_of(const Checked& checked, const Mechanism& mechanism);

/// The reference path. Outputs have all axes.
Attended run_definition(const Checked& checked, const Mechanism& mechanism);

}  // namespace heed
