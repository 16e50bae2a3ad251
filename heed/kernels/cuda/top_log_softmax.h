// The largest entries of log softmax(x) of each row, in one pass over x.

#pragma once

#include <cstdint>

struct CUstream_st;

namespace heed::kernels::cuda {

inline constexpr int kMaxTop = 16;
inline constexpr int kMaxExcluded = 4;

struct TopLogSoftmax {
  int64_t rows = 0, columns = 0;
  const float* logits = nullptr;                      // [rows][columns]
  int count = 1;                                      // of entries, at most kMaxTop
  int64_t excluded[kMaxExcluded] = {-1, -1, -1, -1};  // columns that are not returned; they are part of the softmax
  float* best = nullptr;                              // [rows][count], largest first; NaN if a logit is
  int64_t* which = nullptr;                           // [rows][count]; of equal entries the first column comes first
};

void top_log_softmax(const TopLogSoftmax& p, CUstream_st* stream);

}  // namespace heed::kernels::cuda
