// A model whose attention is tested as an explanation, and the texts that it is tested on. A test asks how the outputs
// change when weights, tokens or embeddings do; it knows neither classifiers nor translators.
//
//   B   texts of a batch
//   T   tokens of a text, padded: those that are attended to, without markers. A document has those of its sentences
//       side by side
//   P   positions of the output: 1 of a classifier; of a translator the tokens of the known target, padded
//   C   classes, or tokens of the target vocabulary
//   N   variations that are tried: each of one text of the batch, any number of each

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace heed {

using at::Tensor;

struct ExplainedText {
  std::string id{};                    // of the set: its id, or file and line
  std::vector<std::string> tokens{};   // as the model reads them, without markers and padding
  std::vector<int64_t> word{};         // of each token, the index in `words`; -1: of none
  std::vector<std::string> words{};    // of the whole text; what was cut has no tokens
  std::vector<std::string> targets{};  // of a translator: the tokens of the target, with the end marker
  std::vector<int64_t> gold{};         // of a classifier: the classes that are right
  std::vector<double> rationale{};     // weights of people, one for each word, if the set has them
};

/// What is known of a model.
struct ExplainedFacts {
  std::string run{};                   // its folder
  std::string task{};                  // "classify" or "translate"
  std::string mechanism{};             // "additive + softmax"; "mean" of a model without attention
  bool attends = true;                 // whether tokens have weights of their own
  bool several = false;                // whether classes are independent: any number is right. If not, outputs sum to 1
  bool number = false;                 // the output is a number, in deviations: as one class of `several`, without gold
  std::vector<std::string> classes{};  // names; empty of a translator
};

/// Some texts, read once: weights and outputs are those of the model as it is; of padding they are 0. Tensors are on
/// the device of the model.
class ExplainedBatch {
 public:
  virtual ~ExplainedBatch() = default;

  std::vector<size_t> items{};  // of ExplainedModel::texts(), in the order of B
  Tensor keep{};                // bool [B, T]
  Tensor positions{};           // bool [B, P]
  Tensor weights{};             // float [B, P, T]: one weight for each token, as described below
  Tensor outputs{};             // float [B, P, C]: probabilities

  // One weight for each token: the mean over heads, features and queries; of a document the weight of a word times that
  // of its sentence. They need not sum to 1, and are not normalized here: normalized() below does.

  int64_t size() const { return keep.size(0); }
  int64_t tokens() const { return keep.size(1); }

  // Each of these computes outputs float [N, P, C] for variations of texts rows: int64 [N], indices into B.

  /// Other weights [N, P, T], of the same meaning, in place of the model's, for all heads and features; what is
  /// attended to stays as it is. Differentiable. A document's are split into weights of words and of sentences.
  virtual Tensor outputs_with(const Tensor& rows, const Tensor& weights) = 0;
  /// The model's own weights, each key's those of another one: order int64 [N, P, T], a permutation of the tokens of
  /// the text; padding stays where it is. All heads, features and queries have the same order.
  virtual Tensor outputs_permuted(const Tensor& rows, const Tensor& order) = 0;
  /// Texts without some of their tokens, read again: removed bool [N, T]. A text may lose all of them.
  virtual Tensor outputs_without(const Tensor& rows, const Tensor& removed) = 0;
  /// The embeddings of the tokens, float [B, T, D], without a gradient.
  virtual Tensor embedded() = 0;
  /// Other embeddings [N, T, D]. Differentiable. fixed_weights: the weights are computed, but have no gradient
  /// (Jain & Wallace detach them).
  virtual Tensor outputs_from(const Tensor& rows, const Tensor& embedded, bool fixed_weights) = 0;

  /// Attention rollout through the layers of the model (Abnar & Zuidema, 2020), float [B, P, T]; undefined if there are
  /// no layers of self-attention.
  virtual Tensor rollout() = 0;
  /// Euclidean norm of the value of each token that the weights multiply, float [B, T].
  virtual Tensor value_norms() = 0;
};

class ExplainedModel {
 public:
  virtual ~ExplainedModel() = default;

  virtual const ExplainedFacts& facts() const = 0;
  virtual const std::vector<ExplainedText>& texts() const = 0;
  /// Memory and time of a text are about proportional to this.
  virtual int64_t cost(size_t item) const { return static_cast<int64_t>(texts()[item].tokens.size()); }
  /// Reads some texts. The batch may use the model and must end before it.
  virtual std::unique_ptr<ExplainedBatch> read(const std::vector<size_t>& items) = 0;
};

/// Which texts of which set.
struct ExplainedSet {
  std::string set = "dev";  // of the run's recipe: dev, test
  int64_t limit = 0;        // texts that are drawn, by seed; 0: all
  uint64_t seed = 1;
  std::vector<std::string> overrides{};  // of the recipe, data.root=...
};

/// The model of a run folder of `heed train` with texts of its recipe. device: "cpu", "cuda". Throws Error if the run
/// is not one that can be explained: several texts for an example, labels of words, numbers.
std::unique_ptr<ExplainedModel> load_explained(const std::string& run, const ExplainedSet& set, at::Device device);

/// Weights [.., T] divided by their sum over tokens; rows whose sum is 0 or not finite are 0.
Tensor normalized(const Tensor& weights);

}  // namespace heed
