// A layer of graph attention (GAT, Velickovic et al., 2018) on four nodes, with numbers that are easy to check. Node 0
// attends to nodes 1 and 2 and to itself; node 3 has no neighbor and attends only to itself.
//
//   1 -> 0, 2 -> 0        a node is (s, v); the score of an edge is the sender's s, so its weight is proportional to
//   exp(s)
//
//   node   s      v     into node 0
//   0      ln 1   6     1/6
//   1      ln 2   12    2/6
//   2      ln 3   18    3/6        v of node 0 = (6 + 2 12 + 3 18) / 6 = 14
//   3      0      5     -          v of node 3 = 5

#include <cmath>
#include <cstdio>

#include "heed/heed.h"

int main() {
  const at::NoGradGuard no_grad;
  const auto s = at::tensor({0.0, std::log(2.0), std::log(3.0), 0.0}, at::kDouble);
  const auto v = at::tensor({6.0, 12.0, 18.0, 5.0}, at::kDouble);
  const auto nodes = at::stack({s, v}, 1);  // [N, in]

  const heed::Graph graph(at::tensor({1, 2, 0, 0}, at::kLong).view({2, 2}), 4);  // [2, E]: senders, receivers
  heed::GraphAttention layer(heed::GraphAttentionOptions{.in_dim = 2, .out_dim = 2, .bias = false});
  layer->to(at::kDouble);
  auto parameters = layer->named_parameters();
  parameters["values"].copy_(at::eye(2).unsqueeze(0));              // W = I
  parameters["self"].zero_();                                       // the score does not depend on the receiver
  parameters["neighbor"].copy_(at::tensor({1., 0.}).view({1, 2}));  // the sender's s is the score

  const auto attended = layer->forward(nodes, graph, {.weights = true});
  const auto weights = attended.weights.flatten();     // [E + N]: 1 -> 0, 2 -> 0, then self loops by node
  const auto context = attended.context.select(1, 1);  // [N]: v after the layer
  std::printf("into node 0: %.3f from 1, %.3f from 2, %.3f from itself\n", weights[0].item<double>(),
              weights[1].item<double>(), weights[2].item<double>());
  std::printf("node 0: %.1f   node 3: %.1f\n", context[0].item<double>(), context[3].item<double>());

  const auto expected = at::tensor({14.0, 12.0, 18.0, 5.0}, at::kDouble);
  const bool shares = at::allclose(weights.slice(0, 0, 3) * 6, at::tensor({2.0, 3.0, 1.0}, at::kDouble), 0, 1e-12);
  return shares && at::allclose(context, expected, 0, 1e-12) ? 0 : 1;
}
