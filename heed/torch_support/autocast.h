// bfloat16 for the matrix products of layers, by torch's autocast. Attention and recurrences stay in float, in forward
// and where backward recomputes them.

#pragma once

#include <ATen/ATen.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace heed {

/// Scope guard: autocast to bfloat16 on this thread; the destructor restores the previous state. on = false: no effect.
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

/// Scope guard: no autocast on this thread. Convert tensors with full() before it: inside, full() does not see
/// autocast.
class FullPrecision {
 private:
  c10::impl::ExcludeDispatchKeyGuard guard_{
      c10::DispatchKeySet({c10::DispatchKey::AutocastCPU, c10::DispatchKey::AutocastCUDA})};
};

/// The autocast state of a thread. Recorded in forward and applied in backward, which may run inside another autocast
/// scope or on another thread, so that recomputation has the same types.
class AutocastState {
 public:
  /// Records the state of this thread.
  AutocastState();

  /// Scope guard: applies a state.
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

/// Whether autocast is on for tensors of this device on this thread.
bool autocasts(at::Device device);

/// x converted to float if it has a half type and autocast is on; otherwise unchanged.
at::Tensor full(const at::Tensor& x);

}  // namespace heed
