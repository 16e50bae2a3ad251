// The base of structures: features, padding, slots, specs.

#include "heed/structures/testing.h"

namespace heed::testing {
namespace {

TEST(Features, HaveTheMeanOfWhatIsReal) {
  Features f{at::tensor({1., 2., 3., 4., NAN, NAN}, kDouble).view({1, 3, 2}),
             at::tensor({1, 1, 0}).to(at::kBool).view({1, 3})};
  EXPECT_TRUE(close(mean(f), at::tensor({2., 3.}, kDouble).view({1, 1, 2})));
  f.keep.fill_(false);
  EXPECT_TRUE(same_bits(mean(f), at::zeros({1, 1, 2}, kDouble)));
  EXPECT_TRUE(same_bits(mean(Features{at::zeros({2, 0, 3}, kDouble)}), at::zeros({2, 1, 3}, kDouble)));
}

TEST(Features, ArePaddedLevelByLevel) {
  const auto sentence = [](int64_t words) { return Features{at::ones({words, 2})}; };
  const auto document = [&](std::vector<int64_t> lengths) {
    std::vector<Features> all;
    for (const auto n : lengths) all.push_back(sentence(n));
    return padded(all);
  };
  const auto batch = padded({document({3, 1}), document({2, 0, 4})});
  EXPECT_EQ(batch.rows.sizes(), (std::vector<int64_t>{2, 3, 4, 2}));
  EXPECT_EQ(batch.keep.sum({2}).flatten().to(at::kLong).equal(at::tensor({3, 1, 0, 2, 0, 4}, at::kLong)), true);
  EXPECT_EQ(batch.rows.sum().item<double>(), 2 * 10);
  EXPECT_THROW(padded({sentence(1), {at::ones({1, 3})}}), Error);
  EXPECT_THROW(padded({}), Error);
}

TEST(Features, RefuseToBePaddedWithAKeepThatDoesNotFit) {
  const auto rows = at::zeros({3, 2});
  EXPECT_NO_THROW(padded({{rows, at::ones({3}, at::kBool)}, {rows, {}}}));
  EXPECT_THROW(padded({{rows, at::ones({2}, at::kBool)}, {rows, {}}}), Error);
  EXPECT_THROW(padded({{rows, at::ones({3, 1}, at::kBool)}}), Error);
  EXPECT_THROW(padded({{rows, {}}, {rows, at::ones({3})}}), Error);
  EXPECT_THROW(padded({{at::zeros({2}), {}}}), Error);
  EXPECT_THROW(padded({Features{}}), Error);
  EXPECT_THROW(padded({{rows, {}}, {}}), Error);
}

TEST(Structure, DrawsDifferentlyInEachSlot) {
  auto two = structure("specialized(attention)", {.features = {4}, .mechanism = "additive + hard"});
  two->train();
  const Tensor same = at::zeros({64, 9, 4});  // all scores are equal: the draw depends on the noise alone
  const auto out = two->forward(
      {.features = {{same}, {same}}, .call = {.noise = {.seed = 3, .stream = 1}, .outputs = {.weights = true}}});
  EXPECT_FALSE(out.step("ask").weights.equal(out.step("attend").weights));
}

TEST(Structure, NamesTheStepsOfASlotThatIsUsedAgain) {
  StructureOutput out;
  out.add("left", {});
  out.add("left", {});
  out.add("right", {});
  out.add("left", {});
  EXPECT_EQ(out.steps[1].first, "left.2");
  EXPECT_EQ(out.steps[2].first, "right");
  EXPECT_EQ(out.steps[3].first, "left.3");
  EXPECT_THROW(out.step("middle"), Error);
}

TEST(Structure, RefusesSpecsThatDoNotFit) {
  const StructureOptions four{.features = {4}};
  EXPECT_THROW(structure("singulair", four), Error);
  EXPECT_THROW(structure("singular(hops=3)", four), Error);
  EXPECT_THROW(structure("singular", {.features = {4, 4}}), Error);
  EXPECT_THROW(structure("singular", {}), Error);
  EXPECT_THROW(structure("singular", {.features = {0}}), Error);
  EXPECT_THROW(structure("singular", {.features = {4}, .mechanism = "sparsemax"}), Error);
  EXPECT_THROW(structure("singular", {.features = {4}, .query_dim = 3, .mechanism = "dot + softmax"}), Error);
}

TEST(Structure, RunsSlotsWithSeveralHeads) {
  at::manual_seed(2);
  auto two = structure("specialized", {.features = {8}, .num_heads = 2, .mechanism = "additive + softmax"});
  const auto out = two->forward(
      {.features = {{at::randn({3, 5, 8})}, {at::randn({3, 4, 8})}}, .call = {.outputs = {.weights = true}}});
  EXPECT_EQ(out.context.sizes(), (std::vector<int64_t>{3, 1, 8}));
  EXPECT_EQ(out.step("attend").weights.sizes(), (std::vector<int64_t>{3, 2, 1, 5}));
}

TEST(Structure, TakesInputsOfDifferentWidths) {
  auto two = structure("specialized", {.features = {8, 3}});
  const auto out = two->forward({.features = {{at::randn({3, 5, 8})}, {at::randn({3, 4, 3})}}});
  EXPECT_EQ(out.context.size(-1), 8);
}

struct HolderImpl : torch::nn::Cloneable<HolderImpl> {
  HolderImpl() { reset(); }
  void reset() override { inside = register_module("inside", structure("interactive", {.features = {4}})); }
  std::shared_ptr<Structure> inside;
};

TEST(Structure, IsCopiedWithTheModuleThatHoldsIt) {
  at::manual_seed(6);
  HolderImpl holder;
  const auto children = holder.inside->children();
  children[0]->eval();
  const auto copy = std::dynamic_pointer_cast<HolderImpl>(holder.clone());
  ASSERT_TRUE(copy);
  const auto mine = holder.named_parameters(), theirs = copy->named_parameters();
  for (const auto& item : mine) {
    EXPECT_TRUE(same_bits(item.value(), theirs[item.key()])) << item.key();
    EXPECT_FALSE(item.value().is_alias_of(theirs[item.key()])) << item.key();
  }
  EXPECT_FALSE(copy->inside->children()[0]->is_training());
  EXPECT_TRUE(copy->inside->children()[1]->is_training());
}

TEST(Structure, RefusesWhatItWouldIgnore) {
  EXPECT_THROW(structure("rotatory", {.features = {4}, .query_dim = 7}), Error);
  EXPECT_THROW(structure("bidaf", {.features = {4}, .num_heads = 2}), Error);
  const auto one = structure("specialized", {.features = {4}});
  const Features rows{at::randn({2, 3, 4})};
  EXPECT_NO_THROW(one->forward({.features = {rows, rows}}));
  EXPECT_THROW(one->forward({.features = {rows, rows}, .call = {.noise = {.uniforms = at::rand({2, 1, 3})}}}), Error);
  EXPECT_THROW(one->forward({.features = {rows, {rows.rows.to(at::kDouble)}}}), Error);
  EXPECT_THROW(one->forward({.features = {rows, {rows.rows, at::ones({2, 3})}}}), Error);
}

}  // namespace
}  // namespace heed::testing
