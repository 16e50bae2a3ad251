#include "heed/backend/reference.h"

#include "heed/torch_support/parallel.h"

namespace heed {
namespace {

using kernels::reference::Array;

template <typename Number>
Array<Number> copied(const at::Tensor& tensor, at::ScalarType type) {
  if (!tensor.defined()) return {};
  const auto here = tensor.detach().to(at::kCPU, type).contiguous();
  const auto* first = static_cast<const Number*>(here.data_ptr());
  return {here.sizes().vec(), std::vector<Number>(first, first + here.numel())};
}

}  // namespace

Array<double> doubles(const at::Tensor& tensor) {
  return copied<double>(tensor, at::kDouble);
}
Array<int64_t> integers(const at::Tensor& tensor) {
  return copied<int64_t>(tensor, at::kLong);
}
Array<uint8_t> flags(const at::Tensor& tensor) {
  return copied<uint8_t>(tensor, at::kByte);
}

at::Tensor to_tensor(const Array<double>& array, const at::TensorOptions& options) {
  if (array.empty()) return {};
  return at::tensor(array.data, at::kDouble).view(array.shape).to(options);
}

kernels::reference::Answer<double> define(const kernels::reference::Problem<double>& problem) {
  return kernels::reference::attend<double>(problem, on_torch_threads);
}

}  // namespace heed
