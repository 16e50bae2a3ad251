// Where a feature stands, as numbers to add, to turn by, or to take from the scores.
//
//   sinusoidal, interleaved   PE(p, 2i) = sin(p r_i), PE(p, 2i + 1) = cos(p r_i),   r_i = base^(-2i / D)
//                             (Vaswani 2017)
//   sinusoidal, halves        PE(p, i) = sin(p r_i), PE(p, D/2 + i) = cos(p r_i),   r_i = base^(-i / (D/2 - 1))
//                             with p from 1 (tensor2tensor, OpenNMT-tf)
//   rotary                    pairs of features turned by p base^(-2i / D): a dot product then depends on the distance
//                             alone (Su 2021). Pairs are (2i, 2i + 1), interleaved, or (i, i + D/2), halves
//   alibi                     the score loses slope_h |i - j| (Press 2022): Bias::alibi takes the slopes
//   learned                   a table with a row for each position

#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

namespace heed {

using at::Tensor;

/// How features stand together in pairs.
enum class Layout { interleaved, halves };

inline constexpr double kPositionBase = 10000;

/// [count, width] for the positions first, first + 1, ... In halves the first position is usually 1.
Tensor sinusoidal_positions(int64_t count, int64_t width, Layout layout = Layout::interleaved, int64_t first = 0,
                            const at::TensorOptions& options = {}, double base = kPositionBase);

/// x [..., L, D] turned, row l as one that stands at first + l. D is even.
Tensor rotated(const Tensor& x, int64_t first, Layout layout = Layout::interleaved, double base = kPositionBase);

/// [heads]: 2^(-8h / heads), h = 1 ... heads, for a power of two; else the gradients of the power below, and every
/// second one of twice that power.
Tensor alibi_slopes(int64_t heads, const at::TensorOptions& options = {});

/// A table of positions that is learned. A position beyond the table is refused.
class LearnedPositionsImpl : public torch::nn::Cloneable<LearnedPositionsImpl> {
 public:
  LearnedPositionsImpl(int64_t positions, int64_t width);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  /// [count, width] for the positions first, first + 1, ...
  Tensor forward(int64_t count, int64_t first = 0) const;

 private:
  int64_t positions_, width_;
  Tensor table_;
};
TORCH_MODULE(LearnedPositions);

}  // namespace heed
