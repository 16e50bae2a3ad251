// For tests: the small features and matrices of the golden values, and helpers that build tensors from numbers.

#pragma once

#include <string>
#include <vector>

#include "heed/structures/testing.h"

namespace heed::testing {

inline Tensor numbers(const std::vector<double>& all, const std::vector<int64_t>& shape) {
  return at::tensor(all, kDouble).view(shape);
}

/// Features of one batch element, without padding.
inline Features one_row(const std::vector<double>& all, int64_t width) {
  return {numbers(all, {1, static_cast<int64_t>(all.size()) / width, width}), {}};
}

inline const std::vector<double> kF1{1, 0, 0, 1, 1, 1}, kF2{.5, -1, 1, .5}, kF1Values{1, 2, 3, -1, 0, 4};
inline const std::vector<double> kW1{.5, -.2, .1, .3}, kW2{.4, .1, -.3, .6}, kB{.05, -.1}, kW{.7, -.5};
inline const std::vector<double> kW1Twice{.5, -.2, .5, -.2, .1, .3, .1, .3};  // [W1 | W1]
inline const std::vector<double> kGeneral{.6, -.1, .2, .5};
inline const std::vector<double> kIdentity{1, 0, 0, 1};

inline const Features kNone{at::zeros({1, 0, 2}, kDouble), {}};  // an input without features

/// The scores of a step with weights and lse requested: e = log a + lse.
inline Tensor scores_of(const Attended& step) {
  return step.weights.log() + step.lse.unsqueeze(-1);
}

/// A call that requests the outputs scores_of needs.
inline Call with_scores() {
  return {.outputs = {.weights = true, .lse = true}};
}

inline Tensor golden_query() {
  return numbers({1, .5}, {1, 1, 2});
}

/// A structure in double and in evaluation mode.
inline std::shared_ptr<Structure> in_double(const std::string& spec, const StructureOptions& options) {
  auto made = structure(spec, options);
  made->to(at::kDouble);
  made->eval();
  return made;
}

/// Sets a parameter to these values, in row-major order.
inline void set(Structure& made, const std::string& name, const std::vector<double>& all) {
  const at::NoGradGuard no_grad;
  auto parameter = made.named_parameters()[name];
  parameter.copy_(at::tensor(all, kDouble).view(parameter.sizes()));
}

/// Sets the additive score of the golden values: W1 for the query (or `from_query`), W2, b and w.
inline void set_additive(Structure& made, const std::string& slot, const std::vector<double>& from_query = kW1) {
  set(made, slot + ".score.from_query", from_query);
  set(made, slot + ".score.from_keys", kW2);
  set(made, slot + ".score.bias", kB);
  set(made, slot + ".score.to_scores", kW);
}

inline ::testing::AssertionResult is_golden(const Tensor& x, const std::vector<double>& expected) {
  return close(x.flatten(), at::tensor(expected, kDouble), 1e-7);
}

}  // namespace heed::testing
