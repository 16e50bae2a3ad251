// The multi-dimensional kernels against the definition, on every instruction set this machine has and in double.
//
// Projections of the definition are the identity, so that its query and keys are those of the kernel. Gradients with
// respect to single numbers and along random directions come from the complex step, in double; float is compared with
// double number by number.

#include "heed/kernels/cpu/multi/attend.h"

#include <cmath>
#include <cstring>
#include <functional>

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/kernels/cpu/attend.h"
#include "heed/kernels/cpu/testing.h"
#include "heed/kernels/reference/mask.h"

namespace heed::kernels::cpu::testing {
namespace {

using Definition = reference::Problem<double>;
using reference::Array;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

const std::string kMatrix = "additive(bias=false) + softmax, multi";
const std::string kElementwise = "additive(bias=false) + softmax, multi(elementwise)";
const std::vector<std::string> kForms{kMatrix, kElementwise};

std::string with(const std::string& activation, const std::string& spec) {
  return "additive(" + activation + ", " + spec.substr(spec.find("bias"));
}

struct Sizes {
  int64_t batch = 2, heads = 2, key_heads = 2, queries = 5, keys = 9, width = 6, channels = 5;
};

/// Numbers in (-by, by) that are exact in float.
Array<double> floats(const std::vector<int64_t>& shape, uint64_t seed, double by = 1) {
  auto array = reference::numbers(shape, seed);
  for (double& x : array.data) x = static_cast<double>(static_cast<float>(by * x));
  return array;
}

Definition definition_of(const std::string& spec, const Sizes& n, double reach = 1.5) {
  Definition d;
  d.mechanism = parse_mechanism(spec);
  const bool matrix = spec.find("elementwise") == std::string::npos;
  const int64_t width = matrix ? n.width : n.channels;
  d.query = floats({n.batch, n.heads, n.queries, width}, 1, reach);
  d.keys = floats({n.batch, n.key_heads, n.keys, width}, 2, reach);
  d.values = floats({n.batch, n.key_heads, n.keys, n.channels}, 3);
  Array<double> identity{{width, width}, std::vector<double>(static_cast<size_t>(width * width), 0)};
  for (int64_t i = 0; i < width; ++i) identity.data[static_cast<size_t>(i * width + i)] = 1;
  d.parameters["score.from_query"] = d.parameters["score.from_keys"] = identity;
  if (matrix) d.parameters["score.to_scores"] = floats({n.heads, n.channels, width}, 4);
  d.seed = 11;
  return d;
}

// ---- from the definition's problem to the kernel's -----------------------------------------------------------------

template <typename Real>
std::vector<Real> as(const std::vector<double>& from) {
  return {from.begin(), from.end()};
}

template <typename T, typename From>
Grid<T> grid_of(T* data, const Array<From>& array) {
  if (array.empty()) return {};
  const auto& s = array.shape;
  const auto stride = [&](size_t axis, int64_t n) { return s[axis] == 1 ? 0 : n; };
  return {data, stride(0, s[1] * s[2] * s[3]), stride(1, s[2] * s[3]), stride(2, s[3]), stride(3, 1)};
}

/// [B|1, H|1, Lk] as [B|1, H|1, 1, Lk]
Array<double> with_queries(const Array<double>& per_key) {
  auto array = per_key;
  if (!array.empty()) array.shape.insert(array.shape.begin() + 2, 1);
  return array;
}

template <typename Real>
class Call {
 public:
  explicit Call(const Definition& d)
      : query_(strided(d.query)),
        keys_(strided(d.keys)),
        values_(strided(d.values)),
        bias_(as<Real>(d.bias.data)),
        per_key_(as<Real>(d.per_key.data)),
        relative_(as<Real>(d.relative.data)),
        alibi_(as<Real>(d.alibi.data)),
        keep_(d.keep.data),
        key_count_(d.key_count.data) {
    p.batch = d.query.shape[0], p.heads = d.query.shape[1], p.queries = d.query.shape[2], p.width = d.query.shape[3];
    p.key_heads = d.keys.shape[1], p.keys = d.keys.shape[2], p.channels = d.values.shape[3];
    p.activation = activation(d);
    p.query = rows(query_, d.query), p.key_rows = rows(keys_, d.keys), p.values = rows(values_, d.values);
    if (const auto found = d.parameters.find("score.to_scores"); found != d.parameters.end()) {
      to_scores_ = as<Real>(found->second.data);
      p.to_scores = to_scores_.data();
      p.to_scores_head = found->second.shape.size() == 3 ? p.channels * p.width : 0;
    }
    p.scale = static_cast<Real>(d.scale), p.soft_cap = static_cast<Real>(d.soft_cap);
    p.mask.keep = grid_of<const uint8_t>(keep_.data(), d.keep);
    p.mask.key_count = d.key_count.empty() ? nullptr : key_count_.data();
    p.mask.first_position = d.causal == reference::Causal::bottom_right ? p.keys - p.queries : d.first_query;
    p.mask.causal = d.causal != reference::Causal::none;
    p.mask.left = d.left, p.mask.right = d.right;
    p.bias.full = grid_of<const Real>(bias_.data(), d.bias);
    p.bias.per_key = grid_of<const Real>(per_key_.data(), with_queries(d.per_key));
    if (!d.relative.empty()) {
      p.bias.relative = relative_.data();
      p.bias.relative_reach = d.relative.shape[1] / 2;
      p.bias.relative_head = d.relative.shape[0] == 1 ? 0 : d.relative.shape[1];
    }
    p.bias.alibi = d.alibi.empty() ? nullptr : alibi_.data();
    p.dropout = static_cast<Real>(d.dropout);
    p.seed = d.seed, p.stream = d.stream, p.first_row = d.first_row, p.first_query = d.first_query;
    for (auto* x : {&context, &top, &sum, &lse}) *x = Fenced<Real>(p.batch * p.heads * p.queries * p.channels);
    p.context = context.data(), p.top = top.data(), p.sum = sum.data(), p.lse = lse.data();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void forward(const ParallelFor& parallel_for = in_order) {
    multi_forward(p, parallel_for);
    for (const auto* x : {&context, &top, &sum, &lse}) EXPECT_TRUE(x->intact()) << "written out of bounds of an output";
  }

  /// Gradients of sum(upstream * context) + sum(grad_lse * lse), by name.
  void backward(const std::vector<double>& upstream, const std::vector<double>& grad_lse, const Definition& d,
                const ParallelFor& parallel_for = in_order) {
    const auto of_context = as<Real>(upstream), of_lse = as<Real>(grad_lse);
    const auto scratch = [&](const std::string& name, size_t size) {
      grads[name] = Fenced<Real>(static_cast<int64_t>(size));
      return grads[name].data();
    };
    MultiGradients<Real> g;
    g.context = of_context.data();
    if (!of_lse.empty()) g.lse = of_lse.data();
    g.query = scratch("query", d.query.data.size());
    g.keys = scratch("keys", d.keys.data.size());
    g.values = scratch("values", d.values.data.size());
    if (p.to_scores) g.to_scores = scratch("score.to_scores", static_cast<size_t>(p.heads * p.channels * p.width));
    if (p.bias.full) g.full = grid_of<Real>(scratch("bias", d.bias.data.size()), d.bias);
    if (p.bias.per_key) g.per_key = grid_of<Real>(scratch("per_key", d.per_key.data.size()), with_queries(d.per_key));
    if (p.bias.relative) g.relative = scratch("relative", d.relative.data.size());
    if (p.bias.alibi) g.alibi = scratch("alibi", d.alibi.data.size());
    multi_backward(p, g, parallel_for);
    for (const auto& [name, x] : grads) EXPECT_TRUE(x.intact()) << "written out of bounds of the gradients of " << name;
  }

  MultiProblem<Real> p;
  Fenced<Real> context, top, sum, lse;
  std::map<std::string, Fenced<Real>> grads;

 private:
  static Activation activation(const Definition& d) {
    const auto fresh = parse_part(d.mechanism.score.to_string(), "score");
    const auto word = fresh.options.choice("activation", reference::activation_names());
    const std::map<std::string, Activation> all{{"tanh", Activation::tanh},        {"relu", Activation::relu},
                                                {"sigmoid", Activation::sigmoid},  {"elu", Activation::elu},
                                                {"gelu", Activation::gelu},        {"silu", Activation::silu},
                                                {"identity", Activation::identity}};
    return all.at(word);
  }

  // Inputs are stored as [batch][row][head][feature] with NaN between the rows: only features are contiguous.
  static constexpr int64_t kGap = 3;
  static std::vector<Real> strided(const Array<double>& from) {
    const int64_t B = from.shape[0], H = from.shape[1], L = from.shape[2], D = from.shape[3];
    std::vector<Real> to(static_cast<size_t>(B * L * H * (D + kGap)), static_cast<Real>(kNan));
    for (int64_t b = 0, at = 0; b < B; ++b)
      for (int64_t h = 0; h < H; ++h)
        for (int64_t i = 0; i < L; ++i)
          for (int64_t f = 0; f < D; ++f, ++at)
            to[static_cast<size_t>(((b * L + i) * H + h) * (D + kGap) + f)] =
                static_cast<Real>(from.data[static_cast<size_t>(at)]);
    return to;
  }
  static Rows<const Real> rows(const std::vector<Real>& x, const Array<double>& from) {
    const int64_t H = from.shape[1], L = from.shape[2], row = from.shape[3] + kGap;
    return {x.data(), L * H * row, row, H * row};
  }

  std::vector<Real> query_, keys_, values_, to_scores_, bias_, per_key_, relative_, alibi_;
  std::vector<uint8_t> keep_;
  std::vector<int64_t> key_count_;
};

// ---- rounding errors -----------------------------------------------------------------------------------------------

double largest(const std::vector<double>& x) {
  double max = 0;
  for (const double y : x)
    if (std::isfinite(y)) max = std::max(max, std::abs(y));
  return max;
}

/// Magnitudes that errors are proportional to.
struct Scale {
  double score;    // the error of a score, in units of epsilon
  double values;   // |v|
  double steep;    // sum over channels of |de_c / dx_f|
  double queries;  // number of queries that share a key
};

Scale scale_of(const Definition& d) {
  const auto found = d.parameters.find("score.to_scores");
  const double x = largest(d.query.data) + largest(d.keys.data);
  double row = 5, column = 1, features = 1;
  if (found != d.parameters.end()) {
    const auto& w = found->second;
    const size_t C = w.shape[w.shape.size() - 2], F = w.shape.back();
    row = column = 0;
    features = static_cast<double>(F);
    for (size_t h = 0; h < w.data.size() / (C * F); ++h) {
      for (size_t c = 0; c < C; ++c) {
        double sum = 0;
        for (size_t f = 0; f < F; ++f) sum += std::abs(w.data[(h * C + c) * F + f]);
        row = std::max(row, sum);
      }
      for (size_t f = 0; f < F; ++f) {
        double sum = 0;
        for (size_t c = 0; c < C; ++c) sum += std::abs(w.data[(h * C + c) * F + f]);
        column = std::max(column, sum);
      }
    }
  }
  const double far = static_cast<double>(d.query.shape[2] + d.keys.shape[2]);
  const double added =
      largest(d.bias.data) + largest(d.per_key.data) + largest(d.relative.data) + far * largest(d.alibi.data);
  const double by = std::abs(d.scale);
  return {by * row * (x + 8 + features) + d.soft_cap + added + 8, largest(d.values.data), by * column,
          static_cast<double>(d.query.shape[2] * d.query.shape[1] / std::max<int64_t>(1, d.keys.shape[1]))};
}

/// Equal within the tolerance; NaN matches only NaN, and an infinity only itself.
template <typename Real>
void expect_near(const Fenced<Real>& got, const std::vector<double>& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(static_cast<size_t>(got.size()), expected.size()) << what;
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto x = static_cast<double>(got[static_cast<int64_t>(i)]);
    const double y = expected[i];
    const bool same = x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= tolerance;
    ASSERT_TRUE(same) << what << "[" << i << "] is " << x << ", expected " << y << ", off by " << x - y
                      << ", tolerance " << tolerance;
  }
}

template <typename Real>
std::vector<double> doubles(const Fenced<Real>& x) {
  return x.size() == 0 ? std::vector<double>() : std::vector<double>(x.data(), x.data() + x.size());
}

template <typename Real>
bool same_bits(const Fenced<Real>& x, const Fenced<Real>& y) {
  return x.size() == y.size() &&
         (x.size() == 0 || std::memcmp(x.data(), y.data(), static_cast<size_t>(x.size()) * sizeof(Real)) == 0);
}

/// Runs the body with each instruction set.
void on_every_set(const std::function<void()>& body) {
  const std::string before = instruction_set();
  for (const auto& set : instruction_sets()) {
    SCOPED_TRACE(set);
    use_instruction_set(set);
    body();
  }
  use_instruction_set(before);
}

// ---- agreement -----------------------------------------------------------------------------------------------------

template <typename Real>
void compare_values(const Definition& d, Call<Real>& call) {
  const auto answer = reference::attend(d);
  const double eps = std::numeric_limits<Real>::epsilon();
  const Scale s = scale_of(d);
  const double share = d.dropout > 0 ? 1 / (1 - d.dropout) : 1;
  call.forward();
  expect_near(call.context, answer.context.data, eps * (2 * s.score + 16) * s.values * share, "context");
  expect_near(call.lse, answer.lse.data, eps * (2 * s.score + 16), "lse");
}

/// Upstream gradients of context and lse.
struct Pull {
  std::vector<double> context, lse;
  explicit Pull(const Definition& d)
      : context(floats({d.query.shape[0], d.query.shape[1], d.query.shape[2], d.values.shape[3]}, 21).data),
        lse(floats({d.query.shape[0], d.query.shape[1], d.query.shape[2], d.values.shape[3]}, 22).data) {}

