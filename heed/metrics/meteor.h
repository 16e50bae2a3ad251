// METEOR (Lavie & Agarwal, 2007), equal to NLTK 3.8.1's meteor_score on lines split at whitespace.
//
//   Fmean = P R / (alpha P + (1 - alpha) R),   penalty = gamma (chunks / matches)^beta,
//   score = (1 - penalty) Fmean;   0 where nothing matches
//
// P, R: matched words by the words of hypothesis and reference. Words are lower-cased and matched in stages: equal
// words, then equal Porter stems, then stems of which the reference's is a synonym (wordnet.h) of the hypothesis's. In
// each stage the words of the hypothesis, last one first, take the last free word of the reference; no search for few
// crossings. A stem that is no word (automobil) has no synonyms. A chunk is a run of matches that are adjacent in both.
// Of several references the best score counts, and that of a corpus is the mean over its sentences. Other programs
// (METEOR 1.5) weigh stages and search; their scores differ.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "heed/metrics/wordnet.h"

namespace heed {

struct MeteorOptions {
  double alpha = 0.9, beta = 3, gamma = 0.5;
  const WordNet* wordnet = nullptr;  // without it there is no synonym stage
};

/// The stages of matching, as far as they run: "exact", "stem", "synonym".
std::vector<std::string> meteor_stages(const MeteorOptions& options);

struct SentenceMeteor {
  double score = 0;  // 0 to 1, as are the next three
  double precision = 0, recall = 0, penalty = 0;
  std::array<int64_t, 3> matches{};  // by stage
  int64_t chunks = 0;
  size_t reference = 0;  // the one with the best score, the first on ties
};

struct Meteor {
  double score = 0;  // mean over the sentences, 0 to 1
  std::vector<SentenceMeteor> sentences;
  std::array<int64_t, 3> matches{};  // by stage
  std::vector<std::string> stages;   // that ran
};

/// references: at least one list, each as long as `hypotheses`.
Meteor meteor(const std::vector<std::string>& hypotheses, const std::vector<std::vector<std::string>>& references,
              const MeteorOptions& options = {});

/// Signature in sacreBLEU's form: "nrefs:1|case:lc|tok:none|stages:exact+stem|version:heed-0.2.0"
std::string signature(const MeteorOptions& options, size_t references = 1);

}  // namespace heed
