// For tests: the same problem for the definition and for the fused kernels, with guard bytes around every output.

#pragma once

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "heed/kernels/cpu/attend.h"
#include "heed/kernels/reference/mask.h"
#include "heed/kernels/reference/testing.h"

namespace heed::kernels::cpu::testing {

/// An array with guard bytes before and after it; intact() tells whether they are unchanged.
template <typename T>
class Fenced {
 public:
  Fenced() = default;
  explicit Fenced(int64_t size) : size_(size), bytes_(2 * kFence + static_cast<size_t>(size) * sizeof(T), kByte) {}
  T* data() { return size_ == 0 ? nullptr : reinterpret_cast<T*>(bytes_.data() + kFence); }
  const T* data() const { return const_cast<Fenced*>(this)->data(); }
  int64_t size() const { return size_; }
  const T& operator[](int64_t i) const { return data()[i]; }
  bool intact() const {
    for (size_t i = 0; i < kFence && !bytes_.empty(); ++i)
      if (bytes_[i] != kByte || bytes_[bytes_.size() - 1 - i] != kByte) return false;
    return true;
  }

 private:
  static constexpr size_t kFence = 256;
  static constexpr unsigned char kByte = 0xA5;
  int64_t size_ = 0;
  std::vector<unsigned char> bytes_;
};

struct Shape {
  int64_t batch = 2, heads = 2, key_heads = 2, queries = 7, keys = 33, width = 12, value_width = 10;
};

struct Variant {
  std::string mask = "none";  // none, keep, key_count, causal, bottom_right, window, all
  bool biased = false;
  double sigma = 1;  // of query and keys
  double scale = 1, soft_cap = 0, dropout = 0;
  bool sample = false;
  bool nan_padding = false;
};

/// A mechanism whose projections are the identity, so that query and keys of the definition are those of the kernel.
template <typename Real>
struct Case {
  reference::Problem<double> definition;
  Problem<Real> p;
  std::vector<Real> query, keys, values, to_scores, full, per_key, relative, alibi, position, alphas;
  std::vector<uint8_t> keep;
  std::vector<int64_t> key_count, center;
  Fenced<Real> context, second;
  Fenced<RowStats<Real>> rows;

  Case(const std::string& spec, const Shape& n, const Variant& v, uint64_t seed = 1) {
    const MechanismSpec parts = parse_mechanism(spec);
    definition.mechanism = parts;
    const auto filled = [&](const std::vector<int64_t>& shape, uint64_t key, double by) {
      auto array = reference::numbers(shape, seed * 1000 + key);
      for (double& x : array.data) x = static_cast<double>(static_cast<Real>(static_cast<float>(by * 1.7 * x)));
      return array;
    };
    const bool additive = parts.score.name == "additive", table = parts.score.name == "location";
    definition.query =
        filled({n.batch, n.heads, n.queries, table ? std::min<int64_t>(n.keys, 512) : n.width}, 1, v.sigma);
    definition.keys = filled({n.batch, n.key_heads, n.keys, n.width}, 2, v.sigma);
    definition.values = filled({n.batch, n.key_heads, n.keys, n.value_width}, 3, 1);
    const auto unity = [](int64_t size) {
      reference::Array<double> one{{size, size}, std::vector<double>(static_cast<size_t>(size * size), 0)};
      for (int64_t i = 0; i < size; ++i) one.data[static_cast<size_t>(i * size + i)] = 1;
      return one;
    };
    const int64_t width = definition.query.shape[3];
    if (additive) {
      definition.parameters["score.from_query"] = unity(n.width);
      definition.parameters["score.from_keys"] = unity(n.width);
      definition.parameters["score.bias"] = {{n.width}, std::vector<double>(static_cast<size_t>(n.width), 0)};
      definition.parameters["score.to_scores"] = filled({n.heads, 1, n.width}, 4, 0.5);
      if (n.width > 3) definition.parameters["score.to_scores"].data[2] = 1e-9;  // too small to be folded
    } else if (table) {
      auto& from_query = definition.parameters["score.from_query"];
      from_query = unity(width);
      from_query.shape[0] = 512;
      from_query.data.resize(static_cast<size_t>(512 * width), 0);
    } else if (parts.score.name == "activated_general") {
      definition.parameters["score.from_query"] = unity(n.width);
      definition.parameters["score.bias"] = {{1}, {0}};
    }
    if (parts.align.name == "local_p") {
      definition.parameters["align.from_query"] = filled({4, width}, 5, 1);
      definition.parameters["align.to_position"] = filled({1, 4}, 6, 1);
    }
    if (parts.align.name == "entmax" && parts.align.options.unread().flag("learned"))
      definition.parameters["align.to_alpha"] = filled({n.heads, 1}, 11, 1);
    set_mask(n, v, seed);
    if (v.biased) {
      definition.bias = filled({n.batch, 1, n.queries, n.keys}, 7, 0.5);
      definition.per_key = filled({1, n.heads, n.keys}, 8, 0.5);
      definition.relative = filled({n.heads, 7}, 9, 0.5);
      definition.alibi = filled({n.heads}, 10, 0.1);
    }
    definition.scale = v.scale;
    definition.soft_cap = v.soft_cap;
    definition.dropout = v.dropout;
    definition.sample = v.sample;
    definition.seed = 77;
    definition.stream = 5;
    definition.first_row = 3;
    fill(n, v, parts);
  }

