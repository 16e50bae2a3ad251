#if defined(__x86_64__)

#include "heed/kernels/cpu/multi/backward.h"
#include "heed/kernels/cpu/multi/forward.h"
#include "heed/kernels/cpu/multi/sets.h"
#include "heed/kernels/cpu/simd/avx512.h"

namespace heed::kernels::cpu {

const MultiSet<float> kMultiAvx512{MultiForward<Avx512>::run, MultiBackward<Avx512>::run};

}  // namespace heed::kernels::cpu

#endif
