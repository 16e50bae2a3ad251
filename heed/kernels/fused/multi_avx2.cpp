#if defined(__x86_64__)

#include "heed/kernels/fused/multi_backward.h"
#include "heed/kernels/fused/multi_forward.h"
#include "heed/kernels/fused/multi_sets.h"
#include "heed/kernels/fused/vec_avx2.h"

namespace heed::kernels::fused {

const MultiSet<float> kMultiAvx2{MultiForward<Avx2>::run, MultiBackward<Avx2>::run};

}  // namespace heed::kernels::fused

#endif
