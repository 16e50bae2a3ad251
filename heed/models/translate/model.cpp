#include "heed/models/translate/model.h"

#include "heed/attention/mechanism.h"
#include "heed/backend/dropout.h"
#include "heed/models/embedding.h"
#include "heed/torch_support/memory_limit.h"

namespace heed {
namespace {

struct SharedValues {
  bool shared = false;
};

const RecipeTable<SharedValues> shared_keys{
    {"shared", &SharedValues::shared, "one table of embeddings for both sides; needs `data.joint`"}};

constexpr const char *kDefaultQuery = "bahdanau", *kDefaultOutput = "softmax", *kTask = "translate";

const RecipeSection::Entry embedding_section{{"model.embedding", 30, "Embeddings of tokens.",
                                              [] {
                                                return all_keys({embedding_keys().list(), shared_keys.list()});
                                              },
                                              kTask}};
const RecipeSection::Entry query_section{
    {"model.query", 31, "The query model.",
     [] { return kind_keys<QueryModel>(kDefaultQuery, "the query model, which has keys of its own"); }, kTask}};
const RecipeSection::Entry features_section{{"model.features", 32, "The feature model.",
                                             [] {
                                               return kind_keys<FeatureModel>(
                                                   "recurrent", "the feature model, which has keys of its own",
                                                   "that of the query model's paper");
                                             },
                                             kTask}};
const RecipeSection::Entry attention_section{
    {"model.attention", 33, "The attention model.", attention_model_keys, kTask}};
const RecipeSection::Entry output_section{
    {"model.output", 34, "The output model.",
     [] {
       return all_keys({kind_keys<OutputModel>(kDefaultOutput, "the output model, which has keys of its own"),
                        output_dropout_keys().list()});
     },
     kTask}};

/// Runs `make`. An Error of the attention becomes one about model.attention.
template <typename Make>
void with_attention(const Settings& model, const AttentionSpec& spec, const Make& make) {
  try {
    make();
  } catch (const MemoryLimitExceeded&) {
    throw;
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.rfind("recipe: ", 0) == 0) throw;
    model.refuse("attention", "is '", spec.mechanism, spec.structure.empty() ? "'" : "' in '" + spec.structure + "'",
                 ", which does not fit here: ", what);
  }
}

}  // namespace

Tensor Predicted::target_log_probabilities() const {
  return at::log_softmax(logits().to(at::kFloat), -1).gather(1, wanted.unsqueeze(1)).squeeze(1);
}

Tensor Predicted::log_probabilities(int64_t batch) const {
  const auto log_p = target_log_probabilities();  // [n]
  return at::zeros({batch}, log_p.options().dtype(at::kDouble)).index_add(0, row, log_p.to(at::kDouble));
}

TranslationComponents read_components(const Settings& model, bool joint) {
  const Settings embedding = model.at("embedding"), features = model.at("features", kKindKey),
                 query = model.at("query", kKindKey), attention = model.at("attention", "mechanism"),
                 output = model.at("output", kKindKey);
  TranslationComponents parts;
  const EmbeddingValues e = embedding_keys().read(embedding);
  parts.shared = shared_keys.read(embedding).shared;
  if (parts.shared && !joint)
    embedding.refuse("shared",
                     "is true, but source and target have vocabularies of their own; expected data.joint: true");
  parts.embedding_dim = e.dim;
  parts.embedding_dropout = e.dropout;
  const std::string kind = component_kind<QueryModel>(query, kDefaultQuery);
  const QueryDefaults& defaults = query_defaults().at(kind);
  parts.features = component<FeatureModel>(features, defaults.features, e.dim);
  parts.attention = attention_model(attention, defaults.mechanism);
  const QueryOptions options{.embedding = e.dim, .source = parts.features->width(), .attention = parts.attention};
  with_attention(model, parts.attention->spec(), [&] { parts.query = QueryModel::Parts::make(kind, query, options); });
  parts.output_dropout = output_dropout_keys().read(output, {.dropout = e.dropout}).dropout;
  parts.output =
      component<OutputModel>(output, kDefaultOutput, OutputOptions{.in = parts.query->width(), .embedding_dim = e.dim});
  return parts;
}

TranslationModel::TranslationModel(const Settings& model, const Vocabularies& vocabularies) {
  const TranslationComponents parts = read_components(model, vocabularies.joint);
  dropout_ = parts.embedding_dropout;
  output_dropout_ = parts.output_dropout;
  source_embedding_ = register_module("source_embedding", embedding_table(vocabularies.source, parts.embedding_dim));
  target_embedding_ =
      parts.shared ? source_embedding_
                   : register_module("target_embedding", embedding_table(vocabularies.target, parts.embedding_dim));
  features_ = register_module("features", parts.features);
  features_->build();
  attention_ = parts.attention;
  query_ = register_module("query", parts.query);
  with_attention(model, attention_->spec(), [&] { query_->build(); });
  output_ = register_module("output", parts.output);
  output_->build(vocabularies.target, target_embedding_->weight);
}

