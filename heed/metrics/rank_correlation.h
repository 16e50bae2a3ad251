// Rank correlations besides Spearman's (regression.h): Kendall's, and Spearman's with controls.
//
//   Kendall tau-b    (C - D) / sqrt((N - Tx) (N - Ty)),   N = n (n - 1) / 2
//     C, D: pairs in the same and in opposite order; Tx, Ty: pairs tied in x, in y (Kendall, 1945). SciPy's kendalltau
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

/// x, y and each control: finite, of the same size.
std::optional<double> partial_spearman(const std::vector<double>& x, const std::vector<double>& y,
                                       const std::vector<std::vector<double>>& controls);

}  // namespace heed
