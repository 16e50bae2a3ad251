// Rank correlations besides Spearman's (regression.h): Kendall's, and Spearman's with controls.
//
//   Kendall tau-b    (C - D) / sqrt((N - Tx) (N - Ty)),   N = n (n - 1) / 2
//     C, D: pairs in the same and in opposite order; Tx, Ty: pairs tied in x, in y (Kendall, 1945). SciPy's kendalltau
//     Its p: of the null hypothesis that all orders of y are equally probable, two-sided, as SciPy has it. Without ties
//     and with n <= 33, or with at most one pair in the opposite order (or in the same), it is exact: twice the share
//     of the n! orders that have as few pairs in the rarer order, at most 1. If not, C - D is compared with the normal
//     distribution of the same variance
//   partial Spearman   Pearson of the residuals of the ranks of x and y after linear regression on the ranks of the
//     controls. A control that is constant, or a combination of those before it, is left out
//
// Nothing where undefined: fewer than two values, a constant input; of the partial correlation also where the controls
// explain an input completely, or fewer than three values more than controls are left (it is then 1 or -1 by itself).

#pragma once

#include <optional>
#include <vector>

namespace heed {

/// Ranks from 1; equal values share the mean of their ranks: 5 3 5 9 -> 2.5 1 2.5 4.
std::vector<double> average_ranks(const std::vector<double>& values);

/// x, y: without NaN, of the same size. Takes O(n log n).
std::optional<double> kendall_tau_b(const std::vector<double>& x, const std::vector<double>& y);

struct KendallTest {
  double tau = 0, p = 1;
};
std::optional<KendallTest> kendall_test(const std::vector<double>& x, const std::vector<double>& y);

/// x, y and each control: finite, of the same size.
std::optional<double> partial_spearman(const std::vector<double>& x, const std::vector<double>& y,
                                       const std::vector<std::vector<double>>& controls);

}  // namespace heed
