// Beam search in its plain form, which the search of the library is tested against: the host chooses every beam, from
// the best tokens of at::topk, and whatever continues is selected.

#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/data/tokenizer.h"
#include "heed/models/translate/search.h"

namespace heed::testing {

inline constexpr double kNever = -std::numeric_limits<double>::infinity();

/// One token of one beam; the path back to the first node is the translation.
struct Node {
  int64_t token, before;  // before: index of the previous node, -1 at the start
  int64_t weights;        // index into weights_, -1: none
};

struct Beam {
  double log_probability = 0;
  int64_t node = -1;
};

struct Sentence {
  int64_t number = 0, longest = 0;  // its index in the batch, maximum length
  std::vector<Beam> beams{};        // not ended
  std::vector<Hypothesis> ended{};
};

/// Whether rows is 0 ... count - 1, so that nothing has to be selected.
inline bool same_rows(const std::vector<int64_t>& rows, int64_t count) {
  if (static_cast<int64_t>(rows.size()) != count) return false;
  for (int64_t i = 0; i < count; ++i)
    if (rows[static_cast<size_t>(i)] != i) return false;
  return true;
}

class PlainBatchSearch {
 public:
  PlainBatchSearch(TranslationModel& model, const Tensor& source, const Tensor& keep, const SearchOptions& options)
      : options_(options), device_(source.device()), decoding_(model.start(source, keep)) {
    call_.outputs.weights = options.weights && model.aligns();
    const auto counts = keep.sum(1).cpu();
    found_.resize(static_cast<size_t>(source.size(0)));
    for (int64_t b = 0; b < source.size(0); ++b) {
      const auto count = static_cast<double>(counts[b].item<int64_t>());
      alive_.push_back({b, static_cast<int64_t>(options.longest * count + options.longest_add), {Beam{}}});
    }
  }

  std::vector<std::vector<Hypothesis>> run() {
    std::vector<int64_t> tokens(alive_.size(), Tokenizer::kBegin);
    for (int64_t length = 1; !alive_.empty(); ++length) {
      const auto before = at::tensor(tokens, at::kLong).to(device_);
      Tensor log_p = decoding_.step(before, call_);  // [rows, V]
      record_weights();
      tokens = extend(log_p, length);
    }
    return std::move(found_);
  }

 private:
  struct Candidate {
    double log_probability;
    int64_t beam, token;
  };

  void record_weights() {
    if (!call_.outputs.weights) return;
    const auto rows = decoding_.weights().to(at::kCPU, at::kDouble).contiguous();
    first_weights_ = static_cast<int64_t>(weights_.size());
    for (int64_t r = 0; r < rows.size(0); ++r) {
      const double* row = rows.data_ptr<double>() + r * rows.size(1);
      weights_.emplace_back(row, row + rows.size(1));
    }
  }

  /// Extends every sentence by one token; returns the tokens of the beams that continue.
  std::vector<int64_t> extend(Tensor& log_p, int64_t length) {
    for (const int64_t never : {Tokenizer::kPad, Tokenizer::kBegin}) log_p.select(1, never).fill_(kNever);
    const int64_t count = std::min(options_.beam + 1, log_p.size(1));  // one of them may be the end marker
    auto [best, which] = log_p.topk(count, 1);                         // [rows, count]
    best = best.to(at::kCPU, at::kDouble).contiguous();
    which = which.cpu().contiguous();
    check(!best.isnan().any().item<bool>(), "search: log-probabilities are NaN at token ", length,
          "; the model's weights are damaged, or its training diverged");
    std::vector<int64_t> tokens, rows;
    std::vector<Sentence> going;
    int64_t first = 0;
    for (auto& sentence : alive_) {
      const auto beams = static_cast<int64_t>(sentence.beams.size());
      const auto next = candidates(sentence, best, which, first);
      const auto chosen = advance(sentence, next, length, first);
      if (finished(sentence, length)) {
        finish(sentence);
      } else {
        for (const auto& candidate : chosen) {
          tokens.push_back(candidate.token);
          rows.push_back(first + candidate.beam);
        }
        going.push_back(std::move(sentence));
      }
      first += beams;
    }
    alive_ = std::move(going);
    if (!alive_.empty() && !same_rows(rows, first)) decoding_.select(at::tensor(rows, at::kLong).to(device_));
    return tokens;
  }

