#include "heed/backend/cross_entropy.h"

#include <ATen/ATen.h>

#ifdef HEED_CUDA
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "heed/base/check.h"
#include "heed/kernels/cuda/cross_entropy.h"
#include "heed/torch_support/own_backward.h"
#endif

namespace heed {
namespace {

at::Tensor by_torch(const at::Tensor& logits, const at::Tensor& wanted, const CrossEntropyOptions& o) {
  return at::cross_entropy_loss(logits, wanted, {}, at::Reduction::Sum, o.ignored, o.smoothing);
}

#ifdef HEED_CUDA
/// Inputs: logits. Output: the sum of the loss.
class FusedCrossEntropy final : public OwnBackward {
 public:
  FusedCrossEntropy(const at::Tensor& wanted, const CrossEntropyOptions& options) : wanted_(wanted), o_(options) {}

  Tensors forward(const Tensors& inputs) override {
    const c10::cuda::CUDAGuard device(inputs[0].device());
    const auto loss = at::empty({inputs[0].size(0)}, inputs[0].options());
    lse_ = at::empty_like(loss);
    kernels::cuda::cross_entropy_forward(problem(inputs[0]), loss.data_ptr<float>(), lse_.data_ptr<float>(),
                                         c10::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return {loss.sum()};
  }

  Tensors backward(const Tensors& inputs, const Tensors& grads, const std::vector<bool>& wanted) override {
    const auto& logits = inputs[0];
    if (!wanted[0] || !grads[0].defined()) return {at::Tensor()};
    check(!consumed_, "cross_entropy: got a second backward, expected one: the logits were given to the first one");
    if (at::GradMode::is_enabled()) return {differentiable_gradient(logits) * grads[0]};
    const c10::cuda::CUDAGuard device(logits.device());
    const auto dx = o_.consume ? logits.detach() : at::empty_like(logits);
    const auto grad = grads[0].contiguous();
    kernels::cuda::cross_entropy_backward(problem(logits), lse_.data_ptr<float>(), grad.data_ptr<float>(),
                                          dx.data_ptr<float>(), c10::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    consumed_ = o_.consume;
    return {dx};
  }

 private:
  kernels::cuda::CrossEntropy problem(const at::Tensor& logits) const {
    return {.rows = logits.size(0),
            .classes = logits.size(1),
            .logits = logits.data_ptr<float>(),
            .wanted = wanted_.data_ptr<int64_t>(),
            .ignored = o_.ignored,
            .smoothing = static_cast<float>(o_.smoothing)};
  }

  at::Tensor differentiable_gradient(const at::Tensor& logits) const {
    const auto real = wanted_.ne(o_.ignored).unsqueeze(1);
    const auto one_hot = at::zeros_like(logits).scatter(1, wanted_.clamp_min(0).unsqueeze(1), 1 - o_.smoothing);
    const auto target = one_hot + o_.smoothing / static_cast<double>(logits.size(1));
    return at::where(real, logits.softmax(1) - target, at::zeros({}, logits.options()));
  }

  at::Tensor wanted_, lse_;
  CrossEntropyOptions o_;
  bool consumed_ = false;
};

bool has_kernel(const at::Tensor& logits, const at::Tensor& wanted) {
  return logits.is_cuda() && logits.scalar_type() == at::kFloat && logits.dim() == 2 && logits.size(1) > 0 &&
         wanted.device() == logits.device() && wanted.scalar_type() == at::kLong && wanted.dim() == 1 &&
         wanted.size(0) == logits.size(0) && wanted.is_contiguous();
}
#endif

}  // namespace

at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& wanted, const CrossEntropyOptions& options) {
#ifdef HEED_CUDA
  if (has_kernel(logits, wanted))
    return run(c10::make_intrusive<FusedCrossEntropy>(wanted, options), {logits.contiguous()}).front();
#endif
  return by_torch(logits, wanted, options);
}

}  // namespace heed
