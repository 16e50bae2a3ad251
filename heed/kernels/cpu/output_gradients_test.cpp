// Gradients of requested outputs, for every alignment, against the complex step of the definition.

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/kernels/cpu/testing_accuracy.h"

namespace heed::kernels::cpu::testing {
namespace {

template <typename Real>
constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

/// Which outputs the loss depends on.
struct Loss {
  bool context = true, weights = false, entropy = false, column_mass = false, top = false, links = false;
  bool selects = false;  // weights of some queries and heads, some of them twice
  bool reported = true;  // the reported entropy is passed
};
const std::vector<std::pair<std::string, Loss>> kLosses{
    {"weights", {.weights = true}},
    {"selected weights", {.context = false, .weights = true, .selects = true}},
    {"entropy", {.entropy = true}},
    {"entropy computed again", {.context = false, .entropy = true, .reported = false}},
    {"column mass", {.context = false, .column_mass = true}},
    {"largest weights", {.top = true}},
    {"links", {.context = false, .links = true}},
    {"all", {true, true, true, true, true, true, true}}};

/// A problem, its requested outputs, and the gradients of a loss that is a weighted sum of them.
template <typename Real>
struct LossCase {
  static constexpr int64_t kTop = 3;
  Case<Real> c;
  Shape n;
  Loss loss;
  reference::Answer<double> answer;
  int64_t all, heads, queries;
  std::vector<int64_t> some_queries, some_heads, links, top_keys;
  std::vector<Real> weights, entropy, mass, top, logs, reported, upstream;  // gradients; reported: the entropy itself
  std::map<std::string, Fenced<Real>> found;

  LossCase(const std::string& spec, const Shape& shape, const Variant& v, const Loss& of)
      : c(spec, shape, v), n(shape), loss(of), answer(reference::attend(c.definition)) {
    all = n.batch * n.heads * n.queries;
    if (loss.selects) {
      some_queries = {n.queries - 1, 0, n.queries / 2, 0};
      some_heads = {n.heads - 1, n.heads - 1};
    }
    heads = loss.selects ? 2 : n.heads, queries = loss.selects ? 4 : n.queries;
    if (answer.entropy.empty()) loss.entropy = false;
    for (auto* grads : {&weights, &entropy, &mass, &top, &upstream}) grads->clear();
    fill(weights, n.batch * heads * queries * n.keys, 1);
    fill(entropy, all, 2);
    fill(mass, n.batch * n.heads * n.keys, 3);
    fill(top, all * kTop, 4);
    fill(upstream, all * n.value_width, 5);
    const reference::Mask mask(c.definition);
    each_weight([&](size_t at, int64_t b, int64_t h, int64_t i, int64_t j) {
      if (!mask.keeps(b, h, i, j)) weights[at] = kNan<Real>;  // not read
    });
    forward(c.p);
    take_report();
  }

  /// Calls take(index of the gradient, batch element, head, query, key) for each gradient of a weight.
  template <class Take>
  void each_weight(Take take) const {
    for (int64_t b = 0, at = 0; b < n.batch; ++b)
      for (int64_t x = 0; x < heads; ++x)
        for (int64_t y = 0; y < queries; ++y)
          for (int64_t j = 0; j < n.keys; ++j, ++at)
            take(static_cast<size_t>(at), b, loss.selects ? some_heads[static_cast<size_t>(x)] : x,
                 loss.selects ? some_queries[static_cast<size_t>(y)] : y, j);
  }
  size_t pair(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return static_cast<size_t>(c.p.row_index(b, h, i) * n.keys + j);
  }

