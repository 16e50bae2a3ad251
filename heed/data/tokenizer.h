// Text as pieces with numbers, and back.
//
//   words        a piece is a word between blanks
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

/// A text in pieces that know their words. Words are what stands between blanks; where a tokenizer does not cut at
/// blanks (characters), every piece is a word of its own.
struct Cut {
  std::vector<int64_t> ids;
  std::vector<int64_t> word;       // of every piece; -1 for a special piece that decode() leaves out
  std::vector<std::string> words;  // as they read
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

  /// encode() with the words its pieces belong to, and the same for pieces that a model wrote: cut(ids).words are the
  /// words of decode(ids).
  Cut cut(std::string_view text) const;
  Cut cut(const std::vector<int64_t>& ids, bool with_special = false) const;

  int64_t size() const { return static_cast<int64_t>(spec_.pieces.size()); }
  const std::string& piece(int64_t id) const;
  /// The number of a piece, kUnknown where it is none.
  int64_t id(const std::string& piece) const;
  bool is_special(int64_t id) const { return id >= kPad && id <= kEnd; }

  /// tokenizer.json
  std::string json() const;
  void save(const std::string& path) const;

 private:
  std::vector<int64_t> encode_word(const std::string& word) const;
  std::vector<Merger::Symbol> symbols(const std::string& word) const;
  /// What each piece adds to the text, "" for those left out.
  std::vector<std::string> written(const std::vector<int64_t>& ids, bool with_special) const;

  TokenizerSpec spec_;
  PieceNumbers numbers_;
  Merger merger_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, std::vector<int64_t>> known_words_;
};

/// How pieces are learnt; made from words such as bpe(merges=8000).
class TokenizerTrainer {
 public:
  static constexpr const char* kKind = "tokenizer";

  virtual ~TokenizerTrainer() = default;
  virtual TokenizerSpec learn(const std::vector<std::string>& lines) const = 0;
};

/// "words(vocabulary=10000)", "characters(min_count=2)", "bpe(merges=8000)". The same lines give the same pieces.
std::shared_ptr<const Tokenizer> train_tokenizer(const std::string& words, const std::vector<std::string>& lines);
std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path);

}  // namespace heed
