// How well attention weights find the words R of a human rationale among n words. Only the order of the weights counts,
// so baselines such as word length can be scored as well.
//
//   average precision   sum_t (recall_t - recall_{t-1}) precision_t over the distinct weights t, the largest first;
//                       words of equal weight are found together
//   ROC AUC             P(a_i > a_j) + P(a_i = a_j) / 2 for i in R, j not in R
//   P@k                 share of R among the k words with the largest weights
//   token F1            2 |A & R| / (|A| + |R|) for the words A that are found
//
// Of several words tied for the last of k, each is found in part, so P@k is the mean over all orders of tied words.
// Average precision and AUC are scikit-learn's. There is no average precision, P@k and F1 without a word in R, and no
// AUC if R holds all words either.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace heed {

std::optional<double> average_precision(const std::vector<double>& weights, const std::vector<bool>& gold);
std::optional<double> roc_auc(const std::vector<double>& weights, const std::vector<bool>& gold);

/// How far each word belongs to the k with the largest weights: 1, 0, or (tied for the last of k) between. The sum is
/// k, or the number of words if that is smaller. k: at least 0.
std::vector<double> top_membership(const std::vector<double>& weights, int64_t k);

/// k: at least 1. With fewer words than k, all of them count.
std::optional<double> precision_at(const std::vector<double>& weights, const std::vector<bool>& gold, int64_t k);

/// F1 of the k words with the largest weights.
std::optional<double> token_f1_of_top(const std::vector<double>& weights, const std::vector<bool>& gold, int64_t k);
/// F1 of the words whose weight is above the threshold.
std::optional<double> token_f1_above(const std::vector<double>& weights, const std::vector<bool>& gold,
                                     double threshold);

/// Whether words are tied for the last of k: whether some word belongs in part.
bool tied_at(const std::vector<double>& weights, int64_t k);

}  // namespace heed
