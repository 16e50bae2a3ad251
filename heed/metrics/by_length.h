// BLEU by source length: shows where a fixed context fails and attention does not (Bahdanau et al., 2015, figure 2).

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/metrics/bleu.h"

namespace heed {

struct LengthBucket {
  int64_t shortest = 0, longest = 0;  // source lengths that occur in the bucket
  int64_t sentences = 0;
  Bleu bleu;
};

/// Sentence lengths in whitespace-separated words. In characters without whitespace if at least half of the sentences
/// contain no whitespace (Chinese, or single words).
struct SentenceLengths {
  std::vector<int64_t> lengths;
  bool characters = false;  // unit of `lengths`: characters instead of words
};
SentenceLengths sentence_lengths(const Sentences& sentences);
/// The same in the given unit.
SentenceLengths sentence_lengths(const Sentences& sentences, bool characters);

inline const std::vector<int64_t> kLengthBounds{10, 20, 30, 40, 50};

/// Buckets: lengths up to bounds[0], up to bounds[1], ..., and longer. Empty buckets are omitted.
/// source_lengths: one per hypothesis, in the unit of the bounds. bounds: ascending.
std::vector<LengthBucket> bleu_by_length(const std::vector<int64_t>& source_lengths, const Sentences& hypotheses,
                                         const std::vector<Sentences>& references, const BleuOptions& options = {},
                                         const std::vector<int64_t>& bounds = kLengthBounds);

}  // namespace heed
