// Every preset, with every mechanism its paper tries.

#include "heed/structures/preset.h"

#include <sstream>

#include <torch/optim/sgd.h>

#include "heed/structures/testing.h"

namespace heed::testing {
namespace {

constexpr int64_t kPresetWidth = 8;

class EveryPreset : public ::testing::TestWithParam<std::string> {
 protected:
  const Preset& says() const { return find_preset(GetParam()); }
  std::shared_ptr<Structure> make(const std::string& mechanism = "") const {
    at::manual_seed(3);
    return preset(GetParam(), {.features = {kPresetWidth}, .mechanism = mechanism});
  }
};
INSTANTIATE_TEST_SUITE_P(Papers, EveryPreset, ::testing::ValuesIn(preset_names()), test_name);

TEST_P(EveryPreset, RunsOnRandomDataWithEveryMechanismOfThePaper) {
  for (const auto& mechanism : says().mechanisms) {
    SCOPED_TRACE(mechanism);
    const auto model = make(mechanism);
    const auto out = model->forward(random_inputs(*model));
    EXPECT_EQ(out.context.size(-1), model->width());
    EXPECT_TRUE(out.context.isfinite().all().item<bool>());
    EXPECT_GT(largest(out.context), 0);
  }
}

TEST_P(EveryPreset, LearnsInAStep) {
  const auto model = make();
  const auto given = random_inputs(*model);
  model->eval();  // without noise, so that the two losses can be compared
  const auto loss = [&] { return (model->forward(given).context - 1).square().mean(); };
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(1e-3));
  const auto before = loss();
  before.backward();
  optimizer.step();
  EXPECT_LT(loss().item<double>(), before.item<double>());
}

TEST_P(EveryPreset, LearnsWhileItDraws) {
  for (const auto& mechanism : says().mechanisms) {
    const auto model = make(mechanism);
    model->train();
    const auto out = model->forward(random_inputs(*model));
    out.context.square().mean().backward();
    bool moved = false;
    for (const auto& parameter : model->parameters())
      moved = moved || (parameter.grad().defined() && largest(parameter.grad()) > 0);
    EXPECT_TRUE(moved) << mechanism;
  }
}

TEST_P(EveryPreset, PrintsItself) {
  std::ostringstream text;
  text << *make();
  EXPECT_NE(text.str().find(says().structure), std::string::npos) << text.str();
  EXPECT_NE(text.str().find(says().mechanisms.front()), std::string::npos) << text.str();
}

/// Whether the list `choices`, separated by commas or plus signs, contains the word.
bool has_word(const std::string& choices, const std::string& word) {
  std::istringstream fields(choices);
  for (std::string one; fields >> one;)
    if (one == word || one == word + ",") return true;
  return false;
}

TEST_P(EveryPreset, SaysWhatItChose) {
  const auto& axes = says().axes;
  for (const auto* choice : {&axes.features, &axes.levels, &axes.representations, &axes.score, &axes.alignment,
                             &axes.dimensionality, &axes.query, &axes.queries})
    EXPECT_FALSE(choice->empty());
  for (const auto& spec : says().mechanisms) {
    if (spec.find('+') == std::string::npos) continue;
    const Mechanism inside = Mechanism::parse(spec);
    const auto& parts = inside.parts();
    // The survey calls a learned query with a hidden layer additive.
    const auto score = parts.score.name == "self_attentive" ? "additive" : parts.score.name;
    EXPECT_TRUE(has_word(axes.score, score)) << axes.score << ": " << spec;
    EXPECT_TRUE(has_word(axes.alignment, parts.align.name)) << axes.alignment << ": " << spec;
    EXPECT_EQ(axes.dimensionality == "multi", make()->inside().find("multi") != std::string::npos) << spec;
  }
}

TEST(Presets, AreTheLinesOfTheSurveysTable) {  // features, levels, representations, dimensionality, query, queries
  const std::vector<std::pair<std::string, std::vector<std::string>>> rows{
      {"bahdanau_2015", {"singular", "single", "single", "single", "basic", "singular"}},
      {"luong_2015", {"singular", "single", "single", "single", "basic", "singular"}},
      {"xu_2015", {"singular", "single", "single", "single", "basic", "singular"}},
      {"lu_2016", {"parallel, alternating", "hierarchical", "single", "single", "specialized", "singular"}},
      {"yang_2016", {"singular", "hierarchical", "single", "single", "self_attentive", "singular"}},
      {"li_2018", {"singular", "hierarchical", "single", "single", "self_attentive", "singular"}},
      {"vaswani_2017", {"singular", "single", "single", "single", "self_attentive + basic", "multi_head + multi_hop"}},
      {"wallaart_2019", {"rotatory", "single", "single", "single", "specialized", "multi_hop"}},
      {"kiela_2018", {"singular", "single", "multi_representational", "single", "self_attentive", "singular"}},
      {"winata_2019", {"singular", "single", "multi_representational", "single", "self_attentive", "multi_head"}},
      {"shen_2018", {"singular", "single", "single", "multi", "self_attentive", "singular"}},
      {"zhang_2019", {"singular", "single", "single", "single", "self_attentive", "singular"}},
      {"li_2019", {"parallel", "single", "single", "single", "self_attentive + specialized", "singular"}},
      {"yu_2019", {"parallel", "single", "single", "single", "self_attentive + specialized", "multi_head"}},
      {"wang_2019", {"parallel", "single", "single", "single", "specialized", "singular"}},
      {"oktay_2018", {"singular", "single", "single", "multi", "self_attentive + specialized", "singular"}},
      {"wang_2018", {"singular", "single", "single", "single", "self_attentive", "capsule"}}};
  for (const auto& [name, expected] : rows) {
    const Axes& a = find_preset(name).axes;
    const std::vector<std::string> found{a.features, a.levels, a.representations, a.dimensionality, a.query, a.queries};
    EXPECT_EQ(found, expected) << name;
  }
}

TEST(Presets, SuggestTheNearestName) {
  try {
    find_preset("bahdanau_2014");
    FAIL() << "a preset that does not exist was found";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'bahdanau_2015'?"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace heed::testing
