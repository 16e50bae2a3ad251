// For tests: every mechanism of the catalogue, every kind of mask, and calls that combine them.

#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "heed/attention/attend.h"
#include "heed/attention/mechanism_parts.h"
#include "heed/backend/plan.h"

namespace heed::testing {

inline const at::TensorOptions kDouble = at::TensorOptions().dtype(at::kDouble);

struct Lengths {
  int64_t batch = 2, heads = 2, key_heads = 2, queries = 5, keys = 7;
};
/// The calls are tiny, and several test programs run in parallel: more threads would only wait for each other.
inline const bool kOneThread = (at::set_num_threads(1), true);

inline constexpr int64_t kWidth = 6, kValues = 3, kHidden = 5;  // the lift splits 6 features into 3 groups

/// Adds "score + alignment" for each dimensionality that the score has.
inline void add_forms(std::vector<std::string>& all, const std::string& score, const std::string& align) {
  const auto part = Catalogue<Score>::make(score);
  for (const auto d :
       {Dimensionality::single, Dimensionality::multi, Dimensionality::elementwise, Dimensionality::lift})
    if (part->refuse(d).empty())
      all.push_back(score + " + " + align + (d == Dimensionality::single ? "" : ", " + to_string(d)));
}

/// Every score with every alignment in every dimensionality; their variants with a few alignments or scores.
inline std::vector<std::string> every_mechanism() {
  std::vector<std::string> all;
  for (const auto& score : Catalogue<Score>::names())
    for (const auto& align : Catalogue<Alignment>::names()) add_forms(all, score, align);
  for (const auto& score : Catalogue<Score>::names())
    for (const auto& variant : Catalogue<Score>::describe(score).variants)
      for (const char* align : {"softmax", "sparsemax", "local_p(2)"}) add_forms(all, variant, align);
  for (const auto& align : Catalogue<Alignment>::names())
    for (const auto& variant : Catalogue<Alignment>::describe(align).variants)
      for (const char* score : {"additive", "scaled_dot"}) add_forms(all, score, variant);
  return all;
}

/// Why there is no kernel for a call of this mechanism on float tensors of the CPU, or "".
inline std::string no_kernel(const Mechanism& mechanism, const Call& call = {}) {
  const MechanismParts& parts = *mechanism.shared_parts();
  if (!parts.score_kernel.missing.empty()) return parts.score_kernel.missing;
  if (!parts.align_kernel[call.noise.sample].missing.empty()) return parts.align_kernel[call.noise.sample].missing;
  const Outputs& o = call.outputs;
  const bool more = o.weights || o.entropy || o.column_mass || o.top > 0 || o.links.defined();
  if (mechanism.dimensionality() != Dimensionality::single && more)
    return "multi-dimensional kernels return no weights";
  return call.noise.uniforms.defined() ? "kernels draw their own random numbers" : "";
}

/// Those that have a kernel, at least for context and lse.
inline std::vector<std::string> every_mechanism_with_a_kernel() {
  std::vector<std::string> some;
  for (const auto& spec : every_mechanism())
    if (no_kernel(Mechanism::parse(spec)).empty()) some.push_back(spec);
  return some;
}

/// A name that gtest accepts.
inline std::string name_of(const std::string& spec) {
  std::string name;
  for (const char c : spec)
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  return name;
}
inline std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  return name_of(info.param);
}

inline const std::vector<std::string> kMasks{"none", "keep", "key_count", "top_left", "bottom_right", "window", "all"};

struct Case {
  Mechanism mechanism;
  Parameters parameters;
  Tensor query, keys, values;
  Call call;

  Attended run() const { return attend(query, keys, values, mechanism, parameters, call); }

