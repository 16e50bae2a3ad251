// What a beam search does between two steps of a decoder: it chooses the beams of every sentence, and moves the rows of
// its caches. One launch each.

#pragma once

#include <cstdint>

struct CUstream_st;

namespace heed::kernels::cuda {

inline constexpr int kMaxCandidates = 128;  // of one sentence
inline constexpr int kMaxBeams = 8;         // that are moved
inline constexpr int kMaxCaches = 32;       // that are moved at once

/// Each of the `beams` of a sentence has `each` continuations. Their log-probabilities are sorted, the largest first,
/// and of equal ones the first; NaN counts as largest. `count` of them are the candidates. The first `next` of these
/// that are no end marker go on, then those that are, with log-probability -inf.
struct ChooseBeams {
  int64_t sentences = 0;
  int beams = 1, each = 1, count = 1, next = 1;
  int64_t end = -1;                               // the end marker; -1: none
  const double* before = nullptr;                 // [sentences][beams]: log-probabilities of the beams
  const float* best = nullptr;                    // [sentences][beams][each]: of their continuations
  const int64_t* which = nullptr;                 // [sentences][beams][each]: tokens
  double* log_probability = nullptr;              // [sentences][count], of the candidates
  int64_t *beam = nullptr, *token = nullptr;      // [sentences][count]
  double* after = nullptr;                        // [sentences][next], of those that go on; may be `before`
  int64_t *last_token = nullptr, *row = nullptr;  // [sentences][next]; row: of [sentences][beams], or null
};
void choose_beams(const ChooseBeams& p, CUstream_st* stream);

/// Caches [rows][heads][capacity][width] of float: row n becomes what row rows[n] was, in place, as far as the first
/// *length of the capacity. A row comes from its own group of `beams` rows.
struct MoveRows {
  float* cache[kMaxCaches] = {};
  int caches = 0, beams = 1;
  int64_t groups = 0, heads = 0, capacity = 0, width = 0;  // width: a multiple of 4; rows begin at 16 bytes
  const int64_t *rows = nullptr, *length = nullptr;
};
void move_rows(const MoveRows& p, CUstream_st* stream);

}  // namespace heed::kernels::cuda
