#include "heed/kernels/cpu/train/packed_product.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/kernels/cpu/attend.h"
#include "heed/kernels/cpu/train/kernels.h"

namespace heed::kernels::cpu {
namespace {

constexpr int64_t kTasks = 16;

/// Calls body(first, last) for ranges of strips.
template <typename Body>
void for_strips(int64_t strips, const ParallelFor& parallel_for, const Body& body) {
  const int64_t some = std::max<int64_t>(1, (strips + kTasks - 1) / kTasks);
  parallel_for((strips + some - 1) / some,
               [&](int64_t task) { body(task * some, std::min(strips, (task + 1) * some)); });
}

}  // namespace

template <>
const TrainKernels<double>& train_kernels<double>() {
  return train_kernels_double();
}

template <>
const TrainKernels<float>& train_kernels<float>() {
#if defined(__x86_64__)
  const std::string name = instruction_set();
  if (name == "avx512") return train_kernels_avx512();
  if (name == "avx2") return train_kernels_avx2();
#endif
  return train_kernels_portable();
}

PackedMatrix::PackedMatrix(const PackedSource<float>& from, const ParallelFor& parallel_for)
    : depth_(from.depth), width_(from.width) {
  const auto& kernels = train_kernels<float>();
  kernels_ = &kernels;
  strip_ = kernels.strip;
  data_.resize(static_cast<size_t>(strips(strip_) * strip_ * depth_));
  for_strips(strips(strip_), parallel_for,
             [&](int64_t first, int64_t last) { kernels.pack(from, first, last, data_.data()); });
}

void PackedMatrix::multiply(const PackedRows<float>& rows, const ParallelFor& parallel_for) const {
  check(rows.depth == depth_ && rows.width == width_, "packed_product: the matrix is ", depth_, " x ", width_,
        ", got rows for ", rows.depth, " x ", rows.width);
  const auto& kernels = *static_cast<const TrainKernels<float>*>(kernels_);
  for_strips(strips(strip_), parallel_for,
             [&](int64_t first, int64_t last) { kernels.product(rows, data_.data(), first, last); });
}

}  // namespace heed::kernels::cpu
