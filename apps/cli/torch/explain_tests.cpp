#include "apps/cli/torch/explain_tests.h"

#include <algorithm>
#include <tuple>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/md5.h"

namespace heed::cli {
namespace {

// Tests try many variations of a text at once, and tests of documents have many tokens.
constexpr int64_t kBatchCost = 2048, kBatchCostOfGpu = 32768;
constexpr size_t kBatchTexts = 64, kBatchTextsOfGpu = 512;

constexpr const char *kAll = "all", *kFast = "fast";

/// The specs of a list: commas inside brackets separate nothing.
std::vector<std::string> specs_in(const std::string& text) {
  std::vector<std::string> specs{""};
  int open = 0;
  for (const char letter : text) {
    open += letter == '(' ? 1 : letter == ')' ? -1 : 0;
    if (letter == ',' && open == 0)
      specs.emplace_back();
    else if (letter != ' ' || open > 0)
      specs.back() += letter;
  }
  return specs;
}

ChosenTest chosen(const std::string& text) {
  PartSpec spec = parse_part(text, ExplanationTest::kKind);
  auto test = ExplanationTest::Parts::make(spec);
  return {std::move(spec), std::move(test)};
}

std::string line_of(const ExplainedText& text) {
  std::string line = text.id;
  for (const auto* list : {&text.tokens, &text.words, &text.targets}) line += "\x1e" + joined(*list, "\x1f");
  for (const int64_t word : text.word) line += " " + std::to_string(word);
  line += "\x1e";
  for (const int64_t label : text.gold) line += " " + std::to_string(label);
  return line;
}

}  // namespace

std::vector<std::string> explanation_tests() {
  std::vector<std::string> names = ExplanationTest::Parts::names();
  std::stable_sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    const auto order = [](const std::string& name) {
      const int given = ExplanationTest::Parts::describe(name).order;
      return given > 0 ? given : 1'000'000;
    };
    return std::tuple(order(a), a) < std::tuple(order(b), b);
  });
  return names;
}

std::vector<ChosenTest> chosen_tests(const std::string& names, const VariantOptions& options) {
  std::vector<ChosenTest> tests;
  if (names == kAll || names == kFast) {
    for (const auto& name : explanation_tests()) {
      ChosenTest one = chosen(name);
      if (names == kAll || one.test->variants(options).empty()) tests.push_back(std::move(one));
    }
    return tests;
  }
  for (const auto& spec : specs_in(names)) {
    check(!spec.empty(), "explain: got --tests '", excerpt(names),
          "', expected all, fast, or names separated by commas");
    tests.push_back(chosen(spec));
    for (size_t i = 0; i + 1 < tests.size(); ++i)
      check(tests[i].spec.name != tests.back().spec.name, "explain: got --tests '", excerpt(names), "' with ",
            tests.back().spec.name, " twice, expected each once");
  }
  return tests;
}

std::vector<int64_t> costs_of(const ExplainedModel& model) {
  std::vector<int64_t> costs(model.texts().size());
  for (size_t i = 0; i < costs.size(); ++i) costs[i] = std::max<int64_t>(model.cost(i), 1);
  return costs;
}

ExplanationBatches batches_of(const ExplainedModel& model, bool gpu) {
  return batches_by_cost(costs_of(model), gpu ? kBatchCostOfGpu : kBatchCost, gpu ? kBatchTextsOfGpu : kBatchTexts);
}

std::string md5_of_texts(const ExplainedModel& model) {
  std::vector<std::string> lines;
  for (const auto& text : model.texts()) lines.push_back(line_of(text));
  return md5_of_lines(lines);
}

bool measure_texts(const ExplanationTest& test, const TestContext& context, const ExplanationBatches& batches,
                   RecordFile& file, TestProgress& progress, const std::function<bool()>& stop) {
  const auto costs = costs_of(*context.model);
  double all = 0, done = 0;
  for (const int64_t cost : costs) all += static_cast<double>(cost);
  size_t texts = 0;
  const auto count = [&](const std::vector<size_t>& batch) {
    for (const size_t item : batch) done += static_cast<double>(costs[item]);
    texts += batch.size();
  };
  for (size_t b = 0; b < file.batches(); ++b) count(batches[b]);
  progress.begin(texts, done / all);
  while (file.batches() < batches.size()) {
    if (stop()) return false;
    const auto& items = batches[file.batches()];
    const auto batch = context.model->read(items);
    file.append(test.measure(*batch, context));
    count(items);
    progress.update(texts, done / all);
  }
  return true;
}

}  // namespace heed::cli
