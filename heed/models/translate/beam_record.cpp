#include "heed/models/translate/beam_record.h"

#include <algorithm>
#include <cmath>

#include "heed/data/tokenizer.h"

namespace heed {

BeamRecord::BeamRecord(const std::vector<int64_t>& longest, const SearchOptions& options)
    : options_(options), found_(longest.size()) {
  for (const int64_t length : longest) alive_.push_back({sentences(), length, false, {Beam{}}});
}

int64_t BeamRecord::unfinished() const {
  return std::count_if(alive_.begin(), alive_.end(), [](const auto& sentence) { return !sentence.finished; });
}

int64_t BeamRecord::longest() const {
  int64_t longest = 0;
  for (const auto& sentence : alive_) longest = std::max(longest, sentence.longest);
  return longest;
}

void BeamRecord::add_weights(const Tensor& rows) {
  first_weights_ = static_cast<int64_t>(weights_.size());
  for (int64_t r = 0; r < rows.size(0); ++r) {
    const double* row = rows.data_ptr<double>() + r * rows.size(1);
    weights_.emplace_back(row, row + rows.size(1));
  }
}

std::vector<Candidate> BeamRecord::extend(int64_t number, const std::vector<Candidate>& sorted, int64_t length,
                                          int64_t first_row) {
  Sentence& sentence = alive_[static_cast<size_t>(number)];
  std::vector<Candidate> chosen;
  std::vector<Beam> beams;
  const auto wanted = static_cast<size_t>(options_.beam);
  chosen.reserve(std::min(wanted, sorted.size()));
  beams.reserve(std::min(wanted, sorted.size()));
  for (const auto& candidate : sorted) {
    if (beams.size() == wanted || sentence.ended.size() == wanted) break;
    if (!std::isfinite(candidate.log_probability)) continue;
    const int64_t weights = first_weights_ < 0 ? -1 : first_weights_ + first_row + candidate.beam;
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
  sentence.finished = sentence.beams.empty() || sentence.ended.size() >= wanted || length >= sentence.longest;
  if (sentence.finished) finish(sentence);
  return chosen;
}

std::vector<int64_t> BeamRecord::remove_finished() {
  std::vector<int64_t> kept;
  std::vector<Sentence> going;
  for (int64_t i = 0; i < sentences(); ++i) {
    if (finished(i)) continue;
    kept.push_back(i);
    going.push_back(std::move(alive_[static_cast<size_t>(i)]));
  }
  alive_ = std::move(going);
  return kept;
}

void BeamRecord::finish(Sentence& sentence) {
  if (sentence.ended.empty())  // no beam ended: takes the truncated ones
    for (const auto& beam : sentence.beams) sentence.ended.push_back(hypothesis(beam, sentence.longest, false));
  auto& found = found_[static_cast<size_t>(sentence.number)];
  found = std::move(sentence.ended);
  if (found.empty()) found.emplace_back();
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
}

Hypothesis BeamRecord::hypothesis(const Beam& beam, int64_t length, bool ended) const {
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

}  // namespace heed
