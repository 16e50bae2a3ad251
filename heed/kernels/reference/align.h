// a = align(e): from the scores of one query, in one channel, to its weights.
//
// An alignment receives only the keys that this query may attend, so no formula contains a mask. A score that is NaN or
// +inf makes every weight that is compared or normalized with it NaN: argmax and sorting do not hide it.

#pragma once

#include <limits>
#include <span>
#include <vector>

#include "heed/kernels/reference/definition.h"
#include "heed/kernels/reference/parameters.h"

namespace heed::kernels::reference {

/// The n > 0 kept keys of one query, in one channel.
template <typename Real>
struct ScoreRow {
  std::vector<int64_t> keys;          // [n], ascending
  std::vector<Real> scores;           // [n], none is -inf unless they are not read
  std::vector<double> draws;          // [n] random numbers in (0, 1); empty: do not sample
  std::span<const Real> query;        // [Dq]
  int64_t position = 0;               // of the query
  int64_t key_count = 0;              // S, the true length
  std::span<const uint8_t> selected;  // [Lk], the keys that the policy selected; empty without a policy
};

/// The result of an alignment. The defaults are those of a query without keys, and of outputs that the alignment lacks.
template <typename Real>
struct Aligned {
  std::vector<Real> weights;  // [n]
  Real lse{-std::numeric_limits<double>::infinity()};
  Real entropy{0}, log_probability{0};
};

/// A subset of the keys of one head, selected by a policy independently of the queries.
template <typename Real>
struct Chosen {
  std::vector<uint8_t> selected;  // [Lk]
  Real log_probability{0};
};

template <typename Real>
class Alignment {
 public:
  static constexpr const char* kKind = "alignment";

  struct Gives {
    bool lse = false, entropy = false, log_probability = false;  // outputs that it has
    bool draws = false;                                          // needs random numbers to sample
    bool policy = false;                                         // selects keys first, by choose()
    bool positional = false;                                     // positions decide about weights, too
    bool compares = true;                                        // a NaN or infinite score makes every weight NaN
    bool reads_scores = true;  // if not, weights depend on the mask and on biases of -inf alone
  };

  virtual ~Alignment() = default;
  virtual Gives gives() const = 0;
  virtual std::vector<Declared> parameters(const Sizes&) const { return {}; }
  virtual Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>&) const = 0;

  /// keys [Lk, Dk]; reachable [Lk]: whether some query may attend the key; draws [Lk], empty: do not sample.
  virtual Chosen<Real> choose(const HeadParameters<Real>&, std::span<const Real> /*keys*/,
                              std::span<const uint8_t> /*reachable*/, std::span<const float> /*draws*/) const {
    return {};
  }
};

using AlignDefinitions = Catalogue<Definition<Alignment>>;

}  // namespace heed::kernels::reference
