// A step of an optimizer on flat tensors in device memory, in two launches: the norm of the gradients, then clipping,
// update and moving average in one pass.
//
//   g <- g scale                                  scale: 1 / number of terms of the loss
//   g <- g min(1, clip_norm / |g|)
//   adam   m <- b1 m + (1 - b1) g   v <- b2 v + (1 - b2) g^2   x <- x - rate decay x - rate m^ / (sqrt(v^) + eps)
//   sgd    m <- momentum m + g      x <- x - rate m
//   average <- average + weight (x - average)
//
// A step whose loss or norm is not finite changes nothing, nor does any step after it: `halted` stays set. What changes
// from step to step is read from device memory, so that a captured launch stays valid. The norm is added in a fixed
// order and is the same bits in every run.

#pragma once

#include <cstddef>
#include <cstdint>

struct CUstream_st;

namespace heed::kernels::cuda {

enum class FlatRule { sgd, adam };

/// What a step reads of the host, in device memory.
struct FlatScalars {
  double scale = 1;           // of gradients and loss
  double rate = 0;            // learning rate
  double first_share = 1;     // 1 - b1^t
  double second_root = 1;     // sqrt(1 - b2^t)
  double average_weight = 0;  // of the new values in the moving average
};

/// What it answers, in device memory.
struct FlatStats {
  double loss = 0, norm = 0;  // scale * loss, and the norm of the scaled gradients before clipping
  double halted = 0;          // 1 from the first step on that was not finite
};

/// T: float or double.
template <typename T>
struct FlatStep {
  FlatRule rule = FlatRule::adam;
  int64_t count = 0;
  T *values = nullptr, *grads = nullptr;  // [count]; grads are left as they are
  T *first = nullptr, *second = nullptr;  // m and v; null where the rule has none
  T* average = nullptr;                   // null: no average
  const double* loss = nullptr;           // sum of the loss
  const FlatScalars* scalars = nullptr;
  FlatStats* stats = nullptr;
  double clip_norm = 0;                                 // 0: no clipping
  double beta1 = 0, beta2 = 0, epsilon = 0, decay = 0;  // of adam; sgd: beta1 is the momentum
};

/// Doubles of workspace: the sums of parts of the gradients.
size_t flat_step_parts(int64_t count);

/// Launches the step. Nothing waits for the device.
template <typename T>
void flat_step(const FlatStep<T>& step, double* parts, CUstream_st* stream);

}  // namespace heed::kernels::cuda
