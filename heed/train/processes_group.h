// The one place that knows c10d, torch's process groups, and how its versions differ: gloo for tensors on the CPU, NCCL
// for those on GPUs.

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
/// device. A call returns when it is done here, and throws what torch throws.
class Group {
 public:
  virtual ~Group() = default;
  virtual void sum(at::Tensor flat) = 0;        // in place; the same bits everywhere
  virtual void broadcast(at::Tensor flat) = 0;  // in place, from rank 0
  /// A text under a key that is used once, for all to read. None of both waits for other processes; both throw where
  /// rank 0, which holds the texts, is gone.
  virtual void post(const std::string& key, const std::string& text) = 0;
  virtual std::optional<std::string> posted(const std::string& key) = 0;
  /// After a call has failed, and as the last one: the ranks that do not say so too within seconds.
  virtual std::vector<int> silent_after_failure() = 0;
};

/// Why this build cannot join processes for tensors on such a device, and the cure; "" if it can.
std::string no_group(at::DeviceType device);

/// Waits until all processes are there. `timeout` is for that, and for each call after it.
std::unique_ptr<Group> open_group(const ProcessRank& process, at::Device device, std::chrono::milliseconds timeout);

}  // namespace heed
