// Supervised attention: trains the attention weights on gold links (here query i -> key L - 1 - i). The call returns
// only the log-weights at the links, never the full Lq x Lk matrix. Expected:
//
//   weight at the links: 0.01 -> 1.00

#include <cstdio>

#include <torch/optim/adam.h>
#include <torch/utils.h>

#include "heed/heed.h"

int main() {
  torch::manual_seed(1);
  constexpr int64_t kLength = 32, kWidth = 32;
  const auto query = at::randn({1, kLength, kWidth}), keys = at::randn({1, kLength, kWidth});  // [B, L, D]
  heed::Attention attention(heed::AttentionOptions{.query_dim = kWidth,
                                                   .key_dim = kWidth,
                                                   .value_dim = kWidth,
                                                   .mechanism = heed::Mechanism::parse("general + softmax")});

  const auto from = at::arange(kLength), none = at::zeros_like(from);
  heed::Call call;
  call.outputs.links = at::stack({none, none, from, kLength - 1 - from}, 1);  // [n, 4]: batch element, head, query, key

  torch::optim::Adam adam(attention->parameters(), torch::optim::AdamOptions(0.02));
  double first = 0, last = 0;
  for (int step = 0; step < 200; ++step) {
    const auto log_weights = attention->forward(query, keys, keys, call).link_log_weights;  // [n]
    last = log_weights.exp().mean().item<double>();
    if (step == 0) first = last;
    const auto loss = -log_weights.mean();
    adam.zero_grad();
    loss.backward();
    adam.step();
  }
  std::printf("weight at the links: %.2f -> %.2f\n", first, last);
  return last > 0.95 ? 0 : 1;
}
