// bfloat16 where it does no harm: products of layers, by torch's autocast. Attention and recurrences stay in float, in
// forward and in the backward pass that computes them again.

#pragma once

#include <ATen/ATen.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace heed {

/// Autocast to bfloat16 on this thread while it lives.
class Autocast {
 public:
  Autocast(at::Device device, bool on);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  at::DeviceType type_;
  bool on_;
};

/// No autocast while it lives. full() comes before it: inside, nothing is known of autocast.
class FullPrecision {
 private:
  c10::impl::ExcludeDispatchKeyGuard guard_{
      c10::DispatchKeySet({c10::DispatchKey::AutocastCPU, c10::DispatchKey::AutocastCUDA})};
};

/// x in float where autocast made it a half type; anything else as it is.
at::Tensor full(const at::Tensor& x);

}  // namespace heed
