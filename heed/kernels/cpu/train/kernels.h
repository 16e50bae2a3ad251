// What a training step computes besides attention, one table per instruction set: passes over flat parameters, rows of
// logits and cells of a recurrent network, and products with a packed matrix.
//
// The functions work on a part of the data; flat_step.h, cross_entropy.h, gru.h and packed_product.h divide it among
// threads.

#pragma once

#include <cstdint>

#include "heed/kernels/cpu/train/cross_entropy.h"
#include "heed/kernels/cpu/train/dropout.h"
#include "heed/kernels/cpu/train/flat_step.h"
#include "heed/kernels/cpu/train/gru.h"
#include "heed/kernels/cpu/train/packed_product.h"

namespace heed::kernels::cpu {

/// The numbers of one update, the same for all parameters.
template <typename Real>
struct UpdateNumbers {
  Real scale;                                // of the gradients, clipping included
  Real keep;                                 // factor of the values: 1 - rate decay
  Real rate;                                 // adam: rate / (1 - b1^t)
  Real root;                                 // adam: 1 / sqrt(1 - b2^t)
  Real beta1, rest1, beta2, rest2, epsilon;  // rest: 1 - beta
  Real average_weight;
};

/// Parameters of one update: pointers to the first of `count`. Null: there is none; gradients are then 0.
template <typename Real>
struct UpdatePart {
  int64_t count;
  Real* values;
  const Real* grads;
  Real *first, *second, *average;
};

template <typename Real>
struct TrainKernels {
  double (*sum_of_squares)(const Real* x, int64_t count);
  void (*update)(FlatRule rule, const UpdateNumbers<Real>& numbers, const UpdatePart<Real>& part);
  /// The loss of one row of logits; `gradient`: the row is replaced by the gradient of its loss.
  double (*cross_entropy)(Real* row, int64_t classes, int64_t wanted, double smoothing, bool gradient);
  void (*gru_forward)(const GruForward<Real>& step, int64_t first_row, int64_t last_row);
  void (*gru_backward)(const GruBackward<Real>& step, int64_t first_row, int64_t last_row);
  /// Rows and positions [first, last) of x, numbered together.
  void (*dropout)(const Dropout& problem, int64_t first, int64_t last);
  int64_t strip;  // columns of a packed strip
  void (*pack)(const PackedSource<Real>& from, int64_t first_strip, int64_t last_strip, Real* to);
  void (*product)(const PackedRows<Real>& rows, const Real* packed, int64_t first_strip, int64_t last_strip);
};

const TrainKernels<float>& train_kernels_portable();
const TrainKernels<double>& train_kernels_double();
const TrainKernels<float>& train_kernels_avx2();    // x86-64 only
const TrainKernels<float>& train_kernels_avx512();  // x86-64 only

/// Those of instruction_set().
template <typename Real>
const TrainKernels<Real>& train_kernels();

}  // namespace heed::kernels::cpu
