// Attention by hand: "Tom chase Jerry" is translated word by word. Each target word has its own weights over the
// three source words. A context is the weighted sum of the source words' encodings,
//
//   C_i = sum_j a_ij h_j,     h(Tom) = (1, 0), h(chase) = (0, 1), h(Jerry) = (2, 1)
//
//   汤姆    0.6 Tom + 0.2 chase + 0.2 Jerry = (1.0, 0.4)
//   追逐    0.2 Tom + 0.7 chase + 0.1 Jerry = (0.4, 0.8)
//   杰瑞    0.3 Tom + 0.2 chase + 0.5 Jerry = (1.3, 0.7)
//
// In a model the weights are the softmax of scores. Scores log a_ij give back a_ij, because exp(log a_ij) sums to 1.

#include <array>
#include <cmath>
#include <cstdio>

#include "heed/heed.h"

int main() {
  constexpr const char* kTarget[] = {"汤姆", "追逐", "杰瑞"};
  constexpr double kWeights[3][3] = {{.6, .2, .2}, {.2, .7, .1}, {.3, .2, .5}};  // target word, source word
  constexpr double kEncoding[3][2] = {{1, 0}, {0, 1}, {2, 1}};                   // source word, feature
  constexpr double kExpected[3][2] = {{1, .4}, {.4, .8}, {1.3, .7}};             // the sums in the comment above

  const auto query = at::empty({1, 3, 3}, at::kDouble);    // [B, Lq, Dq]: log a_i.
  const auto keys = at::eye(3, at::kDouble).unsqueeze(0);  // [B, Lk, Dk]: q_i . k_j = log a_ij
  const auto values = at::empty({1, 3, 2}, at::kDouble);   // [B, Lk, Dv]: h_j
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) query[0][i][j] = std::log(kWeights[i][j]);
  for (int j = 0; j < 3; ++j)
    for (int d = 0; d < 2; ++d) values[0][j][d] = kEncoding[j][d];

  heed::Call call;
  call.outputs.weights = true;
  const auto attended = heed::attend(query, keys, values, heed::Mechanism::parse("dot + softmax"), {}, call);

  bool equal = true;
  for (int i = 0; i < 3; ++i) {
    std::array<double, 2> by_hand{};
    for (int j = 0; j < 3; ++j) {
      for (int d = 0; d < 2; ++d) by_hand[d] += kWeights[i][j] * kEncoding[j][d];
      equal = equal && std::abs(attended.weights[0][i][j].item<double>() - kWeights[i][j]) < 1e-12;
    }
    const double x = attended.context[0][i][0].item<double>(), y = attended.context[0][i][1].item<double>();
    std::printf("%s  by hand (%.1f, %.1f)  heed (%.1f, %.1f)\n", kTarget[i], by_hand[0], by_hand[1], x, y);
    equal = equal && std::abs(x - by_hand[0]) < 1e-12 && std::abs(y - by_hand[1]) < 1e-12;
    equal = equal && std::abs(x - kExpected[i][0]) < 1e-12 && std::abs(y - kExpected[i][1]) < 1e-12;
  }
  return equal ? 0 : 1;
}
