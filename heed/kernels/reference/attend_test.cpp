// The steps around score and alignment: masks, positions, biases, heads, dropout. Expected numbers are simple enough to
// check by hand.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/kernels/reference/testing.h"

namespace heed::kernels::reference {
namespace {

/// Scores that are all 0: uniform weights over the kept keys.
Problem<double> flat(int64_t queries, int64_t keys, const std::string& align = "softmax") {
  auto problem = problem_of("dot + " + align, {1, 1, 1, queries, keys, {1, 1, 1, 1}});
  std::fill(problem.query.data.begin(), problem.query.data.end(), 0);
  return problem;
}

/// "1100 1110": which keys have a weight above 0, query by query.
std::string kept(const Problem<double>& problem) {
  const auto answer = attend(problem);
  const auto keys = static_cast<size_t>(problem.keys.shape[2]);
  std::string pattern;
  for (size_t n = 0; n < answer.weights.data.size(); ++n) {
    if (n > 0 && n % keys == 0) pattern += ' ';
    pattern += answer.weights.data[n] > 0 ? '1' : '0';
  }
  return pattern;
}

TEST(Mask, CausalCornersDifferWhenThereAreMoreKeys) {
  auto problem = flat(2, 4);
  problem.causal = Causal::top_left;
  EXPECT_EQ(kept(problem), "1000 1100");
  problem.causal = Causal::bottom_right;
  EXPECT_EQ(kept(problem), "1110 1111");
}

TEST(Mask, CausalCornersDifferWhenThereAreMoreQueries) {
  auto problem = flat(3, 2);
  problem.causal = Causal::bottom_right;  // the first query has position -1 and may attend nothing
  EXPECT_EQ(kept(problem), "00 10 11");
}

TEST(Mask, FirstQueryMovesThePosition) {
  auto problem = flat(2, 5);
  problem.causal = Causal::top_left;
  problem.first_query = 2;
  EXPECT_EQ(kept(problem), "11100 11110");
  problem.left = 1;
  EXPECT_EQ(kept(problem), "01100 00110");
}

TEST(Mask, WindowCountsFromThePositionOnBothSides) {
  auto problem = flat(3, 5);
  problem.left = 0, problem.right = 2;
  EXPECT_EQ(kept(problem), "11100 01110 00111");
  problem.left = -1;
  EXPECT_EQ(kept(problem), "11100 11110 11111");
}

TEST(Mask, AllConditionsCompose) {
  auto problem = flat(3, 5);
  problem.key_count = {{1}, {4}};
  problem.keep = {{1, 1, 3, 5}, {1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1}};
  problem.left = 1;
  EXPECT_EQ(kept(problem), "11110 01110 01010");
}

TEST(Mask, BroadcastsAxesOfSizeOne) {
  auto problem = flat(2, 3);
  problem.keep = {{1, 1, 2, 1}, {1, 0}};
  EXPECT_EQ(kept(problem), "111 000");
  problem.keep = {{1, 1, 1, 3}, {0, 1, 1}};
  EXPECT_EQ(kept(problem), "011 011");
}

TEST(Location, MasksKeysBeyondItsTable) {
  EXPECT_EQ(kept(problem_of("location(3) + softmax", {1, 1, 1, 2, 5, {2, 2, 1, 1}})), "11100 11100");
}

// position of query 0 is 1: ahead = -1, 0, 1, 2.
TEST(Bias, EachKindIsAddedToTheScores) {
  auto problem = flat(1, 4, "identity");
  problem.first_query = 1;
  problem.bias = {{1, 1, 1, 1}, {.5}};
  EXPECT_EQ(attend(problem).scores.data, (std::vector<double>{.5, .5, .5, .5}));
  problem.bias = {};
  problem.per_key = {{1, 1, 4}, {1, 2, 3, 4}};
  EXPECT_EQ(attend(problem).scores.data, (std::vector<double>{1, 2, 3, 4}));
  problem.per_key = {};
  problem.relative = {{1, 3}, {10, 20, 30}};  // R = 1: larger distances are clipped
  EXPECT_EQ(attend(problem).scores.data, (std::vector<double>{10, 20, 30, 30}));
  problem.relative = {};
  problem.alibi = {{1}, {.25}};
  EXPECT_EQ(attend(problem).scores.data, (std::vector<double>{-.25, 0, -.25, -.5}));
}

// e = 3: scaled 6, capped 2 tanh(3), then the bias.
TEST(Scores, AreScaledThenCappedThenBiased) {
  auto problem = problem_of("dot + identity", {1, 1, 1, 1, 1, {1, 1, 1, 1}});
  problem.query.data = {3}, problem.keys.data = {1};
  problem.scale = 2, problem.soft_cap = 2;
  problem.bias = {{1, 1, 1, 1}, {7}};
  EXPECT_DOUBLE_EQ(attend(problem).scores.data[0], 2 * std::tanh(3.) + 7);
}

// Four heads on two key heads give the same as on four key heads, each repeated.
TEST(Heads, ShareKeysInGroups) {
  for (const std::string spec : {"scaled_dot + softmax", "additive + reinforced"}) {
    auto shared = problem_of(spec, {.heads = 4, .key_heads = 2});
    auto repeated = shared;
    for (auto* array : {&repeated.keys, &repeated.values}) {
      const int64_t block = array->shape[2] * array->shape[3];
      const auto from = array->data;
      array->shape[1] = 4;
      array->data.clear();
      for (int64_t head = 0; head < 8; ++head) {
        const auto first = from.begin() + head / 2 * block;
        array->data.insert(array->data.end(), first, first + block);
      }
    }
    EXPECT_TRUE(same_bits(attend(shared).context, attend(repeated).context)) << spec;
  }
}

TEST(Heads, HaveParametersOfTheirOwnOrShareThem) {
  auto shared = problem_of("general + softmax");
  shared.parameters["score.from_query"] = numbers({4, 4}, 3);
  auto own = shared;
  auto& matrix = own.parameters["score.from_query"];
  matrix.shape = {2, 4, 4};
  matrix.data.insert(matrix.data.end(), 16, 0.0);  // the second head scores everything 0
  const auto one = attend(shared), two = attend(own);
  for (size_t n = 0; n < one.weights.data.size(); ++n) {
    const bool second = n / 15 % 2 == 1;  // 3 queries x 5 keys
    EXPECT_DOUBLE_EQ(two.weights.data[n], second ? .2 : one.weights.data[n]);
  }
}

// A slice of the batch with first_row gives the same as inside the whole batch, samples and dropout included.
TEST(RandomNumbers, DependOnTheIndexInTheGlobalBatch) {
  for (const std::string spec : {"dot + hard", "dot + reinforced", "additive + gumbel_softmax, multi"}) {
    auto whole = problem_of(spec);
    whole.sample = true, whole.dropout = .4, whole.first_row = 5, whole.stream = 3;
    auto slice = whole;
    slice.first_row = 6;
    for (auto* array : {&slice.query, &slice.keys, &slice.values}) {
      array->shape[0] = 1;
      array->data.erase(array->data.begin(), array->data.begin() + static_cast<int64_t>(array->data.size()) / 2);
    }
    const auto all = attend(whole).context.data;
    EXPECT_EQ(attend(slice).context.data,
              std::vector<double>(all.begin() + static_cast<int64_t>(all.size()) / 2, all.end()))
        << spec;
  }
}

// A later query alone, with first_query, has the same samples as among the others.
TEST(RandomNumbers, DependOnTheGlobalIndexOfTheQuery) {
  for (const std::string spec : {"dot + hard", "dot + softmax"}) {
    auto whole = problem_of(spec, {1, 1, 1, 3, 20, {4, 4, 2, 3}});
    whole.sample = true, whole.dropout = .4;
    auto last = whole;
    last.first_query = 2;
    last.query = {{1, 1, 1, 4}, {whole.query.data.begin() + 8, whole.query.data.end()}};
    const auto all = attend(whole).context.data;
    EXPECT_EQ(attend(last).context.data, std::vector<double>(all.begin() + 4, all.end())) << spec;
  }
}

// Element = key * W + channel; it is kept if u >= rate, and then multiplied by 1 / (1 - rate).
TEST(Dropout, ActsOnTheContextAndNotOnTheReportedWeights) {
  for (const std::string spec : {"dot + softmax", "additive + softmax, multi"}) {
    auto problem = problem_of(spec, {1, 1, 1, 1, 40, {2, 2, 2, 2}});
    problem.seed = 77, problem.stream = 9;
    const auto whole = attend(problem);
    problem.dropout = .3;
    const auto answer = attend(problem);
    EXPECT_TRUE(same_bits(answer.weights, whole.weights));
    const auto W = static_cast<size_t>(answer.weights.shape[4]);
    std::vector<float> u(40 * W);
    uniforms(77, 9, kDropout, 0, 0, static_cast<int64_t>(u.size()), u.data());
    for (size_t c = 0; c < 2; ++c) {
      double expected = 0;
      for (size_t j = 0; j < 40; ++j) {
        const size_t element = j * W + (W == 1 ? 0 : c);
        if (static_cast<double>(u[element]) >= .3)
          expected += whole.weights.data[element] / .7 * problem.values.data[2 * j + c];
      }
      EXPECT_NEAR(answer.context.data[c], expected, 1e-15) << spec;
    }
  }
}

// logit_j = k_j - mean. The mean of 3 and 5 is 4 (the masked 100 is not in it, nor is its position counted): logits -1
// and 1, so that 5 alone is selected. log p = log(1 - sigmoid(-1)) + log sigmoid(1) = -2 log(1 + 1 / e).
TEST(Reinforced, PolicyTakesTheMeanOfTheKeysThatMayBeAttended) {
  auto problem = problem_of("dot + reinforced(identity)", {1, 1, 1, 1, 3, {1, 1, 1, 1}});
  problem.keys.data = {3, 100, 5};
  problem.keep = {{1, 1, 1, 3}, {1, 0, 1}};
  problem.parameters = {{"align.from_keys", {{1, 3}, {1, -1, 0}}},
                        {"align.bias", {{1}, {0}}},
                        {"align.to_logit", {{1, 1}, {1}}},
                        {"align.logit_bias", {{1}, {0}}}};
  const auto answer = attend(problem);
  EXPECT_EQ(answer.selected.data, (std::vector<double>{0, 0, 1}));
  ASSERT_EQ(answer.log_probability.data.size(), 1U);
  EXPECT_NEAR(answer.log_probability.data[0], -2 * std::log(1 + std::exp(-1.)), 1e-14);
}

// One weight per channel: each channel of the context has its own weighted sum.
TEST(ReadOut, MultiWeightsEveryChannelSeparately) {
  auto problem = problem_of("dot + softmax, multi(lift)", {1, 1, 1, 1, 2, {2, 2, 2, 1}});
  problem.query.data = {1, 1};
  problem.keys.data = {0, std::log(3.), 0, 0};  // channel 0: equal; channel 1: three to one
  problem.values.data = {1, 10, 2, 20};
  const auto answer = attend(problem);
  EXPECT_NEAR(answer.context.data[0], 1.5, 1e-15);
  EXPECT_NEAR(answer.context.data[1], 12.5, 1e-14);
}

}  // namespace
}  // namespace heed::kernels::reference
