// The weights at the last validations of a run, and their mean: averaging of the last checkpoints, as fairseq's
// average_checkpoints does with those of the last epochs.
//
//   <run folder>/last.<step>.safetensors    the weights at the validation after that step; the oldest are removed
//
// Each validation writes one file, so that a checkpoint need not repeat the others, and a resumed run finds them.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace heed {

class LastWeights {
 public:
  /// count: how many are kept; 0: none.
  LastWeights(std::string folder, int64_t count) : folder_(std::move(folder)), count_(count) {}

  /// Whether a run writes a file of this name.
  static bool is_file(const std::string& name);
  /// Writes the weights at a validation and removes what is too old. Does nothing if count is 0.
  void add(int64_t step, const at::Tensor& values) const;
  /// Removes those after a step: a run that is resumed there writes them again.
  void forget_after(int64_t step) const;
  /// The mean of the last `count`, or of all if there are fewer; undefined if there is none. like: a tensor of the same
  /// shape, type and device. A damaged file is an Error.
  at::Tensor mean(const at::Tensor& like) const;
  /// Steps of the weights that are kept, in their order.
  std::vector<int64_t> steps() const;

 private:
  std::string path(int64_t step) const;

  std::string folder_;
  int64_t count_;
};

}  // namespace heed
