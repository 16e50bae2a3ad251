// e = score(q, k): how well a key matches a query, one pair at a time, from unprojected inputs.
//
// A score gives W numbers: one, or one per channel of the values. Form::lift extends a score to channels in one of two
// ways: a score without a matrix splits the features into W groups and scores one group per channel; a score with a
// matrix has one matrix per channel. With W = 1 both are the plain score, so most scores need no second formula.

#pragma once

#include <span>
#include <vector>

#include "heed/kernels/reference/definition.h"
#include "heed/kernels/reference/parameters.h"

namespace heed::kernels::reference {

template <typename Real>
struct Pair {
  std::span<const Real> query, key;  // [Dq], [Dk]
  int64_t query_index, key_index;    // i, j
};

template <typename Real>
class Score {
 public:
  static constexpr const char* kKind = "score";

  virtual ~Score() = default;
  virtual std::vector<Form> forms() const = 0;  // the forms that are defined
  virtual std::vector<Declared> parameters(const Sizes&) const { return {}; }
  virtual void check_sizes(const Sizes&) const {}
  /// Keys from this index on have no score and count as masked.
  virtual int64_t max_keys() const { return INT64_MAX; }
  /// The W scores of a pair.
  virtual std::vector<Real> score(const HeadParameters<Real>&, const Pair<Real>&, const Sizes&) const = 0;
};

using ScoreDefinitions = Catalogue<Definition<Score>, Form>;

}  // namespace heed::kernels::reference
