// Scores with Gumbel noise, for definitions of alignments that sample a key.

#pragma once

#include <cmath>

#include "heed/base/check.h"
#include "heed/kernels/reference/align/soft.h"

namespace heed::kernels::reference {

/// e + g with Gumbel noise g = -log(-log u): its argmax is a sample of softmax(e). Without draws: e.
template <typename Real>
List<Real> perturbed(const ScoreRow<Real>& row) {
  List<Real> scores = row.scores;
  for (size_t j = 0; j < row.draws.size(); ++j) scores[j] += -std::log(-std::log(row.draws[j]));
  return scores;
}

/// (e + g) / temperature
template <typename Real>
List<Real> tempered(const ScoreRow<Real>& row, double temperature) {
  List<Real> scores = perturbed(row);
  for (Real& e : scores) e /= temperature;
  return scores;
}

inline double read_temperature(const Options& options) {
  const double temperature = options.number("temperature", 1);
  check(temperature > 0, options.part(), ": temperature is ", temperature, ", expected a number above 0");
  return temperature;
}

}  // namespace heed::kernels::reference