Features TranslationModel::embedded(torch::nn::Embedding& table, const Tensor& ids, const Tensor& keep,
                                    bool real_first) const {
  return {heed::dropout(table(ids), dropout_, is_training()), keep, real_first};
}

/// steps: receives the uses of mechanisms in the feature model.
TranslationModel::EncodedSource TranslationModel::encode(const Features& source, const Call& call, Steps* steps) {
  Call own = call;
  own.replace_weights = nullptr;
  FeatureOutput output = features_->encode(source, own);
  if (steps != nullptr) *steps = std::move(output.steps);
  return {attention_->seen(output.encoded), output.encoded.last};
}

Tensor TranslationModel::outputs_to_logits(const Tensor& outputs) {
  return output_->logits(heed::dropout(outputs, output_dropout_, is_training()));
}

Predicted TranslationModel::predict(const PairBatch& batch, const Call& call) {
  Call plain = call;
  plain.outputs = {};
  return answer(batch, encode(embed_source(batch), plain), call);
}

Predicted TranslationModel::answer(const PairBatch& batch, const EncodedSource& source, const Call& call) {
  Predicted out;
  out.output = query_->answer(embedded_target(batch), source.seen, source.summary, call);
  // Dropout comes before padding is removed, so that it does not depend on the length of other sentences.
  const Tensor outputs = heed::dropout(out.output.outputs.rows, output_dropout_, is_training());  // [B, T, D]
  out.output_model = output_;
  if (batch.one_shape) {
    out.outputs = outputs.flatten(0, 1);
    out.wanted = batch.target_out.flatten();
    return out;
  }
  const Tensor real = batch.real.defined() ? batch.real : batch.target_keep.flatten().nonzero().squeeze(1);  // [n]
  out.outputs = outputs.flatten(0, 1).index_select(0, real);
  out.wanted = batch.target_out.flatten().index_select(0, real);
  out.row = real.div(batch.target_in.size(1), "floor");
  out.position = real - out.row * batch.target_in.size(1);
  return out;
}

TranslationModel::Decoding TranslationModel::start(const Tensor& source, const Tensor& keep) {
  const EncodedSource encoded = encode(embedded(source_embedding_, source, keep));
  Decoding decoding;
  decoding.model_ = this;
  decoding.state_ = query_->start(encoded.seen, encoded.summary);
  return decoding;
}

Tensor TranslationModel::Decoding::logits(const Tensor& tokens, const Call& call) {
  const Features embedded = model_->embedded(model_->target_embedding_, tokens, {});  // [B, E]
  const QueryOutput next = state_->step(embedded.rows, call);
  if (call.outputs.weights) weights_ = model_->alignment(next.steps).squeeze(1);
  return model_->outputs_to_logits(next.outputs.rows.squeeze(1)).to(at::kFloat);
}

Tensor TranslationModel::Decoding::step(const Tensor& tokens, const Call& call) {
  return at::log_softmax(logits(tokens, call), -1);
}

Steps TranslationModel::attention_steps(const PairBatch& batch, const Call& call) {
  Steps inside, all;
  const EncodedSource source = encode(embed_source(batch), call, &inside);
  for (auto& [name, attended] : inside) all.emplace_back("encoder." + name, std::move(attended));
  QueryOutput queried = query_->answer(embedded_target(batch), source.seen, source.summary, call);
  for (auto& [name, attended] : queried.steps) all.emplace_back("decoder." + name, std::move(attended));
  return all;
}

Tensor TranslationModel::head_weights(const Steps& steps, const std::string& name) const {
  Tensor weights = step_of(steps, name, "translate").weights;  // [B, (H,) Lq, Lk, (W)]
  const bool self = name.ends_with("self");                    // of a Transformer, which always has an axis of heads
  const bool channels = self
                            ? weights.dim() == 5
                            : Mechanism::parse(attention_->spec().mechanism).dimensionality() != Dimensionality::single;
  if (channels) weights = weights.mean(-1);
  return weights.dim() == 4 ? weights : weights.unsqueeze(1);
}

Tensor TranslationModel::alignment(const Steps& steps) const {
  return head_weights(steps, query_->aligning_step()).mean(1);
}

int64_t TranslationModel::parameter_count() const {
  int64_t count = 0;
  for (const auto& parameter : parameters()) count += parameter.numel();
  return count;
}

}  // namespace heed
