// A translator loaded from a run folder: tokenizers, a model, and word alignments from its attention weights.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/base/links.h"
#include "heed/data/tokenizer.h"
#include "heed/models/translate/search.h"

namespace heed {

/// Tokenizers of both sides; the same object if the vocabulary is joint.
struct Languages {
  std::shared_ptr<const Tokenizer> source, target;
  bool lowercase = false, unescape = false;  // applied to text before tokenization

  bool joint() const { return source == target; }
  Vocabularies vocabularies() const { return {source->size(), target->size(), joint()}; }
  /// Text after unescape and lowercase. Whitespace is unchanged, so words keep their indices.
  std::string prepared(const std::string& text) const;

  /// Writes tokenizer.json, or tokenizer.source.json and tokenizer.target.json.
  void save(const std::string& folder) const;
  static Languages load(const std::string& folder);
};

/// Options of Translator::translate().
struct TranslateOptions {
  SearchOptions search{};
  int64_t batch_tokens = 0;  // source tokens per batch, including padding; 0: 4000 on a CPU, 16000 on a GPU
};

/// One translated or scored line.
struct Translation {
  std::string text;
  double log_probability = 0;                               // of all tokens and the end marker
  double score = 0;                                         // Hypothesis::score; 0 from Translator::score()
  bool ended = true;                                        // false: truncated at the maximum length
  int64_t tokens = 0;                                       // number of target tokens, including the end marker
  std::vector<std::string> source_words{}, target_words{};  // of the prepared source line, and of `text`
  WeightRows weights{};                                     // [target word][source word], if requested
  std::vector<double> end_weights{};                        // [target word]: weight on the source's end marker
};

/// Word weights from piece weights: summed over the pieces of a source word, averaged over the pieces of a target word.
/// A word without a piece of its own has weight 0.
struct WordWeights {
  WeightRows words;         // [target word][source word]
  std::vector<double> end;  // [target word]: on the end marker of the source
};

/// pieces: [target pieces][source pieces, end marker, padding]. Missing target pieces count as 0; the target's end
/// marker is left out.
WordWeights word_weights(const Segmentation& source, const Segmentation& target, WeightRows pieces);

class Translator {
 public:
  Translator(std::shared_ptr<TranslationModel> model, Languages languages);
  /// Loads a run folder of `heed train`: config.json, tokenizers, model.safetensors. Throws Error if a file is missing
  /// or does not fit.
  static Translator load(const std::string& folder, at::Device device);

  /// Translates lines, in the given order. A line without words gives an empty translation.
  std::vector<Translation> translate(const std::vector<std::string>& lines, const TranslateOptions& options = {});
  /// Scores given translations: log-probability and, unless `weights` is false, word weights. batch_tokens: 0
  /// is 4000. Throws Error unless there is one target for each source.
  std::vector<Translation> score(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                                 int64_t batch_tokens = 0, bool weights = true);

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