  /// The position p of local_p, computed from the definition's query (which a test may have changed).
  static double position_of(const reference::Problem<double>& d, int64_t b, int64_t h, int64_t i, double keys) {
    const auto& matrix = d.parameters.at("align.from_query");
    const auto& last = d.parameters.at("align.to_position");
    const int64_t H = d.query.shape[1], Lq = d.query.shape[2], D = d.query.shape[3];
    double sum = 0;
    for (int64_t r = 0; r < 4; ++r) {
      double x = 0;
      for (int64_t f = 0; f < D; ++f)
        x += matrix.data[static_cast<size_t>(r * D + f)] *
             d.query.data[static_cast<size_t>(((b * H + h) * Lq + i) * D + f)];
      sum += last.data[static_cast<size_t>(r)] * std::tanh(x);
    }
    return keys / (1 + std::exp(-sum));
  }
  /// The derivative of a learned alpha = 1.01 + .99 sigmoid(to_alpha) with respect to to_alpha.
  double alpha_derivative(size_t head) const {
    const double part = (static_cast<double>(alphas[head]) - 1.01) / 0.99;
    return 0.99 * part * (1 - part);
  }
  /// sum_i grad(i) times the derivative of position i along a direction of the query.
  template <class Grad>
  double along_positions(const std::vector<double>& way, Grad grad) const {
    auto up = definition, down = definition;
    constexpr double h = 1e-6;
    for (size_t i = 0; i < way.size(); ++i) {
      up.query.data[i] += h * way[i];
      down.query.data[i] -= h * way[i];
    }
    double sum = 0;
    for (int64_t i = 0; i < p.batch * p.heads * p.queries; ++i) {
      const int64_t b = i / p.queries / p.heads, head = i / p.queries % p.heads, q = i % p.queries;
      sum +=
          grad(i) * (position_of(up, b, head, q, true_keys(b)) - position_of(down, b, head, q, true_keys(b))) / (2 * h);
    }
    return sum;
  }
  double true_keys(int64_t b) const { return static_cast<double>(lengths_[static_cast<size_t>(b)]); }

  template <typename T>
  static const T* pointer(const std::vector<T>& x) {
    return x.empty() ? nullptr : x.data() + 1;
  }

 private:
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

  void set_mask(const Shape& n, const Variant& v, uint64_t seed) {
    auto& d = definition;
    const bool all = v.mask == "all";
    if (v.mask == "keep" || all) {
      const auto u = reference::numbers({n.batch, n.heads, n.queries, n.keys}, seed * 1000 + 20);
      d.keep.shape = u.shape;
      for (const double x : u.data) d.keep.data.push_back(x > -0.3);
      const int64_t dead = n.queries / 2;  // a query that may attend nothing
      for (int64_t row = 0; row < n.batch * n.heads; ++row)
        for (int64_t j = 0; j < n.keys; ++j)
          d.keep.data[static_cast<size_t>((row * n.queries + dead) * n.keys + j)] = 0;
    }
    if (v.mask == "key_count" || all) {
      d.key_count.shape = {n.batch};
      for (int64_t b = 0; b < n.batch; ++b)
        d.key_count.data.push_back(b % 2 == 0 ? (n.keys * 2 + 2) / 3 : all ? n.keys : 0);
    }
    if (v.mask == "causal") d.causal = reference::Causal::top_left;
    if (v.mask == "bottom_right" || all) d.causal = reference::Causal::bottom_right;
    if (v.mask == "window" || all) {
      d.left = 9;
      d.right = 3;
    }
    if (v.mask == "window") d.first_query = 2;
    if (v.nan_padding && !d.key_count.empty()) {
      for (auto* x : {&d.keys, &d.values})
        for (int64_t b = 0; b < n.batch; ++b)
          for (int64_t h = 0; h < n.key_heads; ++h)
            for (int64_t j = d.key_count.data[static_cast<size_t>(b)]; j < n.keys; ++j)
              for (int64_t f = 0; f < x->shape[3]; ++f)
                x->data[static_cast<size_t>(((b * n.key_heads + h) * n.keys + j) * x->shape[3] + f)] = kNan;
    }
  }

