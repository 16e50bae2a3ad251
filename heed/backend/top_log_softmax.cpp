#include "heed/backend/top_log_softmax.h"

#include <limits>

#include <ATen/ATen.h>

#ifdef HEED_CUDA
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "heed/kernels/cuda/top_log_softmax.h"
#endif

namespace heed {
namespace {

constexpr int64_t kBlockColumns = 128;

/// at::topk passes over a row many times. Here one pass finds the maximum of every block of columns; the largest values
/// are in the `count` blocks whose maxima are largest.
std::pair<at::Tensor, at::Tensor> largest(const at::Tensor& log_p, int64_t count) {
  if (count == 1) {
    auto [best, which] = log_p.max(1, /*keepdim=*/true);
    return {best, which};
  }
  const int64_t rows = log_p.size(0), columns = log_p.size(1), blocks = columns / kBlockColumns;
  if (blocks < 4 * count) {  // most of a row would be selected
    auto [best, which] = log_p.topk(count, 1);
    return {best, which};
  }
  const auto blocked = log_p.narrow(1, 0, blocks * kBlockColumns).unflatten(1, {blocks, kBlockColumns});
  const auto chosen = std::get<1>(blocked.amax(2).topk(count, 1, true, /*sorted=*/false));  // [rows, count]
  const auto first = chosen * kBlockColumns;                                                // [rows, count]
  const auto ids = first.unsqueeze(2) + at::arange(kBlockColumns, chosen.options());        // [rows, count, 128]
  const auto inside = blocked.gather(1, chosen.unsqueeze(2).expand({rows, count, kBlockColumns})).flatten(1);
  const int64_t rest = columns - blocks * kBlockColumns;
  if (rest == 0) {
    auto [best, at] = inside.topk(count, 1);
    return {best, ids.flatten(1).gather(1, at)};
  }
  const auto last = at::arange(blocks * kBlockColumns, columns, chosen.options()).expand({rows, rest});
  auto [best, at] = at::cat({inside, log_p.narrow(1, blocks * kBlockColumns, rest)}, 1).topk(count, 1);
  return {best, at::cat({ids.flatten(1), last}, 1).gather(1, at)};
}

}  // namespace

std::pair<at::Tensor, at::Tensor> top_log_softmax_by_torch(const at::Tensor& logits, int64_t count,
                                                           const std::vector<int64_t>& excluded) {
  const auto log_p = at::log_softmax(logits, -1);
  for (const int64_t column : excluded) log_p.select(1, column).fill_(-std::numeric_limits<double>::infinity());
  return largest(log_p, count);
}

std::pair<at::Tensor, at::Tensor> top_log_softmax(const at::Tensor& logits, int64_t count,
                                                  const std::vector<int64_t>& excluded) {
#ifdef HEED_CUDA
  if (logits.is_cuda() && logits.scalar_type() == at::kFloat && count <= kernels::cuda::kMaxTop &&
      excluded.size() <= kernels::cuda::kMaxExcluded && logits.numel() > 0) {
    const c10::cuda::CUDAGuard device(logits.device());
    const auto dense = logits.contiguous();
    const auto best = at::empty({logits.size(0), count}, logits.options());
    const auto which = at::empty({logits.size(0), count}, logits.options().dtype(at::kLong));
    kernels::cuda::TopLogSoftmax p{.rows = logits.size(0),
                                   .columns = logits.size(1),
                                   .logits = dense.data_ptr<float>(),
                                   .count = static_cast<int>(count),
                                   .best = best.data_ptr<float>(),
                                   .which = which.data_ptr<int64_t>()};
    for (size_t i = 0; i < excluded.size(); ++i) p.excluded[i] = excluded[i];
    kernels::cuda::top_log_softmax(p, c10::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return {best, which};
  }
#endif
  return top_log_softmax_by_torch(logits, count, excluded);
}

}  // namespace heed
