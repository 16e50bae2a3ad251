// Tokenizers: text to token ids and back.
//
//   words        a piece is a whitespace-separated word; with `punctuation`, a punctuation character is a piece of its
//   own characters   a piece is a character, a space is U+2581 bpe          a piece is a subword, learned by byte-pair
//   encoding
//
// Pieces are learned from lines of text and stored as Hugging Face's tokenizer.json, which the Python package
// `tokenizers` reads with the same result. The first four pieces are <pad> <unk> <s> </s>; encode() does not add them,
// but recognizes them in a text.

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

/// A text as pieces, with the word of each piece. For every tokenizer, words are separated by whitespace in the text,
/// so that an index into `words` is a word position in the text, even for unknown words. One exception: a tokenizer
/// that does not split at whitespace (characters) treats every piece as a word if the text has no whitespace and its
/// script is written without spaces, such as Chinese.
///
/// A piece belongs to the word of its first character. A whitespace piece belongs to the word after it, or to the last
/// word if none follows.
struct Segmentation {
  std::vector<int64_t> ids;
  std::vector<int64_t> word;       // index into `words` of every piece; -1: none
  std::vector<std::string> words;  // as in the text
  std::string text;                // the text itself
};

/// Immutable and thread-safe.
class Tokenizer {
 public:
  static constexpr int64_t kPad = 0, kUnknown = 1, kBegin = 2, kEnd = 3;

  explicit Tokenizer(TokenizerSpec spec);
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  /// Token ids of a text, without <s> and </s>.
  std::vector<int64_t> encode(std::string_view text) const;
  /// Text of token ids. Special pieces are omitted (skip_special_tokens of the package), or written by name. An id out
  /// of range is an Error.
  std::string decode(const std::vector<int64_t>& ids, bool with_special = false) const;

  /// encode() with the word of each piece.
  Segmentation segment(std::string_view text) const;
  /// The same for the output of a model. `text` is that of decode(), with unknown pieces as <unk>. An unknown piece is
  /// a word or part of one; in byte-pair encoding it ends its word, because it may represent the last character, which
  /// has the end-of-word mark. The other special pieces are omitted and have no word.
  Segmentation segment(const std::vector<int64_t>& ids) const;

  /// Number of pieces.
  int64_t size() const { return static_cast<int64_t>(spec_.pieces.size()); }
  const std::string& piece(int64_t id) const;
  /// The id of a piece; kUnknown if it is not in the vocabulary.
  int64_t id(const std::string& piece) const;
  bool is_special(int64_t id) const { return id >= kPad && id <= kEnd; }

  /// The content of tokenizer.json.
  std::string json() const;
  void save(const std::string& path) const;

 private:
  using Symbols = std::vector<Merger::Symbol>;

  Symbols symbols(const std::string& word) const;
  /// The same, with a cache of short words.
  Symbols remembered_symbols(const std::string& word) const;
  /// visit(piece, word, characters) for every piece of the text.
  template <typename Visit>
  void visit_pieces(std::string_view text, const Visit& visit) const;
  enum class Shown { no_special, unknown, all };  // which special pieces are written
  /// The text of each piece; "" for omitted ones.
  std::vector<std::string> written(const std::vector<int64_t>& ids, Shown shown) const;
  /// Sets `words` from the text, and `word` of whitespace pieces.
  void add_words(Segmentation& segmentation, const std::vector<std::string>& pieces) const;

  TokenizerSpec spec_;
  PieceNumbers numbers_;
  Merger merger_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, Symbols> known_words_;
};

/// Learns the pieces of a tokenizer; made from a spec such as bpe(merges=8000).
class TokenizerTrainer {
 public:
  static constexpr const char* kKind = "tokenizer";

  virtual ~TokenizerTrainer() = default;
  virtual TokenizerSpec learn(const std::vector<std::string>& lines) const = 0;
};

/// Trains a tokenizer. Specs: "words(vocabulary=10000)", "characters(min_count=2)", "bpe(merges=8000)". The same lines
/// give the same pieces. An invalid spec is an Error.
std::shared_ptr<const Tokenizer> train_tokenizer(const std::string& spec, const std::vector<std::string>& lines);
/// Reads tokenizer.json; an invalid file or an unsupported feature is an Error.
std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path);

}  // namespace heed
