#include "heed/models/classify/token_attention.h"

#include <ATen/ATen.h>

#include "heed/base/check.h"
#include "heed/data/tokenizer.h"

namespace heed {
namespace {

// Lengths of a text that is tried: each tells whose keys are weighted.
constexpr int64_t kTriedSentences = 19, kTriedTokens = 23;

}  // namespace

TokenAttention::TokenAttention(ClassificationModel& model, const std::string& key, int64_t head)
    : head_(head), channels_(model.attention().has_channels()) {
  const std::string shown = "recipe: " + key + " is given, but model.attention is " + model.attention().to_string();
  check(model.attention().attends() && model.attention().inputs() == 1, shown,
        ", expected attention over one text, such as additive + softmax");
  const bool documents = model.reads_documents(), training = model.is_training();
  const ExampleIds one{.columns = {{{{Tokenizer::kUnknown}}}}, .documents = documents};
  const MinSizes sizes{{documents ? kTriedSentences : 1, kTriedTokens}};
  const at::NoGradGuard no_grad;
  model.eval();
  const auto device = model.parameters().front().device();
  int64_t calls = 0;
  Call call;
  call.replace_weights = [&](const Tensor& own, const Tensor&) {
    const int64_t keys = own.size(channels_ ? -2 : -1);
    if (keys == kTriedSentences) call_of_sentences_ = calls;
    if (keys == kTriedTokens) call_of_words_ = calls;
    ++calls;
    return own;
  };
  const Pooled tried = model.pool(collate(one, {0}, 0, 1, sizes).to(device), call, outputs());
  model.train(training);
  for (const auto& [name, attended] : tried.output.steps) {
    if (!attended.weights.defined()) continue;
    const Tensor weights = channels_ ? attended.weights.select(-1, 0) : attended.weights;  // [N, (H,) Lq, Lk]
    if (weights.size(-1) == kTriedSentences) sentences_ = name;
    if (weights.size(-1) != kTriedTokens) continue;
    words_ = name;
    by_position_ = weights.size(-2) == kTriedTokens;
    const int64_t heads = weights.dim() == 4 ? weights.size(1) : 1;
    check(head_ <= heads, "recipe: ", key, ".head is ", head_, ", expected 1 to ", heads, ", or 0 for all");
  }
  check(!words_.empty() && (!documents || !sentences_.empty()), shown, ", whose weights are not those of words");
}

/// [N, Lk] of a call: the mean over queries, heads and channels. keep [N, Lk]: of queries that are positions.
Tensor TokenAttention::mean_weights(const Tensor& of_call, const Tensor& keep) const {
  Tensor weights = of_call;
  if (channels_) weights = weights.mean(-1);
  if (weights.dim() == 4) weights = head_ > 0 ? weights.select(1, head_ - 1) : weights.mean(1);
  if (!by_position_ || !keep.defined() || weights.size(1) != keep.size(1)) return weights.mean(1);
  const Tensor real = keep.to(weights.scalar_type());  // [N, Lq]
  return (weights * real.unsqueeze(2)).sum(1) / real.sum(1, /*keepdim=*/true).clamp_min(1);
}

Tensor TokenAttention::weights(const Pooled& pooled, const TextBatch& batch) const {
  const auto& column = batch.columns.front();
  const Tensor of_words =
      mean_weights(pooled.output.step(words_).weights, column.keep.flatten(0, -2)).view(column.ids.sizes());
  if (sentences_.empty()) return of_words;
  return of_words * mean_weights(pooled.output.step(sentences_).weights, {}).unsqueeze(2);  // of sentences: [B, S]
}

ReplaceWeights TokenAttention::imposed(const Tensor& weights) const {
  const auto like = [channels = channels_](const Tensor& own, const Tensor& given) {  // given [N, Lk]
    auto shape = own.sizes().vec();
    const size_t keys = shape.size() - (channels ? 2 : 1);
    for (size_t axis = 1; axis < shape.size(); ++axis)
      if (axis != keys) shape[axis] = 1;
    check(given.size(0) == shape[0] && given.size(1) == shape[keys], "models/token_attention: got weights of ",
          given.size(0), " times ", given.size(1), " keys, expected ", shape[0], " times ", shape[keys],
          ", those of the batch");
    return given.view(shape).to(own.scalar_type());
  };
  const auto calls = std::make_shared<int64_t>(0);
  if (sentences_.empty())
    return [=, last = call_of_words_](const Tensor& own, const Tensor&) {
      return (*calls)++ == last ? like(own, weights) : own;
    };
  const auto own_sum = std::make_shared<Tensor>();  // [B, S, 1]
  return [=, *this](const Tensor& own, const Tensor&) {
    const int64_t number = (*calls)++;
    const Tensor sum = weights.sum(2, /*keepdim=*/true);
    if (number == call_of_words_) {
      *own_sum = mean_weights(own.detach(), {}).sum(1).view(sum.sizes());
      const Tensor inside = weights / at::where(sum > 0, sum, at::ones_like(sum)) * *own_sum;
      return like(own, inside.flatten(0, 1));
    }
    if (number != call_of_sentences_) return own;
    return like(own, (sum / at::where(*own_sum > 0, *own_sum, at::ones_like(sum))).squeeze(2));
  };
}

}  // namespace heed
