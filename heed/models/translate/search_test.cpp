#include "heed/models/translate/search.h"

#include <algorithm>
#include <cmath>

#include <torch/cuda.h>

#include "heed/attention/testing.h"
#include "heed/data/recipe.h"
#include "heed/data/tokenizer.h"
#include "heed/models/translate/beam_tensors.h"
#include "heed/models/translate/testing_plain_search.h"
#include "heed/torch_support/float_precision.h"
#include "heed/torch_support/no_waiting.h"

namespace heed::testing {
namespace {

constexpr int64_t kVocabulary = 7;

std::shared_ptr<TranslationModel> small_model(const std::string& model, uint64_t seed = 3) {
  at::manual_seed(seed);
  const Settings recipe = parse_recipe("model: " + model, "small");
  auto made = std::make_shared<TranslationModel>(recipe.at("model"), Vocabularies{kVocabulary, kVocabulary, false});
  for (auto& parameter : made->parameters()) {
    const at::NoGradGuard no_grad;
    parameter.mul_(3);  // so that some tokens are clearly more probable than others
  }
  made->eval();
  return made;
}

const std::vector<std::string> kModels{
    "{embedding: {dim: 8}, features: {dim: 8}, query: {state_dim: 8}}",
    "{embedding: {dim: 8}, features: {dim: 8}, query: {kind: luong, state_dim: 8}, attention: general + entmax(1.5)}",
    "{embedding: {dim: 8}, features: {dim: 8}, query: {state_dim: 8}, attention: fixed}",
    "{embedding: {dim: 8}, features: {dim: 8}, query: {state_dim: 8}, attention: {structure: multi_hop(hops=2)}}",
    "{embedding: {dim: 8}, query: {kind: transformer, num_layers: 2, num_heads: 2}, features: {kind: transformer, "
    "num_layers: 1, "
    "heads: "
    "2}}"};

Tensor sources() {
  return at::tensor({4, 5, 6, 3, 5, 3, 0, 0}, at::kLong).view({2, 4});
}
Tensor keeps() {
  return sources() != 0;
}

/// log p of the tokens and the end marker, by teacher forcing.
double log_probability(TranslationModel& model, int64_t row, const std::vector<int64_t>& tokens) {
  const at::NoGradGuard no_grad;
  const auto source = sources().narrow(0, row, 1).narrow(1, 0, row == 0 ? 4 : 2);
  Ids ids;
  for (int64_t i = 0; i + 1 < source.size(1); ++i) ids.push_back(source[0][i].item<int64_t>());
  const PairBatch batch = collate({{ids}, {tokens}}, {0});
  return model.predict(batch).log_probabilities(1).item<double>();
}

/// The best of all translations of up to `longest` tokens, by exhaustive search.
std::vector<int64_t> best_of_all(TranslationModel& model, int64_t row, size_t longest, double alpha) {
  std::vector<int64_t> best;
  double best_score = -INFINITY;
  std::vector<std::vector<int64_t>> tried{{}};
  for (size_t i = 0; i < tried.size(); ++i) {
    const auto tokens = tried[i];
    const double length = static_cast<double>(tokens.size()) + 1;
    const double score = log_probability(model, row, tokens) / std::pow((5 + length) / 6, alpha);
    if (score > best_score) {
      best_score = score;
      best = tokens;
    }
    if (tokens.size() == longest) continue;
    for (int64_t token = 1; token < kVocabulary; ++token) {
      if (token == Tokenizer::kBegin || token == Tokenizer::kEnd) continue;
      tried.push_back(tokens);
      tried.back().push_back(token);
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
          EXPECT_NEAR(hypothesis.log_probability, log_probability(*model, row, hypothesis.tokens), 1e-4);
        }
  }
}

TEST_P(EveryTranslator, FindsTheBestOfAllWithABeamThatHoldsAll) {
  const auto model = small_model(GetParam());
  const auto found =
      search(*model, sources(), keeps(), {.beam = 400, .length_penalty = 0.7, .longest = 0, .longest_add = 4});
  for (int64_t row = 0; row < 2; ++row)
    EXPECT_EQ(found[static_cast<size_t>(row)].front().tokens, best_of_all(*model, row, 3, 0.7)) << "row " << row;
}

// Sentences of different lengths leave the batch at different steps; this must not mix up their results.
TEST_P(EveryTranslator, TranslatesASentenceTheSameInAnyBatch) {
  const auto model = small_model(GetParam());
  const IdPairs corpus{{{4, 5, 6}, {5}, {6, 6, 4, 4, 5, 6}, {4}, {6, 5, 4, 6}}, {}};
  for (const int64_t beam : {1, 2, 3}) {
    const SearchOptions options{.beam = beam, .longest = 1, .longest_add = 2, .weights = true};
    const PairBatch batch = collate(corpus, {0, 1, 2, 3, 4});
    const auto together = search(*model, batch.source, batch.source_keep, options);
    for (int64_t row = 0; row < corpus.size(); ++row) {
      const PairBatch one = collate(corpus, {row});
      const auto alone = search(*model, one.source, one.source_keep, options).front();
      const auto& found = together[static_cast<size_t>(row)];
      ASSERT_EQ(found.size(), alone.size()) << "row " << row;
      for (size_t k = 0; k < found.size(); ++k) {
        EXPECT_EQ(found[k].tokens, alone[k].tokens) << "row " << row << ", hypothesis " << k;
        EXPECT_NEAR(found[k].log_probability, alone[k].log_probability, 1e-4);
        EXPECT_NEAR(found[k].score, alone[k].score, 1e-4);
        ASSERT_EQ(found[k].weights.size(), alone[k].weights.size());
        for (size_t t = 0; t < found[k].weights.size(); ++t)
          for (size_t s = 0; s < found[k].weights[t].size(); ++s) {
            const double expected = s < alone[k].weights[t].size() ? alone[k].weights[t][s] : 0;  // 0 at padding
            EXPECT_NEAR(found[k].weights[t][s], expected, 1e-4) << "row " << row << ", token " << t << ", source " << s;
          }
      }
    }
  }
}

// score = log p / ((5 + n) / 6)^alpha, n with the end marker.
TEST_P(EveryTranslator, PenalizesLengthByTheFormula) {
  const auto model = small_model(GetParam());
  for (const double alpha : {0.0, 0.6, 1.0, 2.0}) {
    const auto found =
        search(*model, sources(), keeps(), {.beam = 3, .length_penalty = alpha, .longest = 1, .longest_add = 3});
    for (const auto& row : found)
      for (const auto& hypothesis : row) {
        const double length = static_cast<double>(hypothesis.tokens.size()) + (hypothesis.ended ? 1 : 0);
        EXPECT_NEAR(hypothesis.score, hypothesis.log_probability / std::pow((5 + length) / 6, alpha), 1e-9);
      }
  }
}

/// Beam search by its definition: every beam with every token, best first.
class PlainSearch {
 public:
  PlainSearch(TranslationModel& model, int64_t row, const SearchOptions& options)
      : model_(model),
        options_(options),
        source_(row == 0 ? sources().narrow(0, 0, 1) : sources().narrow(0, 1, 1).narrow(1, 0, 2)) {}

