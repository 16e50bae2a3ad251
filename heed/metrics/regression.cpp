#include "heed/metrics/regression.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "heed/metrics/examples.h"
#include "heed/metrics/rank_correlation.h"

namespace heed {
namespace {

using Values = std::vector<double>;

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

void check_finite(const char* kind, const Values& values) {
  for (size_t i = 0; i < values.size(); ++i)
    check(std::isfinite(values[i]), "metrics/regression: got the ", kind, " value ", values[i], " for example ", i,
          ", expected finite values");
}

void check_values(const Values& predicted, const Values& gold) {
  check_examples("regression", predicted.size(), gold.size());
  check_finite("predicted", predicted);
  check_finite("gold", gold);
}

bool is_constant(const Values& values) {
  return std::all_of(values.begin(), values.end(), [&](double value) { return value == values[0]; });
}

/// The exponent of 2 of the largest magnitude; below that of any number if all values are 0.
int exponent(const Values& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return std::ilogb(largest);
}

/// values / 2^power. A power of 2 changes no digit; squares of the quotients neither overflow nor vanish.
Values scaled(const Values& values, int power) {
  Values all;
  all.reserve(values.size());
  for (const double value : values) all.push_back(std::scalbn(value, -power));
  return all;
}

Values deviations(Values values) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  for (double& value : values) value -= mean;
  return values;
}

double sum_of_products(const Values& one, const Values& other) {
  return std::inner_product(one.begin(), one.end(), other.begin(), 0.0);
}

double squared_error(const Values& predicted, const Values& gold) {
  double sum = 0;
  for (size_t i = 0; i < gold.size(); ++i) sum += (predicted[i] - gold[i]) * (predicted[i] - gold[i]);
  return sum;
}

double mean_absolute_error(const Values& predicted, const Values& gold) {
  double sum = 0;
  for (size_t i = 0; i < gold.size(); ++i) sum += std::abs(predicted[i] - gold[i]);
  return sum / static_cast<double>(gold.size());
}

double r_squared(const Values& predicted, const Values& gold) {
  if (gold.size() < 2) return kUndefined;
  if (is_constant(gold)) return predicted == gold ? 1 : 0;
  const int scale = std::max(exponent(predicted), exponent(gold));
  const Values x = scaled(predicted, scale), y = scaled(gold, scale), apart = deviations(y);
  return 1 - squared_error(x, y) / sum_of_products(apart, apart);
}

double correlation(const Values& predicted, const Values& gold) {
  if (is_constant(predicted) || is_constant(gold)) return kUndefined;
  const Values x = deviations(scaled(predicted, exponent(predicted)));
  const Values y = deviations(scaled(gold, exponent(gold)));
  return std::clamp(sum_of_products(x, y) / std::sqrt(sum_of_products(x, x) * sum_of_products(y, y)), -1.0, 1.0);
}

}  // namespace

double pearson(const std::vector<double>& predicted, const std::vector<double>& gold) {
  check_values(predicted, gold);
  return correlation(predicted, gold);
}

double spearman(const std::vector<double>& predicted, const std::vector<double>& gold) {
  check_values(predicted, gold);
  return correlation(average_ranks(predicted), average_ranks(gold));
}

RegressionScores regression_scores(const std::vector<double>& predicted, const std::vector<double>& gold) {
  check_values(predicted, gold);
  const double mse = squared_error(predicted, gold) / static_cast<double>(gold.size());
  return {.mse = mse,
          .rmse = std::sqrt(mse),
          .mae = mean_absolute_error(predicted, gold),
          .r2 = r_squared(predicted, gold),
          .pearson = correlation(predicted, gold),
          .spearman = correlation(average_ranks(predicted), average_ranks(gold))};
}

}  // namespace heed
