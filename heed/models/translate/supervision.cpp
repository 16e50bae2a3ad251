#include "heed/models/translate/supervision.h"

#include <algorithm>
#include <map>

#include <ATen/ATen.h>

#include "heed/attention/align.h"
#include "heed/attention/mechanism.h"

namespace heed {
namespace {

constexpr const char *kCross = "cross", *kSquares = "squares";

/// The source words that each target word is linked to: by sure links, or by possible ones if there are no others.
std::map<int64_t, std::vector<int64_t>> linked_words(const Links& links) {
  std::map<int64_t, std::vector<int64_t>> sure, possible;
  for (const Link& link : links) {
    auto& words = (link.sure ? sure : possible)[link.target];
    if (std::find(words.begin(), words.end(), link.source) == words.end()) words.push_back(link.source);
  }
  for (auto& [target, sources] : possible) sure.try_emplace(target, std::move(sources));
  return sure;
}

/// The tokens of each word.
std::vector<std::vector<int64_t>> tokens_of(const Segmentation& segmentation) {
  std::vector<std::vector<int64_t>> tokens(segmentation.words.size());
  for (size_t i = 0; i < segmentation.word.size(); ++i)
    if (segmentation.word[i] >= 0) tokens[static_cast<size_t>(segmentation.word[i])].push_back(static_cast<int64_t>(i));
  return tokens;
}

/// A request for one link of one pair: steps with their names and sizes.
Steps tried(TranslationModel& model, bool squares) {
  const at::NoGradGuard no_grad;
  const bool training = model.is_training();
  model.eval();
  const auto device = model.parameters().front().device();
  const IdPairs pair{{{Tokenizer::kUnknown}}, {{Tokenizer::kUnknown}}};
  Call call;
  call.outputs.weights = !squares;
  call.outputs.lse = squares;
  call.outputs.links = at::zeros({1, 4}, at::TensorOptions(at::kLong).device(device));
  Steps steps = model.predict(collate(pair, {0}).to(device), call).output.steps;
  model.train(training);
  return steps;
}

}  // namespace

std::vector<TokenLink> token_links(const Links& links, const Segmentation& source, const Segmentation& target) {
  const auto from = tokens_of(source), to = tokens_of(target);
  std::vector<TokenLink> all;
  for (const auto& [word, sources] : linked_words(links)) {
    std::vector<const std::vector<int64_t>*> words;  // that have tokens
    for (const int64_t linked : sources)
      if (const auto& tokens = from.at(static_cast<size_t>(linked)); !tokens.empty()) words.push_back(&tokens);
    for (const int64_t t : to.at(static_cast<size_t>(word)))
      for (const auto* tokens : words)
        for (const int64_t s : *tokens) all.push_back({s, t, 1.0 / static_cast<double>(words.size() * tokens->size())});
  }
  return all;
}

LinkSupervision::LinkSupervision(TranslationModel& model, Supervision options, std::vector<std::vector<TokenLink>> gold)
    : options_(options), gold_(std::move(gold)), shift_(model.shifts_alignment() ? 1 : 0) {
  const AttentionSpec& spec = model.attention().spec();
  check(model.aligns() && spec.structure.empty(), "recipe: train.supervision is given, but model.attention is ",
        spec.structure.empty() ? "one whose weights are the same for all targets" : spec.structure,
        "; expected a mechanism, such as additive + softmax");
  step_ = model.aligning_step();
  const Steps steps = tried(model, /*squares=*/false);
  const Tensor weights = model.head_weights(steps, step_);
  heads_ = weights.size(1);
  check(options_.head <= heads_, "recipe: train.supervision.head is ", options_.head, ", expected 1 to ", heads_,
        ", or 0 for all");
  const Mechanism mechanism = Mechanism::parse(spec.mechanism);
  if (step_.ends_with(kCross) && mechanism.parts().align.to_string() == "softmax") {
    std::string name = step_.substr(0, step_.size() - std::string(kCross).size()) + kSquares;
    for (const auto& [step, attended] : tried(model, /*squares=*/true))
      if (step == name) squares_step_ = name;
  }
  for (const auto& pair : gold_) {
    int64_t last = -1;
    for (const TokenLink& link : pair) {
      supervised_ += link.target == last ? 0 : 1;
      last = link.target;
    }
  }
}

LinkSupervision::Request LinkSupervision::request(const PairBatch& batch) const {
  std::vector<int64_t> links, queries;
  std::vector<float> gold;
  for (const int64_t head : heads()) {
    for (size_t b = 0; b < batch.rows.size(); ++b) {
      const auto row = static_cast<int64_t>(b);
      int64_t last = -1;
      for (const TokenLink& link : gold_[static_cast<size_t>(batch.rows[b])]) {
        const int64_t query = link.target + shift_;
        links.insert(links.end(), {row, head, query, link.source});
        gold.push_back(static_cast<float>(link.weight));
        if (query != last) queries.insert(queries.end(), {row, head, query});
        last = query;
      }
    }
  }
  const auto device = batch.source.device();
  Request request;
  request.outputs.links = at::tensor(links, at::kLong).view({-1, 4}).to(device);
  request.gold = at::tensor(gold, at::kFloat).to(device);
  request.queries = at::tensor(queries, at::kLong).view({-1, 3}).to(device);
  if (options_.loss == SupervisionLoss::squared_error) {
    request.outputs.lse = !squares_step_.empty();
    request.outputs.weights = squares_step_.empty();
  }
  return request;
}

std::vector<int64_t> LinkSupervision::heads() const {
  if (options_.head > 0) return {options_.head - 1};
  std::vector<int64_t> all;
  for (int64_t head = 0; head < heads_; ++head) all.push_back(head);
  return all;
}

Tensor LinkSupervision::loss(const Request& request, const Steps& steps) const {
  if (request.gold.numel() == 0) return {};
  const Tensor logs = step_of(steps, step_, "translate").link_log_weights;  // [n] or [n, W]
  const bool channels = logs.dim() == 2;
  const Tensor gold = channels ? request.gold.unsqueeze(1).expand_as(logs) : request.gold;
  const Tensor sum = options_.loss == SupervisionLoss::cross_entropy
                         ? link_cross_entropy(logs, gold)
                         : link_squared_error(logs, gold, squares(request, steps, channels));
  const auto averaged = static_cast<double>(heads().size()) * static_cast<double>(channels ? logs.size(1) : 1);
  return sum * (options_.weight / averaged);
}

/// sum_j a_ij^2 of each query i that has gold: [r] or [r, W].
Tensor LinkSupervision::squares(const Request& request, const Steps& steps, bool channels) const {
  const auto at_queries = [&](const Tensor& x, int64_t axes) {  // of [B, (H,) T, ...]
    const Tensor heads = x.dim() == axes + (channels ? 1 : 0) ? x : x.unsqueeze(1);
    return heads.index({request.queries.select(1, 0), request.queries.select(1, 1), request.queries.select(1, 2)});
  };
  const Attended& attended = step_of(steps, step_, "translate");
  if (squares_step_.empty()) return at_queries(attended.weights, 4).square().sum(1);
  const Tensor doubled = step_of(steps, squares_step_, "translate").lse;
  return (at_queries(doubled, 3) - 2 * at_queries(attended.lse, 3)).exp();
}

}  // namespace heed
