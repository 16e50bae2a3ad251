#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

/// tanh(W q + c / 2), and the additive score with [W1 | W1]. The golden values have separate keys and values, the
/// structure has not: features of width 4 concatenate key and value, and each matrix reads its half.
std::shared_ptr<Structure> golden(int64_t hops, bool tied) {
  auto made = in_double("multi_hop(hops=" + std::to_string(hops) + ", tied=" + (tied ? "true)" : "false)"),
                        {.features = {4}, .query_dim = 2, .hidden_dim = 2});
  for (int64_t hop = 1; hop <= (tied ? 1 : hops); ++hop) {
    const auto suffix = tied ? "" : "_" + std::to_string(hop);
    set(*made, "from_query" + suffix, kGeneral);
    set(*made, "from_context" + suffix, {0, 0, .5, 0, 0, 0, 0, .5});
    set(*made, "attend" + suffix + ".score.from_query", {.5, -.2, 0, 0, .5, -.2, .1, .3, 0, 0, .1, .3});
    set(*made, "attend" + suffix + ".score.from_keys", {.4, .1, 0, 0, -.3, .6, 0, 0});
    set(*made, "attend" + suffix + ".score.bias", kB);
    set(*made, "attend" + suffix + ".score.to_scores", kW);
  }
  return made;
}

StructureInput keys_and_values() {
  return {.features = {one_row({1, 0, 1, 2, 0, 1, 3, -1, 1, 1, 0, 4}, 4)}, .query = golden_query()};
}
Tensor value_half(const StructureOutput& out) {
  return out.context.narrow(-1, 2, 2);
}

TEST(MultiHop, HasTheGoldenNumbers) {
  for (const bool tied : {true, false}) {
    SCOPED_TRACE(tied);
    StructureInput given = keys_and_values();
    given.call = with_scores();
    const auto one = golden(1, tied)->forward(given), two = golden(2, tied)->forward(given);
    EXPECT_TRUE(is_golden(one.also.at("query"), {.83866815, .85737050}));
    EXPECT_TRUE(is_golden(scores_of(two.steps[0].second), {.28277475, -.01355141, .15515850}));
    EXPECT_TRUE(is_golden(two.steps[0].second.context.narrow(-1, 2, 2), {1.23131088, 1.82076990}));
    EXPECT_TRUE(is_golden(two.also.at("query"), {.77515636, .90637021}));
    EXPECT_TRUE(is_golden(scores_of(two.steps[1].second), {.22891208, -.07443678, .11574875}));
    EXPECT_TRUE(is_golden(value_half(two), {1.22181731, 1.83695995}));
  }
}

// The scores e^(0) give c^(1). Were they to give c^(0), one hop would end with the mean, (4/3, 5/3).
TEST(MultiHop, EndsOneHopWithTheFirstContextNotWithTheMean) {
  const auto out = golden(1, false)->forward(keys_and_values());
  EXPECT_TRUE(is_golden(value_half(out), {1.23131088, 1.82076990}));
  EXPECT_TRUE(is_golden(out.also.at("query"), {.83866815, .85737050}));
  EXPECT_EQ(out.steps.size(), 1);
}

TEST(MultiHop, SharesParametersWhereHopsAreTied) {
  const auto count = [](const std::string& spec) {
    return structure(spec, {.features = {4}})->named_parameters().size();
  };
  EXPECT_EQ(count("multi_hop(hops=5, tied)"), count("multi_hop(hops=1)"));
  EXPECT_EQ(count("multi_hop(hops=5)"), 5 * count("multi_hop(hops=1)"));
}

// If the question has a single feature, that feature is the next query.
TEST(MultiHop, TakesItsNextQueryFromTheQuestion) {
  for (const std::string asks : {"query", "context", "both"}) {
    at::manual_seed(3);
    const auto made = in_double("multi_hop(attention, asks=" + asks + ")", {.features = {2}});
    const auto out = made->forward({.features = {one_row(kF1, 2), one_row({.3, -.7}, 2)}, .query = golden_query()});
    EXPECT_TRUE(close(out.also.at("query"), numbers({.3, -.7}, {1, 1, 2}), 1e-12)) << asks;
    EXPECT_EQ(out.steps.size(), 4) << asks;
  }
}

TEST(MultiHop, AsksTheQuestionWithWhatItIsToldTo) {
  const auto next_query = [](const std::string& asks, const Tensor& query, double shift) {
    at::manual_seed(3);
    const auto made = in_double("multi_hop(1, attention, asks=" + asks + ")", {.features = {2}});
    const auto features = one_row(kF1, 2);
    return made->forward({.features = {features.with_rows(features.rows + shift), one_row(kF2, 2)}, .query = query})
        .also.at("query");
  };
  const auto one = golden_query(), other = numbers({-2, 3}, {1, 1, 2});
  EXPECT_FALSE(close(next_query("query", one, 0), next_query("query", other, 0), 1e-3));
  EXPECT_TRUE(close(next_query("query", one, 0), next_query("query", one, 5), 1e-12));
  EXPECT_TRUE(close(next_query("context", one, 0), next_query("context", other, 0), 1e-12));
  EXPECT_FALSE(close(next_query("context", one, 0), next_query("context", one, 5), 1e-3));
  EXPECT_FALSE(close(next_query("both", one, 0), next_query("both", other, 0), 1e-3));
  EXPECT_FALSE(close(next_query("both", one, 0), next_query("both", one, 5), 1e-3));
}

TEST(MultiHop, JoinsQueryAndContextForScoresThatCompareFeatureByFeature) {
  const auto dot = structure("multi_hop", {.features = {4}, .query_dim = 3, .mechanism = "dot + softmax"});
  EXPECT_EQ(dot->named_parameters()["attend_1_join"].sizes(), (std::vector<int64_t>{4, 7}));
  const auto additive = structure("multi_hop", {.features = {4}, .query_dim = 3});
  EXPECT_FALSE(additive->named_parameters().contains("attend_1_join"));
  const auto heads =
      structure("multi_hop", {.features = {4}, .query_dim = 3, .num_heads = 2, .mechanism = "dot + softmax"});
  EXPECT_FALSE(heads->named_parameters().contains("attend_1_join"));
}

TEST(MultiHop, FindsNothingWhereNothingIsReal) {
  auto given = keys_and_values();
  given.features[0].keep = at::zeros({1, 3}, at::kBool);
  EXPECT_EQ(largest(golden(2, false)->forward(given).context), 0);
}

TEST(MultiHop, RefusesWhatHasNoMeaning) {
  EXPECT_THROW(structure("multi_hop(hops=0)", {.features = {2}}), Error);
  EXPECT_THROW(structure("multi_hop(asks=context)", {.features = {2}}), Error);
  EXPECT_THROW(structure("multi_hop(attention)", {.features = {2}, .query_dim = 3}), Error);
}

}  // namespace
}  // namespace heed::testing
