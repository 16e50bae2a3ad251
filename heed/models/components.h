// The four components of a task model, each a catalogue of its own:
//
//   input -> feature model -> features --+
//                                        +--> attention model -> context -> output model -> answer
//   state -> query model   -> queries  --+
//
// (the general attention module of the survey, and what stands around it). A component reads its own keys of the recipe
// when it is made: what it asks for is what it knows. Components own their parameters and know nothing of each other
// but widths.

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

/// The widest layer that a recipe may ask for. Whether it fits into memory depends on the rest (model_memory.h).
inline constexpr int64_t kMaxWidth = 1 << 16;

/// How queries look at features: what a query model needs to know to build its attention.
struct Looking {
  std::string mechanism;    // "additive + softmax"
  std::string structure{};  // "multi_hop(hops=2)"; "": the mechanism alone
  int64_t heads = 0;        // 0: as many as the query model has by itself
  int64_t hidden = 0;       // 0: as wide as the keys
  double dropout = 0;       // on weights, in training
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
  using Parts = Catalogue<FeatureModel, Settings, int64_t>;  // the recipe below model.features; width of what comes in

  /// rows [B, L, in] -> features [B, L, width], and a summary `last` [B, width] of all of them.
  virtual FeatureOutput encode(const Features& embedded, const Call& call) = 0;
  virtual int64_t width() const = 0;
};

/// What is looked at, and how.
class AttentionModel {
 public:
  static constexpr auto kKind = "attention model";
  using Parts = Catalogue<AttentionModel, Settings, std::string>;  // the recipe below model.attention; usual words

  virtual ~AttentionModel() = default;
  /// The features that queries see.
  virtual Features seen(const Encoded& encoded) const { return encoded.features; }
  /// Whether queries see the features one by one, so that there is a weight for each.
  virtual bool has_weights() const { return true; }
  /// Whether its weights say which input a query looked at.
  virtual bool aligns() const { return true; }
  const Looking& looking() const { return looking_; }

 protected:
  explicit AttentionModel(Looking looking) : looking_(std::move(looking)) {}

 private:
  Looking looking_;
};

struct QueryOptions {
  int64_t embedding = 0;  // width of embedded targets
  int64_t source = 0;     // width of features and of their summary
  Looking looking{};
};

/// What resulted from queries, with every use of a mechanism by name.
struct Answered {
  Features outputs;  // [B, T, width]
  Steps steps;
};

/// Queries that come one after another, each knowing the answer to the one before.
class Asking {
 public:
  virtual ~Asking() = default;
  /// embedded [B, E]: the target before; outputs [B, 1, width].
  virtual Answered step(const Tensor& embedded, const Call& call) = 0;
  /// Keeps these batch rows, int64 [n], in any order and as often as wanted.
  virtual void select(const Tensor& rows) = 0;
};

/// Queries from a state: asks the features and moves on.
class QueryModel : public torch::nn::Module {
 public:
  static constexpr auto kKind = "query model";
  using Parts = Catalogue<QueryModel, Settings, QueryOptions>;  // the recipe below model.query

  /// All targets known: embedded [B, T, E], those before each output. seen: what the attention model shows.
  virtual Answered answer(const Features& targets, const Features& seen, const Tensor& summary, const Call& call) = 0;
  virtual std::unique_ptr<Asking> start(const Features& seen, const Tensor& summary) = 0;
  /// Width of the outputs.
  virtual int64_t width() const = 0;
  /// Which of the steps looks at the features, "cross" by name, so that its weights align targets with input.
  virtual std::string aligning_step() const = 0;
  /// Whether a target is aligned best by the step that has it as its input, the one after (Chen et al., 2020).
  virtual bool shifts_alignment() const { return false; }
};

struct OutputOptions {
  int64_t in = 0, classes = 0;
  Tensor embedding{};  // [classes, E] of the targets, for outputs that share it
};

/// Answers from outputs.
class OutputModel : public torch::nn::Module {
 public:
  static constexpr auto kKind = "output model";
  using Parts = Catalogue<OutputModel, Settings, OutputOptions>;  // the recipe below model.output

  /// [..., in] -> scores of classes before softmax [..., classes].
  virtual Tensor logits(const Tensor& outputs) = 0;
};

/// For entries of the catalogues.
template <typename Base, typename Kind, typename... With>
std::shared_ptr<Base> make_component(const Options&, const With&... with) {
  return std::make_shared<Kind>(with...);
}

/// The component that `settings` names by its key `kind`, made from the rest of it; usual: where it names none.
template <typename Component, typename... With>
std::shared_ptr<Component> component(const Settings& settings, const std::string& defaults, const With&... with) {
  std::vector<std::string> kinds{defaults};
  for (const auto& name : Component::Parts::names())
    if (name != defaults) kinds.push_back(name);
  return Component::Parts::make(settings.choice("kind", kinds), settings, with...);
}

/// model.attention: a mechanism in words, the name of an attention model, or a map with the keys of one; usual: the
/// mechanism where nothing is said.
std::shared_ptr<AttentionModel> attention_model(const Settings& settings, const std::string& defaults);

}  // namespace heed
