// For tests: bounds of rounding errors, decisions that rounding may change, and loops over instruction sets.

#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/kernels/cpu/testing.h"

namespace heed::kernels::cpu::testing {

inline std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name;
  for (const char c : info.param)
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  return name + std::to_string(info.index);
}

inline bool has(const std::string& spec, const std::string& part) {
  return spec.find(part) != std::string::npos;
}
inline bool decides(const std::string& spec) {
  return has(spec, "hard") || has(spec, "top_k") || has(spec, "threshold") || has(spec, "straight") ||
         has(spec, "gumbel");
}

/// The largest sum of magnitudes that enters a score; its rounding error is proportional to it.
template <typename Real>
double reach_of(const Case<Real>& c, const Variant& v) {
  const auto& p = c.p;
  double max = 0;
  if (p.score == ScoreKind::dot || p.score == ScoreKind::distance || p.score == ScoreKind::squared_distance) {
    double q = 0, k = 0;
    const auto longest = [](const reference::Array<double>& x, double& to) {
      const auto width = static_cast<size_t>(x.shape[3]);
      for (size_t i = 0; i + width <= x.data.size(); i += width) {
        double sum = 0;
        for (size_t f = 0; f < width; ++f) sum += x.data[i + f] * x.data[i + f];
        if (sum == sum) to = std::max(to, std::sqrt(sum));
      }
    };
    longest(c.definition.query, q);
    longest(c.definition.keys, k);
    max = p.score == ScoreKind::dot ? q * k : p.score == ScoreKind::distance ? q + k : (q + k) * (q + k);
  } else if (p.score == ScoreKind::table) {
    for (const double x : c.definition.query.data) max = std::max(max, std::abs(x));
  } else {
    const auto& w = c.definition.parameters.at("score.to_scores").data;
    double inside = 1;
    if (p.activation != Activation::tanh && p.activation != Activation::sigmoid)
      for (const double x : c.definition.query.data) inside = std::max(inside, 2 * std::abs(x));
    for (size_t h = 0; h < static_cast<size_t>(p.heads); ++h) {
      double sum = 0;
      for (size_t f = 0; f < static_cast<size_t>(p.width); ++f)
        sum += std::abs(w[h * static_cast<size_t>(p.width) + f]);
      max = std::max(max, sum * inside);
    }
  }
  max *= std::abs(v.scale);
  if (v.biased) max += 2 + 0.2 * static_cast<double>(p.keys);
  return max;
}

/// Bound of the rounding error of a score.
template <typename Real>
double score_error(const Case<Real>& c, const Variant& v) {
  const double eps = std::numeric_limits<Real>::epsilon();
  double error = eps * (6 + std::sqrt(static_cast<double>(c.p.width))) * (1 + reach_of(c, v));
  if (c.p.perturb || c.p.temperature != 1) error = (error + 20 * eps) / static_cast<double>(c.p.temperature);
  return error;
}

/// Queries for which two choices are so close that rounding may change the decision.
template <typename Real>
std::vector<bool> undecided(const Case<Real>& c, const Variant& v, const reference::Answer<double>& answer) {
  const auto& p = c.p;
  const auto keys = static_cast<size_t>(p.keys);
  std::vector<bool> close(static_cast<size_t>(p.batch * p.heads * p.queries), false);
  const double e = 4 * score_error(c, v);
  const reference::Mask mask(c.definition);
  for (size_t row = 0; row < close.size(); ++row) {
    std::vector<double> kept;
    const auto r = static_cast<int64_t>(row);
    std::vector<float> u(keys);
    uniforms(p.seed, p.stream, kAlignment,
             static_cast<uint32_t>((p.first_row + r / p.queries / p.heads) * p.heads + r / p.queries % p.heads),
             static_cast<uint32_t>(r % p.queries + p.first_query), p.keys, u.data());
    for (size_t j = 0; j < keys; ++j)
      if (mask.keeps(r / p.queries / p.heads, r / p.queries % p.heads, r % p.queries, static_cast<int64_t>(j))) {
        double s = answer.scores.data[row * keys + j];
        if (p.perturb) s += -std::log(-std::log(static_cast<double>(u[j])));
        kept.push_back(s);
      }
    std::sort(kept.rbegin(), kept.rend());
    if (p.align == AlignKind::top_k) {
      const auto k = static_cast<size_t>(p.k);
      close[row] = kept.size() > k && kept[k - 1] - kept[k] < e;
    } else if (p.align == AlignKind::threshold) {
      double sum = 0;
      for (const double x : kept) sum += std::exp(x - kept[0]);
      for (const double x : kept) {
        const double a = std::exp(x - kept[0]) / sum;
        close[row] = close[row] || std::abs(a - static_cast<double>(p.theta)) < 4 * e * a + 1e-6;
      }
      close[row] = close[row] || (p.keep_best && kept.size() > 1 && kept[0] - kept[1] < e);
    } else {
      close[row] = kept.size() > 1 && kept[0] - kept[1] < e + 1e-6;
    }
  }
  return close;
}

/// Runs the body for float on each instruction set, and for double.
template <typename Body>
void on_every_set(Body body) {
  const std::string before = instruction_set();
  for (const auto& set : instruction_sets()) {
    SCOPED_TRACE(set);
    use_instruction_set(set);
    body(float());
  }
  use_instruction_set(before);
  SCOPED_TRACE("double");
  body(double());
}

}  // namespace heed::kernels::cpu::testing
