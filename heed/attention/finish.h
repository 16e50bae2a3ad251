// The last step of a call: adds what a policy selected, and drops the axes that the caller does not have.

#pragma once

#include "heed/backend/plan.h"

namespace heed {

Attended finish(const backend::CallRecord& record, Attended result, Plan plan);

}  // namespace heed
