// Products of float tensors on a GPU with the precision of float.

#pragma once

#include <ATen/Context.h>

namespace heed {

/// For a whole program: cuDNN's recurrent layers no longer round their float inputs to TF32 (11 bits), as torch lets
/// them by default. A recurrent decoder of 30 steps otherwise drifts from what it gives on a CPU.
inline void use_float_in_cudnn() {
  at::globalContext().setAllowTF32CuDNN(false);
}

}  // namespace heed
