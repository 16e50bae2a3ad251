// The cases of the CPU kernels, on a GPU: forward and reports against the definition, gradients against the CPU kernels
// in double, the same bits in every run, and nothing written outside of the results.

#include <map>

#include "heed/kernels/cpu/testing.h"
#include "heed/kernels/cuda/attend.h"
#include "heed/kernels/cuda/testing.h"

namespace heed::kernels::cuda {
namespace {

using cpu::testing::Case;
using cpu::testing::Shape;
using cpu::testing::Variant;

/// A case of the CPU tests with its inputs in device memory.
struct DeviceCase {
  Case<float> host;
  Problem<float> p;
  Array<float> query, keys, values, to_scores, full, per_key, relative, alibi;
  Array<uint8_t> keep;
  Array<int64_t> key_count;
  Array<float> context;
  Array<RowStats<float>> rows;

  DeviceCase(const std::string& spec, const Shape& n, const Variant& v, bool aligned) : host(spec, n, v), p(host.p) {
    const auto moved = [&](auto& to, const auto& from) {
      auto all = from;  // on the host, the first number comes after one that is not read: it is not aligned
      if (aligned) all.insert(all.begin(), 3, all[0]);
      to = std::decay_t<decltype(to)>(all);
      return to.data() + (aligned ? 4 : 1);
    };
    p.query.data = moved(query, host.query);
    p.key_rows.data = moved(keys, host.keys);
    p.values.data = moved(values, host.values);
    if (p.to_scores != nullptr) p.to_scores = moved(to_scores, host.to_scores);
    if (p.mask.keep) p.mask.keep.data = moved(keep, host.keep);
    if (p.mask.key_count != nullptr) {
      key_count = Array<int64_t>(host.definition.key_count.data);
      p.mask.key_count = key_count.data();
    }
    if (p.bias.full) p.bias.full.data = moved(full, host.full);
    if (p.bias.per_key) p.bias.per_key.data = moved(per_key, host.per_key);
    if (p.bias.relative != nullptr) p.bias.relative = moved(relative, host.relative);
    if (p.bias.alibi != nullptr) p.bias.alibi = moved(alibi, host.alibi);
    context = Array<float>(p.batch * p.heads * p.queries * p.value_width);
    rows = Array<RowStats<float>>(p.batch * p.heads * p.queries);
    p.context = context.data();
    p.rows = rows.data();
    p.second = nullptr;
  }

  void run_forward() {
    const Array<unsigned char> workspace(static_cast<int64_t>(forward_bytes(p)));
    forward(p, workspace.data(), nullptr);
    expect_success("forward");
    EXPECT_TRUE(workspace.intact() && context.intact() && rows.intact());
  }
};

/// |found - expected| <= tolerance, NaN equals NaN.
void expect_near(const std::string& what, const std::vector<float>& found, const std::vector<double>& expected,
                 double tolerance) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const auto x = static_cast<double>(found[i]);
    if (x == expected[i] || (std::isnan(x) && std::isnan(expected[i]))) continue;
    const double off = std::isnan(x - expected[i]) ? INFINITY : std::abs(x - expected[i]);
    if (off > worst) worst = off, at = i;
  }
  EXPECT_LE(worst, tolerance) << what << "[" << at << "] is " << found[at] << ", expected " << expected[at];
}

double largest(const std::vector<double>& x) {
  double max = 0;
  for (const double value : x)
    if (std::isfinite(value)) max = std::max(max, std::abs(value));
  return max;
}

/// Bound of the error of a score: a few roundings of its terms.
double score_error(const Shape& n, const Variant& v, bool additive) {
  const double terms = static_cast<double>(n.width);
  const double size = additive ? 0.5 * 1.7 * terms : terms * 2.9 * v.sigma * v.sigma;
  return 1e-6 * (1 + size) * std::abs(v.scale) + (v.biased ? 2e-6 : 0);
}

struct Setting {
  std::string spec;
  Shape shape;
  Variant variant;
  bool aligned = false;  // rows begin at multiples of 16 bytes, if their widths do
};

