#include "heed/data/tokenizer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <random>
#include <set>

#include <nlohmann/json.hpp>

#include "heed/base/utf8.h"
#include "heed/data/testing.h"
#include "heed/data/tokenizer/json.h"

namespace heed::testing {
namespace {

using Ids = std::vector<int64_t>;
using Lines = std::vector<std::string>;

Lines pieces_of(const Tokenizer& tokenizer, const Ids& ids) {
  Lines pieces;
  for (const int64_t id : ids) pieces.push_back(tokenizer.piece(id));
  return pieces;
}

Lines times(int count, const std::string& line) {
  return Lines(static_cast<size_t>(count), line);
}

Lines operator+(Lines first, const Lines& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// The example of Sennrich et al.: low 5 times, lower 2, newest 6, widest 3.
Lines low_newest() {
  return times(5, "low") + times(2, "lower") + times(6, "newest") + times(3, "widest");
}

// ---- words ----

TEST(Words, AreNumberedByHowOftenTheyOccur) {
  const auto tokenizer = train_tokenizer("words", {"b a c", "a c", "a d"});
  Lines pieces;
  for (int64_t i = 0; i < tokenizer->size(); ++i) pieces.push_back(tokenizer->piece(i));
  EXPECT_EQ(pieces, (Lines{"<pad>", "<unk>", "<s>", "</s>", "a", "c", "b", "d"}));  // b and d once each: by text
  EXPECT_EQ(tokenizer->encode("d  a unheard"), (Ids{7, 4, Tokenizer::kUnknown}));
  EXPECT_EQ(tokenizer->decode({7, 4, 6}), "d a b");
  EXPECT_EQ(tokenizer->decode({Tokenizer::kBegin, 7, 1, 6, Tokenizer::kEnd}), "d b");
  EXPECT_EQ(tokenizer->decode({7, 1, 6}, /*with_special=*/true), "d <unk> b");
}

TEST(Words, MayBeLimited) {
  EXPECT_EQ(train_tokenizer("words(vocabulary=6)", {"a a a b b c"})->encode("a b c"), (Ids{4, 5, 1}));
  EXPECT_EQ(train_tokenizer("words(min_count=3)", {"a a a b b c"})->encode("a b c"), (Ids{4, 1, 1}));
}

TEST(Words, AreRefusedWhereNoneOccursOftenEnough) {
  for (const char* kind : {"words", "characters"})
    EXPECT_EQ(error_of([&] {
                train_tokenizer(std::string(kind) + "(min_count=1000000)", {"a b", "a"});
              }),
              std::string("tokenizer/") + kind + ": min_count is 1000000, but none of " + (kind[0] == 'w' ? "2" : "3") +
                  " different ones occurs so often; lower it");
}

// ---- characters ----

TEST(Characters, KeepWhitespace) {
  const auto tokenizer = train_tokenizer("characters", {"汤姆 追逐", "汤姆"});
  const auto ids = tokenizer->encode("追逐 汤姆");
  EXPECT_EQ(pieces_of(*tokenizer, ids), (Lines{"追", "逐", "▁", "汤", "姆"}));
  EXPECT_EQ(tokenizer->decode(ids), "追逐 汤姆");
  EXPECT_EQ(tokenizer->encode("杰"), (Ids{Tokenizer::kUnknown}));
}

// Without whitespace, in a script without spaces, every character is a word, including unknown ones.
TEST(Characters, AreWordsOfTheirOwnInUnspacedText) {
  const auto tokenizer = train_tokenizer("characters", {"汤姆追逐 a"});
  const auto segmentation = tokenizer->segment("汤姆她</s>追 ");
  EXPECT_EQ(segmentation.words, (Lines{"汤", "姆", "她", "</s>", "追"}));
  EXPECT_EQ(segmentation.word, (Ids{0, 1, 2, 3, 4, 4}));  // the space belongs to the last word
  EXPECT_EQ(tokenizer->segment("漢").words, (Lines{"漢"}));
  EXPECT_EQ(tokenizer->segment("ถa").words, (Lines{"ถ", "a"}));
}

// With whitespace in the text, it separates words; a space belongs to the word after it.
TEST(Characters, BelongToTheWordsBetweenWhitespace) {
  const auto tokenizer = train_tokenizer("characters", {"汤姆 追逐", "ab▁"});
  const auto segmentation = tokenizer->segment(" 汤姆她  追\u3000a▁b ");
  EXPECT_EQ(segmentation.words, (Lines{"汤姆她", "追", "a▁b"}));
  EXPECT_EQ(segmentation.word, (Ids{0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2}));
  EXPECT_EQ(tokenizer->segment("abba").words, (Lines{"abba"}));  // Latin script has spaces: this is one word
  EXPECT_EQ(tokenizer->segment("a <s> b").word, (Ids{0, 1, 1, 2, 2}));
  const auto space = tokenizer->segment("  ");
  EXPECT_TRUE(space.words.empty());
  EXPECT_EQ(space.word, (Ids{-1, -1}));
}

// ---- byte-pair encoding ----

// e s and s t</w> occur 9 times each, and e is lexicographically first; then es t</w> 9, l o 7; e w, n e, w est</w> 6
// each ...
TEST(Bpe, MergesTheMostFrequentPairFirst) {
  const auto spec = Catalogue<TokenizerTrainer>::make("bpe(merges=7)")->learn(low_newest());
  const TokenizerSpec::Merges expected = {{"e", "s"},        {"es", "t</w>"},    {"l", "o"},     {"e", "w"},
                                          {"ew", "est</w>"}, {"n", "ewest</w>"}, {"lo", "w</w>"}};
  EXPECT_EQ(spec.merges, expected);
}

TEST(Bpe, SplitsUnknownWordsIntoSubwords) {
  const auto tokenizer = train_tokenizer("bpe(merges=7)", low_newest());
  EXPECT_EQ(pieces_of(*tokenizer, tokenizer->encode("lowest low")), (Lines{"lo", "w", "est</w>", "low</w>"}));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("lowest  low newer")), "lowest low newer");
  EXPECT_EQ(pieces_of(*tokenizer, tokenizer->encode("slow")), (Lines{"s", "low</w>"}));
  EXPECT_EQ(pieces_of(*tokenizer, tokenizer->encode("zlow")), (Lines{"<unk>", "low</w>"}));
}

TEST(Bpe, StopsAtTheVocabularyOrWhenPairsAreRare) {
  EXPECT_EQ(train_tokenizer("bpe(vocabulary=25)", low_newest())->size(), 25);
  EXPECT_EQ(train_tokenizer("bpe", low_newest())->encode("lower newest widest").size(), 3U);
  const auto spec = Catalogue<TokenizerTrainer>::make("bpe(min_count=6)")->learn(low_newest());
  EXPECT_EQ(spec.merges.size(), 6U);  // the seventh pair occurs 5 times
  EXPECT_TRUE(says(error_of([] { train_tokenizer("bpe(vocabulary=10)", low_newest()); }),
                   {"tokenizer/bpe: vocabulary is 10, but the text has ", " pieces before the first merge"}));
}

// The word a is the piece a</w>. Inside a</w>b the mark is four characters, and merges form the same text again: / w,
// then /w >, then < /w>, then a </w>. Each pair occurs twice, ties are lexicographic, and all further pairs occur once.
// Characters: / < > a a</w> b</w> c</w> w; with 4 special pieces and 3 new ones there are 15.
TEST(Bpe, HasAPieceOnceThatIsMadeInTwoWays) {
  const auto spec = Catalogue<TokenizerTrainer>::make("bpe")->learn({"a a</w>b a</w>c"});
  const TokenizerSpec::Merges expected = {{"/", "w"}, {"/w", ">"}, {"<", "/w>"}, {"a", "</w>"}};
  EXPECT_EQ(spec.merges, expected);
  EXPECT_EQ(spec.pieces.size(), 15U);
  EXPECT_EQ(std::count(spec.pieces.begin(), spec.pieces.end(), "a</w>"), 1);
  EXPECT_EQ(std::set<std::string>(spec.pieces.begin(), spec.pieces.end()).size(), spec.pieces.size());
}

/// The definition: counts all pairs again for every merge.
TokenizerSpec::Merges merges_by_counting_anew(const Lines& words, size_t merges) {
  std::vector<Lines> split;
  for (const auto& word : words) {
    Lines symbols;
    for (const char32_t c : decoded(word)) symbols.push_back(encoded(c));
    symbols.back() += "</w>";
    split.push_back(symbols);
  }
  TokenizerSpec::Merges all;
  while (all.size() < merges) {
    std::map<std::pair<std::string, std::string>, int> counts;
    for (const auto& word : split) {
      for (size_t i = 0; i + 1 < word.size(); ++i) ++counts[{word[i], word[i + 1]}];
    }
    const auto best =
        std::max_element(counts.begin(), counts.end(), [](auto& a, auto& b) { return a.second < b.second; });
    if (best == counts.end() || best->second < 2) break;
    all.push_back(best->first);
    for (auto& word : split) {
      for (size_t i = 0; i + 1 < word.size(); ++i) {
        if (std::pair(word[i], word[i + 1]) != all.back()) continue;
        word[i] += word[i + 1];
        word.erase(word.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
    }
  }
  return all;
}

// Words over few letters, for many ties, overlaps (aaaa) and pairs consumed by other merges.
TEST(Bpe, LearnsTheMergesOfTheDefinition) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    Lines words;
    for (int i = 0; i < 60; ++i) {
      std::string word;
      for (uint64_t length = 1 + random() % 9; length > 0; --length) word += static_cast<char>('a' + random() % 3);
      words.push_back(word);
    }
    const auto spec = Catalogue<TokenizerTrainer>::make("bpe(merges=80)")->learn({joined(words, " ")});
    ASSERT_EQ(spec.merges, merges_by_counting_anew(words, 80)) << seed;
  }
}

/// The definition: merges the adjacent pair with the earliest merge, the leftmost in a tie, until none is left.
Lines encoded_by_definition(const std::string& word, const TokenizerSpec::Merges& merges) {
  Lines symbols;
  for (const char c : word) symbols.emplace_back(1, c);
  symbols.back() += "</w>";
  while (true) {
    size_t best = merges.size(), position = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found = std::find(merges.begin(), merges.end(), std::pair(symbols[i], symbols[i + 1]));
      const auto rank = static_cast<size_t>(found - merges.begin());
      if (rank < best) best = rank, position = i;
    }
    if (best == merges.size()) return symbols;
    symbols[position] += symbols[position + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(position) + 1);
  }
}