  /// Whether the end marker was among the `beam` best at the first step, so that one more candidate is needed.
  bool end_was_early() const { return end_was_early_; }

  std::vector<Hypothesis> run() {
    std::vector<Hypothesis> beams(1), ended;
    const int64_t longest =
        static_cast<int64_t>(options_.longest * static_cast<double>(source_.size(1)) + options_.longest_add);
    for (int64_t length = 1; !beams.empty(); ++length) {
      std::vector<Hypothesis> all, going;
      for (const auto& beam : beams) extend(beam, all);
      std::stable_sort(all.begin(), all.end(),
                       [](const auto& a, const auto& b) { return a.log_probability > b.log_probability; });
      for (size_t i = 0; i < all.size(); ++i) {
        if (count(going) == options_.beam || count(ended) == options_.beam) break;
        end_was_early_ = end_was_early_ || (length == 1 && all[i].ended && static_cast<int64_t>(i) < options_.beam);
        (all[i].ended ? ended : going).push_back(all[i]);
      }
      beams = count(ended) == options_.beam || length == longest ? std::vector<Hypothesis>{} : going;
      if (beams.empty() && ended.empty()) ended = going;
    }
    for (auto& hypothesis : ended) {
      const double n = static_cast<double>(hypothesis.tokens.size()) + (hypothesis.ended ? 1 : 0);
      hypothesis.score = hypothesis.log_probability / std::pow((5 + n) / 6, options_.length_penalty);
    }
    std::stable_sort(ended.begin(), ended.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
    return ended;
  }

 private:
  static int64_t count(const std::vector<Hypothesis>& all) { return static_cast<int64_t>(all.size()); }

  void extend(const Hypothesis& beam, std::vector<Hypothesis>& all) {
    auto decoding = model_.start(source_, source_ != 0);
    Tensor log_p = decoding.step(at::tensor({Tokenizer::kBegin}, at::kLong));
    for (const int64_t token : beam.tokens) log_p = decoding.step(at::tensor({token}, at::kLong));
    for (int64_t token = 0; token < kVocabulary; ++token) {
      if (token == Tokenizer::kPad || token == Tokenizer::kBegin) continue;
      Hypothesis next = beam;
      next.log_probability += log_p[0][token].item<double>();
      next.ended = token == Tokenizer::kEnd;
      if (!next.ended) next.tokens.push_back(token);
      all.push_back(std::move(next));
    }
  }

  TranslationModel& model_;
  SearchOptions options_;
  Tensor source_;
  bool end_was_early_ = false;
};

TEST_P(EveryTranslator, FindsWhatAPlainSearchFinds) {
  const at::NoGradGuard no_grad;
  int early = 0;
  for (const uint64_t seed : {3, 4, 5, 6, 7, 8}) {
    const auto model = small_model(GetParam(), seed);
    for (const int64_t beam : {1, 2, 3, 4}) {
      const SearchOptions options{.beam = beam, .length_penalty = 0.7, .longest = 0, .longest_add = 4};
      const auto found = search(*model, sources(), keeps(), options);
      for (int64_t row = 0; row < 2; ++row) {
        PlainSearch plain(*model, row, options);
        const auto expected = plain.run();
        const auto& got = found[static_cast<size_t>(row)];
        ASSERT_EQ(got.size(), expected.size()) << "seed " << seed << ", beam " << beam << ", row " << row;
        for (size_t k = 0; k < expected.size(); ++k) {
          EXPECT_EQ(got[k].tokens, expected[k].tokens) << "seed " << seed << ", beam " << beam << ", row " << row;
          EXPECT_EQ(got[k].ended, expected[k].ended);
          EXPECT_NEAR(got[k].log_probability, expected[k].log_probability, 1e-4);
          EXPECT_NEAR(got[k].score, expected[k].score, 1e-4);
        }
        early += beam > 1 && plain.end_was_early() ? 1 : 0;
      }
    }
  }
  EXPECT_GT(early, 0) << "no seed has the end among the best at the first step";
}

TEST_P(EveryTranslator, ReturnsTheWeightsOfEveryToken) {
  const auto model = small_model(GetParam());
  const auto found = search(*model, sources(), keeps(), {.beam = 3, .weights = true});
  const auto& best = found[0].front();
  if (!model->aligns()) {
    EXPECT_TRUE(best.weights.empty());
    return;
  }
  ASSERT_EQ(best.weights.size(), best.tokens.size() + (best.ended ? 1 : 0));
  for (const auto& row : best.weights) {
    double sum = 0;
    for (const double weight : row) sum += weight;
    EXPECT_NEAR(sum, 1, 1e-4);
  }
  const at::NoGradGuard no_grad;  // the weights of teacher forcing with the same tokens
  Call call;
  call.outputs.weights = true;
  const PairBatch batch = collate({{{4, 5, 6}}, {best.tokens}}, {0});
  const Tensor expected = model->alignment(model->predict(batch, call).output.steps)[0].to(at::kDouble);  // [T, S]
  for (size_t t = 0; t < best.weights.size(); ++t)
    for (size_t s = 0; s < best.weights[t].size(); ++s)
      EXPECT_NEAR(best.weights[t][s], expected[static_cast<int64_t>(t)][static_cast<int64_t>(s)].item<double>(), 1e-4);
}

/// Ten sentences of different lengths, some of them equal.
PairBatch ten_sentences() {
  const IdPairs corpus{
      {{4, 5, 6}, {5}, {6, 6, 4, 4, 5, 6}, {4}, {6, 5, 4, 6}, {4}, {5, 5, 5, 5}, {6}, {4, 4, 6, 5, 4}, {5, 6}}, {}};
  return collate(corpus, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

// Sums of float depend on the rows of a batch, and these models enlarge the differences.
constexpr double kRounding = 5e-4;

void expect_same(const std::vector<std::vector<Hypothesis>>& got,
                 const std::vector<std::vector<Hypothesis>>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t row = 0; row < got.size(); ++row) {
    ASSERT_EQ(got[row].size(), expected[row].size()) << "sentence " << row;
    for (size_t k = 0; k < got[row].size(); ++k) {
      const Hypothesis &a = got[row][k], &b = expected[row][k];
      EXPECT_EQ(a.tokens, b.tokens) << "sentence " << row << ", hypothesis " << k;
      EXPECT_EQ(a.ended, b.ended);
      EXPECT_NEAR(a.log_probability, b.log_probability, kRounding * (1 + std::abs(b.log_probability)));
      EXPECT_NEAR(a.score, b.score, kRounding * (1 + std::abs(b.score)));
      ASSERT_EQ(a.weights.size(), b.weights.size());
      for (size_t t = 0; t < a.weights.size(); ++t) {
        ASSERT_EQ(a.weights[t].size(), b.weights[t].size());
        for (size_t s = 0; s < a.weights[t].size(); ++s) EXPECT_NEAR(a.weights[t][s], b.weights[t][s], kRounding);
      }
    }
  }
}

// The host may read at any interval, and sentences may be finished anywhere between.
TEST_P(EveryTranslator, FindsTheSameWhoeverChoosesTheBeams) {
  const PairBatch batch = ten_sentences();
  for (const uint64_t seed : {3, 4})
    for (const int64_t beam : {1, 2, 3, 5, 9}) {
      const auto model = small_model(GetParam(), seed);
      SearchOptions options{.beam = beam, .length_penalty = 0.7, .longest = 1, .longest_add = 4, .weights = true};
      const auto expected = search_plain(*model, batch.source, batch.source_keep, options);
      for (const int64_t interval : {0, 1, 2, 3, 8, 100}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", beam " + std::to_string(beam) + ", interval " +
                     std::to_string(interval));
        options.interval = interval;
        for (const auto capture : {SearchOptions::Capture::never, SearchOptions::Capture::always}) {
          options.capture = capture;
          expect_same(search(*model, batch.source, batch.source_keep, options), expected);
        }
      }
    }
}

/// The model with an end marker that is never chosen.
std::shared_ptr<TranslationModel> endless_model(const std::string& recipe) {
  auto model = small_model(recipe);
  const at::NoGradGuard no_grad;
  for (auto& item : model->named_parameters())
    if (item.key() == "output.bias") item.value()[Tokenizer::kEnd] = -1e4;
  return model;
}

// Memory that steps keep is extended several times.
TEST_P(EveryTranslator, FindsTheSameInMemoryThatIsKept) {
  const auto model = endless_model(GetParam());
  const PairBatch batch = ten_sentences();
  for (const int64_t beam : {1, 3}) {
    SearchOptions options{.beam = beam, .longest = 2, .longest_add = 70, .interval = 8};
    options.capture = SearchOptions::Capture::never;
    const auto expected = search(*model, batch.source, batch.source_keep, options);
    options.capture = SearchOptions::Capture::always;
    expect_same(search(*model, batch.source, batch.source_keep, options), expected);
  }
}

TEST_P(EveryTranslator, FindsOnAGpuWhatItFindsOnTheCpu) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "torch finds no GPU here";
  use_float_in_cudnn();
  const PairBatch batch = ten_sentences();
  for (const int64_t beam : {1, 3})
    for (const auto& model : {small_model(GetParam()), endless_model(GetParam())}) {
      SearchOptions options{.beam = beam, .longest = 1, .longest_add = 40, .weights = true};
      const auto expected = search_plain(*model, batch.source, batch.source_keep, options);
      model->to(at::kCUDA);
      for (const auto capture : {SearchOptions::Capture::never, SearchOptions::Capture::few_rows}) {
        options.capture = capture;
        expect_same(search(*model, batch.source.cuda(), batch.source_keep.cuda(), options), expected);
      }
    }
}

TEST_P(EveryTranslator, WaitsForNothingInAStepOnAGpu) {
  if (!torch::cuda::is_available() || !NoWaiting::available()) GTEST_SKIP() << "torch finds no GPU here";
  const at::NoGradGuard no_grad;
  const auto model = small_model(GetParam());
  model->to(at::kCUDA);
  const PairBatch batch = ten_sentences();
  auto decoding = model->start(batch.source.cuda(), batch.source_keep.cuda());
  BeamTensors beams(10, 3, at::kCUDA);
  const auto step = [&] {
    beams.extend(decoding.logits(beams.tokens()));
    decoding.select(beams.rows());
  };
  step();  // libraries prepare themselves
  const NoWaiting no_waiting;
  for (int i = 0; i < 4; ++i) EXPECT_NO_THROW(step());
}

INSTANTIATE_TEST_SUITE_P(Models, EveryTranslator, ::testing::ValuesIn(kModels),
                         [](const auto& test) { return std::to_string(test.index); });

TEST(Search, RefusesABeamBelowOne) {
  const auto model = small_model(kModels[0]);
  EXPECT_THROW(search(*model, sources(), keeps(), {.beam = 0}), Error);
}

/// A model that gives every token the same probability, at any step.
std::shared_ptr<TranslationModel> indifferent_model() {
  auto model = small_model(kModels[0]);
  const at::NoGradGuard no_grad;
  for (auto& parameter : model->parameters()) parameter.zero_();
  return model;
}

// Beams with equal sums keep their order: that of the beams that they continue.
TEST(Search, BreaksTiesByTheOrderOfBeams) {
  const auto model = indifferent_model();
  const PairBatch batch = ten_sentences();
  SearchOptions options{.beam = 3, .longest = 0, .longest_add = 5};
  const auto expected = search_plain(*model, batch.source, batch.source_keep, options);
  for (const int64_t interval : {1, 2, 8}) {
    options.interval = interval;
    expect_same(search(*model, batch.source, batch.source_keep, options), expected);
  }
}

TEST(Search, SaysAtWhichTokenProbabilitiesAreNaN) {
  const auto model = small_model(kModels[4]);
  const PairBatch batch = ten_sentences();
  {
    const at::NoGradGuard no_grad;
    for (auto& parameter : model->parameters()) parameter.fill_(std::nan(""));
  }
  for (const int64_t beam : {1, 3})
    for (const int64_t interval : {1, 2, 8}) try {
        search(*model, batch.source, batch.source_keep, {.beam = beam, .interval = interval});
        ADD_FAILURE() << "no Error, beam " << beam << ", interval " << interval;
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "search: log-probabilities are NaN at token 1; the model's weights are damaged, or "
                     "its training diverged");
      }
}

TEST(Search, RefusesANegativeInterval) {
  const auto model = small_model(kModels[0]);
  EXPECT_THROW(search(*model, sources(), keeps(), {.interval = -1}), Error);
}

TEST(Search, DividesByTheNameOfItsNormalization) {
  EXPECT_EQ(length_normalization("gnmt"), LengthNormalization::gnmt);
  EXPECT_EQ(length_normalization("length"), LengthNormalization::length);
  EXPECT_THROW(length_normalization("fairseq"), Error);
  EXPECT_DOUBLE_EQ(length_divisor(LengthNormalization::gnmt, 7, 1), 2);     // (5 + 7) / 6
  EXPECT_DOUBLE_EQ(length_divisor(LengthNormalization::gnmt, 19, 0.5), 2);  // (24 / 6)^0.5
  EXPECT_DOUBLE_EQ(length_divisor(LengthNormalization::gnmt, 1, 3), 1);
  EXPECT_DOUBLE_EQ(length_divisor(LengthNormalization::length, 7, 1), 7);
  EXPECT_DOUBLE_EQ(length_divisor(LengthNormalization::length, 9, 0.5), 3);
  EXPECT_DOUBLE_EQ(length_divisor(LengthNormalization::length, 1, 3), 1);
}

// Each of 7 tokens has probability 1/7, so n tokens have log p = -n log 7. By length with alpha 1, all scores are
// -log 7; by GNMT's, the score of n tokens is -6 n log 7 / (5 + n).
TEST(Search, ScoresByTheNormalizationThatIsNamed) {
  const auto model = indifferent_model();
  const double each = -std::log(static_cast<double>(kVocabulary));
  for (const int64_t interval : {1, 2}) {
    SearchOptions options{.beam = 3, .longest = 0, .longest_add = 3, .interval = interval};
    options.normalization = LengthNormalization::length;
    for (const auto& row : search(*model, sources(), keeps(), options))
      for (const auto& hypothesis : row) EXPECT_NEAR(hypothesis.score, each, 1e-6);
    options.normalization = LengthNormalization::gnmt;
    for (const auto& row : search(*model, sources(), keeps(), options))
      for (const auto& hypothesis : row) {
        const double n = static_cast<double>(hypothesis.tokens.size()) + (hypothesis.ended ? 1 : 0);
        EXPECT_NEAR(hypothesis.score, 6 * n * each / (5 + n), 1e-6);
      }
  }
}

TEST(Search, StopsAtTheMaximumLength) {
  const auto model = small_model(kModels[0]);
  for (const auto& row : search(*model, sources(), keeps(), {.beam = 2, .longest = 0, .longest_add = 2}))
    EXPECT_LE(row.front().tokens.size(), 2U);
}

}  // namespace
}  // namespace heed::testing
