// What a memory network needs besides its structure, memory_network: its linear start, and weights for the positions of
// words.

#pragma once

#include "heed/structures/structure.h"

namespace heed {

/// Linear start (Sukhbaatar et al., 2015): while it is on, weights are the scores themselves; train so until it no
/// longer helps, then switch it off. The parameters are the same in both. Copies and files remember it.
void set_linear(Structure& memory_network, bool on);
bool is_linear(const Structure& memory_network);

/// What the words of a sentence are weighed with before they are summed, channel by channel, so that their order is
/// seen; j = 1 .. words, k = 1 .. width:
///
///   paper   (1 - j / words) - (k / width) (1 - 2 j / words)
///   code    1 + 4 (k - (width + 1) / 2) (j - (words + 1) / 2) / (width words)      (the authors' MATLAB code)
enum class PositionWeights { paper, code };
Tensor position_weights(int64_t width, int64_t spec, PositionWeights form = PositionWeights::paper);  // [words, width]

}  // namespace heed
