#if defined(__x86_64__)

#include "heed/kernels/fused/multi_backward.h"
#include "heed/kernels/fused/multi_forward.h"
#include "heed/kernels/fused/multi_sets.h"
#include "heed/kernels/fused/vec_avx512.h"

namespace heed::kernels::fused {

const MultiSet<float> kMultiAvx512{MultiForward<Avx512>::run, MultiBackward<Avx512>::run};

}  // namespace heed::kernels::fused

#endif
