// BLEU by the length of the source: where a fixed context fails and attention does not (Bahdanau et al., 2015, figure
// 2).

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/metrics/bleu.h"

namespace heed {

struct LengthBucket {
  int64_t shortest = 0, longest = 0;  // of the sentences in it
  int64_t sentences = 0;
  Bleu bleu;
};

/// Lengths of sentences in words between whitespace; in characters, whitespace not counted, where at least half of the
/// sentences have no whitespace inside (Chinese, or single words).
struct SentenceLengths {
  std::vector<int64_t> lengths;
  bool characters = false;
};
SentenceLengths sentence_lengths(const Sentences& sentences);
SentenceLengths sentence_lengths(const Sentences& sentences, bool characters);

inline const std::vector<int64_t> kLengthBounds{10, 20, 30, 40, 50};

/// Sentences of up to bounds[0] words, up to bounds[1], ..., and longer ones; buckets without sentences are left out.
/// source_lengths: one for each hypothesis, in the unit of the bounds.
std::vector<LengthBucket> bleu_by_length(const std::vector<int64_t>& source_lengths, const Sentences& hypotheses,
                                         const std::vector<Sentences>& references, const BleuOptions& options = {},
                                         const std::vector<int64_t>& bounds = kLengthBounds);

}  // namespace heed
