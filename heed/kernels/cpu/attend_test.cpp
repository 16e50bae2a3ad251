// Every score tile x every row state x every mask, on every instruction set this machine has, against the definition.

#include <algorithm>

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/kernels/cpu/testing_accuracy.h"
#include "heed/kernels/reference/mask.h"

namespace heed::kernels::cpu::testing {
namespace {

const std::vector<std::string> kScores{"dot",
                                       "activated_general",
                                       "activated_general(sigmoid)",
                                       "additive",
                                       "additive(relu)",
                                       "additive(gelu)",
                                       "additive(silu)",
                                       "euclidean",
                                       "euclidean(root)",
                                       "location"};
const std::vector<std::string> kAligns{"softmax",
                                       "local_m(4)",
                                       "local_p(4)",
                                       "local_p(4, renorm)",
                                       "local_p(4, score_gauss)",
                                       "local_p(0)",
                                       "sigmoid",
                                       "identity",
                                       "threshold(.04)",
                                       "threshold(.2, keep_best=false)",
                                       "threshold(.3, renorm)",
                                       "top_k(3)",
                                       "top_k(3, renorm)",
                                       "hard",
                                       "gumbel_softmax(.7)",
                                       "straight_through(.7)",
                                       "sparsemax",
                                       "entmax(1.5)",
                                       "entmax(1.3)",
                                       "entmax(learned)",
                                       "uniform"};
const std::vector<std::string> kMasks{"none", "keep", "key_count", "causal", "bottom_right", "window", "all"};

std::vector<std::string> mechanisms() {
  std::vector<std::string> all;
  for (const auto& score : kScores)
    for (const auto& align : kAligns)
      if (score == "dot" || score == "additive" || align == "softmax" || align == "sigmoid" || align == "sparsemax" ||
          align == "local_p(4)" || align == "uniform")
        all.push_back(score + " + " + align);
  return all;
}

/// Bound of the resulting error of an entry of the context, for values below 1.7.
template <typename Real>
double allowed(const Case<Real>& c, const Variant& v) {
  const double eps = std::numeric_limits<Real>::epsilon(), keys = static_cast<double>(c.p.keys), e = score_error(c, v);
  const double buffer = 2 * 1.7;
  switch (c.p.align) {
    case AlignKind::sigmoid:
      return buffer * keys * (e + 8 * eps);
    case AlignKind::identity:
      return buffer * keys * (e + 8 * eps * (1 + reach_of(c, v)));
    case AlignKind::sparsemax:
    case AlignKind::entmax:
      return buffer * (e + 16 * eps) * (4 + std::sqrt(keys) * 2);
    default:
      return buffer * (std::expm1(2 * e) + 16 * eps);
  }
}

template <typename Real>
void expect_close(const std::string& what, const Real* found, const std::vector<double>& expected, double tolerance,
                  const std::vector<bool>& skip = {}, bool mostly_decided = true) {
  const size_t width = skip.empty() ? 1 : expected.size() / skip.size();
  size_t skipped = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!skip.empty() && skip[i / width]) {
      ++skipped;
      continue;
    }
    const auto x = static_cast<double>(found[i]);
    const bool same = x == expected[i] || (std::isnan(x) && std::isnan(expected[i]));
    if (same || std::abs(x - expected[i]) <= tolerance) continue;
    ADD_FAILURE() << what << "[" << i << "] is " << x << ", expected " << expected[i] << ", off by " << x - expected[i]
                  << ", allowed " << tolerance;
    return;
  }
  EXPECT_TRUE(!mostly_decided || skipped * 4 <= expected.size())
      << what << ": too many rows are undecided to say anything";
}

