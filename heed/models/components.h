// The four components of a task model, each with its own catalogue:
//
//   input -> feature model -> features --+
//                                        +--> attention model -> context -> output model -> answer
//   state -> query model   -> queries  --+
//
// (the task model of the survey: its general attention module and the models around it). A component declares its keys
// of the recipe in a table (base/recipe_keys.h) and reads and checks them in its constructor, which makes no tensors:
// a recipe is checked before any file is read. build() makes the modules and draws their initial weights. Components
// own their parameters and know only each other's widths.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <torch/nn/module.h>

#include "heed/backend/cross_entropy.h"
#include "heed/base/catalogue.h"
#include "heed/base/recipe_keys.h"
#include "heed/base/settings.h"
#include "heed/structures/decode/decoder.h"
#include "heed/structures/encode/recurrent.h"
#include "heed/structures/encode/transformer.h"
#include "heed/structures/features.h"
#include "heed/structures/uses.h"

namespace heed {

/// Largest width that a recipe may set. Whether the model fits into memory is checked separately (model_memory.h).
inline constexpr int64_t kMaxWidth = 1 << 16;

/// The key that names a component below model.features, model.query, model.attention and model.output.
inline constexpr const char* kKindKey = "kind";

/// How queries attend to features: what model.attention of a recipe says.
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

  /// Makes the modules. Called once, before encode().
  virtual void build() {}
  /// rows [B, L, in] -> features [B, L, width], and a summary `last` [B, width] of all of them.
  virtual FeatureOutput encode(const Features& embedded, const Call& call) = 0;
  virtual int64_t width() const = 0;
};

/// Attends to features with the queries of a query model, which builds it for its widths and calls it: as a
/// SourceAttention where there is one query at a time, or by one cross-attention for each layer.
class AttentionModel : public SourceAttention {
 public:
  static constexpr auto kKind = "attention model";
  using Parts = Catalogue<AttentionModel, Settings, std::string>;  // recipe below model.attention, default spec

  /// The features that queries attend to.
  virtual Features seen(const Encoded& encoded) const { return encoded.features; }
  /// Whether queries see the features one by one, so that there is a weight for each.
  virtual bool has_weights() const { return true; }
  /// Whether its weights say which input a query looked at.
  virtual bool aligns() const { return true; }
  const AttentionSpec& spec() const { return spec_; }

  /// Throws Error if the mechanism does not fit queries and features of these widths. A structure is checked when it is
  /// built.
  void check_fits(int64_t query_dim, int64_t source_dim) const;
  /// Makes the module that attends with one query at a time.
  void build(int64_t query_dim, int64_t source_dim);
  /// Makes the cross-attention of the next layer of a Transformer.
  Attention build_layer(const TransformerOptions& options);

 protected:
  explicit AttentionModel(AttentionSpec spec) : spec_(std::move(spec)) {}

 private:
  AttentionSpec spec_;
};

/// Arguments of a query model in addition to its recipe.
struct QueryOptions {
  int64_t embedding = 0;  // width of embedded targets
  int64_t source = 0;     // width of features and of their summary
  std::shared_ptr<AttentionModel> attention{};
};

struct QueryDefaults;
/// The defaults of each query model by name.
std::map<std::string, QueryDefaults>& query_defaults();

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
  /// The same for rows that replace each batch element by one with the same features, which need not be copied. A beam
  /// search does so at every step. beams: batch elements with the same features, which follow each other; 0: unknown.
  virtual void reorder(const Tensor& rows, int64_t /*beams*/) { select(rows); }
  /// Makes all tensors keep their memory for so many further steps: step() and reorder() then do the same work each
  /// time and can be recorded and repeated (torch_support/captured.h). Called again after select(), or for more steps.
  /// Returns whether the model can; if not, nothing changes.
  virtual bool fix(int64_t /*steps*/) { return false; }
};

/// Computes queries from a state, attends to the features with the attention model that it is given, and updates the
/// state.
class QueryModel : public torch::nn::Module {
 public:
  static constexpr auto kKind = "query model";
  using Parts = Catalogue<QueryModel, Settings, QueryOptions>;  // recipe below model.query

