#include "heed/explain/explained_translator.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>
#include <torch/autograd.h>

#include "heed/attention/testing.h"
#include "heed/data/recipe.h"
#include "heed/data/saved_model.h"
#include "heed/data/setting_json.h"
#include "heed/data/testing.h"
#include "heed/explain/test.h"
#include "heed/models/transformer_settings.h"
#include "heed/torch_support/model_file.h"

namespace heed::testing {
namespace {

using Lines = std::vector<std::string>;

constexpr double kRounding = 2e-6;  // of probabilities computed by kernels and by plain operations

const Lines kEnglish{"Tom chases Jerry", "two angry cats chase the mouse", "Jerry", "Zebedee sleeps"};
const Lines kChinese{"汤姆 追逐 杰瑞", "两 只 愤怒 的 猫 追逐 老鼠", "杰瑞 睡觉 的", "睡觉"};

std::string recurrent(const std::string& attention, const std::string& query = "{state_dim: 8}") {
  return "{embedding: {dim: 8}, features: {dim: 8}, query: " + query + ", attention: " + attention + "}";
}
std::string transformer(int64_t layers, int64_t heads, const std::string& features = "") {
  const std::string size = "num_layers: " + std::to_string(layers) + ", num_heads: " + std::to_string(heads);
  return "{embedding: {dim: 8}, query: {kind: transformer, " + size +
         "}, features: " + (features.empty() ? "{kind: transformer, num_layers: 2, num_heads: 2}" : features) + "}";
}

const std::string kBahdanau = recurrent("additive + softmax"),
                  kTokenwise = "{embedding: {dim: 4}, features: {kind: embedding}, query: {state_dim: 5, out_dim: 6}}",
                  kOneLayer = transformer(1, 2, "{kind: embedding}");

/// Models whose one weight for each token is all that there is.
const Lines kExact{kBahdanau,
                   recurrent("general + softmax", "{kind: luong, state_dim: 8}"),
                   recurrent("scaled_dot + sparsemax"),
                   recurrent("additive + sigmoid"),
                   recurrent("dot + local_m(2)", "{kind: luong, state_dim: 8, feeding: false}"),
                   recurrent("mean"),
                   recurrent("{mechanism: additive + softmax, structure: multi_hop(hops=2)}"),
                   kTokenwise,
                   transformer(1, 1),
                   transformer(3, 1)};
/// Models with more weights than that, or none.
const Lines kOthers{recurrent("{score: additive, align: softmax, dimensionality: multi}"),
                    recurrent("{mechanism: scaled_dot + softmax, num_heads: 2}"), transformer(2, 2),
                    transformer(1, 2, "{kind: transformer, num_layers: 1, num_heads: 2, class_token: true}"),
                    recurrent("fixed")};

Lines all_models() {
  Lines all = kExact;
  all.insert(all.end(), kOthers.begin(), kOthers.end());
  return all;
}

/// Not trained. Its tokenizer knows all words but Zebedee.
std::shared_ptr<TranslationModel> made_model(const std::string& model, Languages& languages) {
  at::manual_seed(5);
  languages.source = train_tokenizer("words", {kEnglish[0], kEnglish[1], kEnglish[2], "sleeps"});
  languages.target = train_tokenizer("words", kChinese);
  auto made = std::make_shared<TranslationModel>(parse_recipe("model: " + model, "small").at("model"),
                                                 languages.vocabularies());
  const at::NoGradGuard no_grad;
  const bool steep = model.find("kind: transformer") != std::string::npos;  // the scores of one differ enough
  for (auto& parameter : made->parameters()) parameter.mul_(steep ? 1 : 2);
  return made;
}

struct Small {
  std::shared_ptr<TranslationModel> model;
  Languages languages{};
  std::unique_ptr<ExplainedModel> explained;

