#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

void set_level(Structure& made, const std::string& level, const std::vector<double>& query) {
  set(made, level + ".score.from_keys", kW2);
  set(made, level + ".score.bias", kB);
  set(made, level + ".score.query", query);
}
std::shared_ptr<Structure> golden() {
  auto made = in_double("hierarchical", {.features = {2}});
  set_level(*made, "level_1", kW);
  set_level(*made, "level_2", {.3, .4});
  return made;
}
Features sentence(const std::vector<double>& spec) {
  return {numbers(spec, {static_cast<int64_t>(spec.size()) / 2, 2}), {}};
}
/// One document of these sentences.
Features document(const std::vector<Features>& sentences) {
  return padded({padded(sentences)});
}

TEST(Hierarchical, HasTheGoldenNumbers) {
  StructureInput given{.features = {document({sentence(kF1), sentence(kF2)})}};
  given.call.outputs.weights = true;
  const auto out = golden()->forward(given);
  EXPECT_TRUE(is_golden(out.context, {.75550358, .19127192}));
  EXPECT_TRUE(is_golden(out.step("level_1").weights, {.42847754, .23231530, .33920716, .51910026, .48089974, 0}));
  EXPECT_TRUE(is_golden(out.step("level_1").context, {.76768470, .57152246, .74044987, -.27865040}));
  EXPECT_TRUE(is_golden(out.step("level_2").weights, {.55273738, .44726262}));
}

// An empty sentence must be masked: as an unmasked zero vector it would receive weight in its document.
TEST(Hierarchical, MasksAnEmptySentence) {
  const auto empty = sentence({});
  for (const auto& with :
       {document({empty, sentence(kF1), sentence(kF2)}), document({sentence(kF1), empty, sentence(kF2), empty})}) {
    StructureInput given{.features = {with}};
    given.call.outputs.weights = true;
    const auto out = golden()->forward(given);
    EXPECT_TRUE(is_golden(out.context, {.75550358, .19127192}));
    EXPECT_NEAR(out.step("level_2").weights.sum().item<double>(), 1, 1e-12);
  }
}

TEST(Hierarchical, SkipsAnEmptySentenceInItsEncodersToo) {
  at::manual_seed(3);
  for (const std::string encoder : {"gru", "lstm"}) {
    const auto made = in_double("hierarchical(encoder=" + encoder + ")", {.features = {2}});
    const auto with = document({sentence(kF1), sentence({}), sentence(kF2)});
    const auto without = document({sentence(kF1), sentence(kF2)});
    EXPECT_TRUE(
        close(made->forward({.features = {with}}).context, made->forward({.features = {without}}).context, 1e-12))
        << encoder;
  }
}

TEST(Hierarchical, ReadsSentencesInOrderWithAnEncoder) {
  at::manual_seed(3);
  const auto bare = in_double("hierarchical", {.features = {2}});
  const auto encoded = in_double("hierarchical(encoder=gru)", {.features = {2}});
  const StructureInput one{.features = {document({sentence(kF1), sentence(kF2)})}},
      other{.features = {document({sentence(kF2), sentence(kF1)})}};
  EXPECT_TRUE(close(bare->forward(one).context, bare->forward(other).context, 1e-12));
  EXPECT_FALSE(close(encoded->forward(one).context, encoded->forward(other).context, 1e-4));
}

TEST(Hierarchical, GivesZeroForADocumentWithoutSentences) {
  for (const std::string spec : {"hierarchical", "hierarchical(encoder=gru)"}) {
    const auto made = in_double(spec, {.features = {2}});
    for (const auto& shape : {std::vector<int64_t>{2, 0, 3, 2}, {2, 3, 0, 2}, {2, 0, 0, 2}}) {
      const auto out = made->forward({.features = {{at::zeros(shape, kDouble), {}}}});
      EXPECT_EQ(out.context.sizes(), (std::vector<int64_t>{2, 1, 2})) << spec << shape;
      EXPECT_EQ(largest(out.context), 0) << spec << shape;
    }
  }
}

TEST(Hierarchical, PoolsAtOneLevelLikeALearnedQuery) {
  auto one = in_double("hierarchical(depth=1)", {.features = {2}});
  set_level(*one, "level_1", kW);
  EXPECT_TRUE(is_golden(one->forward({.features = {one_row(kF1, 2)}}).context, {.76768470, .57152246}));
}

// A corpus of one document is that document.
TEST(Hierarchical, GoesToAnyDepth) {
  auto deep = in_double("hierarchical(depth=3)", {.features = {2}});
  set_level(*deep, "level_1", kW);
  set_level(*deep, "level_2", {.3, .4});
  const Features corpus = padded({document({sentence(kF1), sentence(kF2)})});
  EXPECT_TRUE(is_golden(deep->forward({.features = {corpus}}).context, {.75550358, .19127192}));
}

TEST(Hierarchical, RefusesWhatHasNoMeaning) {
  EXPECT_THROW(structure("hierarchical(depth=0)", {.features = {2}}), Error);
  EXPECT_THROW(structure("hierarchical(encoder=gru)", {.features = {3}}), Error);
  EXPECT_THROW(golden()->forward({.features = {one_row(kF1, 2)}}), Error);
}

}  // namespace
}  // namespace heed::testing
