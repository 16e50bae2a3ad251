// Words that a run's vocabulary lacks: counted while a command reads text, and reported once.

#pragma once

#include <ostream>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "heed/models/translate/translator.h"

namespace heed::cli {

/// The word as words of the vocabulary, each the longest that begins there; empty where characters are left over, where
/// the word is in the vocabulary, or where its script is written with spaces.
std::vector<std::string> longest_matches(const Tokenizer& tokenizer, const std::string& word);

class VocabularyReport {
 public:
  enum class Unspaced {
    segmented,
    kept
  };  // words of scripts without spaces, such as Chinese, that are not known whole

  /// command, run: for the messages.
  VocabularyReport(std::string command, std::string run, Unspaced unspaced)
      : command_(std::move(command)), run_(std::move(run)), unspaced_(unspaced) {}

  /// The lines to hand to the translator: as they are, or with spaces put into words without spaces that the vocabulary
  /// knows in parts (longest match).
  std::vector<std::string> read_source(const Translator& translator, const std::vector<std::string>& lines);
  std::vector<std::string> read_target(const Translator& translator, const std::vector<std::string>& lines);

  /// Each unknown word once, in the order of the text.
  const std::vector<std::string>& unknown() const { return unknown_; }
  /// "heed: attend: 2 of 5 words are not in the vocabulary of runs/x and are read as <unk>: 'zebra', 'blorb'", and a
  /// line on words that were segmented. Nothing where every word is known.
  void print(std::ostream& out) const;

 private:
  std::string read(const Languages& languages, const Tokenizer& tokenizer, const std::string& line);
  void note_unknown(const Tokenizer& tokenizer, const std::string& text);

  std::string command_, run_;
  Unspaced unspaced_;
  int64_t words_ = 0, unknown_count_ = 0;
  bool in_part_ = false;                                          // some word is unknown only in part
  std::vector<std::string> unknown_{};                            // different ones
  std::vector<std::pair<std::string, std::string>> segmented_{};  // the same, and their parts
  std::unordered_set<std::string> seen_{};
};

}  // namespace heed::cli