  reference::Loss loss() const {
    return [this](const reference::Answer<reference::Complex>& answer) {
      reference::Complex sum = reference::upstream_of(context)(answer);
      for (size_t i = 0; i < lse.size(); ++i)
        if (std::isfinite(answer.lse.data[i].real())) sum += lse[i] * answer.lse.data[i];
      return sum;
    };
  }
};

/// Gradients in the shape of the input: summed over heads if they share one Wd, since the kernel gives one per head.
std::vector<double> as_given(const std::string& name, const std::vector<double>& grads, const Definition& d) {
  const size_t size = reference::inputs(const_cast<Definition&>(d)).at(name)->data.size();
  std::vector<double> sum(size, 0);
  for (size_t i = 0; i < grads.size(); ++i) sum[i % size] += grads[i];
  return sum;
}

/// In double, along three directions of each input.
void compare_gradients(const Definition& d, Call<double>& call) {
  const Pull upstream(d);
  call.backward(upstream.context, upstream.lse, d);
  const Scale s = scale_of(d);
  for (const auto& [name, grads] : call.grads) {
    const auto mine = as_given(name, doubles(grads), d);
    for (uint64_t way = 0; way < 3; ++way) {
      const auto direction = reference::numbers({static_cast<int64_t>(mine.size())}, 31 + way).data;
      auto moved = reference::to_complex(d);
      auto& data = reference::inputs(moved).at(name)->data;
      double along = 0, size = 0;
      for (size_t i = 0; i < mine.size(); ++i) {
        data[i] += reference::Complex(0, reference::kStep * direction[i]);
        along += direction[i] * mine[i];
        size += std::abs(direction[i] * mine[i]);
      }
      const double expected = upstream.loss()(reference::attend(moved)).imag() / reference::kStep;
      ASSERT_NEAR(along, expected, std::numeric_limits<double>::epsilon() * (8 * s.score + 64) * (1 + size) * 4)
          << "gradient of " << name << ", way " << way;
    }
  }
}

/// Float against double, number by number.
void compare_gradients(const Definition& d, Call<float>& call, const Call<double>& exact) {
  const Pull upstream(d);
  call.backward(upstream.context, upstream.lse, d);
  const Scale s = scale_of(d);
  const double share = d.dropout > 0 ? 1 / (1 - d.dropout) : 1;
  const double relative = std::numeric_limits<float>::epsilon() * (8 * s.score + 64), one = 2 * s.values * share + 1;
  const double keys = static_cast<double>(d.keys.shape[2]), channels = static_cast<double>(d.values.shape[3]);
  const double all = s.queries * static_cast<double>(d.query.shape[0] * d.keys.shape[1]);
  const std::map<std::string, double> sizes{
      {"query", one * s.steep},           {"keys", one * s.steep * s.queries},
      {"values", share * s.queries},      {"score.to_scores", one * all * (largest(d.query.data) + 2)},
      {"bias", one * channels * all},     {"per_key", one * channels * all},
      {"relative", one * channels * all}, {"alibi", one * channels * all * keys}};
  for (const auto& [name, grads] : call.grads)
    expect_near(grads, doubles(exact.grads.at(name)), relative * sizes.at(name), "gradient of " + name);
}

/// Compares values and gradients, in double and on each instruction set. adapt: sets fields that the definition lacks.
template <typename AdaptCall>
void expect_agreement(const Definition& d, AdaptCall adapt) {
  Call<double> exact(d);
  adapt(exact.p);
  {
    SCOPED_TRACE("double");
    compare_values(d, exact);
    compare_gradients(d, exact);
  }
  on_every_set([&] {
    Call<float> call(d);
    adapt(call.p);
    compare_values(d, call);
    compare_gradients(d, call, exact);
  });
}

void expect_agreement(const Definition& d) {
  expect_agreement(d, [](auto&) {});
}

/// Keeps about two of three keys.
Array<uint8_t> some_kept(const std::vector<int64_t>& shape) {
  Array<uint8_t> keep{shape, {}};
  for (const double x : reference::numbers(shape, 51).data) keep.data.push_back(x > -0.3 ? 1 : 0);
  return keep;
}

void kill_row(Array<uint8_t>& keep, int64_t row) {
  for (int64_t j = 0; j < keep.shape[3]; ++j) keep.data[static_cast<size_t>(row * keep.shape[3] + j)] = 0;
}

struct Named {
  std::string name;
  std::function<void(Definition&)> change;
};

const std::vector<Named>& masks() {
  static const std::vector<Named> all{
      {"no mask", [](Definition&) {}},
      {"keep",
       [](Definition& d) {
         d.keep = some_kept({d.query.shape[0], d.query.shape[1], d.query.shape[2], d.keys.shape[2]});
         kill_row(d.keep, 0);
       }},
      {"keep for all queries",
       [](Definition& d) {
         d.keep = some_kept({d.query.shape[0], 1, 1, d.keys.shape[2]});
       }},
      {"key_count",
       [](Definition& d) {
         for (int64_t b = 0; b < d.query.shape[0]; ++b)
           d.key_count.data.push_back(b == 0 ? d.keys.shape[2] / 2 : b - 1);
         d.key_count.shape = {d.query.shape[0]};
       }},
      {"causal", [](Definition& d) { d.causal = reference::Causal::top_left; }},
      {"causal, bottom right", [](Definition& d) { d.causal = reference::Causal::bottom_right; }},
      {"window", [](Definition& d) { d.left = 2, d.right = 1, d.first_query = 2; }},
      {"all of them",
       [](Definition& d) {
         d.keep = some_kept({1, d.query.shape[1], d.query.shape[2], d.keys.shape[2]});
         d.key_count = {{d.query.shape[0]},
                        std::vector<int64_t>(static_cast<size_t>(d.query.shape[0]), d.keys.shape[2] - 1)};
         d.causal = reference::Causal::top_left, d.left = 3, d.first_query = 1;
       }},
  };
  return all;
}

const std::vector<Named>& extras() {
  static const std::vector<Named> all{
      {"scale", [](Definition& d) { d.scale = 0.75; }},
      {"negative scale", [](Definition& d) { d.scale = -2; }},
      {"scale of 0", [](Definition& d) { d.scale = 0; }},
      {"steep scale", [](Definition& d) { d.scale = 40; }},
      {"soft cap", [](Definition& d) { d.scale = 2, d.soft_cap = 1.5; }},
      {"bias",
       [](Definition& d) {
         d.bias = floats({d.query.shape[0], d.query.shape[1], d.query.shape[2], d.keys.shape[2]}, 61);
       }},
      {"bias of a batch",
       [](Definition& d) {
         d.bias = floats({1, d.query.shape[1], d.query.shape[2], d.keys.shape[2]}, 61);
       }},
      {"bias of heads",
       [](Definition& d) {
         d.bias = floats({d.query.shape[0], 1, d.query.shape[2], d.keys.shape[2]}, 61);
       }},
      {"bias of keys",
       [](Definition& d) {
         d.bias = floats({1, 1, d.query.shape[2], 1}, 61);
       }},
      {"per_key",
       [](Definition& d) {
         d.per_key = floats({d.query.shape[0], d.query.shape[1], d.keys.shape[2]}, 62, 3);
       }},
      {"per_key of all",
       [](Definition& d) {
         d.per_key = floats({1, 1, d.keys.shape[2]}, 62);
       }},
      {"relative",
       [](Definition& d) {
         d.relative = floats({d.query.shape[1], 5}, 63, 2), d.first_query = 1;
       }},
      {"relative of all heads",
       [](Definition& d) {
         d.relative = floats({1, 7}, 63);
       }},
      {"alibi", [](Definition& d) { d.alibi = floats({d.query.shape[1]}, 64), d.first_query = 3; }},
      {"every bias, capped and causal",
       [](Definition& d) {
         d.bias = floats({1, 1, d.query.shape[2], d.keys.shape[2]}, 61);
         d.per_key = floats({d.query.shape[0], 1, d.keys.shape[2]}, 62);
         d.relative = floats({1, 5}, 63), d.alibi = floats({d.query.shape[1]}, 64);
         d.soft_cap = 4, d.causal = reference::Causal::bottom_right;
       }},
      {"dropout", [](Definition& d) { d.dropout = 0.25, d.stream = 3, d.first_row = 5, d.first_query = 2; }},
      {"dropout, biased and causal",
       [](Definition& d) {
         d.dropout = 0.5, d.causal = reference::Causal::top_left;
         d.relative = floats({d.query.shape[1], 3}, 63);
       }},
  };
  return all;
}

TEST(Multi, AgreesWithTheDefinitionUnderEveryMask) {
  for (const auto& form : kForms)
    for (const auto& mask : masks()) {
      SCOPED_TRACE(form + ", " + mask.name);
      auto d = definition_of(form, {});
      mask.change(d);
      expect_agreement(d);
    }
}

TEST(Multi, AgreesWithTheDefinitionWithEveryExtra) {
  for (const auto& form : kForms)
    for (const auto& extra : extras()) {
      SCOPED_TRACE(form + ", " + extra.name);
      auto d = definition_of(form, {.key_heads = 1, .queries = 4, .keys = 7});
      extra.change(d);
      expect_agreement(d);
    }
}

// Tiles and chunks that are full, and those that are not; widths that are multiples of 16, and those that are not.
TEST(Multi, AgreesWithTheDefinitionAtEveryLength) {
  for (const auto& form : kForms)
    for (const auto& n : std::vector<Sizes>{{1, 1, 1, 1, 1, 1, 1},
                                            {1, 2, 1, 1, 7, 16, 16},
                                            {2, 1, 1, 9, 1, 17, 3},
                                            {1, 4, 2, 7, 9, 16, 32},
                                            {1, 1, 1, 33, 65, 33, 16},
                                            {1, 2, 2, 17, 130, 3, 17},
                                            {1, 1, 1, 2, 600, 5, 4}}) {
      SCOPED_TRACE(form + ", " + std::to_string(n.queries) + " x " + std::to_string(n.keys));
      expect_agreement(definition_of(form, n));
    }
}

// Dropout numbers elements by key and channel. Widths that are no multiple of 16, and more than a panel.
TEST(Multi, DropsWhatTheDefinitionDrops) {
  for (const int64_t channels : {3, 16, 20, 70})
    for (const bool masked : {false, true}) {
      SCOPED_TRACE(std::to_string(channels) + (masked ? " channels, masked" : " channels"));
      auto d = definition_of(kElementwise, {1, 2, 1, 2, 40, 1, channels});
      d.dropout = 0.4;
      if (masked) d.keep = some_kept({1, 2, 2, 40});
      expect_agreement(d);
    }
}

// Few queries: keys are split into chunks, each with a maximum of its own. A chunk may have no kept key at all.
TEST(Multi, MergesChunksOfTheKeys) {
  for (const auto& form : kForms) {
    auto d = definition_of(form, {1, 1, 1, 2, 800, 5, 4});
    d.per_key = floats({1, 1, 800}, 62, 30);
    expect_agreement(d);
    d.key_count = {{1}, {300}};
    expect_agreement(d);
  }
}

TEST(Multi, AgreesWithTheDefinitionForEveryActivation) {
  for (const auto& activation : reference::activation_names())
    for (const auto& form : kForms) {
      SCOPED_TRACE(form + ", " + activation);
      expect_agreement(definition_of(with(activation, form), {.key_heads = 1}));
    }
}

// One Wd for all heads: its gradient is the sum of those that the kernel gives.
TEST(Multi, SharesOneMatrixAmongHeads) {
  auto d = definition_of(kMatrix, {.key_heads = 1});
  d.parameters["score.to_scores"] = floats({5, 6}, 4);
  expect_agreement(d);
}

// The definition expresses a window around a center per query as a mask.
TEST(Multi, KeepsKeysWithinReachOfACenter) {
  for (const auto& form : kForms) {
    auto d = definition_of(form, {});
    std::vector<int64_t> center;
    d.keep = {{2, 2, 5, 9}, {}};
    for (int64_t row = 0; row < 20; ++row) {
      center.push_back(row * 3 % 11 - 1);
      for (int64_t j = 0; j < 9; ++j) d.keep.data.push_back(std::abs(j - center.back()) <= 2 ? 1 : 0);
    }
    expect_agreement(d, [&](auto& p) {
      p.mask.keep.data = nullptr;
      p.mask.center = center.data(), p.mask.reach = 2;
    });
  }
}

// A small case: the gradient of every single number.
TEST(Multi, HasTheGradientsOfTheDefinition) {
  for (const auto& form : kForms) {
    SCOPED_TRACE(form);
    auto d = definition_of(form, {.batch = 1, .key_heads = 1, .queries = 3, .keys = 4, .width = 3, .channels = 2});
    d.bias = floats({1, 2, 3, 4}, 61), d.relative = floats({2, 3}, 63), d.alibi = floats({2}, 64);
    d.per_key = floats({1, 2, 4}, 62), d.dropout = 0.3, d.soft_cap = 2;
    Call<double> call(d);
    call.forward();
    const Pull upstream(d);
    call.backward(upstream.context, upstream.lse, d);
    const double tolerance = std::numeric_limits<double>::epsilon() * 100 * scale_of(d).score;
    for (const auto& [name, got] : call.grads)
      expect_near(got, reference::gradients(d, name, upstream.loss()), tolerance, "gradient of " + name);
  }
}

// Query and keys of sigma 8 and beyond: exp(2 a) alone would overflow, and tanh jumps from -1 to 1.
TEST(Multi, HoldsInExtremeRanges) {
  for (const auto& form : kForms)
    for (const double reach : {16.0, 60.0, 300.0, 1e4}) {
      SCOPED_TRACE(form + ", " + std::to_string(reach));
      auto d = definition_of(form, {.batch = 1, .queries = 7, .keys = 50}, reach);
      for (size_t i = 0; i < d.query.data.size(); i += 7) d.query.data[i] /= 1024;  // small features next to large ones
      for (size_t i = 0; i < d.keys.data.size() / 2; ++i) d.keys.data[i] /= 1024;   // small keys next to large ones
      expect_agreement(d);
      d.scale = 1000;
      expect_agreement(d);
    }
}

// a = 60 with b = -59, and the like: only the sum matters.
TEST(Multi, AddsBeforeItSaturates) {
  for (const auto& form : kForms) {
    const int64_t width = form == kMatrix ? 6 : 5;
    auto d = definition_of(form, {.batch = 1, .heads = 1, .key_heads = 1, .queries = 4, .keys = 6});
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t f = 0; f < width; ++f)
        d.query.data[static_cast<size_t>(i * width + f)] = 60 * static_cast<double>(1 + i * 3);
    for (int64_t j = 0; j < 6; ++j)
      for (int64_t f = 0; f < width; ++f)
        d.keys.data[static_cast<size_t>(j * width + f)] =
            -60 * static_cast<double>(1 + j * 2) + static_cast<double>(f) / 4;
    expect_agreement(d);
  }
}

// Flat scores: all weights are equal.
TEST(Multi, SharesEquallyAmongEqualKeys) {
  for (const auto& form : kForms) {
    const Sizes n{.batch = 1, .heads = 1, .key_heads = 1, .queries = 2, .keys = 100, .width = 16, .channels = 16};
    auto d = definition_of(form, n);
    for (double& x : d.keys.data) x = 0.25;
    for (double& x : d.values.data) x = 3;
    on_every_set([&] {
      Call<float> call(d);
      call.forward();
      for (int64_t i = 0; i < call.context.size(); ++i) ASSERT_NEAR(call.context[i], 3, 3 * 16 * kEpsilon);
    });
  }
}

// ---- masked keys, and NaN ------------------------------------------------------------------------------------------

/// Context, lse and all gradients have the same bits.
template <typename Real>
void expect_same_bits(Call<Real>& x, Call<Real>& y, const std::string& what) {
  EXPECT_TRUE(same_bits(x.context, y.context)) << what << ": context";
  EXPECT_TRUE(same_bits(x.lse, y.lse)) << what << ": lse";
  for (const auto& [name, grads] : x.grads) EXPECT_TRUE(same_bits(grads, y.grads.at(name))) << what << ": " << name;
}

TEST(Multi, DoesNotReadMaskedKeysAndValues) {
  for (const auto& form : kForms)
    for (const bool biased : {false, true}) {
      SCOPED_TRACE(form + (biased ? ", biased" : ""));
      auto d = definition_of(form, {.batch = 2, .key_heads = 1, .queries = 5, .keys = 60});
      d.key_count = {{2}, {50, 7}};
      if (biased) d.per_key = floats({1, 2, 60}, 62);
      if (biased) d.per_key.data[3] = d.per_key.data[63] = -kInfinity;
      auto with_nan = d;
      for (auto* array : {&with_nan.keys, &with_nan.values}) {
        const int64_t width = array->shape[3];
        for (int64_t b = 0; b < 2; ++b)
          for (int64_t j = 0; j < 60; ++j) {
            const bool masked = j >= d.key_count.data[static_cast<size_t>(b)] || (biased && j == 3);
            for (int64_t f = 0; masked && f < width; ++f)
              array->data[static_cast<size_t>((b * 60 + j) * width + f)] = f % 2 ? kNan : kInfinity;
          }
      }
      const Pull upstream(d);
      on_every_set([&] {
        Call<float> clean(d), other(with_nan);
        for (auto* call : {&clean, &other}) call->forward(), call->backward(upstream.context, upstream.lse, d);
        expect_same_bits(clean, other, "NaN in masked keys and values");
        for (int64_t i = 0; i < clean.context.size(); ++i) ASSERT_TRUE(std::isfinite(clean.context[i]));
      });
    }
}

TEST(Multi, LeavesARowWithoutKeysAtZero) {
  for (const auto& form : kForms) {
    auto d = definition_of(form, {});
    d.keep = {{2, 2, 5, 9}, std::vector<uint8_t>(180, 1)};
    kill_row(d.keep, 7);
    const int64_t width = d.query.shape[3];
    for (int64_t f = 0; f < width; ++f) d.query.data[static_cast<size_t>(7 * width + f)] = kNan;
    const Pull upstream(d);
    on_every_set([&] {
      Call<float> call(d);
      call.forward();
      call.backward(upstream.context, upstream.lse, d);
      for (int64_t c = 0; c < 5; ++c) {
        EXPECT_EQ(call.context[7 * 5 + c], 0);
        EXPECT_EQ(call.lse[7 * 5 + c], -kInfinity);
      }
      for (int64_t f = 0; f < width; ++f) EXPECT_EQ(call.grads["query"][7 * width + f], 0);
      for (const auto& [name, grads] : call.grads)
        for (int64_t i = 0; i < grads.size(); ++i) ASSERT_TRUE(std::isfinite(grads[i])) << name;
    });
  }
}

// D4: a kept score that is NaN spreads over its row, as in the definition, and no further. (The definition's
// projections spread it over all features of a key.)
TEST(Multi, PropagatesNaN) {
  for (const auto& form : kForms)
    for (const auto& activation : reference::activation_names()) {
      SCOPED_TRACE(form + ", " + activation);
      auto d = definition_of(with(activation, form), {.batch = 1, .queries = 4, .keys = 52});
      d.causal = reference::Causal::bottom_right;
      for (int64_t f = 0; f < d.keys.shape[3]; ++f) d.keys.data[static_cast<size_t>(50 * d.keys.shape[3] + f)] = kNan;
      Call<double> exact(d);
      compare_values(d, exact);
      on_every_set([&] {
        Call<float> call(d);
        compare_values(d, call);
      });
    }
}

// The elementwise form keeps channels separate. An infinite feature: tanh maps it to +-1; without an activation, +inf
// makes softmax NaN and -inf counts as masked.
TEST(Multi, KeepsNonFiniteValuesInTheirChannel) {
  const Sizes n{.batch = 1, .heads = 1, .key_heads = 1, .queries = 3, .keys = 50, .channels = 7};
  for (const std::string activation : {"tanh", "identity"})
    for (const double non_finite : {kNan, kInfinity, -kInfinity}) {
      SCOPED_TRACE(activation + ", " + std::to_string(non_finite));
      const auto d = definition_of(with(activation, kElementwise), n);
      const bool tanh = activation == "tanh";
      auto same = d, changed = d;  // channel 2: 49 finite keys and one that saturates tanh, or is masked
      changed.keys.data[4 * 7 + 2] = non_finite;
      same.keys.data[4 * 7 + 2] = non_finite > 0 ? 1000 : -1000;
      on_every_set([&] {
        Call<float> clean(d), call(changed), expected(same);
        clean.forward(), call.forward(), expected.forward();
        for (int64_t i = 0; i < 3 * 7; ++i) {
          if (i % 7 != 2) {
            ASSERT_NEAR(call.context[i], clean.context[i], 16 * kEpsilon);  // that key is scored by tanh(a + b)
          } else if (std::isnan(non_finite) || (!tanh && non_finite > 0)) {
            ASSERT_TRUE(std::isnan(call.context[i]));
            ASSERT_TRUE(std::isnan(call.lse[i]));
          } else {
            ASSERT_NEAR(call.context[i], expected.context[i], 16 * kEpsilon);
            ASSERT_NEAR(call.lse[i], expected.lse[i], 64 * kEpsilon);
          }
        }
      });
    }
}

// Not every bit pattern of NaN survives arithmetic on exponents.
TEST(Multi, PropagatesEveryBitPatternOfNaN) {
  for (const auto& form : kForms)
    for (const uint32_t bits : {0x7fc00000U, 0xffc00000U, 0x7fc00001U, 0x7fffffffU, 0xffc0017fU}) {
      const auto d = definition_of(form, {.batch = 1, .heads = 1, .key_heads = 1});
      on_every_set([&] {
        Call<float> call(d);
        float nan;
        std::memcpy(&nan, &bits, sizeof nan);
        std::vector<float> query(static_cast<size_t>(5 * call.p.width), nan);
        call.p.query = {query.data(), 0, 0, call.p.width};
        call.forward();
        for (int64_t i = 0; i < call.context.size(); ++i) {
          ASSERT_TRUE(std::isnan(call.context[i]));
          ASSERT_TRUE(std::isnan(call.lse[i]));
        }
      });
    }
}

TEST(Multi, AcceptsEmptyBatchesQueriesAndKeys) {
  for (const auto& form : kForms)
    for (const auto& n : std::vector<Sizes>{{.batch = 0}, {.queries = 0}, {.keys = 0}}) {
      const auto d = definition_of(form, n);
      const Pull upstream(d);
      Call<double> call(d);
      call.forward();
      call.backward(upstream.context, upstream.lse, d);
      for (int64_t i = 0; i < call.context.size(); ++i) {
        EXPECT_EQ(call.context[i], 0);
        EXPECT_EQ(call.lse[i], -kInfinity);
      }
      for (const auto& [name, grads] : call.grads)
        for (int64_t i = 0; i < grads.size(); ++i) EXPECT_EQ(grads[i], 0) << name;
    }
}

// ---- threads, requested gradients, errors --------------------------------------------------------------------------

TEST(Multi, GivesTheSameBitsOnAnyNumberOfThreads) {
  for (const auto& form : kForms)
    for (const auto& n : std::vector<Sizes>{{.batch = 3, .heads = 4, .key_heads = 2, .queries = 37, .keys = 200},
                                            {.batch = 1, .heads = 1, .key_heads = 1, .queries = 3, .keys = 2100}}) {
      auto d = definition_of(form, n);
      d.causal = reference::Causal::bottom_right, d.dropout = 0.1;
      d.bias = floats({1, n.heads, n.queries, n.keys}, 61);
      d.relative = floats({1, 9}, 63), d.alibi = floats({n.heads}, 64);
      const Pull upstream(d);
      on_every_set([&] {
        Call<float> alone(d), together(d);
        alone.forward();
        alone.backward(upstream.context, upstream.lse, d);
        together.forward(two_threads);
        together.backward(upstream.context, upstream.lse, d, two_threads);
        expect_same_bits(alone, together, "two threads");
      });
    }
}

// Leaving out a gradient changes no other.
TEST(Multi, WritesOnlyTheRequestedGradients) {
  for (const auto& form : kForms)
    for (const int64_t channels : {5, 16}) {
      const auto d = definition_of(form, {.width = channels, .channels = channels});
      const Pull upstream(d);
      Call<double> call(d);
      call.forward();
      call.backward(upstream.context, upstream.lse, d);
      for (const auto& wanted : {"query", "keys", "values"}) {
        Fenced<double> only(call.grads[wanted].size());
        MultiGradients<double> g;
        g.context = upstream.context.data(), g.lse = upstream.lse.data();
        (wanted == std::string("query") ? g.query : wanted == std::string("keys") ? g.keys : g.values) = only.data();
        multi_backward(call.p, g);
        EXPECT_TRUE(same_bits(only, call.grads[wanted])) << wanted;
        EXPECT_TRUE(only.intact()) << wanted;
      }
    }
}

TEST(Multi, RefusesWidthsThatDoNotFit) {
  MultiProblem<float> p;
  p.width = 3, p.channels = 4;
  try {
    multi_forward(p);
    FAIL() << "3 features for 4 channels were accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "kernels/cpu/multi: got 3 features of query and keys, expected 4, one per channel; the elementwise "
                 "form needs it");
  }
}

}  // namespace
}  // namespace heed::kernels::cpu::testing
