// For tests of kernels on a GPU.

#pragma once

#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

namespace heed::kernels::cuda {

inline bool no_gpu() {
  int count = 0;
  return cudaGetDeviceCount(&count) != cudaSuccess || count == 0;
}
#define SKIP_WITHOUT_GPU() \
  if (no_gpu()) GTEST_SKIP() << "no GPU"

inline void expect_success(const char* what) {
  const cudaError_t error = cudaDeviceSynchronize();
  ASSERT_EQ(error, cudaSuccess) << what << ": " << cudaGetErrorString(error);
}

/// Device memory with guard bytes around it, filled with NaN.
template <typename T>
class Array {
 public:
  Array() = default;
  explicit Array(int64_t size) : size_(size) {
    EXPECT_EQ(cudaMalloc(&memory_, bytes()), cudaSuccess);
    cudaMemset(memory_, 0xFF, bytes());
  }
  explicit Array(const std::vector<T>& from) : Array(static_cast<int64_t>(from.size())) {
    cudaMemcpy(data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
  }
  Array(Array&& other) noexcept : size_(other.size_), memory_(other.memory_) { other.memory_ = nullptr; }
  Array& operator=(Array&& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~Array() { cudaFree(memory_); }
  T* data() const { return reinterpret_cast<T*>(static_cast<char*>(memory_) + kFence); }
  int64_t size() const { return size_; }
  std::vector<T> copied() const {
    std::vector<T> to(static_cast<size_t>(size_));
    cudaMemcpy(to.data(), data(), to.size() * sizeof(T), cudaMemcpyDeviceToHost);
    return to;
  }
  bool intact() const {
    std::vector<unsigned char> all(bytes());
    cudaMemcpy(all.data(), memory_, all.size(), cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < kFence; ++i)
      if (all[i] != 0xFF || all[all.size() - 1 - i] != 0xFF) return false;
    return true;
  }

 private:
  static constexpr size_t kFence = 256;
  size_t bytes() const { return 2 * kFence + static_cast<size_t>(size_) * sizeof(T); }
  int64_t size_ = 0;
  void* memory_ = nullptr;
};

}  // namespace heed::kernels::cuda
