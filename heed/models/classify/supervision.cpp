#include "heed/models/classify/supervision.h"

#include <ATen/ATen.h>

namespace heed {
namespace {

/// The words of all sentences of a text that are not cut, each with its sentence and its tokens.
struct ReadWord {
  int64_t sentence = 0;
  std::vector<int64_t> tokens{};
};
std::vector<ReadWord> words_of(const ReadText& text) {
  std::vector<ReadWord> words;
  for (size_t s = 0; s < text.sentences.size(); ++s) {
    const Segmentation& sentence = text.sentences[s];
    const size_t first = words.size();
    words.resize(first + sentence.words.size(), {.sentence = static_cast<int64_t>(s)});
    for (size_t i = 0; i < sentence.word.size(); ++i)
      if (sentence.word[i] >= 0)
        words[first + static_cast<size_t>(sentence.word[i])].tokens.push_back(static_cast<int64_t>(i));
  }
  return words;
}

}  // namespace

std::vector<TokenWeight> token_weights(const Rationale& rationale, const std::string& text, const TextReader& reader) {
  if (rationale.weights.empty()) return {};
  TextReader whole = reader;
  whole.max_length = 0;
  const size_t count = words_of(whole.read(text)).size();
  check(rationale.weights.size() == count, "data/rationales: ", rationale.origin, ": got ", rationale.weights.size(),
        " weights for a text of ", count, " words, expected one for each");
  const auto words = words_of(reader.read(text));  // those that are cut are missing, or have no tokens
  std::vector<TokenWeight> all;
  double sum = 0;
  for (size_t w = 0; w < words.size(); ++w) {
    const auto tokens = static_cast<double>(words[w].tokens.size());
    if (rationale.weights[w] == 0 || tokens == 0) continue;
    sum += rationale.weights[w];
    for (const int64_t token : words[w].tokens)
      all.push_back({words[w].sentence, token, rationale.weights[w] / tokens});
  }
  for (auto& one : all) one.weight /= sum;
  return all;
}

TextSupervision::TextSupervision(ClassificationModel& model, Supervision options)
    : options_(options), attention_(model, "train.supervision", options.head) {}

Tensor TextSupervision::distance(const Pooled& pooled, const TextBatch& batch, const Gold& gold) const {
  const auto& column = batch.columns.front();
  const int64_t B = column.ids.size(0), L = column.ids.size(-1), S = column.ids.dim() == 3 ? column.ids.size(1) : 1;
  Tensor wanted = at::zeros({B, S, L}, at::kFloat);
  auto* const to = wanted.data_ptr<float>();
  bool any = false;
  for (int64_t b = 0; b < B; ++b)
    for (const TokenWeight& one : gold[static_cast<size_t>(batch.rows[static_cast<size_t>(b)])]) {
      to[(b * S + one.sentence) * L + one.token] = static_cast<float>(one.weight);
      any = true;
    }
  if (!any) return {};
  const Tensor weights = attention_.weights(pooled, batch);
  return row_loss(options_.loss, weights.flatten(1), wanted.to(weights.device()).flatten(1));
}

}  // namespace heed