  /// Everything that has a gradient, with its name.
  std::vector<std::pair<std::string, Tensor>> leaves() const {
    std::vector<std::pair<std::string, Tensor>> all{{"query", query}, {"keys", keys}, {"values", values}};
    for (const auto& [name, tensor] : parameters) all.emplace_back(name, tensor);
    for (const auto& [name, tensor] : {std::pair{"bias", call.bias.full},
                                       {"per_key", call.bias.per_key},
                                       {"relative", call.bias.relative},
                                       {"alibi", call.bias.alibi}})
      if (tensor.defined()) all.emplace_back(name, tensor);
    return all;
  }
  std::vector<Tensor> tensors() const {
    std::vector<Tensor> all;
    for (const auto& [name, tensor] : leaves()) all.push_back(tensor);
    return all;
  }
};

/// The mask "keep" masks all keys of query 1, and key 6 for all queries.
inline Mask make_mask(const std::string& kind, const Lengths& n) {
  Mask mask;
  if (kind == "keep" || kind == "all") {
    mask.keep = at::rand({n.batch, n.heads, n.queries, n.keys}) > 0.35;
    mask.keep.select(2, std::min<int64_t>(1, n.queries - 1)).fill_(false);
    mask.keep.select(3, n.keys - 1).fill_(false);
  }
  if (kind == "key_count" || kind == "all")
    mask.key_count = at::tensor(std::vector<int64_t>{4, 6}).narrow(0, 0, n.batch);
  if (kind == "key_count") mask.key_count = at::tensor(std::vector<int64_t>{4, 0}).narrow(0, 0, n.batch);
  if (kind == "top_left") mask.causal = Causal::top_left;
  if (kind == "bottom_right" || kind == "all") mask.causal = Causal::bottom_right;
  if (kind == "window" || kind == "all") {
    mask.left = 2;
    mask.right = 1;
  }
  return mask;
}

/// Which parameters of a mechanism have a head axis: every second one, starting with the second (even) or the first
/// (odd), so that each parameter is tested in both forms.
enum class PerHead { even, odd };
inline constexpr PerHead kPerHead[] = {PerHead::even, PerHead::odd};

inline PerHead next(PerHead which) {
  return which == PerHead::even ? PerHead::odd : PerHead::even;
}

/// block_bytes is set such that a block has 3 queries of one batch element, so that there are several blocks.
inline Case make_case(const std::string& spec, const std::string& mask = "none", const Lengths& n = {},
                      bool biased = true, const at::TensorOptions& options = kDouble, PerHead which = PerHead::even) {
  at::manual_seed(7);
  Case c;
  c.mechanism = Mechanism::parse(spec);
  const auto leaf = [&](const Tensor& x) { return x.to(options).requires_grad_(); };
  bool per_head = which == PerHead::odd;
  for (const auto& parameter : c.mechanism.parameters({kWidth, kWidth, kValues, kHidden})) {
    auto shape = parameter.shape;
    if (per_head) shape.insert(shape.begin(), n.heads);
    per_head = !per_head;
    c.parameters.set(parameter.name, leaf(at::randn(shape, kDouble) * 0.6));
  }
  c.query = leaf(at::randn({n.batch, n.heads, n.queries, kWidth}, kDouble));
  c.keys = leaf(at::randn({n.batch, n.key_heads, n.keys, kWidth}, kDouble));
  c.values = leaf(at::randn({n.batch, n.key_heads, n.keys, kValues}, kDouble));
  c.call.mask = make_mask(mask, n);
  if (biased) {
    c.call.bias.full = leaf(at::randn({n.batch, 1, n.queries, n.keys}, kDouble) * 0.3);
    c.call.bias.per_key = leaf(at::randn({1, n.heads, n.keys}, kDouble) * 0.3);
    c.call.bias.relative = leaf(at::randn({n.heads, 5}, kDouble) * 0.3);
    c.call.bias.alibi = leaf(at::rand({n.heads}, kDouble) * 0.2);
    c.call.scale = 1.3;
    c.call.soft_cap = 4;
  }
  c.call.noise.sample = true;
  c.call.noise.seed = 11;
  c.call.noise.stream = 3;
  c.call.path = Path::composed;
  c.call.block_bytes = 1;
  c.call.block_bytes = 3 * why(c.query, c.keys, c.values, c.mechanism, c.parameters, c.call).bytes;
  return c;
}

