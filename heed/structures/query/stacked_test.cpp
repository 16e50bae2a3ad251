#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

// One hop: the query (1, .5) and the golden context of the additive score over F2, (.72608300, -.32175100).
TEST(Stacked, AddsWhatItFoundToTheQuery) {
  auto made = in_double("stacked(hops=1)", {.features = {2}});
  set_additive(*made, "attend_1");
  const auto out = made->forward({.features = {one_row(kF2, 2)}, .query = golden_query()});
  EXPECT_TRUE(is_golden(out.context, {1.72608300, .17824900}));
}

TEST(Stacked, AsksAgainWithTheSum) {
  auto one = in_double("stacked(hops=1)", {.features = {2}});
  auto two = in_double("stacked(hops=2, tied)", {.features = {2}});
  set_additive(*one, "attend_1");
  set_additive(*two, "attend");
  const std::vector<Features> features{one_row(kF1, 2)};
  const auto once = one->forward({.features = features, .query = golden_query()}).context;
  const auto twice = one->forward({.features = features, .query = once}).context;
  EXPECT_TRUE(close(two->forward({.features = features, .query = golden_query()}).context, twice, 1e-12));
}

TEST(Stacked, HasParametersForEachHopUnlessTied) {
  const auto count = [](const std::string& spec) {
    return structure(spec, {.features = {4}})->named_parameters().size();
  };
  EXPECT_EQ(count("stacked(3)"), 3 * count("stacked(3, tied)"));
}

TEST(Stacked, LeavesTheQueryAsItIsWhereNothingIsReal) {
  auto features = one_row(kF1, 2);
  features.keep = at::zeros({1, 3}, at::kBool);
  const auto made = in_double("stacked", {.features = {2}});
  EXPECT_TRUE(made->forward({.features = {features}, .query = golden_query()}).context.equal(golden_query()));
}

TEST(Stacked, RefusesAQueryOfAnotherWidth) {
  EXPECT_THROW(structure("stacked", {.features = {4}, .query_dim = 3}), Error);
  EXPECT_THROW(structure("stacked(hops=0)", {.features = {4}}), Error);
}

}  // namespace
}  // namespace heed::testing
