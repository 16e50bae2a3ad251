// A structure: how queries and features are arranged around mechanisms.
//
// A structure is a torch module with one or more slots. A slot is an Attention with its own parameters, which holds the
// mechanism; the structure itself never touches scores, masks or alignments. Any mechanism of the catalogue fits into a
// slot. A structure that computes its own scores accepts only an alignment.
//
//   auto rotatory = heed::structure("rotatory(hops=3)", {.features = {300}, .mechanism = "additive + sparsemax"});
//   auto out = rotatory->forward({.features = {left, target, right}});      // out.context [B, 1, 4 * 300]
//
// A new structure is one file and one test: a class, and an entry in Catalogue<Structure, StructureOptions>.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <torch/nn/module.h>

#include "heed/attention/attention.h"
#include "heed/base/catalogue.h"
#include "heed/structures/features.h"
#include "heed/structures/uses.h"

namespace heed {

/// Sizes and settings of a structure; its spec ("rotatory(hops=3)") is given separately.
struct StructureOptions {
  std::vector<int64_t> features{};  // width of each input; a single one applies to all inputs
  int64_t query_dim = 0;            // width of the query, if the structure takes one; 0: width of the first input
  int64_t hidden_dim = 0;           // hidden width of the slots; 0: width of their keys
  int64_t num_heads = 1;            // heads of each slot
  std::string mechanism{};  // spec for every slot; empty: the paper's. An alignment, "sparsemax", if own_scores()
  double dropout = 0;       // on attention weights, in training
};

/// The inputs that a structure takes.
struct StructureSignature {
  std::vector<std::string> features;  // names of the inputs, in order: {"left", "target", "right"}
  bool query = false;                 // takes a query [B, Lq, Dq] in addition to the features
  int64_t depth = 1;                  // number of position axes: 1 for [B, L, D], 2 for [B, S, L, D]
  bool masks = false;                 // accepts causal, window and biases: its queries are positions in a sequence
  bool same_length = false;           // all inputs have the same length
  bool edges = false;                 // takes the edges of a graph whose nodes are the features
};

/// The inputs of one call of a structure.
struct StructureInput {
  std::vector<Features> features{};
  Tensor query{};  // [B, Lq, Dq]
  Tensor edges{};  // int64 [2, E], source and target nodes: the same graph for every batch element
  Call call{};     // noise, path and requested outputs of every attention call inside; Features::keep masks the keys
};

/// The result of a structure. `steps` holds the result of every attention call, in order, under the name of its slot;
/// further calls of the same slot are named "slot.2", "slot.3".
struct StructureOutput {
  Tensor context;  // [B, Lq, D]
  Tensor keep{};   // bool [B, Lq]: true where a context is real; undefined: all are real
  Steps steps{};
  std::map<std::string, Tensor> also{};  // additional outputs, by the names the structure documents: "penalty"

  /// Appends a step and returns its context.
  const Tensor& add(const std::string& slot, const Attended& attended);
  /// The step of that name. Throws Error if there is none.
  const Attended& step(const std::string& name) const { return step_of(steps, name, "structure"); }
};

class Structure;

/// A named Attention inside a structure.
class Slot {
 public:
  Slot() = default;
  /// Attends with query [B, Lq, Dq] over features as keys; values [B, L, Dv] default to the features. Adds a step to
  /// `out` and returns its context.
  Tensor operator()(StructureOutput& out, const Tensor& query, const Features& features, const Call& call,
                    const Tensor& values = {}) const;
  const Attention& attention() const { return attention_; }

 private:
  friend class Structure;
  std::string name_;
  mutable Attention attention_{nullptr};
};

/// A named structure inside another.
class Nested {
 public:
  Nested() = default;
  /// Runs the inner structure and returns its output. Adds its steps to `out` as "name/step".
  StructureOutput operator()(StructureOutput& out, const StructureInput& given) const;
  const Structure& operator*() const { return *structure_; }
  const Structure* operator->() const { return structure_.get(); }

 private:
  friend class Structure;
  std::string name_;
  std::shared_ptr<Structure> structure_;
};

class Structure : public torch::nn::Module {
 public:
  static constexpr auto kKind = "structure";
  using Parts = Catalogue<Structure, StructureOptions>;

  /// Checks the input against takes() (throws Error), sets padding to zero, and calls arrange().
  StructureOutput forward(const StructureInput& given);

  /// The inputs that forward() expects.
  virtual StructureSignature takes() const = 0;
  /// Width of the context.
  virtual int64_t width() const = 0;
  /// Whether the structure computes its own scores; its mechanism is then an alignment alone.
  bool own_scores() const;

  /// Width of one input (counted from 0), and width of the query.
  int64_t width_of(size_t input) const;
  int64_t width_of_query() const;

  /// Spec of the mechanism, or of the alignment if own_scores(): that of the options, or else the paper's.
  std::string inside() const { return options_.mechanism.empty() ? default_ : options_.mechanism; }
  const StructureOptions& options() const { return options_; }
  /// The spec, "rotatory(hops=3)".
  const std::string& to_string() const { return spec_; }
  std::shared_ptr<torch::nn::Module> clone(const c10::optional<torch::Device>& device = c10::nullopt) const override;
  void pretty_print(std::ostream& stream) const override;

 protected:
  /// defaults: the mechanism of the paper, used if the options name none. An alignment alone declares that the
  /// structure computes its own scores.
  Structure(StructureOptions options, std::string defaults);

  /// Computes the output. given: checked against takes(); features at padding are zero.
  virtual StructureOutput arrange(const StructureInput& given) = 0;

  /// Registers a slot with the mechanism of the options. query, keys, values: widths; values 0: width of the keys.
  Slot slot(const std::string& name, int64_t query, int64_t keys, int64_t values = 0);
  /// Registers a slot with this score ("self_attentive", "dot") and the alignment of the options.
  Slot slot_with_score(const std::string& score, const std::string& name, int64_t query, int64_t keys,
                       int64_t values = 0);
  /// Registers a slot with this mechanism, or with these options, regardless of the structure's mechanism.
  Slot slot_of(const Mechanism& mechanism, const std::string& name, int64_t query, int64_t keys, int64_t values = 0);
  Slot slot_of(const AttentionOptions& options, const std::string& name);
  /// Registers another structure as a part of this one.
  Nested nested(const std::string& name, const std::string& spec, const StructureOptions& options);
  /// Registers a parameter of the structure itself.
  Tensor parameter(const std::string& name, std::vector<int64_t> shape, Initial initial = {});

  /// The mechanism of the options, or the default one. If own_scores(): "dot" with the alignment.
  Mechanism mechanism() const;

 private:
  /// Copies parameters, buffers and training modes from a structure of the same spec. Called when a module that holds a
  /// structure is cloned.
  void clone_(torch::nn::Module& other, const c10::optional<torch::Device>& device) override;

  friend std::shared_ptr<Structure> structure(const std::string&, const StructureOptions&);

  StructureOptions options_;
  std::string spec_, default_;
};

/// Builds the structure of a spec, "rotatory(hops=3)". Throws Error for an unknown name or option, and for widths that
/// do not fit.
std::shared_ptr<Structure> structure(const std::string& spec, const StructureOptions& options);

/// Factory for entries of the catalogue.
template <typename Kind>
std::shared_ptr<Structure> make_structure(const Options& spec, const StructureOptions& options) {
  return std::make_shared<Kind>(spec, options);
}

/// Concatenates tensors along the last axis: [q; c].
Tensor beside(const std::vector<Tensor>& parts);

}  // namespace heed
