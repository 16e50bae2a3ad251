// Every metric against sacreBLEU on difficult sentences: scripts, punctuation, numbers, empty lines, reordered words,
// one and two references. fixtures/sacrebleu_scores.py writes fixtures/sacrebleu.json.

#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/metrics/bleu.h"
#include "heed/metrics/chrf.h"
#include "heed/metrics/ter.h"

namespace heed {
namespace {

using nlohmann::json;

constexpr double kClose = 1e-10;  // scores are up to 1000, with a few rounding errors each

struct Corpus {
  Sentences hypotheses;
  std::vector<Sentences> references;
  json expected;

  Sentences references_of(size_t i) const {
    Sentences all;
    for (const auto& list : references) all.push_back(list[i]);
    return all;
  }
};

std::vector<Corpus> corpora() {
  std::ifstream file("heed/metrics/fixtures/sacrebleu.json");
  const json all = json::parse(file).at("corpora");
  std::vector<Corpus> found;
  for (const auto& one : all)
    found.push_back({one.at("hypotheses").get<Sentences>(), one.at("references").get<std::vector<Sentences>>(), one});
  return found;
}

TEST(Sacrebleu, HasScoresOfFourCorpora) {
  const auto all = corpora();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].hypotheses.size(), 22U);
  EXPECT_EQ(all[1].references.size(), 2U);
}

/// "...|version:2.6.0" without the version.
std::string unversioned(const std::string& text) {
  return text.substr(0, text.find("|version:"));
}

BleuOptions bleu_options(const json& given) {
  BleuOptions options;
  options.tokenizer = given.value("tokenize", "13a");
  options.lowercase = given.value("lowercase", false);
  options.smoothing = parse_smoothing(given.value("smooth_method", "exp"));
  if (given.contains("smooth_value") && !given["smooth_value"].is_null())
    options.smooth_value = given["smooth_value"].get<double>();
  return options;
}

void expect_bleu(const Bleu& found, const json& expected) {
  EXPECT_NEAR(found.score, expected["score"].get<double>(), kClose);
  EXPECT_NEAR(found.brevity_penalty, expected["bp"].get<double>(), kClose);
  EXPECT_EQ(found.counts.hypothesis_length, expected["lengths"][0].get<int64_t>());
  EXPECT_EQ(found.counts.reference_length, expected["lengths"][1].get<int64_t>());
  for (size_t n = 0; n < kBleuOrder; ++n) {
    EXPECT_NEAR(found.precisions[n], expected["precisions"][n].get<double>(), kClose);
    if (expected["options"].value("smooth_method", "exp") == "add-k") continue;  // theirs are counts + k
    EXPECT_EQ(found.counts.matches[n], expected["counts"][n].get<int64_t>());
    EXPECT_EQ(found.counts.totals[n], expected["totals"][n].get<int64_t>());
  }
  const auto text = expected["text"].get<std::string>();
  EXPECT_NE(text.find(" " + details(found)), std::string::npos) << text << " is not " << details(found);
}

TEST(Sacrebleu, HasTheSameBleu) {
  for (const auto& corpus : corpora())
    for (const auto& expected : corpus.expected.at("bleu")) {
      SCOPED_TRACE(expected.dump());
      const auto options = bleu_options(expected["options"]);
      expect_bleu(bleu(corpus.hypotheses, corpus.references, options), expected);
      EXPECT_EQ(unversioned(signature(options, corpus.references.size())),
                unversioned(expected["signature"].get<std::string>()));
    }
}

TEST(Sacrebleu, HasTheSameBleuOfSingleSentences) {
  for (const auto& corpus : corpora())
    for (const auto& expected : corpus.expected.at("sentence_bleu")) {
      const auto options = bleu_options(expected["options"]);
      for (size_t i = 0; i < corpus.hypotheses.size(); ++i)
        EXPECT_NEAR(sentence_bleu(corpus.hypotheses[i], corpus.references_of(i), options).score,
                    expected["scores"][i].get<double>(), kClose)
            << corpus.hypotheses[i] << expected["options"];
    }
}

ChrfOptions chrf_options(const json& given) {
  return {.character_order = given.value("char_order", size_t{6}),
          .word_order = given.value("word_order", size_t{0}),
          .beta = given.value("beta", int64_t{2}),
          .lowercase = given.value("lowercase", false),
          .whitespace = given.value("whitespace", false)};
}

TEST(Sacrebleu, HasTheSameChrf) {
  for (const auto& corpus : corpora())
    for (const auto& expected : corpus.expected.at("chrf")) {
      SCOPED_TRACE(expected.dump());
      const auto options = chrf_options(expected["options"]);
      EXPECT_NEAR(chrf(corpus.hypotheses, corpus.references, options).score, expected["score"].get<double>(), kClose);
      EXPECT_EQ(chrf_name(options), expected["name"].get<std::string>());
      EXPECT_EQ(unversioned(signature(options, corpus.references.size())),
                unversioned(expected["signature"].get<std::string>()));
      for (size_t i = 0; i < corpus.hypotheses.size(); ++i) {
        std::vector<Sentences> references;
        for (const auto& reference : corpus.references_of(i)) references.push_back({reference});
        EXPECT_NEAR(chrf({corpus.hypotheses[i]}, references, options).score, expected["each"][i].get<double>(), kClose);
      }
    }
}

TerOptions ter_options(const json& given) {
  return {.case_sensitive = given.value("case_sensitive", false),
          .normalized = given.value("normalized", false),
          .no_punct = given.value("no_punct", false),
          .asian = given.value("asian_support", false)};
}

TEST(Sacrebleu, HasTheSameTer) {
  for (const auto& corpus : corpora())
    for (const auto& expected : corpus.expected.at("ter")) {
      SCOPED_TRACE(expected.dump());
      const auto options = ter_options(expected["options"]);
      const Ter found = ter(corpus.hypotheses, corpus.references, options);
      EXPECT_NEAR(found.score, expected["score"].get<double>(), kClose);
      EXPECT_EQ(found.edits, expected["edits"].get<int64_t>());
      EXPECT_NEAR(found.reference_length, expected["length"].get<double>(), kClose);
      EXPECT_EQ(unversioned(signature(options, corpus.references.size())),
                unversioned(expected["signature"].get<std::string>()));
      for (size_t i = 0; i < corpus.hypotheses.size(); ++i) {
        std::vector<Sentences> references;
        for (const auto& reference : corpus.references_of(i)) references.push_back({reference});
        EXPECT_EQ(ter({corpus.hypotheses[i]}, references, options).edits, expected["each"][i].get<int64_t>())
            << corpus.hypotheses[i];
      }
    }
}

}  // namespace
}  // namespace heed
