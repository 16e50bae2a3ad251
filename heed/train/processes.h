// Several processes that train one model (c10d: gloo, NCCL), each on its share of every batch.
//
//   const auto everyone = Processes::join(rank_from_environment());
//   everyone->broadcast(parameters);                       // begin alike
//   const double tokens = everyone->sum(own_tokens);       // of the global batch
//   (own_loss_sum / tokens).backward();
//   everyone->sum_gradients(parameters);                   // now those of the global batch
//   everyone->wait_for_first("save", [&] { save(); });     // what rank 0 does alone may take longer than the timeout
//   everyone->barrier();                                   // before the end: nobody leaves while another still talks
//
// Two processes equal one only because the loss is a sum over all tokens divided by their global number: the mean of
// two means weighs a token by who happened to get it.
//
// All processes make the same calls in the same order. One process alone needs no group: every call gives back what
// came.

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
  /// Waits for the others. `device` is where the tensors of this process are; with several GPUs that of local_rank.
  /// A call that nobody answers for `timeout` (0: HEED_TIMEOUT in seconds, else 10 minutes) fails, naming the silent.
  static std::shared_ptr<Processes> join(const ProcessRank& process, at::Device device = at::kCPU,
                                         std::chrono::milliseconds timeout = {});
  ~Processes();

  const ProcessRank& process() const { return process_; }
  int rank() const { return process_.rank; }
  int world() const { return process_.world; }
  bool first() const { return process_.rank == 0; }

  /// In place, the same bits everywhere. Tensors travel together, in buckets that depend on their sizes only.
  void sum(const std::vector<at::Tensor>& tensors);
  double sum(double number);
  std::vector<double> sum(std::vector<double> numbers);

  /// Gradients summed over processes. One without a gradient here counts as 0; without one anywhere it keeps none.
  void sum_gradients(const std::vector<at::Tensor>& parameters);

  /// In place: what rank 0 has.
  void broadcast(const std::vector<at::Tensor>& tensors);

  /// True if any process says true: did anyone ask to stop?
  bool any(bool mine);

  /// Rank 0 does the work while the others wait, however long it takes; all get its numbers. `what` completes the
  /// sentence "rank 0 could not ...": what rank 0 throws ends the wait of the others with its message, and so does its
  /// death.
  std::vector<double> from_first(const std::string& what, const std::function<std::vector<double>()>& work);
  void wait_for_first(const std::string& what, const std::function<void()>& work);

  /// The texts of all processes, by rank.
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
  std::unique_ptr<Group> group_;  // none for one process
};

}  // namespace heed
