#include "heed/kernels/cpu/multi/backward.h"
#include "heed/kernels/cpu/multi/forward.h"
#include "heed/kernels/cpu/multi/sets.h"
#include "heed/kernels/cpu/simd/portable.h"

namespace heed::kernels::cpu {

const MultiSet<float> kMultiPortable{MultiForward<Portable<float>>::run, MultiBackward<Portable<float>>::run};
const MultiSet<double> kMultiDouble{MultiForward<Portable<double>>::run, MultiBackward<Portable<double>>::run};

}  // namespace heed::kernels::cpu
