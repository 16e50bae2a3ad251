// Kendall's distance of two lists of the k largest values (Fagin, Kumar & Sivakumar, 2003, "Comparing top k lists").
//
// Every pair of items that are in one list or in both costs
//
//   0 or 1   both are in one list, and at least one of them in the other list: 1 if the orders must differ, where what
//   is
//            not in a list comes after all that is
//   1        one item is in one list alone, the other one in the other list alone
//   penalty  both are in one list alone: the other one does not say their order
//
// Lists have no ties in the paper. Here the first of equal values is in the list, and a pair in one list that is tied
// there costs the penalty if it is not tied in the other list, where it would cost 0 or 1.
//
// The largest sum has two lists with m = min(k, n - k) items of their own at the top and c = k - m common ones below,
// in opposite orders: c (c - 1) / 2 + 2 c m + m^2 + penalty m (m - 1).

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace heed {

/// The sum over pairs. x, y: finite, of the same size, larger for what is earlier. k: at least 1.
double top_k_cost(const std::vector<double>& x, const std::vector<double>& y, int64_t k, double penalty = 0.5);

/// The sum divided by the largest one that any two lists of k of as many items have: from 0 to 1. Nothing of fewer than
/// two items.
std::optional<double> top_k_distance(const std::vector<double>& x, const std::vector<double>& y, int64_t k,
                                     double penalty = 0.5);

}  // namespace heed
