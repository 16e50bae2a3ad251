#include "heed/backend/packed_linear.h"

#include <ATen/ATen.h>

#include "heed/kernels/cpu/train/packed_product.h"
#include "heed/torch_support/autocast.h"
#include "heed/torch_support/parallel.h"

namespace heed {
namespace {

constexpr int64_t kFewRows = 8;  // fewer are a product with vectors, whose time is that of reading the matrix

bool plain(const at::Tensor& x) {
  return x.device().is_cpu() && x.scalar_type() == at::kFloat;
}

at::Tensor product(const kernels::cpu::PackedMatrix& matrix, const at::Tensor& x, const at::Tensor& added) {
  const auto rows = x.contiguous();
  const bool by_row = added.defined() && added.dim() == 2;
  auto y = by_row ? added.contiguous().clone() : at::empty({x.size(0), matrix.width()}, x.options());
  const auto start = added.defined() && !by_row ? added.contiguous() : at::Tensor();
  matrix.multiply({.rows = x.size(0),
                   .depth = matrix.depth(),
                   .width = matrix.width(),
                   .a = rows.data_ptr<float>(),
                   .lda = x.size(1),
                   .c = y.data_ptr<float>(),
                   .ldc = matrix.width(),
                   .start = start.defined() ? start.data_ptr<float>() : nullptr,
                   .add = by_row},
                  on_torch_threads);
  return y;
}

}  // namespace

struct PackedLinear::Matrices {
  kernels::cpu::PackedMatrix forward, backward;
};

bool PackedLinear::fits(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& added) {
  return x.dim() == 2 && x.size(0) >= kFewRows && weight.dim() == 2 && weight.size(1) == x.size(1) && plain(x) &&
         plain(weight) && weight.numel() > 0 && (!added.defined() || plain(added)) && !autocasts(x.device());
}

PackedLinear::PackedLinear(const at::Tensor& weight)
    : weight_(weight.detach().contiguous()), packed_(std::make_unique<Matrices>()) {}

PackedLinear::~PackedLinear() = default;

at::Tensor PackedLinear::forward(const at::Tensor& x, const at::Tensor& added) {
  const int64_t out = weight_.size(0), in = weight_.size(1);
  auto& matrix = packed_->forward;
  if (matrix.empty())
    matrix = {{.at = weight_.data_ptr<float>(), .row = 1, .column = in, .depth = in, .width = out}, on_torch_threads};
  return product(matrix, x, added);
}

at::Tensor PackedLinear::backward(const at::Tensor& dy) {
  const int64_t out = weight_.size(0), in = weight_.size(1);
  auto& matrix = packed_->backward;
  if (matrix.empty())
    matrix = {{.at = weight_.data_ptr<float>(), .row = in, .column = 1, .depth = out, .width = in}, on_torch_threads};
  return product(matrix, dy, {});
}

}  // namespace heed