template <typename Real>
void compare_values(const std::string& spec, const Shape& n, const Variant& v) {
  Case<Real> c(spec, n, v);
  const auto answer = reference::attend(c.definition);
  const auto skip = decides(spec) ? undecided(c, v, answer) : std::vector<bool>();
  forward(c.p);
  const double tolerance = allowed(c, v);
  expect_close("context", c.context.data(), answer.context.data, tolerance, skip, v.sigma == 1);
  EXPECT_TRUE(c.context.intact() && c.second.intact() && c.rows.intact());

  const int64_t all = n.batch * n.heads * n.queries;
  Fenced<Real> weights(all * n.keys), lse(all), entropy(all), mass(n.batch * n.heads * n.keys), log_probability(all);
  Fenced<Real> top_weights(all * 3);
  Fenced<int64_t> top_keys(all * 3);
  RequestedOutputs<Real> want;
  want.weights = weights.data();
  want.lse = lse.data();
  want.entropy = entropy.data();
  want.column_mass = mass.data();
  want.top = 3;
  want.top_weights = top_weights.data();
  want.top_keys = top_keys.data();
  if (c.p.align == AlignKind::hard) want.log_probability = log_probability.data();
  report(c.p, want);
  const double weight_tolerance =
      tolerance /
      (c.p.align == AlignKind::sigmoid || c.p.align == AlignKind::identity ? static_cast<double>(n.keys) : 1);
  expect_close("weights", weights.data(), answer.weights.data, weight_tolerance, skip, false);
  if (!answer.lse.empty() && c.p.align != AlignKind::sparsemax)
    expect_close("lse", lse.data(), answer.lse.data, 4 * score_error(c, v) + 1e-6 * (sizeof(Real) == 4), skip, false);
  if (!answer.entropy.empty())
    expect_close(
        "entropy", entropy.data(), answer.entropy.data,
        4 * tolerance * (2 + std::log(static_cast<double>(n.keys))) *
            (c.p.align == AlignKind::sparsemax || c.p.align == AlignKind::entmax ? static_cast<double>(n.keys) : 4),
        skip, false);
  if (want.log_probability != nullptr && !answer.log_probability.empty())
    expect_close("log_probability", log_probability.data(), answer.log_probability.data,
                 8 * score_error(c, v) + 1e-6 * (sizeof(Real) == 4), skip, false);
  for (const auto* x : {&weights, &lse, &entropy, &mass, &log_probability, &top_weights}) EXPECT_TRUE(x->intact());
  EXPECT_TRUE(top_keys.intact());
  // column_mass and top_weights agree with the reported weights.
  for (int64_t head = 0; head < n.batch * n.heads; ++head)
    for (int64_t j = 0; j < n.keys; ++j) {
      double sum = 0;
      for (int64_t i = 0; i < n.queries; ++i) sum += static_cast<double>(weights[(head * n.queries + i) * n.keys + j]);
      if (std::isnan(sum)) continue;
      EXPECT_NEAR(static_cast<double>(mass[head * n.keys + j]), sum,
                  1e-6 * (1 + static_cast<double>(n.queries)) * (1 + std::abs(sum)) + tolerance);
    }
  for (int64_t row = 0; row < all; ++row) {
    std::vector<std::pair<double, int64_t>> sorted;
    for (int64_t j = 0; j < n.keys; ++j)
      if (weights[row * n.keys + j] != 0) sorted.emplace_back(-static_cast<double>(weights[row * n.keys + j]), j);
    std::stable_sort(sorted.begin(), sorted.end());
    for (int64_t i = 0; i < 3; ++i) {
      const bool there = i < static_cast<int64_t>(sorted.size());
      EXPECT_EQ(top_keys[row * 3 + i] >= 0, there);
      if (!there) continue;
      EXPECT_NEAR(static_cast<double>(top_weights[row * 3 + i]), -sorted[static_cast<size_t>(i)].first,
                  weight_tolerance);
      ASSERT_LT(top_keys[row * 3 + i], n.keys);
      EXPECT_EQ(top_weights[row * 3 + i], weights[row * n.keys + top_keys[row * 3 + i]]) << "of its key";
    }
  }
}

class EveryKernel : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Fused, EveryKernel, ::testing::ValuesIn(mechanisms()), test_name);

TEST_P(EveryKernel, AgreesWithTheDefinition) {
  on_every_set([&](auto real) {
    using Real = decltype(real);
    for (const auto& mask : kMasks) {
      SCOPED_TRACE(mask);
      const bool several = mask == "none" || mask == "all";
      for (const bool sample : {false, true}) {
        if (sample && !decides(GetParam())) continue;
        compare_values<Real>(GetParam(), {}, {.mask = mask, .biased = mask == "all", .sample = sample});
        if (several)
          compare_values<Real>(
              GetParam(), {1, 4, 2, 65, 130, 17, 16},
              {.mask = mask, .biased = true, .scale = 0.7, .soft_cap = 3, .dropout = 0.3, .sample = sample});
      }
    }
    for (const auto& [lq, lk] : {std::pair{1, 1}, {2, 8}, {1, 31}, {9, 257}, {3, 2200}}) {
      SCOPED_TRACE(std::to_string(lq) + " x " + std::to_string(lk));
      compare_values<Real>(GetParam(), {1, 1, 1, lq, lk, 16, 32}, {});
    }
  });
}

