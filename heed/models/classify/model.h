// Classification of texts as a task model: token ids in, labels out.
//
//   embedded text -> feature model -> attention model <- query model
//                                          |
//                                          +-> output model -> labels
//
// An example has one text or several; each has a feature model of its own, or all share one. The recipe below `model`:
// embedding (dim, dropout, token_dropout, vectors, frozen), features, query, attention, output.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <torch/nn/modules/embedding.h>

#include "heed/models/classify/label_output.h"
#include "heed/models/classify/pooling.h"
#include "heed/models/classify/text_batch.h"

namespace heed {

class Guide;

/// The texts of an example.
struct TextInputs {
  std::vector<std::string> columns{"text"};
  bool documents = false;  // whether the data has sentences
};

/// The components that the recipe below `model` names: read and checked, without parameters.
struct ClassificationComponents {
  int64_t embedding_dim = 0;
  double embedding_dropout = 0, token_dropout = 0, output_dropout = 0;
  bool share_features = false, frozen = false;
  std::string vectors;                                  // file of pretrained vectors, or ""
  std::vector<std::shared_ptr<FeatureModel>> features;  // one for each input of the attention model
  std::shared_ptr<Pooling> attention;
  std::shared_ptr<LabelOutput> output;
};

/// Reads every key below `model`. Throws Error for values that are invalid or do not fit together.
ClassificationComponents read_classification(const Settings& model, const TextInputs& inputs);

/// The label form of model.output.
LabelForm label_form(const Settings& model);

class ClassificationModel : public torch::nn::Module {
 public:
  ClassificationModel(const Settings& model, const TextInputs& inputs, int64_t vocabulary, const LabelSet& labels);

  /// The context of each text, with the steps of its attention. of_attention: outputs requested of the attention model
  /// alone, in place of those of the call.
  Pooled pool(const TextBatch& batch, const Call& call = {}, const std::optional<Outputs>& of_attention = {});

  // The same in steps.

  /// The embedded tokens of a batch for one input of the attention model; after dropout, in training.
  Features embed(size_t input, const TextBatch& batch);
  /// Features of each input, with the uses of mechanisms in the feature models.
  struct EncodedTexts {
    std::vector<Encoded> inputs{};
    Steps steps{};
    Tensor imposed{};  // guide_weights() of the texts
  };
  /// embedded: the embedded tokens for an input, asked for one after another.
  EncodedTexts encode(const std::function<Features(size_t)>& embedded, const Call& call = {});
  /// The context of each text. The steps of the feature models come first.
  Pooled attend(const EncodedTexts& encoded, const Call& call = {});
  /// The loss, summed over texts or tokens; wanted: see LabelOutput::loss().
  Tensor loss(const Pooled& pooled, const Tensor& wanted, const LabelLossOptions& options);
  /// Probabilities or numbers, see LabelOutput::predict().
  Tensor predict(const Pooled& pooled) { return output_->predict(pooled); }
  /// The same with the dropout that loss() has in training.
  Tensor predict_dropped(const Pooled& pooled) { return output_->predict(dropped(pooled)); }

  /// Imposes the weights of another model on the attention to every text, from now on. It becomes the submodule "guide"
  /// (guide.h). Throws Error if they do not fit.
  void set_guide(std::shared_ptr<ClassificationModel> guide);
  /// The weights of the guide for a batch, of the shape of its token ids; undefined without a guide.
  Tensor guide_weights(const TextBatch& batch) const;
  bool has_guide() const { return guide_ != nullptr; }

  /// Sets rows of the embedding: values [n, dim] for token ids [n].
  void set_vectors(const Tensor& ids, const Tensor& values);

  const Pooling& attention() const { return *attention_; }
  /// Whether the structure has this additional output, such as "penalty".
  bool computes(const std::string& output) { return attention_->example().output.also.count(output) > 0; }
  /// Whether texts are read as documents of sentences.
  bool reads_documents() const { return attention_->takes_documents(); }
  int64_t embedding_dim() const { return embeddings_.front()->weight.size(1); }
  /// Number of scalars in all parameters, without those of a guide.
  int64_t parameter_count() const;
  /// A guide is never in training mode.
  void train(bool on = true) override;

 private:
  Tensor without_some(const Tensor& rows) const;
  Pooled dropped(const Pooled& pooled) const;
  Encoded encode(size_t input, const Features& embedded, const Call& call, Steps& steps);

  double dropout_ = 0, token_dropout_ = 0, output_dropout_ = 0;
  std::vector<torch::nn::Embedding> embeddings_;  // one, or one for each representation of a text
  std::vector<std::shared_ptr<FeatureModel>> features_;
  std::shared_ptr<Pooling> attention_;
  std::shared_ptr<LabelOutput> output_;
  std::shared_ptr<ClassificationModel> guide_model_;
  std::shared_ptr<const Guide> guide_;
};

}  // namespace heed
