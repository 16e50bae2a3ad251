// A structure: how queries and features are arranged around mechanisms.
//
// A structure is a module that calls the core and never touches scores, masks or alignments itself. It has one or more
// positions for a mechanism, its slots; each slot is an Attention with parameters of its own. Any mechanism of the
// catalogue can sit in a slot, unless the structure computes its scores itself: then the alignment varies.
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

/// What a structure is built for, besides its words.
struct StructureOptions {
  std::vector<int64_t> features{};  // width of each input; a single one: all are that wide
  int64_t query_dim = 0;                // width of the query, where there is one; 0: that of the first input
  int64_t hidden_dim = 0;               // of the slots; 0: as wide as their keys
  int64_t num_heads = 1;                // of the slots
  std::string mechanism{};          // in every slot; "": what the paper has. "sparsemax" where the scores are fixed
  double dropout = 0;               // on weights, in training
};

/// What a structure asks for.
struct StructureSignature {
  std::vector<std::string> features;  // the names of its inputs, in order: {"left", "target", "right"}
  bool query = false;                 // a query [B, Lq, Dq] besides
  int64_t depth = 1;                  // axes of positions: 1 for [B, L, D], 2 for [B, S, L, D]
  bool masks = false;                 // whether a call may bring causal, window and biases: queries are positions too
  bool same_length = false;           // all inputs are as long as each other
  bool edges = false;                 // the edges of a graph whose nodes are the features
};

/// One call of a structure.
struct StructureInput {
  std::vector<Features> features{};
  Tensor query{};  // [B, Lq, Dq]
  Tensor edges{};  // int64 [2, E], from and to: the same graph in every batch row
  Call call{};     // for every use of a mechanism inside: noise, path, wants; masks of positions come with the features
};

/// What comes back. Every use of a mechanism is there under the name of its slot, in order; used again, it is
/// "slot.2", "slot.3".
struct StructureOutput {
  Tensor context;  // [B, Lq, D]
  Tensor keep{};   // bool [B, Lq]: where contexts are real; undefined: all are
  Steps steps{};
  std::map<std::string, Tensor> also{};  // what a structure has besides, by the names it documents: "penalty"

  /// Takes note of a step and gives its context.
  const Tensor& add(const std::string& slot, const Attended& attended);
  /// The step of that name.
  const Attended& step(const std::string& name) const { return step_of(steps, name, "structure"); }
};

class Structure;

/// A place for a mechanism: an Attention under a name.
class Slot {
 public:
  Slot() = default;
  /// query [B, Lq, Dq] over features, or over what stands in `values` at the positions of the features.
  Tensor operator()(StructureOutput& out, const Tensor& query, const Features& features, const Call& call,
                    const Tensor& values = {}) const;
  const Attention& attention() const { return attention_; }

 private:
  friend class Structure;
  std::string name_;
  mutable Attention attention_{nullptr};
};

/// A structure inside another, under a name.
class Nested {
 public:
  Nested() = default;
  /// Its answer; its steps are noted in `out` as "name/step".
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

  /// Checks its input against takes(), clears padding, and arranges.
  StructureOutput forward(const StructureInput& given);

  virtual StructureSignature takes() const = 0;
  /// Width of the context.
  virtual int64_t width() const = 0;
  /// Whether scores are the structure's own, so that only the alignment of a mechanism counts.
  bool own_scores() const;

  /// The width of input i, of the query.
  int64_t width_of(size_t input) const;
  int64_t width_of_query() const;

  /// The mechanism inside, or the alignment where scores are its own: that of the options, else the paper's.
  std::string inside() const { return options_.mechanism.empty() ? default_ : options_.mechanism; }
  const StructureOptions& options() const { return options_; }
  /// "rotatory(hops=3)"
  const std::string& to_string() const { return spec_; }
  std::shared_ptr<torch::nn::Module> clone(const c10::optional<torch::Device>& device = c10::nullopt) const override;
  void pretty_print(std::ostream& stream) const override;

 protected:
  /// usual: the mechanism of the paper, for options that name none; just an alignment where scores are the
  /// structure's own.
  Structure(StructureOptions options, std::string defaults);

  /// given: as takes() says, without padding.
  virtual StructureOutput arrange(const StructureInput& given) = 0;

  /// A slot with the mechanism of the options. values: 0 for as wide as the keys.
  Slot slot(const std::string& name, int64_t query, int64_t keys, int64_t values = 0);
  /// A slot with another score and the alignment of the options: "self_attentive", "dot".
  Slot slot_with_score(const std::string& score, const std::string& name, int64_t query, int64_t keys,
                       int64_t values = 0);
  /// A slot with this mechanism, whatever the options say; or with everything said.
  Slot slot_of(const Mechanism& mechanism, const std::string& name, int64_t query, int64_t keys, int64_t values = 0);
  Slot slot_of(const AttentionOptions& options, const std::string& name);
  /// Another structure as a part of this one.
  Nested nested(const std::string& name, const std::string& spec, const StructureOptions& options);
  /// A parameter of the structure itself.
  Tensor parameter(const std::string& name, std::vector<int64_t> shape, Initial initial = {});

  /// That of the options, or the usual one. With scores of its own: dot, and the alignment that counts.
  Mechanism mechanism() const;

 private:
  /// Takes over the parameters, buffers and modes of another one of the same words: for modules that hold a structure.
  void clone_(torch::nn::Module& other, const c10::optional<torch::Device>& device) override;

  friend std::shared_ptr<Structure> structure(const std::string&, const StructureOptions&);

  StructureOptions options_;
  std::string spec_, default_;
};

/// The structure of these words. Refuses unknown words and options, and widths that do not fit.
std::shared_ptr<Structure> structure(const std::string& spec, const StructureOptions& options);

/// For entries of the catalogue.
template <typename Kind>
std::shared_ptr<Structure> make_structure(const Options& spec, const StructureOptions& options) {
  return std::make_shared<Kind>(spec, options);
}

/// [q; c]: contexts and queries side by side.
Tensor beside(const std::vector<Tensor>& parts);

}  // namespace heed