TEST_P(EveryKernel, HoldsInExtremeRanges) {
  on_every_set([&](auto real) {
    using Real = decltype(real);
    const bool additive = has(GetParam(), "additive");
    // Scores of magnitude 1e4, additive inputs of sigma 8 and 60, flat scores.
    for (const double sigma : additive ? std::vector<double>{8, 60, 0.001} : std::vector<double>{30, 0.001}) {
      SCOPED_TRACE(sigma);
      compare_values<Real>(GetParam(), {1, 2, 1, 14, 70, 16, 16}, {.sigma = sigma});
      compare_values<Real>(GetParam(), {1, 1, 1, 2, 70, 16, 16}, {.mask = "causal", .sigma = sigma});
    }
  });
}

TEST_P(EveryKernel, DoesNotReadPadding) {
  on_every_set([&](auto real) {
    using Real = decltype(real);
    const Shape n{2, 2, 1, 13, 70, 12, 10};
    const Variant v{.mask = "key_count"};
    Variant dirty = v;
    dirty.nan_padding = true;
    if (has(GetParam(), "location")) GTEST_SKIP() << "its query has no padding";
    Case<Real> a(GetParam(), n, v), b(GetParam(), n, dirty);
    forward(a.p);
    forward(b.p);
    EXPECT_EQ(std::memcmp(a.context.data(), b.context.data(), static_cast<size_t>(a.context.size()) * sizeof(Real)), 0);
  });
}

