// Parses --device.

#pragma once

#include <string>

#include <torch/cuda.h>
#include <torch/types.h>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/torch_support/float_precision.h"

namespace heed::cli {

/// "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:1"; throws on other names and on a missing GPU.
inline at::Device device_of(const std::string& word) {
  use_float_in_cudnn();
  const bool cuda = torch::cuda::is_available();
  if (word == "auto") return cuda ? at::kCUDA : at::kCPU;
  if (word == "cpu") return at::kCPU;
  check(word == "cuda" || word.rfind("cuda:", 0) == 0, "--device is '", excerpt(word),
        "', expected auto, cpu, cuda or cuda:1");
  check(cuda, "--device is '", excerpt(word), "', but torch finds no GPU here; expected cpu or auto");
  const bool numbered = word.size() == 6 && word[5] >= '0' && word[5] <= '9';
  check(word == "cuda" || numbered, "--device is '", excerpt(word), "', expected auto, cpu, cuda or cuda:1");
  const at::Device device(word);
  check(device.index() < static_cast<int>(torch::cuda::device_count()), "--device is '", excerpt(word),
        "', but there are ", torch::cuda::device_count(), " GPUs here");
  return device;
}

/// Lines of a batch: --lines, or by default what the device does at once.
inline int64_t lines_at_once(int64_t given, at::Device device) {
  constexpr int64_t kLines = 64, kLinesOnGpu = 1024;
  return given > 0 ? given : device.is_cuda() ? kLinesOnGpu : kLines;
}

}  // namespace heed::cli
