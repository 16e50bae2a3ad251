#include "heed/torch_support/captured.h"

#include "heed/torch_support/noise_scope.h"

#ifdef HEED_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace heed {

#ifdef HEED_CUDA

struct CaptureStream::Guard {
  explicit Guard(at::Device device)
      : stream(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index())), guard(stream) {}
  c10::cuda::CUDAStream stream;
  c10::cuda::CUDAStreamGuard guard;
};

CaptureStream::CaptureStream(at::Device device) {
  if (!device.is_cuda()) return;
  c10::cuda::device_synchronize();
  guard_ = std::make_unique<Guard>(device);
}

CaptureStream::~CaptureStream() {
  if (!guard_) return;
  const auto status = cudaStreamSynchronize(guard_->stream.stream());  // other streams may read its results
  if (status != cudaSuccess) TORCH_WARN("captured: ", cudaGetErrorString(status));
}

struct CapturePool::Id {
  at::cuda::MempoolId_t id = at::cuda::graph_pool_handle();
};
CapturePool::CapturePool() : id_(std::make_unique<Id>()) {}

struct Captured::Graph {
  at::cuda::MempoolId_t pool;
  at::cuda::CUDAGraph graph;
};

bool Captured::available(at::Device device) {
  return device.is_cuda() && at::hasCUDA();
}

bool Captured::has_free_memory(double share) {
  size_t unused = 0, total = 0;
  return cudaMemGetInfo(&unused, &total) == cudaSuccess &&
         static_cast<double>(unused) >= share * static_cast<double>(total);
}

Captured::Captured(const CapturePool& pool) : graph_(new Graph{pool.id_->id, {}}) {}

std::string Captured::record(const std::function<void()>& work) {
  const HeldGenerators held;
  std::string failed;
  try {
    graph_->graph.capture_begin(graph_->pool);
  } catch (const std::exception& error) {
    return error.what();
  }
  try {
    work();
  } catch (const std::exception& error) {
    failed = error.what();
  }
  try {
    graph_->graph.capture_end();
  } catch (const std::exception& error) {
    if (failed.empty()) failed = error.what();
  }
  return failed;
}

void Captured::replay() {
  graph_->graph.replay();
}

#else

struct CaptureStream::Guard {};
CaptureStream::CaptureStream(at::Device) {}
CaptureStream::~CaptureStream() = default;
struct CapturePool::Id {};
CapturePool::CapturePool() = default;
struct Captured::Graph {};
bool Captured::available(at::Device) {
  return false;
}
bool Captured::has_free_memory(double) {
  return false;
}
Captured::Captured(const CapturePool&) {}
std::string Captured::record(const std::function<void()>&) {
  return "this build has no CUDA";
}
void Captured::replay() {}

#endif

CapturePool::~CapturePool() = default;
Captured::~Captured() = default;

}  // namespace heed
