#include "heed/kernels/cpu/simd/portable.h"
// The instruction set comes first: what follows is a template over it.
#include "heed/kernels/cpu/graph/node.h"

namespace heed::kernels::cpu::graph {

const Kernels<float>& portable_kernels() {
  return Table<Portable<float>>::kKernels;
}
const Kernels<double>& double_kernels() {
  return Table<Portable<double>>::kKernels;
}

}  // namespace heed::kernels::cpu::graph
