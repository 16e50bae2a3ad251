// Compares with the package `tokenizers`, which reads our tokenizer.json: pieces and decoded text must be equal. The
// results of the package are in fixtures/tokenizers.json, written by fixtures/make_tokenizers.py. HEED_FIXTURES names a
// folder to write our files to, for that script.

#include <nlohmann/json.hpp>

#include "heed/base/md5.h"
#include "heed/data/parallel_text.h"
#include "heed/data/testing.h"
#include "heed/data/text_file.h"
#include "heed/data/tokenizer.h"
#include "heed/data/tokenizer/json.h"

namespace heed::testing {
namespace {

using Json = nlohmann::json;
using Lines = std::vector<std::string>;

const Lines& learnt_lines() {
  static const Lines lines = {"the cat sat on the mat .",
                              "the dog chased the cat across the mat .",
                              "der Hund jagt die Katze über die Matte , über den Hügel .",
                              "low lower lowest new newer newest wide wider widest",
                              "汤姆 追逐 杰瑞 。 汤姆追逐杰瑞。",
                              "a </w> b <s> x </s> y a</w>b </w> </w> x</w>",
                              "naïve café e\u0301tude 🙂🙂 👩‍👩‍👧 #version 0.2 ▁ a▁b"};
  return lines;
}

/// Lines with ambiguous whitespace, special pieces and characters.
const Lines& tricky_lines() {
  static const Lines lines = {
      "the lowest cat",
      "",
      "   ",
      "  the   cat\tsat\u00A0on\u3000the\u2003mat ",
      "the\u001Ccat\u001Dsat\u001Eon\u001Fthe\u0085mat\u200Bdog\uFEFF.",
      "Zebra ?! unknown ß ſ Ω",
      "<s> the cat </s> <pad><unk>",
      "a<s>b <s<s>> <</s>/s> <S> < s>",
      "the<unk>cat </w> a</w> </w></w>b",
      "ein▁Wort ▁ a▁b",
      "汤姆追逐杰瑞。",
      "汤姆 追逐 她 。",
      "🙂 👩‍👩‍👧 e\u0301 é naïve",
      "thethethethethethethethe lowlowestlowerlow",
      "cat\rmat\vdog\fend",
      "\xEF\xBF\xBD the",
      std::string("nul\0byte", 8),
      std::string(300, 'a') + "the" + std::string(50, 't'),
  };
  return lines;
}

std::string ids_text(const std::vector<int64_t>& ids) {
  std::vector<std::string> numbers;
  for (const int64_t id : ids) numbers.push_back(std::to_string(id));
  return joined(numbers, " ");
}

class Tokenizers : public FolderTest {
 protected:
  static const Json& fixtures() {
    static const Json read = Json::parse(read_file("heed/data/fixtures/tokenizers.json"));
    return read["cases"];
  }