/// Gradients of a weighted sum of context, lse and log_probability, along one direction of each input.
template <typename Real>
void compare_gradients(const std::string& spec, const Shape& n, const Variant& v) {
  Case<Real> c(spec, n, v);
  const auto answer = reference::attend(c.definition);
  if (decides(spec)) {
    const auto skip = undecided(c, v, answer);
    if (std::any_of(skip.begin(), skip.end(), [](bool x) { return x; })) return;
  }
  const bool soft = !answer.lse.empty() && c.p.align != AlignKind::hard && c.p.align != AlignKind::sparsemax &&
                    c.p.align != AlignKind::entmax;
  const bool has_lse = soft && !has(spec, "gumbel") && !has(spec, "straight");
  const bool has_log = c.p.align == AlignKind::hard && has(spec, "hard");
  const int64_t all = n.batch * n.heads * n.queries, key_rows = n.batch * n.key_heads * n.keys;
  std::vector<Real> upstream(static_cast<size_t>(all * n.value_width)), of_lse(static_cast<size_t>(all)),
      of_log(static_cast<size_t>(all));
  for (size_t i = 0; i < upstream.size(); ++i) upstream[i] = static_cast<Real>(std::cos(static_cast<double>(i)));
  for (size_t i = 0; i < of_lse.size(); ++i) {
    of_lse[i] = static_cast<Real>(std::sin(static_cast<double>(i)));
    of_log[i] = static_cast<Real>(std::sin(static_cast<double>(i) + 1));
  }
  forward(c.p);
  std::map<std::string, Fenced<Real>> found;
  const auto buffer = [&](const std::string& name, int64_t size) {
    found.emplace(name, Fenced<Real>(size));
    for (int64_t i = 0; i < size; ++i) found[name].data()[i] = 0;
    return found[name].data();
  };
  Gradients<Real> g;
  g.context = upstream.data();
  g.lse = has_lse ? of_lse.data() : nullptr;
  g.log_probability = has_log ? of_log.data() : nullptr;
  g.query = buffer("query", all * c.p.width);
  g.keys = buffer("keys", key_rows * c.p.width);
  g.values = buffer("values", key_rows * n.value_width);
  if (!c.to_scores.empty()) g.to_scores = buffer("score.to_scores", n.heads * c.p.width);
  if (c.p.position != nullptr) g.position = buffer("place", all);
  if (c.p.alphas != nullptr) g.alpha = buffer("align.to_alpha", n.heads);
  if (v.biased) {
    g.full = {buffer("bias", n.batch * n.queries * n.keys), c.p.bias.full.batch, c.p.bias.full.head,
              c.p.bias.full.query, 1};
    g.per_key = {buffer("per_key", n.heads * n.keys), 0, n.keys, 0, 1};
    g.relative = buffer("relative", n.heads * 7);
    g.alibi = buffer("alibi", n.heads);
  }
  backward(c.p, g);
  for (const auto& [name, x] : found) EXPECT_TRUE(x.intact()) << name;

  for (auto& [name, array] : reference::inputs(c.definition)) {
    if (!found.contains(name)) continue;
    const auto way = reference::numbers(array->shape, 4711);
    auto moved = reference::to_complex(c.definition);
    auto& data = reference::inputs(moved).at(name)->data;
    for (size_t i = 0; i < data.size(); ++i) data[i] += reference::Complex(0, reference::kStep * way.data[i]);
    const auto there = reference::attend(moved);
    double expected = 0, size = 1, ours = 0;
    const auto add = [&](const auto& values, const auto& by, bool wanted) {
      for (size_t i = 0; wanted && i < values.data.size(); ++i) {
        if (!std::isfinite(values.data[i].real())) continue;
        const double x = values.data[i].imag() / reference::kStep * static_cast<double>(by[i]);
        expected += x;
        size += std::abs(x);
      }
    };
    add(there.context, upstream, true);
    add(there.lse, of_lse, has_lse);
    add(there.log_probability, of_log, has_log);
    for (size_t i = 0; i < data.size(); ++i)
      ours += static_cast<double>(found[name][static_cast<int64_t>(i)]) * way.data[i] *
              (name == "align.to_alpha" ? c.alpha_derivative(i) : 1);
    if (name == "query" && g.position != nullptr)  // the position depends on the query too
      ours += c.along_positions(way.data, [&](int64_t i) { return static_cast<double>(found["place"][i]); });
    const double eps = std::numeric_limits<Real>::epsilon();
    const double tolerance = size * (20 * score_error(c, v) + 50 * eps) + (g.position != nullptr ? 1e-8 * size : 0);
    EXPECT_NEAR(ours, expected, tolerance) << "gradient with respect to " << name;
  }

  // The same bits on two threads.
  const auto before = found;
  backward(c.p, g, two_threads);
  for (const auto& [name, x] : before) {
    if (name == "bias" || name == "per_key") continue;  // backward() adds to these
    EXPECT_EQ(std::memcmp(x.data(), found[name].data(), static_cast<size_t>(x.size()) * sizeof(Real)), 0) << name;
  }
}

TEST_P(EveryKernel, HasTheGradientsOfTheDefinition) {
  on_every_set([&](auto real) {
    using Real = decltype(real);
    for (const auto& mask : kMasks) {
      SCOPED_TRACE(mask);
      compare_gradients<Real>(GetParam(), {}, {.mask = mask, .sample = true});
    }
    compare_gradients<Real>(
        GetParam(), {2, 4, 2, 11, 21, 17, 16},
        {.mask = "all", .biased = true, .scale = 0.7, .soft_cap = 3, .dropout = 0.3, .sample = true});
    compare_gradients<Real>(GetParam(), {1, 1, 1, 2, 20, 16, 32}, {});
    compare_gradients<Real>(GetParam(), {1, 2, 1, 1, 300, 9, 16}, {.mask = "causal", .sigma = 0.5});
    compare_gradients<Real>(GetParam(), {1, 1, 1, 3, 300, 9, 16}, {.sigma = has(GetParam(), "additive") ? 60.0 : 2.0});
    compare_gradients<Real>(GetParam(), {1, 1, 1, 30, 400, 8, 16}, {.mask = "causal"});
  });
}

TEST_P(EveryKernel, GivesTheSameBitsOnTwoThreads) {
  on_every_set([&](auto real) {
    using Real = decltype(real);
    for (const Shape& n : {Shape{1, 2, 1, 60, 200, 16, 16}, Shape{1, 1, 1, 1, 5000, 16, 16}}) {
      Case<Real> a(GetParam(), n, {}), b(GetParam(), n, {});
      forward(a.p);
      forward(b.p, two_threads);
      EXPECT_EQ(std::memcmp(a.context.data(), b.context.data(), static_cast<size_t>(a.context.size()) * sizeof(Real)),
                0);
    }
  });
}

