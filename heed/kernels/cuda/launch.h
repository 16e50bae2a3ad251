// Internal: how the parts of this folder call each other on the host.

#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "heed/kernels/cuda/attend.h"

namespace heed::kernels::cuda {

/// Hands out parts of a workspace; without memory it only counts.
class Workspace {
 public:
  explicit Workspace(void* memory) : memory_(static_cast<char*>(memory)) {}
  template <typename T>
  T* take(int64_t count) {
    char* part = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += (static_cast<size_t>(count) * sizeof(T) + 255) / 256 * 256;
    return reinterpret_cast<T*>(part);
  }
  size_t bytes() const { return used_; }

 private:
  char* memory_;
  size_t used_ = 0;
};

constexpr int64_t divided_up(int64_t x, int64_t by) {
  return (x + by - 1) / by;
}

/// Whether rows can be read 16 bytes at a time.
inline bool copied_wide(const Rows<const float>& rows, int64_t width) {
  return reinterpret_cast<uintptr_t>(rows.data) % 16 == 0 && rows.batch % 4 == 0 && rows.head % 4 == 0 &&
         rows.row % 4 == 0 && width % 4 == 0;
}

/// Bytes of shared memory that a block of the current device may have: 227 KiB on an H100, 99 KiB on smaller ones.
int64_t max_shared_bytes();

/// Partial sums to add: out[h][n] = sum over b of parts[b][h][n].
void add_over_batch(const float* parts, int64_t batch, int64_t count, float* out, Stream stream);

// One block for all pairs of a batch element and a key head: few queries or short sequences.
namespace in_block {
bool fits(const Problem<float>& p);
size_t backward_bytes(const Problem<float>& p, const Gradients<float>& g);
void forward(const Problem<float>& p, Stream stream);
void backward(const Problem<float>& p, const Gradients<float>& g, void* workspace, Stream stream);
}  // namespace in_block

// One warp for a head, forward alone: one query with the dot product.
namespace one_query {
bool fits(const Problem<float>& p);
void forward(const Problem<float>& p, Stream stream);
}  // namespace one_query

// One block for a head, one warp for a key: one query with the additive score.
namespace one_additive {
bool fits(const Problem<float>& p);
bool fits(const Problem<float>& p, const Gradients<float>& g);
size_t backward_bytes(const Problem<float>& p, const Gradients<float>& g);
void forward(const Problem<float>& p, Stream stream);
void backward(const Problem<float>& p, const Gradients<float>& g, void* workspace, Stream stream);
}  // namespace one_additive

// One block for a head with all its inputs in shared memory: short sequences with the dot product.
namespace short_dot {
bool fits(const Problem<float>& p);
void forward(const Problem<float>& p, Stream stream);
void backward(const Problem<float>& p, const Gradients<float>& g, Stream stream);
}  // namespace short_dot

// Tiles of 64 queries x 64 keys.
namespace tiled {
int64_t shared_bytes(const Problem<float>& p);  // of the largest block
size_t forward_bytes(const Problem<float>& p);
size_t backward_bytes(const Problem<float>& p, const Gradients<float>& g);
void forward(const Problem<float>& p, void* workspace, Stream stream);
void backward(const Problem<float>& p, const Gradients<float>& g, void* workspace, Stream stream);
}  // namespace tiled

}  // namespace heed::kernels::cuda
