// The attention model of a classifier: features of one or several texts to one context, or to a context for each token.
//
//   model.attention: additive + softmax                                 a learned query attends to the features
//   model.attention: {structure: hierarchical, align: sparsemax}        any structure, any mechanism inside
//   model.attention: {preset: yang_2016}                                a paper's structure and mechanism
//   model.attention: mean | fixed                                       without attention: the mean, or the summary
//
// A structure that gives a fixed number of contexts (hops, queries, capsules) has them side by side; one that gives a
// context for each token has their mean, unless each token is to be labeled.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/models/classify/label_output.h"
#include "heed/models/classify/pool_query.h"

namespace heed {

/// What there is to attend to.
struct PoolingInputs {
  std::vector<std::string> columns{"text"};  // names of the texts of an example
  bool documents = false;                    // texts are documents of sentences
  bool tokens = false;                       // each token is to have a context
};

struct PoolingValues {
  std::string mechanism{}, score{}, align{}, dimensionality{}, structure{}, preset{};
  int64_t num_heads = 1, hidden_dim = 0;
  double dropout = 0;
};

class Pooling : public torch::nn::Module {
 public:
  /// Reads model.attention and model.query, and checks what does not depend on widths: Error names an input that the
  /// structure needs and the data does not have.
  Pooling(const Settings& attention, const Settings& query, const PoolingInputs& inputs);

  /// Number of feature models whose outputs forward() takes: one for each text, or for each representation of one.
  int64_t inputs() const { return inputs_; }
  /// Whether features have an axis of sentences, [B, S, L, D].
  bool takes_documents() const { return documents_; }
  /// Makes the modules for features of these widths.
  void build(const std::vector<int64_t>& widths);
  Pooled forward(const std::vector<Encoded>& encoded, const Call& call);
  /// The context of two texts of random features, for an output model to build on.
  Pooled example();

  /// "multi_hop(hops=2): additive + softmax"; "mean".
  std::string to_string() const;
  /// Spec of the mechanism, or of the alignment if the structure computes its own scores.
  const std::string& mechanism() const { return mechanism_; }
  /// Whether texts are weighted.
  bool attends() const { return baseline_.empty(); }
  /// Number of dimensions of the weights beyond query and key: 1 if there is a weight for each channel.
  bool has_channels() const;
  /// The order in which the structure takes the texts: input i is column order()[i].
  const std::vector<size_t>& order() const { return order_; }

 private:
  StructureOptions options(const std::vector<int64_t>& widths) const;
  void resolve(const Settings& attention);
  void match(const Settings& attention, const PoolingInputs& inputs, const StructureSignature& takes);

  PoolingValues values_;
  std::string baseline_;  // "mean", "fixed" or ""
  std::string spec_, mechanism_;
  int64_t inputs_ = 1;
  bool documents_ = false, tokens_ = false, takes_query_ = false;
  bool by_position_ = false;  // the structure has a context for each token
  std::vector<size_t> order_{0};
  std::vector<int64_t> widths_;
  std::shared_ptr<Structure> structure_;
  std::shared_ptr<PoolQuery> query_;
};

/// The keys below model.attention.
RecipeKeyList pooling_keys();

}  // namespace heed
