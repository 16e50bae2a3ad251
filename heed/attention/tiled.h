// Arguments that a part passes to a kernel (heed/kernels/cpu). They are computed with torch operations, so that the
// gradients a kernel returns propagate to parameters and inputs.

#pragma once

#include <string>

#include "heed/attention/parameters.h"
#include "heed/kernels/cpu/problem.h"

namespace heed {

/// The kernel of a part, or the reason why there is none.
struct Kernel {
  std::string name{};     // shown by why(); empty if there is no kernel
  std::string missing{};  // the reason, if there is none
};

/// The kernel of that name, for mechanisms with one score for each pair of query and key.
inline Kernel single_kernel(Dimensionality d, const std::string& name) {
  if (d == Dimensionality::single) return {.name = name};
  return {.missing = "it has no multi-dimensional kernel"};
}

struct TiledScore {
  kernels::cpu::ScoreKind kind = kernels::cpu::ScoreKind::dot;
  kernels::cpu::Activation activation = kernels::cpu::Activation::identity;
  double scale = 1;        // multiplies the scores, in addition to Call::scale
  Tensor query{}, keys{};  // [B, H, Lq, D], [B, Hk or H, Lk, D]; keys undefined: the score does not depend on them
  Tensor to_scores{};      // w, [D] or [H, D]; multi-dimensional [W, D] or [H, W, D]; undefined: elementwise
};

struct TiledAlignment {
  kernels::cpu::AlignKind kind = kernels::cpu::AlignKind::softmax;
  double theta = 0, alpha = 2;             // of threshold; of entmax
  int64_t k = 0;                           // of top_k
  bool renorm = false, keep_best = false;  // of threshold and top_k
  bool perturb = false;                    // adds Gumbel noise to the scores
  double temperature = 1;                  // divides the scores, after the noise
  bool constant = false;                   // the scores get no gradient
  Tensor center{};  // int64, broadcasts to [B, H, Lq]: masks keys further than `reach` from it; undefined: none
  int64_t reach = 0;
  kernels::cpu::Gauss gauss = kernels::cpu::Gauss::none;
  double sigma = 1;
  Tensor position{};  // mean of the Gaussian, [B, H, Lq]
};

}  // namespace heed
