// The third step of a call: sets masked inputs to 0, projects queries and keys, and computes what kernels read.

#pragma once

#include "heed/backend/backend.h"

namespace heed {

/// For a call with unprepared keys. Does what the backend reads. finite: what the mask leaves unreached is finite, and
/// need not be set to 0.
void prepare(backend::CallRecord& record, const backend::Backend& backend, bool finite = false);

/// For a call whose query and keys are prepared already: computes the tiles, if the backend reads them.
void add_tiles(backend::CallRecord& record, const backend::Backend& backend);

}  // namespace heed
