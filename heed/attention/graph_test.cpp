// Attention over edges: kernels against torch operations, and both against attend() on the adjacency matrix.

#include "heed/attention/graph.h"

#include "heed/attention/graph_steps.h"
#include "heed/attention/testing.h"

namespace heed::testing {
namespace {

const std::vector<std::string> kAlignments{"softmax",
                                           "sparsemax",
                                           "entmax(1.5)",
                                           "entmax(1.5, learned)",
                                           "sigmoid",
                                           "identity",
                                           "uniform",
                                           "top_k(2)",
                                           "top_k(2, renorm)",
                                           "threshold(.2, keep_best=false)",
                                           "threshold(.3, renorm)",
                                           "hard",
                                           "gumbel_softmax(.7)",
                                           "straight_through(.7)"};
constexpr int64_t kNodes = 11, kHeads = 2;

Tensor edges_of(std::initializer_list<std::pair<int64_t, int64_t>> list) {
  std::vector<int64_t> from, to;
  for (const auto& [j, i] : list) {
    from.push_back(j);
    to.push_back(i);
  }
  return at::stack({at::tensor(from, at::kLong), at::tensor(to, at::kLong)});
}

/// Every node attends about half of the others. Node 3 has no edges, node 5 no incoming edges.
Graph some_graph() {
  at::manual_seed(5);
  auto adjacent = at::rand({kNodes, kNodes}) > 0.5;  // [i, j]
  adjacent.select(0, 3).fill_(false);
  adjacent.select(1, 3).fill_(false);
  adjacent.select(0, 5).fill_(false);
  const auto found = adjacent.nonzero().transpose(0, 1);  // i; j
  const auto mixed = found.index_select(1, at::randperm(found.size(1)));
  return {mixed.flip(0).contiguous(), kNodes};
}

struct GraphCase {
  Graph graph;
  EdgeScore score;
  Tensor values;
  GraphCall call{};

