// The tests of a call of heed explain, and how one of them measures texts.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/explain/progress.h"
#include "apps/cli/torch/explain_records.h"

#include "heed/explain/test.h"

namespace heed::cli {

struct ChosenTest {
  PartSpec spec;
  std::shared_ptr<const ExplanationTest> test;
};

/// All names of the catalogue in its order.
std::vector<std::string> explanation_tests();
/// "all"; "fast": those that train no models; or specs, separated by commas. Throws Error for others, and for a test
/// that is named twice.
std::vector<ChosenTest> chosen_tests(const std::string& names, const VariantOptions& options);

/// The cost of each text of a model, and its batches.
std::vector<int64_t> costs_of(const ExplainedModel& model);
ExplanationBatches batches_of(const ExplainedModel& model, bool gpu);

/// The md5 of all that tests read of the texts.
std::string md5_of_texts(const ExplainedModel& model);

/// Appends the records of the batches that are missing, until stop() says so. Returns whether all are there.
bool measure_texts(const ExplanationTest& test, const TestContext& context, const ExplanationBatches& batches,
                   RecordFile& file, TestProgress& progress, const std::function<bool()>& stop);

}  // namespace heed::cli
