// What a kernel computes of a score and of an alignment. The description is known before a call; the tensors are
// computed in each call with torch operations, so that the gradients that a kernel returns propagate to inputs and
// parameters.

#pragma once

#include <cstdint>
#include <string>

#include <ATen/core/Tensor.h>

#include "heed/kernels/kinds.h"
#include "heed/parameters.h"

namespace heed {

using kernels::AlignKind;
using kernels::Gauss;
using kernels::ScoreKind;
using KernelActivation = kernels::Activation;

struct TiledScore {
  std::string missing{};  // why there is no kernel; empty: there is one
  ScoreKind kind = ScoreKind::dot;
  KernelActivation activation = KernelActivation::identity;
};

/// Input of a score's kernel.
struct ScoreTensors {
  Tensor query{}, keys{};  // [B, H, Lq, D], [B, Hk or H, Lk, D]; keys undefined: the score does not depend on them
  Tensor to_scores{};      // w, [1, D] or [H, D]; multi-dimensional [W, D] or [H, W, D]; undefined: elementwise
  double scale = 1;        // multiplies the scores, in addition to Call::scale
};

struct TiledAlignment {
  std::string missing{};  // why there is no kernel; empty: there is one
  AlignKind kind = AlignKind::softmax;
  double theta = 0, alpha = 2;             // of threshold; of entmax
  int64_t k = 0;                           // of top_k
  bool renorm = false, keep_best = false;  // of threshold and top_k
  bool perturb = false;                    // adds Gumbel noise to the scores
  double temperature = 1;                  // divides the scores, after the noise
  bool constant = false;                   // the scores get no gradient
  int64_t reach = -1;                      // masks keys further than this from AlignmentTensors::center; -1: no center
  Gauss gauss = Gauss::none;
  double sigma = 1;
};

/// Input of an alignment's kernel.
struct AlignmentTensors {
  Tensor center{};    // int64, broadcasts to [B, H, Lq]; undefined: no key is masked
  Tensor position{};  // mean of the Gaussian, [B, H, Lq]
  Tensor alpha{};     // of entmax, [H] or [1]; undefined: TiledAlignment::alpha
};

/// Outputs and properties of an alignment, known before it runs.
struct Offers {
  bool lse = false;              // has the log of a normalizing sum
  bool entropy = true;           // weights (or the distribution they are sampled from) sum to 1 or less
  bool log_probability = false;  // samples, and is trained by REINFORCE
  bool log_weights = true;       // weights have a logarithm
  bool draws = false;            // samples keys if Noise::sample
  bool policy = false;           // samples once per call, with a policy over keys, if Noise::sample
  bool compares = true;          // a weight depends on the scores of the other keys
  bool scores = true;            // weights depend on the scores; if not, only on the mask and on biases of -inf
};

inline constexpr int64_t kKeyAxis = -2;  // of scores and weights [B, H, Lq, Lk, W]

/// The description for mechanisms with one score for each pair of query and key; the others have no kernel.
template <class Tiled>
Tiled single_only(Dimensionality d, Tiled tiled) {
  if (d != Dimensionality::single) tiled.missing = "it has no multi-dimensional kernel";
  return tiled;
}

}  // namespace heed
