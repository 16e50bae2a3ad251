// Graph attention as a structure.

#include <thread>

#include "heed/attention/reinforce.h"
#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

StructureInput ring(int64_t batch, int64_t nodes) {
  const auto to = at::arange(nodes, at::kLong);
  return {.features = {{at::randn({batch, nodes, 4}, kDouble)}}, .edges = at::stack({(to + 1) % nodes, to})};
}

TEST(GraphAttentionStructure, GivesWhatTheCoreGivesUnderTheMaskOfTheGraph) {
  at::manual_seed(4);
  const auto made = in_double("graph_attention", {.features = {4}, .mechanism = "softmax"});
  auto in = ring(2, 5);
  in.features[0].keep = at::ones({2, 5}, at::kBool);
  in.features[0].keep[0][3] = false;
  const auto found = made->forward(in).context;

  const auto p = made->named_parameters();
  const auto h = at::linear(in.features[0].rows, p["layer.values"][0]);               // [B, L, D]
  const auto s = h.matmul(p["layer.self"][0]), t = h.matmul(p["layer.neighbor"][0]);  // [B, L]
  const auto scores = at::leaky_relu(s.unsqueeze(2) + t.unsqueeze(1), 0.2);           // [B, i, j]
  const auto& keep = in.features[0].keep;
  auto may = (at::eye(5, at::kBool).logical_or(at::eye(5, at::kBool).roll(1, 1))).unsqueeze(0);
  may = may.logical_and(keep.unsqueeze(1)).logical_and(keep.unsqueeze(2));
  const auto weights = scores.masked_fill(may.logical_not(), -INFINITY).softmax(2).nan_to_num(0);
  EXPECT_TRUE(close(found, weights.matmul(h), 1e-12));
  EXPECT_EQ(largest(found[0][3]), 0);
}

TEST(GraphAttentionStructure, WeighsTheEdgesOfEveryNode) {
  const auto made = in_double("graph_attention(num_heads=2)", {.features = {4}});
  auto in = ring(2, 5);
  in.call.outputs.weights = true;
  const auto out = made->forward(in);
  const auto& weights = out.step("attend").weights;  // [E, H]
  const auto& edges = out.also.at("edges");
  ASSERT_EQ(weights.size(0), edges.size(1));
  EXPECT_EQ(weights.size(0), 2 * (5 + 5));
  const auto sums = at::zeros({10, 2}, kDouble).index_add(0, edges[1], weights);
  EXPECT_TRUE(close(sums, at::ones({10, 2}, kDouble), 1e-12));
}

TEST(GraphAttentionStructure, LeavesANodeWithoutEdgesAtZero) {
  const auto made = in_double("graph_attention(self_loops=false)", {.features = {4}});
  auto in = ring(1, 4);
  in.edges = at::tensor({0, 1}, at::kLong).view({2, 1});
  const auto context = made->forward(in).context[0];
  EXPECT_GT(largest(context[1]), 0);
  for (const int64_t alone : {0, 2, 3}) EXPECT_EQ(largest(context[alone]), 0);
}

TEST(GraphAttentionStructure, AcceptsEmptyAxes) {
  for (const char* spec : {"graph_attention", "graph_attention(self_loops=false)"})
    for (const char* alignment : {"softmax", "hard"})
      for (const auto& [batch, nodes] : std::vector<std::pair<int64_t, int64_t>>{{0, 3}, {2, 0}, {2, 3}}) {
        const auto made = in_double(spec, {.features = {4}, .mechanism = alignment, .dropout = 0.5});
        made->train();
        StructureInput in{.features = {{at::randn({batch, nodes, 4}, kDouble), at::zeros({batch, nodes}, at::kBool)}},
                          .edges = at::zeros({2, nodes}, at::kLong)};
        const auto context = made->forward(in).context;
        EXPECT_TRUE(same_bits(context, at::zeros({batch, nodes, 4}, kDouble))) << spec;
        in.edges = at::zeros({2, 0}, at::kLong);
        EXPECT_TRUE(same_bits(made->forward(in).context, context)) << spec;
      }
}

