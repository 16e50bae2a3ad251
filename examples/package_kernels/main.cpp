// A project that uses Heed's kernels and has no torch: one query, two keys whose scores are 0 and ln 3.
//
//   weights 1/4, 3/4; values 0, 4; context 3

#include <cmath>
#include <cstdio>

#include "heed/base/version.h"
#include "heed/kernels/reference/reference.h"

int main() {
  namespace reference = heed::kernels::reference;
  reference::Problem<double> problem;
  problem.mechanism = heed::parse_mechanism("dot + softmax");
  problem.query = {{1, 1, 1, 2}, {1, 0}};
  problem.keys = {{1, 1, 2, 2}, {0, 5, std::log(3.0), 7}};
  problem.values = {{1, 1, 2, 1}, {0, 4}};
  const double context = reference::attend(problem).context.data.at(0);

  std::printf("heed %s, context %.6f, expected 3\n", heed::kVersion.data(), context);
  return std::abs(context - 3) < 1e-12 && !heed::commit().empty() ? 0 : 1;
}
