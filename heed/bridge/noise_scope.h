// Random numbers of a step of training that follow from what they are for alone:
//
//   u(seed, step, use; global batch row, place)
//
// so a run that was stopped goes on with the numbers it would have had, without the state of a generator, and two
// processes with half of a batch each draw what one with the whole batch does. While a scope is open in a thread, what
// modules draw there (dropout below; weights, keys and policies of attention) is taken from it, use by use, in the
// order of the calls:
//
//   const NoiseScope noise(seed, step, /*first_row=*/rows_of_ranks_before);
//   model->forward(batch).backward();

#pragma once

#include <cstdint>
#include <memory>

#include <ATen/ATen.h>

namespace heed {

class NoiseScope {
 public:
  NoiseScope(uint64_t seed, uint64_t step, int64_t first_row = 0);
  ~NoiseScope();
  NoiseScope(const NoiseScope&) = delete;
  NoiseScope& operator=(const NoiseScope&) = delete;

  /// The innermost one of this thread, or null.
  static NoiseScope* current();

  /// A scope inside the current one, if there is one, that counts its uses anew and takes a single one of it. For a
  /// loop as long as the longest row: what is drawn after it must not depend on who else is in the batch.
  static std::unique_ptr<NoiseScope> branch();

  uint64_t seed() const { return seed_; }  // of this step; never 0
  uint64_t next_use() { return ++uses_; }  // 1, 2, ...: a stream of kernels/philox.h
  int64_t first_row() const { return first_row_; }

  /// Torch's own generator of a device that we do not draw for: set once in a scope, so that it too follows from the
  /// step.
  void seed_generator(at::Device device);

 private:
  uint64_t seed_, uses_ = 0;
  int64_t first_row_;
  bool generator_is_set_ = false;
  NoiseScope* outer_;
};

/// Inverted dropout of x [B, ...]: 0 with probability rate, else x / (1 - rate). In a scope, on the CPU, by counter:
/// element l, d of a row is dropped or not however many rows and however long the batch is. Else at::dropout.
at::Tensor dropout(const at::Tensor& x, double rate, bool training);

}  // namespace heed
