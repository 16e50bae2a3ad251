// Shared by the translation metrics: checks of the corpus, signatures.

#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/check.h"
#include "heed/version.h"

namespace heed {

/// Requires at least one hypothesis and one list of references, all lists of the same length; otherwise an Error.
inline void check_corpus(const std::string& metric, const std::vector<std::string>& hypotheses,
                         const std::vector<std::vector<std::string>>& references) {
  check(!hypotheses.empty(), "metrics/", metric, ": got no hypotheses, expected at least one");
  check(!references.empty(), "metrics/", metric, ": got no references, expected at least one list");
  for (const auto& list : references)
    check(list.size() == hypotheses.size(), "metrics/", metric, ": got ", hypotheses.size(), " hypotheses but ",
          list.size(), " references, expected equal numbers");
}

/// The references of hypothesis i.
inline std::vector<std::string> references_of(const std::vector<std::vector<std::string>>& references, size_t i) {
  std::vector<std::string> all;
  all.reserve(references.size());
  for (const auto& list : references) all.push_back(list[i]);
  return all;
}

/// Signature in sacreBLEU's form: "nrefs:1|case:mixed|...|version:heed-0.1.0".
inline std::string signed_as(size_t references, const std::vector<std::pair<std::string, std::string>>& choices) {
  std::vector<std::string> fields{"nrefs:" + std::to_string(references)};
  for (const auto& [name, choice] : choices) fields.push_back(joined({name, choice}, ":"));
  fields.push_back("version:heed-" + std::string(kVersion));
  return joined(fields, "|");
}

/// Formats a number with `digits` digits after the decimal point.
inline std::string with_digits(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

}  // namespace heed
