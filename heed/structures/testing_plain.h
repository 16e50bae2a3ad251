// For tests: references for the parts of structures, in plain torch operations for one batch element.

#pragma once

#include <string>
#include <vector>

#include "heed/structures/testing_fixture.h"

namespace heed::testing {

/// A structure in double with every parameter perturbed: initial zeros and ones would hide a missing parameter.
inline std::shared_ptr<Structure> stirred(const std::string& spec, const StructureOptions& options) {
  at::manual_seed(6);
  auto made = in_double(spec, options);
  const at::NoGradGuard no_grad;
  for (auto& parameter : made->parameters()) parameter.add_(at::randn_like(parameter), 0.3);
  return made;
}

inline Features random_features(int64_t length, int64_t width) {
  return {at::randn({1, length, width}, kDouble), {}};
}

/// sum_j softmax(e)_j v_j: scores [Lq, Lk], values [Lk, D].
inline Tensor plain_read(const Tensor& scores, const Tensor& values) {
  return at::softmax(scores, -1).matmul(values);
}

/// The parameters of a structure under one prefix: Plain{made, "encoder."}["self_norm.weight"].
struct Plain {
  const Structure& made;
  std::string prefix{};

  Tensor operator[](const std::string& name) const { return made.named_parameters()[prefix + name]; }
  Plain under(const std::string& name) const { return {made, prefix + name + "."}; }

  /// W x + b; b only if the parameter exists.
  Tensor linear(const Tensor& x, const std::string& weight, const std::string& bias) const {
    const auto all = made.named_parameters();
    const auto* b = all.find(prefix + bias);
    const auto product = x.matmul((*this)[weight].t());
    return b == nullptr ? product : product + *b;
  }

  /// Layer normalization over the last axis.
  Tensor norm(const Tensor& x, const std::string& scale, const std::string& shift) const {
    const auto centered = x - x.mean(-1, /*keepdim=*/true);
    const auto deviation = (centered.square().mean(-1, /*keepdim=*/true) + 1e-5).sqrt();
    return centered / deviation * (*this)[scale] + (*this)[shift];
  }
  Tensor norm(const Tensor& x, const std::string& name) const { return norm(x, name + ".weight", name + ".bias"); }

  /// Scaled dot products in several heads: query [Lq, *] over keys [Lk, *]. causal: query i attends to keys 0 ... i.
  Tensor heads(int64_t count, const Tensor& query, const Tensor& keys, bool causal = false) const {
    const auto q = linear(query, "heads.query", "heads.query_bias").chunk(count, -1),
               k = linear(keys, "heads.keys", "heads.keys_bias").chunk(count, -1),
               v = linear(keys, "heads.values", "heads.values_bias").chunk(count, -1);
    const auto future = at::ones({query.size(0), keys.size(0)}, at::kBool).triu(1);
    std::vector<Tensor> contexts;
    for (size_t h = 0; h < q.size(); ++h) {
      auto scores = q[h].matmul(k[h].t()) / std::sqrt(static_cast<double>(q[h].size(-1)));
      if (causal) scores = scores.masked_fill(future, -INFINITY);
      contexts.push_back(plain_read(scores, v[h]));
    }
    return linear(at::cat(contexts, -1), "heads.out", "heads.out_bias");
  }
};

/// PE(p, 2i) = sin(p / 10000^(2i / D)), PE(p, 2i + 1) = cos of the same: [L, D].
inline Tensor plain_positions(int64_t length, int64_t width) {
  auto all = at::empty({length, width}, kDouble);
  for (int64_t p = 0; p < length; ++p)
    for (int64_t c = 0; c < width; ++c) {
      const double angle =
          static_cast<double>(p) / std::pow(10000., static_cast<double>(c - c % 2) / static_cast<double>(width));
      all[p][c] = c % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  return all;
}

}  // namespace heed::testing