// ---- corner cases that the table does not cover

/// All scores are NaN, and the first chunks of the split keys are masked.
TEST(Fused, PropagatesNaNFromAnyChunkOfTheKeys) {
  on_every_set([](auto real) {
    using Real = decltype(real);
    for (const std::string align : {"softmax", "straight_through", "hard"}) {
      Case<Real> c("dot + " + align, {1, 1, 1, 1, 5000, 16, 16}, {});
      for (Real& x : c.query) x = std::numeric_limits<Real>::quiet_NaN();
      c.p.mask.first_position = 4999;
      c.p.mask.left = 1000;
      forward(c.p);
      Real lse = 0;
      RequestedOutputs<Real> want;
      want.lse = &lse;
      report(c.p, want);
      EXPECT_TRUE(std::isnan(c.context[0]) && std::isnan(lse)) << align << ": " << c.context[0] << ", lse " << lse;
    }
  });
}

/// Two heads share keys, and one of them masks a key whose value is NaN.
TEST(Fused, DoesNotReadTheValueThatASingleQueryMasks) {
  on_every_set([](auto real) {
    using Real = decltype(real);
    Case<Real> c("dot + softmax", {1, 2, 1, 1, 40, 16, 16}, {.mask = "keep"});
    for (size_t j = 0; j < 80; ++j) c.keep[1 + j] = j != 5;
    for (size_t f = 0; f < 16; ++f) c.values[1 + 5 * 16 + f] = std::numeric_limits<Real>::quiet_NaN();
    forward(c.p);
    for (int64_t f = 0; f < 16; ++f) EXPECT_TRUE(std::isfinite(c.context[f]) && std::isnan(c.context[16 + f]));
  });
}

/// theta is the largest weight itself: with keep_best no row is empty, however the weight is rounded.
TEST(Fused, KeepsTheBestAtTheThreshold) {
  on_every_set([](auto real) {
    using Real = decltype(real);
    for (uint64_t seed = 1; seed < 200; ++seed) {
      Case<Real> c("dot + threshold(.1)", {1, 1, 1, 1, 3, 16, 16}, {.sigma = 5}, seed);
      forward(c.p);
      c.p.theta = 1 / c.rows[0].sum;
      forward(c.p);
      EXPECT_NE(c.context[0], 0) << "seed " << seed;
    }
  });
}

/// e = -160: the weight is 0 in float, its log is -160.
TEST(Fused, HasTheLogOfASigmoidThatUnderflows) {
  on_every_set([](auto real) {
    using Real = decltype(real);
    Case<Real> c("dot + sigmoid", {1, 1, 1, 1, 3, 16, 16}, {});
    for (Real& x : c.query) x = -10;
    for (Real& x : c.keys) x = 1;
    forward(c.p);
    const int64_t link[4] = {0, 0, 0, 1};
    Real found = 0;
    RequestedOutputs<Real> want;
    want.links = link;
    want.link_count = 1;
    want.link_log_weights = &found;
    report(c.p, want);
    EXPECT_EQ(found, -160);
  });
}

/// Scores near 0 under a bound far above them: a maximum set to the bound would leave every weight 0 in float.
TEST(Fused, KeepsWeightsOfScoresFarBelowTheirBound) {
  on_every_set([](auto real) {
    using Real = decltype(real);
    for (const int64_t queries : {1, 9}) {
      compare_values<Real>("additive + softmax", {1, 1, 1, queries, 40, 256, 16}, {.sigma = 0.001});  // sum |w| is 108
      // Queries have even features only, keys odd ones: scores are 0, the product of norms is 100.
      Case<Real> c("dot + softmax", {1, 1, 1, queries, 40, 16, 16}, {});
      const auto set = [](std::vector<Real>& x, std::vector<double>& defined, size_t odd) {
        for (size_t i = 0; i < defined.size(); ++i) {
          defined[i] = i % 2 == odd ? std::sqrt(12.5) : 0;
          x[i + 1] = static_cast<Real>(defined[i]);
        }
      };
      set(c.query, c.definition.query.data, 0);
      set(c.keys, c.definition.keys.data, 1);
      forward(c.p);
      expect_close("context", c.context.data(), reference::attend(c.definition).context.data, 1e-6);
    }
  });
}

