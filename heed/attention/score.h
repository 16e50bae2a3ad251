// e = score(q, k): how well a query and a key belong together.
//
// A score is stateless: it declares its parameters and computes from the ones it is given, so that a
// block of it can be run again in backward. Tensors always have a head axis:
//
//   query [B, H, Lq, *], keys [B, H, Lk, *]  ->  scores [B, H, Lq, Lk, W]
//
// Masks, biases, scale and soft cap are not its business.

#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "heed/attention/parameters.h"
#include "heed/attention/tiled.h"
#include "heed/base/catalogue.h"

namespace heed {

class Score {
 public:
  static constexpr auto kKind = "score";
  virtual ~Score() = default;

  /// Names, shapes and initial values for these sizes.
  virtual std::vector<ParameterSpec> parameters(const Sizes&) const { return {}; }

  /// Why there is no such score, or "". By default there is one number for each pair.
  virtual std::string refuse(Dimensionality d) const {
    return d == Dimensionality::single ? "" : "it has no multi-dimensional form";
  }

  /// What a call does once for its queries, and a memory once for its keys: projections.
  virtual Tensor prepare_query(const Parameters&, const Tensor& query) const { return query; }
  virtual Tensor prepare_keys(const Parameters&, const Tensor& keys) const { return keys; }

  /// On prepared ones, for any block of queries and all keys.
  virtual Tensor score(const Parameters&, const Tensor& query, const Tensor& keys) const = 0;

  /// The kernel that computes it, and on prepared ones what its tiles need. Without one it is composed.
  virtual Kernel kernel(Dimensionality) const { return {.missing = "none computes it"}; }
  virtual TiledScore tiled(const Parameters&, const Tensor& query, const Tensor& keys) const;
  /// What a memory may keep beside the prepared keys to spare a kernel work; it has no gradient. Undefined: nothing.
  virtual Tensor kept_for_kernel(const Parameters&, const Tensor& /*prepared_keys*/) const { return {}; }

  /// Numbers held at once for one pair, forward and backward: what sizes the blocks.
  virtual int64_t floats_per_pair(const Tensor& /*prepared_keys*/) const { return 2; }

  /// Whether the position of a key matters, not only its content.
  virtual bool positional() const { return false; }
  /// Keys from this one on cannot be scored and count as masked.
  virtual int64_t max_keys() const { return std::numeric_limits<int64_t>::max(); }
  /// Learned queries, for a score that needs none from the caller; 0: it needs one.
  virtual int64_t own_queries() const { return 0; }
};

/// The dot products of all pairs, one for each of `width` groups of features.
/// query [B, H, Lq, D], keys [B, H, Lk, D]  ->  [B, H, Lq, Lk, width].
Tensor products(const Tensor& query, const Tensor& keys, int64_t width);

/// The dot products of all pairs where a query brings one vector for each channel.
/// query [B, H, Lq, width * D], keys [B, H, Lk, D]  ->  [B, H, Lq, Lk, width].
Tensor channel_products(const Tensor& query, const Tensor& keys, int64_t width);

/// The reason when `d` is neither single nor `only`; `instead` is what the caller may want.
std::string only(Dimensionality d, Dimensionality only_this, const std::string& reason);

/// D7: a score that multiplies queries and keys needs them equally wide, and as many groups as channels.
void check_same_width(const std::string& part, const Sizes& sizes);

}  // namespace heed
