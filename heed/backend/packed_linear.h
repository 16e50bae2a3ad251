// A linear layer with the same weights at every step of a recurrent network, on the CPU: they are packed once for all
// steps (kernels/cpu/train/packed_product.h), for forward and, when it is first needed, for backward.

#pragma once

#include <memory>

#include <torch/types.h>

namespace heed {

class PackedLinear : public torch::CustomClassHolder {
 public:
  /// Whether there is a kernel for these tensors: x [B, in], weight [out, in], added [out], [B, out] or undefined.
  static bool fits(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& added);

  /// The weights must keep their values as long as this object is used.
  explicit PackedLinear(const at::Tensor& weight);
  ~PackedLinear() override;

  /// x W' + added; no graph is recorded.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& added);
  /// dy [B, out] -> dy W [B, in].
  at::Tensor backward(const at::Tensor& dy);

 private:
  struct Matrices;
  at::Tensor weight_;
  std::unique_ptr<Matrices> packed_;
};

}  // namespace heed
