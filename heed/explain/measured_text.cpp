#include "heed/explain/measured_text.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <ATen/ATen.h>

#include "heed/explain/predicted.h"

namespace heed {
namespace {

constexpr double kRounding = 1e-6;      // of float: some ten times its precision
constexpr size_t kMaxMapTokens = 400;   // a longer text is no example
constexpr int64_t kTokenNumbers = 512;  // numbers that a model keeps for a token of a variation, about
constexpr int64_t kNumbers = 1 << 24;   // at once: 64 MiB

Tensor doubles(const Tensor& values) {
  return values.detach().to(at::kCPU, at::kDouble).contiguous();
}

}  // namespace

std::vector<MeasuredText> measured_texts(const ExplainedBatch& batch) {
  const Tensor weights = doubles(batch.weights), positions = batch.positions.cpu().contiguous();
  const Tensor finite = at::isfinite(batch.outputs).all(-1).cpu().contiguous();
  std::vector<MeasuredText> texts(static_cast<size_t>(batch.size()));
  for (int64_t b = 0; b < batch.size(); ++b) {
    MeasuredText& text = texts[static_cast<size_t>(b)];
    text.slots = token_slots(batch, b);
    for (int64_t p = 0; p < positions.size(1); ++p) {
      if (!positions.data_ptr<bool>()[b * positions.size(1) + p]) continue;
      text.positions.push_back(p);
      text.finite_outputs.push_back(finite.data_ptr<bool>()[b * finite.size(1) + p]);
    }
    text.weights = values_of(weights, b, text);
  }
  return texts;
}

std::vector<TokenValues> values_of(const Tensor& values, int64_t row, const MeasuredText& text) {
  const Tensor all = doubles(values);
  const auto at = all.accessor<double, 3>();
  std::vector<TokenValues> found;
  for (const int64_t p : text.positions) {
    TokenValues one;
    for (const int64_t slot : text.slots) one.push_back(at[row][p][slot]);
    found.push_back(std::move(one));
  }
  return found;
}

bool constant(const TokenValues& values) {
  if (values.empty()) return true;
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  return *largest - *smallest <= kRounding * std::max(std::abs(*largest), std::abs(*smallest));
}

std::string no_distribution(const MeasuredText& text, size_t position) {
  const TokenValues& weights = text.weights[position];
  if (weights.empty()) return "no_tokens";
  const auto all = [&](auto what) { return std::all_of(weights.begin(), weights.end(), what); };
  if (!all([](double weight) { return std::isfinite(weight); })) return "nan_weights";
  if (!text.finite_outputs[position]) return "nan_outputs";
  if (weights.size() == 1) return "one_token";
  if (all([](double weight) { return weight == 0; })) return "no_weights";
  if (!all([](double weight) { return weight >= 0; })) return "negative_weights";
  return "";
}

std::string no_order(const MeasuredText& text, size_t position) {
  const std::string reason = no_distribution(text, position);
  if (!reason.empty() && reason != "negative_weights") return reason;
  return constant(text.weights[position]) ? "constant_weights" : "";
}

double max_weight(const TokenValues& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  return sum > 0 ? std::min(1.0, *std::max_element(weights.begin(), weights.end()) / sum) : 0;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

TokenValues mean_over_positions(const std::vector<TokenValues>& values) {
  TokenValues mean(values.empty() ? 0 : values.front().size(), 0);
  for (const auto& one : values)
    for (size_t i = 0; i < one.size(); ++i) mean[i] += one[i] / static_cast<double>(values.size());
  return mean;
}

ExplanationRecord text_record(const ExplainedBatch& batch, const TestContext& context, int64_t row,
                              const MeasuredText& text) {
  ExplanationRecord record{{"tokens", text.slots.size()}};
  const ExplainedFacts& facts = context.model->facts();
  const bool one_class = facts.task == "classify" && !facts.several && !facts.number;
  if (one_class && !text.positions.empty() && text.finite_outputs.front())
    record["class"] = batch.outputs[row][0].argmax().item<int64_t>();
  return record;
}

void add_map(ExplanationRecord& record, const std::string& name, const TokenValues& weights) {
  if (weights.size() > kMaxMapTokens) return;
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const bool usable = sum > 0 && std::isfinite(sum);
  auto rounded = ExplanationRecord::array();
  for (const double weight : weights)
    rounded.push_back(usable && weight > 0 ? std::round(weight / sum * 1e4) / 1e4 : 0.0);
  record[name] = std::move(rounded);
}

Tensor output_distances(const ExplainedBatch& batch, const ExplainedFacts& facts, const Tensor& rows,
                        const Tensor& outputs) {
  const at::NoGradGuard no_gradients;
  const Tensor difference = (outputs.detach() - batch.outputs.index_select(0, rows)).to(at::kDouble).abs();
  const Tensor distance = facts.several || facts.number ? difference.mean(-1) : difference.sum(-1) / 2;
  const Tensor there = batch.positions.index_select(0, rows);
  return at::where(there, distance, at::zeros({}, distance.options())).cpu();
}

int64_t variations_at_once(const ExplainedBatch& batch) {
  const int64_t numbers = std::max<int64_t>(1, batch.tokens() * kTokenNumbers + 4 * batch.outputs[0].numel());
  return std::max<int64_t>(1, kNumbers / numbers);
}

}  // namespace heed
