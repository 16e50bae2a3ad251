#include "heed/backend/beams.h"

#include <ATen/ATen.h>

#ifdef HEED_CUDA
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "heed/kernels/cuda/beams.h"
#endif

namespace heed {

bool has_choose_kernel(const at::Tensor& x, int64_t candidates) {
#ifdef HEED_CUDA
  return x.is_cuda() && x.scalar_type() == at::kFloat && candidates <= kernels::cuda::kMaxCandidates;
#else
  (void)x, (void)candidates;
  return false;
#endif
}

void choose_beams(const BeamChoice& c) {
#ifdef HEED_CUDA
  const c10::cuda::CUDAGuard device(c.before.device());
  const auto before = c.before.contiguous(), best = c.best.contiguous(), which = c.which.contiguous();
  kernels::cuda::choose_beams({.sentences = before.size(0),
                               .beams = static_cast<int>(before.size(1)),
                               .each = static_cast<int>(best.size(1)),
                               .count = static_cast<int>(c.token.size(1)),
                               .next = static_cast<int>(c.after.size(1)),
                               .end = c.end,
                               .before = before.data_ptr<double>(),
                               .best = best.data_ptr<float>(),
                               .which = which.data_ptr<int64_t>(),
                               .log_probability = c.log_probability.data_ptr<double>(),
                               .beam = c.beam.data_ptr<int64_t>(),
                               .token = c.token.data_ptr<int64_t>(),
                               .after = c.after.data_ptr<double>(),
                               .last_token = c.last_token.data_ptr<int64_t>(),
                               .row = c.row.defined() ? c.row.data_ptr<int64_t>() : nullptr},
                              c10::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
#else
  TORCH_CHECK(false, "beams: there is no kernel for ", c.before.device());
#endif
}

namespace {

#ifdef HEED_CUDA
/// The kernel's form, without caches; false: it has none for them.
bool moves(const std::vector<at::Tensor>& caches, const at::Tensor& rows, int64_t beams, const at::Tensor& length,
           kernels::cuda::MoveRows& p) {
  if (beams < 1 || beams > kernels::cuda::kMaxBeams || caches.empty() || !rows.is_contiguous() ||
      caches.size() > kernels::cuda::kMaxCaches || rows.size(0) % beams != 0)
    return false;
  const auto& first = caches[0];
  for (const auto& x : caches)
    if (!x.is_cuda() || x.scalar_type() != at::kFloat || !x.is_contiguous() || x.sizes() != first.sizes() ||
        reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 != 0)
      return false;
  if (first.dim() != 4 || first.size(0) != rows.size(0) || first.size(3) % 4 != 0) return false;
  p.beams = static_cast<int>(beams);
  p.groups = rows.size(0) / beams;
  p.heads = first.size(1);
  p.capacity = first.size(2);
  p.width = first.size(3);
  p.rows = rows.data_ptr<int64_t>();
  p.length = length.data_ptr<int64_t>();
  for (const auto& x : caches) p.cache[p.caches++] = x.data_ptr<float>();
  return true;
}
#endif

}  // namespace

void move_rows(const std::vector<at::Tensor>& caches, const at::Tensor& rows, int64_t beams, const at::Tensor& length) {
#ifdef HEED_CUDA
  if (kernels::cuda::MoveRows p; moves(caches, rows, beams, length, p)) {
    const c10::cuda::CUDAGuard device(rows.device());
    kernels::cuda::move_rows(p, c10::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return;
  }
#endif
  (void)beams, (void)length;
  for (const auto& x : caches) x.copy_(x.index_select(0, rows));
}

}  // namespace heed
