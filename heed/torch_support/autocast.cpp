#include "heed/torch_support/autocast.h"

#include <ATen/autocast_mode.h>

#include "heed/torch_support/torch_version.h"

namespace heed {
namespace {

#if TORCH_VERSION_MAJOR >= 2
void set_autocast(at::DeviceType type, bool on, at::ScalarType dtype) {
  at::autocast::set_autocast_dtype(type, dtype);
  at::autocast::set_autocast_enabled(type, on);
}
at::ScalarType dtype_of(at::DeviceType type) {
  return at::autocast::get_autocast_dtype(type);
}
bool is_on(at::DeviceType type) {
  return at::autocast::is_autocast_enabled(type);
}
#else
void set_autocast(at::DeviceType type, bool on, at::ScalarType dtype) {
  if (type == at::kCPU) {
    at::autocast::set_autocast_cpu_dtype(dtype);
    at::autocast::set_cpu_enabled(on);
  } else {
    at::autocast::set_autocast_gpu_dtype(dtype);
    at::autocast::set_enabled(on);
  }
}
at::ScalarType dtype_of(at::DeviceType type) {
  return type == at::kCPU ? at::autocast::get_autocast_cpu_dtype() : at::autocast::get_autocast_gpu_dtype();
}
bool is_on(at::DeviceType type) {
  return type == at::kCPU ? at::autocast::is_cpu_enabled() : at::autocast::is_enabled();
}
#endif

constexpr c10::DispatchKeySet kAutocastKeys({c10::DispatchKey::AutocastCPU, c10::DispatchKey::AutocastCUDA});

}  // namespace

Autocast::Autocast(at::Device device, bool on) : type_(device.type()), on_(on) {
  if (!on_) return;
  enabled_before_ = is_on(type_);
  dtype_before_ = dtype_of(type_);
  set_autocast(type_, true, at::kBFloat16);
}

Autocast::~Autocast() {
  if (!on_) return;
  at::autocast::clear_cache();  // cached bfloat16 weights: they change in the next step
  set_autocast(type_, enabled_before_, dtype_before_);
}

AutocastState::AutocastState() : excluded_(c10::impl::tls_local_dispatch_key_set().excluded_ & kAutocastKeys) {}

AutocastState::Guard::Guard(const AutocastState& state) : before_(c10::impl::tls_local_dispatch_key_set()) {
  auto now = before_;
  now.excluded_ = (now.excluded_ - kAutocastKeys) | state.excluded_;
  c10::impl::_force_tls_local_dispatch_key_set(now);
}

AutocastState::Guard::~Guard() {
  c10::impl::_force_tls_local_dispatch_key_set(before_);
}

bool autocasts(at::Device device) {
  return is_on(device.type());
}

at::Tensor full(const at::Tensor& x) {
  const bool half = x.defined() && (x.scalar_type() == at::kBFloat16 || x.scalar_type() == at::kHalf);
  return half && is_on(x.device().type()) ? x.to(at::kFloat) : x;
}

}  // namespace heed
