#include "heed/kernels/cpu/engine/kernels.h"

#if defined(__x86_64__)
#include "heed/kernels/cpu/simd/avx2.h"
// The instruction set comes first: what follows is a template over it.
#include "heed/kernels/cpu/engine/passes.h"

namespace heed::kernels::cpu {

const Kernels<float>& avx2_kernels() {
  return Passes<Avx2>::kKernels;
}

}  // namespace heed::kernels::cpu
#endif
