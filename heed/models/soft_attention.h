// The softmax weights of an alignment that samples, in place of a sample.

#pragma once

#include <vector>

#include <torch/nn/module.h>

#include "heed/attention/attention.h"

namespace heed {

/// RAII guard: while it lives, every `hard` attention of the model uses softmax weights. No effect if `soft` is false.
class SoftAttention {
 public:
  SoftAttention(torch::nn::Module& model, bool soft);
  SoftAttention(const SoftAttention&) = delete;
  SoftAttention& operator=(const SoftAttention&) = delete;
  ~SoftAttention();

 private:
  std::vector<AttentionImpl*> softened_;
};

/// Whether batch number `batch` of an epoch is one of the share that is trained with softmax weights, evenly spread.
bool is_soft_batch(double share, int64_t batch);

}  // namespace heed
