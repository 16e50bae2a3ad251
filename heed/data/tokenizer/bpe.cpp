// Byte-pair encoding (Sennrich, Haddow & Birch, 2016): words start as characters, and the most frequent adjacent pair
// is merged repeatedly. Ties go to the pair that is first in lexicographic order.

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>

#include "heed/base/check.h"
#include "heed/base/utf8.h"
#include "heed/data/tokenizer.h"
#include "heed/data/tokenizer/counted.h"

namespace heed {
namespace {

constexpr const char* kEndOfWord = "</w>";
constexpr size_t kLongestWord = 1000;  // characters; merges are not learned from longer words

/// Updates pair counts incrementally: a merge touches only the words that contain its pair.
class MergeLearner {
 public:
  explicit MergeLearner(const TokenCounts& words) {
    for (const auto& [text, count] : words) add_word(text, count);
    for (const auto& [pair, record] : pairs_) queue_.push({record.count, pair});
  }

  /// Characters inside words and at the end of words (with the mark), sorted.
  std::vector<std::string> alphabet() const {
    std::vector<std::string> all(texts_.begin(), texts_.end());
    std::sort(all.begin(), all.end());
    return all;
  }

  /// Merges the best pair; false if no pair occurs min_count times. fresh: whether the piece is new; it is not if two
  /// pairs form the same text.
  bool step(int64_t min_count, TokenizerSpec::Merges& merges, bool& fresh) {
    while (!queue_.empty()) {
      const Waiting best = queue_.top();
      queue_.pop();
      const int64_t count = pairs_[best.pair].count;
      if (count != best.count) {  // outdated entry; increased counts are in the queue already
        if (count < best.count && count > 0) queue_.push({count, best.pair});
        continue;
      }
      if (count < min_count) return false;
      merges.emplace_back(texts_[best.pair.left], texts_[best.pair.right]);
      merge(best.pair, fresh);
      return true;
    }
    return false;
  }

 private:
  struct Pair {
    uint32_t left, right;
    auto operator<=>(const Pair&) const = default;
  };
  struct Hash {
    size_t operator()(const Pair& pair) const {
      return std::hash<uint64_t>()((uint64_t{pair.left} << 32U | pair.right) * 0x9E3779B97F4A7C15U);
    }
  };
  struct Record {
    int64_t count = 0;
    std::vector<uint32_t> words{};  // words that contain it, or did
  };
  struct Word {
    std::vector<uint32_t> symbols;
    int64_t count;
  };
  struct Waiting {
    int64_t count;
    Pair pair;
  };

  uint32_t symbol(const std::string& text) {
    const auto [found, fresh] = numbers_.emplace(text, static_cast<uint32_t>(texts_.size()));
    if (fresh) texts_.push_back(text);
    return found->second;
  }

  void add_word(const std::string& text, int64_t count) {
    Word word{{}, count};
    const std::u32string letters = decoded(text);
    for (size_t i = 0; i < letters.size(); ++i) {
      word.symbols.push_back(symbol(encoded(letters[i]) + (i + 1 == letters.size() ? kEndOfWord : "")));
    }
    if (letters.size() > kLongestWord) return;
    words_.push_back(std::move(word));
    count_pairs(static_cast<uint32_t>(words_.size() - 1));
  }

  void count_pairs(uint32_t index) {
    const Word& word = words_[index];
    for (size_t i = 0; i + 1 < word.symbols.size(); ++i) hold({word.symbols[i], word.symbols[i + 1]}, index);
  }

  void hold(const Pair& pair, uint32_t index) {
    Record& record = pairs_[pair];
    record.count += words_[index].count;
    if (record.words.empty() || record.words.back() != index) record.words.push_back(index);
  }

  void merge(const Pair& pair, bool& fresh) {
    const size_t before = texts_.size();
    const uint32_t whole = symbol(texts_[pair.left] + texts_[pair.right]);
    fresh = texts_.size() > before;
    std::vector<uint32_t> holders = std::move(pairs_[pair].words);
    std::sort(holders.begin(), holders.end());
    holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
    std::vector<Pair> grown;
    for (const uint32_t index : holders) merge_in_word(index, pair, whole, grown);
    pairs_.erase(pair);
    std::sort(grown.begin(), grown.end());
    grown.erase(std::unique(grown.begin(), grown.end()), grown.end());
    for (const Pair& other : grown) queue_.push({pairs_[other].count, other});
  }

