#include "heed/backend/gru.h"

#include <ATen/ATen.h>

#include "heed/kernels/cpu/train/gru.h"
#include "heed/torch_support/parallel.h"

namespace heed {
namespace {

template <typename Real>
std::pair<at::Tensor, at::Tensor> forward_of(const at::Tensor& given, const at::Tensor& own, const at::Tensor& before) {
  auto after = at::empty_like(before), gates = at::empty_like(own);
  kernels::cpu::gru_forward<Real>({.rows = before.size(0),
                                   .width = before.size(1),
                                   .given = given.data_ptr<Real>(),
                                   .own = own.data_ptr<Real>(),
                                   .before = before.data_ptr<Real>(),
                                   .gates = gates.data_ptr<Real>(),
                                   .after = after.data_ptr<Real>()},
                                  on_torch_threads);
  return {after, gates};
}

template <typename Real>
std::array<at::Tensor, 3> backward_of(const at::Tensor& gates, const at::Tensor& own, const at::Tensor& before,
                                      const at::Tensor& grad) {
  std::array<at::Tensor, 3> found{at::empty_like(own), at::empty_like(own), at::empty_like(before)};
  kernels::cpu::gru_backward<Real>({.rows = before.size(0),
                                    .width = before.size(1),
                                    .gates = gates.data_ptr<Real>(),
                                    .own = own.data_ptr<Real>(),
                                    .before = before.data_ptr<Real>(),
                                    .grad = grad.data_ptr<Real>(),
                                    .to_given = found[0].data_ptr<Real>(),
                                    .to_own = found[1].data_ptr<Real>(),
                                    .to_before = found[2].data_ptr<Real>()},
                                   on_torch_threads);
  return found;
}

}  // namespace

bool has_gru_kernel(const at::Tensor& x) {
  return x.device().is_cpu() && (x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble);
}

std::pair<at::Tensor, at::Tensor> gru_forward(const at::Tensor& given, const at::Tensor& own,
                                              const at::Tensor& before) {
  const auto g = given.contiguous(), o = own.contiguous(), b = before.contiguous();
  return o.scalar_type() == at::kFloat ? forward_of<float>(g, o, b) : forward_of<double>(g, o, b);
}

std::array<at::Tensor, 3> gru_backward(const at::Tensor& gates, const at::Tensor& own, const at::Tensor& before,
                                       const at::Tensor& grad) {
  const auto o = own.contiguous(), b = before.contiguous(), g = grad.contiguous();
  return o.scalar_type() == at::kFloat ? backward_of<float>(gates, o, b, g) : backward_of<double>(gates, o, b, g);
}

}  // namespace heed