TEST(GraphAttentionStructure, RefusesEdgesThatAreNoGraphOfItsNodes) {
  const auto made = in_double("graph_attention", {.features = {4}});
  auto in = ring(1, 4);
  in.edges[0][0] = 4;
  EXPECT_THROW(made->forward(in), Error);
  in.edges.reset();
  EXPECT_THROW(made->forward(in), Error);
  EXPECT_THROW(structure("graph_attention(num_heads=3)", {.features = {4}}), Error);
  EXPECT_THROW(structure("graph_attention", {.features = {4}, .mechanism = "local_m"}), Error);
}

std::string refusal(Structure& made, const StructureInput& in) {
  try {
    made.forward(in);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(GraphAttentionStructure, SaysWhatWasWrongWithTheEdges) {
  const auto made = in_double("graph_attention", {.features = {4}});
  auto in = ring(1, 3);
  in.edges[0][1] = -1;
  EXPECT_EQ(refusal(*made, in), "graph_attention: edge 1 is -1 -> 1, expected nodes from 0 to 2");
  in.edges = ring(1, 3).edges.to(at::kInt);
  EXPECT_EQ(refusal(*made, in), "graph_attention: edges is [2, 3] Int, expected [2, E] Long");
}

TEST(GraphAttentionStructure, RefusesCallSettingsItCannotHonor) {
  const auto made = in_double("graph_attention", {.features = {4}});
  const auto says = [&](const Call& call, const std::string& what) {
    auto in = ring(1, 3);
    in.call = call;
    EXPECT_NE(refusal(*made, in).find(what), std::string::npos) << refusal(*made, in);
  };
  says({.scale = 2}, "scale is 2");
  says({.soft_cap = 5}, "soft_cap is 5");
  says({.outputs = {.rows = {0}}}, "requests rows");
  says({.outputs = {.heads = {0}}}, "requests heads");
  says({.outputs = {.lse = true, .entropy = true}}, "requests lse, entropy");
  says({.outputs = {.column_mass = true}}, "requests column_mass");
  says({.outputs = {.top = 2}}, "requests top");
  says({.outputs = {.links = at::zeros({1, 4}, at::kLong)}}, "requests links");
  says({.noise = {.sample = true, .uniforms = at::rand({1, 3, 3}, kDouble)}}, "uniforms");
}

/// A ring with padding for two batch elements, and a call that samples.
struct Drawing {
  std::string alignment;
  at::ScalarType type;
  Path path;

  std::shared_ptr<Structure> made() const {
    at::manual_seed(7);
    const auto graph = structure("graph_attention(num_heads=2)", {.features = {4}, .mechanism = alignment});
    graph->to(type);
    graph->eval();
    return graph;
  }
  StructureInput given() const {
    at::manual_seed(8);
    auto in = ring(2, 40);
    in.features[0].rows = in.features[0].rows.to(type);
    in.features[0].keep = at::rand({2, 40}) > 0.2;
    in.call.noise = {.sample = true, .dropout = alignment == "hard" ? 0 : 0.4, .seed = 12};
    in.call.path = path;
    return in;
  }
};
std::vector<Drawing> every_drawing() {
  std::vector<Drawing> all;
  for (const char* alignment : {"softmax", "sparsemax", "hard", "gumbel_softmax(.7)"})
    for (const auto type : {at::kFloat, at::kDouble})
      for (const Path path : {Path::fused, Path::composed}) all.push_back({alignment, type, path});
  return all;
}

TEST(GraphAttentionStructure, DrawsForABatchElementIndependentlyOfTheOthers) {
  for (const auto& d : every_drawing()) {
    const auto made = d.made();
    const auto in = d.given();
    const auto together = made->forward(in).context;
    auto alone = in;
    alone.features[0] = {in.features[0].rows.narrow(0, 1, 1), in.features[0].keep.narrow(0, 1, 1)};
    alone.call.noise.first_row = 1;
    EXPECT_TRUE(close(made->forward(alone).context[0], together[1], 1e-5)) << d.alignment;
    alone.call.noise.first_row = 0;
    EXPECT_FALSE(close(made->forward(alone).context[0], together[1], 1e-2)) << d.alignment;
  }
}

// In the ring node i attends to i and i + 1: padding at 0 and at the end only changes what node 0 and the last one see.
TEST(GraphAttentionStructure, DrawsForAnEdgeWhateverPaddingThereIs) {
  for (const auto& d : every_drawing()) {
    const auto made = d.made();
    auto in = d.given();
    in.features[0].keep = at::ones({2, 40}, at::kBool);
    const auto whole = made->forward(in).context;
    in.features[0].keep.select(1, 0).fill_(false);
    const auto holed = made->forward(in).context;
    EXPECT_TRUE(close(holed.narrow(1, 1, 38), whole.narrow(1, 1, 38), 1e-5)) << d.alignment;
    in.features[0].rows = at::constant_pad_nd(in.features[0].rows, {0, 0, 0, 3}, NAN);
    in.features[0].keep = at::constant_pad_nd(in.features[0].keep, {0, 3});
    EXPECT_TRUE(close(made->forward(in).context.narrow(1, 0, 40), holed, 1e-5)) << d.alignment;
  }
}

TEST(GraphAttentionStructure, LearnsWhatToDrawByReward) {
  const auto made = in_double("graph_attention(num_heads=2)", {.features = {4}, .mechanism = "hard"});
  auto in = ring(3, 5);
  in.features[0].keep = at::ones({3, 5}, at::kBool);
  in.features[0].keep[1][2] = false;
  in.call.noise.seed = 6;
  const auto reward = at::tensor({1.0, -2.0, 3.0}, kDouble);
  EXPECT_THROW(Reinforce().loss(made->forward(in).step("attend"), reward), Error);  // in evaluation nothing is drawn
  made->train();
  const auto step = made->forward(in).step("attend");
  EXPECT_TRUE(step.plan.sampled);
  EXPECT_EQ(step.plan.seed, 6U);
  EXPECT_EQ(step.plan.path, Path::fused);
  ASSERT_EQ(step.log_probability.sizes(), (std::vector<int64_t>{3, 2, 5}));
  EXPECT_EQ(largest(step.log_probability.select(0, 1).select(1, 2)), 0);  // padding drew nothing
  const auto p = made->named_parameters();
  const auto loss = Reinforce().loss(step, reward);
  EXPECT_NEAR(loss.item<double>(), -(reward * step.log_probability.sum({1, 2})).mean().item<double>(), 1e-12);
  for (const auto& grad : gradients(loss, {p["layer.values"], p["layer.neighbor"]})) EXPECT_GT(largest(grad), 1e-4);
}

TEST(GraphAttentionStructure, SeesWhenEdgesOrPaddingHaveChangedInPlace) {
  const auto made = in_double("graph_attention", {.features = {4}});
  const auto fresh = [&](const StructureInput& in) {
    return std::dynamic_pointer_cast<Structure>(made->clone())->forward(in).context;
  };
  auto in = ring(2, 5);
  const auto first = made->forward(in);
  first.also.at("edges").zero_();  // the caller's own copy
  const auto again = made->forward(in);
  EXPECT_TRUE(same_bits(again.context, first.context));
  EXPECT_EQ(again.also.at("edges").max().item<int64_t>(), 9);
  in.edges[0][2] = 0;
  EXPECT_TRUE(same_bits(made->forward(in).context, fresh(in)));
  EXPECT_FALSE(same_bits(made->forward(in).context, first.context));
  for (const bool kept : {true, false}) {
    if (kept) in.features[0].keep = at::ones({2, 5}, at::kBool);
    in.features[0].keep[1][1] = kept;
    EXPECT_TRUE(same_bits(made->forward(in).context, fresh(in)));
  }
  in.features[0] = {in.features[0].rows.narrow(0, 1, 1), in.features[0].keep.narrow(0, 1, 1)};
  EXPECT_TRUE(same_bits(made->forward(in).context, fresh(in)));
}

TEST(GraphAttentionStructure, MayBeCalledByManyThreads) {
  const auto made = in_double("graph_attention", {.features = {4}, .mechanism = "sparsemax"});
  std::vector<StructureInput> calls;
  std::vector<Tensor> expected;
  for (int64_t n = 0; n < 4; ++n) {
    calls.push_back(ring(2, 5 + n / 2));  // two of them have the same graph
    expected.push_back(made->forward(calls.back()).context);
  }
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (size_t n = 0; n < 4; ++n)
    threads.emplace_back([&, n] {
      for (int time = 0; time < 50; ++time) wrong[n] += !same_bits(made->forward(calls[n]).context, expected[n]);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace heed::testing
