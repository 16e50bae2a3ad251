// For tests of tests: records of all texts of a model.

#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "heed/explain/test.h"

namespace heed::testing {

/// Records of some items, in batches of `size`; 0: one batch.
inline std::vector<ExplanationRecord> measured(const ExplanationTest& test, ExplainedModel& model,
                                               const std::vector<size_t>& items, size_t size = 0, uint64_t seed = 1) {
  const TestContext context{.model = &model, .seed = seed};
  std::vector<ExplanationRecord> all;
  for (size_t first = 0; first < items.size();) {
    const size_t last = size == 0 ? items.size() : std::min(items.size(), first + size);
    const std::vector<size_t> some(items.begin() + static_cast<std::ptrdiff_t>(first),
                                   items.begin() + static_cast<std::ptrdiff_t>(last));
    const auto batch = model.read(some);
    auto records = test.measure(*batch, context);
    for (size_t i = 0; i < records.size(); ++i) {
      records[i]["item"] = some[i];
      all.push_back(std::move(records[i]));
    }
    first = last;
  }
  return all;
}

inline std::vector<ExplanationRecord> measured(const ExplanationTest& test, ExplainedModel& model) {
  std::vector<size_t> items;
  for (size_t i = 0; i < model.texts().size(); ++i) items.push_back(i);
  return measured(test, model, items);
}

inline std::vector<ExplanationRecord> measured(const std::string& spec, ExplainedModel& model) {
  return measured(*ExplanationTest::Parts::make(spec), model);
}

/// Whether all numbers are finite.
inline bool finite(const ExplanationRecord& record) {
  if (record.is_number_float()) return std::isfinite(record.get<double>());
  if (!record.is_structured()) return true;
  for (const auto& value : record)
    if (!finite(value)) return false;
  return true;
}

/// "undefined_..." of a record without the prefix; empty if it has a figure.
inline std::string undefined_reason(const ExplanationRecord& record) {
  const std::string prefix = "undefined_";
  for (const auto& [key, value] : record.items())
    if (key.starts_with(prefix)) return key.substr(prefix.size());
  return "";
}

}  // namespace heed::testing
