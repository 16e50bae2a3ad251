// Random numbers of a training step as a function of their indices alone:
//
//   u(seed, step, use; element of the global batch, position)
//
// so a resumed run continues with the same numbers without the state of a generator, and two processes with half of a
// batch each draw the same numbers as one with the whole batch. While a scope is open in a thread, modules take their
// random numbers from it (heed/backend/dropout.h; dropout, sampled keys and policies of attention). Each call is one
// use, numbered in the order of the calls:
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

  /// The innermost scope of this thread, or null.
  static NoiseScope* current();

  /// A nested scope that takes one use of the current scope and numbers its own uses from 1; null outside a scope. For
  /// a loop over the longest sequence of a batch: numbers drawn after it must not depend on the other batch elements.
  static std::unique_ptr<NoiseScope> branch();

  uint64_t seed() const { return seed_; }  // derived from seed and step; never 0
  uint64_t next_use() { return ++uses_; }  // 1, 2, ...: the stream of base/philox.h
  int64_t first_row() const { return first_row_; }

  /// Seeds torch's generator of a device (a GPU) from the step, once per scope; not while it is held (HeldGenerators).
  void seed_generator(at::Device device);

  // A captured step repeats every number that was given to a kernel, so a seed must not be one of them. Kernels read it
  // from a cell instead, int64 [1] on the GPU, which is filled before each step.

  /// Copies this scope's seed into the cell, without waiting, and makes it the cell of seeds.
  void fill(const at::Tensor& cell) const;
  /// No cell any more; its owner calls it.
  static void drop_cell();
  /// Where kernels find this seed on the GPU; null if the cell holds another one, and then the seed is noted as plain.
  static const uint64_t* address_of(uint64_t seed);

  /// Called where a seed becomes a plain number in a call on a GPU, as numbers drawn on the host do. A step in which
  /// that happens is never captured.
  static void note_plain_seed();
  /// How often that was, on all threads.
  static uint64_t plain_seeds();

 private:
  uint64_t seed_, uses_ = 0;
  int64_t first_row_;
  bool generator_is_set_ = false;
  NoiseScope* outer_;
};

/// Scope guard: seed_generator() does nothing. While a step is captured its generator must not be seeded; who replays
/// the step seeds it before.
class HeldGenerators {
 public:
  HeldGenerators();
  ~HeldGenerators();
  HeldGenerators(const HeldGenerators&) = delete;
  HeldGenerators& operator=(const HeldGenerators&) = delete;
};

}  // namespace heed
