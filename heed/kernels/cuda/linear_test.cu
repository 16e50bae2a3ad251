// Linear layers of few rows, on a GPU: against sums in double, the same bits in every run, and nothing written outside.

#include <cmath>
#include <cstring>

#include "heed/kernels/cuda/linear.h"
#include "heed/kernels/cuda/testing.h"

namespace heed::kernels::cuda {
namespace {

struct Sizes {
  int64_t rows, in, out;
};

class CudaLinear : public ::testing::TestWithParam<Sizes> {};

// Within a tile, whole tiles, one more than a tile in each direction, and a decoder's step.
INSTANTIATE_TEST_SUITE_P(Sizes, CudaLinear,
                         ::testing::Values(Sizes{1, 1, 1}, Sizes{1, 64, 64}, Sizes{32, 64, 32}, Sizes{33, 65, 33},
                                           Sizes{7, 200, 90}, Sizes{256, 256, 256}, Sizes{70, 3, 129}));

std::vector<float> random(int64_t count, uint32_t seed) {
  std::vector<float> all;
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    all.push_back(static_cast<float>(seed >> 8) / static_cast<float>(1 << 23) - 1.0F);
  }
  return all;
}

void expect_sums(const char* what, const std::vector<float>& found, const std::vector<double>& expected,
                 int64_t terms) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  double worst = 0;
  for (size_t i = 0; i < found.size(); ++i) worst = std::max(worst, std::abs(found[i] - expected[i]));
  EXPECT_LE(worst, 1e-6 * std::sqrt(static_cast<double>(terms)) + 2e-7 * static_cast<double>(terms)) << what;
}

TEST_P(CudaLinear, AgreesWithSumsInDouble) {
  SKIP_WITHOUT_GPU();
  const auto [rows, in, out] = GetParam();
  const auto x = random(rows * in, 1), weight = random(out * in, 2), bias = random(out, 3),
             of_y = random(rows * out, 4);
  std::vector<double> y(of_y.size()), of_x(x.size()), of_weight(weight.size()), of_bias(bias.size());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t o = 0; o < out; ++o) {
      const auto at = static_cast<size_t>(r * out + o), b = static_cast<size_t>(o);
      y[at] = bias[b];
      of_bias[b] += of_y[at];
      for (int64_t i = 0; i < in; ++i) {
        const auto n = static_cast<size_t>(r * in + i), m = static_cast<size_t>(o * in + i);
        y[at] += static_cast<double>(x[n]) * weight[m];
        of_x[n] += static_cast<double>(of_y[at]) * weight[m];
        of_weight[m] += static_cast<double>(of_y[at]) * x[n];
      }
    }
  const Array<float> dx(x), dweight(weight), dbias(bias), dy(of_y);
  const Linear layer{rows, in, out, dx.data(), dweight.data(), dbias.data()};
  ASSERT_TRUE(is_small(layer));
  std::vector<std::vector<float>> first;
  for (int run = 0; run < 2; ++run) {
    const Array<float> to_y(rows * out), to_x(rows * in), to_weight(out * in), to_bias(out);
    forward(layer, to_y.data(), nullptr);
    backward(layer, {dy.data(), to_x.data(), to_weight.data(), to_bias.data()}, nullptr);
    expect_success("linear");
    const std::vector<std::vector<float>> found{to_y.copied(), to_x.copied(), to_weight.copied(), to_bias.copied()};
    EXPECT_TRUE(to_y.intact() && to_x.intact() && to_weight.intact() && to_bias.intact());
    if (run == 0) {
      expect_sums("y", found[0], y, in);
      expect_sums("x", found[1], of_x, out);
      expect_sums("weight", found[2], of_weight, rows);
      expect_sums("bias", found[3], of_bias, rows);
      first = found;
    }
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(std::memcmp(found[i].data(), first[i].data(), found[i].size() * sizeof(float)), 0) << "other bits";
  }
}

TEST_P(CudaLinear, WritesOnlyWantedGradients) {
  SKIP_WITHOUT_GPU();
  const auto [rows, in, out] = GetParam();
  const Array<float> x(random(rows * in, 1)), weight(random(out * in, 2)), dy(random(rows * out, 4));
  const Linear layer{rows, in, out, x.data(), weight.data(), nullptr};
  const Array<float> all_x(rows * in), all_weight(out * in), all_bias(out);
  backward(layer, {dy.data(), all_x.data(), all_weight.data(), all_bias.data()}, nullptr);
  for (int which = 0; which < 3; ++which) {
    const Array<float> one(which == 0 ? rows * in : which == 1 ? out * in : out);
    LinearGradients g{.y = dy.data()};
    (which == 0 ? g.x : which == 1 ? g.weight : g.bias) = one.data();
    backward(layer, g, nullptr);
    expect_success("linear");
    EXPECT_TRUE(one.intact());
    EXPECT_EQ(one.copied(), (which == 0 ? all_x : which == 1 ? all_weight : all_bias).copied());
  }
  backward(layer, {.y = dy.data()}, nullptr);
  expect_success("linear");
}

}  // namespace
}  // namespace heed::kernels::cuda
