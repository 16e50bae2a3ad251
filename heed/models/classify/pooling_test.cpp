// The attention model of a classifier: which structure and mechanism a recipe means, every structure that fits texts,
// and refusals by the name of what is missing.

#include "heed/models/classify/pooling.h"

#include <gtest/gtest.h>

#include "heed/attention/align.h"
#include "heed/attention/testing.h"
#include "heed/data/recipe.h"
#include "heed/data/testing.h"
#include "heed/structures/preset.h"

namespace heed::testing {
namespace {

constexpr int64_t kWidth = 8;

Pooling pooling_of(const std::string& recipe, const PoolingInputs& inputs = {}) {
  const Settings model = parse_recipe("model: {" + recipe + "}", "toy.yaml").at("model");
  Pooling made(model.at("attention", "mechanism"), model.at("query", kKindKey), inputs);
  model.refuse_unread();
  return made;
}

std::string refusal(const std::string& recipe, const PoolingInputs& inputs = {}) {
  return error_of([&] { pooling_of(recipe, inputs).build({kWidth}); });
}

std::vector<Encoded> random_texts(const Pooling& pooling, int64_t batch, int64_t length, int64_t sentences = 3) {
  std::vector<Encoded> all;
  for (int64_t i = 0; i < pooling.inputs(); ++i) {
    std::vector<int64_t> shape{batch, length, kWidth};
    if (pooling.takes_documents()) shape.insert(shape.begin() + 1, sentences);
    all.push_back({{at::randn(shape), {}}, at::randn({batch, kWidth})});
  }
  return all;
}

TEST(Pooling, IsAttentionWithALearnedQueryByDefault) {
  EXPECT_EQ(pooling_of("").to_string(), "self_attentive + softmax");
  EXPECT_EQ(pooling_of("attention: additive + sparsemax").to_string(), "additive + sparsemax");
  EXPECT_EQ(pooling_of("attention: {align: sparsemax}").to_string(), "self_attentive + sparsemax");
  EXPECT_EQ(pooling_of("attention: {score: dot, dimensionality: multi(lift)}").to_string(),
            "dot + softmax, multi(lift)");
  EXPECT_EQ(pooling_of("attention: mean").to_string(), "mean");
}

TEST(Pooling, TakesTheMechanismOfTheStructuresPaper) {
  EXPECT_EQ(pooling_of("attention: {structure: multi_hop(hops=2)}").to_string(),
            "multi_hop(hops=2): additive + softmax");
  EXPECT_EQ(pooling_of("attention: {structure: capsule(classes=3), align: sparsemax}").to_string(),
            "capsule(classes=3): sparsemax");
  EXPECT_EQ(pooling_of("attention: {preset: shen_2018}").to_string(),
            "directional: additive + softmax, multi(elementwise)");
  EXPECT_EQ(pooling_of("attention: {preset: yang_2016, align: entmax(1.5)}", {.documents = true}).to_string(),
            "hierarchical(encoder=gru): self_attentive + entmax(1.5)");
}

TEST(Pooling, RefusesByTheNameOfTheMissingInput) {
  EXPECT_TRUE(
      says(refusal("attention: {structure: rotatory}"),
           {"which needs the texts left, target, right", "data.text has text", "missing: left, target, right"}));
  EXPECT_TRUE(says(refusal("attention: {preset: wallaart_2019}", {.columns = {"left", "right"}}), {"missing: target"}));
  EXPECT_TRUE(
      says(refusal("attention: {structure: hierarchical}"), {"needs documents of sentences", "data.sentences: rule"}));
  EXPECT_TRUE(says(refusal("attention: additive + softmax", {.columns = {"a", "b"}}), {"takes one text", "a, b"}));
  EXPECT_TRUE(says(refusal("attention: {structure: graph_attention}"), {"edges of a graph"}));
  EXPECT_TRUE(says(refusal("attention: {preset: bahdanau_2015}"), {"missing: source, target"}));
  EXPECT_TRUE(says(refusal("attention: {preset: yang_2017}"), {"did you mean 'yang_2016'?"}));
  EXPECT_TRUE(says(refusal("attention: {structure: hierachical}"), {"did you mean 'hierarchical'?"}));
  EXPECT_TRUE(says(refusal("attention: {structure: capsule(classes=2), score: dot}"), {"computes its own scores"}));
  EXPECT_TRUE(says(refusal("attention: {mechanism: mean, structure: capsule}"), {"expected one"}));
  EXPECT_TRUE(says(refusal("attention: {score: location, align: softmx}"), {"softmx"}));
}

TEST(Pooling, LabelsWordsByStructuresWithAContextForEach) {
  const PoolingInputs words{.tokens = true};
  Pooling pooling = pooling_of("", words);
  EXPECT_EQ(pooling.to_string(), "self_attentive(features): scaled_dot + softmax");
  pooling.build({kWidth});
  EXPECT_EQ(pooling.forward(random_texts(pooling, 2, 5), {}).rows.sizes(), (std::vector<int64_t>{2, 5, kWidth}));
  EXPECT_TRUE(says(refusal("attention: {structure: multi_hop}", words), {"one context for all words"}));
  EXPECT_TRUE(says(refusal("attention: mean", words), {"each word is to be labeled"}));
}

TEST(Pooling, IsTheMeanOrTheSummaryWithoutAttention) {
  Pooling averaged = pooling_of("attention: mean"), fixed = pooling_of("attention: fixed");
  const auto texts = random_texts(averaged, 2, 5);
  EXPECT_TRUE(close(averaged.forward(texts, {}).rows, texts[0].features.rows.mean(1)));
  EXPECT_TRUE(same_bits(fixed.forward(texts, {}).rows, texts[0].last));
}

TEST(Pooling, TakesItsQueryFromTheQueryModel) {
  at::manual_seed(2);
  Pooling by_summary = pooling_of("attention: dot + softmax, query: summary");
  by_summary.build({kWidth});
  auto texts = random_texts(by_summary, 2, 5);
  const Tensor e = at::matmul(texts[0].features.rows, texts[0].last.unsqueeze(2)).squeeze(2);
  EXPECT_TRUE(close(by_summary.forward(texts, {}).rows,
                    at::matmul(at::softmax(e, 1).unsqueeze(1), texts[0].features.rows).squeeze(1), 1e-5));
}

/// Names of the inputs of a structure as columns, with one text where a structure reads several representations of it.
PoolingInputs inputs_of(const StructureSignature& takes) {
  PoolingInputs inputs{.documents = takes.depth == 2};
  if (takes.features.size() > 1 && !takes.same_length) inputs.columns = takes.features;
  return inputs;
}

TEST(Pooling, FitsEveryStructureThatReadsTexts) {
  int64_t fitting = 0;
  for (const auto& name : Structure::Parts::names()) {
    SCOPED_TRACE(name);
    const auto takes = structure(name, {.features = {kWidth}})->takes();
    if (takes.edges || takes.depth > 2) continue;
    at::manual_seed(3);
    Pooling pooling = pooling_of("attention: {structure: " + name + "}", inputs_of(takes));
    pooling.build(std::vector<int64_t>(static_cast<size_t>(pooling.inputs()), kWidth));
    pooling.eval();
    auto texts = random_texts(pooling, 3, 4);
    for (auto& text : texts) text.features.rows.requires_grad_();
    const Tensor rows = pooling.forward(texts, {}).rows;
    ASSERT_EQ(rows.dim(), 2);
    EXPECT_EQ(rows.size(0), 3);
    EXPECT_EQ(rows.size(1), pooling.example().rows.size(1));
    rows.square().sum().backward();
    for (const auto& text : texts) EXPECT_TRUE(text.features.rows.grad().isfinite().all().item<bool>());
    ++fitting;
  }
  EXPECT_GE(fitting, 20);
}

TEST(Pooling, DoesNotDependOnPadding) {
  for (const char* recipe : {"attention: additive + softmax", "attention: {structure: stack}", "attention: mean",
                             "attention: {preset: shen_2018}", "attention: {structure: multi_representational}"}) {
    SCOPED_TRACE(recipe);
    at::manual_seed(4);
    Pooling pooling = pooling_of(recipe);
    pooling.build(std::vector<int64_t>(static_cast<size_t>(pooling.inputs()), kWidth));
    pooling.eval();
    auto texts = random_texts(pooling, 2, 6);
    auto shorter = texts;
    for (size_t i = 0; i < texts.size(); ++i) {
      texts[i].features.keep = at::arange(6).lt(4).expand({2, 6});
      shorter[i].features.rows = texts[i].features.rows.narrow(1, 0, 4);
    }
    EXPECT_TRUE(close(pooling.forward(texts, {}).rows, pooling.forward(shorter, {}).rows, 1e-5));
  }
}

}  // namespace
}  // namespace heed::testing
