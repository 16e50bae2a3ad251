#include "heed/metrics/by_length.h"

#include <algorithm>

#include "heed/base/utf8.h"
#include "heed/metrics/corpus.h"
#include "heed/metrics/text.h"

namespace heed {
namespace {

int64_t character_count(const std::string& sentence) {
  const auto characters = decoded(sentence);
  return std::count_if(characters.begin(), characters.end(), [](char32_t c) { return !is_whitespace(c); });
}

int64_t word_count(const std::string& sentence) {
  return static_cast<int64_t>(split_words(sentence).size());
}

}  // namespace

SentenceLengths sentence_lengths(const Sentences& sentences, bool characters) {
  SentenceLengths out{{}, characters};
  for (const auto& sentence : sentences)
    out.lengths.push_back(characters ? character_count(sentence) : word_count(sentence));
  return out;
}

SentenceLengths sentence_lengths(const Sentences& sentences) {
  size_t filled = 0, one_word = 0;
  for (const auto& sentence : sentences) {
    const int64_t words = word_count(sentence);
    filled += words > 0 ? 1 : 0;
    one_word += words == 1 ? 1 : 0;
  }
  return sentence_lengths(sentences, filled > 0 && 2 * one_word >= filled);
}

std::vector<LengthBucket> bleu_by_length(const std::vector<int64_t>& source_lengths, const Sentences& hypotheses,
                                         const std::vector<Sentences>& references, const BleuOptions& options,
                                         const std::vector<int64_t>& bounds) {
  check_corpus("by_length", hypotheses, references);
  check(source_lengths.size() == hypotheses.size(), "metrics/by_length: got ", source_lengths.size(), " sources but ",
        hypotheses.size(), " hypotheses, expected equal numbers");
  check(std::is_sorted(bounds.begin(), bounds.end()),
        "metrics/by_length: got bounds that decrease, expected ascending ones");
  std::vector<LengthBucket> buckets(bounds.size() + 1);
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const int64_t length = source_lengths[i];
    auto& bucket =
        buckets[static_cast<size_t>(std::lower_bound(bounds.begin(), bounds.end(), length) - bounds.begin())];
    bucket.shortest = bucket.sentences == 0 ? length : std::min(bucket.shortest, length);
    bucket.longest = std::max(bucket.longest, length);
    bucket.bleu.counts += bleu_counts(hypotheses[i], references_of(references, i), options);
    ++bucket.sentences;
  }
  std::erase_if(buckets, [](const LengthBucket& bucket) { return bucket.sentences == 0; });
  for (auto& bucket : buckets) bucket.bleu = bleu_of(bucket.bleu.counts, options);
  return buckets;
}

}  // namespace heed
