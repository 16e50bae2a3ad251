// Fused attention on CUDA devices, float32: the same Problem as on the CPU, with pointers to device memory.
//
//   if (why_not(p)[0] == '\0') {
//     allocate(forward_bytes(p)) -> workspace;  forward(p, workspace, stream);
//   }
//
// Nothing here waits for the device, allocates, or copies from it, so that calls can be captured in CUDA graphs.
// Results are the same bits in every run: sums are split by shapes alone and added in a fixed order.

#pragma once

#include <cstddef>

#include "heed/kernels/problem.h"

struct CUstream_st;

namespace heed::kernels::cuda {

using Stream = CUstream_st*;  // cudaStream_t

/// Empty if forward() and backward() compute the problem, otherwise the reason. Reads sizes, kinds and which pointers
/// are null, never their memory.
const char* why_not(const Problem<float>& p);
/// The same for report().
const char* why_not(const Problem<float>& p, const RequestedOutputs<float>& wanted);
/// The same for backward(): gradients of context and lse with respect to query, keys, values and to_scores.
const char* why_not(const Problem<float>& p, const Gradients<float>& g);

/// Name of the kernel that computes the problem, for plans: "sm_90 step: additive x softmax".
const char* kernel_name(const Problem<float>& p);

/// Bytes of workspace of each function below; 256-byte aligned, its contents do not matter. May be 0.
size_t forward_bytes(const Problem<float>& p);
size_t backward_bytes(const Problem<float>& p, const Gradients<float>& g);
size_t report_bytes(const Problem<float>& p, const RequestedOutputs<float>& wanted);

/// Writes context and rows.
void forward(const Problem<float>& p, void* workspace, Stream stream);
/// Reads context and rows of forward(), and writes the gradients that are not null.
void backward(const Problem<float>& p, const Gradients<float>& g, void* workspace, Stream stream);
/// Writes the requested outputs from rows of forward(). some_queries and some_heads point to device memory here.
void report(const Problem<float>& p, const RequestedOutputs<float>& wanted, void* workspace, Stream stream);

}  // namespace heed::kernels::cuda