  /// One extra number first, so that the data is not aligned.
  static std::vector<Real> reals(const reference::Array<double>& from) {
    std::vector<Real> to;
    if (from.empty()) return to;
    to.push_back(0);
    for (const double x : from.data) to.push_back(static_cast<Real>(x));
    return to;
  }

  void fill(const Shape& n, const Variant& v, const MechanismSpec& parts) {
    const auto& d = definition;
    query = reals(d.query);
    keys = reals(d.keys);
    values = reals(d.values);
    p.batch = n.batch, p.heads = n.heads, p.key_heads = n.key_heads, p.queries = n.queries, p.keys = n.keys;
    p.width = d.query.shape[3], p.value_width = n.value_width;
    const auto rows_of = [](const std::vector<Real>& x, const reference::Array<double>& from) {
      const auto& s = from.shape;
      return Rows<const Real>{pointer(x), s[1] * s[2] * s[3], s[2] * s[3], s[3]};
    };
    p.query = rows_of(query, d.query);
    p.key_rows = rows_of(keys, d.keys);
    p.values = rows_of(values, d.values);
    p.scale = static_cast<Real>(v.scale), p.soft_cap = static_cast<Real>(v.soft_cap);
    set_score(parts.score);
    set_align(parts.align, n, v);

    const auto strides = [](const std::vector<int64_t>& s, auto& grid) {
      grid.batch = s[0] == 1 ? 0 : s[1] * s[2] * s[3];
      grid.head = s[1] == 1 ? 0 : s[2] * s[3];
      grid.query = s[2] == 1 ? 0 : s[3];
      grid.key = s[3] == 1 ? 0 : 1;
    };
    if (!d.keep.empty()) {
      keep.push_back(0);
      keep.insert(keep.end(), d.keep.data.begin(), d.keep.data.end());
      p.mask.keep.data = pointer(keep);
      strides(d.keep.shape, p.mask.keep);
    }
    if (!d.key_count.empty()) p.mask.key_count = d.key_count.data.data();
    p.mask.causal = d.causal != reference::Causal::none;
    p.mask.first_position = d.causal == reference::Causal::bottom_right ? n.keys - n.queries : d.first_query;
    p.mask.left = d.left, p.mask.right = d.right;
    full = reals(d.bias), per_key = reals(d.per_key), relative = reals(d.relative), alibi = reals(d.alibi);
    if (v.biased) {
      p.bias.full.data = pointer(full);
      strides(d.bias.shape, p.bias.full);
      p.bias.per_key.data = pointer(per_key);
      p.bias.per_key.head = n.keys, p.bias.per_key.key = 1;
      p.bias.relative = pointer(relative);
      p.bias.relative_reach = 3, p.bias.relative_head = 7;
      p.bias.alibi = pointer(alibi);
    }
    p.dropout = static_cast<Real>(v.dropout);
    p.seed = d.seed, p.stream = d.stream, p.first_row = d.first_row;
    p.first_query = d.first_query;
    const int64_t all = n.batch * n.heads * n.queries;
    context = Fenced<Real>(all * n.value_width);
    second = Fenced<Real>(all * n.value_width);
    rows = Fenced<RowStats<Real>>(all);
    p.context = context.data(), p.second = second.data(), p.rows = rows.data();
  }

