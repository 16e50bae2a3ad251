// For tests: graph attention by its definition, edge by edge in the given order, in any number type. With complex
// numbers x + i h, h = 1e-30, the imaginary part of the result divided by h is the gradient with respect to x.

#pragma once

#include <cmath>
#include <complex>
#include <functional>
#include <random>
#include <vector>

#include "heed/kernels/cpu/graph/attend.h"

namespace heed::kernels::cpu::graph::testing {

inline double real(double x) {
  return x;
}
inline double real(std::complex<double> x) {
  return x.real();
}

/// A graph and the inputs of attention on it. score_width 0: GAT.
struct Case {
  int64_t nodes = 0, heads = 2, width = 3, score_width = 0;
  double negative_slope = 0.2;
  std::vector<int64_t> from{}, to{};
  std::vector<double> receiver{}, sender{}, to_scores{}, values{}, factor{};  // factor [E, H], or empty

  int64_t edges() const { return static_cast<int64_t>(from.size()); }
  int64_t across() const { return score_width == 0 ? 1 : score_width; }
  Edges sorted() const { return sort_edges(from.data(), to.data(), edges(), nodes); }
};

template <typename T>
struct Result {
  std::vector<T> scores, weights, context;  // [E, H], [E, H], [N, H, D]; edges in the order given
};

/// The differentiable inputs of a case, as numbers of any type.
template <typename T>
struct Inputs {
  std::vector<T> receiver, sender, to_scores, values;

  explicit Inputs(const Case& c)
      : receiver(c.receiver.begin(), c.receiver.end()),
        sender(c.sender.begin(), c.sender.end()),
        to_scores(c.to_scores.begin(), c.to_scores.end()),
        values(c.values.begin(), c.values.end()) {}
};

template <typename T>
T score_of(const Case& c, const Inputs<T>& x, size_t i, size_t j, size_t h) {
  const auto H = static_cast<size_t>(c.heads), D = static_cast<size_t>(c.across());
  const auto leaky = [&](T y) { return real(y) > 0 ? y : c.negative_slope * y; };
  if (c.score_width == 0) return leaky(x.receiver[i * H + h] + x.sender[j * H + h]);
  T e = 0;
  for (size_t d = 0; d < D; ++d)
    e += x.to_scores[h * D + d] * leaky(x.receiver[(i * H + h) * D + d] + x.sender[(j * H + h) * D + d]);
  return e;
}

template <typename T>
Result<T> define(const Case& c, const Inputs<T>& x) {
  const auto H = static_cast<size_t>(c.heads), D = static_cast<size_t>(c.width), E = c.from.size();
  Result<T> r{std::vector<T>(E * H), std::vector<T>(E * H),
              std::vector<T>(static_cast<size_t>(c.nodes * c.heads * c.width))};
  for (size_t h = 0; h < H; ++h) {
    std::vector<T> total(static_cast<size_t>(c.nodes), T(0));
    for (size_t e = 0; e < E; ++e) {
      const auto i = static_cast<size_t>(c.to[e]), j = static_cast<size_t>(c.from[e]);
      r.scores[e * H + h] = score_of(c, x, i, j, h);
      total[i] += std::exp(r.scores[e * H + h]);
    }
    for (size_t e = 0; e < E; ++e) {
      const auto i = static_cast<size_t>(c.to[e]), j = static_cast<size_t>(c.from[e]);
      const T w = std::exp(r.scores[e * H + h]) / total[i];
      r.weights[e * H + h] = w;
      const double factor = c.factor.empty() ? 1 : c.factor[e * H + h];
      for (size_t d = 0; d < D; ++d) r.context[(i * H + h) * D + d] += factor * w * x.values[(j * H + h) * D + d];
    }
  }
  return r;
}

/// Random edges between all nodes but the last two: one of those only receives, the other has no edge. One edge is a
/// duplicate, and node 0 receives nothing.
inline Case make_case(int64_t nodes, int64_t edges, int64_t heads, int64_t width, int64_t score_width,
                      bool dropped = false) {
  std::mt19937 random(17);
  std::normal_distribution<double> normal;
  Case c{.nodes = nodes, .heads = heads, .width = width, .score_width = score_width};
  const auto node = [&](int64_t first, int64_t last) {
    return std::uniform_int_distribution<int64_t>(first, last)(random);
  };
  for (int64_t e = 0; e < edges; ++e) {
    c.from.push_back(node(0, nodes - 3));
    c.to.push_back(node(1, nodes - 2));
  }
  c.from.back() = c.from.front();
  c.to.back() = c.to.front();
  const auto fill = [&](std::vector<double>& x, int64_t n) {
    for (int64_t k = 0; k < n; ++k) x.push_back(normal(random));
  };
  fill(c.receiver, nodes * heads * c.across());
  fill(c.sender, nodes * heads * c.across());
  if (score_width > 0) fill(c.to_scores, heads * score_width);
  fill(c.values, nodes * heads * width);
  if (dropped)
    for (int64_t k = 0; k < edges * heads; ++k) c.factor.push_back(node(0, 3) == 0 ? 0 : 4.0 / 3);
  return c;
}

/// Node 0 sends to every leaf and receives from every leaf: more edges of one node than a block holds. Each leaf also
/// sends to the next one, so that every leaf receives two edges and their scores have a gradient.
inline Case make_star(int64_t leaves, int64_t width, int64_t score_width) {
  Case c = make_case(leaves + 1, 3 * leaves, 1, width, score_width);
  for (int64_t leaf = 1; leaf <= leaves; ++leaf) {
    const auto e = static_cast<size_t>(3 * leaf - 3);
    c.from[e] = c.to[e + 1] = 0;
    c.to[e] = c.from[e + 1] = c.from[e + 2] = leaf;
    c.to[e + 2] = leaf % leaves + 1;
  }
  return c;
}

}  // namespace heed::kernels::cpu::graph::testing
