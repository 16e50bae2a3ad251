// Errors for tools/cuda_sanitize, which must find them: a race in shared memory, a write outside of an array, a read of
// memory that nothing wrote, and a barrier of lanes that others wait at. Disabled, since they are errors.

#include <cuda_runtime.h>
#include <gtest/gtest.h>

namespace heed::kernels::cuda {
namespace {

__global__ void race(float* out) {
  __shared__ float x[64];
  x[threadIdx.x] = static_cast<float>(threadIdx.x);
  out[threadIdx.x] = x[63 - threadIdx.x];  // without a barrier
}
__global__ void write_outside(float* out, int at) {
  out[at] = 1;
}
__global__ void add_one(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x] + 1;
}
__global__ void wait_apart(float* out) {
  out[threadIdx.x] = 1;
  __syncwarp(0x0000FFFFU);  // the other lanes wait as well
}

struct Floats {
  Floats() { cudaMalloc(&data, 64 * sizeof(float)); }
  ~Floats() { cudaFree(data); }
  float* data = nullptr;
};

TEST(DISABLED_Planted, Race) {
  const Floats out;
  race<<<1, 64>>>(out.data);
  cudaDeviceSynchronize();
}
TEST(DISABLED_Planted, WriteOutside) {
  const Floats out;
  write_outside<<<1, 1>>>(out.data, 64);
  cudaDeviceSynchronize();
}
TEST(DISABLED_Planted, UninitializedRead) {
  const Floats in, out;
  add_one<<<1, 64>>>(in.data, out.data);
  cudaDeviceSynchronize();
}
TEST(DISABLED_Planted, BarrierApart) {
  const Floats out;
  wait_apart<<<1, 32>>>(out.data);
  cudaDeviceSynchronize();
}

}  // namespace
}  // namespace heed::kernels::cuda
