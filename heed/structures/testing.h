// For tests: every structure of the catalogue with several mechanisms inside, and inputs that fit it.

#pragma once

#include <string>
#include <vector>

#include "heed/attention/testing.h"
#include "heed/structures/structure.h"

namespace heed::testing {

inline const std::vector<std::string> kInside{"additive + softmax", "general + sparsemax", "scaled_dot + entmax(1.5)",
                                              "cosine(2) + top_k(2, renorm)", "additive + softmax, multi"};
inline const std::vector<std::string> kAlignments{"softmax", "sparsemax", "entmax(1.5)", "sigmoid", "top_k(2, renorm)"};

/// Specs of every structure and of every variant that its catalogue entry names.
inline std::vector<std::string> every_structure() {
  std::vector<std::string> all;
  for (const auto& name : Structure::Parts::names()) {
    all.push_back(name);
    for (const auto& variant : Structure::Parts::describe(name).variants) all.push_back(variant);
  }
  return all;
}

inline constexpr int64_t kFeatureWidth = 4;

struct StructureCase {
  std::shared_ptr<Structure> structure;
  StructureInput given;

  /// Every tensor that has a gradient, with its name.
  std::vector<std::pair<std::string, Tensor>> leaves() const {
    std::vector<std::pair<std::string, Tensor>> all;
    const auto names = structure->takes().features;
    for (size_t i = 0; i < names.size(); ++i) all.emplace_back(names[i], given.features[i].rows);
    if (given.query.defined()) all.emplace_back("query", given.query);
    for (const auto& item : structure->named_parameters()) all.emplace_back(item.key(), item.value());
    return all;
  }
  std::vector<Tensor> tensors() const {
    std::vector<Tensor> all;
    for (const auto& [name, tensor] : leaves()) all.push_back(tensor);
    return all;
  }
  StructureOutput run() const { return structure->forward(given); }
};

/// Which features of each batch element are real.
enum class Real {
  all,   // all of them; keep is undefined
  some,  // at least one, with padding in between
  edge,  // element 0: the first input is empty; element 1: the last, if there are several; element 2: all inputs
};

inline Tensor keep_of(Real real, const Tensor& rows, size_t input, size_t inputs) {
  if (real == Real::all) return {};
  auto keep = at::rand(rows.sizes().slice(0, rows.sizes().size() - 1)) > 0.3;
  keep.select(-1, 0).fill_(true);
  if (real == Real::some) {
    keep.select(-1, keep.size(-1) - 1).fill_(false);
    return keep;
  }
  keep[2].fill_(false);
  if (input == 0) keep[0].fill_(false);
  if (inputs > 1 && input + 1 == inputs) keep[1].fill_(false);
  return keep;
}

/// Three batch elements in double, in evaluation mode.
inline StructureCase make_structure_case(const std::string& spec, const std::string& mechanism,
                                         Real real = Real::some) {
  at::manual_seed(5);
  StructureCase c;
  c.structure = structure(spec, {.features = {kFeatureWidth}, .hidden_dim = 8, .mechanism = mechanism});
  c.structure->to(at::kDouble);
  c.structure->eval();
  {
    const at::NoGradGuard no_grad;  // biases start at 0, which would hide a missing one
    for (auto& parameter : c.structure->parameters()) parameter.add_(at::randn_like(parameter), 0.3);
  }
  const StructureSignature takes = c.structure->takes();
  const int64_t inputs = static_cast<int64_t>(takes.features.size());
  for (int64_t i = 0; i < inputs; ++i) {
    std::vector<int64_t> shape{3};
    for (int64_t level = 1; level < takes.depth; ++level) shape.push_back(3);
    shape.push_back(takes.same_length ? 4 : 5 - i % 3);
    shape.push_back(kFeatureWidth);
    Features f;
    f.rows = at::randn(shape, kDouble).requires_grad_();
    f.keep = keep_of(real, f.rows, static_cast<size_t>(i), static_cast<size_t>(inputs));
    c.given.features.push_back(f);
  }
  if (takes.query) c.given.query = at::randn({3, 2, kFeatureWidth}, kDouble).requires_grad_();
  if (takes.edges) c.given.edges = at::randint(5, {2, 14}, at::kLong);
  c.given.call.noise.seed = 11;
  return c;
}

/// A scalar that depends on the context and on the additional outputs.
inline Tensor loss_of(const StructureOutput& a) {
  Tensor loss = (a.context * waves(a.context)).sum();
  double shift = 1;
  for (const auto& [name, x] : a.also) {
    if (x.is_floating_point()) loss = loss + (x * waves(x, shift)).sum();
    shift += 1;
  }
  return loss;
}

}  // namespace heed::testing
