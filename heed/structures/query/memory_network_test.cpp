#include "heed/structures/query/memory_network.h"

#include <cstdio>

#include "heed/structures/testing_fixture.h"
#include "heed/torch_support/safetensors.h"

namespace heed::testing {
namespace {

/// x_l is the l-th unit vector, so that the columns of A are the golden keys and those of C the golden values.
std::shared_ptr<Structure> golden(int64_t hops, const std::string& mechanism = "") {
  auto made = in_double("memory_network(hops=" + std::to_string(hops) + ", tying=layerwise)",
                        {.features = {3}, .query_dim = 2, .hidden_dim = 2, .mechanism = mechanism});
  set(*made, "embed_query", kIdentity);
  set(*made, "embed_keys", {1, 0, 1, 0, 1, 1});
  set(*made, "embed_values", {1, 3, 0, 2, -1, 4});
  set(*made, "carry", kIdentity);
  return made;
}
StructureInput units() {
  return {.features = {one_row({1, 0, 0, 0, 1, 0, 0, 0, 1}, 3)}, .query = golden_query()};
}

TEST(MemoryNetwork, HasTheGoldenNumbers) {
  EXPECT_TRUE(is_golden(golden(1)->forward(units()).context, {1.86616706, 2.95398961}));
  EXPECT_TRUE(is_golden(golden(2)->forward(units()).context, {2.29395782, 6.22660624}));
  StructureInput given = units();
  given.call.outputs.weights = true;
  const auto out = golden(3)->forward(given);
  EXPECT_TRUE(is_golden(out.context, {2.57013098, 9.76572036}));
  EXPECT_TRUE(is_golden(out.step("hop").weights, {.30719589, .18632372, .50648039}));
  EXPECT_TRUE(is_golden(out.step("hop").context, {.86616706, 2.45398961}));
  EXPECT_TRUE(is_golden(out.step("hop.2").weights, {.04319629, .12819816, .82860555}));
  EXPECT_TRUE(is_golden(out.step("hop.2").context, {.42779076, 3.27261663}));
  EXPECT_TRUE(is_golden(out.step("hop.3").weights, {.00179187, .09146043, .90674770}));
  EXPECT_TRUE(is_golden(out.step("hop.3").context, {.27617316, 3.53911411}));
}

TEST(MemoryNetwork, CarriesTheStateThroughAMatrix) {
  auto made = golden(1);
  set(*made, "carry", {2, 0, 1, -1});  // H (1, .5) = (2, .5)
  EXPECT_TRUE(is_golden(made->forward(units()).context, {2 + .86616706, .5 + 2.45398961}));
}

TEST(MemoryNetwork, RectifiesTheSecondHalfOfTheState) {
  auto made = in_double("memory_network(1, layerwise, relu)", {.features = {2}});
  set(*made, "embed_query", {-1, 0, 0, -1});
  set(*made, "embed_keys", kIdentity);
  set(*made, "embed_values", {0, 0, 0, 0});
  set(*made, "carry", kIdentity);
  EXPECT_TRUE(is_golden(made->forward({.features = {one_row(kF1, 2)}, .query = golden_query()}).context, {-1, 0}));
}

TEST(MemoryNetwork, ReadsKeysAsTheHopBeforeReadValues) {
  at::manual_seed(2);
  const auto made = in_double("memory_network(hops=2)", {.features = {3}});
  const auto p = made->named_parameters();
  EXPECT_EQ(p.size(), 3);  // A^1 = B, C^1 = A^2, C^2
  const auto x = at::randn({2, 4, 3}, kDouble), q = at::randn({2, 1, 3}, kDouble);
  const auto of = [&](const Tensor& t, const std::string& k) { return at::linear(t, p["embed_" + k]); };
  const auto dot = Mechanism::parse("dot + softmax");
  auto u = of(q, "1");
  u = u + attend(u, of(x, "1"), of(x, "2"), dot).context;
  u = u + attend(u, of(x, "2"), of(x, "3"), dot).context;
  const auto out = made->forward({.features = {{x, {}}}, .query = q});
  EXPECT_TRUE(close(out.context, u, 1e-12));
  EXPECT_TRUE(close(out.also.at("answer"), at::matmul(u, p["embed_3"]), 1e-12));  // W^T = C^K
}

TEST(MemoryNetwork, PassesTheQueryOnWhereNothingIsReal) {
  auto given = units();
  given.features[0].keep = at::zeros({1, 3}, at::kBool);
  EXPECT_TRUE(golden(3)->forward(given).context.equal(golden_query()));
}

// Scores (1, .5, 1.5) as weights: (1, 2) + .5 (3, -1) + 1.5 (0, 4) = (2.5, 7.5).
TEST(MemoryNetwork, StartsWithScoresAsWeights) {
  auto made = golden(1);
  set_linear(*made, true);
  EXPECT_TRUE(is_golden(made->forward(units()).context, {1 + 2.5, .5 + 7.5}));
  EXPECT_TRUE(close(made->forward(units()).context, golden(1, "identity")->forward(units()).context, 1e-12));
  set_linear(*made, false);
  EXPECT_TRUE(is_golden(made->forward(units()).context, {1.86616706, 2.95398961}));
}

TEST(MemoryNetwork, MasksInItsLinearStartToo) {
  auto made = golden(1);
  set_linear(*made, true);
  auto given = units();
  given.features[0].keep = at::tensor({1, 0, 1}).view({1, 3}).to(at::kBool);
  given.features[0].rows[0][1].fill_(NAN);
  EXPECT_TRUE(is_golden(made->forward(given).context, {1 + 1, .5 + 8}));
}

TEST(MemoryNetwork, KeepsTheLinearStartInCopiesAndFiles) {
  const StructureOptions options{.features = {3}};
  EXPECT_TRUE(is_linear(*structure("memory_network(linear_start)", options)));
  const auto made = structure("memory_network", options);
  EXPECT_FALSE(is_linear(*made));
  set_linear(*made, true);
  EXPECT_TRUE(is_linear(*std::dynamic_pointer_cast<Structure>(made->clone())));

  const std::string path = ::testing::TempDir() + "heed_memory_network_" + std::to_string(::getpid());
  save_parameters(*made, path);
  const auto other = structure("memory_network", options);
  load_parameters(*other, path);
  std::remove(path.c_str());
  EXPECT_TRUE(is_linear(*other));
}

TEST(MemoryNetwork, RefusesWhatHasNoMeaning) {
  EXPECT_THROW(structure("memory_network(relu)", {.features = {2}}), Error);
  EXPECT_THROW(structure("memory_network(adjacent)", {.features = {2}, .query_dim = 3}), Error);
  EXPECT_THROW(structure("memory_network(hops=0)", {.features = {2}}), Error);
  EXPECT_THROW(set_linear(*structure("singular", {.features = {2}}), true), Error);
}

TEST(PositionWeights, AreThoseOfThePaper) {
  EXPECT_TRUE(is_golden(position_weights(3, 2).t(), {.5, .33333333, .5, .66666667, .5, 1}));
}

// width 3, 2 words: 1 + 4 (k - 2) (j - 1.5) / 6 = 1 + (k - 2) (2 j - 3) / 3.
TEST(PositionWeights, AreThoseOfTheCodeIfTold) {
  const auto code = position_weights(3, 2, PositionWeights::code);
  EXPECT_TRUE(close(code, numbers({4. / 3, 1, 2. / 3, 2. / 3, 1, 4. / 3}, {2, 3}), 1e-12));
}

}  // namespace
}  // namespace heed::testing
