// A project that uses the kernels of Heed without torch: one query, two keys whose scores are 0 and ln 3.
//
//   weights 1/4, 3/4; values 0, 4; context 3
//
// Computes it by definition, in double, and with the fused kernels, which take pointers and strides. The gradient of
// the context with respect to the values is the weights.

#include <cmath>
#include <cstdio>
#include <vector>

#include "heed/kernels.h"
#include "heed/version.h"

namespace {

double by_definition() {
  namespace reference = heed::kernels::reference;
  reference::Problem<double> problem;
  problem.mechanism = heed::parse_mechanism("dot + softmax");
  problem.query = {{1, 1, 1, 2}, {1, 0}};
  problem.keys = {{1, 1, 2, 2}, {0, 5, std::log(3.0), 7}};
  problem.values = {{1, 1, 2, 1}, {0, 4}};
  return reference::attend(problem).context.data.at(0);
}

struct Fused {
  float context = 0;
  std::vector<float> of_values = {0, 0};
};

Fused by_kernels() {
  namespace cpu = heed::kernels::cpu;
  const std::vector<float> query{1, 0}, keys{0, 5, std::log(3.0F), 7}, values{0, 4};
  std::vector<heed::kernels::RowStats<float>> rows(1);  // statistics of each query, for backward and report
  Fused found;
  heed::kernels::Problem<float> problem;
  problem.queries = 1;
  problem.keys = 2;
  problem.width = 2;
  problem.value_width = 1;
  problem.query = {query.data(), /*batch=*/2, /*head=*/2, /*row=*/2};
  problem.key_rows = {keys.data(), 4, 4, 2};
  problem.values = {values.data(), 2, 2, 1};
  problem.context = &found.context;
  problem.rows = rows.data();
  cpu::forward(problem);  // an optional second argument runs tasks on the threads of the caller

  const float one = 1;
  heed::kernels::Gradients<float> grads;
  grads.context = &one;
  grads.values = found.of_values.data();
  cpu::backward(problem, grads);
  return found;
}

}  // namespace

int main() {
  const double definition = by_definition();
  const Fused kernels = by_kernels();
  std::printf("heed %s, context %.6f by the definition, %.6f by the %s kernels, expected 3; weights %.2f %.2f\n",
              heed::kVersion.data(), definition, static_cast<double>(kernels.context),
              heed::kernels::cpu::instruction_set().c_str(), static_cast<double>(kernels.of_values[0]),
              static_cast<double>(kernels.of_values[1]));
  const bool right = std::abs(definition - 3) < 1e-12 && std::abs(kernels.context - 3) < 1e-5F &&
                     std::abs(kernels.of_values[1] - 0.75F) < 1e-6F;
  return right && !heed::commit().empty() ? 0 : 1;
}
