#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

/// self_attentive(features, norm) with the parameters of a layer.
std::shared_ptr<Structure> layer_of(const Structure& stack, const std::string& layer) {
  auto made = in_double("self_attentive(features, norm)", stack.options());
  const at::NoGradGuard no_grad;
  for (auto& item : made->named_parameters()) item.value().copy_(stack.named_parameters()[layer + "." + item.key()]);
  return made;
}

TEST(Stack, RewritesTheFeaturesLayerByLayer) {
  at::manual_seed(6);
  const auto made = in_double("stack(num_layers=3)", {.features = {4}});
  StructureInput given{.features = {{at::randn({2, 5, 4}, kDouble), at::rand({2, 5}) > .3}}};
  const auto out = made->forward(given);
  for (const std::string layer : {"layer_1", "layer_2", "layer_3"})
    given.features[0] = given.features[0].with_rows(layer_of(*made, layer)->forward(given).context);
  EXPECT_TRUE(close(out.context, given.features[0].rows, 1e-12));
  EXPECT_TRUE(out.keep.equal(given.features[0].keep));
  EXPECT_EQ(out.steps.size(), 3);
}

TEST(Stack, LooksAtNothingLaterWhereCausal) {
  at::manual_seed(6);
  const auto made = in_double("stack", {.features = {4}});
  StructureInput given{.features = {{at::randn({1, 5, 4}, kDouble), {}}}};
  given.call.mask.causal = Causal::top_left;
  const auto before = made->forward(given).context;
  given.features[0].rows[0][3].add_(1);
  const auto after = made->forward(given).context;
  EXPECT_TRUE(same_bits(after.narrow(1, 0, 3), before.narrow(1, 0, 3)));
  EXPECT_FALSE(close(after.narrow(1, 3, 2), before.narrow(1, 3, 2), 1e-3));
}

TEST(Stack, RefusesToHaveNoLayer) {
  EXPECT_THROW(structure("stack(num_layers=0)", {.features = {4}}), Error);
}

}  // namespace
}  // namespace heed::testing
