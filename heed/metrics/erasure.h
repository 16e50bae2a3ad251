// What a model's answer loses when the tokens are removed that an explanation ranks first: whether the explanation is
// faithful, without asking people (DeYoung et al., 2020, ERASER).
//
//   comprehensiveness   p(y | whole text) - p(y | without the first tokens)    large: they were needed
//   sufficiency         p(y | whole text) - p(y | the first tokens alone)      small: they are enough
//   area                mean over the shares 1, 5, 10, 20 and 50 % of the tokens (ERASER's AOPC)
//   tokens to flip      how many of the first tokens must be removed until the decision changes (Serrano & Smith, 2019)
//
// y is the class with the largest probability on the whole text, right or wrong. The area is the mean over shares as
// rationale_benchmark/metrics.py of ERASER has it (_instances_aopc); the paper's formula divides by one more, for the
// share 0, at which nothing is lost.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace heed {

/// 0.01, 0.05, 0.1, 0.2, 0.5.
const std::vector<double>& erasure_shares();

/// How many tokens a share is: rounded up, so one at least, unless there are none. share: above 0, up to 1.
int64_t tokens_of_share(double share, int64_t tokens);

/// Numbers of tokens, the largest score first; of equal scores, the larger number of `tie_breaks` first.
std::vector<int64_t> ranked(const std::vector<double>& scores, const std::vector<double>& tie_breaks);

struct ErasureScores {
  std::vector<double> comprehensiveness{}, sufficiency{};  // by share
  double comprehensiveness_area = 0, sufficiency_area = 0;
};

/// whole: probability of y on the whole text; without, alone: by share, at least one.
ErasureScores erasure_scores(double whole, const std::vector<double>& without, const std::vector<double>& alone);

/// Searches how many of the first tokens must be removed until the decision changes, by bisection: exact if a decision
/// that has changed does not change back when more is removed. If it may, the answer is a number that changes it, while
/// one token fewer does not.
class FlipSearch {
 public:
  explicit FlipSearch(int64_t tokens) : tokens_(tokens) {}

  /// What the removal of so many tokens did. Numbers that are known from elsewhere can be added in any order.
  void add(int64_t removed, bool flipped) { seen_[removed] = flipped; }
  /// The number to try next; nothing once the answer is known.
  std::optional<int64_t> next() const;
  /// Nothing if the decision stays even without all tokens.
  std::optional<int64_t> tokens_to_flip() const;

 private:
  int64_t tokens_;
  std::map<int64_t, bool> seen_{};
};

}  // namespace heed