/// All keys have the same score, and chunks are merged: the first key is the best (D6).
TEST(Fused, TakesTheFirstOfEqualKeysInEveryChunk) {
  on_every_set([](auto real) {
    using Real = decltype(real);
    constexpr int64_t kMany = 20000;
    for (const std::string align : {"hard", "straight_through", "gumbel_softmax", "top_k(3)", "threshold(.00001)",
                                    "threshold(.5, keep_best)", "softmax"}) {
      SCOPED_TRACE(align);
      Case<Real> c("dot + " + align, {1, 1, 1, 1, kMany, 16, 16}, {});
      std::fill(c.query.begin(), c.query.end(), Real(0));
      std::fill(c.definition.query.data.begin(), c.definition.query.data.end(), 0.0);
      const auto answer = reference::attend(c.definition);
      forward(c.p);
      expect_close("context", c.context.data(), answer.context.data, 2e-6);
      std::vector<Real> weights(kMany), top_weights(3);
      std::vector<int64_t> top_keys(3);
      RequestedOutputs<Real> want;
      want.weights = weights.data();
      want.top = 3;
      want.top_weights = top_weights.data();
      want.top_keys = top_keys.data();
      report(c.p, want);
      expect_close("weights", weights.data(), answer.weights.data, 1e-6);
      for (int64_t i = 0; i < 3; ++i)
        EXPECT_EQ(top_keys[static_cast<size_t>(i)], answer.weights.data[static_cast<size_t>(i)] == 0 ? -1 : i);
    }
  });
}

/// More candidates than the buffer holds: tau takes several passes, here about ten.
TEST(Fused, FindsTheThresholdOfManyCandidates) {
  on_every_set([](auto real) {
    using Real = decltype(real);
    for (const std::string align : {"entmax(1.5)", "sparsemax", "entmax(1.3)"}) {
      SCOPED_TRACE(align);
      compare_values<Real>("dot + " + align, {1, 1, 1, 2, 20000, 16, 16}, {.sigma = 0.01});
      for (const int64_t queries : {1, 9}) {
        Case<Real> c("dot + " + align, {1, 1, 1, queries, 500, 16, 16}, {.sigma = 0.3});
        c.p.candidates = 16;
        forward(c.p);
        expect_close("context", c.context.data(), reference::attend(c.definition).context.data,
                     allowed(c, {.sigma = 0.3}));
      }
    }
  });
}

/// exp(2a) is infinite, exp(2b) is 0, and a + b is small: only the sum can be used.
TEST(Fused, AddsBeforeItSaturates) {
  on_every_set([](auto real) {
    using Real = decltype(real);
    constexpr bool kFloat = sizeof(Real) == 4;
    for (const double b : kFloat ? std::vector<double>{-42.8, -40.3} : std::vector<double>{-356, -348})
      for (const bool swapped : {false, true})
        for (const int64_t queries : {1, 9}) {
          SCOPED_TRACE(std::to_string(b) + (swapped ? " in the query, " : " in the keys, ") + std::to_string(queries) +
                       " queries");
          Case<Real> c("additive + softmax", {1, 1, 1, queries, 40, 16, 16}, {});
          const double a = kFloat ? 44.8 : 358;
          const auto shift = [](std::vector<Real>& x, std::vector<double>& defined, double by) {
            for (size_t i = 0; i < defined.size(); ++i) {
              x[i + 1] = static_cast<Real>(defined[i] * 0.3 + by);
              defined[i] = static_cast<double>(x[i + 1]);
            }
          };
          shift(c.query, c.definition.query.data, swapped ? b : a);
          shift(c.keys, c.definition.keys.data, swapped ? a : b);
          forward(c.p);
          const double tolerance = allowed(c, {}) + 100 * std::numeric_limits<Real>::epsilon();
          expect_close("context", c.context.data(), reference::attend(c.definition).context.data, tolerance);
          // The gradient with respect to the query, along one direction.
          std::vector<Real> upstream(static_cast<size_t>(c.context.size()), 1), to_query(c.query.size() - 1);
          Gradients<Real> g;
          g.context = upstream.data();
          g.query = to_query.data();
          backward(c.p, g);
          const auto direction = reference::numbers(c.definition.query.shape, 4711);
          auto moved = reference::to_complex(c.definition);
          double ours = 0, expected = 0;
          for (size_t i = 0; i < to_query.size(); ++i) {
            moved.query.data[i] += reference::Complex(0, reference::kStep * direction.data[i]);
            ours += static_cast<double>(to_query[i]) * direction.data[i];
          }
          for (const auto& x : reference::attend(moved).context.data) expected += x.imag() / reference::kStep;
          EXPECT_NEAR(ours, expected, 1000 * std::numeric_limits<Real>::epsilon() * static_cast<double>(queries));
        }
  });
}

