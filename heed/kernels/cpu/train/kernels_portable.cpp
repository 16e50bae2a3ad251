#include "heed/kernels/cpu/simd/portable.h"
// The instruction set comes first: what follows is a template over it.
#include "heed/kernels/cpu/train/passes.h"

namespace heed::kernels::cpu {

const TrainKernels<float>& train_kernels_portable() {
  return TrainPasses<Portable<float>>::kKernels;
}
const TrainKernels<double>& train_kernels_double() {
  return TrainPasses<Portable<double>>::kKernels;
}

}  // namespace heed::kernels::cpu
