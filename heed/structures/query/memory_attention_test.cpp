#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

/// Features 1 and -2, one number each; W_u = .5, W_m = 2, w = 3.
std::shared_ptr<Structure> small(const std::string& spec) {
  auto made = in_double(spec, {.features = {1}});
  set(*made, "from_features", {.5});
  set(*made, "from_memory", {2});
  set(*made, "to_scores", {3});
  return made;
}
double found_by(double memory) {
  const double m = std::tanh(2 * memory), e = 3 * std::tanh(.5) * m, f = 3 * std::tanh(-1.) * m;
  return (std::exp(e) - 2 * std::exp(f)) / (std::exp(e) + std::exp(f));
}

TEST(MemoryAttention, ScoresByTheProductOfTwoHiddenLayers) {
  const auto out = small("memory_attention(hops=1)")
                       ->forward({.features = {one_row({1, -2}, 1)}, .query = numbers({.4}, {1, 1, 1})});
  EXPECT_NEAR(out.context.item<double>(), found_by(.4), 1e-12);
}

// The authors' code adds the context of the previous hop, so that the query of its second hop would be .4 alone.
TEST(MemoryAttention, AsksWithAMemoryOfWhatItFound) {
  const auto out = small("memory_attention(hops=2)")
                       ->forward({.features = {one_row({1, -2}, 1)}, .query = numbers({.4}, {1, 1, 1})});
  const double first = found_by(.4), second = found_by(.4 + first);
  EXPECT_NEAR(out.context.item<double>(), second, 1e-12);
  EXPECT_NEAR(out.also.at("memory").item<double>(), .4 + first + second, 1e-12);
}

TEST(MemoryAttention, StartsFromTheMeanIfTold) {
  const auto out = small("memory_attention(1, start=mean)")->forward({.features = {one_row({1, -2}, 1)}});
  EXPECT_NEAR(out.context.item<double>(), found_by(-.5), 1e-12);
}

TEST(MemoryAttention, SharesItsWeightsUnlessTold) {
  const auto count = [](const std::string& spec) {
    return structure(spec, {.features = {4}})->named_parameters().size();
  };
  EXPECT_EQ(count("memory_attention(hops=3)"), 3);
  EXPECT_EQ(count("memory_attention(hops=3, tied=false)"), 9);
}

TEST(MemoryAttention, RemembersOnlyTheQueryWhereNothingIsReal) {
  auto features = one_row({NAN, NAN}, 1);
  features.keep = at::zeros({1, 2}, at::kBool);
  const auto out = small("memory_attention")->forward({.features = {features}, .query = numbers({.4}, {1, 1, 1})});
  EXPECT_EQ(out.context.item<double>(), 0);
  EXPECT_EQ(out.also.at("memory").item<double>(), .4);
}

TEST(MemoryAttention, RefusesAQueryOfAnotherWidth) {
  EXPECT_THROW(structure("memory_attention", {.features = {4}, .query_dim = 3}), Error);
  EXPECT_THROW(structure("memory_attention(start=mean)", {.features = {4}, .query_dim = 3}), Error);  // it takes none
  EXPECT_NO_THROW(structure("memory_attention(start=mean)", {.features = {4}}));
}

}  // namespace
}  // namespace heed::testing
