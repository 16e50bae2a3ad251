// The promises of structures, checked for every catalogue entry and every variant it names, with several mechanisms in
// each, or several alignments if it computes its own scores. A new structure is included as soon as its file exists.

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "heed/structures/testing.h"
#include "heed/torch_support/noise_scope.h"
#include "heed/torch_support/safetensors.h"

namespace heed::testing {
namespace {

struct Inside {
  std::string structure, mechanism;
  friend void PrintTo(const Inside& x, std::ostream* out) { *out << x.structure << " with " << x.mechanism; }
};

std::vector<Inside> every_structure_and_mechanism() {
  std::vector<Inside> all;
  for (const auto& spec : every_structure()) {
    const bool own = structure(spec, {.features = {kFeatureWidth}})->own_scores();
    all.push_back({spec, ""});
    for (const auto& mechanism : own ? kAlignments : kInside) all.push_back({spec, mechanism});
  }
  return all;
}

class EveryStructure : public ::testing::TestWithParam<Inside> {
 protected:
  StructureCase make(Real real = Real::some) const {
    return make_structure_case(GetParam().structure, GetParam().mechanism, real);
  }
};
const auto structure_test_name = [](const ::testing::TestParamInfo<Inside>& info) {
  return name_of(info.param.structure + " with " + (info.param.mechanism.empty() ? "its own" : info.param.mechanism));
};
INSTANTIATE_TEST_SUITE_P(Catalogue, EveryStructure, ::testing::ValuesIn(every_structure_and_mechanism()),
                         structure_test_name);

/// A copy whose padding holds the value `with`.
StructureInput filled(const StructureInput& given, double with) {
  StructureInput other = given;
  for (auto& f : other.features)
    if (f.keep.defined())
      f.rows = f.rows.detach().masked_fill(f.keep.logical_not().unsqueeze(-1), with).requires_grad_();
  return other;
}

bool all_finite(const std::vector<Tensor>& grads) {
  for (const auto& grad : grads)
    if (grad.defined() && !grad.isfinite().all().item<bool>()) return false;
  return true;
}

TEST_P(EveryStructure, GivesAContextOfItsWidth) {
  const auto c = make();
  const auto out = c.run();
  EXPECT_EQ(out.context.size(0), 3);
  EXPECT_EQ(out.context.size(-1), c.structure->width());
  EXPECT_GT(largest(out.context), 0);
  if (out.keep.defined()) {
    EXPECT_EQ(out.keep.sizes(), out.context.sizes().slice(0, out.context.sizes().size() - 1));
  }
}

TEST_P(EveryStructure, NeverReadsPadding) {
  for (const Real real : {Real::some, Real::edge}) {
    auto c = make(real);
    std::vector<Tensor> first;
    for (const double with : {0.0, 1e3, std::nan("")}) {
      c.given = filled(c.given, with);
      const auto out = c.run();
      auto found = gradients(loss_of(out), c.tensors());
      found.push_back(out.context);
      if (first.empty()) first = found;
      ASSERT_EQ(found.size(), first.size());
      for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(same_bits(found[i], first[i])) << i << " with " << with;
    }
  }
}

TEST_P(EveryStructure, GivesPaddingNoGradient) {
  const auto c = make(Real::edge);
  const auto found = gradients(loss_of(c.run()), c.tensors());
  for (size_t i = 0; i < c.given.features.size(); ++i) {
    if (!found[i].defined()) continue;
    EXPECT_EQ(largest(found[i].masked_select(c.given.features[i].keep.logical_not().unsqueeze(-1))), 0);
  }
}

TEST_P(EveryStructure, StaysFiniteWhereNothingIsReal) {
  const auto c = make(Real::edge);
  const auto out = c.run();
  EXPECT_TRUE(out.context.isfinite().all().item<bool>());
  EXPECT_TRUE(all_finite(gradients(loss_of(out), c.tensors())));
}

TEST_P(EveryStructure, BringsTheWeightsOfEveryStep) {
  auto c = make(Real::edge);
  c.given.call.outputs.weights = true;
  const auto out = c.run();
  EXPECT_FALSE(out.steps.empty());
  for (const auto& [name, attended] : out.steps) {
    ASSERT_TRUE(attended.weights.defined()) << name;
    EXPECT_TRUE(attended.weights.isfinite().all().item<bool>()) << name;
    if (c.structure->takes().edges) continue;  // one weight for each edge: see graph_attention_test.cpp
    // [B, Lq, Lk], [B, H, Lq, Lk] or, with channels, [B, Lq, Lk, W], [B, H, Lq, Lk, W]
    const auto& w = attended.weights;
    const double plain = largest(w.sum(-1)), channels = w.dim() > 3 ? largest(w.sum(-2)) : plain;
    const bool shares = GetParam().mechanism != "sigmoid";
    EXPECT_LE(w.dim() == 5 ? channels : std::min(plain, channels), shares ? 1 + 1e-9 : 5) << name;
  }
}

/// Batch element b alone.
StructureInput only_row(const StructureInput& given, int64_t b) {
  StructureInput one = given;
  for (auto& f : one.features) {
    f.rows = f.rows.narrow(0, b, 1);
    if (f.keep.defined()) f.keep = f.keep.narrow(0, b, 1);
  }
  if (one.query.defined()) one.query = one.query.narrow(0, b, 1);
  one.call.noise.first_row = b;
  return one;
}

TEST_P(EveryStructure, TreatsBatchElementsIndependently) {
  for (const Real real : {Real::some, Real::edge}) {
    const auto c = make(real);
    const auto together = c.run();
    for (int64_t b = 0; b < 3; ++b) {
      const auto alone = c.structure->forward(only_row(c.given, b));
      EXPECT_TRUE(close(alone.context, together.context.narrow(0, b, 1), 1e-11)) << b;
    }
  }
}

TEST_P(EveryStructure, DrawsForABatchElementWhatItDrawsAlone) {
  auto c = make();
  c.structure->train();
  c.given.call.noise.dropout = 0.3;
  c.given.call.noise.stream = 2;
  const auto together = c.run();
  EXPECT_TRUE(same_bits(c.run().context, together.context));  // seed and stream determine every draw
  for (int64_t b = 0; b < 3; ++b) {
    const auto alone = c.structure->forward(only_row(c.given, b));
    EXPECT_TRUE(close(alone.context, together.context.narrow(0, b, 1), 1e-11)) << b;
  }
  c.given.call.noise.seed = 12;
  EXPECT_FALSE(same_bits(c.run().context, together.context));
}

/// Batch elements from ... from + rows - 1.
StructureInput share_of(const StructureInput& given, int64_t from, int64_t rows) {
  StructureInput part = given;
  for (auto& f : part.features) {
    f.rows = f.rows.narrow(0, from, rows);
    if (f.keep.defined()) f.keep = f.keep.narrow(0, from, rows);
  }
  if (part.query.defined()) part.query = part.query.narrow(0, from, rows);
  return part;
}

/// A batch in a NoiseScope gives the same result whole and in two shares, as two processes would compute them.
void expect_scoped_draws(const StructureCase& c) {
  c.structure->train();
  StructureInput given = c.given;
  given.call.noise.seed = 0;  // the scope provides the seed
  given.call.noise.dropout = 0.3;
  const auto context = [&](uint64_t step, int64_t from, int64_t rows) {
    const NoiseScope scope(11, step, from);
    return c.structure->forward(share_of(given, from, rows)).context;
  };
  const auto whole = context(5, 0, 3);
  EXPECT_TRUE(same_bits(context(5, 0, 3), whole));
  bool drawn = false;  // few draws may coincide in one other step, but not in ten
  for (uint64_t step = 6; step < 16 && !drawn; ++step) drawn = !same_bits(context(step, 0, 3), whole);
  EXPECT_TRUE(drawn);
  EXPECT_TRUE(close(context(5, 0, 1), whole.narrow(0, 0, 1), 1e-11)) << "row 0";
  EXPECT_TRUE(close(context(5, 1, 2), whole.narrow(0, 1, 2), 1e-11)) << "rows 1 and 2";
}

TEST_P(EveryStructure, DrawsInAScopeForSharesOfABatchWhatTheWholeDraws) {
  expect_scoped_draws(make());
}

TEST_P(EveryStructure, GivesTheSameHoweverLongThePadding) {
  const auto c = make();
  const auto out = c.run();
  StructureInput longer = c.given;
  for (auto& f : longer.features) {
    f.rows = at::constant_pad_nd(f.rows, {0, 0, 0, 2}, NAN);
    f.keep = at::constant_pad_nd(f.keep, {0, 2});
  }
  const auto padded_out = c.structure->forward(longer);
  if (out.context.sizes() == padded_out.context.sizes()) {
    EXPECT_TRUE(close(padded_out.context, out.context, 1e-11));
  } else {  // one context for each feature: those of the padding come last
    EXPECT_TRUE(close(padded_out.context.narrow(-2, 0, out.context.size(-2)), out.context, 1e-11));
  }
}

/// Compares the gradient with central differences along one random direction for each group of leaves: every fourth
/// leaf is in a group. A wrong gradient of one leaf shows in its group, and a structure with many leaves runs eight
/// times.
void expect_gradient_of_central_differences(const StructureCase& c) {
  constexpr size_t kGroups = 4;
  constexpr double h = 1e-6;
  const auto leaves = c.leaves();
  const auto found = gradients(loss_of(c.run()), c.tensors());
  const at::NoGradGuard no_grad;
  for (size_t first = 0; first < std::min(kGroups, leaves.size()); ++first) {
    std::vector<Tensor> group, directions;
    std::string names;
    double ours = 0;
    for (size_t i = first; i < leaves.size(); i += kGroups) {
      group.push_back(leaves[i].second.detach());
      directions.push_back(at::randn(leaves[i].second.sizes(), kDouble));
      names += leaves[i].first + " ";
      if (found[i].defined()) ours += (found[i] * directions.back()).sum().item<double>();
    }
    const auto loss_after_a_step = [&](double step) {
      for (size_t i = 0; i < group.size(); ++i) group[i].add_(directions[i], step);
      return loss_of(c.run()).item<double>();
    };
    const double up = loss_after_a_step(h), down = loss_after_a_step(-2 * h);
    for (size_t i = 0; i < group.size(); ++i) group[i].add_(directions[i], h);
    EXPECT_NEAR(ours, (up - down) / (2 * h), 2e-6 * (1 + std::abs(ours))) << names;
  }
}

TEST_P(EveryStructure, HasTheGradientOfCentralDifferences) {
  for (const Real real : {Real::all, Real::some}) expect_gradient_of_central_differences(make(real));
}

TEST_P(EveryStructure, GivesTheSameOnEveryPath) {
  auto c = make();
  const auto inside = Mechanism::parse((c.structure->own_scores() ? "dot + " : "") + c.structure->inside());
  std::vector<Path> others{Path::composed, Path::fastest};  // double: fastest is not fused
  const bool single =
      inside.dimensionality() == Dimensionality::single;  // otherwise a slot with another score may have no kernel
  if (single && no_kernel(inside).empty()) others.push_back(Path::fused);
  c.given.call.path = Path::stored;
  const auto stored = c.run();
  const auto expected = gradients(loss_of(stored), c.tensors());
  for (const Path path : others) {
    SCOPED_TRACE(to_string(path));
    c.given.call.path = path;
    const auto out = c.run();
    EXPECT_TRUE(close(out.context, stored.context, 1e-11));
    const auto found = gradients(loss_of(out), c.tensors());
    for (size_t i = 0; i < found.size(); ++i) {
      if (!found[i].defined() && !expected[i].defined()) continue;
      const auto filled = [&](const Tensor& x) { return x.defined() ? x : at::zeros_like(c.tensors()[i]); };
      EXPECT_TRUE(close(filled(found[i]), filled(expected[i]), 1e-9)) << c.leaves()[i].first;
    }
  }
}

TEST_P(EveryStructure, GivesTheSameInFloatOnKernels) {
  auto c = make();
  c.structure->to(at::kFloat);
  for (auto& f : c.given.features) f.rows = f.rows.detach().to(at::kFloat);
  if (c.given.query.defined()) c.given.query = c.given.query.detach().to(at::kFloat);
  const auto fastest = c.run();
  c.given.call.path = Path::stored;
  EXPECT_TRUE(close(fastest.context, c.run().context, 5e-5));
}

TEST_P(EveryStructure, RunsWithSeveralHeads) {
  auto c = make();
  if (c.structure->own_scores()) GTEST_SKIP() << "it computes its own scores";
  StructureOptions options = c.structure->options();
  options.num_heads = 2;
  c.structure = structure(c.structure->to_string(), options);
  c.structure->to(at::kDouble);
  c.structure->eval();
  const auto together = c.run();
  EXPECT_TRUE(all_finite(gradients(loss_of(together), c.tensors())));
  for (int64_t b = 0; b < 3; ++b)
    EXPECT_TRUE(close(c.structure->forward(only_row(c.given, b)).context, together.context.narrow(0, b, 1), 1e-11));
}

TEST_P(EveryStructure, SavesAndLoads) {
  const auto c = make();
  const std::string path = ::testing::TempDir() + "heed_structure_" + std::to_string(::getpid()) + ".safetensors";
  save_parameters(*c.structure, path);
  const auto other = structure(c.structure->to_string(), c.structure->options());
  other->to(at::kDouble);
  other->eval();
  load_parameters(*other, path);
  std::remove(path.c_str());
  EXPECT_TRUE(same_bits(other->forward(c.given).context, c.run().context));
}

TEST_P(EveryStructure, ClonesItself) {
  const auto c = make();
  const auto copy = std::dynamic_pointer_cast<Structure>(c.structure->clone());
  ASSERT_TRUE(copy);
  const auto before = c.run().context;
  EXPECT_TRUE(same_bits(copy->forward(c.given).context, before));
  const at::NoGradGuard no_grad;
  for (auto& parameter : copy->parameters()) parameter.add_(1);
  EXPECT_TRUE(same_bits(c.run().context, before));  // the copy has its own parameters
}

TEST_P(EveryStructure, LearnsInTraining) {
  const auto c = make();
  c.structure->train();
  const auto loss = loss_of(c.run());
  EXPECT_TRUE(loss.isfinite().item<bool>());
  EXPECT_TRUE(all_finite(gradients(loss, c.tensors())));
}

TEST_P(EveryStructure, PrintsItself) {
  const auto c = make();
  std::ostringstream text;
  c.structure->pretty_print(text);
  EXPECT_NE(text.str().find(GetParam().structure.substr(0, GetParam().structure.find('('))), std::string::npos);
  EXPECT_NE(text.str().find(std::to_string(c.structure->width())), std::string::npos);
}

TEST_P(EveryStructure, RefusesInputsThatDoNotFit) {
  const auto c = make();
  StructureInput fewer = c.given;
  fewer.features.pop_back();
  EXPECT_THROW(c.structure->forward(fewer), Error);
  StructureInput wider = c.given;
  wider.features[0].rows = at::cat({wider.features[0].rows, wider.features[0].rows}, -1);
  EXPECT_THROW(c.structure->forward(wider), Error);
  StructureInput masked = c.given;
  masked.call.mask.key_count = at::ones({3}, at::kLong);
  EXPECT_THROW(c.structure->forward(masked), Error);
}

class EveryDrawingStructure : public EveryStructure {};

/// Every structure with alignments that sample keys, including one with a policy, which graphs refuse.
std::vector<Inside> every_structure_that_draws() {
  std::vector<Inside> all;
  for (const auto& spec : every_structure()) {
    const auto made = structure(spec, {.features = {kFeatureWidth}});
    for (const std::string align : {"hard", "gumbel_softmax", "straight_through", "reinforced"}) {
      if (align == "reinforced" && made->takes().edges) continue;
      all.push_back({spec, made->own_scores() ? align : "additive + " + align});
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Catalogue, EveryDrawingStructure, ::testing::ValuesIn(every_structure_that_draws()),
                         structure_test_name);

TEST_P(EveryDrawingStructure, DrawsInAScopeForSharesOfABatchWhatTheWholeDraws) {
  expect_scoped_draws(make());
}

TEST(StructureCatalogue, DescribesEveryStructure) {
  for (const auto& name : Structure::Parts::names()) {
    const auto& says = Structure::Parts::describe(name);
    EXPECT_FALSE(says.formula.empty() || says.paper.empty() || says.cost.empty() || says.choose.empty()) << name;
    EXPECT_FALSE(says.axis.empty()) << name;
  }
}

}  // namespace
}  // namespace heed::testing
