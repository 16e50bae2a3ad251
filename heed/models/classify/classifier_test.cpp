// Predictions of a classifier: of every form of label, of texts of any length, in any company.

#include "heed/models/classify/classifier.h"

#include <cmath>

#include "heed/attention/testing.h"
#include "heed/data/testing.h"
#include "heed/models/classify/testing_classifier.h"
#include "heed/structures/structure.h"

namespace heed::testing {
namespace {

using TextList = std::vector<std::vector<std::string>>;

const TextList kFilms{{"the film was good"},
                      {"soup"},
                      {"a bad end . was it the film or was it the soup ? no"},
                      {"the unknownword was hot"},
                      {"was it ?"}};

/// All numbers of a prediction.
std::vector<double> numbers_of(const Prediction& prediction) {
  std::vector<double> all = prediction.probabilities;
  if (all.empty() && prediction.words.empty()) all.push_back(prediction.number);
  for (const auto& word : prediction.words) all.insert(all.end(), word.begin(), word.end());
  return all;
}

/// float: about 1000 sums, each rounded by 6e-8, of numbers around 1; blocks of another length sum in another order.
constexpr double kCompany = 1e-4;

void expect_same_prediction(const Prediction& got, const Prediction& expected) {
  const auto a = numbers_of(got), b = numbers_of(expected);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], kCompany) << i;
}

/// Each alone, all at once, and all in reverse order.
void expect_company_does_not_matter(const SmallClassifier& small, const TextList& texts) {
  Classifier classifier = small_classifier(small);
  const auto together = classifier.predict(texts);
  const auto reversed = classifier.predict({texts.rbegin(), texts.rend()});
  const auto few = classifier.predict(texts, /*batch_tokens=*/12);
  ASSERT_EQ(together.size(), texts.size());
  double spread = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    SCOPED_TRACE(texts[i].front());
    expect_same_prediction(together[i], classifier.predict({texts[i]}).front());
    expect_same_prediction(together[i], reversed[texts.size() - 1 - i]);
    expect_same_prediction(together[i], few[i]);
    for (const double x : numbers_of(together[i])) EXPECT_TRUE(std::isfinite(x));
    if (!numbers_of(together[i]).empty())
      spread = std::max(spread, std::fabs(numbers_of(together[i]).front() - numbers_of(together[0]).front()));
  }
  EXPECT_GT(spread, 10 * kCompany) << "predictions must differ for this to test anything";
}

TEST(Classifier, PredictsTheSameInAnyCompanyAndOrder) {
  for (const char* model :
       {"", "attention: mean", "attention: fixed", "features: {kind: convolution, dim: 8, widths: [1, 5]}",
        "features: {kind: transformer, num_heads: 2, num_layers: 1}",
        "features: {kind: transformer, num_heads: 2, class_token: true}, attention: fixed",
        "features: embedding, attention: additive + sparsemax, query: mean",
        "features: {dim: 8}, attention: {mechanism: scaled_dot + softmax, num_heads: 2}, query: summary",
        "features: {dim: 8}, attention: {preset: kiela_2018}",
        "features: {dim: 8}, attention: {preset: winata_2019}"}) {
    SCOPED_TRACE(model);
    expect_company_does_not_matter({.model = model}, kFilms);
  }
}

TEST(Classifier, PredictsTheSameInAnyCompanyForEveryFormOfLabel) {
  for (const auto& [form, output] : {std::pair{LabelForm::several, "sigmoid"},
                                     {LabelForm::number, "regression"},
                                     {LabelForm::tokens, "token_softmax"}}) {
    SCOPED_TRACE(output);
    expect_company_does_not_matter({.model = std::string("output: ") + output, .form = form}, kFilms);
  }
  expect_company_does_not_matter(
      {.model = "features: {dim: 8}, output: capsule, attention: {structure: capsule(classes=3)}"}, kFilms);
}

// Padding is longer than the text, in every structure that reads one text; what a context of padding held would count.
TEST(Classifier, PredictsTheSameInAnyCompanyWithEveryStructure) {
  int64_t tried = 0;
  for (const auto& name : Structure::Parts::names()) {
    const auto takes = structure(name, {.features = {8}})->takes();
    if (takes.edges || takes.depth > 2) continue;
    SmallClassifier small{.model = "features: {dim: 8}, attention: {structure: " + name + "}"};
    if (takes.depth == 2) small.sentences = "rule";
    if (takes.features.size() > 1 && !takes.same_length) small.columns = takes.features;
    TextList texts = kFilms;
    for (size_t i = 0; i < texts.size(); ++i)
      for (size_t c = 1; c < small.columns.size(); ++c) texts[i].push_back(kFilms[(i + c) % kFilms.size()].front());
    SCOPED_TRACE(name);
    expect_company_does_not_matter(small, texts);
    ++tried;
  }
  EXPECT_GE(tried, 20);
}

TEST(Classifier, PredictsTheSameOfDocumentsInAnyCompany) {
  const TextList documents{{"The film was good . The end was bad ."},
                           {"No"},
                           {"Was it hot ? Was it cold ? No one liked the soup . A bad end ."},
                           {""},
                           {" . "}};
  for (const char* model : {"features: embedding, attention: {preset: yang_2016}",
                            "features: {dim: 8, num_layers: 2}, attention: {preset: yang_2016}",
                            "features: {kind: transformer, num_heads: 2, class_token: true}, "
                            "attention: {structure: hierarchical}",
                            "features: {dim: 8}, attention: additive + softmax"}) {
    SCOPED_TRACE(model);
    expect_company_does_not_matter({.model = model, .sentences = "rule"}, documents);
  }
}

