#include "heed/models/classify/supervision.h"

#include <ATen/ATen.h>

namespace heed {
namespace {

// Lengths of a text that is tried: each tells whose keys are weighted.
constexpr int64_t kTriedSentences = 19, kTriedTokens = 23;

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
    : options_(options), channels_(model.attention().has_channels()) {
  const std::string shown =
      "recipe: train.supervision is given, but model.attention is " + model.attention().to_string();
  check(model.attention().attends() && model.attention().inputs() == 1, shown,
        ", expected attention over one text, such as additive + softmax");
  const bool documents = model.reads_documents(), training = model.is_training();
  const ExampleIds one{.columns = {{{{Tokenizer::kUnknown}}}}, .documents = documents};
  const MinSizes sizes{{documents ? kTriedSentences : 1, kTriedTokens}};
  const at::NoGradGuard no_grad;
  model.eval();
  const auto device = model.parameters().front().device();
  const Pooled tried = model.pool(collate(one, {0}, 0, 1, sizes).to(device), {}, outputs());
  model.train(training);
  for (const auto& [name, attended] : tried.output.steps) {
    if (!attended.weights.defined()) continue;
    const Tensor weights = channels_ ? attended.weights.select(-1, 0) : attended.weights;  // [N, (H,) Lq, Lk]
    if (weights.size(-1) == kTriedSentences) sentences_ = name;
    if (weights.size(-1) != kTriedTokens) continue;
    words_ = name;
    by_position_ = weights.size(-2) == kTriedTokens;
    const int64_t heads = weights.dim() == 4 ? weights.size(1) : 1;
    check(options_.head <= heads, "recipe: train.supervision.head is ", options_.head, ", expected 1 to ", heads,
          ", or 0 for all");
  }
  check(!words_.empty() && (!documents || !sentences_.empty()), shown, ", whose weights are not those of words");
}

/// [N, Lk] of a call: the mean over queries, heads and channels. keep [N, Lk]: of queries that are positions.
Tensor TextSupervision::mean_weights(const Attended& attended, const Tensor& keep) const {
  Tensor weights = attended.weights;
  if (channels_) weights = weights.mean(-1);
  if (weights.dim() == 4) weights = options_.head > 0 ? weights.select(1, options_.head - 1) : weights.mean(1);
  if (!by_position_ || !keep.defined() || weights.size(1) != keep.size(1)) return weights.mean(1);
  const Tensor real = keep.to(weights.scalar_type());  // [N, Lq]
  return (weights * real.unsqueeze(2)).sum(1) / real.sum(1, /*keepdim=*/true).clamp_min(1);
}

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
  Tensor weights = mean_weights(pooled.output.step(words_), column.keep.flatten(0, -2)).view({B, S, L});
  if (!sentences_.empty()) {
    const Tensor of_sentences = mean_weights(pooled.output.step(sentences_), {});  // [B, S]
    weights = weights * of_sentences.unsqueeze(2);
  }
  return row_loss(options_.loss, weights.flatten(1), wanted.to(weights.device()).flatten(1));
}

}  // namespace heed
