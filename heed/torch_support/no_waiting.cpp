#include "heed/torch_support/no_waiting.h"

#ifdef HEED_CUDA
#include <c10/cuda/CUDAFunctions.h>
#endif

namespace heed {

#ifdef HEED_CUDA

using c10::cuda::SyncDebugMode;

bool NoWaiting::available() {
  return c10::cuda::device_count() > 0;
}

NoWaiting::NoWaiting() : before_(static_cast<int>(c10::cuda::warning_state().get_sync_debug_mode())) {
  c10::cuda::warning_state().set_sync_debug_mode(SyncDebugMode::L_ERROR);
}

NoWaiting::~NoWaiting() {
  c10::cuda::warning_state().set_sync_debug_mode(static_cast<SyncDebugMode>(before_));
}

#else

bool NoWaiting::available() {
  return false;
}
NoWaiting::NoWaiting() = default;
NoWaiting::~NoWaiting() = default;

#endif

}  // namespace heed
