// Weights as different as possible from those of a model that give about the same output (Jain & Wallace, 2019, in the
// terms of their code): k distributions a_1 ... a_k for each text and position by gradient descent on
//
//   - sum_i JSD(a_i, a) + 500 sum_i max(0, |y_i - y|_1 - epsilon) - (mean over all pairs i, j of JSD(a_i, a_j))
//
// with a_i = softmax(z_i), z_i = log(1 / tokens) + 3 N(0, 1) at first, Adam with amsgrad (Reddi et al., 2018), rate
// .01, 500 steps. The states that are weighted stay as they are.
//
// All texts of a batch and all k are optimized at once: the sum over texts is the loss, and Adam treats each number by
// itself, so no text depends on another one.

#pragma once

#include <cstdint>
#include <vector>

#include "heed/explain/explained.h"

namespace heed {

struct AdversarialOptions {
  int64_t steps = 500, distributions = 5;  // k
  double epsilon = 0.01, rate = 0.01;
};

/// The loss, by definition, for tests: sums over texts M and positions. weights [M, k, P, T], own [M, P, T],
/// distributions over T; outputs [M, k, P, C], own_outputs [M, P, C]; positions bool [M, P]: those that count.
Tensor adversarial_loss(const Tensor& weights, const Tensor& own, const Tensor& outputs, const Tensor& own_outputs,
                        const Tensor& positions, double epsilon);
/// The gradient of its divergences with respect to weights, in closed form: 1/2 log(a / m) of each JSD.
Tensor divergence_gradient(const Tensor& weights, const Tensor& own);

/// Adam with amsgrad, of one tensor: PyTorch's, without weight decay.
class AmsgradAdam {
 public:
  explicit AmsgradAdam(double rate) : rate_(rate) {}
  /// Changes `values`.
  void step(Tensor values, const Tensor& gradient);

 private:
  double rate_;
  int64_t steps_ = 0;
  Tensor mean_{}, square_{}, max_square_{};
};

struct AdversarialWeights {
  Tensor weights{};    // [M, k, P, T]: distributions over the tokens of each text, 0 at padding
  Tensor distances{};  // double [M, k, P], on the CPU: of outputs, as output_distances() has them
};

/// Searches for texts `rows` of the batch. own [M, P, T]: their weights, divided by their sums; what the model is given
/// has the sum of its own weights. positions bool [M, P]: those with weights. Numbers are drawn from seed and items.
AdversarialWeights adversarial_weights(ExplainedBatch& batch, const ExplainedFacts& facts,
                                       const std::vector<int64_t>& rows, const Tensor& own, const Tensor& positions,
                                       uint64_t seed, const AdversarialOptions& options);

}  // namespace heed
