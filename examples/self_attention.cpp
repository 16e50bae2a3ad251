// Self-attention: query, keys and values are three projections of the same input.
//
//   Z = softmax(Q K^T / sqrt(D)) V,     Q = X W_Q,  K = X W_K,  V = X W_V
//
// With two tokens X = I, W_Q = sqrt(2) ln 3 I, W_K = I and W_V = diag(4, 8), every token scores ln 3 with itself and 0
// with the other. Its weights are 3/4 and 1/4, so Z = ((3/4 4, 1/4 8), (1/4 4, 3/4 8)):
//
//   Z = (3, 2)
//       (1, 6)
//   200 tokens: largest difference from the formula 1e-15

#include <cmath>
#include <cstdio>

#include <torch/utils.h>

#include "heed/heed.h"

namespace {

at::Tensor self_attention(const at::Tensor& x, const at::Tensor& w_q, const at::Tensor& w_k, const at::Tensor& w_v) {
  const auto mechanism = heed::Mechanism::parse("scaled_dot + softmax");
  return heed::attend(at::matmul(x, w_q), at::matmul(x, w_k), at::matmul(x, w_v), mechanism).context;  // [B, L, D]
}

}  // namespace

int main() {
  const auto eye = at::eye(2, at::kDouble);
  const auto z = self_attention(eye.unsqueeze(0), std::sqrt(2.0) * std::log(3.0) * eye, eye,
                                at::diag(at::tensor({4.0, 8.0}, at::kDouble)));
  const auto expected = at::tensor({3.0, 2.0, 1.0, 6.0}, at::kDouble).view({1, 2, 2});
  for (int i = 0; i < 2; ++i)
    std::printf("%s(%.0f, %.0f)\n", i == 0 ? "Z = " : "    ", z[0][i][0].item<double>(), z[0][i][1].item<double>());

  // The same for 200 random tokens, compared with the formula on the full weight matrix.
  torch::manual_seed(1);
  const auto x = at::randn({1, 200, 16}, at::kDouble);
  const auto w = at::randn({3, 16, 16}, at::kDouble) / 4;
  const auto weights = at::softmax(at::matmul(at::matmul(x, w[0]), at::matmul(x, w[1]).transpose(1, 2)) / 4.0, -1);
  const auto formula = at::matmul(weights, at::matmul(x, w[2]));  // [B, L, D]
  const auto difference = (self_attention(x, w[0], w[1], w[2]) - formula).abs().max().item<double>();
  std::printf("200 tokens: largest difference from the formula %.0e\n", difference);
  return at::allclose(z, expected, 0, 1e-12) && difference < 1e-12 ? 0 : 1;
}
