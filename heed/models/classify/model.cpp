#include "heed/models/classify/model.h"

#include <cmath>

#include "heed/backend/dropout.h"
#include "heed/base/check.h"
#include "heed/data/tokenizer.h"
#include "heed/models/classify/guide.h"
#include "heed/models/embedding.h"
#include "heed/torch_support/noise_scope.h"

namespace heed {
namespace {

struct VectorValues {
  std::string vectors;
  bool frozen = false;
  double token_dropout = 0;
};

const RecipeTable<VectorValues> vector_keys{
    {"vectors",
     &VectorValues::vectors,
     "file of pretrained vectors in the text format of word2vec or GloVe; those of other words are drawn",
     {.default_text = "none"}},
    {"frozen", &VectorValues::frozen, "whether the embeddings are not trained"},
    {"token_dropout",
     &VectorValues::token_dropout,
     "share of the tokens whose embedding is 0 in training (Iyyer et al., 2015)",
     {.min = 0, .max = 0.99}}};

struct FeatureValues {
  bool shared = false;
};

const RecipeTable<FeatureValues> feature_keys{
    {"shared", &FeatureValues::shared, "whether several texts share one feature model"}};

constexpr const char *kTextFeatures = "recurrent", *kLabelOutput = "softmax", *kTextQuery = "learned",
                     *kClassify = "classify";

const RecipeSection::Entry text_embedding_section{{"model.embedding", 130, "Embeddings of tokens.",
                                                   [] {
                                                     return all_keys({embedding_keys().list(), vector_keys.list()});
                                                   },
                                                   kClassify}};
const RecipeSection::Entry text_query_section{
    {"model.query", 131, "The query model, for structures that take a query.",
     [] { return kind_keys<PoolQuery>(kTextQuery, "the query model, which has keys of its own"); }, kClassify}};
const RecipeSection::Entry text_features_section{
    {"model.features", 132, "The feature model.",
     [] {
       return all_keys({kind_keys<FeatureModel>(kTextFeatures, "the feature model, which has keys of its own"),
                        feature_keys.list()});
     },
     kClassify}};
const RecipeSection::Entry pooling_section{{"model.attention", 133, "The attention model.", pooling_keys, kClassify}};
const RecipeSection::Entry label_output_section{
    {"model.output", 134, "The output model.",
     [] {
       return all_keys({kind_keys<LabelOutput>(kLabelOutput, "the output model, which has keys of its own"),
                        output_dropout_keys().list()});
     },
     kClassify}};

/// Every sentence is a batch element of its own, of which each document has S: what a document draws does not depend on
/// the documents before it. Null outside a scope.
std::unique_ptr<NoiseScope> scope_of_sentences(int64_t S) {
  NoiseScope* const outer = NoiseScope::current();
  if (outer == nullptr) return nullptr;
  return std::make_unique<NoiseScope>(outer->seed(), outer->next_use(), outer->first_row() * S);
}

}  // namespace

LabelForm label_form(const Settings& model) {
  return component<LabelOutput>(model.at("output", kKindKey), kLabelOutput)->form();
}

ClassificationComponents read_classification(const Settings& model, const TextInputs& inputs) {
  const Settings embedding = model.at("embedding"), features = model.at("features", kKindKey),
                 query = model.at("query", kKindKey), attention = model.at("attention", "mechanism"),
                 output = model.at("output", kKindKey);
  ClassificationComponents parts;
  const EmbeddingValues e = embedding_keys().read(embedding);
  parts.embedding_dim = e.dim;
  parts.embedding_dropout = e.dropout;
  const VectorValues v = vector_keys.read(embedding);
  parts.vectors = v.vectors;
  parts.frozen = v.frozen;
  parts.token_dropout = v.token_dropout;
  parts.output = component<LabelOutput>(output, kLabelOutput);
  parts.output_dropout = output_dropout_keys().read(output, {.dropout = e.dropout}).dropout;
  const PoolingInputs given{
      .columns = inputs.columns, .documents = inputs.documents, .tokens = parts.output->form() == LabelForm::tokens};
  parts.attention = std::make_shared<Pooling>(attention, query, given);
  parts.share_features = feature_keys.read(features).shared;
  for (int64_t i = 0; i < parts.attention->inputs(); ++i)
    parts.features.push_back(parts.share_features && i > 0 ? parts.features.front()
                                                           : component<FeatureModel>(features, kTextFeatures, e.dim));
  return parts;
}

ClassificationModel::ClassificationModel(const Settings& model, const TextInputs& inputs, int64_t vocabulary,
                                         const LabelSet& labels) {
  const ClassificationComponents parts = read_classification(model, inputs);
  dropout_ = parts.embedding_dropout;
  token_dropout_ = parts.token_dropout;
  output_dropout_ = parts.output_dropout;
  attention_ = parts.attention;
  const bool tables = inputs.columns.size() == 1 && attention_->inputs() > 1;  // representations of one text
  const int64_t count = tables ? attention_->inputs() : 1;
  for (int64_t i = 0; i < count; ++i) {
    const std::string name = count == 1 ? "embedding" : "embedding_" + std::to_string(i + 1);
    embeddings_.push_back(register_module(name, embedding_table(vocabulary, parts.embedding_dim)));
    {
      // Where every training word is in the vocabulary, <unk> is never trained: an unknown word then says nothing.
      const torch::NoGradGuard no_grad;
      embeddings_.back()->weight[Tokenizer::kUnknown].zero_();
    }
    embeddings_.back()->weight.requires_grad_(!parts.frozen);
  }
  std::vector<int64_t> widths;
  for (size_t i = 0; i < parts.features.size(); ++i) {
    features_.push_back(parts.features[i]);
    widths.push_back(features_.back()->width());
    if (i > 0 && parts.share_features) continue;
    register_module(
        parts.features.size() == 1 || parts.share_features ? "features" : "features_" + std::to_string(i + 1),
        features_.back());
    features_.back()->build();
  }
  register_module("attention", attention_);
  attention_->build(widths);
  output_ = register_module("output", parts.output);
  output_->build(attention_->example(), labels);
}

/// The embeddings with those of some tokens 0, in training.
Tensor ClassificationModel::without_some(const Tensor& rows) const {
  if (!is_training() || token_dropout_ == 0) return rows;
  auto shape = rows.sizes().vec();
  shape.back() = 1;
  return rows * (heed::dropout(at::ones(shape, rows.options().requires_grad(false)), token_dropout_, true) *
                 (1 - token_dropout_));
}

Features ClassificationModel::embed(size_t input, const TextBatch& batch) {
  const bool tables = embeddings_.size() > 1;
  const auto& column = batch.columns[tables ? 0 : attention_->order()[input]];
  auto& table = embeddings_[tables ? input : 0];
  return {heed::dropout(without_some(table(column.ids)), dropout_, is_training()), column.keep, /*real_first=*/true};
}

/// The features of one input of the attention model.
Encoded ClassificationModel::encode(size_t input, const Features& embedded, const Call& call, Steps& steps) {
  if (embedded.rows.dim() == 3) {
    FeatureOutput found = features_[input]->encode(embedded, call);
    for (auto& step : found.steps) steps.push_back(std::move(step));
    return std::move(found.encoded);
  }
  const int64_t B = embedded.rows.size(0), S = embedded.rows.size(1);  // a document: its sentences are encoded apart
  const Features sentences{embedded.rows.flatten(0, 1), embedded.keep.flatten(0, 1), /*real_first=*/true};
  const auto noise = scope_of_sentences(S);
  Call own = call;
  own.noise.first_row *= S;
  FeatureOutput found = features_[input]->encode(sentences, own);
  for (auto& step : found.steps) steps.push_back(std::move(step));
  const Tensor& rows = found.encoded.features.rows;
  return {{rows.view({B, S, rows.size(1), rows.size(2)}), embedded.keep}, found.encoded.last};
}

ClassificationModel::EncodedTexts ClassificationModel::encode(const std::function<Features(size_t)>& embedded,
                                                              const Call& call) {
  EncodedTexts texts;
  for (size_t input = 0; input < features_.size(); ++input)
    texts.inputs.push_back(encode(input, embedded(input), call, texts.steps));
  for (auto& [name, attended] : texts.steps) name = "features." + name;
  return texts;
}

Pooled ClassificationModel::attend(const EncodedTexts& encoded, const Call& call) {
  Call guided = call;
  if (encoded.imposed.defined()) {
    guided.replace_weights = [imposed = guide_->imposed(encoded.imposed), also = call.replace_weights](
                                 const Tensor& own, const Tensor& values) {
      const Tensor weights = imposed(own, values).expand(own.sizes());
      return also ? also(weights, values) : weights;
    };
  }
  Pooled pooled = attention_->forward(encoded.inputs, guided);
  pooled.output.steps.insert(pooled.output.steps.begin(), encoded.steps.begin(), encoded.steps.end());
  return pooled;
}

Pooled ClassificationModel::pool(const TextBatch& batch, const Call& call, const std::optional<Outputs>& of_attention) {
  Call to_features = call, to_texts = call;
  to_features.replace_weights = {};  // for the weights of texts
  if (of_attention) to_texts.outputs = *of_attention;
  EncodedTexts encoded = encode([&](size_t input) { return embed(input, batch); }, to_features);
  encoded.imposed = guide_weights(batch);
  return attend(encoded, to_texts);
}

Tensor ClassificationModel::loss(const Pooled& pooled, const Tensor& wanted, const LabelLossOptions& options) {
  return output_->loss(dropped(pooled), wanted, options);
}

Pooled ClassificationModel::dropped(const Pooled& pooled) const {
  Pooled out = pooled;
  out.rows = heed::dropout(pooled.rows, output_dropout_, is_training());
  return out;
}

void ClassificationModel::set_guide(std::shared_ptr<ClassificationModel> guide) {
  check(!has_guide() && !guide->has_guide(), "models/classify: got a guide that is guided itself, expected one whose ",
        "attention is its own");
  guide_ = std::make_shared<const Guide>(guide, *this);
  guide_model_ = register_module("guide", std::move(guide));
}

Tensor ClassificationModel::guide_weights(const TextBatch& batch) const {
  return guide_ ? guide_->weights(batch) : Tensor();
}

void ClassificationModel::train(bool on) {
  Module::train(on);
  if (guide_model_) guide_model_->eval();
}

void ClassificationModel::set_vectors(const Tensor& ids, const Tensor& values) {
  const torch::NoGradGuard no_grad;
  for (auto& table : embeddings_)
    table->weight.index_copy_(0, ids.to(table->weight.device()), values.to(table->weight));
}

int64_t ClassificationModel::parameter_count() const {
  int64_t count = 0;
  for (const auto& parameter : parameters()) count += parameter.numel();
  return guide_model_ ? count - guide_model_->parameter_count() : count;
}

}  // namespace heed