void PrintTo(const Setting& s, std::ostream* out) {
  *out << s.spec << " " << s.shape.queries << " x " << s.shape.keys << ", mask " << s.variant.mask
       << (s.aligned ? ", aligned" : "");
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  const std::vector<Shape> shapes{
      {},                            // one block
      {1, 4, 2, 65, 130, 17, 16},    // tiles, grouped heads
      {2, 2, 2, 1, 20, 256, 512},    // a decoder's step
      {1, 1, 1, 130, 257, 33, 130},  // wide values, nothing divides
      {1, 1, 1, 3, 2200, 16, 32},    // few queries, many keys
      {3, 2, 1, 64, 64, 64, 64},
      {257, 8, 4, 1, 40, 12, 40},    // one query, many grouped heads
      {1, 1, 1, 70, 700, 128, 128},  // split by keys
  };
  for (const std::string spec : {"dot + softmax", "additive + softmax"})
    for (const auto& shape : shapes)
      for (const std::string mask : {"none", "keep", "key_count", "causal", "bottom_right", "window", "all"}) {
        all.push_back({spec, shape, {.mask = mask, .biased = mask == "all"}});
        if (mask == "none" || mask == "all")
          all.push_back({spec, shape, {.mask = mask, .biased = true, .scale = 0.7, .soft_cap = 3, .dropout = 0.3}});
        if (mask == "key_count") all.push_back({spec, shape, {.mask = mask, .nan_padding = true}});
      }
  // Ranges that overflow products of exponentials, and exponentials themselves.
  for (const double sigma : {4.0, 8.0, 20.0, 60.0, 0.001})
    for (const Shape& shape : {Shape{1, 2, 1, 14, 70, 16, 16}, Shape{1, 1, 1, 70, 130, 16, 16}})
      all.push_back({"additive + softmax", shape, {.sigma = sigma}});
  // Rows that are read 16 bytes at a time.
  const std::vector<Shape> wide{{3, 2, 2, 1, 20, 256, 512}, {2, 1, 1, 1, 70, 40, 132}, {2, 3, 3, 1, 9, 512, 260},
                                {40, 8, 8, 1, 1, 64, 64},   {2, 2, 1, 4, 30, 32, 36},  {257, 8, 4, 1, 40, 12, 40}};
  for (const std::string spec : {"dot + softmax", "additive + softmax"})
    for (const auto& shape : wide)
      for (const std::string mask : {"none", "keep", "key_count", "window"}) {
        const bool more = mask == "keep";
        all.push_back({spec,
                       shape,
                       {.mask = mask, .biased = more, .soft_cap = more ? 3.0 : 0.0, .dropout = more ? 0.3 : 0.0},
                       true});
        if (mask == "key_count") all.push_back({spec, shape, {.mask = mask, .nan_padding = true}, true});
      }
  return all;
}

class OnCuda : public ::testing::TestWithParam<Setting> {};
INSTANTIATE_TEST_SUITE_P(Kernels, OnCuda, ::testing::ValuesIn(settings()));

TEST_P(OnCuda, AgreesWithTheDefinition) {
  SKIP_WITHOUT_GPU();
  const auto& [spec, shape, variant, aligned] = GetParam();
  DeviceCase c(spec, shape, variant, aligned);
  ASSERT_STREQ(why_not(c.p), "");
  c.run_forward();
  const auto answer = reference::attend(c.host.definition);
  const double error = score_error(shape, variant, spec[0] == 'a');
  const double tolerance = 4 * (std::expm1(2 * error) + 2e-6) / (1 - variant.dropout);
  expect_near("context", c.context.copied(), answer.context.data, tolerance);

  const int64_t all = c.p.batch * c.p.heads * c.p.queries;
  const Array<float> weights(all * c.p.keys), lse(all);
  std::vector<int64_t> links;
  std::vector<double> expected_links;
  for (int64_t n = 0; n < 40; ++n) {
    const int64_t b = n % c.p.batch, h = n * 7 % c.p.heads, i = n * 13 % c.p.queries, j = n * 31 % c.p.keys;
    for (const int64_t x : {b, h, i, j}) links.push_back(x);
    const double weight = answer.weights.data[static_cast<size_t>(c.p.row_index(b, h, i) * c.p.keys + j)];
    expected_links.push_back(std::log(weight));
  }
  const Array<int64_t> asked(links);
  const Array<float> found_links(40);
  RequestedOutputs<float> wanted;
  wanted.weights = weights.data();
  wanted.lse = lse.data();
  wanted.links = asked.data();
  wanted.link_count = 40;
  wanted.link_log_weights = found_links.data();
  ASSERT_STREQ(why_not(c.p, wanted), "");
  report(c.p, wanted, nullptr, nullptr);
  expect_success("report");
  expect_near("weights", weights.copied(), answer.weights.data, tolerance);
  expect_near("lse", lse.copied(), answer.lse.data, 4 * error + 2e-6 * (1 + largest(answer.lse.data)));
  expect_near("links", found_links.copied(), expected_links, 4 * error + 4e-6 * (1 + largest(expected_links)));
  EXPECT_TRUE(weights.intact() && lse.intact() && found_links.intact());
}

