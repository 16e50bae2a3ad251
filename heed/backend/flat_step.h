// A step of an optimizer on flat tensors that never waits for a GPU: norm of the gradients, clipping, update and moving
// average, skipped on the device where the step is not finite.
//
// What changes from step to step is in a tensor on the device, so that a captured step stays valid. With kernels of
// ours it takes two launches on a GPU and two passes over memory on the CPU, otherwise operations of torch.

#pragma once

#include <array>
#include <vector>

#include <ATen/core/Tensor.h>

namespace heed {

/// What an optimizer does with the gradients, as data. Formulas: heed/train/optimizer.
struct FlatUpdate {
  enum class Rule { sgd, adam } rule = Rule::sgd;
  double beta1 = 0, beta2 = 0, epsilon = 0, decay = 0;  // of adam; sgd: beta1 is the momentum
  at::Tensor first{}, second{};                         // its state [n]: m, v; undefined where it has none
};

/// The numbers of one step: scale of gradients and loss, learning rate, 1 - beta1^t, sqrt(1 - beta2^t), weight of the
/// new values in the moving average.
using FlatNumbers = std::array<double, 5>;
FlatNumbers flat_numbers(const FlatUpdate& update, double scale, double rate, int64_t number, double average_weight);

/// The tensors of a step, all on one device.
struct FlatTensors {
  at::Tensor values, grads;  // [n]; grads are only read
  /// On the CPU, in place of `grads` if not empty: gradients of consecutive parts of the values, each contiguous, or
  /// undefined for 0.
  std::vector<std::pair<int64_t, at::Tensor>> parts{};
  at::Tensor average{};  // [n], or undefined
  at::Tensor loss;       // double [1]: the sum of the loss
  at::Tensor numbers;    // double [5]: FlatNumbers
  at::Tensor stats;      // double [3]: mean loss, norm before clipping, and 1 once a step was not finite
};

/// Once a step was not finite, neither it nor a later step changes anything; stats[2] starts as 0.
void flat_step(const FlatUpdate& update, const FlatTensors& tensors, double clip_norm);

/// The same with operations of torch on any device.
void flat_step_by_torch(const FlatUpdate& update, const FlatTensors& tensors, double clip_norm);

}  // namespace heed
