// For tests: models whose answers are known by construction, with texts made of a few tokens.
//
// A token has a score s and a value v_c for each class; its embedding is (s, v_1 ... v_C). At position p
//
//   a_t  = exp(s_t) / sum_u exp(s_u)         MadeWeights::softmax; of MadeWeights::free a_t = exp(s_t)
//   l_c  = min(sum_t a_t max(v_tc, 0), cap) - sum_t a_t max(-v_tc, 0)
//   y    = softmax(l), or sigmoid(l) where classes are independent
//
// with s_t / (p + 1) in place of s_t: later positions attend alike, and to more tokens. Sums are over tokens that are
// there; a score of kUnattended or less is a weight of 0. Without any weight a text has l = 0.
//
//   faithful_model     the weights are all there is: free weights, values that have all the same size, so that
//   gradients
//                      and what removals do have the order of the weights
//   ignoring_model     the same tokens, but 1 / (number of tokens) in place of a_t; weights are shown and not used
//   redundant_model    two tokens ("twin") of which one is enough: the removal of either changes nothing, of both all
//   degenerate_model   one token, none, equal weights, NaN weights, weights that are all 0

#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <torch/autograd.h>

#include "heed/base/check.h"
#include "heed/explain/explained.h"

namespace heed::testing {

inline constexpr double kUnattended = -1000;
inline constexpr double kUncapped = std::numeric_limits<double>::infinity();

struct MadeToken {
  std::string token{};
  double score = 0;
  std::vector<double> values{};  // one for each class
};

enum class MadeWeights { softmax, free };

struct MadeOptions {
  MadeWeights alignment = MadeWeights::softmax;
  bool ignores_weights = false;
  double cap = kUncapped;
  bool several = false;         // classes are independent
  int64_t positions = 1;        // P
  std::vector<int64_t> ends{};  // positions of each text, at most P; empty: P of all
  int64_t padding = 0;          // tokens of padding besides what the longest text of a batch needs
  std::vector<int64_t> gold{};  // class of each text; empty: none
};

class MadeModel : public ExplainedModel {
 public:
  /// texts: tokens separated by spaces.
  MadeModel(std::vector<MadeToken> vocabulary, const std::vector<std::string>& texts, MadeOptions options = {})
      : options_(std::move(options)), vocabulary_(std::move(vocabulary)) {
    const size_t classes = vocabulary_.at(0).values.size();
    facts_ = {.run = "made", .task = options_.positions == 1 ? "classify" : "translate", .mechanism = "made"};
    facts_.several = options_.several;
    for (size_t c = 0; c < classes; ++c) facts_.classes.push_back("class " + std::to_string(c));
    for (size_t i = 0; i < texts.size(); ++i) {
      ExplainedText text{.id = "text " + std::to_string(i)};
      std::istringstream stream(texts[i]);
      for (std::string token; stream >> token;) {
        text.word.push_back(std::ssize(text.tokens));
        text.tokens.push_back(token);
      }
      text.words = text.tokens;
      if (!options_.gold.empty()) text.gold = {options_.gold.at(i)};
      if (options_.positions > 1)
        for (int64_t p = 0; p < end(i); ++p) text.targets.push_back("target " + std::to_string(p));
      texts_.push_back(std::move(text));
    }
  }

  const ExplainedFacts& facts() const override { return facts_; }
  const std::vector<ExplainedText>& texts() const override { return texts_; }
  std::unique_ptr<ExplainedBatch> read(const std::vector<size_t>& items) override;

  const MadeOptions& options() const { return options_; }
  const MadeToken& entry(const std::string& token) const {
    for (const auto& one : vocabulary_)
      if (one.token == token) return one;
    fail("testing_explained: no token '", token, "'");
  }
  int64_t end(size_t item) const { return options_.ends.empty() ? options_.positions : options_.ends.at(item); }

 private:
  MadeOptions options_;
  std::vector<MadeToken> vocabulary_;
  std::vector<ExplainedText> texts_{};
  ExplainedFacts facts_{};
};

class MadeBatch : public ExplainedBatch {
 public:
  MadeBatch(const MadeModel& model, std::vector<size_t> some) : options_(model.options()) {
    items = std::move(some);
    const int64_t size = std::ssize(items), classes = std::ssize(model.facts().classes);
    int64_t longest = 0;
    for (const size_t item : items) longest = std::max(longest, std::ssize(model.texts()[item].tokens));
    longest += options_.padding;
    keep = at::zeros({size, longest}, at::kBool);
    positions = at::zeros({size, options_.positions}, at::kBool);
    embedded_ = at::zeros({size, longest, classes + 1});
    for (int64_t b = 0; b < size; ++b) {
      const auto& text = model.texts()[items[static_cast<size_t>(b)]];
      for (int64_t t = 0; t < std::ssize(text.tokens); ++t) {
        const MadeToken& entry = model.entry(text.tokens[static_cast<size_t>(t)]);
        keep[b][t] = true;
        embedded_[b][t][0] = entry.score;
        for (int64_t c = 0; c < classes; ++c) embedded_[b][t][c + 1] = entry.values.at(static_cast<size_t>(c));
      }
      for (int64_t p = 0; p < model.end(items[static_cast<size_t>(b)]); ++p) positions[b][p] = true;
    }
    const at::NoGradGuard no_gradients;
    const Tensor all = at::arange(size);
    weights = weights_of(all, embedded_, keep);
    outputs = outputs_of(all, embedded_, keep, weights);
  }

