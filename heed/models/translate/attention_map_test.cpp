#include "heed/models/translate/attention_map.h"

#include <cmath>
#include <map>

#include "heed/attention/positions.h"
#include "heed/attention/testing.h"
#include "heed/data/recipe.h"
#include "heed/data/testing.h"

namespace heed::testing {
namespace {

using Lines = std::vector<std::string>;

const Lines kEnglishLines{"Tom chases Jerry", "two angry cats chase the mouse", "Jerry sleeps"};
const Lines kChineseLines{"汤姆 追逐 杰瑞", "两 只 愤怒 的 猫 追逐 老鼠", "杰瑞 睡觉"};
const std::string kSentence = "two cats chase Jerry", kTranslation = "两 只 猫 追逐 杰瑞";

constexpr const char *kTransformer =
                         "{embedding: {dim: 8}, query: {kind: transformer, num_layers: 3, num_heads: 2}, "
                         "features: {kind: transformer, num_layers: 2, num_heads: 4}}",
                     *kRecurrentModel = "{embedding: {dim: 8}, features: {dim: 8}, query: {state_dim: 8}}",
                     *kRecurrentHeads =
                         "{embedding: {dim: 8}, features: {dim: 8}, query: {state_dim: 8}, "
                         "attention: {mechanism: scaled_dot + softmax, num_heads: 2}}";

/// Not trained.
Translator untrained(const std::string& model, const std::string& tokenizer = "words") {
  at::manual_seed(3);
  Languages languages;
  languages.source = train_tokenizer(tokenizer, kEnglishLines);
  languages.target = train_tokenizer(tokenizer, kChineseLines);
  const Settings recipe = parse_recipe("model: " + model, "small");
  auto made = std::make_shared<TranslationModel>(recipe.at("model"), languages.vocabularies());
  const at::NoGradGuard no_grad;
  for (auto& parameter : made->parameters()) parameter.mul_(2);  // so that weights differ
  made->eval();
  return {std::move(made), std::move(languages)};
}

AttentionMap map_of(Translator& translator, const AttentionChoice& choice = {}) {
  return attention_maps(translator, {kSentence}, {kTranslation}, {}, choice).front();
}

void expect_sums_of_one(const AttentionMap& map) {
  ASSERT_EQ(map.weights.size(), map.rows.size());
  for (const auto& row : map.weights) {
    ASSERT_EQ(row.size(), map.columns.size());
    double sum = 0;
    for (const double weight : row) sum += weight;
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

void expect_equal(const WeightRows& got, const WeightRows& expected, double tolerance = 1e-6) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].size(), expected[i].size());
    for (size_t j = 0; j < got[i].size(); ++j) EXPECT_NEAR(got[i][j], expected[i][j], tolerance) << i << ' ' << j;
  }
}

double difference(const WeightRows& a, const WeightRows& b) {
  double max = 0;
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < a[i].size(); ++j) max = std::max(max, std::abs(a[i][j] - b[i][j]));
  return max;
}

TEST(AttentionMap, IsTheAlignmentOfTheTranslatorByDefault) {
  for (const char* model : {kTransformer, kRecurrentModel, kRecurrentHeads}) {
    Translator translator = untrained(model);
    const auto scored = translator.score({kSentence}, {kTranslation}).front();
    const AttentionMap map = map_of(translator);
    EXPECT_EQ(map.rows, scored.target_words);
    WeightRows expected = scored.weights;
    for (size_t i = 0; i < expected.size(); ++i) expected[i].push_back(scored.end_weights[i]);
    expect_equal(map.weights, expected);
    expect_sums_of_one(map);
    EXPECT_EQ(map.columns.back(), "</s>");
    TranslateOptions options;
    options.search.weights = true;
    options.search.beam = 2;
    const auto own = translator.translate({kSentence}, options).front();
    const AttentionMap found = attention_maps(translator, {kSentence}, {}, {.beam = 2}).front();
    ASSERT_EQ(found.rows, own.target_words);
    for (size_t i = 0; i < own.weights.size(); ++i) {
      WeightRows row{own.weights[i]};
      row[0].push_back(own.end_weights[i]);
      expect_equal({found.weights[i]}, row, 1e-5);
    }
  }
}

