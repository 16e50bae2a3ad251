// Self-attention over a feature map.

#include "heed/structures/testing_plain.h"

namespace heed::testing {
namespace {

TEST(FeatureMap, IsItsFormula) {
  for (const int64_t reduce : {1, 2, 4}) {
    const auto made = stirred("feature_map(reduce=" + std::to_string(reduce) + ")", {.features = {8}});
    const Plain p{*made};
    EXPECT_EQ(p["attend.heads.query"].sizes(), (std::vector<int64_t>{8 / reduce, 8}));
    const Features map = random_features(6, 8);
    const auto x = map.rows[0];
    const auto by = [&](const std::string& name) { return p.linear(x, "attend.heads." + name, ""); };
    const auto o = plain_read(by("query").matmul(by("keys").t()), by("values")).matmul(p["attend.heads.out"].t());
    EXPECT_TRUE(close(made->forward({.features = {map}}).context[0], p["gamma"] * o + x)) << reduce;
  }
}

TEST(FeatureMap, BeginsWithTheFeaturesThemselves) {
  const auto made = in_double("feature_map", {.features = {16}});
  const Features map = random_features(5, 16);
  const auto out = made->forward({.features = {map}}).context;
  EXPECT_TRUE(same_bits(out, map.rows));
  const auto p = made->named_parameters();
  const auto grads = gradients((out * waves(out)).sum(), {p["gamma"], p["attend.heads.out"]});
  EXPECT_GT(largest(grads[0]), 1e-3);  // gamma moves first
  EXPECT_EQ(largest(grads[1]), 0);
}

TEST(FeatureMap, ReducesToAnEighthUnlessTold) {
  EXPECT_EQ(structure("feature_map", {.features = {32}})->named_parameters()["attend.heads.keys"].size(0), 4);
  EXPECT_EQ(structure("feature_map", {.features = {8}})->named_parameters()["attend.heads.keys"].size(0), 2);
}

TEST(FeatureMap, KeepsToTheMaskOfTheCall) {
  const auto made = stirred("feature_map(reduce=2)", {.features = {4}});
  const Plain p{*made};
  StructureInput given{.features = {random_features(3, 4)}};
  given.call.mask.causal = Causal::top_left;
  const auto first = given.features[0].rows[0][0];  // attends only to itself
  const auto seen = first.matmul(p["attend.heads.values"].t()).matmul(p["attend.heads.out"].t());
  EXPECT_TRUE(close(made->forward(given).context[0][0], first + p["gamma"] * seen));
}

TEST(FeatureMap, GivesNothingAtPadding) {
  const auto made = stirred("feature_map(reduce=2)", {.features = {4}});
  Features map = random_features(3, 4);
  map.keep = at::tensor({1, 0, 1}).to(at::kBool).view({1, 3});
  const auto out = made->forward({.features = {map}});
  EXPECT_EQ(largest(out.context[0][1]), 0);
  EXPECT_TRUE(same_bits(out.keep, map.keep));
  const auto two = at::stack({map.rows[0][0], map.rows[0][2]}).unsqueeze(0);
  EXPECT_TRUE(close(out.context[0][2], made->forward({.features = {{two}}}).context[0][1]));
}

TEST(FeatureMap, RefusesToReduceByNothing) {
  EXPECT_THROW(structure("feature_map(reduce=0)", {.features = {8}}), Error);
  EXPECT_THROW(structure("feature_map(scale=2)", {.features = {8}}), Error);
}

}  // namespace
}  // namespace heed::testing
