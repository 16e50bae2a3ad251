// Text as pieces with numbers, and back.
//
//   words        a piece is a word between whitespace
//   characters   a piece is a character, a blank is U+2581
//   bpe          a piece is a part of a word, learnt by byte-pair encoding
//
// Pieces are learnt from lines of text on the spot and kept as Hugging Face's tokenizer.json, which the Python package
// `tokenizers` reads with the same result. The first four pieces are <pad> <unk> <s> </s>; encode() adds none of them,
// but finds them where they stand in a text.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/base/catalogue.h"
#include "heed/data/tokenizer/merger.h"
#include "heed/data/tokenizer/spec.h"

namespace heed {

/// A text in pieces that know their words. Words are what is between whitespace in the text, for every tokenizer, so
/// that a position in `words` is a position in the text, whatever the tokenizer knows of it. One exception: a tokenizer
/// that does not split at whitespace (characters) takes every piece for a word where a text has no whitespace and is
/// written in a script without spaces, such as Chinese.
///
/// A piece belongs to the word of its first character; a piece of whitespace to the word after it, or to the last word
/// where none follows.
struct Segmentation {
  std::vector<int64_t> ids;
  std::vector<int64_t> word;       // of every piece; -1 where there is none
  std::vector<std::string> words;  // as they are written
  std::string text;                // in which they are
};

/// Immutable; may be used from several threads.
class Tokenizer {
 public:
  static constexpr int64_t kPad = 0, kUnknown = 1, kBegin = 2, kEnd = 3;

  explicit Tokenizer(TokenizerSpec spec);
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  std::vector<int64_t> encode(std::string_view text) const;
  /// Special pieces are left out (skip_special_tokens of the package), or stand in the text as they are called.
  std::string decode(const std::vector<int64_t>& ids, bool with_special = false) const;

  /// encode() with the words its pieces belong to.
  Segmentation segment(std::string_view text) const;
  /// The same for pieces that a model wrote. `text` is what decode() gives, with unknown pieces as <unk>: one of them
  /// is a word, or part of one, and in byte-pair encoding it ends its word, because it may stand for the last
  /// character, which has the end-of-word mark. The other special pieces are left out and have no word.
  Segmentation segment(const std::vector<int64_t>& ids) const;

  int64_t size() const { return static_cast<int64_t>(spec_.pieces.size()); }
  const std::string& piece(int64_t id) const;
  /// The number of a piece, kUnknown where it is none.
  int64_t id(const std::string& piece) const;
  bool is_special(int64_t id) const { return id >= kPad && id <= kEnd; }

  /// tokenizer.json
  std::string json() const;
  void save(const std::string& path) const;

 private:
  using Symbols = std::vector<Merger::Symbol>;

  Symbols symbols(const std::string& word) const;
  /// The same, with a memory of short words.
  Symbols remembered_symbols(const std::string& word) const;
  /// visit(piece, word, characters) for every piece of the text.
  template <typename Visit>
  void visit_pieces(std::string_view text, const Visit& visit) const;
  enum class Shown { no_special, unknown, all };  // of the special pieces
  /// What each piece adds to the text, "" for those left out.
  std::vector<std::string> written(const std::vector<int64_t>& ids, Shown shown) const;
  /// Fills in `words` from the text, and `word` of pieces of whitespace.
  void add_words(Segmentation& segmentation, const std::vector<std::string>& pieces) const;

  TokenizerSpec spec_;
  PieceNumbers numbers_;
  Merger merger_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, Symbols> known_words_;
};

/// How pieces are learnt; made from words such as bpe(merges=8000).
class TokenizerTrainer {
 public:
  static constexpr const char* kKind = "tokenizer";

  virtual ~TokenizerTrainer() = default;
  virtual TokenizerSpec learn(const std::vector<std::string>& lines) const = 0;
};

/// "words(vocabulary=10000)", "characters(min_count=2)", "bpe(merges=8000)". The same lines give the same pieces.
std::shared_ptr<const Tokenizer> train_tokenizer(const std::string& spec, const std::vector<std::string>& lines);
std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path);

}  // namespace heed