TEST(Classifier, PredictsWithoutAWord) {
  for (const char* model : {"", "attention: mean", "attention: fixed", "features: {kind: convolution, dim: 8}",
                            "features: {kind: transformer, num_heads: 2, class_token: true}, attention: fixed"}) {
    SCOPED_TRACE(model);
    expect_company_does_not_matter({.model = model}, {{""}, {"the film was good"}, {"  "}});
  }
  expect_company_does_not_matter(
      {.model = "attention: {structure: rotatory}", .columns = {"target", "left", "right"}},
      {{"film", "the", "was good"}, {"film", "", "was good"}, {"film", "the", ""}, {"", "", ""}});
}

TEST(Classifier, TakesTextsByTheNamesOfTheirColumns) {
  Classifier one = small_classifier(
                 {.model = "attention: {structure: rotatory}", .columns = {"left", "target", "right"}}),
             other = small_classifier(
                 {.model = "attention: {structure: rotatory}", .columns = {"right", "left", "target"}});
  expect_same_prediction(one.predict({{"the", "film", "was good"}}).front(),
                         other.predict({{"was good", "the", "film"}}).front());
}

TEST(Classifier, LabelsWordsByTheirFirstPieces) {
  const SmallClassifier small{
      .model = "features: {dim: 8}, output: token_softmax", .tokenizer = "bpe(merges=4)", .form = LabelForm::tokens};
  Classifier whole = small_classifier(small);
  const auto words = whole.predict({{"the film was good"}, {""}});
  ASSERT_EQ(words[0].words.size(), 4U);
  EXPECT_TRUE(words[1].words.empty());
  // By hand: the probabilities of each piece, and the piece that begins each word.
  const TextBatch batch = batch_of(whole, {{"the film was good"}});
  const at::NoGradGuard no_grad;
  const Tensor pieces = whole.model().predict(whole.model().pool(batch))[0];
  const Segmentation segmented = whole.reader().tokenizer->segment("the film was good");
  ASSERT_GT(segmented.ids.size(), 4U);
  for (size_t i = 0; i < segmented.ids.size(); ++i) {
    if (i > 0 && segmented.word[i] == segmented.word[i - 1]) continue;
    for (int64_t c = 0; c < 3; ++c)
      EXPECT_NEAR(words[0].words[static_cast<size_t>(segmented.word[i])][static_cast<size_t>(c)],
                  pieces[static_cast<int64_t>(i)][c].item<double>(), kCompany);
  }
}

TEST(Classifier, GivesAWordThatWasCutNoLabel) {
  Classifier cut = small_classifier({.model = "output: token_softmax", .form = LabelForm::tokens, .max_length = 2});
  const auto words = cut.predict({{"the film was good"}}).front().words;
  ASSERT_EQ(words.size(), 4U);
  EXPECT_EQ(words[1].size(), 3U);
  EXPECT_TRUE(words[2].empty() && words[3].empty());
}

TEST(Classifier, PredictsNumbersOnTheScaleOfTheLabels) {
  Classifier classifier = small_classifier({.model = "output: regression", .form = LabelForm::number});
  const at::NoGradGuard no_grad;
  const double scaled =
      classifier.model().predict(classifier.model().pool(batch_of(classifier, {{"the film"}}))).item<double>();
  EXPECT_NEAR(classifier.predict({{"the film"}}).front().number, 3 + 2 * scaled, 1e-5);
}

TEST(Classifier, PredictsTheClassesAboveItsThreshold) {
  const Classifier several = small_classifier({.model = "output: sigmoid", .form = LabelForm::several});
  EXPECT_EQ(several.classes({.probabilities = {0.5, 0.49, 1}}), (std::vector<int64_t>{0, 2}));
  EXPECT_TRUE(several.classes({.probabilities = {0.1, 0.2, 0.3}}).empty());
  const Classifier one = small_classifier({});
  EXPECT_EQ(one.classes({.probabilities = {0.2, 0.4, 0.4}}), std::vector<int64_t>{1});  // the first of equal ones
}

TEST(Classifier, LeavesTheModelInItsMode) {
  Classifier classifier = small_classifier({});
  classifier.model().train();
  const auto in_training = classifier.predict(kFilms);
  EXPECT_TRUE(classifier.model().is_training());
  classifier.model().eval();
  const auto in_evaluation = classifier.predict(kFilms);
  EXPECT_FALSE(classifier.model().is_training());
  for (size_t i = 0; i < kFilms.size(); ++i)  // nothing is dropped in either
    EXPECT_EQ(in_training[i].probabilities, in_evaluation[i].probabilities);
}

TEST(Classifier, RefusesAnExampleWithoutAllItsTexts) {
  Classifier classifier =
      small_classifier({.model = "attention: {structure: interactive}", .columns = {"first", "second"}});
  EXPECT_TRUE(says(error_of([&] {
                     classifier.predict({{"a", "b"}, {"a"}});
                   }),
                   {"got an example of 1 texts, expected first, second"}));
}

TEST(Classifier, NamesThePathOfItsAttention) {
  Classifier attends = small_classifier({}), averages = small_classifier({.model = "attention: mean"});
  EXPECT_NE(described_attention(attends, {"the film"}).find("softmax"), std::string::npos);
  EXPECT_EQ(described_attention(averages, {"the film"}), "attention: none, mean of the features");
}

TEST(FirstPieces, AreMinusOneForWordsThatWereCut) {
  const Segmentation cut{.ids = {7, 8, 9}, .word = {0, 0, 1}, .words = {"film", "was", "good"}, .text = ""};
  EXPECT_EQ(first_pieces(cut), (std::vector<int64_t>{0, 2, -1}));
}

}  // namespace
}  // namespace heed::testing
