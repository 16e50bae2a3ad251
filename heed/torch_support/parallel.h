// Runs kernels on torch's threads.

#pragma once

#include "heed/base/parallel.h"

namespace heed {

/// A ParallelFor with dynamic scheduling: a free thread takes the next task. Inside a parallel region of torch all
/// tasks run on the calling thread.
void on_torch_threads(int64_t tasks, const std::function<void(int64_t)>& body);

}  // namespace heed