/// The same case in double.
inline Case in_double(const Case& c) {
  Case wide = c;
  const auto leaf = [](const Tensor& x) { return x.defined() ? x.detach().to(at::kDouble).requires_grad_() : x; };
  for (const auto& [name, tensor] : c.parameters) wide.parameters.set(name, leaf(tensor));
  for (Tensor* x : {&wide.query, &wide.keys, &wide.values, &wide.call.bias.full, &wide.call.bias.per_key,
                    &wide.call.bias.relative, &wide.call.bias.alibi})
    *x = leaf(*x);
  return wide;
}

/// Whether weights, entropy and outputs derived from them can be requested: multi-dimensional kernels return only
/// context and lse.
inline bool brings_weights(const Mechanism& mechanism, Path path) {
  return path != Path::fused || mechanism.dimensionality() == Dimensionality::single;
}

/// Requests all outputs that the alignment has on this path.
inline Outputs everything(const Mechanism& mechanism, Path path = Path::composed) {
  const Offers offers = mechanism.align().offers();
  Outputs outputs;
  outputs.lse = offers.lse;
  outputs.weights = brings_weights(mechanism, path);
  outputs.entropy = outputs.weights && offers.entropy;
  return outputs;
}

/// Fixed coefficients in the shape of x, different for each element.
inline Tensor waves(const Tensor& x, double shift = 0) {
  return at::cos(at::arange(x.numel(), kDouble) + shift).view(x.sizes()).to(x.options());
}

/// A scalar that depends on every output.
inline Tensor loss_of(const Attended& a) {
  Tensor loss = (a.context * waves(a.context)).sum();
  double shift = 1;
  for (const auto& x :
       {a.weights, a.lse, a.entropy, a.log_probability, a.column_mass, a.top_weights, a.link_log_weights}) {
    if (x.defined()) loss = loss + (x * waves(x, shift)).masked_fill(x == -INFINITY, 0.0).sum();
    shift += 1;
  }
  return loss;
}

/// The gradients of `loss` with respect to `of`; undefined where the loss does not depend on a tensor.
inline std::vector<Tensor> gradients(const Tensor& loss, const std::vector<Tensor>& of, bool create_graph = false) {
  if (!loss.requires_grad()) return std::vector<Tensor>(of.size());
  return torch::autograd::grad({loss}, of, {}, create_graph, create_graph, /*allow_unused=*/true);
}

/// Whether the largest absolute difference is at most `tolerance`.
inline ::testing::AssertionResult close(const Tensor& x, const Tensor& y, double tolerance = 1e-10) {
  if (x.defined() != y.defined()) return ::testing::AssertionFailure() << "one is undefined";
  if (!x.defined()) return ::testing::AssertionSuccess();
  if (x.sizes() != y.sizes()) return ::testing::AssertionFailure() << x.sizes() << " and " << y.sizes();
  const auto a = x.detach().to(at::kCPU, at::kDouble), b = y.detach().to(at::kCPU, at::kDouble);
  if (a.numel() == 0) return ::testing::AssertionSuccess();
  const auto apart = (a - b).abs().masked_fill(a == b, 0.0);  // equal infinities have a difference of 0
  const double max = apart.max().item<double>();
  if (max <= tolerance) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "off by " << max << "\n" << a << "\n" << b;
}

inline bool same_bits(const Tensor& x, const Tensor& y) {
  return x.defined() == y.defined() && (!x.defined() || (x.sizes() == y.sizes() && x.equal(y)));
}

inline double largest(const Tensor& x) {
  return x.numel() == 0 ? 0.0 : x.detach().abs().max().item<double>();
}

}  // namespace heed::testing
