// Word, character and phone error rate: edits per item of the references, over the whole corpus. Equal to jiwer 4.
//
//   rate = (S + D + I) / N,   N = hits + S + D;   I where N = 0: two empty sides 0, i words for an empty reference i
//
//   words       separated by spaces or by two or more characters of whitespace, as jiwer has it: a single tab or
//               no-break space belongs to a word
//   characters  code points, whitespace at the ends removed; a space within counts, as in jiwer
//   phones      separated by whitespace, and folded: TIMIT's 61 phones to the 39 of Lee & Hon (1989), say
//
// Nothing is lower-cased and no punctuation is removed. The rate may exceed 1. It is not the mean of the rates of the
// sentences; what a significance test resamples are their counts.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "heed/metrics/edit_counts.h"

namespace heed {

enum class EditUnit { word, character, phone };

/// The phone that is scored for a phone; an empty one: it is left out on both sides. Other phones remain as they are.
using PhoneFold = std::unordered_map<std::string, std::string>;

/// TIMIT's 61 phones to 39: closures and pauses are sil, q is left out. Names that stay are not listed.
const PhoneFold& timit_fold();

struct EditRate {
  double rate = 0;
  EditCounts counts;
  std::vector<EditCounts> sentences;
};

double edit_rate_of(const EditCounts& counts);

/// One reference for each hypothesis, at least one. fold: of phones alone.
EditRate edit_rate(const std::vector<std::string>& hypotheses, const std::vector<std::string>& references,
                   EditUnit unit = EditUnit::word, const PhoneFold& fold = {});

/// Words, characters or phones of a line, as they are compared.
std::vector<std::string> edit_items(const std::string& line, EditUnit unit, const PhoneFold& fold = {});

}  // namespace heed
