#include "heed/kernels/cpu/graph/pass.h"

#if defined(__x86_64__)
#include "heed/kernels/cpu/simd/avx2.h"
// The instruction set comes first: what follows is a template over it.
#include "heed/kernels/cpu/graph/node.h"

namespace heed::kernels::cpu::graph {

const Kernels<float>& avx2_kernels() {
  return Table<Avx2>::kKernels;
}

}  // namespace heed::kernels::cpu::graph
#endif
