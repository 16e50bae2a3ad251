#include "heed/data/explanation.h"

#include <cmath>
#include <functional>
#include <limits>

#include <nlohmann/json.hpp>

#include "heed/data/testing.h"

namespace heed::testing {
namespace {

using Json = nlohmann::ordered_json;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

ExplanationResult permuted() {
  ExplanationResult result;
  result.test = "permutation";
  result.title = "Permuted weights";
  result.paper = "Jain & Wallace, 2019";
  result.means = "The median change of the output.";
  result.means_not = "Not how large the weights are.";
  result.verdict = ExplanationVerdict::speaks_against;
  result.finding = "The output changes by 0.01.";
  result.counts = {{"texts", 872}, {"one token", 3}};
  result.tables.push_back({.title = "By class", .note = "n", .columns = {"class", "TVD", "kind"}});
  result.tables[0].rows.push_back({"negative", {{.value = 0.1 + 0.2, .low = 0.25, .high = 0.375}, {.text = "flat"}}});
  result.tables[0].rows.push_back({"positive", {{}, {.value = -1}}});
  result.plots = {{ExplanationPlot::Kind::violin, "v", "bin", "TVD", {{"0 to 0.25", {{0, 0.5}, {0, 0.75}}}, {"e", {}}}},
                  {ExplanationPlot::Kind::scatter, "s", "x", "y", {{"all", {{0.5, 1e-300}, {-2, 3}}}}},
                  {ExplanationPlot::Kind::curve, "c", "x", "y", {}}};
  result.examples = {{"1", "best", {"<b>", "坏", ""}, {{"attention", {0.25, 0.75, 0}}, {"gradients", {1, 0, 0}}}}};
  result.notes = {"A note."};
  return result;
}

Explanation complete() {
  Explanation all{"runs/a", "classify", "additive + softmax", "dev", 872, {{"command", "heed explain"}, {"seed", "1"}}};
  all.results.push_back(permuted());
  all.results.push_back({.test = "plausibility", .title = "People", .not_run = "no rationales"});
  return all;
}

/// A result that has nothing but a verdict.
ExplanationResult verdict_of(const std::string& test, ExplanationVerdict verdict) {
  return {.test = test, .verdict = verdict};
}

/// The message about the JSON of complete() after a change.
std::string refusal(const std::function<void(Json&)>& change) {
  Json json = as_json(complete());
  change(json);
  return error_of([&] { parse_explanation(json, "runs/a/explain.json"); });
}

TEST(ExplanationJson, IsReadAsItWasWritten) {
  const Json json = Json::parse(as_json(complete()).dump());
  const Explanation read = parse_explanation(json, "f");
  EXPECT_EQ(as_json(read), json);
  const auto& result = read.results.at(0);
  EXPECT_EQ(read.facts, complete().facts);
  EXPECT_EQ(read.texts, 872);
  EXPECT_EQ(result.verdict, ExplanationVerdict::speaks_against);
  EXPECT_EQ(result.counts, permuted().counts);
  EXPECT_EQ(result.tables[0].columns, permuted().tables[0].columns);
  EXPECT_EQ(result.tables[0].rows[0].cells[0].value, 0.1 + 0.2);
  EXPECT_EQ(result.tables[0].rows[0].cells[0].high, 0.375);
  EXPECT_EQ(result.tables[0].rows[0].cells[1].text, "flat");
  EXPECT_FALSE(result.tables[0].rows[1].cells[0].value);
  EXPECT_EQ(result.plots[0].series[0].points, permuted().plots[0].series[0].points);
  EXPECT_EQ(result.plots[1].kind, ExplanationPlot::Kind::scatter);
  EXPECT_EQ(result.plots[1].series[0].points, permuted().plots[1].series[0].points);
  EXPECT_EQ(result.plots[2].kind, ExplanationPlot::Kind::curve);
  EXPECT_EQ(result.examples[0].tokens, permuted().examples[0].tokens);
  EXPECT_EQ(result.examples[0].maps[1].weights, permuted().examples[0].maps[1].weights);
  EXPECT_EQ(read.results.at(1).not_run, "no rationales");
}

TEST(ExplanationJson, HasNoNonFiniteNumber) {
  Explanation all = complete();
  auto& result = all.results[0];
  result.tables[0].rows[0].cells[0] = {.value = kNaN, .low = -kInfinity, .high = kInfinity};
  result.plots[0].series[0].points = {{kNaN, 0.5}, {0, kInfinity}};
  result.plots[1].series[0].points = {{kNaN, 1}, {1, kInfinity}, {1, 2}};
  result.examples[0].maps[0].weights = {kNaN, 1, -kInfinity};
  const Json json = as_json(all), found = json["results"][0];
  EXPECT_EQ(found["tables"][0]["rows"][0]["cells"][0].dump(), "{}");
  EXPECT_EQ(found["plots"][0]["series"][0]["points"].dump(), "[0.5]");
  EXPECT_EQ(found["plots"][1]["series"][0]["points"].dump(), "[[1.0,2.0]]");
  EXPECT_EQ(found["examples"][0]["maps"][0]["weights"].dump(), "[null,1.0,null]");
  const Explanation read = parse_explanation(json, "f");
  EXPECT_FALSE(read.results[0].tables[0].rows[0].cells[0].value);
  EXPECT_TRUE(std::isnan(read.results[0].examples[0].maps[0].weights[0]));
}

TEST(ExplanationJson, HoldsTokensThatAreNotUtf8) {
  Explanation all = complete();
  all.results[0].examples[0].tokens = {"\xff", "ok", "a\xc3"};
  const Json json = Json::parse(as_json(all).dump());
  EXPECT_EQ(json["results"][0]["examples"][0]["tokens"][0], "\uFFFD");
}

TEST(ExplanationJson, NamesThePathOfWhatIsWrong) {
  EXPECT_TRUE(says(refusal([](Json& json) { json["results"][0]["tables"][0]["rows"][0]["cells"][0]["low"] = "0.1"; }),
                   {"runs/a/explain.json: results[0].tables[0].rows[0].cells[0].low: got \"0.1\", expected a number",
                    "run heed explain again"}));
  EXPECT_TRUE(says(refusal([](Json& json) { json["results"][0]["verdict"] = "maybe"; }),
                   {"results[0].verdict: got \"maybe\", expected one of for, against, neither"}));
  EXPECT_TRUE(says(refusal([](Json& json) { json["results"][0]["plots"][1].erase("kind"); }),
                   {"results[0].plots[1]: got no kind, expected an object with kind"}));
  EXPECT_TRUE(says(refusal([](Json& json) { json["results"][0]["examples"][0]["maps"][1]["weights"].erase(2); }),
                   {"examples[0].maps[1].weights: got 2 weights, expected one for each of 3 tokens"}));
  EXPECT_TRUE(says(refusal([](Json& json) { json["results"][0]["tables"][0]["rows"][1]["cells"].erase(0); }),
                   {"tables[0].rows[1].cells: got 1 cells, expected one for each of 3 columns but the first"}));
  EXPECT_TRUE(says(refusal([](Json& json) {
                     json["results"][0]["plots"][1]["series"][0]["points"][1] = {1, 2, 3};
                   }),
                   {"plots[1].series[0].points[1]: got a list, expected a list of x and y"}));
  EXPECT_TRUE(says(refusal([](Json& json) { json["texts"] = -1; }), {"texts: got -1, expected a whole number"}));
  EXPECT_TRUE(
      says(refusal([](Json& json) { json["results"] = Json::object(); }), {"results: got an object, expected a list"}));
  EXPECT_TRUE(
      says(refusal([](Json& json) { json = Json::array(); }), {"explain.json: got a list, expected an object"}));
}

TEST(ExplanationJson, OfAnotherFormatIsRefusedWithTheCure) {
  EXPECT_TRUE(
      says(refusal([](Json& json) { json["format"] = 2; }),
           {"explain.json: format: got 2, expected 1; another version of heed wrote it", "run heed explain again"}));
  EXPECT_TRUE(says(refusal([](Json& json) { json["format"] = "1"; }), {"format: got \"1\", expected 1"}));
  EXPECT_TRUE(says(refusal([](Json& json) { json.erase("format"); }), {"got no format"}));
}

class ExplanationFile : public FolderTest {};

TEST_F(ExplanationFile, IsReadFromARunFolder) {
  EXPECT_FALSE(read_explanation(folder_));
  write(kExplanationFile, as_json(complete()).dump());
  EXPECT_EQ(read_explanation(folder_)->mechanism, "additive + softmax");
  write(kExplanationFile, "{\"format\": 1");
  EXPECT_TRUE(says(error_of([&] { read_explanation(folder_); }), {"/explain.json: got text that is not JSON"}));
  write(kExplanationFile, R"({"format": 1, "run": 1e999})");
  EXPECT_TRUE(says(error_of([&] { read_explanation(folder_); }), {"/explain.json: got text that is not JSON"}));
}

TEST(ShortVerdict, CountsAndNamesTests) {
  using enum ExplanationVerdict;
  Explanation all;
  EXPECT_EQ(short_verdict(all), "No test says whether these weights explain the outputs.");
  all.results = {{.test = "plausibility", .not_run = "no rationales"}};
  EXPECT_EQ(short_verdict(all), "No test says whether these weights explain the outputs.");
  all.results.push_back(verdict_of("gradients", speaks_for));
  EXPECT_EQ(short_verdict(all),
            "Of 1 test, 1 speaks for reading these weights as an explanation (gradients), none speaks against it.");
  all.results.push_back(verdict_of("permutation", speaks_against));
  all.results.push_back(verdict_of("uniform", speaks_against));
  all.results.push_back(verdict_of("seeds", neither));
  EXPECT_EQ(short_verdict(all),
            "Of 4 tests, 1 speaks for reading these weights as an explanation (gradients), 2 speak against it "
            "(permutation, uniform), 1 decides nothing (seeds).");
}

TEST(ExplanationCaution, SaysWhatTheSourcesSay) {
  EXPECT_TRUE(says(explanation_caution(), {"Plausible is not faithful", "architecture matters"}));
}

}  // namespace
}  // namespace heed::testing
