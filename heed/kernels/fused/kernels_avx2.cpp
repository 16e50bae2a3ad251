#include "heed/kernels/fused/kernels.h"

#if defined(__x86_64__)
#include "heed/kernels/fused/vec_avx2.h"
// The instruction set comes first: what follows is a template over it.
#include "heed/kernels/fused/table.h"

namespace heed::kernels::fused {

const Kernels<float>& avx2_kernels() {
  return Table<Avx2>::kKernels;
}

}  // namespace heed::kernels::fused
#endif
