// For tests of one part: calls of a few numbers, worked out by hand, on the composed path and on the fused one where
// there is a kernel. In double.
//
// A score alone is seen through the alignment identity, whose weights are the scores. An alignment alone is seen
// through the score dot with a query of 1, for which the keys are the scores.

#pragma once

#include <string>
#include <vector>

#include "heed/attention/testing.h"

namespace heed::testing {

using Rows = std::vector<std::vector<double>>;

inline Tensor numbers(const std::vector<double>& all) {
  return at::tensor(all, kDouble);
}

/// [rows, columns]
inline Tensor matrix(const Rows& rows) {
  std::vector<Tensor> all;
  for (const auto& row : rows) all.push_back(numbers(row));
  return at::stack(all);
}

/// One batch element without heads: [1, rows, columns].
inline Tensor sequence(const Rows& rows) {
  return matrix(rows).unsqueeze(0);
}

struct OnPath {
  std::string path;
  Attended attended;
};

/// The call on the composed path, and on the fused one if there is a kernel that returns what it requests.
inline std::vector<OnPath> on_every_path(const Tensor& query, const Tensor& keys, const Tensor& values,
                                         const std::string& spec, const Parameters& parameters, Call call) {
  const auto mechanism = Mechanism::parse(spec);
  std::vector<OnPath> all;
  for (const Path path : {Path::composed, Path::fused}) {
    call.path = path;
    if (path == Path::fused && !no_kernel(mechanism, call).empty()) continue;
    all.push_back({to_string(path), attend(query, keys, values, mechanism, parameters, call)});
  }
  return all;
}

/// Scores of all pairs, query by query: those of the score alone. With a dimensionality ("multi", "multi(lift)") a pair
/// has as many as there are channels, 2.
inline void expect_scores(const std::string& score, const Rows& query, const Rows& keys,
                          const std::vector<double>& expected, const Parameters& parameters = {},
                          const std::string& dimensionality = "single") {
  Call call;
  call.outputs.weights = true;
  const auto values = at::ones({1, static_cast<int64_t>(keys.size()), 2}, kDouble);
  const auto spec = score + " + identity, " + dimensionality;
  const auto given = query.empty() ? Tensor() : sequence(query);
  for (const auto& [path, attended] : on_every_path(given, sequence(keys), values, spec, parameters, call))
    EXPECT_TRUE(close(attended.weights.flatten(), numbers(expected), 1e-12)) << spec << ", " << path;
}

/// Weights of one query for these scores. The context is that of the values 1, 10, 100, ...
inline void expect_weights(const std::string& alignment, const std::vector<double>& scores,
                           const std::vector<double>& expected, Call call = {}, const Parameters& parameters = {}) {
  call.outputs.weights = true;
  const auto keys = numbers(scores).view({1, -1, 1});
  const auto values = at::pow(10.0, at::arange(keys.size(1), kDouble)).view({1, -1, 1});
  const auto context = (numbers(expected) * values.flatten()).sum();
  const auto spec = "dot + " + alignment;
  for (const auto& [path, attended] : on_every_path(sequence({{1}}), keys, values, spec, parameters, call)) {
    EXPECT_TRUE(close(attended.weights.flatten(), numbers(expected), 1e-12)) << spec << ", " << path;
    EXPECT_TRUE(close(attended.context.squeeze(), context, 1e-10)) << spec << ", " << path;
  }
}

/// The gradient of the context of one query with respect to its scores, for these scores and values.
inline void expect_gradient(const std::string& alignment, const std::vector<double>& scores,
                            const std::vector<double>& values, const std::vector<double>& expected, Call call = {},
                            const Parameters& parameters = {}) {
  const auto mechanism = Mechanism::parse("dot + " + alignment);
  for (const Path path : {Path::composed, Path::fused}) {
    call.path = path;
    const auto keys = numbers(scores).view({1, -1, 1}).requires_grad_();
    if (path == Path::fused && !no_kernel(mechanism, call).empty()) continue;
    const auto context =
        attend(sequence({{1}}), keys, numbers(values).view({1, -1, 1}), mechanism, parameters, call).context;
    auto gradient = gradients(context.sum(), {keys})[0];
    if (!gradient.defined()) gradient = at::zeros_like(keys);
    EXPECT_TRUE(close(gradient.flatten(), numbers(expected), 1e-12)) << alignment << ", " << to_string(path);
  }
}

/// The call that may attend the keys with a 1.
inline Call keeping(const std::vector<double>& keys) {
  Call call;
  call.mask.keep = numbers(keys).view({1, 1, -1}) > 0;  // [B, Lq, Lk]
  return call;
}

/// The call that samples, with these random numbers u in (0, 1) for the keys of one query. Gumbel noise is
/// -ln(-ln u): exp(-1) adds 0 to a score, exp(-1/4) adds ln 4.
inline Call drawn_by(const std::vector<double>& uniforms) {
  Call call;
  call.noise.sample = true;
  call.noise.seed = 1;
  call.noise.uniforms = numbers(uniforms).view({1, 1, -1});  // [B, Lq, Lk]
  return call;
}

}  // namespace heed::testing
