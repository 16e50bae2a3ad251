// Kernels on torch's threads.

#pragma once

#include "heed/base/parallel.h"

namespace heed {

/// A ParallelFor. Whoever is free takes the next task: tasks need not be equally long. Inside a parallel region of
/// torch everything runs on the calling thread.
void on_torch_threads(int64_t tasks, const std::function<void(int64_t)>& body);

}  // namespace heed