TEST(Bpe, EncodesByTheDefinition) {
  std::mt19937_64 random(3);
  const auto word = [&](uint64_t longest) {
    std::string letters;
    for (uint64_t length = 1 + random() % longest; length > 0; --length)
      letters += static_cast<char>('a' + random() % 3);
    return letters;
  };
  Lines words = {"abc", "aa", "bb", "cc"};
  for (int i = 0; i < 100; ++i) words.push_back(word(8));
  const auto spec = Catalogue<TokenizerTrainer>::make("bpe(merges=60)")->learn({joined(words, " ")});
  const Tokenizer tokenizer(spec);
  for (int i = 0; i < 500; ++i) {
    const std::string text = word(40);
    ASSERT_EQ(pieces_of(tokenizer, tokenizer.encode(text)), encoded_by_definition(text, spec.merges)) << text;
  }
}

TEST(Bpe, TakesAWordOfAMillionLetters) {
  const auto tokenizer = train_tokenizer("bpe", low_newest() + Lines{std::string(100'000, 'w')});
  EXPECT_EQ(tokenizer->encode(std::string(1'000'000, 'w')).size(),
            1'000'000U);  // no merges are learned from such a word
  std::string lows;
  for (int i = 0; i < 100'000; ++i) lows += "lo";
  EXPECT_EQ(tokenizer->encode(lows + "w").size(), 100'000U);
}

// ---- every tokenizer ----

std::vector<std::string> every_tokenizer() {
  std::vector<std::string> all;
  for (const auto& name : Catalogue<TokenizerTrainer>::names()) {
    all.push_back(name);
    for (const auto& words : Catalogue<TokenizerTrainer>::describe(name).variants) all.push_back(words);
  }
  return all;
}

class EveryTokenizer : public FolderTest, public ::testing::WithParamInterface<std::string> {
 protected:
  const Lines lines_ = {"der Hund jagt die Katze über den Hügel .", "die Katze jagt den Hund", "der kleine Hund",
                        "das Haus ist klein ."};
  std::shared_ptr<const Tokenizer> tokenizer_ = train_tokenizer(GetParam(), lines_);
};

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryTokenizer, ::testing::ValuesIn(every_tokenizer()), [](const auto& test) {
  std::string name = test.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

TEST_P(EveryTokenizer, BeginsWithTheSpecialPieces) {
  EXPECT_EQ(pieces_of(*tokenizer_, {Tokenizer::kPad, Tokenizer::kUnknown, Tokenizer::kBegin, Tokenizer::kEnd}),
            (Lines{"<pad>", "<unk>", "<s>", "</s>"}));
  EXPECT_EQ(train_tokenizer(GetParam(), {})->size(), 4);
}

TEST_P(EveryTokenizer, HasEveryPieceOnce) {
  std::set<std::string> seen;
  for (int64_t i = 0; i < tokenizer_->size(); ++i) {
    EXPECT_TRUE(seen.insert(tokenizer_->piece(i)).second) << tokenizer_->piece(i);
    EXPECT_EQ(tokenizer_->id(tokenizer_->piece(i)), i);
  }
  EXPECT_EQ(tokenizer_->id("never heard"), Tokenizer::kUnknown);
}

TEST_P(EveryTokenizer, WritesBackWhatItKnows) {
  for (const auto& line : lines_) {
    const auto ids = tokenizer_->encode(line);
    const bool known = std::find(ids.begin(), ids.end(), Tokenizer::kUnknown) == ids.end();
    const bool all = GetParam().find('(') == std::string::npos;  // no option that limits the pieces
    EXPECT_TRUE(known || !all) << line;
    EXPECT_TRUE(!known || tokenizer_->decode(ids) == line) << tokenizer_->decode(ids);
  }
}

TEST_P(EveryTokenizer, ComesBackFromItsFile) {
  tokenizer_->save(path("tokenizer.json"));
  const auto loaded = load_tokenizer(path("tokenizer.json"));
  EXPECT_EQ(loaded->json(), tokenizer_->json());
  for (const auto& line : lines_) {
    EXPECT_EQ(loaded->encode(line + " xyz"), tokenizer_->encode(line + " xyz"));
    EXPECT_EQ(loaded->decode(loaded->encode(line)), tokenizer_->decode(tokenizer_->encode(line)));
  }
}

TEST_P(EveryTokenizer, IsTheSameForTheSameLines) {
  EXPECT_EQ(train_tokenizer(GetParam(), lines_)->json(), tokenizer_->json());
}

TEST_P(EveryTokenizer, KnowsTheWordOfEveryPiece) {
  for (const std::string line : {"der Hund ist kleiner", " die  Xylophone<s>jagen ", "", "<s> der </s>"}) {
    const auto segmentation = tokenizer_->segment(line);
    EXPECT_EQ(segmentation.ids, tokenizer_->encode(line));
    ASSERT_EQ(segmentation.word.size(), segmentation.ids.size());
    EXPECT_EQ(segmentation.words, whitespace_words(line));
    for (const int64_t word : segmentation.word)
      EXPECT_TRUE(word >= 0 && word < static_cast<int64_t>(segmentation.words.size()));

    const auto again = tokenizer_->segment(segmentation.ids);  // as output of a model
    ASSERT_EQ(again.word.size(), segmentation.ids.size());
    EXPECT_EQ(again.words, whitespace_words(again.text));
    for (size_t i = 0; i < segmentation.ids.size(); ++i) {
      const bool left_out = tokenizer_->is_special(segmentation.ids[i]) && segmentation.ids[i] != Tokenizer::kUnknown;
      EXPECT_EQ(again.word[i] < 0, left_out) << line;
    }
  }
}

// Unknown words must not shift the positions of the words after them.
TEST_P(EveryTokenizer, KeepsThePositionsOfWordsNextToUnknownOnes) {
  const std::string unknown = "\U0001F996\U0001F996";
  const Lines lines = {"der Hund ist kleiner",        "X der Hund ist kleiner",
                       "der " + unknown + " Hund",    unknown + " " + unknown + " der",
                       "der Hund" + unknown + " ist", unknown + "der Hund",
                       "der </s> Hund </s>",          "</s>der<pad>Hund <unk> ist",
                       "der <unk><unk> Hund",         " der\tHund\u00A0ist "};
  for (const auto& line : lines) {
    const auto segmentation = tokenizer_->segment(line);
    EXPECT_EQ(segmentation.ids, tokenizer_->encode(line));
    EXPECT_EQ(segmentation.words, whitespace_words(line)) << line;
    EXPECT_EQ(std::set<int64_t>(segmentation.word.begin(), segmentation.word.end()).size(), segmentation.words.size())
        << line;
    EXPECT_TRUE(std::is_sorted(segmentation.word.begin(), segmentation.word.end())) << line;
    for (size_t word = 0; word < segmentation.words.size();
         ++word) {  // the pieces of a word do not depend on its context
      Ids pieces, alone = tokenizer_->encode(segmentation.words[word]);
      for (size_t i = 0; i < segmentation.ids.size(); ++i)
        if (segmentation.word[i] == static_cast<int64_t>(word)) pieces.push_back(segmentation.ids[i]);
      const auto is_whitespace_piece = [&](int64_t id) { return tokenizer_->decode({id}) == " "; };
      std::erase_if(pieces, is_whitespace_piece);
      if (GetParam()[0] == 'c') std::erase_if(pieces, [](int64_t id) { return id == Tokenizer::kUnknown; });
      if (GetParam()[0] == 'c') std::erase_if(alone, [](int64_t id) { return id == Tokenizer::kUnknown; });
      EXPECT_EQ(pieces, alone) << line << ", word " << word;
    }
  }
}

// Each invalid UTF-8 byte is read as U+FFFD; the file stays readable.
TEST_P(EveryTokenizer, SurvivesBytesThatAreNotUtf8) {
  const auto tokenizer = train_tokenizer(GetParam(), times(3, "gut sch\xF6n \xE6\xB1"));
  tokenizer->save(path("tokenizer.json"));
  EXPECT_EQ(load_tokenizer(path("tokenizer.json"))->encode("sch\xF6n"), tokenizer->encode("sch\uFFFDn"));
}

TEST(Tokenizer, NumbersTheWordsOfSubwords) {
  const auto tokenizer = train_tokenizer("bpe(merges=7)", low_newest());
  const auto segmentation = tokenizer->segment("lowest  low zlow<s>x");
  EXPECT_EQ(pieces_of(*tokenizer, segmentation.ids),
            (Lines{"lo", "w", "est</w>", "low</w>", "<unk>", "low</w>", "<s>", "<unk>"}));
  EXPECT_EQ(segmentation.word, (Ids{0, 0, 0, 1, 2, 2, 2, 2}));
  EXPECT_EQ(segmentation.words, (Lines{"lowest", "low", "zlow<s>x"}));
  const auto written = tokenizer->segment(segmentation.ids);  // an unknown character ends its word
  EXPECT_EQ(written.words, (Lines{"lowest", "low", "<unk>", "low", "<unk>"}));
  EXPECT_EQ(written.word, (Ids{0, 0, 0, 1, 2, 3, -1, 4}));
  EXPECT_EQ(written.text, "lowest low <unk> low <unk>");
}

TEST(Tokenizer, KeepsTheBoundaryOfUnknownWordsThatAModelWrote) {
  const auto words = train_tokenizer("words", {"Tom chases Jerry"});
  const Ids ids = {words->id("Tom"), Tokenizer::kUnknown, Tokenizer::kUnknown, words->id("Jerry"), Tokenizer::kEnd};
  EXPECT_EQ(words->segment(ids).text, "Tom <unk> <unk> Jerry");
  EXPECT_EQ(words->segment(ids).words, (Lines{"Tom", "<unk>", "<unk>", "Jerry"}));
  EXPECT_EQ(words->segment(ids).word, (Ids{0, 1, 2, 3, -1}));
  EXPECT_EQ(words->decode(ids), "Tom Jerry");  // as in the package

  const auto bpe = train_tokenizer("bpe(merges=20, min_count=1)", {"Tom Jerry sleeps"});
  const auto given = bpe->segment("Tom Jezq Jerry sleeps");
  EXPECT_EQ(given.words, (Lines{"Tom", "Jezq", "Jerry", "sleeps"}));
  EXPECT_EQ(bpe->segment(given.ids).words.front(), "Tom");
  EXPECT_EQ(bpe->segment(given.ids).words.back(), "sleeps");
  EXPECT_EQ(bpe->segment(given.ids).text, "Tom Je<unk> <unk> Jerry sleeps");

  const auto characters = train_tokenizer("characters", {"Tom Jerry"});
  EXPECT_EQ(characters->segment(characters->encode("Tom qJe")).words, (Lines{"Tom", "<unk>Je"}));
  EXPECT_EQ(characters->segment(Ids{Tokenizer::kBegin, Tokenizer::kEnd}).word, (Ids{-1, -1}));
}

// Merges may cross whitespace in files of other programs: a piece belongs to the word of its first character, and a
// word that starts inside a piece has no piece of its own.
TEST(Tokenizer, CountsTheWordsOfPiecesThatCrossWhitespace) {
  auto spec = Catalogue<TokenizerTrainer>::make("characters")->learn({"ab c▁"});
  for (const auto& [left, right] : TokenizerSpec::Merges{{"b", "▁"}, {"b▁", "c"}, {"b▁c", "▁"}, {"b▁c▁", "a"}}) {
    spec.merges.emplace_back(left, right);
    spec.pieces.push_back(left + right);
  }
  const Tokenizer tokenizer(spec);
  const auto segmentation = tokenizer.segment("ab c ab");
  EXPECT_EQ(pieces_of(tokenizer, segmentation.ids), (Lines{"a", "b▁c▁a", "b"}));
  EXPECT_EQ(segmentation.words, (Lines{"ab", "c", "ab"}));
  EXPECT_EQ(segmentation.word, (Ids{0, 0, 2}));
}

// The whitespace of the original text counts, not that of the normalized text.
TEST(Tokenizer, CountsWordsBeforeNormalizing) {
  auto spec = Catalogue<TokenizerTrainer>::make("words")->learn({"a b c"});
  spec.normalize = {"-", " "};
  const Tokenizer tokenizer(spec);
  const auto segmentation = tokenizer.segment("a-b c");
  EXPECT_EQ(pieces_of(tokenizer, segmentation.ids), (Lines{"a", "b", "c"}));
  EXPECT_EQ(segmentation.words, (Lines{"a-b", "c"}));
  EXPECT_EQ(segmentation.word, (Ids{0, 0, 1}));
}

TEST(Tokenizer, RefusesInvalidSpecsAndIds) {
  const auto message = [](const std::string& words) { return error_of([&] { train_tokenizer(words, {"a"}); }); };
  EXPECT_EQ(message("bep(merges=3)"),
            "tokenizer: no part called 'bep' (did you mean 'bpe'?); known: bpe, characters, words");
  EXPECT_TRUE(says(message("bpe(merge=3)"), {"tokenizer/bpe: unknown option 'merge' (did you mean 'merges'?)"}));
  EXPECT_TRUE(says(message("bpe(merges=-1)"), {"tokenizer/bpe: merges is -1, expected 0 or more"}));
  EXPECT_TRUE(says(message("words(vocabulary=4)"), {"tokenizer/words: vocabulary is 4, expected more than the 4"}));
  EXPECT_TRUE(says(message("characters(min_count=0)"), {"tokenizer/characters: min_count is 0"}));
  const auto tokenizer = train_tokenizer("words", {"a"});
  EXPECT_EQ(error_of([&] { tokenizer->decode({5}); }), "data/tokenizer: got piece 5, expected 0 to 4");
  EXPECT_TRUE(says(error_of([&] { tokenizer->piece(-1); }), {"got piece -1"}));
}

// ---- files of other programs ----

class TokenizerFile : public FolderTest {
 protected:
  using Json = nlohmann::json;

  std::string refusal(const std::string& text) const {
    write("tokenizer.json", text);
    return error_of([&] { load_tokenizer(path("tokenizer.json")); });
  }
  /// The error message for a valid file with one value replaced.
  std::string refusal(const std::string& at, const Json& value) const {
    Json json = Json::parse(train_tokenizer("bpe(merges=7)", low_newest())->json());
    json[Json::json_pointer(at)] = value;
    return refusal(json.dump());
  }
};

TEST_F(TokenizerFile, IsRefusedWithTheFeatureThatIsNotSupported) {
  const auto file = "data/tokenizer: " + path("tokenizer.json") + ": ";
  EXPECT_TRUE(
      says(refusal("/pre_tokenizer", {{"type", "ByteLevel"}}), {file + "pre_tokenizer \"ByteLevel\" is not sup"}));
  EXPECT_TRUE(says(refusal("/normalizer", {{"type", "NFKC"}}), {file + "normalizer \"NFKC\" is not supported"}));
  EXPECT_TRUE(says(refusal("/model", {{"type", "Unigram"}}), {file + "model \"Unigram\" is not supported"}));
  EXPECT_TRUE(says(refusal("/decoder", {{"type", "WordPiece"}}), {file + "decoder \"WordPiece\" is not supported"}));
  EXPECT_TRUE(says(refusal("/post_processor", {{"type", "TemplateProcessing"}}),
                   {file + "post_processor \"TemplateProcessing\" is not supported"}));
  EXPECT_TRUE(says(refusal("/truncation", {{"max_length", 5}}), {file + "truncation an object is not supported"}));
  EXPECT_TRUE(
      says(refusal("/model/byte_fallback", true), {file + "model.byte_fallback is true, which is not supported"}));
  EXPECT_TRUE(says(refusal("/model/dropout", 0.1), {file + "model.dropout is 0.1"}));
  EXPECT_TRUE(says(refusal("/model/continuing_subword_prefix", "##"), {"model.continuing_subword_prefix is \"##\""}));
  EXPECT_TRUE(says(refusal("/model/unk_token", nullptr), {"model.unk_token is null, expected a text"}));
  EXPECT_TRUE(says(refusal("/model/future", 1), {"model has a field \"future\", which is not supported"}));
  EXPECT_TRUE(says(refusal("/added_tokens/0/lstrip", true), {"added_tokens[0].lstrip is not false"}));
  EXPECT_TRUE(says(refusal("/added_tokens/4", {{"content", "[MASK]"}}), {"added_tokens are 5, expected the four"}));
  EXPECT_TRUE(says(refusal("/normalizer", {{"type", "Replace"}, {"pattern", {{"Regex", "a+"}}}, {"content", ""}}),
                   {"normalizer.pattern has a field \"Regex\""}));
}

TEST_F(TokenizerFile, IsRefusedWhenItContradictsItself) {
  EXPECT_TRUE(says(refusal("/model/vocab/low", 500), {"model.vocab: \"low\" is 500, expected each of 0 to"}));
  EXPECT_TRUE(says(refusal("/model/vocab/l", -1), {"model.vocab: \"l\" is -1"}));
  EXPECT_TRUE(says(refusal("/model/vocab/l", 4.5), {"model.vocab: \"l\" is 4.5"}));
  EXPECT_TRUE(says(refusal("/model/vocab", Json::array()), {"model.vocab is a list, expected an object"}));
  EXPECT_TRUE(says(refusal("/model/vocab", {{"a", 0}}), {"piece 0 is \"a\", expected \"<pad>\""}));
  EXPECT_TRUE(says(refusal("/model/vocab", Json::object()), {"piece 0 is absent"}));
  EXPECT_TRUE(says(refusal("/model/merges/0", {"q", "z"}), {"model.merges[0]: \"q\" is no piece"}));
  EXPECT_TRUE(says(refusal("/model/merges/0", {"a"}), {"model.merges[0] is a list, expected [\"left\", \"right\"]"}));
  EXPECT_TRUE(says(refusal("/model/merges", 3), {"model has no list of merges"}));
  EXPECT_TRUE(
      says(refusal("/added_tokens/1/id", 0), {"added_tokens[1] is \"<unk>\", expected \"<unk>\" with the id 1"}));
  EXPECT_TRUE(says(refusal("[]"), {"the file is a list, expected an object"}));
  EXPECT_TRUE(says(refusal("{}"), {"there is no model"}));
  EXPECT_TRUE(says(refusal(""), {path("tokenizer.json"), "is no JSON"}));
  EXPECT_TRUE(says(refusal("{\"model\": \"\xff\"}"), {"is no JSON"}));
  EXPECT_TRUE(says(refusal(std::string(100'000, '[')), {"is nested more than 16 deep"}));
  EXPECT_TRUE(says(refusal(std::string("{}\0", 3)), {"holds a zero byte"}));
  EXPECT_TRUE(says(error_of([&] { load_tokenizer(path("none")); }), {path("none"), "No such file or directory"}));
}

TEST_F(TokenizerFile, MayHaveItsMergesAsOlderFilesDo) {
  const auto tokenizer = train_tokenizer("bpe(merges=7)", low_newest());
  Json json = Json::parse(tokenizer->json());
  for (auto& merge : json["model"]["merges"]) merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
  write("tokenizer.json", json.dump());
  EXPECT_EQ(load_tokenizer(path("tokenizer.json"))->json(), tokenizer->json());
}

/// Truncated, mutated and rearranged files either load and encode or are refused by name.
TEST_F(TokenizerFile, LoadsOrIsRefusedForEveryMutation) {
  const std::array<std::string, 3> good = {train_tokenizer("bpe(merges=7)", low_newest())->json(),
                                           train_tokenizer("words", low_newest())->json(),
                                           train_tokenizer("characters", low_newest())->json()};
  int loaded = 0, refused = 0;
  const auto feed = [&](const std::string& bytes) {
    try {
      const Tokenizer tokenizer(parse_tokenizer_json(bytes, "the file"));
      const auto ids = tokenizer.encode("lowest <s> newer \xff");
      tokenizer.decode(ids, true);
      tokenizer.segment(ids);
      ++loaded;
    } catch (const Error& error) {
      ASSERT_TRUE(says(error.what(), {"the file"}));
      ++refused;
    }
  };
  for (size_t i = 0; i < good[0].size(); ++i) feed(good[0].substr(0, i));
  static const Lines tokens = {
      "{",     "}",  "[",  "]",       ",",    ":",    "\"", "null", "true", "-1", "1e999", "99999999999999999999",
      "\"x\"", "{}", "[]", "\\ud800", "\xff", "</w>", "0"};
  std::mt19937_64 random(20240607);
  const auto below = [&](uint64_t limit) { return static_cast<size_t>(random() % limit); };
  for (int i = 0; i < 6000; ++i) {
    std::string bytes = good[below(good.size())];
    for (size_t change = 1 + below(3); change > 0; --change) {
      const size_t at = below(bytes.size()), length = below(12);
      switch (below(4)) {
        case 0:
          bytes.insert(at, tokens[below(tokens.size())]);
          break;
        case 1:
          bytes.erase(at, length);
          break;
        case 2:
          bytes.replace(at, length, bytes.substr(below(bytes.size()), below(12)));
          break;
        default:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
      }
    }
    feed(bytes);
  }
  EXPECT_GT(loaded, 100);
  EXPECT_GT(refused, 4000);
}

}  // namespace
}  // namespace heed::testing
