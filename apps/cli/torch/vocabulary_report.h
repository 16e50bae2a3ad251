// Counts out-of-vocabulary words while a command reads text, and reports them once.

#pragma once

#include <ostream>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "heed/models/classify/text_reader.h"
#include "heed/models/translate/translator.h"

namespace heed::cli {

/// Segments a word by longest match with the vocabulary. Empty if characters are left over, if the word is in the
/// vocabulary, or if its script is written with spaces.
std::vector<std::string> longest_matches(const Tokenizer& tokenizer, const std::string& word);

class VocabularyReport {
 public:
  /// How to treat unknown words of scripts without spaces, such as Chinese: segment by longest match, or keep.
  enum class Unspaced { segmented, kept };

  /// command, run: names in the messages.
  VocabularyReport(std::string command, std::string run, Unspaced unspaced)
      : command_(std::move(command)), run_(std::move(run)), unspaced_(unspaced) {}

  /// Reads lines and returns those to translate: unchanged, or with unknown words of scripts without spaces segmented.
  std::vector<std::string> read_source(const Translator& translator, const std::vector<std::string>& lines);
  std::vector<std::string> read_target(const Translator& translator, const std::vector<std::string>& lines);
  /// Reads the texts of an example of a classifier; returns how many of them are cut.
  int64_t read_texts(const TextReader& reader, const std::vector<std::string>& texts);

  /// The distinct unknown words, in the order of the text.
  const std::vector<std::string>& unknown() const { return unknown_; }
  /// Prints "heed: attend: 2 of 5 words are not in the vocabulary of runs/x and are read as <unk>: 'zebra', 'blorb'",
  /// and a line on segmented words. Prints nothing if every word is known.
  void print(std::ostream& out) const;

 private:
  std::string read(const Languages& languages, const Tokenizer& tokenizer, const std::string& line);
  void note_unknown(const Tokenizer& tokenizer, const Segmentation& segmentation);

  std::string command_, run_;
  Unspaced unspaced_;
  int64_t words_ = 0, unknown_count_ = 0;
  bool in_part_ = false;                                          // some word has known and unknown tokens
  std::vector<std::string> unknown_{};                            // distinct unknown words
  std::vector<std::pair<std::string, std::string>> segmented_{};  // distinct segmented words and their parts
  std::unordered_set<std::string> seen_{};
};

}  // namespace heed::cli
