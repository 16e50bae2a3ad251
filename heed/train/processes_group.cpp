// cmake/torch.cmake sets HEED_GLOO and HEED_NCCL if it finds the headers of the versions that torch was built with.
//
// A group is a ProcessGroup in torch 1.13 and a Backend in 2.x; the methods used here are the same in both.

#include "heed/train/processes_group.h"

#include <cstdlib>
#include <sstream>
#include <thread>

#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/version.h>

#include "heed/base/check.h"
#ifdef HEED_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif
#ifdef HEED_NCCL
#include <torch/csrc/cuda/nccl.h>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

namespace heed {
namespace {

using Timeout = std::chrono::milliseconds;
using Store = c10::intrusive_ptr<c10d::Store>;

Store open_store(const ProcessRank& process, Timeout timeout) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(process.port);
  options.isServer = process.rank == 0;
  options.numWorkers = static_cast<size_t>(process.world);
  options.timeout = timeout;
  return c10::make_intrusive<c10d::TCPStore>(process.master, options);
}

#ifdef HEED_GLOO
/// Closes the connections, so that processes waiting for this one fail too.
void give_up(c10::intrusive_ptr<c10d::ProcessGroupGloo>& backend) {
  backend.reset();
}
void leave(c10::intrusive_ptr<c10d::ProcessGroupGloo>&) {}
#endif
#ifdef HEED_NCCL
void give_up(c10::intrusive_ptr<c10d::ProcessGroupNCCL>& backend) {
  backend->abort();
}
void leave(c10::intrusive_ptr<c10d::ProcessGroupNCCL>& backend) {
  backend->shutdown();
}
#endif

template <class Backend>
class C10dGroup final : public Group {
 public:
  C10dGroup(const ProcessRank& process, Store store, c10::intrusive_ptr<Backend> backend)
      : rank_(process.rank), world_(process.world), store_(std::move(store)), backend_(std::move(backend)) {}
  ~C10dGroup() override {
    if (!failed_) leave(backend_);
  }

  void sum(at::Tensor flat) override {
    std::vector<at::Tensor> tensors{std::move(flat)};
    backend_->allreduce(tensors)->wait();
  }

  void broadcast(at::Tensor flat) override {
    std::vector<at::Tensor> tensors{std::move(flat)};
    backend_->broadcast(tensors)->wait();  // rootRank is 0
  }

  void post(const std::string& key, const std::string& text) override {
    store_->set("heed/posted/" + key, std::vector<uint8_t>(text.begin(), text.end()));
  }
  std::optional<std::string> posted(const std::string& key) override {
    if (!store_->check({"heed/posted/" + key})) return std::nullopt;
    const auto bytes = store_->get("heed/posted/" + key);
    return std::string(bytes.begin(), bytes.end());
  }

