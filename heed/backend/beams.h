// What a beam search does between two steps of a decoder (models/translate/beam_tensors.h), with kernels on a GPU.

#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

namespace heed {

/// Chooses the beams of sentences that have equally many: kernels/cuda/beams.h.
struct BeamChoice {
  at::Tensor before;       // double [sentences, beams]: log-probabilities of the beams
  at::Tensor best, which;  // float, int64 [sentences * beams, each]: their continuations
  int64_t end = -1;        // the end marker, which does not go on; -1: none
  // Results, of shapes that say how many there are. `after` may be `before`.
  at::Tensor log_probability, beam, token;  // double, int64, int64 [sentences, n]: the best candidates
  at::Tensor after, last_token, row;  // double, int64, int64 [sentences, m]: those that go on; row may be undefined
};
/// Whether there is a kernel for so many candidates of one sentence on the device of x.
bool has_choose_kernel(const at::Tensor& x, int64_t candidates);
void choose_beams(const BeamChoice& choice);

/// Row n of each cache [B, H, L, D] becomes what row rows[n] was, in place, for the first `length` (int64 [1] or more,
/// all equal) of L; what comes after them is not specified. beams: rows of a sentence, which follow each other, and
/// come from each other; 0: unknown.
void move_rows(const std::vector<at::Tensor>& caches, const at::Tensor& rows, int64_t beams, const at::Tensor& length);

}  // namespace heed
