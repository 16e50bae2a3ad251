#include "heed/torch_support/draws.h"

#include <ATen/Parallel.h>

#include "heed/torch_support/noise_scope.h"
#include "heed/torch_support/send.h"

namespace heed {
namespace {

/// Uniforms as float, which holds their 23 bits exactly, for any requested type, on the device. Calls then(u, count)
/// for the columns of each query.
template <typename Then>
at::Tensor filled(const Draws& draws, Purpose purpose, at::IntArrayRef shape, const at::Device& device,
                  const Then& then) {
  if (device.is_cuda()) NoiseScope::note_plain_seed();
  const auto u = to_send(shape, at::kFloat, device);
  const int64_t heads = shape[1], queries = shape[2];
  const int64_t rows = shape[0] * heads * queries;
  const int64_t count = rows == 0 ? 0 : u.numel() / rows;
  float* out = u.data_ptr<float>();
  at::parallel_for(0, rows, /*grain_size=*/16, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const int64_t row_and_head = draws.first_row * heads + i / queries;
      uniforms(draws.seed, draws.stream, purpose, static_cast<uint32_t>(row_and_head),
               static_cast<uint32_t>(draws.first_query + i % queries), count, out + i * count);
      then(out + i * count, count);
    }
  });
  return send(u, device);
}

}  // namespace

at::Tensor Draws::uniform(Purpose purpose, at::IntArrayRef shape, const at::TensorOptions& options) const {
  return filled(*this, purpose, shape, options.device(), [](float*, int64_t) {}).to(options);
}

at::Tensor Draws::kept(at::IntArrayRef shape, double rate, const at::TensorOptions& options) const {
  const auto min = static_cast<float>(rate);
  const bool narrow = options.dtype() == at::kFloat;
  const float factor = narrow ? static_cast<float>(1 / (1 - rate)) : 1.0F;
  const auto kept = filled(*this, kDropout, shape, options.device(), [&](float* row, int64_t count) {
    for (int64_t i = 0; i < count; ++i) row[i] = row[i] >= min ? factor : 0.0F;
  });
  return narrow ? kept.to(options) : kept.to(options) / (1 - rate);
}

}  // namespace heed
