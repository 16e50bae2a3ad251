#include "heed/models/translate/translator.h"

#include <cmath>
#include <limits>

#include "heed/attention/testing.h"
#include "heed/data/recipe.h"
#include "heed/data/testing.h"

namespace heed::testing {
namespace {

using Lines = std::vector<std::string>;

const Lines kEnglish{"Tom chases Jerry", "two angry cats chase the mouse", "Jerry sleeps"};
const Lines kChinese{"汤姆 追逐 杰瑞", "两 只 愤怒 的 猫 追逐 老鼠", "杰瑞 睡觉"};

constexpr auto kRecurrent = "{embedding: {dim: 8}, features: {dim: 8}, query: {state_dim: 8}}";

/// An untrained translator: its output is arbitrary, but the shapes and indices of its weights are not.
Translator small_translator(const std::string& source_tokenizer, const std::string& target_tokenizer,
                            const std::string& model = kRecurrent, const Lines& source = kEnglish) {
  at::manual_seed(3);
  Languages languages;
  languages.source = train_tokenizer(source_tokenizer, source);
  languages.target = train_tokenizer(target_tokenizer, kChinese);
  const Settings recipe = parse_recipe("model: " + model, "small");
  auto made = std::make_shared<TranslationModel>(recipe.at("model"), languages.vocabularies());
  made->eval();
  return {std::move(made), std::move(languages)};
}

const Lines kTokenizers{"words", "bpe(merges=30)", "characters"};

class EveryTokenizersTranslator : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryTokenizersTranslator, HasWeightsForTheWordsOfTheGivenText) {
  Translator translator = small_translator(GetParam(), GetParam());
  const Lines sources{"Foo Tom chases Jerry", "Tom Jezq Jerry sleeps", "Tom </s> chases  \u9F8D", " <unk>Tom\tsleeps "};
  const Lines targets{"汤姆 追逐 杰瑞", "汤姆 龍龍 </s> 睡觉", "<pad> 猫", "龍"};
  const auto scored = translator.score(sources, targets);
  for (size_t i = 0; i < sources.size(); ++i) {
    EXPECT_EQ(scored[i].source_words, whitespace_words(sources[i]));
    EXPECT_EQ(scored[i].target_words, whitespace_words(targets[i]));
    ASSERT_EQ(scored[i].weights.size(), scored[i].target_words.size()) << sources[i];
    ASSERT_EQ(scored[i].end_weights.size(), scored[i].target_words.size());
    for (size_t t = 0; t < scored[i].weights.size(); ++t) {
      ASSERT_EQ(scored[i].weights[t].size(), scored[i].source_words.size());
      double sum = scored[i].end_weights[t];
      EXPECT_GT(sum, 0);
      for (const double weight : scored[i].weights[t]) {
        EXPECT_GT(weight, 0) << "every word has tokens that are attended";
        sum += weight;
      }
      EXPECT_NEAR(sum, 1, 1e-5) << "with the end marker nothing is missing";
    }
  }
  TranslateOptions options;
  options.search.weights = true;
  options.search.beam = 2;
  const auto translations = translator.translate(sources, options);
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto& translation = translations[i];
    EXPECT_EQ(translation.source_words, whitespace_words(sources[i]));
    if (GetParam() != "characters") {
      EXPECT_EQ(translation.target_words, whitespace_words(translation.text));
    }
    ASSERT_EQ(translation.weights.size(), translation.target_words.size());
    for (const auto& row : translation.weights) EXPECT_EQ(row.size(), translation.source_words.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Tokenizers, EveryTokenizersTranslator, ::testing::ValuesIn(kTokenizers),
                         [](const auto& test) { return test.param.substr(0, test.param.find('(')); });

// Both directions, with tokenizers of different vocabularies.
TEST(Translator, CountsTheSameWordsWhateverItsTokenizersKnow) {
  Translator one = small_translator("words(vocabulary=6)", "bpe(merges=5)"),
             other = small_translator("characters", "words(vocabulary=5)", kRecurrent, {"Tom a"});
  const Lines sources{"Foo Tom chases </s> Jerry", "x"}, targets{"汤姆 追逐 龍 杰瑞", "猫"};
  const auto forward = one.score(sources, targets), backward = other.score(sources, targets);
  for (size_t i = 0; i < sources.size(); ++i) {
    EXPECT_EQ(forward[i].source_words, backward[i].source_words);
    EXPECT_EQ(forward[i].target_words, backward[i].target_words);
    EXPECT_EQ(forward[i].weights.size(), backward[i].weights.size());
  }
}

TEST(Translator, KeepsThePositionsOfWordsWhenItPreparesText) {
  Translator translator = small_translator("words", "words");
  const Lines words = translator.languages().source->segment("tom &amp; jerry").words;
  Languages languages = translator.languages();
  languages.lowercase = languages.unescape = true;
  for (const std::string text :
       {"Tom &amp; JERRY", "&lt;unk&gt; &#124;  \u0130STANBUL &apos;s", "a&quot;b &lt;/s&gt;c"})
    EXPECT_EQ(whitespace_words(languages.prepared(text)).size(), whitespace_words(text).size()) << text;
}

// Tokenizers with lowercase letters only: prepared text equals lowercase input, other text is unknown.
TEST(Translator, PreparesTextBeforeSegmentation) {
  const std::string written = "Tom &amp; JERRY Sleep", plainly = "tom & jerry sleep", target = "汤姆 杰瑞 睡觉";
  Translator as_is = small_translator("words", "words", kRecurrent, {plainly});
  Languages languages = as_is.languages();
  languages.lowercase = languages.unescape = true;
  Translator preparing(std::static_pointer_cast<TranslationModel>(as_is.model().shared_from_this()), languages);
  const auto expected = as_is.score({plainly}, {target}).front(), unknown = as_is.score({written}, {target}).front();
  ASSERT_GT(std::abs(expected.log_probability - unknown.log_probability), 1e-4) << "or this tests nothing";
  const auto scored = preparing.score({written}, {target}).front();
  EXPECT_EQ(scored.source_words, (Lines{"tom", "&", "jerry", "sleep"}));
  EXPECT_NEAR(scored.log_probability, expected.log_probability, 1e-6);
  const auto translated = preparing.translate({written}).front(), wanted = as_is.translate({plainly}).front();
  EXPECT_EQ(translated.source_words, (Lines{"tom", "&", "jerry", "sleep"}));
  EXPECT_EQ(translated.text, wanted.text);
  EXPECT_NEAR(translated.log_probability, wanted.log_probability, 1e-6);
}

TEST(Translator, AlignsNothingWhereOneSideIsEmpty) {
  Translator translator = small_translator("words", "characters");
  const auto scored = translator.score({"", "Tom", " "}, {"猫", "", ""});
  for (const auto& one : scored) EXPECT_TRUE(strongest_links(one.weights).empty());
}

// With align_shift the weights of a token are those of the following step, which has it as input.
TEST(Translator, TakesTheWeightsOfTheStepAfterWhereAlignmentIsShifted) {
  const std::string model =
      "{embedding: {dim: 8}, query: {kind: transformer, num_layers: 2, num_heads: 2, align_shift: SHIFT}, "
      "features: {kind: transformer, num_layers: 1, num_heads: 2}}";
  const auto with = [&](const std::string& shift) {
    std::string text = model;
    return small_translator("words", "words", text.replace(text.find("SHIFT"), 5, shift));
  };
  Translator plain = with("false"), shifted = with("true");
  const std::string source = "Tom chases Jerry", target = "汤姆 追逐 杰瑞";
  Call call;
  call.outputs.weights = true;
  const at::NoGradGuard no_grad;
  const PairBatch batch =
      collate({{plain.languages().source->encode(source)}, {plain.languages().target->encode(target)}}, {0});
  const Tensor steps = plain.model().alignment(plain.model().predict(batch, call).output.steps)[0];  // [T + 1, S + 1]
  const auto expect_steps = [&](const Translation& got, int64_t first) {
    ASSERT_EQ(got.weights.size(), 3U);
    for (size_t t = 0; t < 3; ++t)
      for (size_t s = 0; s < 3; ++s)
        EXPECT_NEAR(got.weights[t][s], steps[static_cast<int64_t>(t) + first][static_cast<int64_t>(s)].item<double>(),
                    1e-6);
  };
  ASSERT_GT((steps[0] - steps[1]).abs().max().item<double>(), 1e-3) << "steps must differ for this to test anything";
  expect_steps(plain.score({source}, {target}).front(), 0);
  expect_steps(shifted.score({source}, {target}).front(), 1);

  TranslateOptions options;
  options.search.weights = true;
  const auto found = plain.translate({source}, options).front(), moved = shifted.translate({source}, options).front();
  ASSERT_EQ(found.text, moved.text);
  ASSERT_GE(found.weights.size(), 2U);
  for (size_t t = 0; t + 1 < found.weights.size(); ++t) EXPECT_EQ(moved.weights[t], found.weights[t + 1]);
}

TEST(Translator, RefusesWeightsThatAreNan) {
  Translator translator = small_translator("words", "words");
  const at::NoGradGuard no_grad;
  for (auto& parameter : translator.model().parameters()) parameter.fill_(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(says(error_of([&] { translator.score({"Tom"}, {"猫"}); }),
                   {"translate: line 1: got attention weights that are NaN", "expected finite", "training diverged"}));
}

TEST(WordWeights, HaveTheEndMarkerApart) {
  const auto words = train_tokenizer("words", {"a b c"});
  const auto bpe = train_tokenizer("bpe(merges=0)", {"xy z"});
  // Source: a, unknown, c, end, padding; target: x y</w>, z</w>, end.
  const auto got = word_weights(words->segment("a q c"), bpe->segment("xy z"),
                                {{.6, .1, 0, .3, 0}, {.1, .4, .5, 0, 0}, {0, 0, .25, .75, 0}, {0, 0, 0, 1, 0}});
  ASSERT_EQ(got.words.size(), 2U);
  const WeightRows expected{{.35, .25, .25}, {0, 0, .25}};
  for (size_t t = 0; t < 2; ++t)
    for (size_t s = 0; s < 3; ++s) EXPECT_NEAR(got.words[t][s], expected[t][s], 1e-12);
  EXPECT_NEAR(got.end[0], .15, 1e-12);
  EXPECT_NEAR(got.end[1], .75, 1e-12);
  EXPECT_EQ(pharaoh(strongest_links(got.words)), "0-0 2-1");  // never to the end marker
}

}  // namespace
}  // namespace heed::testing
