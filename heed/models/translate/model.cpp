#include "heed/models/translate/model.h"

#include <cmath>

#include "heed/attention/mechanism.h"
#include "heed/torch_support/memory_limit.h"
#include "heed/torch_support/noise_scope.h"

namespace heed {
namespace {

/// The default mechanism of each query model: that of its paper.
std::string default_mechanism(const std::string& query) {
  return query == "luong"         ? "general + softmax"
         : query == "transformer" ? "scaled_dot + softmax"
                                  : "additive + softmax";
}

std::string default_features(const std::string& query) {
  return query == "transformer" ? "transformer" : "recurrent";
}

/// Where there are no kernels of ours, sentences are short enough to store their weights instead of computing them
/// twice.
Call for_device(Call call, const PairBatch& batch) {
  if (batch.source.is_cuda() && call.path == Path::fastest) call.path = Path::stored;
  return call;
}

}  // namespace

Tensor Predicted::target_log_probabilities() const {
  return at::log_softmax(logits.to(at::kFloat), -1).gather(1, wanted.unsqueeze(1)).squeeze(1);
}

Tensor Predicted::log_probabilities(int64_t batch) const {
  const auto log_p = target_log_probabilities();  // [n]
  return at::zeros({batch}, log_p.options().dtype(at::kDouble)).index_add(0, row, log_p.to(at::kDouble));
}

TranslationModel::TranslationModel(const Settings& model, const Vocabularies& vocabularies) {
  const Settings embedding = model.at("embedding"), features = model.at("features", "kind"),
                 query = model.at("query", "kind"), attention = model.at("attention", "mechanism"),
                 output = model.at("output", "kind");
  const int64_t width = embedding.integer("dim", 256, 1, kMaxWidth);
  dropout_ = embedding.number("dropout", 0.1, 0, 0.99);
  const bool shared = embedding.flag("shared", false);
  if (shared && !vocabularies.joint)
    embedding.refuse("shared",
                     "is true, but source and target have vocabularies of their own; expected data.joint: true");
  const auto make_table = [&](int64_t count) {
    torch::nn::Embedding made(torch::nn::EmbeddingOptions(count, width).padding_idx(0));
    const torch::NoGradGuard no_grad;
    made->weight.normal_(0, 1 / std::sqrt(static_cast<double>(width)));
    made->weight[0].zero_();
    return made;
  };
  source_embedding_ = register_module("source_embedding", make_table(vocabularies.source));
  target_embedding_ = shared ? source_embedding_ : register_module("target_embedding", make_table(vocabularies.target));

  const std::string asked = query.choice("kind", {"bahdanau", "luong", "transformer"});
  features_ = register_module("features", component<FeatureModel>(features, default_features(asked), width));
  attention_ = attention_model(attention, default_mechanism(asked));
  const QueryOptions options{.embedding = width, .source = features_->width(), .attention = attention_->spec()};
  try {
    query_ = register_module("query", component<QueryModel>(query, "bahdanau", options));
  } catch (const MemoryLimitExceeded&) {
    throw;
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.rfind("recipe: ", 0) == 0) throw;
    const std::string& structure = options.attention.structure;
    model.refuse("attention", "is '", options.attention.mechanism, structure.empty() ? "'" : "' in '" + structure + "'",
                 ", which does not fit here: ", what);
  }
  output_dropout_ = output.number("dropout", dropout_, 0, 0.99);
  output_ = register_module("output", component<OutputModel>(output, "softmax",
                                                             OutputOptions{.in = query_->width(),
                                                                           .classes = vocabularies.target,
                                                                           .embedding = target_embedding_->weight}));
}

Features TranslationModel::embedded(torch::nn::Embedding& table, const Tensor& ids, const Tensor& keep) const {
  return {heed::dropout(table(ids), dropout_, is_training()), keep};
}

/// steps: receives the uses of mechanisms in the feature model.
TranslationModel::Source TranslationModel::read(const Tensor& ids, const Tensor& keep, const Call& call, Steps* steps) {
  FeatureOutput output = features_->encode(embedded(source_embedding_, ids, keep), call);
  if (steps != nullptr) *steps = std::move(output.steps);
  return {attention_->seen(output.encoded), output.encoded.last};
}

Tensor TranslationModel::outputs_to_logits(const Tensor& outputs) {
  return output_->logits(heed::dropout(outputs, output_dropout_, is_training()));
}

Predicted TranslationModel::predict(const PairBatch& batch, const Call& given) {
  const Call call = for_device(given, batch);
  Call plain = call;
  plain.outputs = {};
  const Source source = read(batch.source, batch.source_keep, plain);
  Predicted out;
  out.output = query_->answer(embedded(target_embedding_, batch.target_in, batch.target_keep), source.seen,
                              source.summary, call);
  // Dropout comes before padding is removed, so that it does not depend on the length of other sentences.
  const Tensor outputs = heed::dropout(out.output.outputs.rows, output_dropout_, is_training());  // [B, T, D]
  const Tensor real = batch.target_keep.flatten().nonzero().squeeze(1);                           // [n]
  out.logits = output_->logits(outputs.flatten(0, 1).index_select(0, real));
  out.wanted = batch.target_out.flatten().index_select(0, real);
  out.row = real.div(batch.target_in.size(1), "floor");
  out.position = real - out.row * batch.target_in.size(1);
  return out;
}

TranslationModel::Decoding TranslationModel::start(const Tensor& source, const Tensor& keep) {
  const Source read_source = read(source, keep, {});
  Decoding decoding;
  decoding.model_ = this;
  decoding.state_ = query_->start(read_source.seen, read_source.summary);
  return decoding;
}

Tensor TranslationModel::Decoding::step(const Tensor& tokens, const Call& call) {
  const Features embedded = model_->embedded(model_->target_embedding_, tokens, {});  // [B, E]
  const QueryOutput next = state_->step(embedded.rows, call);
  if (call.outputs.weights) weights_ = model_->alignment(next.steps).squeeze(1);
  return at::log_softmax(model_->outputs_to_logits(next.outputs.rows.squeeze(1)).to(at::kFloat), -1);
}

Steps TranslationModel::attention_steps(const PairBatch& batch, const Call& given) {
  const Call call = for_device(given, batch);
  Steps inside, all;
  const Source source = read(batch.source, batch.source_keep, call, &inside);
  for (auto& [name, attended] : inside) all.emplace_back("encoder." + name, std::move(attended));
  QueryOutput queried = query_->answer(embedded(target_embedding_, batch.target_in, batch.target_keep), source.seen,
                                       source.summary, call);
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
