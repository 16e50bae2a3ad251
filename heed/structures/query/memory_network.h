// Additions to the structure memory_network: linear start, and position weights for the words of a sentence.

#pragma once

#include "heed/structures/structure.h"

namespace heed {

/// Linear start (Sukhbaatar et al., 2015): while it is on, the weights are the scores themselves. Train with it until
/// the loss stops improving, then switch it off. Both modes have the same parameters. Clones and saved parameters keep
/// the mode. Throws Error for any other structure.
void set_linear(Structure& memory_network, bool on);
bool is_linear(const Structure& memory_network);

/// Weights [words, width] for the words of a sentence, one for each channel, so that their sum depends on word order;
/// words is the length of the sentence, j = 1 .. words, k = 1 .. width:
///
///   paper   (1 - j / words) - (k / width) (1 - 2 j / words)
///   code    1 + 4 (k - (width + 1) / 2) (j - (words + 1) / 2) / (width words)      (the authors' MATLAB code)
enum class PositionWeights { paper, code };
Tensor position_weights(int64_t width, int64_t words, PositionWeights form = PositionWeights::paper);  // [words, width]

}  // namespace heed
