// Graph attention as a structure.

#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

Given ring(int64_t batch, int64_t nodes) {
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
  const auto h = at::linear(in.features[0].rows, p["layer.values"][0]);                // [B, L, D]
  const auto s = h.matmul(p["layer.self"][0]), t = h.matmul(p["layer.neighbour"][0]);  // [B, L]
  const auto scores = at::leaky_relu(s.unsqueeze(2) + t.unsqueeze(1), 0.2);            // [B, i, j]
  const auto& keep = in.features[0].keep;
  auto may = (at::eye(5, at::kBool).logical_or(at::eye(5, at::kBool).roll(1, 1))).unsqueeze(0);
  may = may.logical_and(keep.unsqueeze(1)).logical_and(keep.unsqueeze(2));
  const auto weights = scores.masked_fill(may.logical_not(), -INFINITY).softmax(2).nan_to_num(0);
  EXPECT_TRUE(close(found, weights.matmul(h), 1e-12));
  EXPECT_EQ(largest(found[0][3]), 0);
}

TEST(GraphAttentionStructure, WeighsTheEdgesOfEveryNode) {
  const auto made = in_double("graph_attention(heads=2)", {.features = {4}});
  auto in = ring(2, 5);
  in.call.want.weights = true;
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

TEST(GraphAttentionStructure, RefusesWhatIsNoGraphOfItsNodes) {
  const auto made = in_double("graph_attention", {.features = {4}});
  auto in = ring(1, 4);
  in.edges[0][0] = 4;
  EXPECT_THROW(made->forward(in), Error);
  in.edges.reset();
  EXPECT_THROW(made->forward(in), Error);
  EXPECT_THROW(structure("graph_attention(heads=3)", {.features = {4}}), Error);
  EXPECT_THROW(structure("graph_attention", {.features = {4}, .mechanism = "local_m"}), Error);
}

}  // namespace
}  // namespace heed::testing
