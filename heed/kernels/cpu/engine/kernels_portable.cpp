#include "heed/kernels/cpu/simd/portable.h"
// The instruction set comes first: what follows is a template over it.
#include "heed/kernels/cpu/engine/passes.h"

namespace heed::kernels::cpu {

const Kernels<float>& portable_kernels() {
  return Passes<Portable<float>>::kKernels;
}
const Kernels<double>& double_kernels() {
  return Passes<Portable<double>>::kKernels;
}

}  // namespace heed::kernels::cpu
