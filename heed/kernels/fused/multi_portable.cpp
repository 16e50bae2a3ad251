#include "heed/kernels/fused/multi_backward.h"
#include "heed/kernels/fused/multi_forward.h"
#include "heed/kernels/fused/multi_sets.h"
#include "heed/kernels/fused/vec_portable.h"

namespace heed::kernels::fused {

const MultiSet<float> kMultiPortable{MultiForward<Portable<float>>::run, MultiBackward<Portable<float>>::run};
const MultiSet<double> kMultiDouble{MultiForward<Portable<double>>::run, MultiBackward<Portable<double>>::run};

}  // namespace heed::kernels::fused