TEST(Fused, UniformReadsNoScoresButBiasesOfMinusInfinity) {
  on_every_set([](auto real) {
    using Real = decltype(real);
    for (const int64_t queries : {1, 50}) {
      const Variant v{.mask = "causal", .biased = true};
      Case<Real> c("additive + uniform", {1, 2, 1, queries, 70, 12, 10}, v);
      constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN(), kInfinity = std::numeric_limits<Real>::infinity();
      const auto set = [](std::vector<Real>& x, std::vector<double>& defined, size_t every, Real to) {
        for (size_t i = 0; i < defined.size(); i += every) x[i + 1] = to, defined[i] = static_cast<double>(to);
      };
      set(c.full, c.definition.bias.data, 3, -kInfinity);
      set(c.full, c.definition.bias.data, 5, kNan);  // any other number does not matter
      set(c.per_key, c.definition.per_key.data, 7, -kInfinity);
      const auto answer = reference::attend(c.definition);
      for (auto* x : {&c.query, &c.keys, &c.to_scores}) std::fill(x->begin(), x->end(), kNan);
      forward(c.p);
      expect_close("context", c.context.data(), answer.context.data, allowed(c, v));
      std::vector<Real> of_query(c.query.size() - 1, kNan), of_keys(c.keys.size() - 1, kNan),
          of_full(c.full.size() - 1, 0);
      Gradients<Real> g;
      g.context = c.context.data();
      g.query = of_query.data();
      g.keys = of_keys.data();
      g.full = {of_full.data(), c.p.bias.full.batch, c.p.bias.full.head, c.p.bias.full.query, 1};
      backward(c.p, g);
      for (const auto* grads : {&of_query, &of_keys, &of_full})
        EXPECT_TRUE(std::all_of(grads->begin(), grads->end(), [](Real x) { return x == 0; }));
    }
  });
}

/// alpha = 2 per head is sparsemax, and one alpha may be shared by all heads.
TEST(Fused, TakesAlphaPerHead) {
  on_every_set([](auto real) {
    using Real = decltype(real);
    const Shape n{1, 2, 1, 9, 70, 12, 10};
    Case<Real> c("dot + entmax(1.5)", n, {}), sparse("dot + sparsemax", n, {}), shared("dot + entmax(1.5)", n, {});
    const Real alphas[] = {2, Real(1.5)};
    c.p.alphas = alphas, c.p.alphas_head = 1;
    shared.p.alphas = alphas + 1, shared.p.alpha = 2;
    for (auto* x : {&c, &sparse, &shared}) forward(x->p);
    for (int64_t i = 0; i < c.context.size(); ++i)
      EXPECT_EQ(c.context[i], i < c.context.size() / 2 ? sparse.context[i] : shared.context[i]);
    const Real outside[] = {2, 3};
    c.p.alphas = outside;
    EXPECT_THROW(forward(c.p), Error);
  });
}

