// Graph attention kernels against their definition, on every instruction set of the machine.

#include "heed/kernels/cpu/attend.h"

#include <algorithm>
#include <thread>

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/kernels/cpu/graph/testing.h"

namespace heed::kernels::cpu::graph::testing {
namespace {

size_t at(int64_t i) {
  return static_cast<size_t>(i);
}

/// Reorders rows of edges: from the given order to that by receiver, and back.
template <typename Real>
std::vector<Real> sorted_rows(const Edges& edges, const std::vector<Real>& given, int64_t heads) {
  std::vector<Real> rows(given.size());
  for (int64_t e = 0; e < edges.size() && !given.empty(); ++e)
    for (int64_t h = 0; h < heads; ++h) rows[at(e * heads + h)] = given[at(edges.given[at(e)] * heads + h)];
  return rows;
}
template <typename Real>
std::vector<Real> given_rows(const Edges& edges, const std::vector<Real>& sorted, int64_t heads) {
  std::vector<Real> rows(sorted.size());
  for (int64_t e = 0; e < edges.size(); ++e)
    for (int64_t h = 0; h < heads; ++h) rows[at(edges.given[at(e)] * heads + h)] = sorted[at(e * heads + h)];
  return rows;
}

/// A case in the layout of the kernels, and all their results.
template <typename Real>
struct Computed {
  Case c;
  Edges edges;
  std::vector<Real> receiver, sender, to_scores, values, factor;
  std::vector<Real> weights, context;                             // edges sorted by receiver
  std::vector<Real> d_receiver, d_sender, d_to_scores, d_values;  // gradients
  std::vector<Real> grad_context, grad_weights;

  explicit Computed(const Case& given) : c(given), edges(given.sorted()) {
    const auto copy = [](const std::vector<double>& x) { return std::vector<Real>(x.begin(), x.end()); };
    receiver = copy(c.receiver), sender = copy(c.sender), to_scores = copy(c.to_scores), values = copy(c.values);
    factor = sorted_rows(edges, copy(c.factor), c.heads);
    weights.assign(at(c.edges() * c.heads), Real{-1});
    context.assign(values.size(), Real{-1});
    d_receiver.assign(receiver.size(), Real{-1}), d_sender.assign(sender.size(), Real{-1});
    d_to_scores.assign(to_scores.size(), Real{-1}), d_values.assign(values.size(), Real{-1});
    for (size_t k = 0; k < context.size(); ++k) grad_context.push_back(static_cast<Real>(std::cos(double(k))));
    std::vector<Real> wave;
    for (size_t k = 0; k < weights.size(); ++k) wave.push_back(static_cast<Real>(std::cos(double(k) + 1)));
    grad_weights = sorted_rows(edges, wave, c.heads);
  }
  Score<Real> score() const {
    return {receiver.data(), sender.data(), to_scores.empty() ? nullptr : to_scores.data(),
            c.heads,         c.across(),    static_cast<Real>(c.negative_slope)};
  }
  Values<Real> rows() const { return {values.data(), c.heads, c.width}; }
  ScoreGradients<Real> grads() {
    return {d_receiver.data(), d_sender.data(), to_scores.empty() ? nullptr : d_to_scores.data()};
  }
  const Real* factors() const { return factor.empty() ? nullptr : factor.data(); }

  Computed& forward(const ParallelFor& parallel_for = in_order) {
    attend(edges, score(), rows(), factors(), weights.data(), context.data(), parallel_for);
    return *this;
  }
  Computed& backward(const ParallelFor& parallel_for = in_order) {
    attend_backward(edges, score(), rows(), factors(), weights.data(), grad_context.data(), grad_weights.data(),
                    grads(), d_values.data(), parallel_for);
    return *this;
  }
};

template <typename Real>
void expect_near(const std::vector<Real>& x, const std::vector<double>& y, double tolerance, const char* what) {
  ASSERT_EQ(x.size(), y.size()) << what;
  for (size_t k = 0; k < x.size(); ++k) {
    const double expected = std::isnan(y[k]) ? 0 : y[k];  // 0 / 0 at a node without incoming edges
    ASSERT_NEAR(static_cast<double>(x[k]), expected, tolerance) << what << " " << k;
  }
}

/// The gradients of sum cos(k) context_k + sum cos(k + 1) weights_k, by the complex step.
std::vector<double> gradients_of(const Case& c,
                                 std::vector<std::complex<double>> Inputs<std::complex<double>>::*which) {
  constexpr double kStep = 1e-30;
  Inputs<std::complex<double>> x(c);
  std::vector<double> grads;
  for (auto& number : x.*which) {
    number += std::complex<double>(0, kStep);
    const auto r = define(c, x);
    double grad = 0;
    for (size_t k = 0; k < r.context.size(); ++k) grad += r.context[k].imag() * std::cos(double(k));
    for (size_t k = 0; k < r.weights.size(); ++k) grad += r.weights[k].imag() * std::cos(double(k) + 1);
    grads.push_back(grad / kStep);
    number = number.real();
  }
  return grads;
}

/// Widths with specialized code and others; GATv2 as wide as the values or not.
std::vector<Case> every_case() {
  std::vector<Case> all;
  for (const int64_t width : {1, 3, 7, 8, 16, 32, 64})
    for (const int64_t score_width : {int64_t{0}, width, int64_t{5}})
      all.push_back(make_case(9, 31, width > 8 ? 1 : 3, width, score_width, /*dropped=*/width % 2 == 1));
  for (const int64_t score_width : {0, 3, 8}) all.push_back(make_star(100, score_width == 3 ? 3 : 8, score_width));
  return all;
}

/// Runs on every instruction set of the machine.
class GraphKernel : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { use_instruction_set(GetParam()); }
  void TearDown() override { use_instruction_set(before_); }

