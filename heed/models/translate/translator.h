// A translator out of a run folder: tokenizers, a model, and what it looked at.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/base/links.h"
#include "heed/data/tokenizer.h"
#include "heed/models/translate/search.h"

namespace heed {

/// Tokenizers of both sides; the same one where the vocabulary is joint.
struct Languages {
  std::shared_ptr<const Tokenizer> source, target;
  bool lower = false, unescape = false;  // what is done to text before

  bool joint() const { return source == target; }
  Vocabularies vocabularies() const { return {source->size(), target->size(), joint()}; }
  std::string prepared(const std::string& text) const;

  /// As tokenizer.json, or tokenizer.source.json and tokenizer.target.json.
  void save(const std::string& folder) const;
  static Languages load(const std::string& folder);
};

struct TranslateOptions {
  SearchOptions search{};
  int64_t batch_tokens = 4000;  // of the source, padding counted
};

struct Translation {
  std::string text;
  double log_probability = 0;  // of the words and the end
  double score = 0;
  bool ended = true;
  int64_t words = 0;  // pieces and the end, for a mean
  std::vector<std::string> source_words{}, target_words{};
  WeightRows weights{};  // [target word][source word], where wanted
};

class Translator {
 public:
  Translator(std::shared_ptr<TranslationModel> model, Languages languages);
  /// Whatever `heed train` made: config.json, tokenizers, model.safetensors.
  static Translator load(const std::string& folder, at::Device device);

  /// In the order they came. A line without words gives an empty translation.
  std::vector<Translation> translate(const std::vector<std::string>& lines, const TranslateOptions& options = {});
  /// Of given translations: their probability, and how each word looked at the source.
  std::vector<Translation> score(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                                 int64_t batch_tokens = 4000, bool weights = true);

  TranslationModel& model() { return *model_; }
  const Languages& languages() const { return languages_; }

 private:
  Translation worded(const std::vector<int64_t>& source, const std::vector<int64_t>& target, WeightRows weights) const;
  IdPairs encoded(const std::vector<std::string>& sources, const std::vector<std::string>& targets) const;

  std::shared_ptr<TranslationModel> model_;
  Languages languages_;
  at::Device device_ = at::kCPU;
};

}  // namespace heed
