// chrF (Popovic, 2015) and chrF++ (Popovic, 2017), number for number those of sacreBLEU 2.
//
//   chrF = (1 + beta^2) P R / (beta^2 P + R)
//
// P, R: precision and recall of runs of n characters (whitespace left out), n = 1 .. 6, and for chrF++ of n words, n =
// 1, 2; each over the whole corpus, then the mean over those n for which both sides have runs. Of several references
// the one with the best score counts.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

struct ChrfOptions {
  size_t character_order = 6;
  size_t word_order = 0;  // 2: chrF++
  int64_t beta = 2;       // recall counts beta times as much as precision
  bool lowercase = false;
  bool whitespace = false;  // keep whitespace between characters
};

struct Chrf {
  double score = 0;  // of 100
};

Chrf chrf(const std::vector<std::string>& hypotheses, const std::vector<std::vector<std::string>>& references,
          const ChrfOptions& options = {});

/// "chrF2", "chrF2++"
std::string chrf_name(const ChrfOptions& options);
/// "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:heed-0.1.0"
std::string signature(const ChrfOptions& options, size_t references = 1);

}  // namespace heed