  /// A merge increases only counts of pairs with the new symbol, and decreases only those of its parts' neighbors.
  void merge_in_word(uint32_t index, const Pair& pair, uint32_t whole, std::vector<Pair>& grown) {
    auto& symbols = words_[index].symbols;
    const int64_t count = words_[index].count;
    std::vector<uint32_t> merged;
    for (size_t i = 0; i < symbols.size(); ++i) {
      const bool here = i + 1 < symbols.size() && symbols[i] == pair.left && symbols[i + 1] == pair.right;
      merged.push_back(here ? whole : symbols[i]);
      i += here ? 1 : 0;
    }
    if (merged.size() == symbols.size()) return;  // another merge has consumed the pair
    for (size_t i = 0; i + 1 < symbols.size(); ++i) pairs_[{symbols[i], symbols[i + 1]}].count -= count;
    symbols = std::move(merged);
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const Pair now{symbols[i], symbols[i + 1]};
      if (now.left != whole && now.right != whole) {
        pairs_[now].count += count;  // unchanged pair
      } else {
        hold(now, index);
        grown.push_back(now);
      }
    }
  }

  std::vector<std::string> texts_;
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<Word> words_;
  std::unordered_map<Pair, Record, Hash> pairs_;

  struct Later {
    const std::vector<std::string>* texts;
    bool operator()(const Waiting& a, const Waiting& b) const {
      if (a.count != b.count) return a.count < b.count;
      const auto &left = (*texts)[a.pair.left], &other = (*texts)[b.pair.left];
      return left != other ? left > other : (*texts)[a.pair.right] > (*texts)[b.pair.right];
    }
  };
  std::priority_queue<Waiting, std::vector<Waiting>, Later> queue_{Later{&texts_}};
};

class Bpe final : public TokenizerTrainer {
 public:
  explicit Bpe(const Options& options)
      : merges_(options.integer("merges", 8000)),
        vocabulary_(options.integer("vocabulary", 0)),
        min_count_(options.integer("min_count", 2)) {
    check(merges_ >= 0, options.part(), ": merges is ", merges_, ", expected 0 or more");
    check(vocabulary_ >= 0, options.part(), ": vocabulary is ", vocabulary_,
          ", expected the number of pieces wanted in place of merges, or 0");
    check(min_count_ >= 1, options.part(), ": min_count is ", min_count_, ", expected 1 or more");
  }

  TokenizerSpec learn(const std::vector<std::string>& lines) const override {
    TokenizerSpec spec;
    spec.split = TokenizerSpec::Split::whitespace;
    spec.end_of_word = kEndOfWord;
    spec.decoder = TokenizerSpec::Decoder::bpe;
    spec.decode = {kEndOfWord, " "};
    spec.pieces = special_pieces();
    MergeLearner learner(count_chunks(lines, {}, spec.split));
    for (auto& character : learner.alphabet()) spec.pieces.push_back(std::move(character));
    const auto count = [](const auto& items) { return static_cast<int64_t>(items.size()); };
    check(vocabulary_ == 0 || count(spec.pieces) <= vocabulary_, "tokenizer/bpe: vocabulary is ", vocabulary_,
          ", but the text has ", count(spec.pieces), " pieces before the first merge (characters, at the end of a word",
          " and before it, and 4 special pieces); expected more");
    const auto full = [&] {
      return vocabulary_ > 0 ? count(spec.pieces) >= vocabulary_ : count(spec.merges) >= merges_;
    };
    for (bool fresh = false; !full() && learner.step(min_count_, spec.merges, fresh);) {
      if (fresh) spec.pieces.push_back(spec.merges.back().first + spec.merges.back().second);
    }
    return spec;
  }

 private:
  int64_t merges_, vocabulary_, min_count_;
};

const Catalogue<TokenizerTrainer>::Entry bpe_entry{
    "bpe",
    make_part<TokenizerTrainer, Bpe>,
    {.formula = "characters, the most frequent neighbors merged again and again",
     .paper = "Sennrich et al., 2016",
     .cost = "one piece or a few for each word",
     .choose = "open vocabulary: names, compounds, inflection; one for both languages",
     .variants = {"bpe(merges=20)", "bpe(vocabulary=60)"},
     .synonyms = {"byte_pair_encoding", "subword"},
     .order = 1}};

}  // namespace
}  // namespace heed