 private:
  std::string before_ = instruction_set();
};
INSTANTIATE_TEST_SUITE_P(On, GraphKernel, ::testing::ValuesIn(instruction_sets()),
                         [](const auto& set) { return set.param; });

TEST_P(GraphKernel, AgreesWithTheDefinition) {
  for (const auto& c : every_case()) {
    SCOPED_TRACE("width " + std::to_string(c.width) + ", of scores " + std::to_string(c.score_width));
    const auto expected = define(c, Inputs<double>(c));
    Computed<double> run(c);
    run.forward();
    expect_near(run.context, expected.context, 1e-12, "context");
    expect_near(given_rows(run.edges, run.weights, c.heads), expected.weights, 1e-12, "weight");
    Computed<float> small(c);
    small.forward();
    expect_near(small.context, expected.context, 2e-5, "context in float");
    expect_near(given_rows(small.edges, small.weights, c.heads), expected.weights, 2e-6, "weight in float");
  }
}

TEST_P(GraphKernel, HasTheGradientsOfTheDefinition) {
  using Numbers = Inputs<std::complex<double>>;
  for (const auto& c : every_case()) {
    SCOPED_TRACE("width " + std::to_string(c.width) + ", of scores " + std::to_string(c.score_width));
    Computed<double> run(c);
    run.forward().backward();
    expect_near(run.d_receiver, gradients_of(c, &Numbers::receiver), 1e-11, "receiver");
    expect_near(run.d_sender, gradients_of(c, &Numbers::sender), 1e-11, "sender");
    expect_near(run.d_to_scores, gradients_of(c, &Numbers::to_scores), 1e-11, "to_scores");
    expect_near(run.d_values, gradients_of(c, &Numbers::values), 1e-11, "values");
    Computed<float> small(c);
    small.forward().backward();
    expect_near(small.d_receiver, gradients_of(c, &Numbers::receiver), 1e-4, "receiver in float");
    expect_near(small.d_sender, gradients_of(c, &Numbers::sender), 1e-4, "sender in float");
    expect_near(small.d_to_scores, gradients_of(c, &Numbers::to_scores), 1e-4, "to_scores in float");
    expect_near(small.d_values, gradients_of(c, &Numbers::values), 1e-4, "values in float");
  }
}

TEST_P(GraphKernel, GivesTheSameInSeparateStepsAsFused) {
  for (const auto& c : every_case()) {
    SCOPED_TRACE("width " + std::to_string(c.width) + ", of scores " + std::to_string(c.score_width));
    Computed<double> run(c);
    run.factor.clear();
    run.c.factor.clear();
    run.forward();
    const auto expected = define(run.c, Inputs<double>(run.c));
    std::vector<double> scores(run.weights.size()), context(run.context.size());
    score(run.edges, run.score(), scores.data());
    expect_near(given_rows(run.edges, scores, c.heads), expected.scores, 1e-12, "score");
    sum(run.edges, run.weights.data(), run.rows(), context.data());
    EXPECT_EQ(context, run.context);

    // Backward: through softmax by hand, de = a (da - sum a da) over the edges into the node.
    run.backward();
    const auto grads = run.d_values, receiver = run.d_receiver, sender = run.d_sender, to_scores = run.d_to_scores;
    std::vector<double> grad(run.weights.size());
    sum_backward(run.edges, run.weights.data(), run.rows(), run.grad_context.data(), grad.data(), run.d_values.data());
    for (int64_t i = 0; i < c.nodes; ++i)
      for (int64_t h = 0; h < c.heads; ++h) {
        double mean = 0;
        for (int64_t e = run.edges.first[at(i)]; e < run.edges.first[at(i + 1)]; ++e) {
          grad[at(e * c.heads + h)] += run.grad_weights[at(e * c.heads + h)];
          mean += run.weights[at(e * c.heads + h)] * grad[at(e * c.heads + h)];
        }
        for (int64_t e = run.edges.first[at(i)]; e < run.edges.first[at(i + 1)]; ++e) {
          double& x = grad[at(e * c.heads + h)];
          x = run.weights[at(e * c.heads + h)] * (x - mean);
        }
      }
    score_backward(run.edges, run.score(), grad.data(), run.grads());
    expect_near(run.d_values, grads, 1e-13, "values");
    expect_near(run.d_receiver, receiver, 1e-13, "receiver");
    expect_near(run.d_sender, sender, 1e-13, "sender");
    expect_near(run.d_to_scores, to_scores, 1e-12, "to_scores");
  }
}

/// Runs tasks on three threads, the last task first.
void on_threads(int64_t tasks, const std::function<void(int64_t)>& body) {
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int64_t i = tasks - 1 - t; i >= 0; i -= 3) body(i);
    });
  for (auto& thread : threads) thread.join();
}

