// For tests: problems made from specs, and gradients by the complex step.

#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "heed/base/philox.h"
#include "heed/kernels/reference/math.h"
#include "heed/kernels/reference/reference.h"

namespace heed::kernels::reference {

inline constexpr double kStep = 1e-30;

struct Lengths {
  int64_t batch = 2, heads = 2, key_heads = 2, queries = 3, keys = 5;
  Widths widths{4, 4, 2, 3};
};

/// Numbers in (-1, 1) that depend on the seed only.
inline Array<double> numbers(const std::vector<int64_t>& shape, uint64_t seed) {
  int64_t size = 1;
  for (const int64_t n : shape) size *= n;
  std::vector<float> u(static_cast<size_t>(size));
  uniforms(seed, 0, kAlignment, 0, 0, size, u.data());
  Array<double> array{shape, {}};
  for (const float x : u) array.data.push_back(2 * static_cast<double>(x) - 1);
  return array;
}

/// Random inputs and parameters for any mechanism; every second parameter has one set per head.
inline Problem<double> problem_of(const std::string& spec, const Lengths& n = {}, uint64_t seed = 1) {
  Problem<double> problem;
  problem.mechanism = parse_mechanism(spec);
  problem.query = numbers({n.batch, n.heads, n.queries, n.widths.query_dim}, seed + 100);
  problem.keys = numbers({n.batch, n.key_heads, n.keys, n.widths.key_dim}, seed + 200);
  problem.values = numbers({n.batch, n.key_heads, n.keys, n.widths.value_dim}, seed + 300);
  for (auto [name, shape] : parameter_shapes(problem.mechanism, n.widths)) {
    if (problem.parameters.size() % 2 == 0) shape.insert(shape.begin(), n.heads);
    problem.parameters[name] = numbers(shape, seed + 400 + problem.parameters.size());
  }
  problem.seed = seed;
  return problem;
}

/// Every differentiable array of a problem by its name; empty ones too.
template <typename Real>
std::map<std::string, Array<Real>*> inputs(Problem<Real>& p) {
  std::map<std::string, Array<Real>*> all{{"query", &p.query}, {"keys", &p.keys},       {"values", &p.values},
                                          {"bias", &p.bias},   {"per_key", &p.per_key}, {"relative", &p.relative},
                                          {"alibi", &p.alibi}};
  for (auto& [name, array] : p.parameters) all[name] = &array;
  return all;
}

/// Every array of an answer by its name.
template <typename Real>
std::map<std::string, const Array<Real>*> outputs(const Answer<Real>& a) {
  return {{"context", &a.context},  {"scores", &a.scores},   {"weights", &a.weights},
          {"lse", &a.lse},          {"entropy", &a.entropy}, {"log_probability", &a.log_probability},
          {"selected", &a.selected}};
}

inline Array<Complex> to_complex(const Array<double>& array) {
  return {array.shape, {array.data.begin(), array.data.end()}};
}

inline Problem<Complex> to_complex(const Problem<double>& p) {
  Problem<Complex> c;
  c.mechanism = p.mechanism;
  for (const auto& [name, array] : p.parameters) c.parameters[name] = to_complex(array);
  c.query = to_complex(p.query), c.keys = to_complex(p.keys), c.values = to_complex(p.values);
  c.keep = p.keep, c.key_count = p.key_count, c.causal = p.causal;
  c.left = p.left, c.right = p.right, c.first_query = p.first_query;
  c.bias = to_complex(p.bias), c.per_key = to_complex(p.per_key), c.relative = to_complex(p.relative),
  c.alibi = to_complex(p.alibi);
  c.scale = p.scale, c.soft_cap = p.soft_cap;
  c.sample = p.sample, c.dropout = p.dropout, c.seed = p.seed, c.stream = p.stream, c.first_row = p.first_row,
  c.uniforms = p.uniforms;
  return c;
}

/// A scalar loss of an answer.
using Loss = std::function<Complex(const Answer<Complex>&)>;

/// The gradients of a loss with respect to every number of one input.
inline std::vector<double> gradients(const Problem<double>& problem, const std::string& input, const Loss& loss) {
  Problem<Complex> moved = to_complex(problem);
  std::vector<double> all;
  for (Complex& x : inputs(moved).at(input)->data) {
    x += Complex(0, kStep);
    all.push_back(loss(attend(moved)).imag() / kStep);
    x -= Complex(0, kStep);
  }
  return all;
}

/// sum(upstream * context)
inline Loss upstream_of(const std::vector<double>& upstream) {
  return [upstream](const Answer<Complex>& answer) {
    Complex sum = 0;
    for (size_t i = 0; i < upstream.size(); ++i) sum += upstream[i] * answer.context.data[i];
    return sum;
  };
}

/// Whether the bits are the same, NaN included.
template <typename Real>
bool same_bits(const Array<Real>& x, const Array<Real>& y) {
  if (x.shape != y.shape || x.data.size() != y.data.size()) return false;
  return x.data.empty() || std::memcmp(x.data.data(), y.data.data(), x.data.size() * sizeof(Real)) == 0;
}

}  // namespace heed::kernels::reference
