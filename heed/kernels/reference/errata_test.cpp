// Where papers disagree or are ambiguous: one test per interpretation that was chosen, which fails under the other one.

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "heed/kernels/reference/testing.h"

namespace heed::kernels::reference {
namespace {

using Numbers = std::vector<double>;

/// One query over given scores, one feature each; values 1, so that the context is the sum of the weights.
Problem<double> over(const std::string& align, const Numbers& scores) {
  const auto keys = static_cast<int64_t>(scores.size());
  auto problem = problem_of("dot + " + align, {1, 1, 1, 1, keys, {1, 1, 1, 1}});
  problem.query.data = {1};
  problem.keys.data = scores;
  problem.values.data.assign(scores.size(), 1);
  return problem;
}

/// local_p over equal scores, at a given position p of S keys: sigmoid(to_position tanh(1 q)) = p / S.
Problem<double> local_p(const std::string& options, int64_t keys, double position) {
  auto problem = over("local_p(" + options + ")", Numbers(static_cast<size_t>(keys), 0));
  problem.keep = {{1, 1, 1, keys}, std::vector<uint8_t>(static_cast<size_t>(keys), 1)};
  const double part = position / static_cast<double>(keys);
  problem.parameters["align.from_query"] = {{1, 1}, {1}};
  problem.parameters["align.to_position"] = {{1, 1}, {std::log(part / (1 - part)) / std::tanh(1.)}};
  return problem;
}

double gauss(double x, double sigma) {
  return std::exp(-x * x / (2 * sigma * sigma));
}

// p = 3.9 of 10 keys, D = 2: the window is centered at floor(p) = 3 and is 1..5, not 2..6; the Gaussian at 3.9.
TEST(LocalP, WindowIsAroundTheFloorAndGaussianAroundTheRealPosition) {
  const auto a = attend(local_p("2", 10, 3.9)).weights.data;
  for (int j = 0; j < 10; ++j) {
    EXPECT_NEAR(a[static_cast<size_t>(j)], j >= 1 && j <= 5 ? gauss(j - 3.9, 1) / 5 : 0, 1e-15) << j;
  }
}

// p = .5: the window is 0..2, softmax is over three keys. Shifted it would have five, wrapped it would include key 9.
TEST(LocalP, WindowIsClippedNotShifted) {
  const auto a = attend(local_p("2", 10, .5)).weights.data;
  for (int j = 0; j < 10; ++j) EXPECT_NEAR(a[static_cast<size_t>(j)], j <= 2 ? gauss(j - .5, 1) / 3 : 0, 1e-15) << j;
}

TEST(LocalP, WeightsSumToLessThanOneUnlessRenormalized) {
  EXPECT_LT(attend(local_p("2", 10, 3.9)).context.data[0], .5);
  EXPECT_NEAR(attend(local_p("2, renorm", 10, 3.9)).context.data[0], 1, 1e-15);
}

// sigma = D / 2: a key two away from p under D = 4 has g = exp(-1/2) of the key at p.
TEST(LocalP, SigmaIsHalfTheWindow) {
  const auto a = attend(local_p("4", 20, 9)).weights.data;
  EXPECT_NEAR(a[11] / a[9], std::exp(-.5), 1e-12);
}

// The first key has position 0: p = .25 is nearer to it than to the second.
TEST(LocalP, PositionsCountFromZero) {
  const auto a = attend(local_p("2", 4, .25)).weights.data;
  EXPECT_NEAR(a[0] / a[1], gauss(.25, 1) / gauss(.75, 1), 1e-12);
}

// S is the number of keys without padding. Padding to 10 keys changes no weight, whether key_count or keep masks it.
TEST(LocalP, LengthExcludesPadding) {
  const auto short_one = attend(local_p("2", 6, 3.9)).weights.data;
  auto padded = local_p("2", 6, 3.9);
  padded.keys = {{1, 1, 10, 1}, Numbers(10, 0)};
  padded.values = {{1, 1, 10, 1}, Numbers(10, 1)};
  padded.keep = {{1, 1, 1, 10}, {1, 1, 1, 1, 1, 1, 0, 0, 0, 0}};
  auto counted = padded;
  counted.keep = {};
  counted.key_count = {{1}, {6}};
  for (const auto& problem : {padded, counted}) {
    const auto a = attend(problem).weights.data;
    for (size_t j = 0; j < 10; ++j) EXPECT_EQ(a[j], j < 6 ? short_one[j] : 0) << j;
  }
}

// All heads of a batch element have the same length: up to the last key that any of them may attend.
TEST(LocalP, LengthIsTheSameForAllHeads) {
  auto problem = problem_of("dot + local_p(2)", {1, 2, 2, 1, 6, {1, 1, 1, 1}});
  problem.query.data = {0, 0};  // p = S / 2
  problem.keep = {{1, 2, 1, 6}, {1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}};
  const auto a =
      attend(problem).weights.data;  // S = 6, p = 3, window 1..5: of the first head's two keys only key 1 is in it
  EXPECT_EQ(a[0], 0);
  EXPECT_NEAR(a[1], gauss(1 - 3, 1), 1e-15);
}

TEST(LocalP, WindowOfZeroIsOneKeyWithoutAGaussianOrAGradient) {
  const auto problem = local_p("0", 10, 3.9);
  const auto a = attend(problem).weights.data;
  for (size_t j = 0; j < 10; ++j) EXPECT_EQ(a[j], j == 3 ? 1 : 0) << j;
  EXPECT_EQ(gradients(problem, "align.to_position", upstream_of({1}))[0], 0);
}

// In double sigmoid(50) is 1 and p = S: the last key is the center.
TEST(LocalP, PositionAtTheEndIsCenteredAtTheLastKey) {
  auto problem = local_p("1", 5, 2.5);
  problem.parameters["align.to_position"].data[0] = 100;
  const auto a = attend(problem).weights.data;
  EXPECT_EQ(a[2], 0);
  EXPECT_GT(a[3], 0);
  EXPECT_GT(a[4], a[3]);
}

// local_m has no Gaussian: inside the window equal scores have equal weights.
TEST(LocalM, IsASoftmaxWithoutAGaussian) {
  auto problem = over("local_m(1)", {0, 0, 0, 0, 0});
  problem.first_query = 2;
  EXPECT_EQ(attend(problem).weights.data, (Numbers{0, 1. / 3, 1. / 3, 1. / 3, 0}));
}

// With clamp the window is centered at the last key without padding, not at the last key of the array.
TEST(LocalM, ClampsToTheTrueLength) {
  auto problem = over("local_m(1, clamp)", {0, 0, 0, 0, 0});
  problem.first_query = 9;
  problem.key_count = {{1}, {3}};
  EXPECT_EQ(attend(problem).weights.data, (Numbers{0, .5, .5, 0, 0}));
}

// A filter of the softmax weights is not hard attention: two are kept, with the weights they had.
TEST(Threshold, IsNotHard) {
  const Numbers e{0, std::log(2.), std::log(2.)};  // softmax (.2, .4, .4)
  const auto filtered = attend(over("threshold(.3)", e)).weights.data, hard = attend(over("hard", e)).weights.data;
  EXPECT_EQ(filtered[0], 0);
  EXPECT_NEAR(filtered[1], .4, 1e-15);
  EXPECT_NEAR(filtered[2], .4, 1e-15);
  EXPECT_EQ(hard, (Numbers{0, 1, 0}));
}

TEST(Threshold, KeepsWeightsEqualToTheta) {
  EXPECT_EQ(attend(over("threshold(.5)", {0, 0})).weights.data, (Numbers{.5, .5}));
}

TEST(Threshold, MayKeepNothingWithoutKeepBest) {
  EXPECT_EQ(attend(over("threshold(.9, keep_best=false)", {0, 1, 0})).weights.data, (Numbers{0, 0, 0}));
  EXPECT_EQ(attend(over("threshold(.9, renorm)", {0, 1, 0})).weights.data, (Numbers{0, 1, 0}));
  const double a = std::exp(1.) / (2 + std::exp(1.));
  EXPECT_NEAR(attend(over("threshold(.9)", {0, 1, 0})).weights.data[1], a, 1e-15);
}

// The distance is negated: the key equal to the query has the largest score, though its dot product is smaller.
TEST(Euclidean, PrefersTheNearerKey) {
  for (const std::string score : {"euclidean", "euclidean(root)"}) {
    auto problem = problem_of(score + " + softmax", {1, 1, 1, 1, 2, {1, 1, 1, 1}});
    problem.query.data = {1}, problem.keys.data = {1, 5};
    const auto answer = attend(problem);
    EXPECT_EQ(answer.scores.data[0], 0);
    EXPECT_EQ(answer.scores.data[1], score == "euclidean" ? -16 : -4);
  }
}

TEST(Euclidean, RootHasNoGradientAtDistanceZero) {
  auto problem = problem_of("euclidean(root) + identity", {1, 1, 1, 1, 1, {2, 2, 1, 1}});
  problem.keys.data = problem.query.data;
  EXPECT_EQ(gradients(problem, "query", upstream_of({1})), (Numbers{0, 0}));
}

TEST(Cosine, OfAZeroVectorIsZeroAndHasNoGradientThere) {
  auto problem = problem_of("cosine + identity", {1, 1, 1, 1, 2, {2, 2, 1, 1}});
  problem.keys.data = {0, 0, 3, 4};
  const auto answer = attend(problem);
  EXPECT_EQ(answer.scores.data[0], 0);
  const auto by_keys = gradients(problem, "keys", upstream_of({1}));
  EXPECT_EQ(by_keys[0], 0);
  EXPECT_EQ(by_keys[1], 0);
  EXPECT_NE(by_keys[2], 0);
}

// w = 1, no weights on q and k, b = 2: inside the activation it is tanh(2), outside it would be 2.
TEST(Additive, BiasIsInsideTheActivation) {
  auto problem = problem_of("additive + identity", {1, 1, 1, 1, 1, {1, 1, 1, 1}});
  problem.parameters = {{"score.from_query", {{1, 1}, {0}}},
                        {"score.from_keys", {{1, 1}, {0}}},
                        {"score.bias", {{1}, {2}}},
                        {"score.to_scores", {{1, 1}, {1}}}};
  EXPECT_DOUBLE_EQ(attend(problem).scores.data[0], std::tanh(2.));
}

// The bias of activated_general is a scalar inside the activation; biased_general has a vector, multiplied by the key.
TEST(ActivatedGeneral, IsBoundedAndItsBiasIsAScalar) {
  auto problem = problem_of("activated_general + identity", {1, 1, 1, 1, 1, {1, 1, 1, 1}});
  problem.query.data = {2}, problem.keys.data = {30};
  problem.parameters = {{"score.from_query", {{1, 1}, {.01}}}, {"score.bias", {{1}, {.4}}}};
  EXPECT_DOUBLE_EQ(attend(problem).scores.data[0], std::tanh(1.));
}

// The scale is that of the features that are summed, not of an input before projection: Dk, or the width of a group.
TEST(ScaledDot, DividesByTheRootOfTheWidthThatIsSummed) {
  auto problem = problem_of("scaled_dot + identity", {1, 1, 1, 1, 1, {16, 16, 4, 1}});
  problem.query.data.assign(16, 1), problem.keys.data.assign(16, 1);
  EXPECT_EQ(attend(problem).scores.data, (Numbers{16 / 4.}));
  problem.mechanism = parse_mechanism("scaled_dot + identity, multi(lift)");
  EXPECT_EQ(attend(problem).scores.data, (Numbers(4, 4 / 2.)));
}

// Weights are not normalized only if the spec says so.
TEST(Identity, UsesTheScoresAsWeights) {
  const Numbers e{2, -1, 5};
  EXPECT_EQ(attend(over("identity", e)).weights.data, e);
  EXPECT_NEAR(attend(over("softmax", e)).context.data[0], 1, 1e-15);
}

// Softmax over positions, not over the learned queries.
TEST(SelfAttentive, NormalizesOverTheKeysOfEachLearnedQuery) {
  const auto a = attend(problem_of("self_attentive(queries=3) + softmax", {1, 1, 1, 3, 5, {2, 2, 1, 3}})).weights.data;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(
        std::accumulate(a.begin() + static_cast<int64_t>(5 * i), a.begin() + static_cast<int64_t>(5 * i + 5), 0.), 1,
        1e-15);
  }
}

TEST(SelfAttentive, DoesNotReadTheGivenQuery) {
  for (const std::string spec : {"self_attentive + softmax", "self_attentive(dot) + softmax, multi(lift)"}) {
    auto problem = problem_of(spec);
    const auto context = attend(problem).context;
    for (double& x : problem.query.data) x = std::nan("");
    EXPECT_TRUE(same_bits(attend(problem).context, context)) << spec;
  }
}

// DiSAN: e = 5 tanh(x / 5), x = 10: bounded by 5, and not tanh(10) = 1.
TEST(Additive, ElementwiseIsBoundedByFive) {
  auto problem = problem_of("additive + identity, multi(elementwise)", {1, 1, 1, 1, 1, {1, 1, 1, 1}});
  problem.parameters = {
      {"score.from_query", {{1, 1}, {0}}}, {"score.from_keys", {{1, 1}, {0}}}, {"score.bias", {{1}, {10}}}};
  EXPECT_DOUBLE_EQ(attend(problem).scores.data[0], 5 * std::tanh(2.));
}

// Large scores lose no digits: the largest score is subtracted first.
TEST(Offsets, DoNotMatter) {
  for (const std::string align : {"softmax", "sparsemax", "entmax(1.3)", "threshold(.1)", "top_k(2)"}) {
    const auto low = attend(over(align, {.25, .5, 0, -1})).weights.data,
               high = attend(over(align, {1e6 + .25, 1e6 + .5, 1e6, 1e6 - 1})).weights.data;
    for (size_t j = 0; j < 4; ++j) EXPECT_NEAR(low[j], high[j], 1e-14) << align;
  }
}

// alpha -> 1 is softmax, alpha = 2 is sparsemax, and the weights always sum to one.
TEST(Entmax, GoesFromSoftmaxToSparsemax) {
  const Numbers e{.3, -.4, 1.1, .9, -2};
  const auto soft = attend(over("softmax", e)).weights.data, sparse = attend(over("sparsemax", e)).weights.data;
  const auto near_one = attend(over("entmax(1.000001)", e)).weights.data,
             two = attend(over("entmax(2)", e)).weights.data;
  for (size_t j = 0; j < e.size(); ++j) {
    EXPECT_NEAR(near_one[j], soft[j], 1e-5);
    EXPECT_NEAR(two[j], sparse[j], 1e-15);
  }
  for (const std::string alpha : {"1.01", "1.1", "1.5", "1.9", "2"}) {
    EXPECT_NEAR(attend(over("entmax(" + alpha + ")", e)).context.data[0], 1, 1e-13) << alpha;
  }
}

}  // namespace
}  // namespace heed::kernels::reference
