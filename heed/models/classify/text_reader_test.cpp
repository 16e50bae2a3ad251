#include "heed/models/classify/text_reader.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/data/labeled/examples.h"
#include "heed/data/testing.h"

namespace heed::testing {
namespace {

TextReader reader_of(const std::string& sentences, bool documents, int64_t max_length = 0) {
  return {.tokenizer = train_tokenizer("words", {"the film was good . bad end"}),
          .sentences = sentences,
          .documents = documents,
          .max_length = max_length};
}

/// "the film|was" of the words that were read.
std::string words_read(const TextReader& reader, const std::string& text) {
  std::string all;
  const ReadText read = reader.read(text);
  for (size_t s = 0; s < read.sentences.size(); ++s) {
    EXPECT_EQ(read.ids[s], read.sentences[s].ids);
    std::vector<std::string> words(
        read.sentences[s].words.begin(),
        read.sentences[s].words.begin() + static_cast<std::ptrdiff_t>(read.sentences[s].ids.size()));
    all += (s > 0 ? "|" : "") + joined(words, " ");
  }
  return all;
}

TEST(TextReader, ReadsADocumentSentenceBySentence) {
  EXPECT_EQ(words_read(reader_of("rule", true), "The film. Was it good? Bad"), "The film.|Was it good?|Bad");
  EXPECT_EQ(words_read(reader_of("tab", true), "the film\twas\t \tgood"), "the film|was|good");
  EXPECT_EQ(words_read(reader_of("none", false), "the film\twas"), "the film was");
}

TEST(TextReader, JoinsSentencesForAModelWithoutDocuments) {
  EXPECT_EQ(words_read(reader_of("rule", false), "The film. Was it good?"), "The film. Was it good?");
  EXPECT_EQ(reader_of("tab", false).read("the\tfilm").ids.size(), 1U);
}

TEST(TextReader, CutsAfterTheMaxLengthOfAllSentences) {
  const TextReader reader = reader_of("tab", true, 3);
  EXPECT_EQ(words_read(reader, "the film\twas good\tbad end"), "the film|was");
  EXPECT_EQ(reader.read("the film\twas good\tbad end").cut, 3);
  EXPECT_EQ(reader.read("the film\twas").cut, 0);
  EXPECT_EQ(reader.read("the film\twas good").sentences[1].words.size(), 2U);  // with the word that was cut
}

TEST(TextReader, CountsTextsThatWereCut) {
  int64_t cut = 0;
  reader_of("none", false, 2).read_all({{"the film was good"}, {"the film"}, {"was good ."}}, &cut);
  EXPECT_EQ(cut, 2);
}

TEST(TextReader, ReadsAnEmptyTextAsNoTokens) {
  EXPECT_EQ(reader_of("none", false).read("  ").ids, (TextIds{{}}));
  EXPECT_TRUE(reader_of("rule", true).read("").ids.empty());
}

// What a run is trained on: sentences are split, then lowercased and joined by TABs. "plan B. 5" is one sentence, since
// B may be an initial; in lower case the rule would split it.
TEST(TextReader, ReadsARawTextAsTheTextOfTraining) {
  const std::string raw = "We had plan B. 5 stars. Then No One sat.\tNot even I. So what";
  const std::string prepared = prepared_text(raw, {.sentences = "rule", .lowercase = true});
  TextReader raw_reader = reader_of("rule", true);
  raw_reader.lowercase = true;
  EXPECT_EQ(words_read(raw_reader, raw), words_read(reader_of("tab", true), prepared));
  EXPECT_EQ(words_read(raw_reader, raw).rfind("we had plan b. 5 stars.|then", 0), 0U) << words_read(raw_reader, raw);
}

TEST(TextReader, IsKeptInARun) {
  TextReader reader = reader_of("rule", true, 17);
  reader.columns = {"left", "right"};
  reader.lowercase = true;
  const TextReader read = TextReader::parse(nlohmann::json::parse(reader.json().dump()), "config.json");
  EXPECT_EQ(read.columns, reader.columns);
  EXPECT_EQ(read.sentences, "rule");
  EXPECT_EQ(read.max_length, 17);
  EXPECT_TRUE(read.lowercase);
  for (const char* damaged :
       {"null", R"({"columns": [], "sentences": "none", "lowercase": false, "max_length": 0})", R"({"columns": 3})"})
    EXPECT_TRUE(says(error_of([&] { TextReader::parse(nlohmann::json::parse(damaged), "config.json"); }),
                     {"config.json", "damaged"}))
        << damaged;
}

}  // namespace
}  // namespace heed::testing
