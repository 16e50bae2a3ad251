// What a part hands to a kernel (heed/kernels/fused), instead of computing on whole tensors itself. Everything is made
// with torch's operations, so that gradients which a kernel brings back go on to parameters and inputs.

#pragma once

#include <string>

#include "heed/attention/parameters.h"
#include "heed/kernels/fused/problem.h"

namespace heed {

/// Whether there is a kernel for a part.
struct Kernel {
  std::string name{};     // how why() calls it; "": there is none,
  std::string missing{};  // for this reason
};

/// The kernel of that name, where there is one score for each pair of query and key.
inline Kernel single_kernel(Dimensionality d, const std::string& name) {
  if (d == Dimensionality::single) return {.name = name};
  return {.missing = "none computes it for every channel"};
}

struct TiledScore {
  kernels::fused::ScoreKind kind = kernels::fused::ScoreKind::dot;
  kernels::fused::Activation activation = kernels::fused::Activation::identity;
  double scale = 1;        // multiplies the scores, besides the call's
  Tensor query{}, keys{};  // [B, H, Lq, D], [B, Hk or H, Lk, D]; keys undefined: not looked at
  Tensor to_scores{};      // w, [D] or [H, D]; for every channel [W, D] or [H, W, D]; undefined: elementwise
};

struct TiledAlignment {
  kernels::fused::AlignKind kind = kernels::fused::AlignKind::softmax;
  double theta = 0, alpha = 2;  // threshold; entmax
  int64_t k = 0;                // top_k
  bool renorm = false, keep_best = false;
  bool perturb = false;    // Gumbel noise is added to the scores
  double temperature = 1;  // divides them, after the noise
  bool constant = false;   // no gradient reaches the scores
  Tensor center{};         // int64, broadcasts to [B, H, Lq]: only keys within `reach` of it; undefined: all
  int64_t reach = 0;
  kernels::fused::Gauss gauss = kernels::fused::Gauss::none;
  double sigma = 1;
  Tensor position{};  // of the Gaussian, [B, H, Lq]
};

}  // namespace heed
