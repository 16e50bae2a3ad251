#include "apps/cli/explain/verdict.h"

#include <sstream>

#include "apps/cli/explain/testing_explanation.h"
#include <nlohmann/json.hpp>

#include "heed/data/saved_model.h"
#include "heed/data/testing.h"

namespace heed::cli {
namespace {

class VerdictNextToMaps : public heed::testing::FolderTest {
 protected:
  std::string verdict() {
    std::ostringstream err;
    const std::string found = verdict_on(folder_, "attend", err);
    said_ = err.str();
    return found;
  }

  std::string said_;
};

TEST_F(VerdictNextToMaps, IsNothingWithoutTests) {
  EXPECT_EQ(verdict(), "");
  EXPECT_EQ(said_, "");
  Explanation found = made_up_explanation(folder_);
  found.results.erase(found.results.begin(), found.results.end() - 1);
  write(kExplanationFile, as_json(found).dump());
  EXPECT_EQ(verdict(), "");  // no test was run
  EXPECT_EQ(said_, "");
}

TEST_F(VerdictNextToMaps, IsThatOfTheRunFolder) {
  const Explanation found = made_up_explanation(folder_);
  write(kExplanationFile, as_json(found).dump());
  EXPECT_EQ(verdict(), short_verdict(found));
  EXPECT_EQ(said_, "");
}

TEST_F(VerdictNextToMaps, OfOtherWeightsIsALine) {
  write("model.safetensors", "weights");
  Explanation found = made_up_explanation(folder_);
  found.facts.emplace_back(kExplanationModelFact, file_md5(path("model.safetensors")));
  write(kExplanationFile, as_json(found).dump());
  EXPECT_EQ(verdict(), short_verdict(found));
  write("model.safetensors", "weights that were trained again");
  EXPECT_EQ(verdict(), "");
  EXPECT_TRUE(
      heed::testing::says(said_, {"attend: ", "explain.json: got tests of other weights", "run heed explain again"}));
}

TEST_F(VerdictNextToMaps, OfADamagedFileIsALine) {
  write(kExplanationFile, "{\"format\": 7}");
  EXPECT_EQ(verdict(), "");
  EXPECT_TRUE(
      heed::testing::says(said_, {"attend: ", "/explain.json: format: got 7, expected 1", "run heed explain again"}));
}

}  // namespace
}  // namespace heed::cli
