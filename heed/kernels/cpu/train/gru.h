// The elementwise part of a GRU's step, each array read and written once:
//
//   r, z = sigmoid(x + o)        n = tanh(x_n + r o_n)        h' = (1 - z) n + z h
//
// x: product with the input, o: product with the state, both with their bias, in the order r z n. Backward, from that
// of h':   da_n = dh' (1 - z)(1 - n^2)    da_r = da_n o_n r (1 - r)    da_z = dh' (h - n) z (1 - z)

#pragma once

#include <cstdint>

#include "heed/base/parallel.h"

namespace heed::kernels::cpu {

template <typename Real>
struct GruForward {
  int64_t rows = 0, width = 0;                  // B, S
  const Real *given = nullptr, *own = nullptr;  // x, o: [B, 3 S]
  const Real* before = nullptr;                 // h [B, S]
  Real* gates = nullptr;                        // r z n [B, 3 S]
  Real* after = nullptr;                        // h' [B, S]
};

template <typename Real>
struct GruBackward {
  int64_t rows = 0, width = 0;
  const Real *gates = nullptr, *own = nullptr;    // [B, 3 S]
  const Real *before = nullptr, *grad = nullptr;  // h and the gradient of h' [B, S]
  Real *to_given = nullptr, *to_own = nullptr;    // [B, 3 S]
  Real* to_before = nullptr;                      // [B, S]: without the part that passes through o
};

/// Instantiated for float and double.
template <typename Real>
void gru_forward(const GruForward<Real>& step, const ParallelFor& parallel_for);
template <typename Real>
void gru_backward(const GruBackward<Real>& step, const ParallelFor& parallel_for);

}  // namespace heed::kernels::cpu
