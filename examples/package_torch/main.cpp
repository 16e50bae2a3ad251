// A project that uses the whole library: one query, two keys whose scores are 0 and ln 3.
//
//   weights 1/4, 3/4; values 0, 4; context 3; the gradient with respect to value 1 is its weight
//
// An error of the library is caught by its type.

#include <cmath>
#include <cstdio>

#include <ATen/ATen.h>

#include "heed/heed.h"

namespace {

bool refuses(const char* spec) {
  try {
    heed::Mechanism::parse(spec);
  } catch (const heed::Error&) {
    return true;
  }
  return false;
}

}  // namespace

int main() {
  const at::Tensor query = at::tensor({1.0, 0.0}).view({1, 1, 2});
  const at::Tensor keys = at::tensor({0.0, 5.0, std::log(3.0), 7.0}).view({1, 2, 2});
  const at::Tensor values = at::tensor({0.0, 4.0}).view({1, 2, 1}).set_requires_grad(true);
  const at::Tensor context = heed::attend(query, keys, values, heed::Mechanism::parse("dot + softmax")).context;
  context.sum().backward();
  const double grad = values.grad()[0][1][0].item<double>();

  std::printf("heed %s, context %.6f, expected 3, gradient %.6f, expected 0.75\n", heed::kVersion.data(),
              context.item<double>(), grad);
  const bool right = std::abs(context.item<double>() - 3) < 1e-6 && std::abs(grad - 0.75) < 1e-6;
  return right && refuses("dot + unknown") && HEED_VERSION >= 200 ? 0 : 1;
}