TEST_P(GraphKernel, GivesTheSameBitsOnAnyNumberOfThreads) {
  for (const int64_t score_width : {0, 8}) {
    const Case c = make_case(3000, 30000, 2, 8, score_width);
    Computed<float> one(c), many(c);
    ASSERT_GT(one.edges.tasks(), 3);
    one.forward().backward();
    many.forward(on_threads).backward(on_threads);
    EXPECT_EQ(one.context, many.context);
    EXPECT_EQ(one.weights, many.weights);
    EXPECT_EQ(one.d_receiver, many.d_receiver);
    EXPECT_EQ(one.d_sender, many.d_sender);
    EXPECT_EQ(one.d_to_scores, many.d_to_scores);
    EXPECT_EQ(one.d_values, many.d_values);
  }
}

// A ring of 5000 nodes: 5000 nodes + 5000 edges are two tasks. Every sum l + r is (2, -2), LeakyReLU with
// negative slope 1/2 makes (2, -1) of it, and each score has gradient 1: da = 5000 (2, -1), exact in float.
TEST_P(GraphKernel, AddsTheGradientsOfToScoresOfAllTasks) {
  Case c{.nodes = 5000, .heads = 1, .width = 1, .score_width = 2, .negative_slope = 0.5, .to_scores = {1, 1}};
  for (int64_t i = 0; i < c.nodes; ++i) {
    c.from.push_back(i);
    c.to.push_back((i + 1) % c.nodes);
    c.receiver.insert(c.receiver.end(), {1, 1});
    c.sender.insert(c.sender.end(), {1, -3});
    c.values.push_back(0);
  }
  Computed<double> run(c);
  Computed<float> small(c);
  ASSERT_GT(run.edges.tasks(), 1);
  const std::vector<double> ones(5000, 1.0);
  score_backward(run.edges, run.score(), ones.data(), run.grads());
  EXPECT_EQ(run.d_to_scores, (std::vector<double>{10000, -5000}));
  const std::vector<float> small_ones(5000, 1.0F);
  score_backward(small.edges, small.score(), small_ones.data(), small.grads());
  EXPECT_EQ(small.d_to_scores, (std::vector<float>{10000, -5000}));
}

TEST_P(GraphKernel, GivesTheSameContextWhereWeightsAreNotStored) {
  const Case c = make_case(9, 31, 3, 8, 8);
  Computed<float> run(c);
  run.forward();
  const auto stored = run.context;
  attend<float>(run.edges, run.score(), run.rows(), run.factors(), nullptr, run.context.data());
  EXPECT_EQ(run.context, stored);
}

TEST_P(GraphKernel, LeavesANodeWithoutIncomingEdgesAtZero) {
  const Case c = make_case(9, 31, 2, 8, 8);
  Computed<double> run(c);
  run.forward().backward();
  for (size_t k = 0; k < 16; ++k) {  // node 0
    EXPECT_EQ(run.context[k], 0);
    EXPECT_EQ(run.d_receiver[k], 0);
  }
}

TEST_P(GraphKernel, DoesNotReadRowsThatNoEdgeNeeds) {
  for (const int64_t score_width : {0, 8}) {
    const Case clean = make_case(9, 31, 2, 8, score_width);
    Case dirty = clean;
    const auto put_nan = [&](std::vector<double>& x, int64_t node, int64_t row) {
      std::fill(x.begin() + node * row, x.begin() + (node + 1) * row, NAN);
    };
    const int64_t row = 2 * dirty.across();
    put_nan(dirty.receiver, 0, row);  // receives nothing
    put_nan(dirty.sender, 7, row);    // sends nothing
    put_nan(dirty.values, 7, 16);
    for (auto* x : {&dirty.receiver, &dirty.sender}) put_nan(*x, 8, row);  // has no edge
    put_nan(dirty.values, 8, 16);
    Computed<float> expected(clean), run(dirty);
    expected.forward().backward();
    run.forward().backward();
    EXPECT_EQ(run.context, expected.context);
    EXPECT_EQ(run.d_receiver, expected.d_receiver);
    EXPECT_EQ(run.d_sender, expected.d_sender);
    EXPECT_EQ(run.d_to_scores, expected.d_to_scores);
    EXPECT_EQ(run.d_values, expected.d_values);
  }
}

