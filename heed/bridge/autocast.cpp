#include "heed/bridge/autocast.h"

#include <ATen/autocast_mode.h>

#include "heed/bridge/torch_version.h"

namespace heed {
namespace {

#if TORCH_VERSION_MAJOR >= 2
void set_autocast(at::DeviceType type, bool on) {
  at::autocast::set_autocast_dtype(type, at::kBFloat16);
  at::autocast::set_autocast_enabled(type, on);
}
bool is_on(at::DeviceType type) {
  return at::autocast::is_autocast_enabled(type);
}
#else
void set_autocast(at::DeviceType type, bool on) {
  if (type == at::kCPU) {
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::set_cpu_enabled(on);
  } else {
    at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
    at::autocast::set_enabled(on);
  }
}
bool is_on(at::DeviceType type) {
  return type == at::kCPU ? at::autocast::is_cpu_enabled() : at::autocast::is_enabled();
}
#endif

}  // namespace

Autocast::Autocast(at::Device device, bool on) : type_(device.type()), on_(on) {
  if (on_) set_autocast(type_, true);
}

Autocast::~Autocast() {
  if (!on_) return;
  at::autocast::clear_cache();  // of weights in bfloat16: the next step has others
  set_autocast(type_, false);
}

at::Tensor full(const at::Tensor& x) {
  const bool half = x.defined() && (x.scalar_type() == at::kBFloat16 || x.scalar_type() == at::kHalf);
  return half && is_on(x.device().type()) ? x.to(at::kFloat) : x;
}

}  // namespace heed