  Gradients<Real> gradients() {
    const auto buffer = [&](const std::string& name, int64_t size) {
      found[name] = Fenced<Real>(size);
      std::fill_n(found[name].data(), size, Real(0));
      return found[name].data();
    };
    const int64_t key_rows = n.batch * n.key_heads * n.keys;
    Gradients<Real> g;
    g.context = loss.context ? upstream.data() : nullptr;
    if (loss.weights) g.weights = weights.data();
    g.some_queries = some_queries.data(), g.query_count = static_cast<int64_t>(some_queries.size());
    g.some_heads = some_heads.data(), g.head_count = static_cast<int64_t>(some_heads.size());
    if (loss.entropy) g.entropy = entropy.data();
    if (loss.reported) g.reported_entropy = reported.data();
    if (loss.column_mass) g.column_mass = mass.data();
    if (loss.top) g.top_weights = top.data(), g.top_keys = top_keys.data(), g.top = kTop;
    if (loss.links) g.links = links.data(), g.link_log_weights = logs.data();
    g.link_count = static_cast<int64_t>(logs.size());
    g.query = buffer("query", all * c.p.width);
    g.keys = buffer("keys", key_rows * c.p.width);
    g.values = buffer("values", key_rows * n.value_width);
    if (!c.to_scores.empty()) g.to_scores = buffer("score.to_scores", n.heads * c.p.width);
    if (c.p.position != nullptr) g.position = buffer("position", all);
    if (c.p.alphas != nullptr) g.alpha = buffer("align.to_alpha", n.heads);
    if (c.p.bias.any()) {
      g.full = {buffer("bias", n.batch * n.queries * n.keys), c.p.bias.full.batch, c.p.bias.full.head,
                c.p.bias.full.query, 1};
      g.per_key = {buffer("per_key", n.heads * n.keys), 0, n.keys, 0, 1};
      g.relative = buffer("relative", n.heads * 7);
      g.alibi = buffer("alibi", n.heads);
    }
    return g;
  }

  /// The derivative of the loss, from the imaginary parts of an answer; size: the sum of its magnitudes.
  double derivative(const reference::Answer<reference::Complex>& there, double& size) const {
    double sum = 0;
    const auto add = [&](double imag, double by) {
      sum += imag / reference::kStep * by;
      size += std::abs(imag / reference::kStep * by);
    };
    const auto& a = there.weights.data;
    for (size_t i = 0; loss.context && i < upstream.size(); ++i)
      add(there.context.data[i].imag(), static_cast<double>(upstream[i]));
    if (loss.weights)
      each_weight([&](size_t at, int64_t b, int64_t h, int64_t i, int64_t j) {
        if (weights[at] == weights[at]) add(a[pair(b, h, i, j)].imag(), static_cast<double>(weights[at]));
      });
    for (size_t i = 0; loss.entropy && i < entropy.size(); ++i)
      add(there.entropy.data[i].imag(), static_cast<double>(entropy[i]));
    for (size_t i = 0; loss.column_mass && i < a.size(); ++i) {
      const auto keys = static_cast<size_t>(n.keys);
      add(a[i].imag(), static_cast<double>(mass[i / keys / static_cast<size_t>(n.queries) * keys + i % keys]));
    }
    for (size_t i = 0; loss.top && i < top.size(); ++i)
      if (top_keys[i] >= 0)
        add(a[i / kTop * static_cast<size_t>(n.keys) + static_cast<size_t>(top_keys[i])].imag(),
            static_cast<double>(top[i]));
    for (size_t i = 0; loss.links && i < logs.size(); ++i) {
      const int64_t* link = links.data() + 4 * i;
      if (logs[i] == logs[i]) add(log_weight(there, link).imag(), static_cast<double>(logs[i]));
    }
    return sum;
  }

 private:
  static void fill(std::vector<Real>& to, int64_t size, int seed) {
    for (int64_t i = 0; i < size; ++i)
      to.push_back(static_cast<Real>(std::sin(static_cast<double>(i * i % 1009) + seed)));
  }

  /// That of hard is the log of its softmax.
  template <typename Number>
  Number log_weight(const reference::Answer<Number>& there, const int64_t* link) const {
    if (c.p.align != AlignKind::hard) return std::log(there.weights.data[pair(link[0], link[1], link[2], link[3])]);
    const reference::Mask mask(c.definition);
    Number sum(0);
    for (int64_t j = 0; j < n.keys; ++j)
      if (mask.keeps(link[0], link[1], link[2], j))
        sum += std::exp(there.scores.data[pair(link[0], link[1], link[2], j)]);
    const bool kept = mask.keeps(link[0], link[1], link[2], link[3]);
    return kept ? there.scores.data[pair(link[0], link[1], link[2], link[3])] - std::log(sum)
                : Number(-std::numeric_limits<double>::infinity());
  }