TEST(AttentionMap, IsTheMeanOfItsHeads) {
  for (const auto kind : {AttentionKind::cross, AttentionKind::encoder, AttentionKind::decoder}) {
    Translator translator = untrained(kTransformer);
    const AttentionMap mean = map_of(translator, {.kind = kind});
    EXPECT_EQ(mean.layers, kind == AttentionKind::encoder ? 2 : 3);
    EXPECT_EQ(mean.heads, kind == AttentionKind::encoder ? 4 : 2);
    EXPECT_EQ(mean.layer, kind == AttentionKind::decoder ? 3 : 2);  // cross: the layer before the last aligns
    WeightRows sum(mean.rows.size(), std::vector<double>(mean.columns.size()));
    for (int64_t head = 1; head <= mean.heads; ++head) {
      const AttentionMap one = map_of(translator, {.kind = kind, .head = head});
      expect_sums_of_one(one);
      EXPECT_GT(difference(one.weights, mean.weights), 1e-3) << "heads must differ for this to test anything";
      for (size_t i = 0; i < sum.size(); ++i)
        for (size_t j = 0; j < sum[i].size(); ++j) sum[i][j] += one.weights[i][j] / static_cast<double>(mean.heads);
    }
    expect_equal(mean.weights, sum);
  }
}

// By hand: softmax of the scaled products of projected queries and keys, from the parameters of the first layer of the
// encoder. Its input is the embedded source with sinusoidal positions; a pre-norm layer normalizes it first.
TEST(AttentionMap, HasTheWeightsOfTheFirstEncoderLayerByHand) {
  Translator translator = untrained(kTransformer);
  const at::NoGradGuard no_grad;
  std::map<std::string, Tensor> p;
  for (const auto& item : translator.model().named_parameters()) p[item.key()] = item.value();
  const auto ids = collate({{translator.languages().source->encode(kSentence)}, {{}}}, {0}).source;  // [1, 5]
  const int64_t L = ids.size(1), D = 8, H = 4;
  const auto x = p.at("source_embedding.weight").index_select(0, ids[0]) * std::sqrt(8.0) +
                 sinusoidal_positions(L, D, Layout::interleaved, 0, at::kFloat);
  const std::string layer = "features.encoder.layers.0.";
  const auto h = at::layer_norm(x, {D}, p.at(layer + "self_norm.weight"), p.at(layer + "self_norm.bias"));
  const auto projected = [&](const std::string& name) {
    std::string weight, bias;
    for (const auto& [key, value] : p) {
      if (key.rfind(layer + "self", 0) == 0 && key.find(name) != std::string::npos)
        (key.find("bias") == std::string::npos ? weight : bias) = key;
    }
    return at::linear(h, p.at(weight), p.at(bias)).view({L, H, D / H}).transpose(0, 1);  // [H, L, D / H]
  };
  const auto expected =
      (at::matmul(projected("query"), projected("keys").transpose(1, 2)) / std::sqrt(2.0)).softmax(-1);
  for (int64_t head = 1; head <= H; ++head) {
    const AttentionMap map = map_of(translator, {.kind = AttentionKind::encoder, .layer = 1, .head = head});
    EXPECT_EQ(map.rows, (Lines{"two", "cats", "chase", "Jerry", "</s>"}));
    EXPECT_EQ(map.columns, map.rows);
    for (int64_t i = 0; i < L; ++i)
      for (int64_t j = 0; j < L; ++j)
        EXPECT_NEAR(map.weights[static_cast<size_t>(i)][static_cast<size_t>(j)],
                    expected[head - 1][i][j].item<double>(), 1e-5);
  }
}

TEST(AttentionMap, OfTheDecoderSeesWhatWasWrittenBefore) {
  Translator translator = untrained(kTransformer);
  for (const int64_t layer : {1, 2, 3}) {
    const AttentionMap map = map_of(translator, {.kind = AttentionKind::decoder, .layer = layer, .head = 2});
    EXPECT_EQ(map.rows, (Lines{"两", "只", "猫", "追逐", "杰瑞", "</s>"}));
    EXPECT_EQ(map.columns, (Lines{"<s>", "两", "只", "猫", "追逐", "杰瑞"}));
    expect_sums_of_one(map);
    for (size_t i = 0; i < map.rows.size(); ++i)
      for (size_t j = 0; j < map.columns.size(); ++j) EXPECT_EQ(map.weights[i][j] > 0, j <= i) << i << ' ' << j;
  }
}

// Each step decoded alone, with the words before it: the weights of its cross-attention, layer by layer.
TEST(AttentionMap, OfCrossAttentionIsWhatEachStepAttendsTo) {
  Translator translator = untrained(kTransformer);
  const at::NoGradGuard no_grad;
  Call call;
  call.outputs.weights = true;
  const auto source = translator.languages().source->encode(kSentence),
             target = translator.languages().target->encode(kTranslation);
  for (const int64_t layer : {1, 2, 3})
    for (const int64_t head : {1, 2}) {
      const AttentionMap map = map_of(translator, {.layer = layer, .head = head});
      for (size_t t = 0; t < target.size(); ++t) {
        const Ids before(target.begin(), target.begin() + static_cast<int64_t>(t));
        const auto steps = translator.model().predict(collate({{source}, {before}}, {0}), call).output.steps;
        const auto& attended = step_of(steps, "layers." + std::to_string(layer - 1) + ".cross", "test");
        const auto row = attended.weights[0][head - 1][static_cast<int64_t>(t)];  // [S]
        for (size_t s = 0; s <= source.size(); ++s)
          EXPECT_NEAR(map.weights[t][s], row[static_cast<int64_t>(s)].item<double>(), 1e-5);
      }
    }
}

