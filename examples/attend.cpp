// Attention as a function: one query over three keys; it equals the second key. Expected:
//
//   context: 20.0
//   weights: 0.000 1.000 0.000
//   composed: ...

#include <cmath>
#include <cstdio>

#include "heed/heed.h"

int main() {
  const auto keys = at::eye(3).unsqueeze(0) * 10;               // [B = 1, Lk = 3, Dk = 3]
  const auto values = at::arange(1, 4).view({1, 3, 1}) * 10.0;  // [1, 3, Dv = 1]: 10, 20, 30
  const auto query = keys.narrow(1, 1, 1);                      // [1, Lq = 1, Dq = 3], equal to the second key

  heed::Call call;
  call.outputs.weights = true;
  const auto attended = heed::attend(query, keys, values, heed::Mechanism::parse("dot + softmax"), {}, call);

  const auto weights = attended.weights.flatten();  // [Lk]
  std::printf("context: %.1f\n", attended.context.item<double>());
  std::printf("weights: %.3f %.3f %.3f\n", weights[0].item<double>(), weights[1].item<double>(),
              weights[2].item<double>());
  std::printf("%s\n", attended.plan.to_string().c_str());

  const bool found = std::abs(attended.context.item<double>() - 20) < 1e-4;
  const bool whole = std::abs(weights.sum().item<double>() - 1) < 1e-6;
  return found && whole ? 0 : 1;
}
