#include "apps/cli/torch/vocabulary_report.h"

#include <sstream>

#include "heed/data/recipe.h"
#include "heed/data/testing.h"

namespace heed::cli {
namespace {

using Words = std::vector<std::string>;
using Unspaced = VocabularyReport::Unspaced;

Translator translator_of(const std::string& tokenizer = "words") {
  Languages languages;
  languages.source = train_tokenizer(tokenizer, {"I love China", "Tom chases Jerry"});
  languages.target = train_tokenizer(tokenizer, {"我 爱 中国", "南京市 长江 大桥 南京 市长"});
  const Settings recipe =
      parse_recipe("model: {embedding: {dim: 8}, features: {dim: 8}, query: {state_dim: 8}}", "small");
  auto model = std::make_shared<TranslationModel>(recipe.at("model"), languages.vocabularies());
  return {std::move(model), std::move(languages)};
}

std::string printed(const VocabularyReport& report) {
  std::ostringstream out;
  report.print(out);
  return out.str();
}

TEST(VocabularyReport, CountsAndNamesUnknownWords) {
  const Translator translator = translator_of();
  VocabularyReport report("attend", "runs/x", Unspaced::segmented);
  const Words lines{"zebra loves China", "blorb  Tom zebra"};
  EXPECT_EQ(report.read_source(translator, lines), lines);  // unchanged
  EXPECT_EQ(report.unknown(), (Words{"zebra", "loves", "blorb"}));
  EXPECT_EQ(printed(report),
            "heed: attend: 4 of 6 words are not in the vocabulary of runs/x and are read as <unk>: 'zebra', 'loves', "
            "'blorb'\n");
}

TEST(VocabularyReport, PrintsNothingIfAllWordsAreKnown) {
  const Translator translator = translator_of();
  VocabularyReport report("translate", "runs/x", Unspaced::segmented);
  report.read_source(translator, {"I love China", "", "<unk> Tom"});
  EXPECT_EQ(printed(report), "");
}

TEST(VocabularyReport, ListsOnlyTheFirstUnknownWords) {
  const Translator translator = translator_of();
  VocabularyReport report("align", "runs/x", Unspaced::kept);
  report.read_source(translator, {"a b c d e f g \x1b[31m"});
  EXPECT_TRUE(testing::says(printed(report), {"8 of 8 words", "'a', 'b', 'c', 'd', 'e', ...\n"}));
}

TEST(VocabularyReport, SaysThatSomeTokensOfAWordAreUnknown) {
  const Translator translator = translator_of("bpe(merges=3)");
  VocabularyReport report("translate", "runs/x", Unspaced::segmented);
  report.read_source(translator, {"Tomÿ loves China"});  // l, o, v, e, s are known as characters
  EXPECT_TRUE(
      testing::says(printed(report), {"1 of 3 words is not in the vocabulary of runs/x and is read in part as"}));
}

TEST(VocabularyReport, SegmentsWordsOfScriptsWithoutSpaces) {
  const Translator translator = translator_of();
  VocabularyReport report("attend", "runs/x", Unspaced::segmented);
  EXPECT_EQ(report.read_target(translator, {"我爱中国", "南京市长江大桥"}), (Words{"我 爱 中国", "南京市 长江 大桥"}));
  EXPECT_EQ(printed(report),
            "heed: attend: read by longest match with the vocabulary: '我爱中国' as '我 爱 中国', '南京市长江大桥' as "
            "'南京市 长江 大桥'\n");
}

TEST(VocabularyReport, SuggestsASegmentationIfWordsAreKept) {
  const Translator translator = translator_of();
  VocabularyReport report("align", "runs/x", Unspaced::kept);
  EXPECT_EQ(report.read_target(translator, {"我爱中国"}), Words{"我爱中国"});
  EXPECT_TRUE(testing::says(printed(report), {"1 of 1 word is not in the vocabulary",
                                              "expected spaces between words; write '我爱中国' as '我 爱 中国'\n"}));
}

TEST(LongestMatches, CoverTheWholeWordOrNothing) {
  const Translator translator = translator_of();
  const Tokenizer& chinese = *translator.languages().target;
  EXPECT_EQ(longest_matches(chinese, "我爱南京市"), (Words{"我", "爱", "南京市"}));
  for (const char* word : {"我", "我龍", "Tom", "我Tom", ""})
    EXPECT_TRUE(longest_matches(chinese, word).empty()) << word;
}

}  // namespace
}  // namespace heed::cli
