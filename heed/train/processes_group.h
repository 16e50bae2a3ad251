// Wraps c10d, torch's process groups, and the differences between its versions: gloo for CPU tensors, NCCL for GPU
// tensors.

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "heed/train/process_rank.h"

namespace heed {

/// Every process makes the same calls in the same order, with contiguous tensors of the same sizes on the group's
/// device. A call returns when it is complete on this process; exceptions of torch propagate.
class Group {
 public:
  virtual ~Group() = default;
  virtual void sum(at::Tensor flat) = 0;        // in place; bitwise equal on all processes
  virtual void broadcast(at::Tensor flat) = 0;  // in place, from rank 0
  /// post() publishes a text under a key that is used once; posted() returns it, or nullopt. Neither waits for other
  /// processes; both throw if rank 0, which stores the texts, has exited.
  virtual void post(const std::string& key, const std::string& text) = 0;
  virtual std::optional<std::string> posted(const std::string& key) = 0;
  /// The last call, after a failed one: returns the ranks that do not report the failure within seconds.
  virtual std::vector<int> silent_after_failure() = 0;
};

/// Why this build has no process group for this device type, and the cure; "" if it has one.
std::string no_group(at::DeviceType device);

/// Waits until all processes have joined. `timeout` applies to joining and to each later call.
std::unique_ptr<Group> open_group(const ProcessRank& process, at::Device device, std::chrono::milliseconds timeout);

}  // namespace heed
