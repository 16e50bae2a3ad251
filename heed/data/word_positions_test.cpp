// Word positions of tokens on real text, compared with tools/check_word_positions, which computes them independently.
// HEED_DATA names the data folder; HEED_POSITIONS names a folder in which to keep the compared files.

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "heed/base/utf8.h"
#include "heed/data/parallel_text.h"
#include "heed/data/testing.h"
#include "heed/data/text_file.h"
#include "heed/data/tokenizer.h"

namespace heed::testing {
namespace {

using Lines = std::vector<std::string>;

/// One character in 20, over all frequencies, except the space.
std::set<char32_t> left_out_characters(const Lines& lines) {
  std::map<char32_t, int64_t> counts;
  for (const auto& line : lines)
    for (const char32_t c : decoded(line)) ++counts[c];
  std::vector<std::pair<int64_t, char32_t>> order;
  for (const auto& [c, count] : counts)
    if (c != U' ') order.emplace_back(-count, c);
  std::sort(order.begin(), order.end());
  std::set<char32_t> chosen;
  for (size_t i = 10; i < order.size(); i += 20) chosen.insert(order[i].second);
  return chosen;
}

Lines without(const std::set<char32_t>& characters, const Lines& lines) {
  Lines kept;
  for (const auto& line : lines) {
    auto text = decoded(line);
    std::erase_if(text, [&](char32_t c) { return characters.contains(c); });
    kept.push_back(encoded(text));
  }
  return kept;
}

/// Inserts special tokens, whitespace and unknown characters into one line in ten.
Lines perturbed(Lines lines) {
  const Lines odd = {"</s>", "<unk>", " <pad> ", "  ", "\t", "\u00A0", "\u3000", "\U0001F996", " \u2581 ", "\u2581"};
  for (size_t i = 0; i < lines.size(); i += 10) {
    const size_t space = lines[i].find(' ', lines[i].size() / 3);
    if (space == std::string::npos) continue;
    lines[i].insert(space + (i / 100) % 2, odd[i / 10 % odd.size()]);
    if (i % 3 == 0) lines[i] = " " + lines[i] + " ";
  }
  return lines;
}

class WordPositions : public FolderTest {
 protected:
  void compare(const std::string& name, const std::string& tokenizer_spec, const Lines& train,
               const Lines& lines) const {
    if (std::system("python3 -c pass > /dev/null 2>&1") != 0) GTEST_SKIP() << "python3 is not there";
    const char* kept = std::getenv("HEED_POSITIONS");
    const std::string base = (kept != nullptr ? std::string(kept) : folder_) + "/" + name;
    const auto tokenizer = train_tokenizer(tokenizer_spec, train);
    tokenizer->save(base + ".json");
    std::string text, positions;
    int64_t unknown = 0;
    for (const auto& line : lines) {
      const Segmentation segmentation = tokenizer->segment(line);
      ASSERT_EQ(segmentation.ids, tokenizer->encode(line));
      unknown += std::count(segmentation.ids.begin(), segmentation.ids.end(), Tokenizer::kUnknown);
      text += line + "\n";
      positions +=
          nlohmann::json{{"ids", segmentation.ids}, {"word", segmentation.word}, {"words", segmentation.words}}.dump() +
          "\n";
    }
    ASSERT_GT(unknown, static_cast<int64_t>(lines.size() / 2)) << "too little is unknown to test anything";
    write_atomically(base + ".lines", text);
    write_atomically(base + ".positions", positions);
    EXPECT_EQ(std::system(("python3 tools/check_word_positions " + base.substr(0, base.rfind('/'))).c_str()), 0);
  }

  void compare_on_multi30k(const std::string& name, const std::string& tokenizer_spec) const {
    const std::string files = data_folder() + "multi30k/raw/";
    if (!exists(files + "train.de.gz")) GTEST_SKIP() << files << " is not there; HEED_DATA names the folder of data";
    auto train = read_lines(files + "train.de.gz");
    train.resize(10'000);
    const auto lines = perturbed(read_lines(files + "test_2016_flickr.de.gz"));
    ASSERT_EQ(lines.size(), 1000U);
    compare(name, tokenizer_spec, without(left_out_characters(train), train), lines);
  }
};

TEST_F(WordPositions, AreThoseOfTheScriptWithWords) {
  compare_on_multi30k("words", "words(vocabulary=2000)");
}

TEST_F(WordPositions, AreThoseOfTheScriptWithSubwords) {
  compare_on_multi30k("bpe", "bpe(merges=500)");
}

TEST_F(WordPositions, AreThoseOfTheScriptWithCharacters) {
  compare_on_multi30k("characters", "characters");
}

TEST_F(WordPositions, AreThoseOfTheScriptInChinese) {
  const std::string file = data_folder() + "tatoeba-cmn-eng/cmn-eng.train.tsv.gz";
  if (!exists(file)) GTEST_SKIP() << file << " is not there; HEED_DATA names the folder of data";
  auto chinese = read_parallel({.files = {file}}).target;
  const Lines train(chinese.begin(), chinese.begin() + 5000);
  Lines lines(chinese.end() - 1000, chinese.end());
  for (size_t i = 0; i < lines.size(); i += 50) lines[i] = " " + lines[i] + " ";
  compare("characters_zh", "characters", without(left_out_characters(train), train), perturbed(lines));
}

}  // namespace
}  // namespace heed::testing
