// Errors of predicted numbers x against gold numbers y, and their correlation. Equal to scikit-learn's and SciPy's.
//
//   MSE = 1/n sum_i (x_i - y_i)^2,   RMSE = sqrt(MSE),   MAE = 1/n sum_i |x_i - y_i|
//   R^2 = 1 - sum_i (x_i - y_i)^2 / sum_i (y_i - mean y)^2
//   Pearson = sum_i (x_i - mean x) (y_i - mean y) / sqrt(sum_i (x_i - mean x)^2 sum_i (y_i - mean y)^2)
//   Spearman = Pearson of the ranks; equal values share the mean of their ranks: 5 3 5 9 -> 2.5 1 2.5 4
//
// NaN where undefined: R^2 and both correlations of a single example, and correlations of a constant input. R^2 of a
// constant gold is 1 if all predictions are exact and 0 if not, as with force_finite of scikit-learn. An input is
// constant if all its values are equal: a rounded mean of them, unlike in scikit-learn, does not matter.

#pragma once

#include <vector>

namespace heed {

struct RegressionScores {
  double mse = 0, rmse = 0, mae = 0;  // infinite where a square or a difference overflows
  double r2 = 0;                      // at most 1
  double pearson = 0, spearman = 0;   // -1 to 1
};

/// predicted, gold: finite, of the same size, at least one.
RegressionScores regression_scores(const std::vector<double>& predicted, const std::vector<double>& gold);

double pearson(const std::vector<double>& predicted, const std::vector<double>& gold);
double spearman(const std::vector<double>& predicted, const std::vector<double>& gold);

}  // namespace heed
