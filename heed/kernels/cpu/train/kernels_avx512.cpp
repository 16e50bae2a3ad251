#if defined(__x86_64__)

#include "heed/kernels/cpu/simd/avx512.h"
// The instruction set comes first: what follows is a template over it.
#include "heed/kernels/cpu/train/passes.h"

namespace heed::kernels::cpu {

const TrainKernels<float>& train_kernels_avx512() {
  return TrainPasses<Avx512>::kKernels;
}

}  // namespace heed::kernels::cpu

#endif
