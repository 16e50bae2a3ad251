// Synonyms from a dictionary of a few words, in WordNet's format, and from WordNet itself as NLTK finds them.
// fixtures/meteor_scores.py writes fixtures/meteor.json. Tests with WordNet are skipped where it is not installed.

#include "heed/metrics/wordnet.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/base/md5.h"
#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

using Words = std::vector<std::string>;

/// A folder with files of WordNet's format. Offsets are those of the lines, which have as many bytes as said here.
class SmallDictionary : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/heed_small_wordnet";
    std::filesystem::create_directories(folder_);
    for (const std::string name : {"noun", "verb", "adj", "adv"}) {
      write("index." + name, "");
      write("data." + name, "");
      write(name + ".exc", "");
    }
    write("data.noun",
          "  1 a line of the license\n"                                  // 26 bytes
          "00000026 05 n 02 goose 0 gander 1 001 @ 2 n 0000 | a bird\n"  // 58
          "00000084 06 n 03 church 0 Kirk 0 place_of_worship 2 000 | a building\n");
    write("index.noun",
          "  1 a line of the license\n"
          "goose n 1 1 @ 1 0 00000026  \n"
          "gander n 1 1 @ 1 0 00000026  \n"
          "church n 1 0 1 1 00000084  \n");
    write("noun.exc", "geese goose\n");
    write("data.adj", "00000000 00 s 02 galore(ip) 0 plentiful 0 000 | in great numbers\n");
    write("index.adj", "galore a 1 0 1 0 00000000\nplentiful a 1 0 1 0 00000000\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ + "/" + name) << text; }

  std::string folder_;
};

TEST_F(SmallDictionary, HasTheLemmasOfSharedSynsets) {
  const WordNet wordnet(folder_);
  EXPECT_EQ(wordnet.synonyms("goose"), (Words{"gander", "goose"}));
  EXPECT_EQ(wordnet.synonyms("church"), (Words{"Kirk", "church"}));  // as spelled; no lemma of several words
  EXPECT_EQ(wordnet.synonyms("plentiful"), (Words{"galore", "plentiful"}));
  EXPECT_EQ(wordnet.synonyms("duck"), Words{});
  EXPECT_EQ(wordnet.synonyms(""), Words{});
}

TEST_F(SmallDictionary, LooksWordsUpUnderTheirLemmas) {
  const WordNet wordnet(folder_);
  EXPECT_EQ(wordnet.lemmas("geese", "noun"), Words{"goose"});
  EXPECT_EQ(wordnet.lemmas("churches", "noun"), Words{"church"});
  EXPECT_EQ(wordnet.lemmas("churchess", "noun"), Words{"church"});  // rules are applied until a lemma is found
  EXPECT_EQ(wordnet.lemmas("gooses", "noun"), Words{"goose"});
  EXPECT_EQ(wordnet.lemmas("goose", "verb"), Words{});
  EXPECT_EQ(wordnet.synonyms("geese"), (Words{"gander", "goose"}));
  EXPECT_EQ(wordnet.synonyms(std::string(20'000, 's')), Words{});
}

TEST_F(SmallDictionary, NamesFileAndLineOfADamagedEntry) {
  write("index.noun", "goose n x 1 @ 1 0 00000026\nchurch n 1 0 1 1 00000085\ngander n 1 9 @\n");
  const WordNet wordnet(folder_);
  EXPECT_EQ(refusal([&] { wordnet.synonyms("goose"); }), "metrics/wordnet: " + folder_ +
                                                             "/index.noun:1: got \"x\", expected a number, as in "
                                                             "WordNet 3.0");
  EXPECT_EQ(refusal([&] { wordnet.synonyms("church"); }),
            "metrics/wordnet: " + folder_ + "/data.noun: got no line at byte 85, where " + folder_ +
                "/index.noun has a synset of \"church\"; expected files of the same version");
  EXPECT_EQ(refusal([&] { wordnet.synonyms("gander"); }),
            "metrics/wordnet: " + folder_ +
                "/index.noun:3: got the end of the line, expected more fields, as in WordNet 3.0");
}

TEST_F(SmallDictionary, IsRefusedWithAFileMissing) {
  std::filesystem::remove(folder_ + "/verb.exc");
  EXPECT_EQ(refusal([&] { WordNet wordnet(folder_); }),
            "metrics/wordnet: got no file " + folder_ +
                "/verb.exc, expected the files of WordNet 3.0; install wordnet-base, or set WNSEARCHDIR to their "
                "folder");
}

TEST(WordNet, HasTheSynonymsThatNltkFinds) {
  const auto folder = wordnet_folder();
  if (!folder) GTEST_SKIP() << "WordNet is not there; install wordnet-base or set WNSEARCHDIR";
  const WordNet wordnet(*folder);
  const auto all = nlohmann::json::parse(std::ifstream("heed/metrics/fixtures/meteor.json")).at("synonyms");
  EXPECT_GE(all.size(), 500U);
  for (const auto& [word, digest] : all.items()) {
    const Words found = wordnet.synonyms(word);
    EXPECT_EQ(found.size(), digest.at(0).get<size_t>()) << word;
    EXPECT_EQ(md5_hex(joined(found, "\n")).substr(0, 12), digest.at(1).get<std::string>())
        << word << ": " << joined(found);
  }
}

}  // namespace
}  // namespace heed
