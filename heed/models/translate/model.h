// Translation as a task model: token ids in, token ids out.
//
//   embedded source -> feature model -> attention model <- query model <- embedded targets so far
//                                             |
//                                             +-> output model -> the next token
//
// The recipe below `model`: embedding (dim, dropout, shared), features, query, attention, output.

#pragma once

#include <memory>

#include <torch/nn/modules/embedding.h>

#include "heed/models/components.h"
#include "heed/models/translate/pair_batch.h"

namespace heed {

/// Vocabulary sizes.
struct Vocabularies {
  int64_t source = 0, target = 0;
  bool joint = false;  // one vocabulary for both sides, so that embeddings may be shared
};

/// Predictions for a batch; n is the number of real targets, or B T for a batch of one shape.
struct Predicted {
  Tensor outputs;   // [n, D], from which the output model computes logits: batch element by batch element
  Tensor wanted;    // [n]: the true token ids; Tokenizer::kPad at padding
  Tensor row;       // [n]: batch element of each target; undefined for a batch of one shape
  Tensor position;  // [n]: position of each target in its sentence; as row
  QueryOutput output;
  std::shared_ptr<OutputModel> output_model;

  /// [n, V], computed at each call.
  Tensor logits() const { return output_model->logits(outputs); }
  /// The sum of the cross entropy over tokens, float [].
  Tensor cross_entropy(const CrossEntropyOptions& options) const {
    return output_model->cross_entropy(outputs, wanted, options);
  }
  /// Log-probability of each target sentence: the sum over its tokens, double [B].
  Tensor log_probabilities(int64_t batch) const;
  /// Log-probability of each target token, float [n].
  Tensor target_log_probabilities() const;
};

/// The components that the recipe below `model` names: read and checked, without parameters.
struct TranslationComponents {
  int64_t embedding_dim = 0;
  double embedding_dropout = 0, output_dropout = 0;
  bool shared = false;  // one table of embeddings for both sides
  std::shared_ptr<FeatureModel> features;
  std::shared_ptr<AttentionModel> attention;
  std::shared_ptr<QueryModel> query;
  std::shared_ptr<OutputModel> output;
};

/// Reads every key below `model`. Throws Error for values that are invalid or do not fit together. joint: one
/// vocabulary for both sides.
TranslationComponents read_components(const Settings& model, bool joint);

class TranslationModel : public torch::nn::Module {
 public:
  TranslationModel(const Settings& model, const Vocabularies& vocabularies);

  /// Predictions with known targets (teacher forcing). The requested outputs are in the steps, of which
  /// Call::replace_weights replaces the weights of the aligning one.
  Predicted predict(const PairBatch& batch, const Call& call = {});

  // The same in steps.

  /// What queries attend to, and the summary of the features.
  struct EncodedSource {
    Features seen{};
    Tensor summary{};
  };
  /// The embedded source; after dropout, in training.
  Features embed_source(const PairBatch& batch) {
    return embedded(source_embedding_, batch.source, batch.source_keep, /*real_first=*/true);
  }
  EncodedSource encode(const Features& source, const Call& call = {}) { return encode(source, call, nullptr); }
  /// batch.source is not read.
  Predicted answer(const PairBatch& batch, const EncodedSource& source, const Call& call = {});

  /// Step-by-step decoding of a source.
  class Decoding {
   public:
    /// tokens [B]: the previous token ids. Returns log-probabilities of the next token, [B, V].
    Tensor step(const Tensor& tokens, const Call& call = {});
    /// The same step, as logits.
    Tensor logits(const Tensor& tokens, const Call& call = {});
    /// Replaces the batch by these batch elements: int64 [n], in any order, repeats allowed.
    void select(const Tensor& rows) { state_->select(rows); }
    /// Replaces each batch element by one of the same source, which is not copied: int64 [B]. beams: see
    /// QueryState::reorder().
    void reorder(const Tensor& rows, int64_t beams = 0) { state_->reorder(rows, beams); }
    /// See QueryState::fix().
    bool fix(int64_t steps) { return state_->fix(steps); }
    /// Attention weights of the last step over the source, [B, S]; requires call.outputs.weights.
    const Tensor& weights() const { return weights_; }

   private:
    friend class TranslationModel;
    TranslationModel* model_ = nullptr;
    std::unique_ptr<QueryState> state_;
    Tensor weights_;
  };
  /// Encodes the source: token ids [B, S], keep bool [B, S].
  Decoding start(const Tensor& source, const Tensor& keep);

  /// Every use of a mechanism over known targets, with the outputs that the call requests: "encoder.layers.0.self",
  /// "decoder.layers.0.self", "decoder.layers.0.cross"; a recurrent decoder has "decoder.cross" alone.
  Steps attention_steps(const PairBatch& batch, const Call& call = {});
  /// Weights [B, H, Lq, Lk] of the step of that name, averaged over channels.
  Tensor head_weights(const Steps& steps, const std::string& name) const;

  /// Weights [B, T, S] that align targets with the source: those of the aligning step, averaged over heads and
  /// channels.
  Tensor alignment(const Steps& steps) const;
  /// Name of the step whose weights align.
  std::string aligning_step() const { return query_->aligning_step(); }
  /// Whether a target is aligned by the weights of the following step, which has it as input.
  bool shifts_alignment() const { return query_->shifts_alignment(); }
  /// Whether the weights align targets with source tokens.
  bool aligns() const { return attention_->aligns(); }
  const AttentionModel& attention() const { return *attention_; }
  /// Number of scalars in all parameters.
  int64_t parameter_count() const;

 private:
  EncodedSource encode(const Features& source, const Call& call, Steps* steps);
  Features embedded(torch::nn::Embedding& table, const Tensor& ids, const Tensor& keep, bool real_first = false) const;
  Features embedded_target(const PairBatch& batch) {
    return embedded(target_embedding_, batch.target_in, batch.target_keep, /*real_first=*/true);
  }
  Tensor outputs_to_logits(const Tensor& outputs);

  double dropout_ = 0, output_dropout_ = 0;
  torch::nn::Embedding source_embedding_{nullptr}, target_embedding_{nullptr};
  std::shared_ptr<FeatureModel> features_;
  std::shared_ptr<AttentionModel> attention_;
  std::shared_ptr<QueryModel> query_;
  std::shared_ptr<OutputModel> output_;
};

}  // namespace heed
