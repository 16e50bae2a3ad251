// The layers of GAT and GATv2: golden values, what their scores can and cannot rank, and the promises of attention.

#include "heed/structures/graph/gat.h"

#include <sstream>

#include "heed/attention/testing.h"
#include "heed/torch_support/autocast.h"
#include "heed/torch_support/safetensors.h"

namespace heed::testing {
namespace {

void set(GraphAttention& layer, const std::string& name, const Tensor& value) {
  const at::NoGradGuard no_grad;
  layer->named_parameters()[name].copy_(value.view_as(layer->named_parameters()[name]));
}
Tensor numbers(std::vector<double> x) {
  return at::tensor(x, kDouble);
}

/// Node 0 attends 0, 1 and 2, which have the features (1, 0), (0, 1), (1, 1).
const Tensor kFeatures = numbers({1, 0, 0, 1, 1, 1}).view({3, 2});
Graph fan() {
  return {at::stack({at::arange(3), at::zeros({3}, at::kLong)}), 3};
}

/// W = [[1, .5], [-.5, 1]], a = (.3, -.2, .5, .1).
GraphAttention golden_gat(const std::string& alignment) {
  GraphAttention layer(GraphAttentionOptions{
      .in_dim = 2, .out_dim = 2, .alignment = alignment, .self_loops = false, .activation = GatActivation::elu});
  layer->to(at::kDouble);
  set(layer, "values", numbers({1, .5, -.5, 1}));
  set(layer, "self", numbers({.3, -.2}));
  set(layer, "neighbor", numbers({.5, .1}));
  return layer;
}

TEST(Gat, HasTheGoldenNumbers) {
  const auto softly = golden_gat("softmax")->forward(kFeatures, fan(), {.weights = true});
  EXPECT_TRUE(close(softly.weights.flatten(), numbers({.30085096, .27222121, .42692783}), 1e-7));
  EXPECT_TRUE(close(softly.context[0], numbers({1.07735331, .33525964}), 1e-7));
  const auto scores = golden_gat("identity")->forward(kFeatures, fan(), {.weights = true}).weights;
  EXPECT_TRUE(close(scores.flatten(), numbers({.85, .75, 1.2}), 1e-7));
}

/// W = [[1, .5, .3, -.2], [-.5, 1, .4, .6]] on [h_i; h_j], a = (.7, -.4).
GraphAttention golden_gatv2(const std::string& alignment) {
  GraphAttention layer(GraphAttentionOptions{
      .in_dim = 2, .out_dim = 2, .version = GatVersion::v2, .alignment = alignment, .self_loops = false});
  layer->to(at::kDouble);
  set(layer, "receiver", numbers({1, .5, -.5, 1}));
  set(layer, "values", numbers({.3, -.2, .4, .6}));
  set(layer, "to_scores", numbers({.7, -.4}));
  return layer;
}

TEST(Gatv2, HasTheGoldenNumbers) {
  const auto softly = golden_gatv2("softmax")->forward(kFeatures, fan(), {.weights = true});
  EXPECT_TRUE(close(softly.weights.flatten(), numbers({.42056373, .28247669, .29695958}), 1e-7));
  const auto scores = golden_gatv2("identity")->forward(kFeatures, fan(), {.weights = true}).weights;
  EXPECT_TRUE(close(scores.flatten(), numbers({.918, .52, .57}), 1e-7));
  // c = sum a_j R h_j,  R h = (.3, .4), (-.2, .6), (.1, 1)
  const double first = .42056373 * .3 - .28247669 * .2 + .29695958 * .1;
  EXPECT_NEAR(softly.context[0][0].item<double>(), first, 1e-7);
}

/// The complete graph: edges i N ... i N + N - 1 are those into node i.
Graph complete(int64_t nodes) {
  const auto all = at::arange(nodes);
  return {at::stack({all.repeat(nodes), all.repeat_interleave(nodes)}), nodes};
}
Tensor favorites(GraphAttention& layer, const Tensor& nodes) {
  const int64_t N = nodes.size(0);
  return layer->forward(nodes, complete(N), {.weights = true}).weights.view({N, N}).argmax(1);  // of each i
}

TEST(Gat, PrefersTheSameNeighborForEveryNode) {
  at::manual_seed(4);
  for (int trial = 0; trial < 20; ++trial) {
    GraphAttention layer(GraphAttentionOptions{.in_dim = 8, .out_dim = 8});
    const auto best = favorites(layer, at::randn({12, 8}));
    EXPECT_TRUE(best.eq(best[0]).all().item<bool>()) << best;
  }
}

// The dictionary lookup that static scores cannot do (Brody et al., 2022): every node attends to the one equal to it.
// With L = -R and a = (-1, ...), e = -sum LeakyReLU(x_j - x_i): with x once positive and once negated that is
// -1.2 sum |x_j - x_i| + .2 ..., largest at j = i.
TEST(Gatv2, MayPreferAnotherNeighborForEveryNode) {
  constexpr int64_t N = 5;
  GraphAttention layer(GraphAttentionOptions{.in_dim = N, .out_dim = 2 * N, .version = GatVersion::v2});
  const auto eye = at::eye(N);
  set(layer, "receiver", at::cat({-eye, eye}));
  set(layer, "values", at::cat({eye, -eye}));
  set(layer, "to_scores", at::full({2 * N}, -1.0));
  EXPECT_TRUE(favorites(layer, eye).equal(at::arange(N)));
}

TEST(GraphAttention, LeavesAnIsolatedNodeWithItsBiasUnlessItAttendsItself) {
  const Graph graph(at::tensor(std::vector<int64_t>{0, 1}).view({2, 1}), 3);  // 0 -> 1
  for (const auto version : {GatVersion::v1, GatVersion::v2}) {
    GraphAttention alone(
        GraphAttentionOptions{.in_dim = 4, .out_dim = 3, .num_heads = 2, .version = version, .self_loops = false});
    set(alone, "bias", at::arange(6, at::kFloat));
    const auto nodes = at::randn({3, 4});
    const auto out = alone->forward(nodes, graph).context;
    EXPECT_TRUE(same_bits(out[0], at::arange(6, at::kFloat)));
    EXPECT_TRUE(same_bits(out[2], at::arange(6, at::kFloat)));
    GraphAttention looped(
        GraphAttentionOptions{.in_dim = 4, .out_dim = 3, .num_heads = 2, .version = version, .bias = false});
    const auto own = at::linear(nodes[2], looped->named_parameters()["values"].flatten(0, 1));  // weight 1 on itself
    EXPECT_TRUE(close(looped->forward(nodes, graph).context[2], own, 1e-6));
  }
}

TEST(GraphAttention, KeepsNaNAtIsolatedNodesFromOutputsAndGradients) {
  const Graph graph(at::tensor(std::vector<int64_t>{0, 1, 1, 2}).view({2, 2}), 4);  // 0 -> 1, 1 -> 2
  for (const auto version : {GatVersion::v1, GatVersion::v2})
    for (const char* alignment : {"softmax", "sparsemax", "sigmoid"}) {
      GraphAttention layer(GraphAttentionOptions{.in_dim = 4,
                                                 .out_dim = 3,
                                                 .version = version,
                                                 .alignment = alignment,
                                                 .self_loops = false,
                                                 .score_bias = true});
      const auto clean = at::randn({4, 4});
      auto dirty = clean.clone();
      dirty[3].fill_(NAN);
      const auto of = [&](const Tensor& given) {
        auto nodes = given.clone().requires_grad_();
        auto leaves = layer->parameters();
        leaves.push_back(nodes);
        auto all = gradients(layer->forward(nodes, graph).context.square().sum(), leaves);
        all.push_back(layer->forward(nodes, graph).context);
        return all;
      };
      const auto a = of(clean), b = of(dirty);
      for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(same_bits(a[i], b[i])) << alignment << " " << i;
    }
}

TEST(GraphAttention, HasTheGradientOfCentralDifferences) {
  at::manual_seed(8);
  const Graph graph(at::randint(6, {2, 15}), 6);
  for (const auto version : {GatVersion::v1, GatVersion::v2})
    for (const auto join : {JoinHeads::concat, JoinHeads::mean})
      for (const char* alignment : {"softmax", "sparsemax", "entmax(1.5, learned)", "sigmoid"}) {
        GraphAttention layer(GraphAttentionOptions{.in_dim = 3,
                                                   .out_dim = 2,
                                                   .num_heads = 2,
                                                   .join = join,
                                                   .version = version,
                                                   .alignment = alignment,
                                                   .score_bias = true,
                                                   .activation = GatActivation::elu});
        layer->to(at::kDouble);
        const auto nodes = at::randn({6, 3}, kDouble).requires_grad_();
        auto leaves = layer->parameters();
        leaves.push_back(nodes);
        const auto loss = [&] {
          const auto out = layer->forward(nodes, graph).context;
          return (out * waves(out)).sum();
        };
        const auto grads = gradients(loss(), leaves);
        const at::NoGradGuard no_grad;
        for (size_t i = 0; i < leaves.size(); ++i) {
          ASSERT_TRUE(grads[i].defined());
          const auto away = waves(leaves[i], 1) * 1e-6;
          leaves[i].add_(away);
          const double up = loss().item<double>();
          leaves[i].sub_(2 * away);
          const double down = loss().item<double>();
          leaves[i].add_(away);
          EXPECT_NEAR((grads[i] * waves(leaves[i], 1)).sum().item<double>(), (up - down) / 2e-6, 1e-7)
              << alignment << " " << i;
        }
      }
}

TEST(GraphAttention, JoinsHeadsSideBySideOrByTheirMean) {
  const Graph graph(at::randint(5, {2, 12}), 5);
  GraphAttention side(GraphAttentionOptions{.in_dim = 4, .out_dim = 3, .num_heads = 2});
  GraphAttention mean(GraphAttentionOptions{.in_dim = 4, .out_dim = 3, .num_heads = 2, .join = JoinHeads::mean});
  for (const char* name : {"values", "self", "neighbor"}) set(mean, name, side->named_parameters()[name].detach());
  const auto nodes = at::randn({5, 4});
  const auto both = side->forward(nodes, graph).context;
  EXPECT_EQ(both.sizes(), (std::vector<int64_t>{5, 6}));
  EXPECT_TRUE(close(mean->forward(nodes, graph).context, (both.narrow(1, 0, 3) + both.narrow(1, 3, 3)) / 2, 1e-6));
}

TEST(GraphAttention, DropsWeightsInTrainingAlone) {
  const Graph graph(at::randint(30, {2, 300}), 30);
  GraphAttention layer(GraphAttentionOptions{.in_dim = 4, .out_dim = 3, .dropout = 0.5});
  const auto nodes = at::randn({30, 4});
  const auto once = layer->forward(nodes, graph).context, again = layer->forward(nodes, graph).context;
  EXPECT_FALSE(once.equal(again));
  layer->eval();
  EXPECT_TRUE(layer->forward(nodes, graph).context.equal(layer->forward(nodes, graph).context));
}

TEST(GraphAttention, IsTheSameAfterCopyingSavingAndLoading) {
  const Graph graph(at::randint(5, {2, 12}), 5);
  const GraphAttentionOptions options{.in_dim = 4,
                                      .out_dim = 3,
                                      .num_heads = 2,
                                      .version = GatVersion::v2,
                                      .alignment = "entmax(1.5, learned)",
                                      .score_bias = true};
  GraphAttention layer(options), fresh(options);
  const auto nodes = at::randn({5, 4});
  const auto expected = layer->forward(nodes, graph).context;
  const auto copy = std::dynamic_pointer_cast<GraphAttentionImpl>(layer->clone());
  EXPECT_TRUE(same_bits(copy->forward(nodes, graph).context, expected));
  const auto file = ::testing::TempDir() + "gat.safetensors";
  save_parameters(*layer, file);
  EXPECT_FALSE(same_bits(fresh->forward(nodes, graph).context, expected));
  load_parameters(*fresh, file);
  EXPECT_TRUE(same_bits(fresh->forward(nodes, graph).context, expected));
  std::remove(file.c_str());
}

TEST(GraphAttention, PrintsItself) {
  std::ostringstream text;
  text << GraphAttention(GraphAttentionOptions{.in_dim = 4, .out_dim = 3, .num_heads = 2, .version = GatVersion::v2});
  EXPECT_EQ(text.str(),
            "heed::GraphAttention(gatv2 + softmax; in 4, out 3, heads 2 side by side, negative slope 0.2, "
            "self loops, bias)");
}

TEST(GraphAttention, RefusesWhatItCannotDo) {
  EXPECT_THROW(GraphAttention(GraphAttentionOptions{.in_dim = 4}), Error);
  EXPECT_THROW(GraphAttention(GraphAttentionOptions{.in_dim = 4, .out_dim = 2, .alignment = "local_m(3)"}), Error);
  EXPECT_THROW(GraphAttention(GraphAttentionOptions{.in_dim = 4, .out_dim = 2, .dropout = 1}), Error);
  GraphAttention layer(GraphAttentionOptions{.in_dim = 4, .out_dim = 2});
  EXPECT_THROW(layer->forward(at::randn({5, 3}), complete(5)), Error);
  EXPECT_THROW(layer->forward(at::randn({4, 4}), complete(5)), Error);
}

TEST(GraphAttention, RefusesNodesOfAnotherTypeThanItsParameters) {
  GraphAttention layer(GraphAttentionOptions{.in_dim = 4, .out_dim = 2});
  const auto said = [&](at::ScalarType type) -> std::string {
    try {
      layer->forward(at::randn({5, 4}).to(type), complete(5));
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_EQ(said(at::kDouble),
            "gat: nodes is Double on cpu, the parameters are Float on cpu; expected one type on one device");
  EXPECT_EQ(said(at::kBFloat16),
            "gat: nodes is BFloat16 on cpu, the parameters are Float on cpu; expected one type on one device");
}

TEST(GraphAttention, ComputesOnHalfTypes) {
  at::manual_seed(5);
  GraphAttention layer(GraphAttentionOptions{.in_dim = 4, .out_dim = 2});
  const auto nodes = at::randn({5, 4});
  const auto expected = layer->forward(nodes, complete(5)).context;
  layer->to(at::kBFloat16);
  const auto found = layer->forward(nodes.to(at::kBFloat16), complete(5)).context;
  ASSERT_EQ(found.scalar_type(), at::kBFloat16);
  EXPECT_TRUE(close(found.to(at::kFloat), expected, 0.03 * largest(expected)));
  found.sum().backward();
  EXPECT_EQ(layer->named_parameters()["values"].grad().scalar_type(), at::kBFloat16);
}

TEST(Gat, StaysInFloatInsideAnAutocastScope) {
  for (const auto version : {GatVersion::v1, GatVersion::v2}) {
    at::manual_seed(4);
    GraphAttention layer(GraphAttentionOptions{.in_dim = 4, .out_dim = 3, .num_heads = 2, .version = version});
    const auto nodes = at::randn({3, 4});
    const auto plain = layer->forward(nodes, fan()).context;
    const Autocast autocast(at::kCPU, true);
    const auto context = layer->forward(nodes, fan()).context;
    EXPECT_EQ(context.scalar_type(), at::kFloat);
    EXPECT_TRUE(close(context, plain, 0.05));  // the projections are bfloat16, attention is not
    context.sum().backward();
    EXPECT_TRUE(layer->named_parameters()["values"].grad().isfinite().all().item<bool>());
  }
}

}  // namespace
}  // namespace heed::testing