  std::vector<int> silent_after_failure() override {
    std::vector<int> others;
    for (int rank = 0; rank < world_; ++rank)
      if (rank != rank_) others.push_back(rank);
    try {
      failed_ = true;
      give_up(backend_);
      store_->set(noticed(rank_), std::vector<uint8_t>{1});
      // Rank 0 hosts the store, so it exits last.
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(rank_ == 0 ? 3000 : 2000);
      while (!others.empty() && std::chrono::steady_clock::now() < until) {
        std::erase_if(others, [&](int rank) { return store_->check({noticed(rank)}); });
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
    } catch (const std::exception&) {
      return {0};  // the store is unreachable, so rank 0 has exited
    }
    if (rank_ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return others;
  }

 private:
  static std::string noticed(int rank) { return "heed/noticed/" + std::to_string(rank); }

  int rank_, world_;
  Store store_;
  c10::intrusive_ptr<Backend> backend_;
  bool failed_ = false;
};

#ifdef HEED_GLOO
/// GLOO_SOCKET_IFNAME=eth0,eth1 names the interfaces, as in PyTorch; default: that of the host name, or loopback.
std::vector<std::shared_ptr<::gloo::transport::Device>> gloo_devices(const ProcessRank& process) {
  std::vector<std::shared_ptr<::gloo::transport::Device>> devices;
  const char* named = std::getenv("GLOO_SOCKET_IFNAME");
  std::istringstream names(named == nullptr ? "" : named);
  for (std::string name; std::getline(names, name, ',');)
    devices.push_back(c10d::ProcessGroupGloo::createDeviceForInterface(name));
  if (!devices.empty()) return devices;
  if (process.master == "localhost" || process.master.rfind("127.", 0) == 0)
    return {c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")};
  return {c10d::ProcessGroupGloo::createDefaultDevice()};
}

std::unique_ptr<Group> open_gloo(const ProcessRank& process, Timeout timeout) {
  auto store = open_store(process, timeout);
  auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  options->devices = gloo_devices(process);
  auto backend = c10::make_intrusive<c10d::ProcessGroupGloo>(store, process.rank, process.world, options);
  return std::make_unique<C10dGroup<c10d::ProcessGroupGloo>>(process, std::move(store), std::move(backend));
}
#endif

#ifdef HEED_NCCL
std::unique_ptr<Group> open_nccl(const ProcessRank& process, at::Device device, Timeout timeout) {
  // ProcessGroupNCCL contains NCCL structs whose layout depends on the NCCL version.
  const uint64_t loaded = torch::cuda::nccl::version();  // major, minor, patch in 32, 16 and 16 bits
  check(loaded >> 32 == NCCL_MAJOR && (loaded >> 16 & 0xFFFF) == NCCL_MINOR, "train/processes: torch brings NCCL ",
        loaded >> 32, ".", loaded >> 16 & 0xFFFF, ", but Heed was built with the header of ", NCCL_MAJOR, ".",
        NCCL_MINOR, "; configure with -DHEED_NCCL_HEADERS=<folder of the nccl.h of this torch>");
  // Makes wait() block and throw on timeout; otherwise a thread of torch would end the process.
  setenv("TORCH_NCCL_BLOCKING_WAIT", "1", /*overwrite=*/0);
  auto store = open_store(process, timeout);
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  auto backend = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, process.rank, process.world, options);
  auto group = std::make_unique<C10dGroup<c10d::ProcessGroupNCCL>>(process, std::move(store), std::move(backend));
  group->sum(at::zeros({1}, device));  // connects, so that a wrong setup fails here
  return group;
}
#endif

}  // namespace

std::string no_group(at::DeviceType device) {
  [[maybe_unused]] const std::string torch = "this Heed was built against PyTorch " TORCH_VERSION;
  if (device == at::kCPU) {
#ifndef HEED_GLOO
    return torch +
           ", and the headers of gloo were not beside it; install libgloo-dev beside the distribution's libtorch-dev "
           "and configure anew, or train on GPUs with a PyTorch 2.x that has CUDA";
#endif
  } else if (device == at::kCUDA) {
#ifndef HEED_NCCL
    return torch +
           " without CUDA or without nccl.h; build against a PyTorch 2.x with CUDA and configure with "
           "-DHEED_NCCL_HEADERS=<folder of its nccl.h>";
#endif
  } else {
    return "there is no process group for this kind of device; use cpu or cuda";
  }
  return "";
}

std::unique_ptr<Group> open_group([[maybe_unused]] const ProcessRank& process, at::Device device,
                                  [[maybe_unused]] Timeout timeout) {
  const std::string reason = no_group(device.type());
  check(reason.empty(), "train/processes: ", reason);
#ifdef HEED_NCCL
  if (device.is_cuda()) return open_nccl(process, device, timeout);
#endif
#ifdef HEED_GLOO
  return open_gloo(process, timeout);
#endif
  fail("train/processes: no process group for ", device.str());
}

}  // namespace heed
