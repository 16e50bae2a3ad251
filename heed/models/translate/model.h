// Translation as a task model: words in, words out.
//
//   embedded source -> feature model -> attention model <- query model <- embedded targets so far
//                                             |
//                                             +-> output model -> the next word
//
// The recipe below `model`: words (width, dropout, shared), features, query, attention, output.

#pragma once

#include <memory>

#include <torch/nn/modules/embedding.h>

#include "heed/models/components.h"
#include "heed/models/translate/pair_batch.h"

namespace heed {

struct Vocabularies {
  int64_t source = 0, target = 0;  // sizes
  bool joint = false;              // one vocabulary for both, so that embeddings may be shared
};

/// What the model says of a batch.
struct Predicted {
  Tensor logits;    // [n, words]: of real targets only, row by row
  Tensor wanted;    // [n]: the words there
  Tensor row;       // [n]: the batch row of each
  Tensor position;  // [n]: its position in that row
  Answered answered;

  /// Of each row, all its targets together [B]; double.
  Tensor log_probabilities(int64_t batch) const;
  /// Of each target [n]; float.
  Tensor target_log_probabilities() const;
};

class TranslationModel : public torch::nn::Module {
 public:
  TranslationModel(const Settings& model, const Vocabularies& vocabularies);

  /// All targets known. What the call wants is in the steps.
  Predicted predict(const PairBatch& batch, const Call& call = {});

  /// Decoding: start() for a source [B, S], then words one by one.
  class Decoding {
   public:
    /// words [B]: those before; log-probabilities of the next [B, words].
    Tensor step(const Tensor& tokens, const Call& call = {});
    void select(const Tensor& rows) { asking_->select(rows); }
    /// How the step before looked at the source [B, S]; with want.weights.
    const Tensor& weights() const { return weights_; }

   private:
    friend class TranslationModel;
    TranslationModel* model_ = nullptr;
    std::unique_ptr<Asking> asking_;
    Tensor weights_;
  };
  Decoding start(const Tensor& source, const Tensor& keep);

  /// Every use of a mechanism over known targets, with what the call wants: "encoder.layers.0.self",
  /// "decoder.layers.0.self", "decoder.layers.0.cross"; a recurrent decoder has "decoder.cross" alone.
  Steps attention_steps(const PairBatch& batch, const Call& call = {});
  /// Weights [B, H, Lq, Lk] of the step of that name, averaged over channels.
  Tensor head_weights(const Steps& steps, const std::string& name) const;

  /// Weights [B, T, S] that align targets with the source: those of the aligning step, averaged over heads and
  /// channels.
  Tensor alignment(const Steps& steps) const;
  /// The name of that step.
  std::string aligning_step() const { return query_->aligning_step(); }
  /// Whether the weights that belong to a target are those of the step after, which has it as its input.
  bool shifts_alignment() const { return query_->shifts_alignment(); }
  /// Whether weights say anything of words.
  bool aligns() const { return attention_->aligns(); }
  const AttentionModel& attention() const { return *attention_; }
  int64_t parameter_count() const;

 private:
  struct Source {
    Features seen;
    Tensor summary;
  };
  Source read(const Tensor& ids, const Tensor& keep, const Call& call, Steps* steps = nullptr);
  Features embedded(torch::nn::Embedding& table, const Tensor& ids, const Tensor& keep) const;
  Tensor outputs_to_logits(const Tensor& outputs);

  double dropout_ = 0, output_dropout_ = 0;
  torch::nn::Embedding source_embedding_{nullptr}, target_embedding_{nullptr};
  std::shared_ptr<FeatureModel> features_;
  std::shared_ptr<AttentionModel> attention_;
  std::shared_ptr<QueryModel> query_;
  std::shared_ptr<OutputModel> output_;
};

}  // namespace heed
