// Supervised attention of translators: gold weights of tokens, and the loss at links against that of stored weights.

#include "heed/models/translate/supervision.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "heed/data/recipe.h"
#include "heed/data/testing.h"

namespace heed::testing {
namespace {

std::string written(const std::vector<TokenLink>& links) {
  std::string text;
  for (const TokenLink& link : links)
    text += std::to_string(link.target) + "<" + std::to_string(link.source) + ":" +
            std::to_string(static_cast<int>(std::lround(link.weight * 100))) + " ";
  return text;
}

// Words of 2 and 1 tokens, and of 1 and 2. Target word 1 is linked to both source words: 1/2 each, halves of it for the
// two tokens of word 0. Its possible link does not count, that of word 0 does.
TEST(TokenLinks, ShareTheWeightOfLinkedWordsAmongTheirTokens) {
  const Segmentation source{.ids = {4, 5, 6}, .word = {0, 0, 1}, .words = {"ab", "c"}, .text = "ab c"},
      target{.ids = {4, 5, 6, 7}, .word = {0, 1, 1, 2}, .words = {"x", "yz", "w"}, .text = "x yz w"};
  EXPECT_EQ(written(token_links(parse_links("0-1 1-1 1p0"), source, target)),
            "0<2:100 1<0:25 1<1:25 1<2:50 2<0:25 2<1:25 2<2:50 ");
  EXPECT_EQ(written(token_links(parse_links("0-1 1p1"), source, target)), "1<0:50 1<1:50 2<0:50 2<1:50 ");
  EXPECT_EQ(written(token_links(parse_links("1-2 1-2"), source, target)), "3<2:100 ");
  EXPECT_TRUE(token_links({}, source, target).empty());
}

struct Form {
  std::string query;
  int64_t heads = 1, shift = 0;
  friend void PrintTo(const Form& form, std::ostream* out) { *out << form.query; }
};

const std::vector<Form> kForms{
    {"{query: {kind: bahdanau, state_dim: 8}, features: {kind: recurrent, dim: 8}}"},
    {"{query: {kind: bahdanau, state_dim: 8}, features: {kind: recurrent, dim: 8}, attention: "
     "{mechanism: 'additive + softmax', num_heads: 2}}",
     2},
    {"{query: {kind: luong, state_dim: 8}, features: {kind: recurrent, dim: 8}, attention: 'additive + sparsemax'}"},
    {"{query: {kind: luong, state_dim: 8}, features: {kind: recurrent, dim: 8}, attention: 'additive + softmax, "
     "multi'}"},
    {"{query: {kind: transformer, num_layers: 3, num_heads: 2, align_layer: 1, align_shift: true}, "
     "features: {kind: transformer, num_layers: 1, num_heads: 2}}",
     2, 1},
    {"{query: {kind: transformer, num_layers: 1, num_heads: 1}, features: {kind: transformer, num_layers: 1}, "
     "attention: scaled_dot + sparsemax}"},
};

std::shared_ptr<TranslationModel> supervised_model(const std::string& query) {
  at::manual_seed(5);
  Settings recipe = parse_recipe("model: " + query + "\n", "test", {"model.embedding={dim: 8, dropout: 0}"});
  auto model = std::make_shared<TranslationModel>(recipe.at("model"), Vocabularies{.source = 9, .target = 9});
  model->eval();
  const at::NoGradGuard no_grad;
  for (auto& parameter : model->parameters()) parameter.add_(at::randn_like(parameter), 0.3);
  return model;
}

class LinkSupervisionForms : public ::testing::TestWithParam<Form> {};

const std::vector<std::vector<TokenLink>> kGold{{{1, 0, 1}, {0, 2, 0.5}, {2, 2, 0.5}}, {}, {{0, 1, 1}}};
const IdPairs kPairs{{{4, 5, 6}, {7}, {8, 4}}, {{5, 6, 7}, {4, 4}, {6, 8}}};

/// The loss of whole weights [B, H, T, S, W]: each query with gold, each head and channel.
Tensor dense_loss(SupervisionLoss kind, const Tensor& weights, const Rows& rows, int64_t shift, int64_t head) {
  Tensor sum = at::zeros({});
  for (size_t b = 0; b < rows.size(); ++b) {
    Tensor gold = at::zeros({weights.size(2), weights.size(3)});
    for (const TokenLink& link : kGold[static_cast<size_t>(rows[b])])
      gold[link.target + shift][link.source] = link.weight;
    for (int64_t h = 0; h < weights.size(1); ++h)
      for (int64_t w = 0; w < weights.size(4) && (head == 0 || h == head - 1); ++w)
        sum = sum + row_loss(kind, weights[static_cast<int64_t>(b)][h].select(2, w), gold);
  }
  return sum / (head > 0 ? 1 : weights.size(1)) / weights.size(4);
}

TEST_P(LinkSupervisionForms, HaveTheLossAndTheGradientsOfStoredWeights) {
  const Form& form = GetParam();
  const auto model = supervised_model(form.query);
  const Rows rows{2, 0, 1};
  const PairBatch batch = collate(kPairs, rows);
  for (const auto kind : {SupervisionLoss::cross_entropy, SupervisionLoss::squared_error})
    for (const int64_t head : {int64_t{0}, form.heads}) {
      const LinkSupervision supervision(*model, {.loss = kind, .weight = 2, .head = head}, kGold);
      EXPECT_EQ(supervision.supervised(), 3);
      const auto gradients = [&](const Tensor& loss) {
        model->zero_grad();
        loss.backward();
        std::vector<Tensor> all;
        for (const auto& parameter : model->parameters())
          all.push_back(parameter.grad().defined() ? parameter.grad().clone() : at::zeros_like(parameter));
        return all;
      };
      const auto request = supervision.request(batch);
      Call call, stored;
      call.outputs = request.outputs;
      const Tensor sparse = supervision.loss(request, model->predict(batch, call).output.steps);
      stored.outputs.weights = true;
      Tensor weights = step_of(model->predict(batch, stored).output.steps, model->aligning_step(), "test").weights;
      const bool channels = form.query.find("multi") != std::string::npos;
      if (!channels) weights = weights.unsqueeze(-1);
      if (weights.dim() == 4) weights = weights.unsqueeze(1);
      const Tensor dense = 2 * dense_loss(kind, weights, rows, form.shift, head);
      EXPECT_NEAR(sparse.item<double>(), dense.item<double>(), 1e-4) << head;
      const auto a = gradients(sparse), b = gradients(dense);
      for (size_t i = 0; i < a.size(); ++i) EXPECT_LT((a[i] - b[i]).abs().max().item<double>(), 2e-4) << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Models, LinkSupervisionForms, ::testing::ValuesIn(kForms));

TEST(LinkSupervision, OfABatchWithoutGoldIsNothing) {
  const auto model = supervised_model(kForms[0].query);
  const LinkSupervision supervision(*model, {.weight = 1}, kGold);
  const PairBatch batch = collate(kPairs, {1});
  const auto request = supervision.request(batch);
  Call call;
  call.outputs = request.outputs;
  EXPECT_FALSE(supervision.loss(request, model->predict(batch, call).output.steps).defined());
}

TEST(LinkSupervision, RefusesWhatHasNoWeightsToSupervise) {
  const auto said = [](const std::string& query, const Supervision& options) {
    const auto model = supervised_model(query);
    return error_of([&] { LinkSupervision(*model, options, kGold); });
  };
  const std::string recurrent = "{query: {kind: luong, state_dim: 8}, features: {kind: recurrent, dim: 8}, attention: ";
  EXPECT_NE(said(recurrent + "mean}", {.weight = 1}).find("train.supervision"), std::string::npos);
  EXPECT_NE(said(recurrent + "{structure: multi_hop(hops=2)}}", {.weight = 1}).find("multi_hop"), std::string::npos);
  EXPECT_NE(said(recurrent + "additive + softmax}", {.weight = 1, .head = 2}).find("train.supervision.head is 2"),
            std::string::npos);
}

}  // namespace
}  // namespace heed::testing
