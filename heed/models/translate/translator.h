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
  bool lowercase = false, unescape = false;  // what is done to text before

  bool joint() const { return source == target; }
  Vocabularies vocabularies() const { return {source->size(), target->size(), joint()}; }
  /// Changes no whitespace: the words of the text keep their positions.
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
  int64_t tokens = 0;                                       // pieces and the end, for a mean
  std::vector<std::string> source_words{}, target_words{};  // of the source line as it is read, and of `text`
  WeightRows weights{};                                     // [target word][source word], where wanted
  std::vector<double> end_weights{};  // [target word]: on the end marker of the source, which is no word
};

/// Weights between pieces as weights between words: the sum over the pieces of a source word, the mean over the pieces
/// of a target word. A word without a piece of its own has weight 0.
struct WordWeights {
  WeightRows words;         // [target word][source word]
  std::vector<double> end;  // [target word]: on the end marker of the source
};

/// pieces [target pieces][source pieces, end marker, padding]. Missing rows are 0, rows of the target's end marker are
/// left out.
WordWeights word_weights(const Segmentation& source, const Segmentation& target, WeightRows pieces);

class Translator {
 public:
  Translator(std::shared_ptr<TranslationModel> model, Languages languages);
  /// Whatever `heed train` made: config.json, tokenizers, model.safetensors.
  static Translator load(const std::string& folder, at::Device device);

  /// In the order given. A line without words gives an empty translation.
  std::vector<Translation> translate(const std::vector<std::string>& lines, const TranslateOptions& options = {});
  /// Of given translations: their probability, and how each word looked at the source.
  std::vector<Translation> score(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                                 int64_t batch_tokens = 4000, bool weights = true);

  TranslationModel& model() { return *model_; }
  const Languages& languages() const { return languages_; }

 private:
  struct Lines {
    std::vector<Segmentation> segmentations;
    std::vector<Ids> ids;
  };
  Lines segment_lines(const Tokenizer& tokenizer, const std::vector<std::string>& texts) const;
  Translation worded(const Segmentation& source, const Segmentation& target, WeightRows weights, size_t line) const;

  std::shared_ptr<TranslationModel> model_;
  Languages languages_;
  at::Device device_ = at::kCPU;
};

}  // namespace heed
