// Attention as a function, and nothing else of the library: heed::attend, why, scaled_dot_product_attention, Mechanism,
// Call. Includes of libtorch only ATen/core/Tensor.h, so a file with it compiles several times as fast as one with
// heed/heed.h; include <ATen/ATen.h> or <torch/torch.h> for what else you use of it.

#pragma once

#include "heed/attention/attend.h"
