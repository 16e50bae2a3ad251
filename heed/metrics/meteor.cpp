#include "heed/metrics/meteor.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>

#include "heed/metrics/corpus.h"
#include "heed/metrics/porter_stem.h"
#include "heed/metrics/text.h"

namespace heed {
namespace {

/// A word that has no match yet.
struct FreeWord {
  size_t position;
  std::string text;
};
using FreeWords = std::vector<FreeWord>;
using MatchedPositions = std::map<size_t, size_t>;  // hypothesis -> reference

FreeWords lower_cased_words(const std::string& line) {
  FreeWords all;
  for (const auto& word : split_words(line)) all.push_back({all.size(), lower_cased(word)});
  return all;
}

void stem(FreeWords& words) {
  for (auto& word : words) word.text = porter_stem(word.text);
}

/// The free words of a reference by their text; the last of equal words is given first.
class FreeByText {
 public:
  explicit FreeByText(const FreeWords& words) {
    for (const auto& word : words) positions_[word.text].push_back(word.position);
  }

  std::optional<size_t> last(const std::string& text) const {
    const auto found = positions_.find(text);
    if (found == positions_.end() || found->second.empty()) return std::nullopt;
    return found->second.back();
  }
  void remove_last(const std::string& text) { positions_.at(text).pop_back(); }

 private:
  std::unordered_map<std::string, std::vector<size_t>> positions_;
};

/// Matches words, and removes them from both sides. accepted(text): the texts that match a word of the hypothesis.
template <typename Accepted>
int64_t match(FreeWords& hypothesis, FreeWords& reference, MatchedPositions& matches, Accepted accepted) {
  FreeByText free(reference);
  std::vector<bool> taken(reference.empty() ? 0 : reference.back().position + 1);
  FreeWords unmatched;
  for (size_t i = hypothesis.size(); i-- > 0;) {
    FreeWord& word = hypothesis[i];
    std::optional<size_t> best;
    std::string best_text;
    for (const auto& text : accepted(word.text)) {
      const auto position = free.last(text);
      if (!position || (best && *position <= *best)) continue;
      best = position;
      best_text = text;
    }
    if (best) {
      free.remove_last(best_text);
      taken[*best] = true;
      matches.emplace(word.position, *best);
    } else {
      unmatched.push_back(std::move(word));
    }
  }
  const auto count = static_cast<int64_t>(hypothesis.size() - unmatched.size());
  std::reverse(unmatched.begin(), unmatched.end());
  hypothesis = std::move(unmatched);
  std::erase_if(reference, [&](const FreeWord& word) { return taken[word.position]; });
  return count;
}

int64_t count_chunks(const MatchedPositions& matches) {
  int64_t chunks = 0;
  for (auto at = matches.begin(), before = at; at != matches.end(); before = at++) {
    const bool adjacent = at != matches.begin() && at->first == before->first + 1 && at->second == before->second + 1;
    chunks += adjacent ? 0 : 1;
  }
  return chunks;
}

class Matcher {
 public:
  explicit Matcher(const MeteorOptions& options) : options_(options) {}

  SentenceMeteor score(FreeWords hypothesis, FreeWords reference) {
    const auto ours = static_cast<double>(hypothesis.size()), theirs = static_cast<double>(reference.size());
    SentenceMeteor found;
    MatchedPositions matches;
    const auto itself = [](const std::string& text) { return std::array{text}; };
    found.matches[0] = match(hypothesis, reference, matches, itself);
    stem(hypothesis);
    stem(reference);
    found.matches[1] = match(hypothesis, reference, matches, itself);
    if (options_.wordnet != nullptr)
      found.matches[2] = match(
          hypothesis, reference, matches, [this](const std::string& text) -> const auto& { return synonyms(text); });
    if (matches.empty()) return found;

    const auto count = static_cast<double>(matches.size());
    found.chunks = count_chunks(matches);
    found.precision = count / ours;
    found.recall = count / theirs;
    found.penalty = options_.gamma * std::pow(static_cast<double>(found.chunks) / count, options_.beta);
    const double mean =
        found.precision * found.recall / (options_.alpha * found.precision + (1 - options_.alpha) * found.recall);
    found.score = (1 - found.penalty) * mean;
    return found;
  }

 private:
  const std::vector<std::string>& synonyms(const std::string& text) {
    const auto [entry, is_new] = synonyms_.try_emplace(text);
    if (is_new) {
      entry->second = options_.wordnet->synonyms(text);
      entry->second.push_back(text);
    }
    return entry->second;
  }

  const MeteorOptions& options_;
  std::unordered_map<std::string, std::vector<std::string>> synonyms_;  // with the word itself
};

void check_options(const MeteorOptions& options) {
  check(options.alpha >= 0 && options.alpha <= 1, "metrics/meteor: got alpha = ", options.alpha, ", expected 0 to 1");
  check(options.beta >= 0 && std::isfinite(options.beta), "metrics/meteor: got beta = ", options.beta,
        ", expected 0 or more");
  check(options.gamma >= 0 && options.gamma <= 1, "metrics/meteor: got gamma = ", options.gamma, ", expected 0 to 1");
}

}  // namespace

std::vector<std::string> meteor_stages(const MeteorOptions& options) {
  if (options.wordnet == nullptr) return {"exact", "stem"};
  return {"exact", "stem", "synonym"};
}

Meteor meteor(const std::vector<std::string>& hypotheses, const std::vector<std::vector<std::string>>& references,
              const MeteorOptions& options) {
  check_corpus("meteor", hypotheses, references);
  check_options(options);
  Matcher matcher(options);
  Meteor all;
  all.stages = meteor_stages(options);
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const FreeWords hypothesis = lower_cased_words(hypotheses[i]);
    SentenceMeteor best;
    for (size_t r = 0; r < references.size(); ++r) {
      SentenceMeteor found = matcher.score(hypothesis, lower_cased_words(references[r][i]));
      found.reference = r;
      if (r == 0 || found.score > best.score) best = found;
    }
    for (size_t stage = 0; stage < all.matches.size(); ++stage) all.matches[stage] += best.matches[stage];
    all.score += best.score;
    all.sentences.push_back(best);
  }
  all.score /= static_cast<double>(hypotheses.size());
  return all;
}

std::string signature(const MeteorOptions& options, size_t references) {
  return signed_as(references, {{"case", "lc"}, {"tok", "none"}, {"stages", joined(meteor_stages(options), "+")}});
}

}  // namespace heed