// align_shift belongs to the layer that makes links, here the second; other layers show what each step attends to.
TEST(AttentionMap, ShiftsOnlyTheLayerThatAligns) {
  std::string shifted_model = kTransformer;
  shifted_model.replace(shifted_model.find("num_layers: 3"), 13, "num_layers: 3, align_shift: true");
  Translator plain = untrained(kTransformer), shifted = untrained(shifted_model);
  EXPECT_EQ(map_of(shifted).layer, 2);
  for (const int64_t layer : {1, 3})
    expect_equal(map_of(shifted, {.layer = layer}).weights, map_of(plain, {.layer = layer}).weights);
  const auto now = map_of(plain, {.layer = 2}).weights, next = map_of(shifted, {.layer = 2}).weights;
  expect_equal({next.begin(), next.end() - 1}, {now.begin() + 1, now.end()});
  EXPECT_GT(std::abs(now[0][0] - next[0][0]), 1e-4) << "steps must differ for this to test anything";
}

TEST(AttentionMap, HasAColumnForEachWordWhateverItsTokens) {
  for (const char* tokenizer : {"words", "bpe(merges=6)", "characters"}) {
    Translator translator = untrained(kTransformer, tokenizer);
    for (const auto kind : {AttentionKind::cross, AttentionKind::encoder, AttentionKind::decoder}) {
      const AttentionMap map = map_of(translator, {.kind = kind});
      EXPECT_EQ(map.source_words, whitespace_words(kSentence));
      EXPECT_EQ(map.target_words, whitespace_words(kTranslation));
      expect_sums_of_one(map);
    }
  }
}

TEST(AttentionMap, IsEqualWhereThereIsNoAttention) {
  const auto model = [](const std::string& attention) {
    return "{embedding: {dim: 8}, features: {dim: 8}, query: {state_dim: 8}, attention: " + attention + "}";
  };
  for (const char* attention : {"fixed", "mean", "additive + uniform"}) {
    Translator translator = untrained(model(attention));
    const AttentionMap map = map_of(translator);
    EXPECT_EQ(map.rows, whitespace_words(kTranslation));
    for (const auto& row : map.weights)
      for (const double weight : row) EXPECT_NEAR(weight, 0.2, 1e-6) << attention;  // four words and the end marker
    EXPECT_FALSE(attention_maps(translator, {kSentence}, {}).front().columns.empty());
  }
}

TEST(AttentionMap, RefusesWhatTheModelDoesNotHave) {
  Translator transformer = untrained(kTransformer), recurrent = untrained(kRecurrentModel);
  const auto error = [](Translator& translator, const AttentionChoice& choice) {
    return error_of([&] { map_of(translator, choice); });
  };
  EXPECT_TRUE(says(error(transformer, {.layer = 7}), {"got layer 7, expected 1 to 3"}));
  EXPECT_TRUE(says(error(transformer, {.kind = AttentionKind::encoder, .layer = 3}), {"got layer 3, expected 1 to 2"}));
  EXPECT_TRUE(says(error(transformer, {.head = 3}), {"got head 3, expected 1 to 2"}));
  EXPECT_TRUE(says(error(recurrent, {.head = 2}), {"got head 2, expected 1"}));
  EXPECT_TRUE(says(error(recurrent, {.layer = 2}), {"got layer 2, expected 1"}));
  EXPECT_TRUE(says(error(recurrent, {.kind = AttentionKind::decoder}),
                   {"got the decoder's self-attention, expected cross-attention"}));
}

TEST(AttentionMap, IsEmptyWhereThereAreNoWords) {
  Translator translator = untrained(kTransformer);
  const auto maps = attention_maps(translator, {"", "Tom"}, {"", ""});
  EXPECT_TRUE(maps[0].rows.empty() && maps[0].columns.empty());
  EXPECT_TRUE(maps[1].rows.empty());
  EXPECT_EQ(maps[1].columns, (Lines{"Tom", "</s>"}));
  EXPECT_TRUE(attention_maps(translator, {" "}, {}).front().rows.empty());
}

TEST(AttentionMap, RefusesWeightsThatAreNan) {
  Translator translator = untrained(kRecurrentModel);
  const at::NoGradGuard no_grad;
  for (auto& parameter : translator.model().parameters()) parameter.fill_(NAN);
  EXPECT_TRUE(says(error_of([&] { map_of(translator); }), {"got attention weights that are NaN", "expected finite"}));
}

}  // namespace
}  // namespace heed::testing
