#include "heed/kernels/cpu/simd/portable.h"
// The instruction set comes first: what follows is a template over it.
#include "heed/kernels/cpu/graph/node.h"

namespace heed::kernels::graph {

const Kernels<float>& portable_kernels() {
  return Table<fused::Portable<float>>::kKernels;
}
const Kernels<double>& double_kernels() {
  return Table<fused::Portable<double>>::kKernels;
}

}  // namespace heed::kernels::graph
