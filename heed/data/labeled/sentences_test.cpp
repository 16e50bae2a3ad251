#include "heed/data/labeled/sentences.h"

#include <algorithm>
#include <iterator>

#include "heed/base/check.h"
#include "heed/data/labeled/reviews.h"
#include "heed/data/labeled/table.h"
#include "heed/data/testing.h"

namespace heed::testing {
namespace {

/// The sentences with | between.
std::string split(const std::string& document) {
  return joined(sentences_by_rule(document), "|");
}

TEST(Sentences, EndAtADotAQuestionOrAnExclamation) {
  EXPECT_EQ(split("It is good. Is it? Yes! "), "It is good.|Is it?|Yes!");
  EXPECT_EQ(split("No\tend here"), "No end here");
  EXPECT_EQ(split("What?! Really... Yes. 7 of 10."), "What?!|Really...|Yes.|7 of 10.");
  EXPECT_EQ(split("It was bad.\n\nThen we left.\tI slept."), "It was bad.|Then we left.|I slept.");
  EXPECT_EQ(split("A good film . Not bad ."), "A good film .|Not bad .");
}

TEST(Sentences, KeepTheQuotesAndBracketsThatCloseThem) {
  EXPECT_EQ(split("\"It is bad.\" She left. (He stayed.) 'Why?' \"Who knows.\""),
            "\"It is bad.\"|She left.|(He stayed.)|'Why?'|\"Who knows.\"");
  EXPECT_EQ(split("“Good.” »Nein!« «Non.» Ja."), "“Good.”|»Nein!«|«Non.»|Ja.");
}

TEST(Sentences, GoOnBeforeALowerCaseLetterAndInsideAWord) {
  EXPECT_EQ(split("\"Go!\" he said. wait... and see. www.a.com is. Élan. été."),
            "\"Go!\" he said. wait... and see. www.a.com is.|Élan. été.");
  EXPECT_EQ(split("It scores 3.5 of 10.This is one.Yes"), "It scores 3.5 of 10.This is one.Yes");
}

TEST(Sentences, GoOnAfterAnAbbreviation) {
  EXPECT_EQ(split("Mr. Smith met Dr. No and Mrs. Hill vs. St. John, i.e. Me."),
            "Mr. Smith met Dr. No and Mrs. Hill vs. St. John, i.e. Me.");
  EXPECT_EQ(split("In the U.S. Senate (e.g. Jones) J. R. R. Tolkien sat."),
            "In the U.S. Senate (e.g. Jones) J. R. R. Tolkien sat.");
  EXPECT_EQ(split("Soup, bread, etc. Then wine. \"Mr. Bean\" was funny."),
            "Soup, bread, etc. Then wine.|\"Mr. Bean\" was funny.");
  EXPECT_EQ(split("So do I. They too. It was 1990. It rained. It was plan b. Yes."),
            "So do I.|They too.|It was 1990.|It rained.|It was plan b.|Yes.");
  EXPECT_EQ(split("Is it Mr.? Yes. And Dr... No."), "Is it Mr.?|Yes.|And Dr...|No.");  // not a single dot
}

TEST(Sentences, EndAtAnHtmlLineBreak) {
  EXPECT_EQ(split("one<br /><br />two <BR>three<br/>a < b<broken>"), "one|two|three|a < b<broken>");
}

TEST(Sentences, EndAtFullWidthMarksWithoutWhitespace) {
  EXPECT_EQ(split("我爱你。你呢？“好！”他说…… 然后走了。"), "我爱你。|你呢？|“好！”|他说……|然后走了。");
  EXPECT_EQ(split("他说……走了。"), "他说……走了。");
  EXPECT_EQ(split("Well… No."), "Well…|No.");
}

TEST(Sentences, OfADocumentWithoutTextAreNone) {
  EXPECT_EQ(split(""), "");
  EXPECT_EQ(split(" \n\u3000"), "");
  EXPECT_EQ(split("<br />"), "");
  EXPECT_EQ(split("..."), "...");
}

TEST(Sentences, AreBetweenTabs) {
  EXPECT_EQ(joined(sentences_by_tab("It is. So\t \t bad.\tno"), "|"), "It is. So|bad.|no");
  EXPECT_TRUE(sentences_by_tab("").empty());
}

TEST(Sentences, OfBuiltInReviewsEndAtTheirDots) {
  for (const auto& review : reviews(1, 500)) {
    const auto sentences = sentences_by_rule(review.text);
    EXPECT_EQ(std::ssize(sentences), std::count(review.text.begin(), review.text.end(), '.')) << review.text;
    EXPECT_EQ(joined(sentences, " "), review.text);
  }
}

// 162 words a document; a sentence of written English has about 20.
TEST(Sentences, OfMoviesHaveTheLengthOfWrittenEnglish) {
  const std::string file = data_folder() + "imdb-rationales/docs.dev.tsv.gz";
  if (!exists(file)) GTEST_SKIP() << file << " is not there; HEED_DATA names the folder of data";
  const auto table = read_table(file);
  size_t sentences = 0;
  for (size_t i = 0; i < table.size(); ++i) sentences += sentences_by_rule(table.field(i, 2)).size();
  const double mean = static_cast<double>(sentences) / static_cast<double>(table.size());
  EXPECT_GT(mean, 7);
  EXPECT_LT(mean, 11) << mean;
}

}  // namespace
}  // namespace heed::testing
