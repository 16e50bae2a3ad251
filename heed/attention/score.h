// e = score(q, k): how well a key matches a query.
//
// A score is stateless: it declares its parameters and receives them in each call, so that backward can recompute a
// block. Tensors always have a head axis:
//
//   query [B, H, Lq, *], keys [B, H, Lk, *]  ->  scores [B, H, Lq, Lk, W]
//
// The caller applies masks, biases, scale and soft cap.

#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "heed/backend/tiled.h"
#include "heed/base/catalogue.h"
#include "heed/parameters.h"

namespace heed {

class Score {
 public:
  static constexpr auto kKind = "score";
  virtual ~Score() = default;

  /// Names, shapes and initial values of the parameters for these sizes.
  virtual std::vector<ParameterSpec> parameters(const Sizes&) const { return {}; }

  /// Why the score has no form of this dimensionality, or "". By default only single is supported.
  virtual std::string refuse(Dimensionality d) const {
    return d == Dimensionality::single ? "" : "it has no multi-dimensional form";
  }

  /// Computed once per call for the queries, and once per memory for the keys: projections. prepares() is false if
  /// they return what they are given.
  virtual bool prepares() const { return true; }
  virtual Tensor prepare_query(const Parameters&, const Tensor& query) const { return query; }
  virtual Tensor prepare_keys(const Parameters&, const Tensor& keys) const { return keys; }

  /// Scores of prepared queries (any block) and all prepared keys.
  virtual Tensor score(const Parameters&, const Tensor& query, const Tensor& keys) const = 0;

  /// What a kernel computes of this score, and its input for prepared queries and keys. A score without a kernel runs
  /// on the composed path.
  virtual TiledScore kernel(Dimensionality) const { return {.missing = "it has no kernel"}; }
  virtual ScoreTensors tile(const Parameters&, const Tensor& query, const Tensor& keys) const {
    return {.query = query, .keys = keys};
  }

  /// Numbers held at once for each pair in forward and backward; determines the block size.
  virtual int64_t floats_per_pair(const Sizes&) const { return 2; }

  /// Whether the score depends on the position of a key, not only on its content.
  virtual bool positional() const { return false; }
  /// Keys from this index on cannot be scored and count as masked.
  virtual int64_t max_keys() const { return std::numeric_limits<int64_t>::max(); }
  /// Number of learned queries of a score that needs no query from the caller; 0: it needs one.
  virtual int64_t own_queries() const { return 0; }
};

/// Dot products of all pairs, one for each of `width` groups of features.
/// query [B, H, Lq, D], keys [B, H, Lk, D]  ->  [B, H, Lq, Lk, width].
Tensor products(const Tensor& query, const Tensor& keys, int64_t width);

/// Dot products of all pairs, where a query has one vector for each channel.
/// query [B, H, Lq, width * D], keys [B, H, Lk, D]  ->  [B, H, Lq, Lk, width].
Tensor channel_products(const Tensor& query, const Tensor& keys, int64_t width);

/// For Score::refuse: "" if `d` is single or `only_this`, else `reason` and the supported form.
std::string only(Dimensionality d, Dimensionality only_this, const std::string& reason);

/// D7: a score that multiplies queries and keys needs equal widths, and a width that splits into one group per channel.
void check_same_width(const std::string& part, const Sizes& sizes);

}  // namespace heed
