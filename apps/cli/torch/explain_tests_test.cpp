#include "apps/cli/torch/explain_tests.h"

#include <cmath>

#include <gtest/gtest.h>

#include "heed/data/testing.h"
#include "heed/explain/testing_explained.h"

namespace heed::cli {
namespace {

using testing::error_of;
using testing::says;
using Json = nlohmann::ordered_json;

/// Whether two records have the same content; numbers up to what the order of sums changes.
::testing::AssertionResult agree(const Json& a, const Json& b, const std::string& path = "") {
  constexpr double kTolerance = 1e-4;
  const auto differ = [&] { return ::testing::AssertionFailure() << path << ": " << a.dump() << " and " << b.dump(); };
  if (a.is_number() && b.is_number()) {
    const double x = a.get<double>(), y = b.get<double>();
    return std::abs(x - y) <= kTolerance * std::max(1.0, std::abs(x)) ? ::testing::AssertionSuccess() : differ();
  }
  if (a.type() != b.type() || a.size() != b.size()) return differ();
  if (!a.is_structured()) return a == b ? ::testing::AssertionSuccess() : differ();
  for (const auto& [name, value] : a.items()) {
    if (b.is_object() && !b.contains(name)) return differ();
    const auto same = agree(value, b.is_object() ? b[name] : b[std::stoul(name)], path + "/" + name);
    if (!same) return same;
  }
  return ::testing::AssertionSuccess();
}

class ExplainTests : public testing::FolderTest {
 protected:
  /// Measures until `batches_at_once` more batches are there. Returns whether all are.
  bool measure(const ExplanationTest& test, ExplainedModel& model, const ExplanationBatches& batches,
               const std::string& name, size_t batches_at_once = 100) {
    TestProgress progress(
        {.write = [](const std::string&) {}, .columns = [] { return 0; }, .clock = [] { return 0.0; }});
    progress.name(name, 1, 1, model.texts().size());
    RecordFile file(path(name), {{"test", name}}, batches);
    TestContext context{.model = &model, .seed = 5};
    for (const auto& text : model.texts()) {
      context.rationales.emplace_back(text.words.size(), 0.0);
      if (!text.words.empty()) context.rationales.back().front() = 1;
    }
    size_t left = batches_at_once;
    return measure_texts(test, context, batches, file, progress, [&] { return left-- == 0; });
  }
  std::vector<Json> records(const std::string& name, const ExplanationBatches& batches) const {
    return RecordFile(path(name), {{"test", name}}, batches).read();
  }

  const ExplanationBatches whole_{{0, 1, 2, 3, 4}}, parts_{{3}, {4, 0}, {2, 1}};
};

/// Tests that need no other models.
std::vector<ChosenTest> quick_tests() {
  return chosen_tests("fast", {});
}

TEST_F(ExplainTests, RecordsOfATextDoNotDependOnItsBatch) {
  const auto model = testing::faithful_model(), padded = testing::faithful_model({.padding = 3});
  for (const auto& [spec, test] : quick_tests()) {
    if (!test->why_not(model->facts(), true).empty()) continue;
    ASSERT_TRUE(measure(*test, *model, whole_, spec.name)) << spec.name;
    ASSERT_TRUE(measure(*test, *padded, parts_, spec.name + ".parts")) << spec.name;
    const auto one = records(spec.name, whole_), several = records(spec.name + ".parts", parts_);
    ASSERT_EQ(one.size(), several.size());
    for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(agree(one[i], several[i])) << spec.name << " text " << i;
  }
}

TEST_F(ExplainTests, AreTheSameBytesWhereTheyAreStopped) {
  for (const auto& [spec, test] : quick_tests()) {
    const auto model = testing::redundant_model();
    if (!test->why_not(model->facts(), true).empty()) continue;
    const ExplanationBatches batches{{1}, {0}};
    ASSERT_TRUE(measure(*test, *model, batches, spec.name)) << spec.name;
    EXPECT_FALSE(measure(*test, *model, batches, spec.name + ".stopped", 1)) << spec.name;
    EXPECT_TRUE(measure(*test, *model, batches, spec.name + ".stopped")) << spec.name;
    const std::string whole = read_file(path(spec.name)), stopped = read_file(path(spec.name + ".stopped"));
    EXPECT_EQ(whole.substr(whole.find('\n')), stopped.substr(stopped.find('\n'))) << spec.name;
  }
}

TEST_F(ExplainTests, OfDegenerateTextsHaveNoNaN) {
  const auto model = testing::degenerate_model();
  const ExplanationBatches batches{{0, 1, 2, 3, 4, 5, 6}};
  for (const auto& [spec, test] : quick_tests()) {
    if (!test->why_not(model->facts(), true).empty()) continue;
    ASSERT_TRUE(measure(*test, *model, batches, spec.name)) << spec.name;
    for (const auto& record : records(spec.name, batches))
      EXPECT_FALSE(record.contains("undefined_not_finite")) << spec.name << record.dump();
  }
}

TEST(ChosenTests, AreAllOrThoseThatAreNamed) {
  const auto all = explanation_tests();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(chosen_tests("all", {}).size(), all.size());
  EXPECT_LT(chosen_tests("fast", {}).size(), all.size());
  const auto two = chosen_tests("permutation(samples=20), erasure", {});
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].spec.to_string(), "permutation(samples=20)");
  EXPECT_EQ(two[1].spec.name, "erasure");
}

TEST(ChosenTests, ThatAreUnknownAreRefused) {
  const auto refusal = [](const std::string& names) { return error_of([&] { chosen_tests(names, {}); }); };
  EXPECT_TRUE(says(refusal("permutatoin"), {"'permutatoin' (did you mean 'permutation'?)", "known: "}));
  EXPECT_TRUE(says(refusal("permutation(smaples=3)"), {"smaples", "samples"}));
  EXPECT_TRUE(says(refusal("erasure,,permutation"), {"expected all, fast, or names separated by commas"}));
  EXPECT_TRUE(says(refusal("erasure,erasure"), {"erasure twice"}));
}

TEST(ChosenTests, MD5OfTextsIsOfWhatIsRead) {
  const auto a = testing::faithful_model(), b = testing::faithful_model(),
             c = testing::faithful_model({.gold = {0, 0, 1, 0, 1}});
  EXPECT_EQ(md5_of_texts(*a), md5_of_texts(*b));
  EXPECT_NE(md5_of_texts(*a), md5_of_texts(*c));
  EXPECT_NE(md5_of_texts(*a), md5_of_texts(*testing::redundant_model()));
}

}  // namespace
}  // namespace heed::cli
