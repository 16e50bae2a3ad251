#include "heed/backend/linear.h"

#include <ATen/ATen.h>

#include "heed/torch_support/torch_version.h"

#ifdef HEED_CUDA
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "heed/kernels/cuda/linear.h"
#include "heed/torch_support/autocast.h"
#include "heed/torch_support/own_backward.h"
#endif

namespace heed {

#ifdef HEED_CUDA

namespace {

namespace cuda = kernels::cuda;

/// The layer of dense tensors.
cuda::Linear layer_of(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return {.rows = x.numel() / x.size(-1),
          .in = x.size(-1),
          .out = weight.size(0),
          .x = x.const_data_ptr<float>(),
          .weight = weight.const_data_ptr<float>(),
          .bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr};
}

bool has_kernel(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  const auto fits = [&](const at::Tensor& some) {
    return some.is_cuda() && some.scalar_type() == at::kFloat && some.device() == x.device();
  };
  if (x.dim() == 0 || weight.dim() != 2 || !fits(x) || !fits(weight) || x.size(-1) != weight.size(1)) return false;
  if (bias.defined() && (bias.dim() != 1 || bias.size(0) != weight.size(0) || !fits(bias))) return false;
  if (x.numel() == 0 || weight.numel() == 0 || autocasts(x.device())) return false;
  return cuda::is_small({.rows = x.numel() / x.size(-1), .in = x.size(-1), .out = weight.size(0)});
}

at::Tensor forward_of(const at::Tensor& given, const at::Tensor& given_weight, const at::Tensor& given_bias) {
  const auto x = given.contiguous(), weight = given_weight.contiguous();
  const auto bias = given_bias.defined() ? given_bias.contiguous() : given_bias;
  const c10::cuda::CUDAGuard device(x.device());
  auto shape = x.sizes().vec();
  shape.back() = weight.size(0);
  const auto y = at::empty(shape, x.options());
  cuda::forward(layer_of(x, weight, bias), y.data_ptr<float>(), c10::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}

class LinearNode final : public OwnBackward {
 public:
  Tensors forward(const Tensors& in) override { return {forward_of(in[kX], in[kWeight], in[kBias])}; }

  Tensors backward(const Tensors& in, const Tensors& grads, const std::vector<bool>& wanted) override {
    Tensors found(3);
    if (!grads[0].defined()) return found;
    if (at::GradMode::is_enabled()) return by_torch(in, grads[0], wanted);
    const auto dy = grads[0].contiguous(), x = in[kX].contiguous(), weight = in[kWeight].contiguous();
    const c10::cuda::CUDAGuard device(x.device());
    cuda::LinearGradients g{.y = dy.const_data_ptr<float>()};
    const auto make = [&](Input which, const at::Tensor& like) {
      if (!wanted[which]) return static_cast<float*>(nullptr);
      found[which] = at::empty(like.sizes(), like.options());
      return found[which].data_ptr<float>();
    };
    g.x = make(kX, x);
    g.weight = make(kWeight, weight);
    if (in[kBias].defined()) g.bias = make(kBias, in[kBias]);
    cuda::backward(layer_of(x, weight, {}), g, c10::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return found;
  }

 private:
  enum Input : size_t { kX, kWeight, kBias };

  /// By operations that can be differentiated again.
  static Tensors by_torch(const Tensors& in, const at::Tensor& grad, const std::vector<bool>& wanted) {
    Tensors found(3);
    const auto rows = [](const at::Tensor& some) { return some.reshape({-1, some.size(-1)}); };
    const auto dy = rows(grad), x = rows(in[kX]);
    if (wanted[kX]) found[kX] = at::matmul(dy, in[kWeight]).view(in[kX].sizes());
    if (wanted[kWeight]) found[kWeight] = at::matmul(dy.t(), x);
    if (wanted[kBias]) found[kBias] = dy.sum(0);
    return found;
  }
};

}  // namespace

#endif

at::Tensor linear_layer(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
#ifdef HEED_CUDA
  if (has_kernel(x, weight, bias)) {
    const Tensors in{x, weight, bias};
    if (!learns(in)) return forward_of(x, weight, bias);
    return run(c10::make_intrusive<LinearNode>(), in)[0];
  }
#endif
  return at::linear(x, weight, optional(bias));
}

}  // namespace heed
