// Distances of probabilities p and q of the same classes, and of weights of the same keys.
//
//   TVD = 1/2 sum_i |p_i - q_i|                               from 0 to 1
//   mean absolute difference = mean_i |p_i - q_i|             of classes that are independent of each other; of one
//     class it is the TVD of (p, 1 - p) and (q, 1 - q)
//   KL(p | q) = sum_i p_i log(p_i / q_i)                      from 0, without a bound
//   JSD = KL(p | m) / 2 + KL(q | m) / 2,  m = (p + q) / 2     from 0 to log 2
//
// Logarithms are natural, 0 log 0 = 0. KL is infinite where q_i = 0 < p_i, as sparse weights have it. The published
// codes of Jain & Wallace (2019) and of Wiegreffe & Pinter (2019) therefore add e = 1e-10 inside each logarithm:
//
//   sum_i p_i log((p_i + e) / (q_i + e))
//
// KL takes that e. A p_i without any q_i then costs p_i (log p_i + 23.03), so of sparse weights the size of KL is that
// of log e: compare such figures with others of the same e alone. JSD needs none and is exact; with e inside its
// logarithms it is smaller or larger by less than 2 e for each key.

#pragma once

#include <vector>

namespace heed {

inline constexpr double kDivergenceEpsilon = 1e-10;

/// p, q: probabilities of the same size.
double total_variation(const std::vector<double>& p, const std::vector<double>& q);
/// 0 without any class.
double mean_absolute_difference(const std::vector<double>& p, const std::vector<double>& q);
double jensen_shannon(const std::vector<double>& p, const std::vector<double>& q);
/// epsilon: added inside the logarithms; 0: exact, and infinite where q lacks what p has.
double kullback_leibler(const std::vector<double>& p, const std::vector<double>& q,
                        double epsilon = kDivergenceEpsilon);
/// With epsilon inside the logarithms, as published codes have it.
double jensen_shannon_with(const std::vector<double>& p, const std::vector<double>& q,
                           double epsilon = kDivergenceEpsilon);

}  // namespace heed
