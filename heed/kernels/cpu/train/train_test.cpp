// Every kernel of training against its formula in double, on every instruction set of this machine.

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "heed/base/philox.h"
#include "heed/kernels/cpu/attend.h"
#include "heed/kernels/cpu/train/cross_entropy.h"
#include "heed/kernels/cpu/train/dropout.h"
#include "heed/kernels/cpu/train/flat_step.h"
#include "heed/kernels/cpu/train/gru.h"
#include "heed/kernels/cpu/train/packed_product.h"

namespace heed::kernels::cpu {
namespace {

template <typename Real>
std::vector<Real> numbers(int64_t count, double scale = 1, unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal(0, scale);
  std::vector<Real> all(static_cast<size_t>(count));
  for (auto& x : all) x = static_cast<Real>(normal(generator));
  return all;
}

/// Tasks in reverse: none may depend on another.
void backward_order(int64_t tasks, const std::function<void(int64_t)>& body) {
  for (int64_t i = tasks - 1; i >= 0; --i) body(i);
}

class TrainKernelsTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { use_instruction_set(GetParam()); }
  void TearDown() override { use_instruction_set(before_); }

 private:
  std::string before_ = instruction_set();
};

// ---- flat step -----------------------------------------------------------------------------------------------------

template <typename Real>
struct Parameters {
  std::vector<Real> values, grads, first, second, average;
  explicit Parameters(int64_t n)
      : values(numbers<Real>(n)),
        grads(numbers<Real>(n, 0.1, 2)),
        first(numbers<Real>(n, 0.1, 3)),
        second(numbers<Real>(n, 0.1, 4)),
        average(numbers<Real>(n, 1, 5)) {
    for (auto& x : second) x = std::abs(x);
  }
};

template <typename Real>
void expect_step(FlatRule rule, bool momentum, bool average, double clip_norm, double tolerance) {
  constexpr int64_t n = 70001, split = 40003, gap = 100;
  Parameters<Real> got(n);
  const Parameters<Real> before = got;
  FlatStep<Real> step;
  step.rule = rule;
  step.grads = {{split, got.grads.data()}, {gap, nullptr}, {n - split - gap, got.grads.data() + split + gap}};
  step.values = got.values.data();
  step.first = rule == FlatRule::adam || momentum ? got.first.data() : nullptr;
  step.second = rule == FlatRule::adam ? got.second.data() : nullptr;
  step.average = average ? got.average.data() : nullptr;
  step.loss = 30;
  step.scale = 0.5;
  step.rate = 0.01;
  step.first_share = 0.19;
  step.second_root = 0.3;
  step.average_weight = 0.25;
  step.clip_norm = clip_norm;
  step.beta1 = 0.9;
  step.beta2 = 0.98;
  step.epsilon = 1e-8;
  step.decay = 0.1;
  const auto stats = flat_step(step, true, backward_order);
  const auto gradient = [&](size_t i) {
    return i >= split && i < split + gap ? 0.0 : 0.5 * static_cast<double>(before.grads[i]);
  };
  double squares = 0;
  for (size_t i = 0; i < n; ++i) squares += gradient(i) * gradient(i);
  EXPECT_DOUBLE_EQ(stats.loss, 15);
  EXPECT_NEAR(stats.norm, std::sqrt(squares), 1e-9);
  EXPECT_TRUE(stats.finite);
  const double clip = clip_norm > 0 && stats.norm > clip_norm ? clip_norm / stats.norm : 1;
  for (size_t i = 0; i < n; ++i) {
    const double g = clip * gradient(i), m = before.first[i], v = before.second[i];
    double x = before.values[i];
    x -= 0.01 * 0.1 * x;
    if (rule == FlatRule::adam) {
      const double m2 = 0.9 * m + 0.1 * g, v2 = 0.98 * v + 0.02 * g * g;
      x -= 0.01 * (m2 / 0.19) / (std::sqrt(v2) / 0.3 + 1e-8);
      ASSERT_NEAR(got.first[i], m2, tolerance) << i;
      ASSERT_NEAR(got.second[i], v2, tolerance) << i;
    } else {
      const double m2 = momentum ? 0.9 * m + g : g;
      x -= 0.01 * m2;
      if (momentum) {
        ASSERT_NEAR(got.first[i], m2, tolerance) << i;
      }
    }
    ASSERT_NEAR(got.values[i], x, tolerance * std::max(1.0, std::abs(x))) << i;
    const double mean = before.average[i];
    ASSERT_NEAR(got.average[i], average ? mean + 0.25 * (x - mean) : mean, tolerance * 4) << i;
  }
}

TEST_P(TrainKernelsTest, FlatStepIsItsFormula) {
  for (const double clip : {0.0, 1.0, 1e9})
    for (const bool average : {false, true}) {
      expect_step<float>(FlatRule::adam, true, average, clip, 2e-6);
      expect_step<float>(FlatRule::sgd, true, average, clip, 2e-6);
      expect_step<float>(FlatRule::sgd, false, average, clip, 2e-6);
      expect_step<double>(FlatRule::adam, true, average, clip, 1e-13);
      expect_step<double>(FlatRule::sgd, false, average, clip, 1e-13);
    }
}

TEST_P(TrainKernelsTest, FlatStepChangesNothingIfNotFinite) {
  for (const float bad : {NAN, INFINITY}) {
    Parameters<float> got(1000);
    got.grads[777] = bad;
    const auto before = got.values;
    FlatStep<float> step;
    step.rule = FlatRule::sgd;
    step.grads = {{1000, got.grads.data()}};
    step.values = got.values.data();
    step.rate = 1;
    EXPECT_FALSE(flat_step(step, true, in_order).finite);
    EXPECT_EQ(got.values, before);
  }
  Parameters<float> large(1000);
  for (auto& g : large.grads) g = 1e30F;  // their squares are beyond float
  FlatStep<float> step;
  step.rule = FlatRule::sgd;
  step.grads = {{1000, large.grads.data()}};
  step.values = large.values.data();
  const auto stats = flat_step(step, true, in_order);
  EXPECT_TRUE(stats.finite);
  EXPECT_NEAR(stats.norm / (1e30 * std::sqrt(1000)), 1, 1e-6);
}

// ---- cross entropy -------------------------------------------------------------------------------------------------

TEST_P(TrainKernelsTest, CrossEntropyIsItsFormula) {
  for (const int64_t classes : {1, 2, 7, 16, 33, 1000, 9701})
    for (const double smoothing : {0.0, 0.1}) {
      SCOPED_TRACE(std::to_string(classes) + " classes");
      constexpr int64_t rows = 5;
      const auto logits = numbers<float>(rows * classes, 5);
      const std::vector<int64_t> wanted{0, classes - 1, -7, classes / 2, 0};
      auto got = logits;
      CrossEntropy problem{rows, classes, got.data(), wanted.data(), -7, smoothing, false};
      const double loss = cross_entropy(problem, backward_order);
      EXPECT_EQ(got, logits);
      problem.gradient = true;
      EXPECT_EQ(cross_entropy(problem, in_order), loss);
      double expected = 0;
      for (int64_t i = 0; i < rows; ++i) {
        const float* const x = logits.data() + i * classes;
        const float* const dx = got.data() + i * classes;
        const int64_t y = wanted[static_cast<size_t>(i)];
        double sum = 0, all = 0;
        for (int64_t c = 0; c < classes; ++c) sum += std::exp(double{x[c]}), all += x[c];
        if (y != -7)
          expected += std::log(sum) - (1 - smoothing) * x[y] - smoothing / static_cast<double>(classes) * all;
        for (int64_t c = 0; c < classes; ++c) {
          const double p = std::exp(double{x[c]}) / sum,
                       target = (c == y ? 1 - smoothing : 0) + smoothing / static_cast<double>(classes);
          ASSERT_NEAR(dx[c], y == -7 ? 0 : p - target, 2e-6) << i << " " << c;
        }
      }
      EXPECT_NEAR(loss, expected, 1e-5 * std::max(1.0, expected));
    }
}

TEST_P(TrainKernelsTest, CrossEntropyOfExtremes) {
  const int64_t wanted = 3;
  const auto loss_of = [&](std::vector<float> x) {
    return cross_entropy({1, static_cast<int64_t>(x.size()), x.data(), &wanted, -100, 0, true}, in_order);
  };
  std::vector<float> x(40, 0.0F);
  x[3] = 1e30F;
  EXPECT_EQ(loss_of(x), 0);
  x[20] = -INFINITY;
  EXPECT_EQ(loss_of(x), 0);
  for (const size_t at : {size_t{0}, size_t{3}, size_t{39}}) {
    x[at] = NAN;
    EXPECT_TRUE(std::isnan(loss_of(x))) << at;
    x[at] = 0;
  }
}

// ---- GRU -----------------------------------------------------------------------------------------------------------

template <typename Real>
void expect_gru(int64_t rows, int64_t width, double tolerance) {
  const auto given = numbers<Real>(rows * 3 * width, 2), own = numbers<Real>(rows * 3 * width, 2, 2),
             before = numbers<Real>(rows * width, 1, 3), grad = numbers<Real>(rows * width, 1, 4);
  std::vector<Real> gates(given.size()), after(before.size()), dx(given.size()), du(given.size()), dh(before.size());
  gru_forward<Real>({rows, width, given.data(), own.data(), before.data(), gates.data(), after.data()}, backward_order);
  gru_backward<Real>(
      {rows, width, gates.data(), own.data(), before.data(), grad.data(), dx.data(), du.data(), dh.data()},
      backward_order);
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const auto W = static_cast<size_t>(width);
  for (size_t b = 0; b < static_cast<size_t>(rows); ++b)
    for (size_t j = 0; j < W; ++j) {
      const size_t at = b * 3 * W + j, row = b * W + j;
      const double r = sigmoid(double{given[at]} + own[at]), z = sigmoid(double{given[at + W]} + own[at + W]);
      const double o = own[at + 2 * W], n = std::tanh(given[at + 2 * W] + r * o), h = before[row], g = grad[row];
      ASSERT_NEAR(after[row], (1 - z) * n + z * h, tolerance);
      const double da_n = g * (1 - z) * (1 - n * n), da_z = g * (h - n) * z * (1 - z), da_r = da_n * o * r * (1 - r);
      ASSERT_NEAR(dx[at], da_r, tolerance * 4);
      ASSERT_NEAR(dx[at + W], da_z, tolerance * 4);
      ASSERT_NEAR(dx[at + 2 * W], da_n, tolerance * 4);
      ASSERT_NEAR(du[at], da_r, tolerance * 4);
      ASSERT_NEAR(du[at + W], da_z, tolerance * 4);
      ASSERT_NEAR(du[at + 2 * W], da_n * r, tolerance * 4);
      ASSERT_NEAR(dh[row], g * z, tolerance * 4);
    }
}

TEST_P(TrainKernelsTest, GruIsItsFormula) {
  for (const auto& [rows, width] : {std::pair<int64_t, int64_t>{1, 1}, {3, 7}, {5, 16}, {9, 515}}) {
    expect_gru<float>(rows, width, 2e-6);
    expect_gru<double>(rows, width, 1e-13);
  }
}

// ---- packed product ------------------------------------------------------------------------------------------------

TEST_P(TrainKernelsTest, PackedProductIsAProduct) {
  for (const int64_t rows : {1, 5, 6, 64, 100})
    for (const int64_t depth : {1, 7, 400, 800})
      for (const int64_t width : {1, 15, 16, 64, 130})
        for (const bool transposed : {false, true}) {
          SCOPED_TRACE(std::to_string(rows) + " " + std::to_string(depth) + " " + std::to_string(width));
          const auto a = numbers<float>(rows * (depth + 3)), b = numbers<float>(depth * width, 1, 2),
                     start = numbers<float>(width, 1, 3), c = numbers<float>(rows * (width + 5), 1, 4);
          const PackedMatrix packed({.at = b.data(),
                                     .row = transposed ? 1 : width,
                                     .column = transposed ? depth : 1,
                                     .depth = depth,
                                     .width = width},
                                    backward_order);
          const int way = static_cast<int>((rows + depth + width) % 3);  // nothing, start, add
          auto got = c;
          packed.multiply({rows, depth, width, a.data(), depth + 3, got.data(), width + 5,
                           way == 1 ? start.data() : nullptr, way == 2},
                          backward_order);
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t n = 0; n < width + 5; ++n) {
              const auto at = static_cast<size_t>(r * (width + 5) + n);
              double sum = n >= width ? double{c[at]}
                           : way == 1 ? double{start[static_cast<size_t>(n)]}
                           : way == 2 ? double{c[at]}
                                      : 0.0;
              for (int64_t k = 0; n < width && k < depth; ++k)
                sum += double{a[static_cast<size_t>(r * (depth + 3) + k)]} *
                       double{b[static_cast<size_t>(transposed ? n * depth + k : k * width + n)]};
              ASSERT_NEAR(got[at], sum, 1e-4 + 4e-6 * std::abs(sum)) << r << " " << n;
            }
        }
}

// ---- dropout -------------------------------------------------------------------------------------------------------

TEST_P(TrainKernelsTest, DropoutDrawsTheNumbersOfPhilox) {
  for (const int64_t width : {1, 7, 64, 131}) {
    constexpr int64_t rows = 3, positions = 5;
    constexpr float rate = 0.3F;
    const auto x = numbers<float>(rows * positions * width);
    std::vector<float> y(x.size()), u(static_cast<size_t>(width));
    dropout({rows, positions, width, x.data(), y.data(), rate, 99, 4, 11}, backward_order);
    for (int64_t i = 0; i < rows * positions; ++i) {
      uniforms(99, 4, kDropout, static_cast<uint32_t>(11 + i / positions), static_cast<uint32_t>(i % positions), width,
               u.data());
      for (int64_t j = 0; j < width; ++j) {
        const auto at = static_cast<size_t>(i * width + j);
        ASSERT_FLOAT_EQ(y[at], u[static_cast<size_t>(j)] >= rate ? x[at] / (1 - rate) : 0) << i << " " << j;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, TrainKernelsTest, ::testing::ValuesIn(instruction_sets()),
                         [](const auto& of) { return of.param; });

}  // namespace
}  // namespace heed::kernels::cpu
