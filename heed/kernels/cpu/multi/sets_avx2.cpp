#if defined(__x86_64__)

#include "heed/kernels/cpu/multi/backward.h"
#include "heed/kernels/cpu/multi/forward.h"
#include "heed/kernels/cpu/multi/sets.h"
#include "heed/kernels/cpu/simd/avx2.h"

namespace heed::kernels::cpu {

const MultiSet<float> kMultiAvx2{MultiForward<Avx2>::run, MultiBackward<Avx2>::run};

}  // namespace heed::kernels::cpu

#endif