  /// Makes the modules. Called once, before answer() and start().
  virtual void build() = 0;
  /// All steps with known targets. targets [B, T, E]: the embedded target that precedes each output; seen: the features
  /// of AttentionModel::seen(); summary: Encoded::last. Call::replace_weights replaces the weights of the aligning step
  /// alone; where targets are read one by one it is called for each of them, in order.
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
  int64_t in = 0;             // width of its input
  int64_t embedding_dim = 0;  // width of the target embeddings, which it may share; 0: there are none
};

/// Computes logits of classes from the outputs of a query model.
class OutputModel : public torch::nn::Module {
 public:
  static constexpr auto kKind = "output model";
  using Parts = Catalogue<OutputModel, Settings, OutputOptions>;  // recipe below model.output

  /// Makes the modules. Called once, before logits(). embedding [classes, E]: target embeddings, if there are any.
  virtual void build(int64_t classes, const Tensor& embedding) = 0;
  /// [..., in] -> logits [..., classes].
  virtual Tensor logits(const Tensor& outputs) = 0;
  /// The sum of the cross entropy of logits(outputs), outputs [n, in], wanted [n].
  virtual Tensor cross_entropy(const Tensor& outputs, const Tensor& wanted, const CrossEntropyOptions& options) {
    return heed::cross_entropy(logits(outputs).to(at::kFloat), wanted, options);
  }
};

/// The keys that each component of one kind declares, by the name of the component.
template <typename Component>
struct ComponentKeys {
  using Table = std::map<std::string, RecipeKeyList (*)()>;
  static Table& table() {
    static Table all;  // initialized before the first entry
    return all;
  }
};

/// Enters a component into the catalogue of its kind, with Kind::keys(), the keys that it declares: one static object
/// in its file.
template <typename Component, typename Kind>
class ComponentEntry {
 public:
  ComponentEntry(const std::string& name, Description description)
      : entry_(name, maker(static_cast<typename Component::Parts*>(nullptr)), std::move(description)) {
    ComponentKeys<Component>::table()[name] = Kind::keys;
  }

 private:
  template <typename... With>
  static typename Component::Parts::Maker maker(Catalogue<Component, With...>*) {
    return [](const Options&, const With&... with) -> std::shared_ptr<Component> {
      return std::make_shared<Kind>(with...);
    };
  }
  typename Component::Parts::Entry entry_;
};

/// What a recipe need not say once it names a query model: the choices of its paper.
struct QueryDefaults {
  std::string features;   // name of the feature model
  std::string mechanism;  // spec
};

/// Enters a query model, with its defaults.
template <typename Kind>
class QueryEntry {
 public:
  QueryEntry(const std::string& name, const QueryDefaults& defaults, Description description)
      : entry_(name, std::move(description)) {
    query_defaults()[name] = defaults;
  }

 private:
  ComponentEntry<QueryModel, Kind> entry_;
};

/// The name of the component that the key `kind` of `settings` asks for. default_kind: where the recipe has none.
template <typename Component>
std::string component_kind(const Settings& settings, const std::string& default_kind) {
  std::string kind = default_kind;
  read_key(settings, kKindKey, {.choices = Component::Parts::names()}, kind);
  return kind;
}

/// The key `kind` as it is listed.
template <typename Component>
RecipeKeyList kind_keys(const std::string& default_kind, const std::string& sentence,
                        const std::string& default_text = "") {
  RecipeKey key =
      listed_key(kKindKey, {.choices = Component::Parts::names(), .default_text = default_text}, default_kind);
  key.sentence = sentence;
  return {key};
}

/// The component that the key `kind` of `settings` names, from the other keys.
template <typename Component, typename... With>
std::shared_ptr<Component> component(const Settings& settings, const std::string& default_kind, const With&... with) {
  return Component::Parts::make(component_kind<Component>(settings, default_kind), settings, with...);
}

/// Builds the attention model from model.attention: the spec of a mechanism, the name of an attention model, or a map
/// with the keys of one. defaults: the spec if the recipe has none.
std::shared_ptr<AttentionModel> attention_model(const Settings& settings, const std::string& defaults);
/// The keys that attention_model() reads for every attention model.
RecipeKeyList attention_model_keys();

}  // namespace heed
