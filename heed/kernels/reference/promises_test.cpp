// What every mechanism promises, checked for every score x alignment x dimensionality that has a definition.

#include <cmath>
#include <limits>
#include <thread>

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/kernels/reference/align.h"
#include "heed/kernels/reference/score.h"
#include "heed/kernels/reference/testing.h"

namespace heed::kernels::reference {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
const std::vector<std::string> kDimensionalities{"single", "multi", "multi(elementwise)", "multi(lift)"};

/// Every part by name, and the variants that its entry names.
template <typename Definitions>
std::vector<std::string> with_variants(std::vector<std::string> names) {
  auto all = names;
  for (const auto& name : names) {
    const auto& variants = Definitions::describe(name).variants;
    all.insert(all.end(), variants.begin(), variants.end());
  }
  return all;
}

std::vector<std::string> scores() {
  return with_variants<ScoreDefinitions>(score_names());
}

std::vector<std::string> alignments() {
  return with_variants<AlignDefinitions>(align_names());
}

std::vector<std::string> mechanisms() {
  std::vector<std::string> all;
  for (const auto& score : scores()) {
    for (const auto& alignment : alignments()) {
      for (const auto& dimensionality : kDimensionalities) {
        const auto spec = score + " + " + alignment + ", " + dimensionality;
        if (missing(parse_mechanism(spec)).empty()) all.push_back(spec);
      }
    }
  }
  return all;
}

Alignment<double>::Gives gives(const std::string& spec) {
  return make_definition<double, Alignment>(parse_mechanism(spec).align)->gives();
}

bool draws(const std::string& spec) {
  return gives(spec).draws || gives(spec).policy;
}

/// Runs the body for every mechanism: without sampling, and with sampling if it is stochastic.
void for_every_mechanism(const Lengths& lengths,
                         const std::function<void(const std::string&, Problem<double>&)>& body) {
  for (const auto& spec : mechanisms()) {
    for (const bool sample : {false, true}) {
      if (sample && !draws(spec)) continue;
      SCOPED_TRACE(spec + (sample ? ", drawn" : ", decided"));
      auto problem = problem_of(spec, lengths);
      problem.sample = sample;
      body(spec, problem);
    }
  }
}

int64_t width_of(const Answer<double>& answer) {
  return answer.weights.shape.back();
}

/// The n numbers of one query.
template <typename Real>
std::vector<Real> row_of(const Array<Real>& array, int64_t row, int64_t n) {
  const auto from = array.data.begin() + row * n;
  return {from, from + n};
}

void expect_all(const std::vector<double>& got, double expected, const char* what) {
  for (const double x : got) EXPECT_EQ(x, expected) << what;
}

/// A query that may attend nothing: query 1 of batch element 0, head 1 (of 3 queries, 2 heads).
constexpr int64_t kDeadRow = 4;

void kill_row(Problem<double>& problem) {
  problem.keep = {{2, 2, 3, 5}, std::vector<uint8_t>(60, 1)};
  for (size_t j = 0; j < 5; ++j) problem.keep.data[kDeadRow * 5 + j] = 0;
}

/// So that the loops below are not empty: every score with every alignment, and some of both in more than one form.
/// That no file of a definition is left out by the linker is the business of the generated definitions.cpp.
TEST(EveryMechanism, CoversAllScoresAndAlignments) {
  ASSERT_FALSE(score_names().empty() || align_names().empty());
  EXPECT_GT(mechanisms().size(), scores().size() * alignments().size());
}

// D1: zeros, an lse of -inf, and NaN in that query is not read.
TEST(EveryMechanism, LeavesARowWithoutKeysAtZero) {
  for_every_mechanism({}, [](const std::string&, Problem<double>& problem) {
    kill_row(problem);
    for (size_t d = 0; d < 4; ++d) problem.query.data[kDeadRow * 4 + d] = kNan;
    const auto answer = attend(problem);
    const int64_t W = width_of(answer);
    expect_all(row_of(answer.weights, kDeadRow, 5 * W), 0, "weights");
    expect_all(row_of(answer.context, kDeadRow, 2), 0, "context");
    if (!answer.lse.empty()) expect_all(row_of(answer.lse, kDeadRow, W), -kInfinity, "lse");
    if (!answer.entropy.empty()) expect_all(row_of(answer.entropy, kDeadRow, W), 0, "entropy");
    if (answer.log_probability.shape.size() == 4)
      expect_all(row_of(answer.log_probability, kDeadRow, W), 0, "log_probability");
    for (const auto& [name, array] : outputs(answer)) {
      for (const double x : array->data) EXPECT_FALSE(std::isnan(x)) << name;
    }
  });
}

// D1: the context of a query without keys depends on no input.
TEST(EveryMechanism, LetsNoGradientThroughARowWithoutKeys) {
  for_every_mechanism({}, [](const std::string&, Problem<double>& problem) {
    kill_row(problem);
    auto moved = to_complex(problem);
    for (auto& [name, array] : inputs(moved)) {
      for (Complex& x : array->data) x += Complex(0, kStep);
    }
    for (const Complex& x : row_of(attend(moved).context, kDeadRow, 2)) EXPECT_EQ(x, Complex(0, 0));
  });
}

// D1, D5: no keys, no queries, no batch.
TEST(EveryMechanism, KeepsShapesWhereSomethingIsEmpty) {
  for (const auto& spec : mechanisms()) {
    SCOPED_TRACE(spec);
    const auto no_keys = attend(problem_of(spec, {.keys = 0}));
    EXPECT_EQ(no_keys.context.shape, (std::vector<int64_t>{2, 2, 3, 2}));
    expect_all(no_keys.context.data, 0, "context");
    expect_all(no_keys.lse.data, -kInfinity, "lse");
    expect_all(no_keys.log_probability.data, 0, "log_probability");
    EXPECT_EQ(attend(problem_of(spec, {.batch = 0})).context.shape, (std::vector<int64_t>{0, 2, 3, 2}));
    if (spec.find("queries=3") != std::string::npos) continue;
    EXPECT_EQ(attend(problem_of(spec, {.queries = 0})).context.shape, (std::vector<int64_t>{2, 2, 0, 2}));
  }
}

// D2: a single key has all the weight, and its score then has no gradient. Not where weights are no distribution, where
// the policy does not select it, or where it is outside the window.
TEST(EveryMechanism, GivesAllWeightToAnOnlyKey) {
  for_every_mechanism({}, [](const std::string& spec, Problem<double>& problem) {
    if (!gives(spec).entropy || gives(spec).policy || gives(spec).positional) return;
    problem.keep = {{1, 1, 1, 5}, {0, 0, 1, 0, 0}};
    problem.bias = {{1, 1, 1, 5}, {0, 0, 0, 0, 0}};
    const auto answer = attend(problem);
    const auto W = static_cast<size_t>(width_of(answer));
    for (size_t n = 0; n < answer.weights.data.size(); ++n)
      EXPECT_NEAR(answer.weights.data[n], n / W % 5 == 2 ? 1 : 0, 1e-15);
    for (size_t n = 0; n < answer.context.data.size(); ++n) {
      const size_t head = n / 6, c = n % 2;  // three queries of two channels
      EXPECT_NEAR(answer.context.data[n], problem.values.data[head * 10 + 2 * 2 + c], 1e-15);
    }
    auto moved = to_complex(problem);
    moved.bias.data[2] += Complex(0, kStep);
    for (const Complex& x : attend(moved).context.data) EXPECT_LT(std::abs(x.imag()), 1e-15 * kStep);
  });
}

// D2 for the unnormalized local alignment: the weight is the Gaussian. p = 3 sigmoid(0) = 1.5, sigma = 1, j = 1.
TEST(LocalP, GivesAnOnlyKeyItsGaussian) {
  auto problem = problem_of("dot + local_p(2)", {1, 1, 1, 1, 3, {2, 2, 1, 1}});
  problem.parameters["align.to_position"] = {{1, 1}, {0}};
  problem.keep = {{1, 1, 1, 3}, {0, 1, 0}};
  problem.key_count = {{1}, {3}};
  EXPECT_NEAR(attend(problem).weights.data[1], std::exp(-.5 * .5 / 2), 1e-15);
}

// D3: keys and values that no query may attend are not read: NaN and infinity there change no bit.
TEST(EveryMechanism, DoesNotReadMaskedKeysAndValues) {
  for_every_mechanism({}, [](const std::string&, Problem<double>& problem) {
    problem.key_count = {{2}, {3, 5}};
    problem.keep = {{2, 1, 1, 5}, {1, 1, 1, 1, 1, 1, 0, 1, 1, 1}};
    problem.dropout = .25;
    const auto clean = attend(problem);
    for (size_t head = 0; head < 4; ++head) {
      for (const size_t j : head < 2 ? std::vector<size_t>{3, 4} : std::vector<size_t>{1}) {
        for (size_t d = 0; d < 4; ++d) problem.keys.data[(head * 5 + j) * 4 + d] = d % 2 ? kNan : kInfinity;
        for (size_t d = 0; d < 2; ++d) problem.values.data[(head * 5 + j) * 2 + d] = d % 2 ? kInfinity : kNan;
      }
    }
    const auto with_nan = attend(problem);
    const auto expected = outputs(clean);
    for (const auto& [name, array] : outputs(with_nan)) EXPECT_TRUE(same_bits(*array, *expected.at(name))) << name;
    const auto W = static_cast<size_t>(width_of(clean));
    for (size_t n = 0; n < clean.weights.data.size(); ++n) {
      const size_t j = n / W % 5, b = n / W / 30;
      const bool masked = b == 0 ? j >= 3 : j == 1;
      EXPECT_TRUE(!masked || clean.weights.data[n] == 0) << "key " << j;
    }
  });
}

// D3: a key that only one query may attend does not affect another. Exception: reinforced includes it in the mean.
TEST(EveryMechanism, DoesNotReadKeysThatOnlyAnotherQueryMayAttend) {
  for_every_mechanism({}, [](const std::string& spec, Problem<double>& problem) {
    if (gives(spec).policy) return;
    problem.causal = Causal::top_left;
    const auto clean = attend(problem);
    for (size_t head = 0; head < 4; ++head) {
      for (size_t d = 0; d < 4; ++d) problem.keys.data[(head * 5 + 2) * 4 + d] = kNan;
      for (size_t d = 0; d < 2; ++d) problem.values.data[(head * 5 + 2) * 2 + d] = kNan;
    }
    const auto with_nan = attend(problem);
    for (int64_t row = 0; row < 12; ++row) {
      if (row % 3 == 2) continue;  // the query at position 2 sees the key at position 2
      EXPECT_EQ(row_of(with_nan.context, row, 2), row_of(clean.context, row, 2));
    }
  });
}

// D4: NaN in a kept score makes the context NaN, unless the alignment does not read that score.
TEST(EveryMechanism, DoesNotHideANanInAKeptScore) {
  for_every_mechanism({}, [](const std::string& spec, Problem<double>& problem) {
    if (!gives(spec).compares || gives(spec).positional || gives(spec).policy) return;
    problem.bias = {{1, 1, 3, 5}, std::vector<double>(15, 0)};
    problem.bias.data[5 + 3] = kNan;  // query 1, key 3
    const auto answer = attend(problem);
    for (int64_t row = 0; row < 12; ++row) {
      for (const double x : row_of(answer.context, row, 2)) EXPECT_EQ(std::isnan(x), row % 3 == 1);
    }
  });
}

// The same where each weight depends on its own score alone.
TEST(Elementwise, PassesOnANanInAKeptScore) {
  for (const std::string alignment : {"sigmoid", "identity"}) {
    auto problem = problem_of("dot + " + alignment);
    problem.bias = {{1, 1, 3, 5}, std::vector<double>(15, 0)};
    problem.bias.data[5 + 3] = kNan;  // query 1, key 3
    const auto answer = attend(problem);
    for (int64_t row = 0; row < 12; ++row) {
      for (const double x : row_of(answer.context, row, 2)) EXPECT_EQ(std::isnan(x), row % 3 == 1) << alignment;
    }
  }
}

// Softmax within a window that holds all keys: an only key has all the weight.
TEST(LocalM, GivesAllWeightToAnOnlyKeyInItsWindow) {
  auto problem = problem_of("dot + local_m");
  problem.keep = {{1, 1, 1, 5}, {0, 0, 1, 0, 0}};
  const auto answer = attend(problem);
  for (size_t n = 0; n < answer.weights.data.size(); ++n) EXPECT_EQ(answer.weights.data[n], n % 5 == 2 ? 1 : 0);
}

// D4: alignments that compare or normalize turn a kept score of +inf into NaN.
TEST(EveryMechanism, DoesNotHideAnInfinityInAKeptScore) {
  for_every_mechanism({}, [](const std::string& spec, Problem<double>& problem) {
    if (!gives(spec).compares || gives(spec).positional || gives(spec).policy) return;
    problem.bias = {{1, 1, 1, 5}, {0, 0, 0, kInfinity, 0}};
    for (const double x : attend(problem).context.data) EXPECT_TRUE(std::isnan(x));
  });
}

// D4: a kept score of -inf counts as masked. The policy of reinforced reads keys, not scores.
TEST(EveryMechanism, TreatsAScoreOfMinusInfinityAsMasked) {
  for_every_mechanism({}, [](const std::string& spec, Problem<double>& problem) {
    if (gives(spec).policy) return;
    problem.keep = {{1, 1, 1, 5}, {1, 0, 1, 1, 1}};
    const auto masked = attend(problem);
    problem.keep = {};
    problem.bias = {{1, 1, 1, 5}, {0, -kInfinity, 0, 0, 0}};
    const auto answer = attend(problem);
    const auto expected = outputs(masked);
    for (const auto& [name, array] : outputs(answer)) EXPECT_TRUE(same_bits(*array, *expected.at(name))) << name;
  });
}

// Uniform weights depend on the mask and on biases of -inf alone.
TEST(Uniform, IgnoresScoresButNotABiasOfMinusInfinity) {
  auto problem = problem_of("dot + uniform", {1, 1, 1, 1, 4, {1, 1, 1, 1}});
  problem.query.data = {1};
  problem.keys.data = {-kInfinity, kNan, kInfinity, 2};
  EXPECT_EQ(attend(problem).weights.data, (std::vector<double>{0.25, 0.25, 0.25, 0.25}));
  problem.per_key = {{1, 1, 4}, {0, -kInfinity, 0, kNan}};
  EXPECT_EQ(attend(problem).weights.data, (std::vector<double>{1.0 / 3, 0, 1.0 / 3, 1.0 / 3}));
}

// D6: of equal scores the first wins.
TEST(Ties, GoToTheLowestIndex) {
  for (const std::string alignment :
       {"hard", "gumbel_softmax", "straight_through", "top_k(1, renorm)", "threshold(.9, renorm)"}) {
    auto problem = problem_of("dot + " + alignment, {1, 1, 1, 1, 4, {2, 2, 1, 1}});
    problem.keys.data.assign(8, 1);
    problem.keep = {{1, 1, 1, 4}, {0, 1, 1, 1}};
    EXPECT_EQ(attend(problem).weights.data, (std::vector<double>{0, 1, 0, 0})) << alignment;
  }
}

// D7, and every other shape that the loops rely on.
TEST(Shapes, AreRefusedWithTheGotAndTheExpectedShape) {
  const auto message = [](const Problem<double>& problem) {
    try {
      attend(problem);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing was refused");
  };
  const Lengths unequal{.widths = {3, 4, 2, 3}};
  EXPECT_EQ(message(problem_of("dot + softmax", unequal)),
            "score/dot: query has 3 features and keys have 4, expected as many; general or additive compare different "
            "widths");
  EXPECT_EQ(message(problem_of("dot + softmax, multi(lift)", {.widths = {4, 4, 3, 3}})),
            "score/dot: keys have 4 features, expected a multiple of the 3 channels of the values");
  auto problem = problem_of("additive + softmax");
  problem.parameters.erase("score.to_scores");
  EXPECT_EQ(message(problem), "kernels/reference: parameter score.to_scores is missing, expected [1, 3]");
  problem = problem_of("additive + softmax");
  problem.parameters["score.bias"] = {{5}, {1, 2, 3, 4, 5}};
  EXPECT_EQ(message(problem),
            "kernels/reference: parameter score.bias is [5], expected [3], or that with a leading axis of 2, one set "
            "for each head");
  problem = problem_of("dot + softmax");
  problem.parameters["align.to_alpha"] = {{1}, {1}};
  EXPECT_EQ(message(problem), "kernels/reference: got parameter align.to_alpha, expected none of align.*");
  problem = problem_of("dot + softmax");
  problem.keep = {{1, 1, 2, 5}, std::vector<uint8_t>(10, 1)};
  EXPECT_EQ(message(problem),
            "kernels/reference: keep is [1, 1, 2, 5], expected [2, 2, 3, 5]; only axes of size 1 broadcast");
  problem = problem_of("self_attentive(queries=2) + softmax");
  EXPECT_EQ(message(problem), "score/self_attentive: got 3 queries, expected 2, one row for each learned query");
  problem = problem_of("dot + softmax");
  problem.key_count = {{2}, {3, 6}};
  EXPECT_EQ(message(problem), "kernels/reference: a key_count is 6, expected 0 to 5");
}

/// Distributes tasks over `threads` threads in turn.
ParallelFor on_threads(int64_t threads) {
  return [threads](int64_t tasks, const std::function<void(int64_t)>& body) {
    std::vector<std::thread> workers;
    for (int64_t first = 0; first < threads; ++first) {
      workers.emplace_back([=, &body] {
        for (int64_t task = first; task < tasks; task += threads) body(task);
      });
    }
    for (auto& worker : workers) worker.join();
  };
}

TEST(EveryMechanism, GivesTheSameBitsOnAnyNumberOfThreads) {
  for_every_mechanism({}, [](const std::string& spec, Problem<double>& problem) {
    if (spec.find('(') < spec.find(',')) return;  // skips variants of parts: threads cost time
    problem.dropout = .3;
    const auto one = attend(problem);
    const auto expected = outputs(one);
    for (const int64_t threads : {1, 2, 3}) {
      const auto answer = attend(problem, on_threads(threads));
      for (const auto& [name, array] : outputs(answer))
        EXPECT_TRUE(same_bits(*array, *expected.at(name))) << name << ", " << threads;
    }
  });
}

/// A weighted sum of all finite numbers of an answer.
template <typename Real>
Real summary(const Answer<Real>& answer) {
  Real sum(0);
  for (const auto& [name, array] : outputs(answer)) {
    const auto upstream = numbers({static_cast<int64_t>(array->data.size())}, 7);
    for (size_t n = 0; n < array->data.size(); ++n) {
      if (std::isfinite(re(array->data[n]))) sum += upstream.data[n] * array->data[n];
    }
  }
  return sum;
}

/// The problem with all inputs moved by `by` along one random direction.
template <typename Real>
Problem<Real> moved(Problem<Real> problem, const Real& by) {
  uint64_t seed = 900;
  for (auto& [name, array] : inputs(problem)) {
    const auto direction = numbers(array->shape.empty() ? std::vector<int64_t>{0} : array->shape, ++seed);
    for (size_t n = 0; n < array->data.size(); ++n) array->data[n] += by * direction.data[n];
  }
  return problem;
}

// The error of central differences is h^2 times the third derivative (large where a weight is nearly 0: that of entropy
// grows like 1 / a^2) plus epsilon / h; at h = 2e-7 both stay under 1e-7 here. The gradients of straight_through are by
// design not those of its values: it has a test of its own.
TEST(EveryMechanism, HasGradientsThatAgreeWithCentralDifferences) {
  for_every_mechanism({}, [](const std::string& spec, Problem<double>& problem) {
    if (spec.find("+ straight_through") != std::string::npos) return;
    problem.key_count = {{2}, {4, 5}};
    problem.bias = numbers({1, 2, 3, 5}, 21);
    problem.per_key = numbers({2, 1, 5}, 22);
    problem.relative = numbers({2, 5}, 23);
    problem.alibi = numbers({2}, 24);
    problem.scale = 1.7, problem.soft_cap = 3, problem.dropout = .2;
    const double h = 2e-7;
    const double central = (summary(attend(moved(problem, h))) - summary(attend(moved(problem, -h)))) / (2 * h);
    const double exact = summary(attend(moved(to_complex(problem), Complex(0, kStep)))).imag() / kStep;
    EXPECT_NEAR(exact, central, 1e-7 * (1 + std::abs(exact)));
  });
}

// The value is that of one-hot weights; the gradients are those of gumbel_softmax at the same temperature.
TEST(StraightThrough, HasTheGradientsOfGumbelSoftmax) {
  auto through = problem_of("additive + straight_through(.7)"), soft = problem_of("additive + gumbel_softmax(.7)");
  through.sample = soft.sample = true;
  const auto upstream = upstream_of(numbers({24}, 5).data);
  for (const std::string input : {"query", "keys", "score.from_query", "score.to_scores"}) {
    const auto got = gradients(through, input, upstream), expected = gradients(soft, input, upstream);
    for (size_t n = 0; n < got.size(); ++n) EXPECT_NEAR(got[n], expected[n], 1e-14) << input;
  }
}

TEST(Missing, SaysWhy) {
  const auto why = [](const std::string& spec) { return missing(parse_mechanism(spec)); };
  EXPECT_EQ(why("dot + softmax"), "");
  EXPECT_EQ(why("dots + softmax"), "no definition of score 'dots' in kernels/reference");
  EXPECT_EQ(why("dot + softermax"), "no definition of alignment 'softermax' in kernels/reference");
  EXPECT_EQ(why("dot + softmax, double"), "no definition of dimensionality 'double' in kernels/reference");
  EXPECT_EQ(why("dot + softmax, multi"),
            "score/dot: no definition for dimensionality multi; it has single, multi(lift)");
  EXPECT_EQ(why("self_attentive(dot) + softmax, multi"),
            "score/self_attentive(dot): no definition for dimensionality multi; it has single, multi(lift)");
  EXPECT_EQ(why("additive + softmax, multi(lift)"),
            "score/additive: no definition for dimensionality multi(lift); it has single, multi, multi(elementwise)");
  auto problem = problem_of("dot + softmax");
  problem.mechanism = parse_mechanism("dots + softmax");
  EXPECT_THROW(attend(problem), Error);
  EXPECT_THROW(why("dot(3) + softmax"), Error);
  EXPECT_THROW(why("dot + entmax(1)"), Error);
}

// Options record that they were read; the reference parses them again.
TEST(Options, MayHaveBeenReadBefore) {
  auto problem = problem_of("dot + top_k(2, renorm)");
  EXPECT_EQ(problem.mechanism.align.options.integer("k", 8), 2);
  const auto first = attend(problem), second = attend(problem);
  EXPECT_TRUE(same_bits(first.weights, second.weights));
  double sum = 0;
  for (int64_t j = 0; j < 5; ++j) sum += first.weights.data[static_cast<size_t>(j)] != 0;
  EXPECT_EQ(sum, 2);
}

}  // namespace
}  // namespace heed::kernels::reference
