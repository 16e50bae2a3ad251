// Trains the module on a lookup: the query is one of 8 random keys under an unknown rotation; the context is to be the
// value of that key. Expected:
//
//   general + softmax: found 100 % after 400 steps

#include <cstdio>

#include <torch/optim/adam.h>
#include <torch/utils.h>

#include "heed/heed.h"

namespace {

constexpr int64_t kRows = 64, kKeys = 8, kWidth = 16;

struct Task {
  at::Tensor rotation = std::get<0>(at::linalg_qr(at::randn({kWidth, kWidth})));

  struct Question {
    at::Tensor query, keys, values, answer;  // [B, 1, D], [B, Lk, D], [B, Lk, Lk], [B]
  };
  Question ask() const {
    const auto random = at::randn({kRows, kKeys, kWidth});
    const auto keys = random / random.norm(2, -1, /*keepdim=*/true);  // unit norm: no key wins by its length
    const auto answer = at::randint(kKeys, {kRows}, at::kLong);
    const auto wanted = keys.gather(1, answer.view({kRows, 1, 1}).expand({-1, 1, kWidth}));
    return {at::matmul(wanted, rotation), keys, at::eye(kKeys).expand({kRows, -1, -1}), answer};
  }
};

}  // namespace

int main() {
  torch::manual_seed(1);
  const Task task;
  heed::Attention attention(heed::AttentionOptions{.query_dim = kWidth,
                                                   .key_dim = kWidth,
                                                   .value_dim = kKeys,
                                                   .mechanism = heed::Mechanism::parse("general + softmax")});
  torch::optim::Adam adam(attention->parameters(), torch::optim::AdamOptions(0.1));

  const int steps = 400;
  for (int step = 0; step < steps; ++step) {
    const auto question = task.ask();
    const auto context = attention->forward(question.query, question.keys, question.values).context;  // [B, 1, Lk]
    const auto loss = at::nll_loss((context.squeeze(1) + 1e-9).log(), question.answer);
    adam.zero_grad();
    loss.backward();
    adam.step();
  }

  attention->eval();
  const auto question = task.ask();
  const auto found = attention->forward(question.query, question.keys, question.values).context.squeeze(1).argmax(1);
  const double share = (found == question.answer).to(at::kDouble).mean().item<double>();
  std::printf("%s: found %.0f %% after %d steps\n", attention->options().mechanism.to_string().c_str(), 100 * share,
              steps);
  return share == 1 ? 0 : 1;
}
