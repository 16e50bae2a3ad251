// Sentence pairs as tensors, many at once. heed/data/batches.h says which pairs go together.

#pragma once

#include <ATen/core/Tensor.h>

#include "heed/data/batches.h"

namespace heed {

/// B rows, S and T the widths of the whole batch. A share of a small batch may have no rows: [0, S].
struct PairBatch {
  at::Tensor source, source_keep;    // [B, S]: x </s>, int64; keep is true where there is a piece
  at::Tensor target_in, target_out;  // [B, T]: <s> y, and y </s>; undefined without targets
  at::Tensor target_keep;            // [B, T]
  at::Tensor real;                // int64 [n]: real targets, as positions in [B T]; undefined in a batch of one shape
  at::Tensor buffer;              // uint8: the memory of all of them, so that one copy moves them
  Rows rows;                      // of the corpus; B is larger where rows are rounded up
  int64_t first_row = 0;          // position of row 0 in the whole batch, for noise that is drawn by row
  int64_t source_tokens = 0;      // pieces with </s>, of these rows
  int64_t target_tokens = 0;      //
  int64_t all_source_tokens = 0;  // and of the whole batch: what a loss summed over processes is divided by
  int64_t all_target_tokens = 0;  //
  bool one_shape = false;         // predicts every target, padding too, so that nothing depends on their number

  /// The batch on a device. Pinned memory is copied without waiting.
  PairBatch to(at::Device device) const;
  /// The same batch with its tensors in another copy of `buffer`.
  PairBatch in(const at::Tensor& other) const;
};

/// How a batch is padded beyond the widths of its longest sentences.
struct BatchForm {
  int64_t rows = 1, length = 1;  // B, and S and T, are rounded up to multiples of them
  bool one_shape = false;        // PairBatch::one_shape
  bool pinned = false;           // in memory that a GPU reads by itself
};

/// Tensors for these rows of the corpus, or for a process' share of them, padded to the widths of the whole batch.
PairBatch collate(const IdPairs& corpus, const Rows& rows, int64_t rank = 0, int64_t world = 1,
                  const BatchForm& form = {});

}  // namespace heed
