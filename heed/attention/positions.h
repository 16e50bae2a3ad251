// Position encodings: added to features, applied as rotations, or subtracted from the scores.
//
//   sinusoidal, interleaved   PE(p, 2i) = sin(p r_i), PE(p, 2i + 1) = cos(p r_i),   r_i = base^(-2i / D)
//                             (Vaswani 2017)
//   sinusoidal, halves        PE(p, i) = sin(p r_i), PE(p, D/2 + i) = cos(p r_i),   r_i = base^(-i / (D/2 - 1))
//                             with p from 1 (tensor2tensor, OpenNMT-tf)
//   rotary                    rotates pairs of features by the angle p base^(-2i / D): a dot product then depends on
//                             the distance alone (Su 2021). Pairs are (2i, 2i + 1), interleaved, or (i, i + D/2),
//                             halves
//   alibi                     subtracts slope_h |i - j| from the scores (Press 2022): Bias::alibi takes the slopes
//   learned                   a table with one vector for each position

#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

namespace heed {

using at::Tensor;

/// Which features form a pair: (2i, 2i + 1), or (i, i + D/2).
enum class Layout { interleaved, halves };

inline constexpr double kPositionBase = 10000;

/// [count, width] for the positions first, first + 1, ... With halves, width is even and the first position is usually
/// 1. options: float by default.
Tensor sinusoidal_positions(int64_t count, int64_t width, Layout layout = Layout::interleaved, int64_t first = 0,
                            const at::TensorOptions& options = {}, double base = kPositionBase);

/// Rotary embedding of x [..., L, D], with x[..., l, :] at position first + l. D is even.
Tensor rotated(const Tensor& x, int64_t first, Layout layout = Layout::interleaved, double base = kPositionBase);

/// ALiBi slopes [heads]: 2^(-8h / heads), h = 1 ... heads, if heads is a power of two. Otherwise those for the next
/// lower power, followed by every second one for twice that power.
Tensor alibi_slopes(int64_t heads, const at::TensorOptions& options = {});

/// Learned position embeddings. A position outside the table throws Error.
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