  /// Saves and loads the tokenizer, then compares it with the package.
  void agree(const std::string& name, const Tokenizer& made, const Lines& lines) const {
    made.save(path(name + ".json"));
    const auto tokenizer = load_tokenizer(path(name + ".json"));
    EXPECT_EQ(tokenizer->json(), made.json());
    std::string ids, plain, special;
    Json few = {{"ids", Json::array()}, {"plain", Json::array()}, {"special", Json::array()}};
    for (const auto& line : lines) {
      const auto pieces = tokenizer->encode(line);
      ids += ids_text(pieces) + "\n";
      plain += tokenizer->decode(pieces) + "\n";
      special += tokenizer->decode(pieces, /*with_special=*/true) + "\n";
      if (lines.size() > 100) continue;
      few["ids"].push_back(pieces);
      few["plain"].push_back(tokenizer->decode(pieces));
      few["special"].push_back(tokenizer->decode(pieces, /*with_special=*/true));
    }
    if (const char* folder = std::getenv("HEED_FIXTURES")) {
      made.save(std::string(folder) + "/" + name + ".json");
      write_atomically(std::string(folder) + "/" + name + ".txt", joined(lines, "\n") + "\n");
      GTEST_SKIP() << "wrote " << name << " to " << folder;
    }
    ASSERT_TRUE(fixtures().contains(name)) << name << " is not in the fixture: run fixtures/make_tokenizers.py";
    const Json& expected = fixtures()[name];
    EXPECT_EQ(expected["file"], md5_hex(made.json())) << "the file has changed: run fixtures/make_tokenizers.py again";
    EXPECT_EQ(expected["lines"], lines.size());
    if (lines.size() <= 100) {
      for (const char* what : {"ids", "plain", "special"}) {
        for (size_t i = 0; i < lines.size(); ++i)
          EXPECT_EQ(few[what][i], expected[what][i]) << what << ": " << lines[i];
      }
    } else {
      EXPECT_EQ(expected["ids"], md5_hex(ids));
      EXPECT_EQ(expected["plain"], md5_hex(plain));
      EXPECT_EQ(expected["special"], md5_hex(special));
    }
  }
};

TEST_F(Tokenizers, AgreeOnTrickyLines) {
  agree("words", *train_tokenizer("words(min_count=2)", learnt_lines()), tricky_lines());
}

TEST_F(Tokenizers, AgreeOnPunctuationThatIsSplitOff) {
  Lines lines = tricky_lines();
  for (const char* line : {"The cat's mat -- \"the 'dog'\"!?...", "a+b=c $5 <b>x</b> ~^`| e-mail_me@x.org",
                           "«der» „Hund“ — 汤姆追逐杰瑞。", "don't!the,cat...<s>.</s>the.", "؟ ¿the? … ‽ • 3.14 1,000",
                           "--", "a\u0301. e\u0301!"})
    lines.push_back(line);
  agree("words_punctuation", *train_tokenizer("words(punctuation)", learnt_lines()), lines);
}

TEST_F(Tokenizers, AgreeOnTrickyLinesInCharacters) {
  agree("characters", *train_tokenizer("characters", learnt_lines()), tricky_lines());
}

TEST_F(Tokenizers, AgreeOnTrickyLinesInSubwords) {
  agree("bpe", *train_tokenizer("bpe(merges=60)", learnt_lines()), tricky_lines());
}

// Files of other programs may combine the same features in other ways.
TEST_F(Tokenizers, AgreeOnOtherCombinations) {
  const auto bpe = Catalogue<TokenizerTrainer>::make("bpe(merges=60, min_count=1)")->learn(learnt_lines());
  auto plain = bpe;  // joins pieces with spaces
  plain.decoder = TokenizerSpec::Decoder::none;
  agree("bpe_without_decoder", Tokenizer(plain), tricky_lines());
}

TEST_F(Tokenizers, AgreeOnWholeLinesAsWords) {
  auto whole = Catalogue<TokenizerTrainer>::make("words")->learn(learnt_lines());
  whole.split = TokenizerSpec::Split::none;
  whole.pieces.push_back("the lowest cat");
  whole.normalize = {"the", "the lowest"};
  agree("whole_lines", Tokenizer(whole), {"the lowest cat", "the cat", "the", "a<s>x", "a <s> x"});
}

TEST_F(Tokenizers, AgreeOnMergesAcrossWhitespace) {
  auto across = Catalogue<TokenizerTrainer>::make("characters")->learn(learnt_lines());
  for (const auto& [left, right] :
       TokenizerSpec::Merges{{"t", "h"}, {"th", "e"}, {"e", "▁"}, {"▁", "the"}, {"a", "t"}}) {
    across.merges.emplace_back(left, right);
    across.pieces.push_back(left + right);
  }
  agree("across_blanks", Tokenizer(across), tricky_lines());
}

Lines first_of(Lines lines, size_t count) {
  lines.resize(std::min(count, lines.size()));
  return lines;
}

Lines operator+(Lines first, const Lines& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

class TokenizersOnData : public Tokenizers {
 protected:
  /// Trains on both languages and encodes 10,000 training lines and the 2,000 lines of the test set.
  void agree_on_multi30k(const std::string& name, const std::string& words, const std::string& folder,
                         const std::string& ending) const {
    const std::string files = data_folder() + "multi30k/" + folder + "/";
    if (!exists(files)) GTEST_SKIP() << files << " is not there; HEED_DATA names the folder of data";
    const auto en = read_lines(files + "train" + ending + "en.gz"), de = read_lines(files + "train" + ending + "de.gz");
    const auto test = read_lines(files + "test_2016_flickr" + ending + "en.gz") +
                      read_lines(files + "test_2016_flickr" + ending + "de.gz");
    agree(name, *train_tokenizer(words, en + de), first_of(en, 5000) + first_of(de, 5000) + test);
  }
};

TEST_F(TokenizersOnData, AgreeOnMulti30kTokenized) {
  agree_on_multi30k("multi30k_tok_bpe", "bpe(merges=10000)", "tok", ".lc.norm.tok.");
}

TEST_F(TokenizersOnData, AgreeOnMulti30kRaw) {
  agree_on_multi30k("multi30k_raw_bpe", "bpe(vocabulary=8000)", "raw", ".");
}

TEST_F(TokenizersOnData, AgreeOnMulti30kInWords) {
  agree_on_multi30k("multi30k_tok_words", "words(min_count=2)", "tok", ".lc.norm.tok.");
}

TEST_F(TokenizersOnData, AgreeOnChineseCharacters) {
  const std::string file = data_folder() + "tatoeba-cmn-eng/cmn-eng.train.tsv.gz";
  if (!exists(file)) GTEST_SKIP() << file << " is not there; HEED_DATA names the folder of data";
  const auto chinese = read_parallel({.files = {file}}).target;
  agree("tatoeba_characters", *train_tokenizer("characters", first_of(chinese, 10000)), chinese);
}

}  // namespace
}  // namespace heed::testing
