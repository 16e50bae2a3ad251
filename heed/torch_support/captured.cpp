#include "heed/torch_support/captured.h"

#include "heed/torch_support/noise_scope.h"

#ifdef HEED_CUDA
#include <map>

#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace heed {

#ifdef HEED_CUDA

namespace {

/// The same stream for all work of a thread on a device: torch's allocator keeps memory for the stream that used it,
/// and work on another stream would take new memory from the device.
c10::cuda::CUDAStream stream_of_thread(at::Device device) {
  thread_local std::map<c10::DeviceIndex, c10::cuda::CUDAStream> known;
  const auto index = device.has_index() ? device.index() : c10::cuda::current_device();
  const auto found = known.find(index);
  if (found != known.end()) return found->second;
  return known.emplace(index, c10::cuda::getStreamFromPool(/*isHighPriority=*/false, index)).first->second;
}

}  // namespace

struct CaptureStream::Guard {
  explicit Guard(at::Device device) : stream(stream_of_thread(device)), guard(stream) {}
  c10::cuda::CUDAStream stream;
  c10::cuda::CUDAStreamGuard guard;
};

CaptureStream::CaptureStream(at::Device device) {
  if (!device.is_cuda()) return;
  const auto before = c10::cuda::getCurrentCUDAStream(device.index());
  guard_ = std::make_unique<Guard>(device);  // also makes the device the current one
  at::cuda::CUDAEvent earlier;
  earlier.record(before);
  earlier.block(guard_->stream);
}

CaptureStream::~CaptureStream() {
  if (!guard_) return;
  const auto status = cudaStreamSynchronize(guard_->stream.stream());  // other streams may read its results
  if (status != cudaSuccess) TORCH_WARN("captured: ", cudaGetErrorString(status));
}

/// Torch gives up a pool with the last graph in it, and refuses its name from then on.
struct CapturePool::Id {
  at::cuda::MempoolId_t id{};
  int graphs = 0;  // recorded in the pool, and still there
};
CapturePool::CapturePool() : id_(std::make_shared<Id>()) {}

struct Captured::Graph {
  std::shared_ptr<CapturePool::Id> pool;
  at::cuda::CUDAGraph graph{};
  bool counted = false;

  void enter_pool() {
    if (pool->graphs == 0) pool->id = at::cuda::graph_pool_handle();
    ++pool->graphs;
    counted = true;
  }
  ~Graph() { pool->graphs -= counted ? 1 : 0; }
};

bool Captured::available(at::Device device) {
  return device.is_cuda() && at::hasCUDA();
}

bool Captured::has_free_memory(double share) {
  size_t unused = 0, total = 0;
  return cudaMemGetInfo(&unused, &total) == cudaSuccess &&
         static_cast<double>(unused) >= share * static_cast<double>(total);
}

Captured::Captured(const CapturePool& pool) : graph_(std::make_unique<Graph>(pool.id_)) {}

std::string Captured::record(const std::function<void()>& work) {
  const HeldGenerators held;
  std::string failed;
  try {
    graph_->enter_pool();
    graph_->graph.capture_begin(graph_->pool->id, cudaStreamCaptureModeThreadLocal);  // other threads may go on
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