  void take_report() {
    for (int64_t i = 0; i < 5 * n.queries + 20; ++i) {
      const int64_t some = i % 7 == 6 ? (i - 1) * 37 : i * 37;  // some of them twice
      for (const int64_t x : {some % n.batch, some / 3 % n.heads, some / 5 % n.queries, some * some % n.keys})
        links.push_back(x);
    }
    fill(logs, static_cast<int64_t>(links.size()) / 4, 6);
    std::vector<Real> values(logs.size()), top_weights(top.size());
    reported.resize(entropy.size());
    top_keys.resize(top.size());
    RequestedOutputs<Real> want;
    want.entropy = reported.data();
    want.top = kTop, want.top_weights = top_weights.data(), want.top_keys = top_keys.data();
    want.links = links.data(), want.link_count = static_cast<int64_t>(logs.size());
    want.link_log_weights = values.data();
    report(c.p, want);
    // A link to a weight of 0 has the log-weight -inf, whose gradient is not read.
    for (size_t i = 0; i < logs.size(); ++i) {
      const double log = log_weight(answer, links.data() + 4 * i);
      const bool some = std::isfinite(log), near = some != std::isfinite(values[i]) || (some && log < -8);
      if (!some) logs[i] = kNan<Real>;
      if (near) logs[i] = 0;
    }
  }
};

template <typename Real>
void compare_gradients(const std::string& spec, const Shape& n, const Variant& v, const Loss& loss) {
  LossCase<Real> l(spec, n, v, loss);
  auto& c = l.c;
  if (decides(spec)) {
    const auto skip = undecided(c, v, l.answer);
    if (std::any_of(skip.begin(), skip.end(), [](bool x) { return x; })) return;
  }
  Gradients<Real> g = l.gradients();
  backward(c.p, g);
  for (const auto& [name, x] : l.found) EXPECT_TRUE(x.intact()) << name;
  for (auto& [name, array] : reference::inputs(c.definition)) {
    if (!l.found.contains(name)) continue;
    const auto way = reference::numbers(array->shape, 4711);
    auto moved = reference::to_complex(c.definition);
    auto& data = reference::inputs(moved).at(name)->data;
    for (size_t i = 0; i < data.size(); ++i) data[i] += reference::Complex(0, reference::kStep * way.data[i]);
    double size = 1, ours = 0;
    const double expected = l.derivative(reference::attend(moved), size);
    for (size_t i = 0; i < data.size(); ++i)
      ours += static_cast<double>(l.found[name][static_cast<int64_t>(i)]) * way.data[i] *
              (name == "align.to_alpha" ? c.alpha_derivative(i) : 1);
    if (name == "query" && g.position != nullptr)
      ours += c.along_positions(way.data, [&](int64_t i) { return static_cast<double>(g.position[i]); });
    const double eps = std::numeric_limits<Real>::epsilon();
    const bool sparse = c.p.align == AlignKind::sparsemax || c.p.align == AlignKind::entmax;
    const double tolerance =
        size * (20 * score_error(c, v) + 50 * eps) * (sparse ? 8 : 1) + (g.position != nullptr ? 1e-8 * size : 0);
    EXPECT_NEAR(ours, expected, tolerance) << "gradient with respect to " << name;
  }
  // The same bits on two threads.
  const auto before = l.found;
  backward(c.p, l.gradients(), two_threads);
  for (const auto& [name, x] : before)
    EXPECT_EQ(std::memcmp(x.data(), l.found[name].data(), static_cast<size_t>(x.size()) * sizeof(Real)), 0) << name;
}

const std::vector<std::string> kMechanisms{"dot + softmax",
                                           "dot + local_m(4)",
                                           "dot + local_p(4)",
                                           "dot + local_p(4, renorm)",
                                           "dot + local_p(4, score_gauss)",
                                           "dot + sigmoid",
                                           "dot + identity",
                                           "dot + threshold(.04)",
                                           "dot + threshold(.2, keep_best=false)",
                                           "dot + threshold(.3, renorm)",
                                           "dot + top_k(3)",
                                           "dot + top_k(3, renorm)",
                                           "dot + hard",
                                           "dot + gumbel_softmax(.7)",
                                           "dot + straight_through(.7)",
                                           "dot + sparsemax",
                                           "dot + entmax(1.5)",
                                           "dot + entmax(1.3)",
                                           "dot + entmax(learned)",
                                           "dot + uniform",
                                           "additive + softmax",
                                           "additive + hard",
                                           "additive + local_p(4)",
                                           "additive + entmax(learned)",
                                           "additive(gelu) + softmax",
                                           "activated_general + softmax",
                                           "euclidean(root) + softmax",
                                           "euclidean + top_k(3, renorm)",
                                           "location + sparsemax"};

class EveryAlignment : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Fused, EveryAlignment, ::testing::ValuesIn(kMechanisms), test_name);

TEST_P(EveryAlignment, HasTheGradientsOfRequestedOutputs) {
  on_every_set([&](auto real) {
    using Real = decltype(real);
    for (const auto& [name, loss] : kLosses) {
      SCOPED_TRACE(name);
      for (const std::string mask : {"none", "keep", "window", "all"}) {
        SCOPED_TRACE(mask);
        compare_gradients<Real>(GetParam(), {}, {.mask = mask, .sample = true}, loss);
      }
      compare_gradients<Real>(
          GetParam(), {2, 4, 2, 11, 21, 17, 16},
          {.mask = "all", .biased = true, .scale = 0.7, .soft_cap = 3, .dropout = 0.3, .sample = true}, loss);
    }
  });
}

TEST_P(EveryAlignment, HasThemForEveryLength) {
  on_every_set([&](auto real) {
    using Real = decltype(real);
    const Loss all = kLosses.back().second;
    for (const auto& [lq, lk] : {std::pair{1, 1}, {1, 7}, {3, 8}, {1, 9}, {5, 31}, {50, 33}, {2, 257}, {1, 2200}}) {
      SCOPED_TRACE(std::to_string(lq) + " x " + std::to_string(lk));
      compare_gradients<Real>(GetParam(), {1, 1, 1, lq, lk, 9, 16}, {.sigma = 0.7, .sample = true}, all);
    }
    compare_gradients<Real>(GetParam(), {1, 2, 1, 100, 300, 8, 16}, {.mask = "causal", .sigma = 0.7, .sample = true},
                            all);
  });
}

/// NaN in padded values, and in gradients with respect to outputs that are constant, reaches no gradient. A query that
/// attends nothing has gradients of 0.
TEST_P(EveryAlignment, KeepsMaskedPairsOut) {
  on_every_set([&](auto real) {
    using Real = decltype(real);
    const Shape n{2, 2, 1, 13, 70, 12, 10};
    const Loss all = kLosses.back().second;
    const auto run = [&](bool dirty) {
      LossCase<Real> l(GetParam(), n, {.mask = "key_count", .sample = true}, all);
      for (int64_t b = 0; dirty && b < n.batch; ++b)
        for (int64_t j = l.c.p.mask.key_count[b]; j < n.keys; ++j) {
          std::fill_n(l.c.values.data() + 1 + (b * n.keys + j) * n.value_width, n.value_width, kNan<Real>);
          for (int64_t h = 0; h < n.heads; ++h)
            l.mass[static_cast<size_t>((b * n.heads + h) * n.keys + j)] = kNan<Real>;
        }
      forward(l.c.p);
      backward(l.c.p, l.gradients());
      return l.found;
    };
    auto clean = run(false), dirty = run(true);
    for (const auto& [name, x] : clean)
      EXPECT_EQ(std::memcmp(x.data(), dirty[name].data(), static_cast<size_t>(x.size()) * sizeof(Real)), 0) << name;
    for (int64_t i = clean["query"].size() / 2; i < clean["query"].size(); ++i)
      ASSERT_EQ(clean["query"][i], 0);  // the second batch element has no keys
  });
}

/// Scores given as a table: the gradients of the query are those of the scores.
template <typename Real>
std::vector<Real> of_scores(const std::vector<Real>& scores, AlignKind align, Gradients<Real> g,
                            const std::vector<Real>& bias = {}) {
  Problem<Real> p;
  const auto keys = static_cast<int64_t>(scores.size());
  std::vector<Real> values(scores.size()), grads(scores.size());
  Real context = 0, second = 0;
  RowStats<Real> row;
  p.queries = 1, p.keys = p.width = keys, p.value_width = 1;
  p.score = ScoreKind::table, p.align = align, p.alpha = Real(1.5), p.k = 1;
  p.query = {scores.data(), keys, keys, keys}, p.values = {values.data(), keys, keys, 1};
  if (!bias.empty()) p.bias.per_key = {bias.data(), 0, 0, 0, 1};
  p.context = &context, p.second = &second, p.rows = &row;
  forward(p);
  g.query = grads.data();
  backward(p, g);
  return grads;
}

/// e = (0, -200): the second weight is 0 in float, its log is -200.
TEST(OutputGradients, AreThoseOfTheLogWhereTheWeightUnderflows) {
  on_every_set([](auto real) {
    using Real = decltype(real);
    const std::vector<Real> scores{0, -200};
    const int64_t link[] = {0, 0, 0, 1};
    const Real one = 1;
    Gradients<Real> g;
    g.links = link, g.link_count = 1, g.link_log_weights = &one;
    EXPECT_EQ(of_scores(scores, AlignKind::softmax, g), (std::vector<Real>{-1, 1}));
    EXPECT_EQ(of_scores(scores, AlignKind::hard, g), (std::vector<Real>{-1, 1}));
    EXPECT_EQ(of_scores(scores, AlignKind::sigmoid, g), (std::vector<Real>{0, 1}));
    for (const AlignKind kind : {AlignKind::sparsemax, AlignKind::entmax, AlignKind::top_k, AlignKind::identity,
                                 AlignKind::straight_through, AlignKind::uniform})
      EXPECT_EQ(of_scores(scores, kind, g), (std::vector<Real>{0, 0})) << static_cast<int>(kind);
  });
}

/// Of the weights 1/4 and 3/4: H = log 4 - 3/4 log 3, dH/de = -a (log a + H); log a_1 gives 1 - a.
TEST(OutputGradients, AreRightByHand) {
  on_every_set([](auto real) {
    using Real = decltype(real);
    const std::vector<Real> scores{0, std::log(Real(3))};
    const Real entropy = static_cast<Real>(std::log(4.0) - 0.75 * std::log(3.0)), one = 1;
    const double expected = -0.25 * (std::log(0.25) + static_cast<double>(entropy));
    for (const bool reported : {false, true}) {
      Gradients<Real> g;
      g.entropy = &one;
      if (reported) g.reported_entropy = &entropy;
      const auto found = of_scores(scores, AlignKind::softmax, g);
      EXPECT_NEAR(static_cast<double>(found[0]), expected, 1e-6);
      EXPECT_NEAR(static_cast<double>(found[1]), -expected, 1e-6);
    }
    const Real some[] = {0, 4};  // dL/da_1 = 4: ds = 4 a_0 a_1 (-1, 1)
    Gradients<Real> g;
    g.weights = some;
    const auto found = of_scores(scores, AlignKind::softmax, g);
    EXPECT_NEAR(static_cast<double>(found[0]), -0.75, 1e-6);
    EXPECT_NEAR(static_cast<double>(found[1]), 0.75, 1e-6);
  });
}

/// A bias of -inf masks the second key: the others have the gradients that they have without it, and it has 0.
TEST(OutputGradients, AreZeroWhereABiasMasks) {
  on_every_set([](auto real) {
    using Real = decltype(real);
    const std::vector<Real> scores{0, 1, 2}, others{0, 2}, bias{0, -std::numeric_limits<Real>::infinity(), 0};
    const int64_t links[] = {0, 0, 0, 0, 0, 0, 0, 1}, keys[] = {1, 0};
    const Real logs[] = {2, kNan<Real>}, ones[] = {1, 2, 3}, some[] = {1, 3};
    for (const AlignKind kind :
         {AlignKind::softmax, AlignKind::hard, AlignKind::sigmoid, AlignKind::sparsemax, AlignKind::entmax}) {
      Gradients<Real> masked, without;
      masked.links = without.links = links, masked.link_log_weights = without.link_log_weights = logs;
      masked.link_count = 2, without.link_count = 1;
      masked.entropy = without.entropy = ones;
      masked.weights = ones, without.weights = some;
      const auto found = of_scores(scores, kind, masked, bias), expected = of_scores(others, kind, without);
      EXPECT_EQ(found[1], 0) << static_cast<int>(kind);
      for (const size_t i : {0, 1})
        EXPECT_NEAR(static_cast<double>(found[2 * i]), static_cast<double>(expected[i]), 1e-6)
            << static_cast<int>(kind);
    }
    Gradients<Real> top;
    top.top = 2, top.top_weights = ones, top.top_keys = keys;
    EXPECT_EQ(of_scores(scores, AlignKind::softmax, top, bias)[1], 0);
  });
}

TEST(OutputGradients, RefuseIndicesOutOfRange) {
  const std::vector<double> scores{0, 1};
  const int64_t link[] = {0, 0, 0, 2}, query[] = {1}, key[] = {2};
  const double ones[] = {1, 1};
  Gradients<double> links, weights, top;
  links.links = link, links.link_count = 1, links.link_log_weights = ones;
  weights.weights = ones, weights.some_queries = query, weights.query_count = 1;
  top.top = 1, top.top_weights = ones, top.top_keys = key;
  for (const auto& g : {links, weights, top}) EXPECT_THROW(of_scores(scores, AlignKind::softmax, g), Error);
  links.links = nullptr;
  EXPECT_THROW(of_scores(scores, AlignKind::softmax, links), Error);
}

}  // namespace
}  // namespace heed::kernels::cpu::testing
