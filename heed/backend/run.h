// The fourth step of a call: runs it on its backend, as one autograd node.

#pragma once

#include "heed/backend/backend.h"

namespace heed::backend {

/// Outputs with all axes. A call without batch elements, heads, queries or keys gives zeros and reaches no
/// backend, where argmax and gather would throw on an axis of size 0. Second derivatives, and gradients that the
/// backend does not have, come from the backend that differentiates twice.
Attended run(const Backend& backend, const CallRecord& record);

/// The outputs of a step over a graph. Second derivatives come from GraphRecord::composed.
Tensors run_graph(const Backend& backend, GraphRecord record);

}  // namespace heed::backend
