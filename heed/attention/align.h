// a = align(e): weights from scores.
//
// An alignment sees a block of queries and all keys, and never how the call was cut. It is stateless,
// as a score is, and knows nothing of values: every channel of a multi-dimensional score is a row of
// its own. The caller writes the zeros where nothing is kept; what an alignment must do is give no
// weight to such a key among the others, for which there is `absent`.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/attention/parameters.h"
#include "heed/attention/tiled.h"
#include "heed/base/catalogue.h"
#include "heed/bridge/draws.h"

namespace heed {

inline constexpr int64_t kKeyAxis = -2;

/// Sample or decide, and the numbers to do it with.
struct Draw {
  bool sample = false;  // false: decide (the best key, the likelier choice), draw nothing
  Draws draws;
  Tensor given{};  // uniforms that the caller brought for the alignment, or undefined

  /// u in (0, 1), one for each score.
  Tensor uniform(const Tensor& scores) const;
  /// Standard Gumbel noise, -log(-log u): scores plus it have their maximum at a draw from softmax.
  Tensor gumbel(const Tensor& scores) const { return -at::log(-at::log(uniform(scores))); }
  /// u in (0, 1), one for each key: for policies, which choose once per call. like [B, H, Lk, 1].
  Tensor policy(const Tensor& like) const;
};

/// What an alignment sees.
struct Scored {
  Tensor scores;       // [B, H, Lq, Lk, W], finite (0) where not kept
  Tensor keep;         // bool, broadcasts to scores
  Tensor query, keys;  // what its own prepare_* made of them, or undefined
  Tensor key_count;    // [B|1, 1, 1, 1, 1]: as given, else keys up to the last one that may be attended
  Tensor query_index;  // [Lq, 1, 1]: position of each query
  Tensor key_index;    // [Lk, 1]
  Draw draw;
};

/// Undefined = does not have it.
struct Aligned {
  Tensor weights{};          // as scores
  Tensor log_weights{};      // as scores; undefined: log(weights)
  Tensor lse{};              // [B, H, Lq, W]: log of the sum that normalizes
  Tensor entropy{};          // [B, H, Lq, W]; undefined: that of the weights
  Tensor log_probability{};  // [B, H, Lq, W]: of what was drawn
};

/// What can be asked of an alignment besides weights, known before it runs.
struct Offers {
  bool lse = false;
  bool entropy = true;           // weights (or what they are drawn from) are a distribution, or part of one
  bool log_probability = false;  // it draws, and learns by reward
  bool log_weights = true;       // weights have a logarithm
  bool draws = false;            // it draws keys with Draw::uniform, if it may
  bool policy = false;           // it draws with Draw::policy, if it may
  bool compares = true;          // a weight depends on the other scores of its row
};

/// What a policy over keys decided, once per call.
struct Policy {
  Tensor selected{};         // [B, H, Lk], 0 or 1
  Tensor log_probability{};  // [B, H]
  Tensor share{};            // [B, H]: how much of what could be selected was
};

class Alignment {
 public:
  static constexpr auto kKind = "alignment";
  virtual ~Alignment() = default;

  virtual std::vector<ParameterSpec> parameters(const Sizes&) const { return {}; }

  /// For an alignment that looks at queries or keys itself. reachable [B|1, H|1, Lk, 1]: keys that some
  /// query may attend; what stands at the others is 0 and means nothing.
  virtual Tensor prepare_query(const Parameters&, const Tensor& /*query*/) const { return {}; }
  virtual Tensor prepare_keys(const Parameters&, const Tensor& /*keys*/, const Tensor& /*reachable*/) const {
    return {};
  }

  virtual Aligned align(const Parameters&, const Scored&) const = 0;

  /// What a policy over keys chose; both undefined unless there is one.
  virtual Policy policy(const Parameters&, const Tensor& /*prepared_keys*/, const Tensor& /*reachable*/,
                        const Draw&) const {
    return {};
  }

  /// The kernel that computes it, and what that needs besides scores: those of `in`, and its mask, are undefined.
  /// Without one it is composed.
  virtual Kernel kernel(Dimensionality) const { return {.missing = "none computes it"}; }
  virtual TiledAlignment tiled(const Parameters&, const Scored& in) const;

  virtual Offers offers() const { return {}; }
  /// Whether prepare_keys makes anything of them.
  virtual bool looks_at_keys() const { return false; }
  /// Whether the positions of queries and keys matter, not only the scores.
  virtual bool positional() const { return false; }
  /// Whether keys can be prepared one by one, so that a memory can grow.
  virtual bool appendable() const { return true; }
};

/// x with -inf where not kept, and 0 in a row that keeps nothing, so that no NaN is born there.
Tensor absent(const Tensor& x, const Tensor& keep);

/// Softmax over the kept keys: weights, log-weights and lse of x.
Aligned normalized(const Tensor& x, const Tensor& keep);

/// weights, or NaN throughout a row of which `row` (computed from all its scores) is NaN: comparisons would lose it.
Tensor passing_on(const Tensor& weights, const Tensor& row);

/// 1 at the best kept key (the first of equals), 0 elsewhere; without a gradient.
Tensor best_key(const Tensor& x, const Tensor& keep);

}  // namespace heed
