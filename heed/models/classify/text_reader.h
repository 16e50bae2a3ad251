// How the texts of an example become token ids. The same at training and when a classifier is used; kept in the run.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "heed/data/tokenizer.h"
#include "heed/models/classify/text_batch.h"

namespace heed {

/// A text as it was read.
struct ReadText {
  TextIds ids{};
  std::vector<Segmentation> sentences{};  // of each sentence, as far as it was read
  int64_t cut = 0;                        // tokens beyond the maximum length, which are not in ids
};

struct TextReader {
  std::shared_ptr<const Tokenizer> tokenizer{};
  std::vector<std::string> columns{"text"};  // names of the texts of an example
  std::string sentences = "none";            // how documents are split: none, tab, rule
  bool lowercase = false;
  bool documents = false;  // whether the model reads documents; if not, the sentences of a text are joined
  int64_t max_length = 0;  // tokens of a text that are read; 0: all

  ReadText read(const std::string& text) const;
  /// Token ids of examples, [example][column]; cut: number of texts that were too long, if not null.
  ExampleIds read_all(const std::vector<std::vector<std::string>>& texts, int64_t* cut = nullptr) const;

  /// What config.json keeps, besides the tokenizer.
  nlohmann::ordered_json json() const;
  /// Throws Error, with `path` of the file, if the content is not that of json().
  static TextReader parse(const nlohmann::json& content, const std::string& path);
};

}  // namespace heed