  static Activation activation_named(const std::string& name) {
    const std::vector<std::string> all{"identity", "tanh", "relu", "sigmoid", "elu", "gelu", "silu"};
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i] == name) return static_cast<Activation>(i);
    fail("testing: activation ", name);
  }

  void set_score(const PartSpec& score) {
    const auto& name = score.name;
    const auto act = [&] {
      return activation_named(score.options.choice("activation", reference::activation_names()));
    };
    if (name == "dot") return;
    if (name == "activated_general") {
      p.activation = act();
    } else if (name == "euclidean") {
      p.score = score.options.flag("root") ? ScoreKind::distance : ScoreKind::squared_distance;
    } else if (name == "location") {
      p.score = ScoreKind::table;
    } else if (name == "additive") {
      p.activation = act();
      p.score = p.activation == Activation::tanh ? ScoreKind::additive : ScoreKind::hidden;
      to_scores = reals(definition.parameters["score.to_scores"]);
      p.to_scores = pointer(to_scores);
      p.to_scores_head = p.width;
    } else {
      fail("testing: score ", name);
    }
  }

  void set_align(const PartSpec& align, const Shape& n, const Variant& v) {
    const auto& [name, options] = align;
    lengths_.clear();
    for (int64_t b = 0; b < n.batch; ++b) lengths_.push_back(reference::Mask(definition).true_length(b));
    if (name == "softmax") return;
    const std::vector<std::pair<std::string, AlignKind>> kinds{
        {"threshold", AlignKind::threshold}, {"top_k", AlignKind::top_k},
        {"hard", AlignKind::hard},           {"straight_through", AlignKind::straight_through},
        {"sparsemax", AlignKind::sparsemax}, {"entmax", AlignKind::entmax},
        {"sigmoid", AlignKind::sigmoid},     {"identity", AlignKind::identity},
        {"uniform", AlignKind::uniform}};
    for (const auto& [word, kind] : kinds)
      if (word == name) p.align = kind;
    if (name == "threshold") {
      p.theta = static_cast<Real>(options.number("theta", 0.1));
      p.renorm = options.flag("renorm");
      p.keep_best = options.flag("keep_best", true);
    } else if (name == "top_k") {
      p.k = options.integer("k", 8);
      p.renorm = options.flag("renorm");
    } else if (name == "entmax") {
      p.alpha = static_cast<Real>(options.number("alpha", 1.5));
      if (definition.parameters.contains("align.to_alpha")) {
        for (const double x : definition.parameters["align.to_alpha"].data)
          alphas.push_back(static_cast<Real>(1.01 + 0.99 / (1 + std::exp(-x))));
        p.alphas = alphas.data(), p.alphas_head = 1;
      }
    } else if (name == "hard") {
      p.perturb = v.sample;
    } else if (name == "straight_through" || name == "gumbel_softmax") {
      p.temperature = static_cast<Real>(options.number("temperature", 1));
      p.perturb = v.sample;
      if (name == "gumbel_softmax" && !v.sample) p.align = AlignKind::hard, p.temperature = 1, p.with_lse = false;
    } else if (name == "local_m" || name == "local_p") {
      set_local(name == "local_p", options, n);
    }
  }

  void set_local(bool predictive, const Options& options, const Shape& n) {
    p.mask.reach = options.integer("window", 10);
    const std::string form = predictive ? options.choice("form", {"plain", "renorm", "score_gauss"}) : "";
    const int64_t first =
        definition.causal == reference::Causal::bottom_right ? n.keys - n.queries : definition.first_query;
    for (int64_t b = 0; b < n.batch; ++b)
      for (int64_t h = 0; h < n.heads; ++h)
        for (int64_t i = 0; i < n.queries; ++i) {
          if (!predictive) {
            center.push_back(i + first);
            continue;
          }
          const double at = position_of(definition, b, h, i, true_keys(b));
          position.push_back(static_cast<Real>(at));
          center.push_back(std::min(static_cast<int64_t>(std::floor(at)), lengths_[static_cast<size_t>(b)] - 1));
        }
    p.mask.center = center.data();
    if (!predictive || p.mask.reach == 0) return;
    p.position = position.data();
    p.sigma = static_cast<Real>(p.mask.reach) / 2;
    p.gauss = form == "plain" ? Gauss::weights : form == "renorm" ? Gauss::add : Gauss::multiply;
  }

  std::vector<int64_t> lengths_;
};

/// Runs even tasks on one thread and odd ones on another.
inline void two_threads(int64_t tasks, const std::function<void(int64_t)>& body) {
  std::thread odd([&] {
    for (int64_t i = 1; i < tasks; i += 2) body(i);
  });
  for (int64_t i = 0; i < tasks; i += 2) body(i);
  odd.join();
}

}  // namespace heed::kernels::cpu::testing
