// e = score(q, k): how well a query and a key belong together, one pair at a time, from unprojected inputs.
//
// A score gives W numbers: one, or one for each channel of the values. The lifts (Form::lift) are of two kinds: a score
// without a matrix cuts the features into W groups and looks at one group for each channel; a score with a matrix has
// one matrix for each channel. With W = 1 both are the plain score, so most scores need no second formula.

#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/base/spec.h"
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
  virtual ~Score() = default;
  virtual std::vector<Form> forms() const = 0;  // those that have a definition
  virtual std::vector<Declared> parameters(const Sizes&) const { return {}; }
  virtual void check_sizes(const Sizes&) const {}
  /// Keys beyond this index have no score and count as masked.
  virtual int64_t max_keys() const { return INT64_MAX; }
  /// [W]
  virtual std::vector<Real> score(const HeadParameters<Real>&, const Pair<Real>&, const Sizes&) const = 0;
};

/// The score of that name, with every option understood; nullptr when there is none of that name.
template <typename Real>
std::unique_ptr<const Score<Real>> make_score(const PartSpec& spec, Form form);

}  // namespace heed::kernels::reference