  GraphAttended run(Path path = Path::fastest) const {
    GraphCall some = call;
    some.path = path;
    return graph_attend(graph, score, values, some);
  }
  std::vector<Tensor> leaves() const {
    std::vector<Tensor> all{score.receiver, score.sender, values};
    if (score.to_scores.defined()) all.push_back(score.to_scores);
    for (const auto& x : call.parameters.values()) all.push_back(x);
    return all;
  }
};

GraphCase make_graph_case(const std::string& alignment, bool v2, int64_t width = 3,
                          const at::TensorOptions& options = kDouble) {
  GraphCase c{some_graph(), {}, {}};
  const auto leaf = [&](std::vector<int64_t> shape) { return at::randn(shape, kDouble).to(options).requires_grad_(); };
  if (v2) {
    c.score = {leaf({kNodes, kHeads, 4}), leaf({kNodes, kHeads, 4}), leaf({kHeads, 4})};
  } else {
    c.score = {leaf({kNodes, kHeads}), leaf({kNodes, kHeads})};
  }
  c.values = leaf({kNodes, kHeads, width});
  c.call.alignment = alignment;
  c.call.weights = true;
  if (alignment == "entmax(1.5, learned)") c.call.parameters.set("to_alpha", leaf({kHeads, 1}));
  c.call.noise.sample = true;
  c.call.noise.seed = 9;
  return c;
}

Tensor loss_of(const GraphAttended& a) {
  auto loss = (a.context * waves(a.context)).sum() + (a.weights * waves(a.weights, 1)).sum();
  if (a.log_probability.defined()) loss = loss + (a.log_probability * waves(a.log_probability, 2)).sum();
  return loss;
}

class EveryGraphAlignment : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Graph, EveryGraphAlignment, ::testing::ValuesIn(kAlignments), test_name);

/// Equals attend() with the adjacency matrix as mask and the edge scores as bias.
TEST_P(EveryGraphAlignment, IsAttentionUnderTheMaskOfTheGraph) {
  for (const bool v2 : {false, true}) {
    auto c = make_graph_case(GetParam(), v2);
    c.call.noise.sample = false;
    const auto pairs = c.score.receiver.unsqueeze(1) + c.score.sender.unsqueeze(0);  // [i, j, H] or [i, j, H, D]
    auto dense = at::leaky_relu(pairs, 0.2);
    if (v2) dense = (dense * c.score.to_scores).sum(-1);
    auto keep = at::zeros({kNodes, kNodes}, at::kBool);
    const auto from = c.graph.edges()[0], to = c.graph.edges()[1];
    keep.index_put_({to, from}, at::ones({1}, at::kBool));
    Call call;
    call.mask.keep = keep.view({1, 1, kNodes, kNodes});
    call.bias.full = dense.permute({2, 0, 1}).unsqueeze(0);
    call.outputs.weights = true;
    Parameters parameters;
    for (const auto& [name, tensor] : c.call.parameters) parameters.set("align." + name, tensor);
    const auto zeros = at::zeros({1, kHeads, kNodes, 1}, kDouble);
    const auto expected = attend(zeros, zeros, c.values.transpose(0, 1).unsqueeze(0),
                                 Mechanism::parse("dot + " + GetParam()), parameters, call);
    const auto weights = expected.weights.squeeze(0).index({at::indexing::Slice(), to, from}).transpose(0, 1);
    for (const Path path : {Path::fused, Path::composed}) {
      const auto found = c.run(path);
      EXPECT_TRUE(close(found.context, expected.context.squeeze(0).transpose(0, 1))) << to_string(path);
      EXPECT_TRUE(close(found.weights, weights)) << to_string(path);
    }
  }
}

TEST_P(EveryGraphAlignment, HasTheGradientsOfTorchsOperations) {
  for (const bool v2 : {false, true})
    for (const double dropout : {0.0, 0.4}) {
      auto c = make_graph_case(GetParam(), v2, v2 ? 8 : 3);
      c.call.noise.dropout = dropout;
      const auto a = c.run(Path::fused), b = c.run(Path::composed);
      EXPECT_EQ(a.path, Path::fused);
      EXPECT_EQ(b.path, Path::composed);
      EXPECT_TRUE(close(a.context, b.context, 1e-12));
      EXPECT_TRUE(close(a.weights, b.weights, 1e-12));
      const auto of_a = gradients(loss_of(a), c.leaves()), of_b = gradients(loss_of(b), c.leaves());
      for (size_t i = 0; i < of_a.size(); ++i) EXPECT_TRUE(close(of_a[i], of_b[i], 1e-11)) << i;
      EXPECT_GT(largest(of_a[2]), 0.1);
    }
}

TEST_P(EveryGraphAlignment, HasTheSecondDerivativesOfTorchsOperations) {
  for (const bool v2 : {false, true}) {
    const auto c = make_graph_case(GetParam(), v2);
    std::vector<std::vector<Tensor>> found;
    for (const Path path : {Path::fused, Path::composed}) {
      const auto a = c.run(path);
      const auto loss = (a.context.square() * waves(a.context)).sum() + (a.weights.square()).sum();
      Tensor again = at::zeros({}, kDouble);
      for (const auto& grad : gradients(loss, c.leaves(), /*create_graph=*/true))
        if (grad.defined()) again = again + (grad * waves(grad)).sum();
      found.push_back(gradients(again, c.leaves()));
    }
    for (size_t i = 0; i < found[0].size(); ++i) EXPECT_TRUE(close(found[0][i], found[1][i], 1e-9)) << i;
    EXPECT_TRUE(found[0][2].defined());
    EXPECT_GT(largest(found[0][2]), 0.01);
  }
}

TEST_P(EveryGraphAlignment, HasTheGradientOfCentralDifferences) {
  auto c = make_graph_case(GetParam(), true);
  if (GetParam() == "straight_through(.7)" || GetParam() == "hard") GTEST_SKIP() << "its gradient is an estimate";
  const auto grads = gradients(loss_of(c.run()), c.leaves());
  const at::NoGradGuard no_grad;
  for (const size_t leaf : {size_t{0}, size_t{1}, size_t{2}, size_t{3}}) {
    if (!grads[leaf].defined()) continue;
    auto x = c.leaves()[leaf];
    const auto away = waves(x, 3) * 1e-6;
    x.add_(away);
    const double up = loss_of(c.run()).item<double>();
    x.sub_(2 * away);
    const double down = loss_of(c.run()).item<double>();
    x.add_(away);
    EXPECT_NEAR((grads[leaf] * waves(x, 3)).sum().item<double>(), (up - down) / 2e-6, 1e-6) << leaf;
  }
}

TEST_P(EveryGraphAlignment, LeavesANodeWithoutIncomingEdgesAtZeroAndWithoutAGradient) {
  for (const Path path : {Path::fused, Path::composed}) {
    auto c = make_graph_case(GetParam(), true);
    {
      const at::NoGradGuard no_grad;  // values there must not matter
      c.score.receiver.select(0, 3).fill_(NAN);
      c.score.sender.select(0, 3).fill_(NAN);
      c.values.select(0, 3).fill_(NAN);
      c.score.receiver.select(0, 5).fill_(NAN);
    }
    const auto a = c.run(path);
    EXPECT_EQ(largest(a.context.select(0, 3)), 0);
    EXPECT_EQ(largest(a.context.select(0, 5)), 0);
    EXPECT_FALSE(a.context.isnan().any().item<bool>());
    const auto grads = gradients(loss_of(a), c.leaves());
    for (const auto& grad : grads) EXPECT_FALSE(grad.defined() && grad.isnan().any().item<bool>());
    EXPECT_EQ(largest(grads[2].select(0, 3)), 0);
  }
}

TEST_P(EveryGraphAlignment, DoesNotDependOnTheOrderOfEdges) {
  auto c = make_graph_case(GetParam(), false);
  c.call.noise.sample = false;
  const auto expected = c.run();
  const auto order = at::randperm(c.graph.size());
  c.graph = Graph(c.graph.edges().index_select(1, order), kNodes);
  const auto found = c.run();
  EXPECT_TRUE(close(found.context, expected.context, 1e-12));
  EXPECT_TRUE(close(found.weights, expected.weights.index_select(0, order), 1e-12));
}

TEST(GraphAttend, GivesTheSameBitsOnAnyNumberOfThreads) {
  at::manual_seed(3);
  const Graph graph(at::randint(4000, {2, 40000}), 4000);
  const auto leaf = [](std::vector<int64_t> shape) { return at::randn(shape).requires_grad_(); };
  const EdgeScore score{leaf({4000, 2, 8}), leaf({4000, 2, 8}), leaf({2, 8})};
  const auto values = leaf({4000, 2, 8});
  std::vector<std::vector<Tensor>> found;
  for (const int threads : {1, 3}) {
    at::set_num_threads(threads);
    const auto a = graph_attend(graph, score, values, {.weights = true});
    auto all = gradients(loss_of(a), {score.receiver, score.sender, score.to_scores, values});
    all.push_back(a.context);
    all.push_back(a.weights);
    found.push_back(all);
  }
  at::set_num_threads(1);
  for (size_t i = 0; i < found[0].size(); ++i) EXPECT_TRUE(same_bits(found[0][i], found[1][i])) << i;
}

TEST(GraphAttend, AgreesInFloatWithDouble) {
  for (const bool v2 : {false, true})
    for (const int64_t width : {7, 8}) {
      const auto fine = make_graph_case("softmax", v2, width);
      auto rough = fine;
      const auto to_float = [](Tensor& x) {
        if (x.defined()) x = x.detach().to(at::kFloat).requires_grad_();
      };
      for (auto* x : {&rough.score.receiver, &rough.score.sender, &rough.score.to_scores, &rough.values}) to_float(*x);
      const auto a = rough.run(), b = fine.run();
      EXPECT_TRUE(close(a.context, b.context, 2e-6));
      const auto of_a = gradients(loss_of(a), rough.leaves()), of_b = gradients(loss_of(b), fine.leaves());
      for (size_t i = 0; i < of_a.size(); ++i) EXPECT_TRUE(close(of_a[i], of_b[i], 2e-5)) << i;
    }
}

TEST(GraphAttend, HasAGradientThroughTheWeightsAlone) {
  const auto c = make_graph_case("softmax", false);
  const auto of = [&](Path path) {
    const auto a = c.run(path);
    return gradients((a.weights * waves(a.weights)).sum(), {c.score.receiver, c.score.sender});
  };
  const auto a = of(Path::fused), b = of(Path::composed);
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(close(a[i], b[i], 1e-12));
  EXPECT_GT(largest(a[1]), 0.01);
}

// Three edges into node 2. With scores 0, 0 and ln 2 the weights are 1/4, 1/4, 1/2; if the third edge repeats the
// second, with equal scores, they are 1/3 each.
TEST(GraphAttend, CountsAnEdgeTwiceThatIsGivenTwice) {
  const auto values = at::tensor({3.0, 6.0, 0.0}, kDouble).view({3, 1, 1});
  const auto zeros = at::zeros({3, 1}, kDouble);
  const auto once = graph_attend(Graph(edges_of({{0, 2}, {1, 2}}), 3), {zeros, zeros}, values);
  const auto twice =
      graph_attend(Graph(edges_of({{0, 2}, {1, 2}, {1, 2}}), 3), {zeros, zeros}, values, {.weights = true});
  EXPECT_NEAR(once.context[2].item<double>(), 4.5, 1e-12);
  EXPECT_NEAR(twice.context[2].item<double>(), 5, 1e-12);
  EXPECT_TRUE(close(twice.weights, at::full({3, 1}, 1.0 / 3, kDouble)));
}

// Masks must not be emulated by large negative scores: on an adjacency matrix, scores of -9e15 for all keys of an
// isolated node make it attend all nodes equally.
TEST(GraphAttend, DoesNotLetAnIsolatedNodeAttendAllNodes) {
  const Graph graph(edges_of({{0, 1}, {1, 0}}), 3);  // node 2 is isolated
  const auto values = at::tensor({3.0, 6.0, 9.0}, kDouble).view({3, 1, 1});
  const auto zeros = at::zeros({3, 1}, kDouble);
  const auto emulated = at::softmax(at::full({3}, -9e15, kDouble), 0).dot(values.flatten()).item<double>();
  EXPECT_EQ(emulated, 6);
  for (const Path path : {Path::fused, Path::composed})
    EXPECT_TRUE(same_bits(graph_attend(graph, {zeros, zeros}, values, {.path = path}).context.flatten(),
                          at::tensor({6.0, 3.0, 0.0}, kDouble)));
}

TEST(GraphAttend, DropsWeightsByEdgeAndHeadAndKeepsThemInTheMean) {
  at::manual_seed(2);
  const Graph graph(at::randint(500, {2, 20000}), 500);
  const auto zeros = at::zeros({500, 2}, kDouble);
  const auto ones = at::ones({500, 2, 1}, kDouble);
  GraphCall call{.noise = {.dropout = 0.4, .seed = 4}};
  const auto a = graph_attend(graph, {zeros, zeros}, ones, call);
  EXPECT_NEAR(a.context.mean().item<double>(), 1, 0.02);
  EXPECT_FALSE(a.context.select(1, 0).equal(a.context.select(1, 1)));
  EXPECT_TRUE(same_bits(a.context, graph_attend(graph, {zeros, zeros}, ones, call).context));
  call.noise.stream = 1;
  EXPECT_FALSE(same_bits(a.context, graph_attend(graph, {zeros, zeros}, ones, call).context));
  call.noise.seed = 0;
  EXPECT_NE(graph_attend(graph, {zeros, zeros}, ones, call).seed, 0U);
  EXPECT_EQ(graph_attend(graph, {zeros, zeros}, ones).seed, 0U);
}

// Two graphs joined into one, without one edge of the first: each edge draws the same numbers as in its own graph.
TEST(GraphAttend, DrawsByTheGivenElementAndIndexOfAnEdge) {
  at::manual_seed(6);
  constexpr int64_t N = 30, E = 200;
  const auto edges = at::randint(N, {2, E}), some = at::arange(1, E);
  const auto both = at::cat({edges.index_select(1, some), edges + N}, 1);
  const auto rows = at::cat({at::zeros({E - 1}, at::kLong), at::ones({E}, at::kLong)});
  const auto by = at::stack({rows, at::cat({some, at::arange(E)})});
  const auto untouched = (at::arange(N) != edges[1][0]).nonzero().squeeze(1);
  for (const char* alignment : {"softmax", "hard", "gumbel_softmax(.7)"})
    for (const auto type : {at::kFloat, at::kDouble})
      for (const Path path : {Path::fused, Path::composed}) {
        const auto sender = at::randn({N, 2}, type), values = at::randn({N, 2, 4}, type);
        const auto twice = [](const Tensor& x) { return at::cat({x, x}); };
        GraphCall call{.alignment = alignment, .noise = {.sample = true, .dropout = 0.3, .seed = 9}, .path = path};
        const auto first = graph_attend(Graph(edges, N), {sender, sender}, values, call).context;
        call.noise.first_row = 1;
        const auto second = graph_attend(Graph(edges, N), {sender, sender}, values, call).context;
        call.noise.first_row = 0;
        call.draws_by = by;
        const auto all = graph_attend(Graph(both, 2 * N), {twice(sender), twice(sender)}, twice(values), call).context;
        EXPECT_TRUE(close(all.narrow(0, 0, N).index_select(0, untouched), first.index_select(0, untouched), 1e-5));
        EXPECT_TRUE(close(all.narrow(0, N, N), second, 1e-5)) << alignment;
        EXPECT_FALSE(close(first, second, 1e-2));
      }
}

TEST(GraphAttend, ReportsWhetherTheAlignmentSampled) {
  auto c = make_graph_case("hard", false);
  c.call.noise = {.sample = true, .dropout = 0.1, .seed = 3};
  EXPECT_TRUE(c.run().sampled);
  c.call.noise.sample = false;
  EXPECT_FALSE(c.run().sampled);
  EXPECT_EQ(c.run().seed, 3U);  // for dropout
}

TEST(GraphAttend, SamplesANeighborWithTheProbabilityOfItsWeight) {
  constexpr int64_t kReceivers = 4000;  // nodes 2 ... attend nodes 0 and 1, with weights 3/4 and 1/4
  std::vector<int64_t> from, to;
  for (int64_t i = 2; i < kReceivers + 2; ++i)
    for (const int64_t j : {0, 1}) {
      from.push_back(j);
      to.push_back(i);
    }
  const Graph graph(at::stack({at::tensor(from, at::kLong), at::tensor(to, at::kLong)}), kReceivers + 2);
  auto sender = at::zeros({kReceivers + 2, 1}, kDouble);
  sender[0] = std::log(3.0);
  auto values = at::zeros({kReceivers + 2, 1, 1}, kDouble);
  values[0] = 1;
  const auto a = graph_attend(graph, {at::zeros_like(sender), sender}, values,
                              {.alignment = "hard", .noise = {.sample = true, .seed = 1}});
  EXPECT_NEAR(a.context.sum().item<double>() / kReceivers, 0.75, 0.03);
  const auto took = a.context.flatten().narrow(0, 2, kReceivers);
  const auto expected =
      at::where(took > 0, at::full({}, std::log(0.75), kDouble), at::full({}, std::log(0.25), kDouble));
  EXPECT_TRUE(close(a.log_probability.flatten().narrow(0, 2, kReceivers), expected, 1e-12));
}

TEST(GraphAttend, NeedsAtMostTwiceAsManySlotsAsEdges) {
  at::manual_seed(1);
  const Graph graph(at::cat({at::randint(300, {2, 2000}), edges_of({{1, 0}, {2, 0}})}, 1), 301);
  const auto& blocks = graph.blocks();
  EXPECT_LT(blocks.edge.numel(), 2 * graph.size());
  EXPECT_EQ(blocks.empty.logical_not().sum().item<int64_t>(), graph.size());
  EXPECT_TRUE(blocks.edge.index_select(0, blocks.slot).equal(at::arange(graph.size())));
}

TEST(GraphAttend, AcceptsNonContiguousTensors) {
  auto c = make_graph_case("softmax", true);
  const auto expected = c.run();
  const auto strided = [](const Tensor& x) { return x.detach().transpose(0, 1).contiguous().transpose(0, 1); };
  const EdgeScore score{strided(c.score.receiver), strided(c.score.sender), strided(c.score.to_scores)};
  ASSERT_FALSE(score.sender.is_contiguous());
  EXPECT_TRUE(same_bits(graph_attend(c.graph, score, strided(c.values)).context, expected.context));
}

TEST(GraphAttend, WorksOnEmptyGraphs) {
  for (const auto& alignment : {"softmax", "sparsemax"})
    for (const int64_t nodes : {0, 3}) {
      const Graph graph(at::zeros({2, 0}, at::kLong), nodes);
      const auto none = at::zeros({nodes, 2}, kDouble).requires_grad_();
      const auto values = at::ones({nodes, 2, 4}, kDouble).requires_grad_();
      const auto a = graph_attend(graph, {none, none}, values, {.alignment = alignment, .weights = true});
      EXPECT_TRUE(same_bits(a.context, at::zeros({nodes, 2, 4}, kDouble)));
      EXPECT_EQ(a.weights.sizes(), (std::vector<int64_t>{0, 2}));
      for (const auto& grad : gradients(loss_of(a), {none, values})) EXPECT_TRUE(!grad.defined() || largest(grad) == 0);
    }
}

TEST(GraphAttend, RefusesUndefinedAlignmentsAndWrongInputs) {
  const Graph graph(edges_of({{0, 1}}), 2);
  const auto zeros = at::zeros({2, 1}, kDouble), values = at::zeros({2, 1, 3}, kDouble);
  const auto with = [&](const std::string& alignment) {
    return [&, alignment] { graph_attend(graph, {zeros, zeros}, values, {.alignment = alignment}); };
  };
  for (const auto& alignment : {"local_m(2)", "local_p(2)", "reinforced", "softmacks"})
    EXPECT_THROW(with(alignment)(), Error) << alignment;
  EXPECT_THROW(check_graph_alignment("local_m(2)"), Error);
  EXPECT_NO_THROW(check_graph_alignment("sparsemax"));
  EXPECT_THROW(graph_attend(graph, {zeros, zeros.narrow(0, 0, 1)}, values), Error);
  EXPECT_THROW(graph_attend(graph, {zeros, zeros.to(at::kFloat)}, values), Error);
  EXPECT_THROW(graph_attend(graph, {zeros, zeros}, values.narrow(0, 0, 1)), Error);
  EXPECT_THROW(graph_attend(graph, {zeros, zeros, at::zeros({1, 3}, kDouble)}, values), Error);
  EXPECT_THROW(graph_attend(graph, {zeros, zeros}, values, {.noise = {.dropout = 1}}), Error);
  EXPECT_THROW(graph_attend(graph, {zeros, zeros}, values, {.path = Path::stored}), Error);
  const auto half = zeros.to(at::kBFloat16);
  EXPECT_THROW(graph_attend(graph, {half, half}, values), Error);
  EXPECT_THROW(graph_attend(graph, {zeros, zeros}, values.to(at::kBFloat16)), Error);
  EXPECT_THROW(graph_attend(graph, {zeros, zeros}, values.to(at::kLong)), Error);
  for (const auto& by : {at::zeros({2, 2}, at::kLong), at::zeros({2, 1}, at::kInt), at::full({2, 1}, -1, at::kLong)})
    EXPECT_THROW(graph_attend(graph, {zeros, zeros}, values, {.draws_by = by}), Error);
}

TEST(Graph, RefusesUnknownNodesAndWrongShapes) {
  EXPECT_THROW(Graph(edges_of({{0, 2}}), 2), Error);
  EXPECT_THROW(Graph(edges_of({{-1, 0}}), 2), Error);
  EXPECT_THROW(Graph(at::zeros({3, 2}, at::kLong), 4), Error);
  EXPECT_THROW(Graph(at::zeros({2, 2}, at::kInt), 4), Error);
  EXPECT_THROW(Graph(Tensor(), 4), Error);
}

TEST(Graph, AddsSelfLoopsWhereThereAreNone) {
  const auto graph = Graph(edges_of({{0, 1}, {1, 1}, {2, 0}}), 3).with_self_loops();
  EXPECT_TRUE(graph.edges().equal(edges_of({{0, 1}, {1, 1}, {2, 0}, {0, 0}, {2, 2}})));
  EXPECT_EQ(graph.size(), 5);
  EXPECT_EQ(graph.with_self_loops().size(), 5);
}

TEST(Graph, KnowsWhichNodesHaveEdges) {
  const auto connected = Graph(edges_of({{0, 2}}), 4).connected();
  EXPECT_TRUE(connected.equal(at::tensor(std::vector<int64_t>{1, 0, 1, 0}).to(at::kBool)));
}

}  // namespace
}  // namespace heed::testing