  std::vector<Candidate> candidates(const Sentence& sentence, const Tensor& best, const Tensor& which, int64_t first) {
    std::vector<Candidate> all;
    const int64_t count = best.size(1);
    for (size_t k = 0; k < sentence.beams.size(); ++k) {
      const int64_t row = first + static_cast<int64_t>(k);
      for (int64_t c = 0; c < count; ++c)
        all.push_back({sentence.beams[k].log_probability + best.data_ptr<double>()[row * count + c],
                       static_cast<int64_t>(k), which.data_ptr<int64_t>()[row * count + c]});
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.log_probability > b.log_probability; });
    return all;
  }

  /// Turns beams that end into hypotheses and makes the others the sentence's new beams.
  std::vector<Candidate> advance(Sentence& sentence, const std::vector<Candidate>& next, int64_t length,
                                 int64_t first) {
    std::vector<Candidate> chosen;
    std::vector<Beam> beams;
    const auto wanted = static_cast<size_t>(options_.beam);
    for (const auto& candidate : next) {
      if (beams.size() == wanted || sentence.ended.size() == wanted) break;
      if (!std::isfinite(candidate.log_probability)) continue;
      const int64_t weights = call_.outputs.weights ? first_weights_ + first + candidate.beam : -1;
      const int64_t before = sentence.beams[static_cast<size_t>(candidate.beam)].node;
      nodes_.push_back({candidate.token, before, weights});
      const Beam beam{candidate.log_probability, static_cast<int64_t>(nodes_.size()) - 1};
      if (candidate.token == Tokenizer::kEnd) {
        sentence.ended.push_back(hypothesis(beam, length, true));
      } else {
        beams.push_back(beam);
        chosen.push_back(candidate);
      }
    }
    sentence.beams = std::move(beams);
    return chosen;
  }

  bool finished(const Sentence& sentence, int64_t length) const {
    return sentence.beams.empty() || static_cast<int64_t>(sentence.ended.size()) >= options_.beam ||
           length >= sentence.longest;
  }

  void finish(Sentence& sentence) {
    if (sentence.ended.empty())  // no beam ended: takes the truncated ones
      for (const auto& beam : sentence.beams) sentence.ended.push_back(hypothesis(beam, sentence.longest, false));
    auto& found = found_[static_cast<size_t>(sentence.number)];
    found = std::move(sentence.ended);
    if (found.empty()) found.emplace_back();
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  }

  Hypothesis hypothesis(const Beam& beam, int64_t length, bool ended) const {
    Hypothesis out;
    out.log_probability = beam.log_probability;
    out.score = beam.log_probability / length_divisor(options_.normalization, length, options_.length_penalty);
    out.ended = ended;
    for (int64_t at = beam.node; at >= 0; at = nodes_[static_cast<size_t>(at)].before) {
      const Node& node = nodes_[static_cast<size_t>(at)];
      if (node.token != Tokenizer::kEnd) out.tokens.push_back(node.token);
      if (node.weights >= 0) out.weights.push_back(weights_[static_cast<size_t>(node.weights)]);
    }
    std::reverse(out.tokens.begin(), out.tokens.end());
    std::reverse(out.weights.begin(), out.weights.end());
    return out;
  }

  SearchOptions options_;
  at::Device device_;
  TranslationModel::Decoding decoding_;
  Call call_;
  std::vector<Sentence> alive_;
  std::vector<Node> nodes_;
  std::vector<std::vector<double>> weights_;
  int64_t first_weights_ = 0;
  std::vector<std::vector<Hypothesis>> found_;
};

/// As search().
inline std::vector<std::vector<Hypothesis>> search_plain(TranslationModel& model, const Tensor& source,
                                                         const Tensor& keep, const SearchOptions& options) {
  const at::NoGradGuard no_grad;
  return PlainBatchSearch(model, source, keep, options).run();
}

}  // namespace heed::testing
