#include "heed/bridge/draws.h"

#include <ATen/Parallel.h>

namespace heed {

at::Tensor Draws::uniform(kernels::Purpose purpose, at::IntArrayRef shape, const at::TensorOptions& options) const {
  const auto u = at::empty(shape, at::kFloat);  // 23 bits: exact in float, whatever the type asked for
  const int64_t heads = shape[1], queries = shape[2];
  const int64_t rows = shape[0] * heads * queries;
  const int64_t count = rows == 0 ? 0 : u.numel() / rows;
  float* out = u.data_ptr<float>();
  at::parallel_for(0, rows, /*grain_size=*/16, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const int64_t row_and_head = first_row * heads + i / queries;
      kernels::uniforms(seed, stream, purpose, static_cast<uint32_t>(row_and_head),
                        static_cast<uint32_t>(first_query + i % queries), count, out + i * count);
    }
  });
  return u.to(options);
}

}  // namespace heed