  Tensor outputs_with(const Tensor& rows, const Tensor& other) override {
    return outputs_of(rows, embedded_.index_select(0, rows), keep.index_select(0, rows), other);
  }
  Tensor outputs_permuted(const Tensor& rows, const Tensor& order) override {
    return outputs_with(rows, weights.index_select(0, rows).gather(-1, order));
  }
  Tensor outputs_without(const Tensor& rows, const Tensor& removed) override {
    const Tensor some = embedded_.index_select(0, rows);
    const Tensor rest = keep.index_select(0, rows).logical_and(removed.logical_not());
    return outputs_of(rows, some, rest, weights_of(rows, some, rest));
  }
  Tensor embedded() override { return embedded_.clone(); }
  Tensor outputs_from(const Tensor& rows, const Tensor& other, bool fixed_weights) override {
    const Tensor rest = keep.index_select(0, rows);
    const Tensor found = weights_of(rows, other, rest);
    return outputs_of(rows, other, rest, fixed_weights ? found.detach() : found);
  }
  Tensor rollout() override { return {}; }
  Tensor value_norms() override { return embedded_.slice(-1, 1).norm(2, -1); }

 private:
  /// [N, P, T] from embeddings [N, T, D] of tokens that are there, rest [N, T].
  Tensor weights_of(const Tensor& rows, const Tensor& embedded, const Tensor& rest) const {
    const Tensor score = embedded.select(-1, 0);
    const Tensor attended = rest.logical_and((score <= kUnattended).logical_not());
    std::vector<Tensor> all;
    for (int64_t p = 0; p < options_.positions; ++p) {
      const Tensor raw = score.masked_fill(attended.logical_not(), 0).div(static_cast<double>(p + 1)).exp() * attended;
      const Tensor sum = raw.sum(-1, /*keepdim=*/true);
      all.push_back(options_.alignment == MadeWeights::free ? raw : raw / at::where(sum == 0, at::ones_like(sum), sum));
    }
    return at::stack(all, 1).masked_fill(positions.index_select(0, rows).logical_not().unsqueeze(-1), 0);
  }

  /// [N, P, C]
  Tensor outputs_of(const Tensor& rows, const Tensor& embedded, const Tensor& rest, const Tensor& given) const {
    Tensor used = given * rest.unsqueeze(1);
    if (options_.ignores_weights) {
      const Tensor count = rest.sum(-1, /*keepdim=*/true).clamp_min(1);
      used = (rest / count).unsqueeze(1).expand_as(given);
    }
    const Tensor values = embedded.slice(-1, 1);
    const Tensor for_class = at::matmul(used, values.relu()).clamp_max(options_.cap);
    const Tensor logits = for_class - at::matmul(used, values.neg().relu());
    const Tensor probabilities = options_.several ? logits.sigmoid() : logits.softmax(-1);
    return probabilities.masked_fill(positions.index_select(0, rows).logical_not().unsqueeze(-1), 0);
  }

  MadeOptions options_;
  Tensor embedded_{};
};

inline std::unique_ptr<ExplainedBatch> MadeModel::read(const std::vector<size_t>& items) {
  return std::make_unique<MadeBatch>(*this, items);
}

// Of two classes. "good" and "bad" are for class 1 and class 0; a number is log(weight): weights are 8, 4, 2, 1.

inline std::vector<MadeToken> made_vocabulary() {
  const double unit = std::log(2.0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return {{"great", 3 * unit, {0, 0.1}}, {"good", 2 * unit, {0, 0.1}},  {"fine", unit, {0, 0.1}},
          {"film", 0, {0, 0.1}},         {"awful", 3 * unit, {0.1, 0}}, {"bad", 2 * unit, {0.1, 0}},
          {"poor", unit, {0.1, 0}},      {"plot", 0, {0.1, 0}},         {"hidden", kUnattended, {0.1, 0}},
          {"nan", nan, {0, 0.1}}};
}

/// Tokens of every text have different weights and are for one class.
inline std::vector<std::string> made_texts() {
  return {"film great good fine", "plot awful poor", "good film", "bad awful plot poor", "great film fine"};
}

inline std::unique_ptr<MadeModel> faithful_model(MadeOptions options = {}) {
  options.alignment = MadeWeights::free;
  if (options.gold.empty()) options.gold = {1, 0, 1, 0, 1};
  return std::make_unique<MadeModel>(made_vocabulary(), made_texts(), std::move(options));
}

inline std::unique_ptr<MadeModel> ignoring_model(MadeOptions options = {}) {
  options.ignores_weights = true;
  if (options.gold.empty()) options.gold = {1, 0, 1, 0, 1};
  return std::make_unique<MadeModel>(made_vocabulary(), made_texts(), std::move(options));
}

/// Each twin has the weight 4 and the logit 4 for class 1, whose sum is capped at 4; the others have 1 and 2, and
/// smaller logits against it.
inline std::unique_ptr<MadeModel> redundant_model(MadeOptions options = {}) {
  options.alignment = MadeWeights::free;
  options.cap = 4;
  if (options.gold.empty()) options.gold = {1, 1};
  return std::make_unique<MadeModel>(
      std::vector<MadeToken>{{"twin", std::log(4.0), {0, 1}}, {"a", 0, {0, -0.25}}, {"the", std::log(2.0), {0, -0.25}}},
      std::vector<std::string>{"twin the a twin", "twin a twin the a"}, std::move(options));
}

/// In this order: one token; no tokens; equal weights; NaN; all weights 0; one weight of 0; and one that is regular.
inline std::unique_ptr<MadeModel> degenerate_model(MadeOptions options = {}) {
  if (options.gold.empty()) options.gold = {1, 0, 1, 1, 0, 1, 1};
  return std::make_unique<MadeModel>(
      made_vocabulary(),
      std::vector<std::string>{"great", "", "good good good", "nan good fine", "hidden hidden", "great hidden fine",
                               "film great good fine"},
      std::move(options));
}

}  // namespace heed::testing
