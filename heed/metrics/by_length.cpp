#include "heed/metrics/by_length.h"

#include <algorithm>

#include "heed/metrics/corpus.h"

namespace heed {

std::vector<LengthBucket> bleu_by_length(const std::vector<int64_t>& source_lengths, const Sentences& hypotheses,
                                         const std::vector<Sentences>& references, const BleuOptions& options,
                                         const std::vector<int64_t>& bounds) {
  check_corpus("by_length", hypotheses, references);
  check(source_lengths.size() == hypotheses.size(), "metrics/by_length: ", source_lengths.size(), " sources but ",
        hypotheses.size(), " hypotheses, expected as many");
  check(std::is_sorted(bounds.begin(), bounds.end()), "metrics/by_length: bounds that fall, expected them in order");
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
