#include "heed/models/translate/search.h"

#include <cmath>

#include "heed/attention/testing.h"
#include "heed/data/recipe.h"
#include "heed/data/tokenizer.h"

namespace heed::testing {
namespace {

constexpr int64_t kWords = 7;

std::shared_ptr<TranslationModel> small_model(const std::string& model) {
  at::manual_seed(3);
  const Settings recipe = parse_recipe("model: " + model, "small");
  auto made = std::make_shared<TranslationModel>(recipe.at("model"), Vocabularies{kWords, kWords, false});
  for (auto& parameter : made->parameters()) {
    const at::NoGradGuard no_grad;
    parameter.mul_(3);  // so that some words are clearly better than others
  }
  made->eval();
  return made;
}

const std::vector<std::string> kModels{
    "{words: {width: 8}, features: {width: 8}, query: {state: 8}}",
    "{words: {width: 8}, features: {width: 8}, query: {kind: luong, state: 8}, attention: general + entmax(1.5)}",
    "{words: {width: 8}, features: {width: 8}, query: {state: 8}, attention: fixed}",
    "{words: {width: 8}, features: {width: 8}, query: {state: 8}, attention: {structure: multi_hop(hops=2)}}",
    "{words: {width: 8}, query: {kind: transformer, layers: 2, heads: 2}, features: {kind: transformer, layers: 1, "
    "heads: "
    "2}}"};

Tensor sources() {
  return at::tensor({4, 5, 6, 3, 5, 3, 0, 0}, at::kLong).view({2, 4});
}
Tensor keeps() {
  return sources() != 0;
}

/// log p of the words and the end, by teacher forcing.
double log_probability(TranslationModel& model, int64_t row, const std::vector<int64_t>& words) {
  const at::NoGradGuard no_grad;
  const auto source = sources().narrow(0, row, 1).narrow(1, 0, row == 0 ? 4 : 2);
  Ids ids;
  for (int64_t i = 0; i + 1 < source.size(1); ++i) ids.push_back(source[0][i].item<int64_t>());
  const PairBatch batch = collate({{ids}, {words}}, {0});
  return model.predict(batch).log_probabilities(1).item<double>();
}

/// The best of all translations of up to `longest` words, by trying each.
std::vector<int64_t> best_of_all(TranslationModel& model, int64_t row, size_t longest, double alpha) {
  std::vector<int64_t> best;
  double best_score = -INFINITY;
  std::vector<std::vector<int64_t>> tried{{}};
  for (size_t i = 0; i < tried.size(); ++i) {
    const auto words = tried[i];
    const double length = static_cast<double>(words.size()) + 1;
    const double score = log_probability(model, row, words) / std::pow((5 + length) / 6, alpha);
    if (score > best_score) {
      best_score = score;
      best = words;
    }
    if (words.size() == longest) continue;
    for (int64_t word = 1; word < kWords; ++word) {
      if (word == Tokenizer::kBegin || word == Tokenizer::kEnd) continue;
      tried.push_back(words);
      tried.back().push_back(word);
    }
  }
  return best;
}

class EveryTranslator : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryTranslator, ScoresWhatItFindsAsTeacherForcingDoes) {
  const auto model = small_model(GetParam());
  for (const int64_t beam : {1, 3}) {
    const auto found = search(*model, sources(), keeps(), {.beam = beam, .longest = 1, .longest_add = 3});
    for (int64_t row = 0; row < 2; ++row)
      for (const auto& hypothesis : found[static_cast<size_t>(row)])
        if (hypothesis.ended) {
          EXPECT_NEAR(hypothesis.log_probability, log_probability(*model, row, hypothesis.words), 1e-4);
        }
  }
}

TEST_P(EveryTranslator, FindsTheBestOfAllWithABeamThatHoldsAll) {
  const auto model = small_model(GetParam());
  const auto found =
      search(*model, sources(), keeps(), {.beam = 400, .length_penalty = 0.7, .longest = 0, .longest_add = 4});
  for (int64_t row = 0; row < 2; ++row)
    EXPECT_EQ(found[static_cast<size_t>(row)].front().words, best_of_all(*model, row, 3, 0.7)) << "row " << row;
}

TEST_P(EveryTranslator, TranslatesARowTheSameInAnyCompany) {
  const auto model = small_model(GetParam());
  const auto together = search(*model, sources(), keeps(), {.beam = 2, .weights = true});
  const auto alone = search(*model, sources().narrow(0, 1, 1).narrow(1, 0, 2), keeps().narrow(0, 1, 1).narrow(1, 0, 2),
                            {.beam = 2, .weights = true});
  EXPECT_EQ(together[1].front().words, alone[0].front().words);
  EXPECT_NEAR(together[1].front().log_probability, alone[0].front().log_probability, 1e-4);
}

TEST_P(EveryTranslator, RemembersHowEachWordLookedAtTheSource) {
  const auto model = small_model(GetParam());
  const auto found = search(*model, sources(), keeps(), {.beam = 3, .weights = true});
  const auto& best = found[0].front();
  if (!model->aligns()) {
    EXPECT_TRUE(best.weights.empty());
    return;
  }
  ASSERT_EQ(best.weights.size(), best.words.size() + (best.ended ? 1 : 0));
  for (const auto& row : best.weights) {
    double sum = 0;
    for (const double weight : row) sum += weight;
    EXPECT_NEAR(sum, 1, 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EveryTranslator, ::testing::ValuesIn(kModels),
                         [](const auto& test) { return std::to_string(test.index); });

TEST(Search, RefusesABeamOfNothing) {
  const auto model = small_model(kModels[0]);
  EXPECT_THROW(search(*model, sources(), keeps(), {.beam = 0}), Error);
}

TEST(Search, StopsAtTheLongestLength) {
  const auto model = small_model(kModels[0]);
  for (const auto& row : search(*model, sources(), keeps(), {.beam = 2, .longest = 0, .longest_add = 2}))
    EXPECT_LE(row.front().words.size(), 2U);
}

}  // namespace
}  // namespace heed::testing