// 0 -> 2 and 1 -> 2 and 1 -> 3, one head, e = t_j.
Case three_edges(double t0, double t1) {
  return {.nodes = 4,
          .heads = 1,
          .width = 1,
          .from = {0, 1, 1},
          .to = {2, 2, 3},
          .receiver = {0, 0, 0, 0},
          .sender = {t0, t1, 0, 0},
          .values = {5, 7, 0, 0}};
}

TEST_P(GraphKernel, TakesAScoreOfMinusInfinityAsAbsent) {
  Computed<float> one(three_edges(-INFINITY, 1)), none(three_edges(0, -INFINITY));
  one.forward();
  EXPECT_EQ(one.context, (std::vector<float>{0, 0, 7, 7}));
  none.forward();
  EXPECT_EQ(none.context, (std::vector<float>{0, 0, 5, 0}));
}

TEST_P(GraphKernel, PropagatesNaNToReceiversOnly) {
  for (const double bad : {double{NAN}, double{INFINITY}}) {
    Computed<float> run(three_edges(bad, 1));
    run.forward();
    EXPECT_TRUE(std::isnan(run.context[2]));
    EXPECT_EQ(run.context[3], 7);
  }
}

TEST_P(GraphKernel, StaysExactWhereScoresAreFarApart) {
  for (const double apart : {1.0, 20.0, 80.0, 200.0}) {
    Computed<float> run(three_edges(1000, 1000 - apart));
    run.forward();
    const double expected = std::exp(-apart) / (1 + std::exp(-apart));
    EXPECT_NEAR(run.weights[1], expected, 1e-5 * expected + 1e-37);
    EXPECT_NEAR(run.weights[0], 1 / (1 + std::exp(-apart)), 2e-7);
  }
}

TEST(Edges, AreSortedByReceiverAndBySender) {
  const std::vector<int64_t> from{2, 0, 2, 1}, to{1, 1, 0, 1};
  const Edges edges = sort_edges(from.data(), to.data(), 4, 3);
  EXPECT_EQ(edges.first, (std::vector<int32_t>{0, 1, 4, 4}));
  EXPECT_EQ(edges.from, (std::vector<int32_t>{2, 2, 0, 1}));
  EXPECT_EQ(edges.given, (std::vector<int32_t>{2, 0, 1, 3}));
  EXPECT_EQ(edges.first_out, (std::vector<int32_t>{0, 1, 2, 4}));
  EXPECT_EQ(edges.to, (std::vector<int32_t>{1, 1, 0, 1}));
  EXPECT_EQ(edges.position, (std::vector<int32_t>{2, 3, 0, 1}));
}

TEST(Edges, AreCutIntoTasksThatCoverEveryNodeOnce) {
  const Case c = make_case(3000, 300000, 1, 1, 0);
  const Edges edges = c.sorted();
  for (const auto& cuts : {edges.cuts, edges.cuts_out}) {
    EXPECT_EQ(cuts.front(), 0);
    EXPECT_EQ(cuts.back(), 3000);
    EXPECT_TRUE(std::is_sorted(cuts.begin(), cuts.end()));
  }
  int64_t max = 0;
  for (int64_t t = 0; t < edges.tasks(); ++t)
    max = std::max<int64_t>(max, edges.first[at(edges.cuts[at(t + 1)])] - edges.first[at(edges.cuts[at(t)])]);
  EXPECT_LT(max, 2 * 300000 / edges.tasks());
}

TEST(Edges, RefuseNodesOutOfRange) {
  const std::vector<int64_t> from{0, 1}, to{1, 3};
  EXPECT_THROW(sort_edges(from.data(), to.data(), 2, 3), Error);
  EXPECT_NO_THROW(sort_edges(from.data(), to.data(), 2, 4));
  const int64_t negative = -1, fine = 0;
  EXPECT_THROW(sort_edges(&negative, &fine, 1, 3), Error);
}

TEST(Edges, MayBeEmpty) {
  const Edges edges = sort_edges(nullptr, nullptr, 0, 0);
  EXPECT_EQ(edges.tasks(), 0);
  std::vector<float> context(2, 1.0F);
  const Edges lonely = sort_edges(nullptr, nullptr, 0, 2);
  attend<float>(lonely, {.heads = 1}, {nullptr, 1, 1}, nullptr, nullptr, context.data());
  EXPECT_EQ(context, (std::vector<float>{0, 0}));
}

}  // namespace
}  // namespace heed::kernels::cpu::graph::testing
