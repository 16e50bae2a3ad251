// Numbers that the CPU computes for a GPU, copied without waiting for it: a copy from pageable memory would.

#pragma once

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>

namespace heed {

/// A tensor on the CPU, to be filled and then given to send() for that device.
inline at::Tensor to_send(at::IntArrayRef shape, at::ScalarType type, const at::Device& device) {
  return at::empty(shape, at::TensorOptions().dtype(type).pinned_memory(device.is_cuda()));
}

/// A tensor of to_send() on the device. The copy is in the order of the device's stream. Inside a CUDA graph it is
/// repeated from the same memory, which may have other contents by then: fill no such tensor while a graph is captured.
inline at::Tensor send(const at::Tensor& x, const at::Device& device) {
  return device.is_cpu() ? x : x.to(device, /*non_blocking=*/true);
}

/// These indices as int64 on the device; undefined if there are none.
inline at::Tensor indices(const std::vector<int64_t>& all, const at::Device& device) {
  if (all.empty()) return {};
  const auto here = to_send({static_cast<int64_t>(all.size())}, at::kLong, device);
  std::copy(all.begin(), all.end(), here.data_ptr<int64_t>());
  return send(here, device);
}

}  // namespace heed
