#include "heed/base/check.h"
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

namespace {

template <class Kernel, size_t kCount, class Kind>
const Kernel& found(const Kernel (&all)[kCount], Kind kind, const char* what) {
  const auto i = static_cast<size_t>(kind);
  check(i < kCount, "kernels/cpu: got number ", i, " for the kind of ", what, ", expected less than ", kCount,
        "; table.h needs a line for every kind");
  return all[i];
}

}  // namespace

ScoreTraits traits(ScoreKind kind) {
  return found(Table<Portable<float>>::kScores, kind, "score").traits;
}
AlignTraits traits(AlignKind kind) {
  return found(Table<Portable<float>>::kAligns, kind, "alignment").traits;
}

}  // namespace heed::kernels::cpu
