// chrF (Popovic, 2015) and chrF++ (Popovic, 2017), equal to sacreBLEU 2 in every digit.
//
//   chrF = (1 + beta^2) P R / (beta^2 P + R)
//
// P, R: precision and recall of character n-grams (without whitespace), n = 1 .. 6, and for chrF++ of word n-grams,
// n = 1, 2. Each is computed over the whole corpus, then averaged over the orders n for which both sides have n-grams.
// With several references, the one with the best score counts.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

struct ChrfOptions {
  size_t character_order = 6;
  size_t word_order = 0;  // 2: chrF++
  int64_t beta = 2;       // weight of recall relative to precision
  bool lowercase = false;
  bool whitespace = false;  // keep whitespace in character n-grams
};

/// n-grams of one order: in the hypothesis, in the reference, and matches.
struct ChrfOrderCounts {
  int64_t hypothesis = 0, reference = 0, both = 0;
};
/// Sufficient statistics, by order, characters first; those of a corpus are the sum over its sentences.
using ChrfCounts = std::vector<ChrfOrderCounts>;

struct Chrf {
  double score = 0;                   // 0 to 100
  std::vector<ChrfCounts> sentences;  // against the best reference
};

double chrf_of(const ChrfCounts& counts, const ChrfOptions& options = {});

Chrf chrf(const std::vector<std::string>& hypotheses, const std::vector<std::vector<std::string>>& references,
          const ChrfOptions& options = {});

/// "chrF2", "chrF2++"
std::string chrf_name(const ChrfOptions& options);
/// Signature in sacreBLEU's form: "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:heed-0.1.0"
std::string signature(const ChrfOptions& options, size_t references = 1);

}  // namespace heed
