// The four components of a task model, each with its own catalogue:
//
//   input -> feature model -> features --+
//                                        +--> attention model -> context -> output model -> answer
//   state -> query model   -> queries  --+
//
// (the task model of the survey: its general attention module and the models around it). A component reads its own keys
// of the recipe in its constructor; the keys it reads are the keys that are allowed. Components own their parameters
// and know only each other's widths.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include <torch/nn/module.h>

#include "heed/base/catalogue.h"
#include "heed/base/settings.h"
#include "heed/structures/encode/recurrent.h"
#include "heed/structures/features.h"
#include "heed/structures/uses.h"

namespace heed {

/// Largest width that a recipe may set. Whether the model fits into memory is checked separately (model_memory.h).
inline constexpr int64_t kMaxWidth = 1 << 16;

/// How queries attend to features: the specs and options from which a query model builds its attention.
struct AttentionSpec {
  std::string mechanism;    // spec, "additive + softmax"
  std::string structure{};  // spec, "multi_hop(hops=2)"; empty: the mechanism alone
  int64_t heads = 0;        // 0: the query model's default
  int64_t hidden = 0;       // hidden width of the score; 0: width of the keys
  double dropout = 0;       // on attention weights, in training
};

/// Features with a summary of all of them, and every use of a mechanism by name.
struct FeatureOutput {
  Encoded encoded;
  Steps steps{};
};

/// Features from embedded input.
class FeatureModel : public torch::nn::Module {
 public:
  static constexpr auto kKind = "feature model";
  using Parts = Catalogue<FeatureModel, Settings, int64_t>;  // recipe below model.features, width of the input

  /// rows [B, L, in] -> features [B, L, width], and a summary `last` [B, width] of all of them.
  virtual FeatureOutput encode(const Features& embedded, const Call& call) = 0;
  virtual int64_t width() const = 0;
};

/// Chooses the features that queries attend to, and the mechanism.
class AttentionModel {
 public:
  static constexpr auto kKind = "attention model";
  using Parts = Catalogue<AttentionModel, Settings, std::string>;  // recipe below model.attention, default spec

  virtual ~AttentionModel() = default;
  /// The features that queries attend to.
  virtual Features seen(const Encoded& encoded) const { return encoded.features; }
  /// Whether queries see the features one by one, so that there is a weight for each.
  virtual bool has_weights() const { return true; }
  /// Whether its weights say which input a query looked at.
  virtual bool aligns() const { return true; }
  const AttentionSpec& spec() const { return spec_; }

 protected:
  explicit AttentionModel(AttentionSpec spec) : spec_(std::move(spec)) {}

 private:
  AttentionSpec spec_;
};

/// Arguments of a query model in addition to its recipe.
struct QueryOptions {
  int64_t embedding = 0;  // width of embedded targets
  int64_t source = 0;     // width of features and of their summary
  AttentionSpec attention{};
};

/// The outputs of a query model, and the result of every attention call by name.
struct QueryOutput {
  Features outputs;  // [B, T, width]
  Steps steps;
};

/// State of step-by-step decoding: each query depends on the previous output.
class QueryState {
 public:
  virtual ~QueryState() = default;
  /// One step. embedded [B, E]: the previous target. Returns outputs [B, 1, width].
  virtual QueryOutput step(const Tensor& embedded, const Call& call) = 0;
  /// Replaces the batch by these batch elements: int64 [n], in any order, repeats allowed.
  virtual void select(const Tensor& rows) = 0;
};

/// Computes queries from a state, attends to the features and updates the state.
class QueryModel : public torch::nn::Module {
 public:
  static constexpr auto kKind = "query model";
  using Parts = Catalogue<QueryModel, Settings, QueryOptions>;  // recipe below model.query

  /// All steps with known targets. targets [B, T, E]: the embedded target that precedes each output; seen: the features
  /// of AttentionModel::seen(); summary: Encoded::last.
  virtual QueryOutput answer(const Features& targets, const Features& seen, const Tensor& summary,
                             const Call& call) = 0;
  /// The state before the first step.
  virtual std::unique_ptr<QueryState> start(const Features& seen, const Tensor& summary) = 0;
  /// Width of the outputs.
  virtual int64_t width() const = 0;
  /// Name of the step whose weights align targets with the input, such as "cross".
  virtual std::string aligning_step() const = 0;
  /// Whether a target is aligned by the weights of the following step, which has it as input (Chen et al., 2020).
  virtual bool shifts_alignment() const { return false; }
};

/// Arguments of an output model in addition to its recipe.
struct OutputOptions {
  int64_t in = 0, classes = 0;  // width of its input, number of classes
  Tensor embedding{};           // [classes, E]: target embeddings, which an output model may share
};

/// Computes logits of classes from the outputs of a query model.
class OutputModel : public torch::nn::Module {
 public:
  static constexpr auto kKind = "output model";
  using Parts = Catalogue<OutputModel, Settings, OutputOptions>;  // recipe below model.output

  /// [..., in] -> logits [..., classes].
  virtual Tensor logits(const Tensor& outputs) = 0;
};

/// Factory for entries of the catalogues.
template <typename Base, typename Kind, typename... With>
std::shared_ptr<Base> make_component(const Options&, const With&... with) {
  return std::make_shared<Kind>(with...);
}

/// Builds the component that the key `kind` of `settings` names from the other keys. defaults: the default kind.
template <typename Component, typename... With>
std::shared_ptr<Component> component(const Settings& settings, const std::string& defaults, const With&... with) {
  std::vector<std::string> kinds{defaults};
  for (const auto& name : Component::Parts::names())
    if (name != defaults) kinds.push_back(name);
  return Component::Parts::make(settings.choice("kind", kinds), settings, with...);
}

/// Builds the attention model from model.attention: the spec of a mechanism, the name of an attention model, or a map
/// with the keys of one. defaults: the spec if the recipe has none.
std::shared_ptr<AttentionModel> attention_model(const Settings& settings, const std::string& defaults);

}  // namespace heed
