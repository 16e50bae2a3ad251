#include "heed/backend/dropout.h"

#include <ATen/ATen.h>

#include "heed/base/check.h"
#include "heed/kernels/cpu/train/dropout.h"
#include "heed/torch_support/draws.h"
#include "heed/torch_support/noise_scope.h"
#include "heed/torch_support/own_backward.h"
#include "heed/torch_support/parallel.h"

namespace heed {
namespace {

/// One use of a scope: a linear function of x, which is also its gradient.
class ScopedDropout final : public OwnBackward {
 public:
  ScopedDropout(const Draws& draws, double rate) : draws_(draws), rate_(rate) {}

  Tensors forward(const Tensors& inputs) override { return {applied(inputs[0])}; }

  Tensors backward(const Tensors&, const Tensors& grads, const std::vector<bool>& wanted) override {
    if (!wanted[0] || !grads[0].defined()) return {at::Tensor()};
    if (at::GradMode::is_enabled()) return run(c10::make_intrusive<ScopedDropout>(draws_, rate_), {grads[0]});
    return {applied(grads[0])};
  }

 private:
  at::Tensor applied(const at::Tensor& x) const {
    const int64_t rows = x.dim() == 0 ? 1 : x.size(0), positions = x.dim() < 3 ? 1 : x.size(1);
    const int64_t width = rows * positions == 0 ? 0 : x.numel() / (rows * positions);
    if (x.scalar_type() != at::kFloat)
      return x * draws_.kept({rows, 1, positions, width}, rate_, x.options()).view(x.sizes());
    const auto from = x.contiguous();
    auto y = at::empty_like(from);
    kernels::cpu::dropout({.rows = rows,
                           .positions = positions,
                           .width = width,
                           .x = from.data_ptr<float>(),
                           .y = y.data_ptr<float>(),
                           .rate = static_cast<float>(rate_),
                           .seed = draws_.seed,
                           .stream = draws_.stream,
                           .first_row = draws_.first_row},
                          on_torch_threads);
    return y;
  }

  Draws draws_;
  double rate_;
};

}  // namespace

at::Tensor dropout(const at::Tensor& x, double rate, bool training) {
  NoiseScope* scope = NoiseScope::current();
  if (!training || rate == 0 || scope == nullptr) return at::dropout(x, rate, training);
  check(rate > 0 && rate < 1, "dropout: the rate is ", rate, ", expected 0 <= rate < 1");
  if (!x.device().is_cpu()) {
    scope->seed_generator(x.device());
    return at::dropout(x, rate, training);
  }
  const Draws draws{scope->seed(), scope->next_use(), scope->first_row()};
  return run(c10::make_intrusive<ScopedDropout>(draws, rate), {x}).front();
}

}  // namespace heed
