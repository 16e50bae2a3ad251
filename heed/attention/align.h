// a = align(e): weights from scores.
//
// An alignment sees a block of queries and all keys, and does not know how the call was split into blocks. It is
// stateless, like a score, and does not see the values: each channel of a multi-dimensional score is normalized
// separately. The caller sets weights of masked keys to 0; the alignment must only exclude masked keys from the
// normalization, for example with absent().

#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "heed/backend/tiled.h"
#include "heed/base/catalogue.h"
#include "heed/torch_support/draws.h"

namespace heed {

/// Whether an alignment samples, and its random numbers.
struct Draw {
  bool sample = false;  // false: deterministic (the best key, the more likely choice)
  Draws draws;
  Tensor given{};  // uniforms passed by the caller in place of `draws`, or undefined

  /// u in (0, 1), one for each score.
  Tensor uniform(const Tensor& scores) const;
  /// Standard Gumbel noise, -log(-log u): the argmax of scores + noise is a sample from softmax(scores).
  Tensor gumbel(const Tensor& scores) const { return -at::log(-at::log(uniform(scores))); }
  /// u in (0, 1), one for each key, for policies, which sample once per call. like: [B, H, Lk, 1].
  Tensor policy(const Tensor& like) const;
};

/// Input of an alignment.
struct Scored {
  Tensor scores;       // [B, H, Lq, Lk, W]; 0 where masked
  Tensor keep;         // bool, broadcasts to scores; true = may be attended
  Tensor query, keys;  // results of the alignment's own prepare_query and prepare_keys, or undefined
  Tensor key_count;    // [B|1, 1, 1, 1, 1]: as given, else keys up to the last that may be attended; positional() only
  Tensor query_index;  // [Lq, 1, 1]: position of each query
  Tensor key_index;    // [Lk, 1]: position of each key
  Draw draw;
};

/// Output of an alignment. Only weights is required.
struct Aligned {
  Tensor weights{};          // shape of the scores
  Tensor log_weights{};      // shape of the scores; undefined: the caller uses log(weights)
  Tensor lse{};              // [B, H, Lq, W]: log of the normalizing sum; undefined: not available
  Tensor entropy{};          // [B, H, Lq, W]; undefined: the caller computes it from the weights
  Tensor log_probability{};  // [B, H, Lq, W]: of the sampled key; undefined: nothing is sampled
};

/// Keys that a policy selected, once per call.
struct Policy {
  Tensor selected{};         // [B, H, Lk], 0 or 1
  Tensor log_probability{};  // [B, H]: of the selection
  Tensor share{};            // [B, H]: selected keys over keys that could be selected
};

class Alignment {
 public:
  static constexpr auto kKind = "alignment";
  virtual ~Alignment() = default;

  /// Names, shapes and initial values of the parameters for these sizes.
  virtual std::vector<ParameterSpec> parameters(const Sizes&) const { return {}; }

  /// For an alignment that reads queries or keys itself; the result arrives in Scored. reachable [B|1, H|1, Lk, 1]:
  /// keys that some query may attend; the other keys are 0 and must not influence the result.
  virtual Tensor prepare_query(const Parameters&, const Tensor& /*query*/) const { return {}; }
  virtual Tensor prepare_keys(const Parameters&, const Tensor& /*keys*/, const Tensor& /*reachable*/) const {
    return {};
  }

  /// Weights from scores.
  virtual Aligned align(const Parameters&, const Scored&) const = 0;

  /// The keys that a policy selects; all undefined if there is no policy.
  virtual Policy policy(const Parameters&, const Tensor& /*prepared_keys*/, const Tensor& /*reachable*/,
                        const Draw&) const {
    return {};
  }

  /// What a kernel computes of this alignment, and its input. In tile(), in.scores and in.keep are undefined. An
  /// alignment without a kernel runs on the composed path.
  virtual TiledAlignment kernel(Dimensionality, bool /*sample*/) const { return {.missing = "it has no kernel"}; }
  virtual AlignmentTensors tile(const Parameters&, const Scored&) const { return {}; }

  virtual Offers offers() const { return {}; }
  /// Whether prepare_keys returns a tensor.
  virtual bool looks_at_keys() const { return false; }
  /// Whether weights depend on the positions of queries and keys, not only on the scores.
  virtual bool positional() const { return false; }
  /// Whether keys can be prepared independently, so that Attention::append() is possible.
  virtual bool appendable() const { return true; }
};

/// x with -inf where masked, and 0 for a query whose keys are all masked, which would otherwise give NaN.
Tensor absent(const Tensor& x, const Tensor& keep);

/// Softmax of x over the kept keys: weights, log_weights and lse.
Aligned normalized(const Tensor& x, const Tensor& keep);

/// weights, set to NaN for every query whose `row` (a reduction over its scores) is NaN. For weights that are computed
/// by comparisons, which do not propagate NaN.
Tensor passing_on(const Tensor& weights, const Tensor& row);

/// One-hot of the best kept key (the first on ties), without a gradient.
Tensor best_key(const Tensor& x, const Tensor& keep);

}  // namespace heed
