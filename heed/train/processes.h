// Several processes that train one model (c10d: gloo, NCCL), each on its share of every batch.
//
//   const auto everyone = Processes::join(rank_from_environment());
//   everyone->broadcast(parameters);                       // same start
//   const double tokens = everyone->sum(own_tokens);       // tokens of the global batch
//   (own_loss_sum / tokens).backward();
//   everyone->sum_gradients(parameters);                   // now the gradients of the global batch
//   everyone->wait_for_first("save", [&] { save(); });     // work of rank 0 alone; may exceed the timeout
//   everyone->barrier();                                   // before the end: no process exits during a call
//
// Two processes compute the same as one only because the loss is the sum over all tokens divided by their global
// number: a mean of per-process means would weight tokens by the share they are in.
//
// All processes make the same calls in the same order. A single process needs no group: every call returns its input.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "heed/train/process_rank.h"

namespace heed {

class Group;

class Processes {
 public:
  /// Waits for the other processes. `device`: device of the tensors of this process; with several GPUs, the one of
  /// local_rank. A call that is not completed within `timeout` (0: HEED_TIMEOUT in seconds, default 10 minutes) throws
  /// an Error that names the ranks that do not respond.
  static std::shared_ptr<Processes> join(const ProcessRank& process, at::Device device = at::kCPU,
                                         std::chrono::milliseconds timeout = {});
  ~Processes();

  const ProcessRank& process() const { return process_; }
  int rank() const { return process_.rank; }
  int world() const { return process_.world; }
  bool first() const { return process_.rank == 0; }

  /// Sums over processes in place; the result is bitwise equal on all. Tensors are sent in buckets that depend only on
  /// their sizes and dtypes.
  void sum(const std::vector<at::Tensor>& tensors);
  double sum(double number);
  std::vector<double> sum(std::vector<double> numbers);

  /// Sums gradients over processes. A parameter without a gradient counts as 0; it stays undefined if it is undefined
  /// in every process.
  void sum_gradients(const std::vector<at::Tensor>& parameters);

  /// Overwrites the tensors with those of rank 0.
  void broadcast(const std::vector<at::Tensor>& tensors);

  /// Logical or over processes, for example of stop requests.
  bool any(bool mine);

  /// Rank 0 runs `work` while the others wait without timeout; all return its numbers. If rank 0 throws or dies, the
  /// others throw an Error with its message. `what` completes the sentence "rank 0 could not ...".
  std::vector<double> from_first(const std::string& what, const std::function<std::vector<double>()>& work);
  void wait_for_first(const std::string& what, const std::function<void()>& work);

  /// The texts of all processes, in order of rank.
  std::vector<std::string> gather(const std::string& mine);

  void barrier();

 private:
  using Call = std::function<void(Group&, at::Tensor flat)>;

  Processes(const ProcessRank& process, at::Device device, std::chrono::milliseconds timeout);
  void together(const char* what, const std::vector<at::Tensor>& tensors, const Call& call);
  void checked(const std::string& what, const std::function<void()>& call);
  void refuse_after_failure(const std::string& what) const;
  std::string received_from_first(const std::string& key, const std::string& what);

  ProcessRank process_;
  at::Device device_;
  int64_t calls_ = 0, waits_ = 0;
  bool failed_ = false;
  std::unique_ptr<Group> group_;  // null for a single process
};

}  // namespace heed