TEST_P(OnCuda, GradientsAgreeWithTheCpuKernelsInDouble) {
  SKIP_WITHOUT_GPU();
  const auto& [spec, shape, variant, aligned] = GetParam();
  DeviceCase c(spec, shape, variant, aligned);
  c.run_forward();
  Variant clean = variant;  // NaN in padding has no effect
  clean.nan_padding = false;
  Case<double> exact(spec, shape, clean);
  cpu::forward(exact.p);
  const Problem<float>& p = c.p;
  const int64_t all = p.batch * p.heads * p.queries;
  const std::vector<double> by_context = reference::numbers({all * p.value_width}, 91).data;
  const std::vector<double> by_lse = reference::numbers({all}, 92).data;
  const auto floats = [](const std::vector<double>& x) { return std::vector<float>(x.begin(), x.end()); };
  const auto doubles = [](const std::vector<float>& x) { return std::vector<double>(x.begin(), x.end()); };
  const Array<float> of_context(floats(by_context)), of_lse(floats(by_lse));
  const std::vector<double> same_context = doubles(floats(by_context)), same_lse = doubles(floats(by_lse));
  std::map<std::string, std::vector<double>> expected;
  Gradients<double> g;
  g.context = same_context.data();
  g.lse = same_lse.data();
  const auto make = [&](const char* name, int64_t size) {
    return expected.emplace(name, std::vector<double>(static_cast<size_t>(size))).first->second.data();
  };
  g.query = make("query", all * p.width);
  g.keys = make("keys", p.batch * p.key_heads * p.keys * p.width);
  g.values = make("values", p.batch * p.key_heads * p.keys * p.value_width);
  if (p.to_scores != nullptr) g.to_scores = make("to_scores", p.heads * p.width);
  cpu::backward(exact.p, g);

  std::map<std::string, Array<float>> found;
  const auto run = [&] {
    for (const auto& [name, array] : expected)
      found.insert_or_assign(name, Array<float>(static_cast<int64_t>(array.size())));
    Gradients<float> own;
    own.context = of_context.data();
    own.lse = of_lse.data();
    own.query = found["query"].data();
    own.keys = found["keys"].data();
    own.values = found["values"].data();
    if (p.to_scores != nullptr) own.to_scores = found["to_scores"].data();
    ASSERT_STREQ(why_not(p, own), "");
    const Array<unsigned char> workspace(static_cast<int64_t>(backward_bytes(p, own)));
    backward(p, own, workspace.data(), nullptr);
    expect_success("backward");
    EXPECT_TRUE(workspace.intact());
  };
  run();
  const double error = score_error(shape, variant, spec[0] == 'a');
  std::map<std::string, std::vector<float>> first;
  for (const auto& [name, array] : expected) {
    first[name] = found[name].copied();
    EXPECT_TRUE(found[name].intact()) << name;
    const double size = largest(array);
    expect_near(name, first[name], array, (20 * error + 2e-5) * (1 + size) * (1 + variant.sigma / 10));
  }
  run();
  for (const auto& [name, array] : first) {
    const auto again = found[name].copied();
    EXPECT_EQ(std::memcmp(array.data(), again.data(), array.size() * sizeof(float)), 0) << name << " has other bits";
  }
}

TEST(CudaKernels, RefuseWhatTheyDoNotCompute) {
  Problem<float> p;
  p.queries = p.keys = 4;
  EXPECT_STREQ(why_not(p), "");
  p.align = AlignKind::sparsemax;
  EXPECT_STRNE(why_not(p), "");
  p.align = AlignKind::softmax;
  p.score = ScoreKind::distance;
  EXPECT_STRNE(why_not(p), "");
}

}  // namespace
}  // namespace heed::kernels::cuda
