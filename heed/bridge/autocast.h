// bfloat16 where it does no harm: products of layers, by torch's autocast. Attention and recurrences stay in float, in
// forward and in the backward pass that computes them again.

#pragma once

#include <ATen/ATen.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace heed {

/// Autocast to bfloat16 on this thread while it lives; then what was set before applies again. Not `on`: no effect.
class Autocast {
 public:
  Autocast(at::Device device, bool on);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  at::DeviceType type_;
  bool on_, enabled_before_ = false;
  at::ScalarType dtype_before_ = at::kBFloat16;
};

/// No autocast while it lives. full() comes before it: inside, nothing is known of autocast.
class FullPrecision {
 private:
  c10::impl::ExcludeDispatchKeyGuard guard_{
      c10::DispatchKeySet({c10::DispatchKey::AutocastCPU, c10::DispatchKey::AutocastCUDA})};
};

/// Whether autocast applies on a thread, by device. Taken in forward and applied in backward, which may run inside
/// another autocast scope or on another thread: what backward computes again has the types it had.
class AutocastState {
 public:
  /// Of this thread, now.
  AutocastState();

  /// Applies a state while it lives.
  class Guard {
   public:
    explicit Guard(const AutocastState& state);
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    c10::impl::LocalDispatchKeySet before_;
  };

 private:
  c10::DispatchKeySet excluded_;
};

/// x in float where autocast made it a half type; anything else as it is.
at::Tensor full(const at::Tensor& x);

}  // namespace heed