  std::map<std::string, Tensor> parameters() const {
    std::map<std::string, Tensor> all;
    for (const auto& parameter : model->named_parameters()) all[parameter.key()] = parameter.value();
    return all;
  }
};

Small small(const std::string& model, const Lines& sources = kEnglish, const Lines& targets = kChinese) {
  Small made;
  made.model = made_model(model, made.languages);
  made.explained = explained_translator("runs/small", Translator(made.model, made.languages), {sources, targets});
  return made;
}

std::unique_ptr<ExplainedBatch> read_all(ExplainedModel& model) {
  std::vector<size_t> items(model.texts().size());
  for (size_t i = 0; i < items.size(); ++i) items[i] = i;
  return model.read(items);
}

Tensor rows_of(const ExplainedBatch& batch) {
  return at::arange(batch.size(), at::kLong);
}

/// Positive weights [N, P, T] that sum to 1 over the tokens of each text.
Tensor other_weights(const ExplainedBatch& batch, const Tensor& rows, int64_t seed = 1) {
  at::manual_seed(static_cast<uint64_t>(seed));
  const Tensor keep = batch.keep.index_select(0, rows).unsqueeze(1);
  const Tensor drawn = at::rand({rows.size(0), batch.positions.size(1), batch.tokens()}) + 0.1;
  return normalized(at::where(keep, drawn, at::zeros({})));
}

double distance(const Tensor& x, const Tensor& y) {
  return (x - y).abs().max().item<double>();
}

TEST(ExplainedTranslator, HasTheTextsOfItsPairs) {
  const Small made = small(kBahdanau, {"Tom chases Jerry", "", "Zebedee  sleeps"}, {"汤姆 追逐", "杰瑞", "睡觉"});
  const auto& texts = made.explained->texts();
  ASSERT_EQ(texts.size(), 2U) << "a pair without source tokens is left out";
  EXPECT_EQ(texts[0].id, "pair 1");
  EXPECT_EQ(texts[1].id, "pair 3");
  EXPECT_EQ(texts[0].tokens, (Lines{"Tom", "chases", "Jerry"}));
  EXPECT_EQ(texts[0].targets, (Lines{"汤姆", "追逐", "</s>"}));
  EXPECT_EQ(texts[1].tokens, (Lines{"Zebedee", "sleeps"})) << "an unknown word is shown as it is";
  EXPECT_EQ(texts[1].words, texts[1].tokens);
  EXPECT_EQ(texts[1].word, (std::vector<int64_t>{0, 1}));
  const auto batch = read_all(*made.explained);
  EXPECT_TRUE(at::equal(batch->keep, at::tensor({1, 1, 1, 1, 1, 0}).view({2, 3}).to(at::kBool)));
  EXPECT_TRUE(at::equal(batch->positions, at::tensor({1, 1, 1, 1, 1, 0}).view({2, 3}).to(at::kBool)));
  EXPECT_EQ(made.explained->facts().task, "translate");
  EXPECT_EQ(made.explained->facts().mechanism, "additive + softmax");
  EXPECT_TRUE(made.explained->facts().attends);
  for (const char* without : {"fixed", "mean"}) EXPECT_FALSE(small(recurrent(without)).explained->facts().attends);
}

TEST(ExplainedTranslator, HasTheWeightsAndOutputsOfItsModel) {
  const at::NoGradGuard no_grad;
  for (const auto& model : all_models()) {
    const Small made = small(model);
    const auto batch = read_all(*made.explained);
    for (size_t i = 0; i < kEnglish.size(); ++i) {
      const IdPairs pair{{made.languages.source->encode(kEnglish[i])}, {made.languages.target->encode(kChinese[i])}};
      Call call;
      call.outputs.weights = true;
      const Predicted predicted = made.model->predict(collate(pair, {0}), call);
      const auto b = static_cast<int64_t>(i), targets = static_cast<int64_t>(pair.target[0].size()) + 1,
                 tokens = static_cast<int64_t>(pair.source[0].size());
      EXPECT_TRUE(close(batch->outputs[b].narrow(0, 0, targets), predicted.logits().softmax(-1), 1e-5)) << model;
      EXPECT_EQ(largest(batch->outputs[b].narrow(0, targets, batch->outputs.size(1) - targets)), 0) << model;
      const Tensor expected = made.model->attention().has_weights()
                                  ? made.model->alignment(predicted.output.steps)[0].narrow(1, 0, tokens)
                                  : at::full({targets, tokens}, 1 / static_cast<double>(tokens + 1), at::kFloat);
      EXPECT_TRUE(close(batch->weights[b].narrow(0, 0, targets).narrow(1, 0, tokens), expected, 1e-5)) << model;
      Tensor rest = batch->weights[b].clone();
      rest.narrow(0, 0, targets).narrow(1, 0, tokens).zero_();
      EXPECT_EQ(largest(rest), 0) << model;
    }
  }
}

TEST(ExplainedTranslator, OwnWeightsGiveOwnOutputs) {
  for (const auto& model : kExact) {
    const Small made = small(model);
    const auto batch = read_all(*made.explained);
    const Tensor rows = at::tensor({2, 0, 1, 1, 3}, at::kLong);
    const Tensor expected = batch->outputs.index_select(0, rows), own = batch->weights.index_select(0, rows);
    EXPECT_LT(distance(batch->outputs_with(rows, own), expected), kRounding) << model;
    EXPECT_LT(distance(batch->outputs_with(rows, 3 * own), expected), kRounding) << "the share stays: " << model;
  }
}

TEST(ExplainedTranslator, TheSameOrderGivesOwnOutputs) {
  for (const auto& model : all_models()) {
    const Small made = small(model);
    const auto batch = read_all(*made.explained);
    const Tensor same = at::arange(batch->tokens(), at::kLong).expand_as(batch->weights);
    EXPECT_LT(distance(batch->outputs_permuted(rows_of(*batch), same), batch->outputs), kRounding) << model;
  }
}

/// Each text with its tokens in the order 1, 0, 2 ...
Tensor two_exchanged(const ExplainedBatch& batch) {
  const Tensor order = at::arange(batch.tokens(), at::kLong).expand_as(batch.weights).clone();
  for (int64_t b = 0; b < batch.size(); ++b) {
    if (batch.keep[b].sum().item<int64_t>() < 2) continue;
    order[b].select(1, 0).fill_(1);
    order[b].select(1, 1).fill_(0);
  }
  return order;
}

TEST(ExplainedTranslator, PermutedWeightsAreTheWeightsInAnotherOrder) {
  for (const auto& model : kExact) {
    const Small made = small(model);
    const auto batch = read_all(*made.explained);
    const Tensor order = two_exchanged(*batch);
    const Tensor permuted = batch->outputs_permuted(rows_of(*batch), order);
    EXPECT_LT(distance(permuted, batch->outputs_with(rows_of(*batch), batch->weights.gather(2, order))), kRounding)
        << model;
    if (made.explained->facts().attends) {
      EXPECT_GT(distance(permuted, batch->outputs), 1e-4) << model;
    }
    EXPECT_LT(distance(permuted[2], batch->outputs[2]), 1e-6) << "one token has no other order";
  }
}

TEST(ExplainedTranslator, HeadsAndFeaturesKeepTheirOwnWeightsWhenTheyArePermuted) {
  for (const auto& model : {kOthers[0], kOthers[1], kOthers[2]}) {
    const Small made = small(model);
    const auto batch = read_all(*made.explained);
    const Tensor rows = rows_of(*batch), order = two_exchanged(*batch);
    const Tensor twice = batch->outputs_permuted(rows, order);
    EXPECT_GT(distance(twice, batch->outputs_with(rows, batch->weights.gather(2, order))), 1e-5) << model;
    EXPECT_GT(distance(batch->outputs_with(rows, batch->weights), batch->outputs), 1e-4) << model;
  }
}

/// [1, P, S]: the share of each row goes to the tokens as `given` [1, P, T] says; the last one is the end marker.
Tensor shared_out(const Tensor& own, const Tensor& given) {
  const int64_t T = given.size(2);
  const Tensor end = own.narrow(2, T, 1);
  return at::cat({given / given.sum(2, true) * (1 - end), end}, 2);
}

TEST(ExplainedTranslator, OtherWeightsMakeTheContextsOfARecurrentDecoder) {
  const at::NoGradGuard no_grad;
  const Small made = small(kTokenwise);
  const auto batch = made.explained->read({1});
  const Tensor given = other_weights(*batch, rows_of(*batch));
  const IdPairs pair{{made.languages.source->encode(kEnglish[1])}, {made.languages.target->encode(kChinese[1])}};
  const PairBatch tensors = collate(pair, {0});
  Call call;
  call.outputs.weights = true;
  const Tensor own = made.model->alignment(made.model->predict(tensors, call).output.steps);  // [1, P, S]
  const Tensor weights = shared_out(own, given);

  auto p = made.parameters();
  const Tensor features = p["source_embedding.weight"].index_select(0, tensors.source[0]);  // [S, D]
  const Tensor targets = p["target_embedding.weight"].index_select(0, tensors.target_in[0]);
  const std::string decoder = "query.decoder.";
  Tensor hidden =
      at::linear(features.mean(0, true), p[decoder + "glimpse.start.weight"], p[decoder + "glimpse.start.bias"]).tanh();
  std::vector<Tensor> outputs;
  for (int64_t t = 0; t < targets.size(0); ++t) {
    const Tensor context = at::matmul(weights[0][t], features).unsqueeze(0), target = targets[t].unsqueeze(0);
    hidden = at::gru_cell(at::cat({target, context}, 1), hidden, p[decoder + "cell.gru.weight_ih"],
                          p[decoder + "cell.gru.weight_hh"], p[decoder + "cell.gru.bias_ih"],
                          p[decoder + "cell.gru.bias_hh"]);
    const Tensor read =
        at::linear(at::cat({hidden, target, context}, 1), p[decoder + "readout.weight"], p[decoder + "readout.bias"])
            .tanh();
    const Tensor wide = at::linear(read, p["output.to_embedding.weight"], p["output.to_embedding.bias"]);
    outputs.push_back(at::linear(wide, p["target_embedding.weight"], p["output.bias"]).softmax(-1));
  }
  const Tensor found = batch->outputs_with(rows_of(*batch), given);
  EXPECT_TRUE(close(found[0], at::cat(outputs), 1e-5));
  EXPECT_GT(distance(found, batch->outputs), 1e-2) << "or this tests nothing";
}

/// Attention of two heads by plain operations: x [P, D] over keys [S, D] with weights [P, S], or those of the scores.
Tensor two_heads(std::map<std::string, Tensor>& p, const std::string& name, const Tensor& x, const Tensor& keys,
                 const Tensor& weights = {}) {
  const auto projected = [&](const Tensor& rows, const std::string& what) {
    return at::linear(rows, p[name + ".heads." + what], p[name + ".heads." + what + "_bias"]);
  };
  const Tensor q = projected(x, "query"), k = projected(keys, "keys"), v = projected(keys, "values");
  const int64_t width = q.size(1) / 2;
  std::vector<Tensor> contexts;
  for (int64_t h = 0; h < 2; ++h) {
    const auto of = [&](const Tensor& rows) { return rows.narrow(1, h * width, width); };
    Tensor own = weights;
    if (!own.defined()) {
      const Tensor score = at::matmul(of(q), of(k).t()) / std::sqrt(static_cast<double>(width));
      own = score.masked_fill(at::ones_like(score).triu(1).to(at::kBool), -INFINITY).softmax(-1);
    }
    contexts.push_back(at::matmul(own, of(v)));
  }
  return projected(at::cat(contexts, 1), "out");
}

TEST(ExplainedTranslator, OtherWeightsMakeTheContextsOfATransformersLayer) {
  const at::NoGradGuard no_grad;
  const Small made = small(kOneLayer);
  const auto batch = made.explained->read({1});
  const Tensor given = other_weights(*batch, rows_of(*batch));
  const IdPairs pair{{made.languages.source->encode(kEnglish[1])}, {made.languages.target->encode(kChinese[1])}};
  const PairBatch tensors = collate(pair, {0});
  Call call;
  call.outputs.weights = true;
  const Predicted predicted = made.model->predict(tensors, call);
  const Tensor own = made.model->head_weights(predicted.output.steps, "layers.0.cross");  // [1, H, P, S]

  auto p = made.parameters();
  const std::string layer = "query.decoder.layers.0.";
  const auto norm = [&](const Tensor& x, const std::string& name) {
    return at::layer_norm(x, {8}, p[name + ".weight"], p[name + ".bias"]);
  };
  const Tensor features = p["source_embedding.weight"].index_select(0, tensors.source[0]);
  Tensor x = p["target_embedding.weight"].index_select(0, tensors.target_in[0]) * std::sqrt(8.0);
  x = x + positions_before(x.size(0), x);
  const Tensor before = norm(x, layer + "self_norm");
  x = x + two_heads(p, layer + "self", before, before);
  // Heads have shares of their own.
  Tensor cross = at::zeros_like(x);
  const Tensor v = at::linear(features, p[layer + "cross.heads.values"], p[layer + "cross.heads.values_bias"]);
  std::vector<Tensor> contexts;
  for (int64_t h = 0; h < 2; ++h)
    contexts.push_back(at::matmul(shared_out(own.select(1, h), given)[0], v.narrow(1, 4 * h, 4)));
  x = x + at::linear(at::cat(contexts, 1), p[layer + "cross.heads.out"], p[layer + "cross.heads.out_bias"]);
  const Tensor inner = at::linear(norm(x, layer + "feed_forward_norm"), p[layer + "feed_forward.in.weight"],
                                  p[layer + "feed_forward.in.bias"])
                           .relu();
  x = x + at::linear(inner, p[layer + "feed_forward.out.weight"], p[layer + "feed_forward.out.bias"]);
  const Tensor expected =
      at::linear(norm(x, "query.decoder.norm"), p["target_embedding.weight"], p["output.bias"]).softmax(-1);
  const Tensor found = batch->outputs_with(rows_of(*batch), given);
  EXPECT_TRUE(close(found[0], expected, 1e-5));
  EXPECT_GT(distance(found, batch->outputs), 1e-2) << "or this tests nothing";
}

TEST(ExplainedTranslator, AStructureHasOtherWeightsInTheHopThatIsReported) {
  const Small made = small(recurrent("{mechanism: additive + softmax, structure: multi_hop(hops=2)}"));
  const auto batch = read_all(*made.explained);
  const Tensor rows = rows_of(*batch), given = other_weights(*batch, rows);
  int64_t calls = 0;
  Call call;
  call.outputs.weights = true;
  call.replace_weights = [&](const Tensor& own, const Tensor&) {
    ++calls;
    return at::zeros_like(own);
  };
  const IdPairs pair{{made.languages.source->encode(kEnglish[0])}, {made.languages.target->encode(kChinese[0])}};
  const Predicted predicted = made.model->predict(collate(pair, {0}), call);
  EXPECT_EQ(calls, 4) << "once for each target, with the end marker";
  EXPECT_EQ(largest(made.model->alignment(predicted.output.steps)), 0);
  EXPECT_GT(distance(batch->outputs_with(rows, given), batch->outputs), 1e-4);
}

TEST(ExplainedTranslator, WeightsWithoutAUsableSumLeaveTheEndMarker) {
  for (const auto& model : {kBahdanau, transformer(2, 2)}) {
    const Small made = small(model);
    const auto batch = made.explained->read({0});
    const Tensor rows = rows_of(*batch), none = batch->outputs_with(rows, at::zeros_like(batch->weights));
    EXPECT_TRUE(at::isfinite(none).all().item<bool>());
    EXPECT_TRUE(at::equal(batch->outputs_with(rows, at::full_like(batch->weights, NAN)), none));
    EXPECT_TRUE(at::equal(batch->outputs_with(rows, at::full_like(batch->weights, INFINITY)), none));
    EXPECT_GT(distance(none, batch->outputs), 1e-5);
  }
}

/// The derivative of a weighted sum of outputs in a direction: by autograd and by differences.
template <typename Outputs>
void expect_derivative(const Tensor& at_x, const Tensor& direction, const Outputs& outputs, const std::string& what) {
  const auto objective = [&](const Tensor& x) {
    const Tensor y = outputs(x);
    const Tensor factor = at::arange(y.numel(), at::kDouble).view(y.sizes()).sin();
    return (y.to(at::kDouble) * factor).sum();
  };
  const Tensor x = at_x.detach().clone().requires_grad_(true);
  const Tensor gradient = torch::autograd::grad({objective(x)}, {x})[0];
  const double step = 3e-4;
  const at::NoGradGuard no_grad;
  const Tensor change = (objective(at_x + step * direction) - objective(at_x - step * direction)) / (2 * step),
               along = (gradient * direction).sum();
  const auto expected = change.item().toDouble(), found = along.item().toDouble();
  EXPECT_NEAR(found, expected, 1e-2 * std::max(1.0, std::abs(expected))) << what;
  EXPECT_GT(std::abs(expected), 1e-3) << "or this tests nothing: " << what;
}

TEST(ExplainedTranslator, GradientsOfWeightsAreDerivatives) {
  for (const auto& model : all_models()) {
    if (!small(model).explained->facts().attends) continue;
    const Small made = small(model);
    const auto batch = read_all(*made.explained);
    const Tensor rows = at::tensor({1, 0, 1}, at::kLong), given = other_weights(*batch, rows);
    const Tensor keep = batch->keep.index_select(0, rows).unsqueeze(1);
    at::manual_seed(7);
    expect_derivative(
        given, at::randn_like(given) * keep * given, [&](const Tensor& x) { return batch->outputs_with(rows, x); },
        model);
  }
}

TEST(ExplainedTranslator, GradientsOfEmbeddingsAreDerivatives) {
  for (const auto& model : all_models()) {
    const Small made = small(model);
    const auto batch = read_all(*made.explained);
    const Tensor rows = at::tensor({1, 0, 1}, at::kLong), embedded = batch->embedded().index_select(0, rows);
    at::manual_seed(7);
    const Tensor direction = at::randn_like(embedded) * batch->keep.index_select(0, rows).unsqueeze(-1);
    expect_derivative(
        embedded, direction, [&](const Tensor& x) { return batch->outputs_from(rows, x, false); }, model);
  }
}

// With known weights the outputs from other embeddings have the gradient of detached weights.
TEST(ExplainedTranslator, FixedWeightsHaveNoGradient) {
  const Small made = small(kTokenwise);
  const auto batch = made.explained->read({1});
  const Tensor rows = rows_of(*batch), embedded = batch->embedded();
  const auto gradient = [&](bool fixed) {
    const Tensor x = embedded.clone().requires_grad_(true);
    const Tensor y = batch->outputs_from(rows, x, fixed);
    EXPECT_LT(distance(y, batch->outputs), 1e-6);
    return torch::autograd::grad({y.select(2, 5).sum()}, {x})[0];
  };
  const Tensor fixed = gradient(true);
  EXPECT_GT(distance(fixed, gradient(false)), 1e-4);
  // One output alone: the same graph is differentiated several times.
  const Tensor x = embedded.clone().requires_grad_(true);
  const Tensor y = batch->outputs_from(rows, x, true);
  Tensor sum = at::zeros_like(x);
  for (int64_t position = 0; position < y.size(1); ++position)
    sum += torch::autograd::grad({y[0][position][5]}, {x}, {}, /*retain_graph=*/true)[0];
  EXPECT_TRUE(close(sum, fixed, 1e-5));
}

TEST(ExplainedTranslator, EmbeddingsOfTheTokensGiveOwnOutputs) {
  for (const auto& model : all_models()) {
    const Small made = small(model);
    const auto batch = read_all(*made.explained);
    for (const bool fixed : {false, true})
      EXPECT_LT(distance(batch->outputs_from(rows_of(*batch), batch->embedded(), fixed), batch->outputs), kRounding)
          << model;
    EXPECT_EQ(largest(batch->embedded().masked_select(batch->keep.logical_not().unsqueeze(-1))), 0);
  }
}

TEST(ExplainedTranslator, WithoutTokensItReadsTheShorterSentence) {
  for (const auto& model : all_models()) {
    const Small made = small(model);
    const auto batch = read_all(*made.explained);
    const Tensor rows = at::tensor({1, 1, 0, 2}, at::kLong);
    Tensor removed = at::zeros({4, batch->tokens()}, at::kBool);
    removed[0][1] = removed[0][3] = true;
    removed[1][5] = true;
    removed[2][0] = true;
    removed[2][4] = true;    // padding
    removed[3].fill_(true);  // all tokens
    const Tensor found = batch->outputs_without(rows, removed);
    const Lines left{"two cats the mouse", "two angry cats chase the", "chases Jerry"};
    const Small shorter = small(model, left, {kChinese[1], kChinese[1], kChinese[0]});
    const Tensor expected = read_all(*shorter.explained)->outputs;
    EXPECT_LT(distance(found.narrow(0, 0, 3), expected), 1e-5) << model;
    EXPECT_GT(distance(found[0], batch->outputs[1]), 1e-4) << model;
    EXPECT_TRUE(at::isfinite(found[3]).all().item<bool>()) << "the end marker is left";
    EXPECT_LT(distance(batch->outputs_without(rows, at::zeros_like(removed)), batch->outputs.index_select(0, rows)),
              kRounding);
  }
}

TEST(ExplainedTranslator, BatchesDoNotChangeAText) {
  for (const auto& model : all_models()) {
    const Small made = small(model);
    const auto all = read_all(*made.explained);
    const Tensor given = other_weights(*all, rows_of(*all));
    const Tensor found = all->outputs_with(rows_of(*all), given), order = two_exchanged(*all);
    const Tensor permuted = all->outputs_permuted(rows_of(*all), order), norms = all->value_norms(),
                 rollout = all->rollout();
    for (int64_t b = 0; b < all->size(); ++b) {
      const auto one = made.explained->read({static_cast<size_t>(b)});
      const int64_t T = one->tokens(), P = one->positions.size(1);
      const auto of = [&](const Tensor& x) { return x[b].narrow(0, 0, P).unsqueeze(0); };
      const Tensor row = at::zeros({1}, at::kLong);
      EXPECT_TRUE(close(one->outputs, of(all->outputs), 1e-5)) << model;
      EXPECT_TRUE(close(one->outputs_with(row, of(given).narrow(2, 0, T)), of(found), 1e-5)) << model;
      EXPECT_TRUE(close(one->outputs_permuted(row, of(order).narrow(2, 0, T)), of(permuted), 1e-5)) << model;
      EXPECT_TRUE(close(one->value_norms()[0], norms[b].narrow(0, 0, T), 1e-5)) << model;
      if (!rollout.defined()) continue;
      EXPECT_TRUE(close(one->rollout(), of(rollout).narrow(2, 0, T), 1e-5)) << model;
    }
  }
}

TEST(ExplainedTranslator, ManyVariationsAreComputedInParts) {
  const Small made = small(kBahdanau);
  const auto batch = made.explained->read({1});
  const int64_t many = 70000;  // of 8 positions and 14 classes and more: several parts
  const Tensor rows = at::zeros({many}, at::kLong);
  const Tensor removed = at::zeros({many, batch->tokens()}, at::kBool);
  removed.narrow(0, many / 2, many - many / 2).select(1, 2).fill_(true);
  const Tensor found = batch->outputs_without(rows, removed);
  EXPECT_LT(distance(found[0], batch->outputs[0]), 1e-5);
  EXPECT_TRUE(close(found[many / 2], found[many - 1], 1e-5));
  EXPECT_GT(distance(found[0], found[many - 1]), 1e-4);
}

TEST(ExplainedTranslator, RolloutIsTheProductOfItsLayers) {
  const at::NoGradGuard no_grad;
  for (const auto& model : {transformer(2, 2), kOthers[3]}) {
    const Small made = small(model);
    const auto batch = made.explained->read({1});
    const IdPairs pair{{made.languages.source->encode(kEnglish[1])}, {made.languages.target->encode(kChinese[1])}};
    Call call;
    call.outputs.weights = true;
    const Steps steps = made.model->attention_steps(collate(pair, {0}), call);
    Tensor through;
    for (const auto& [name, attended] : steps) {
      if (!name.starts_with("encoder")) continue;
      const Tensor own = attended.weights.mean(1)[0];
      const Tensor layer = 0.5 * own + 0.5 * at::eye(own.size(0));
      through = through.defined() ? at::matmul(layer, through) : layer;
    }
    const int64_t S = batch->tokens() + 1, class_tokens = through.size(0) - S;
    const Tensor cross = step_of(steps, "decoder." + made.model->aligning_step(), "test").weights.mean(1)[0];  // [P, S]
    const Tensor expected = at::matmul(cross, through.narrow(0, class_tokens, S)).narrow(1, class_tokens, S - 1);
    EXPECT_TRUE(close(batch->rollout()[0], expected, 1e-5)) << model;
  }
  EXPECT_FALSE(read_all(*small(kBahdanau).explained)->rollout().defined());
}

TEST(ExplainedTranslator, ValuesOfARecurrentDecoderAreTheFeatures) {
  const Small made = small(kTokenwise);
  const auto batch = read_all(*made.explained);
  const Tensor expected = batch->embedded().norm(2, -1);
  EXPECT_TRUE(close(batch->value_norms(), expected, 1e-5));
}

TEST(ExplainedTranslator, ModelsWithoutWeightsDoNotChangeWithThem) {
  const Small made = small(recurrent("fixed"));
  const auto batch = read_all(*made.explained);
  const Tensor rows = rows_of(*batch), given = other_weights(*batch, rows).requires_grad_(true);
  const Tensor found = batch->outputs_with(rows, given);
  EXPECT_TRUE(at::equal(found, batch->outputs));
  EXPECT_EQ(largest(torch::autograd::grad({found[0][0][0]}, {given})[0]), 0);
  EXPECT_TRUE(at::equal(batch->outputs_permuted(rows, two_exchanged(*batch)), batch->outputs));
}

// Figures are of an untrained model; that every text of any length has finite ones is what is tested.
TEST(ExplainedTranslator, TestsOfWeightsRunOnTranslators) {
  for (const auto& model : {kBahdanau, kOthers[0], transformer(2, 2)}) {
    const Small made = small(model);
    const auto batch = read_all(*made.explained);
    TestContext context;
    context.model = made.explained.get();
    for (const char* name : {"gradients", "leave_one_out", "permutation(samples=5)",
                             "adversarial_weights(steps=4, distributions=2)", "erasure"}) {
      const auto test = ExplanationTest::Parts::make(name);
      ASSERT_EQ(test->why_not(made.explained->facts(), false), "") << name;
      std::vector<ExplanationRecord> records = test->measure(*batch, context);
      ASSERT_EQ(records.size(), kEnglish.size()) << name;
      for (size_t i = 0; i < records.size(); ++i) {
        records[i]["item"] = i;
        EXPECT_EQ(records[i].dump().find("null"), std::string::npos) << name << ": " << records[i].dump();
      }
      const auto result = test->summarize(records, {.model = made.explained.get(), .samples = 20, .min_texts = 1});
      EXPECT_FALSE(result.tables.empty()) << name;
      for (const auto& table : result.tables)
        for (const auto& row : table.rows)
          for (const auto& cell : row.cells) EXPECT_TRUE(std::isfinite(cell.value.value_or(0))) << name << row.name;
    }
    const auto without = ExplanationTest::Parts::make("permutation");
    EXPECT_NE(without->why_not(small(recurrent("fixed")).explained->facts(), false), "");
  }
}

class LoadExplainedTranslator : public FolderTest {
 protected:
  /// A run folder of the built-in sentences, not trained.
  std::string run() {
    const std::string model = "{embedding: {dim: 8}, features: {dim: 8}, query: {state_dim: 8}}";
    write("recipe.yaml",
          "task: translate\ndata: {train: grammar, grammar: {train: 40, dev: 12, test: 3}}\nmodel: " + model + "\n");
    Languages languages;
    const auto made = made_model(model, languages);
    languages.save(folder_);
    const Settings settings = parse_recipe("model: " + model, "small");
    write_config(folder_, {{"task", "translate"}, {"model", setting_json(settings.at("model").written())}});
    save_model(*made, folder_, file_md5(path("config.json")));
    return folder_;
  }
  static Lines ids(const ExplainedModel& model) {
    Lines all;
    for (const auto& text : model.texts()) all.push_back(text.id);
    return all;
  }
};

TEST_F(LoadExplainedTranslator, DrawsPairsOfTheSet) {
  const std::string folder = run();
  const auto whole = load_explained(folder, {}, at::kCPU);
  EXPECT_EQ(whole->texts().size(), 12U);
  EXPECT_EQ(whole->facts().run, folder);
  EXPECT_EQ(whole->facts().task, "translate");
  const auto four = load_explained(folder, {.limit = 4, .seed = 3}, at::kCPU);
  EXPECT_EQ(ids(*four), ids(*load_explained(folder, {.limit = 4, .seed = 3}, at::kCPU)));
  EXPECT_NE(ids(*four), ids(*load_explained(folder, {.limit = 4, .seed = 4}, at::kCPU)));
  ASSERT_EQ(four->texts().size(), 4U);
  for (const auto& text : four->texts()) {
    const auto same = std::find_if(whole->texts().begin(), whole->texts().end(),
                                   [&](const ExplainedText& one) { return one.id == text.id; });
    ASSERT_NE(same, whole->texts().end());
    EXPECT_EQ(same->words, text.words);
  }
  EXPECT_EQ(load_explained(folder, {.set = "test"}, at::kCPU)->texts().size(), 3U);
  EXPECT_EQ(load_explained(folder, {.set = "test", .overrides = {"data.grammar.test=7"}}, at::kCPU)->texts().size(),
            7U);
  EXPECT_GT(whole->cost(0), std::ssize(whole->texts()[0].tokens));
}

TEST_F(LoadExplainedTranslator, RefusesASetThatIsNotThere) {
  const std::string folder = run();
  EXPECT_TRUE(says(error_of([&] { load_explained(folder, {.set = "train"}, at::kCPU); }), {"expected dev or test"}));
  EXPECT_TRUE(
      says(error_of([&] { load_explained(folder, {.set = "test", .overrides = {"data.grammar.test=0"}}, at::kCPU); }),
           {"test"}));
}

}  // namespace
}  // namespace heed::testing