/// The example of the specification: z = (1, .5, 1.5, -1), da = (1, -1, 2, 5).
TEST(Fused, HasTheGradientOfAlpha) {
  on_every_set([](auto real) {
    using Real = decltype(real);
    const Real scores[] = {1, Real(0.5), Real(1.5), -1}, values[] = {1, -1, 2, 5}, one = 1;
    for (const double alpha : {1.5, 2.0, 1.25}) {
      const auto run = [&](double at, Real* grad_alpha) {
        Problem<Real> p;
        Real context = 0, second = 0;
        RowStats<Real> row;
        p.queries = 1, p.keys = p.width = 4, p.value_width = 1;
        p.score = ScoreKind::table, p.align = AlignKind::entmax, p.alpha = static_cast<Real>(at);
        p.query = {scores, 4, 4, 4}, p.values = {values, 4, 4, 1};
        p.context = &context, p.second = &second, p.rows = &row;
        forward(p);
        Gradients<Real> g;
        g.context = &one, g.alpha = grad_alpha;
        backward(p, g);
        return static_cast<double>(context);
      };
      Real found = 0, unused = 0;
      run(alpha, &found);
      if (alpha == 1.5) {
        EXPECT_NEAR(static_cast<double>(found), 0.83735528, 2e-6);
      }
      if (sizeof(Real) == 4) continue;
      constexpr double h = 1e-5;  // at alpha = 2 from below only
      const double above = alpha == 2 ? alpha : alpha + h;
      const double expected = (run(above, &unused) - run(alpha - h, &unused)) / (above - alpha + h);
      EXPECT_NEAR(static_cast<double>(found), expected, alpha == 2 ? 1e-4 : 1e-8);
    }
  });
}

/// A common offset and distant clusters do not reduce the accuracy of distances and their gradients.
TEST(Fused, MeasuresDistancesOfFarVectors) {
  on_every_set([](auto real) {
    using Real = decltype(real);
    for (const std::string score : {"euclidean", "euclidean(root)"})
      for (const double offset : {0.0, 10.0, 1e3, 1e6})
        for (const bool clusters : {false, true})
          for (const int64_t queries : {1, 9, 60}) {
            SCOPED_TRACE(score + " at " + std::to_string(offset) + (clusters ? ", clusters, " : ", ") +
                         std::to_string(queries) + " queries");
            const Shape n{1, 2, 1, queries, 150, 12, 16};
            Case<Real> c(score + " + softmax", n, {.mask = "key_count", .scale = 0.5});
            const auto position = [&](std::vector<Real>& x, std::vector<double>& defined) {
              for (size_t i = 0; i < defined.size(); ++i) {
                const double cluster = clusters ? (i / 12 % 2 == 0 ? 1000 : -1000) : 0;
                x[i + 1] = static_cast<Real>(static_cast<float>(defined[i] + offset + cluster));
                defined[i] = static_cast<double>(x[i + 1]);
              }
            };
            position(c.query, c.definition.query.data);
            position(c.keys, c.definition.keys.data);
            std::fill(c.keys.begin() + 1 + 100 * 12, c.keys.end(), Real(0));  // padding, which is not read
            const auto answer = reference::attend(c.definition);
            forward(c.p);
            const double tolerance = 50 * std::numeric_limits<Real>::epsilon();
            expect_close("context", c.context.data(), answer.context.data, tolerance);

            std::vector<Real> upstream(static_cast<size_t>(c.context.size())), to_query(c.query.size() - 1),
                to_keys(c.keys.size() - 1);
            for (size_t i = 0; i < upstream.size(); ++i)
              upstream[i] = static_cast<Real>(std::cos(static_cast<double>(i)));
            Gradients<Real> g;
            g.context = upstream.data();
            g.query = to_query.data();
            g.keys = to_keys.data();
            backward(c.p, g);
            for (const bool of_query : {true, false}) {
              const auto& found = of_query ? to_query : to_keys;
              auto moved = reference::to_complex(c.definition);
              auto& data = of_query ? moved.query.data : moved.keys.data;
              const auto direction = reference::numbers({static_cast<int64_t>(data.size())}, 4711);
              double ours = 0, expected = 0, size = 1;
              for (size_t i = 0; i < data.size(); ++i) {
                data[i] += reference::Complex(0, reference::kStep * direction.data[i]);
                ours += static_cast<double>(found[i]) * direction.data[i];
                size += std::abs(static_cast<double>(found[i]));
              }
              const auto there = reference::attend(moved);
              for (size_t i = 0; i < there.context.data.size(); ++i)
                expected += there.context.data[i].imag() / reference::kStep * static_cast<double>(upstream[i]);
              EXPECT_NEAR(ours, expected, tolerance * size) << (of_query ? "query" : "keys");
            }
          }
  });
}

}  // namespace
}  // namespace heed::kernels::cpu::testing
